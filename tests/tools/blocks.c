/* Makes one address of each kind for the debugger, and calls `stop` when all are there. */
#include <stdlib.h>
#include <string.h>

char *live, *ready, *inner, *large, *huge, *pages;
char  foreign[100];

__attribute__((noinline)) void stop(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    static char *many[4000];
    for (int i = 0; i < 4000; i++) {
        many[i] = malloc(100);
        memset(many[i], 1, 100);
    }
    live = many[2000];
    inner = live + 50;
    for (int i = 3999; i >= 0; i--) {       /* the last ones stay in the thread's cache, the first ones go back to their slabs */
        i != 2000 ? free(many[i]) : (void)0;
    }
    for (int i = 0; i < 600; i++) {
        many[i] = malloc(40);
    }
    ready = malloc(1000);
    free(ready);
    large = malloc(50000);
    huge = malloc(3 << 20);
    pages = malloc(5 << 20);
    free(pages);
    stop();
    return 0;
}
