#include <stdio.h>

int main(void) {
    static int busy[1440];
    int a, b, c, d, total = 0;
    while (scanf("%d:%d-%d:%d", &a, &b, &c, &d) == 4) {
        int from = a * 60 + b, to = c * 60 + d;
        for (int t = from; t % 1440 != to; t++)
            busy[t % 1440] = 1;
    }
    for (int t = 0; t < 1440; t++) total += busy[t];
    printf("%d\n", total);
}
