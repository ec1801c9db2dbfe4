#include <stdio.h>

static char busy[24 * 60];

int main(void) {
    int h1, m1, h2, m2, total = 0;
    while (scanf("%d:%d-%d:%d", &h1, &m1, &h2, &m2) == 4)
        for (int t = h1 * 60 + m1; t < h2 * 60 + m2; t++)
            busy[t] = 1;
    for (int t = 0; t < 24 * 60; t++)
        total += busy[t];
    printf("%d\n", total);
    return 0;
}
