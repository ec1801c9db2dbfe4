#include <stdio.h>

int main(void) {
    printf("%d\n", minutes());
    return 0;
}
