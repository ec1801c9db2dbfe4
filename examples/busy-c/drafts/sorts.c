#include <stdio.h>
#include <stdlib.h>

struct meeting { int from, to; };

static int earlier(const void *a, const void *b) {
    return ((const struct meeting *)a)->from - ((const struct meeting *)b)->from;
}

int main(void) {
    struct meeting all[1000];
    int n = 0, a, b, c, d, total = 0, end = 0;
    while (n < 1000 && scanf("%d:%d-%d:%d", &a, &b, &c, &d) == 4) {
        all[n].from = a * 60 + b;
        all[n].to = c * 60 + d;
        n++;
    }
    qsort(all, n, sizeof all[0], earlier);
    for (int i = 0; i < n; i++) {
        int from = all[i].from > end ? all[i].from : end;
        if (all[i].to > from) total += all[i].to - from;
        if (all[i].to > end) end = all[i].to;
    }
    printf("%d\n", total);
    return 0;
}
