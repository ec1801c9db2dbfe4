#include <stdio.h>

int main(void) {
    int a, b, c, d, total = 0;
    while (scanf("%d:%d-%d:%d", &a, &b, &c, &d) == 4)
        total += (c * 60 + d) - (a * 60 + b);
    printf("%d\n", total);
    return 0;
}
