/* A large block grows and shrinks where it is, through classes that thread caches hold and others, and goes back as the class that
 * it has then: malloc of that size finds it first. With the default parameters: 17 KiB is large, up to 256 KiB is cached. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB (size_t)1024

static int failed(const char *what, size_t bytes)
{
    fprintf(stderr, "in_place: %s at %zu bytes\n", what, bytes);
    return 1;
}

int main(void)
{
    static const size_t sizes[] = {20 * KIB, 300 * KIB, 40 * KIB, 256 * KIB, 64 * KIB, 192 * KIB, 17 * KIB, 400 * KIB, 20 * KIB};
    char *p = malloc(400 * KIB);
    if (p == NULL) {
        return failed("no block", 400 * KIB);
    }
    memset(p, 4, 400 * KIB);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        if (realloc(p, n) != p) {
            return failed("moved", n);
        }
        if (malloc_usable_size(p) < n || malloc_usable_size(p) > n + n / 4) {
            return failed("of another class", n);
        }
        if (p[0] != 4 || p[17 * KIB - 2] != 4) {
            return failed("contents", n);
        }
        if (n <= 256 * KIB) {
            free(p);
            if (malloc(n) != p) {
                return failed("not in its stack", n);
            }
        }
        p[n - 1] = 5;
    }
    free(p);
    printf("ok in_place: %zu sizes\n", sizeof sizes / sizeof sizes[0]);
    return 0;
}
