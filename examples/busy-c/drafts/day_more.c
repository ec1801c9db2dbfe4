#include <stdio.h>

static char busy[2 * 24 * 60];

int main(void) {
    int h1, m1, h2, m2, total = 0;
    while (scanf("%d:%d-%d:%d", &h1, &m1, &h2, &m2) == 4) {
        int from = h1 * 60 + m1, to = h2 * 60 + m2;
        if (to <= from) to += 24 * 60;
        for (int t = from; t < to; t++) busy[t] = 1;
    }
    for (int t = 0; t < 2 * 24 * 60; t++) total += busy[t];
    printf("%d\n", total);
    return 0;
}
