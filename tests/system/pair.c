/* Calls malloc(64) and free, so that the cost of a pair can be counted. It makes one pair at a time, or, with a second argument, so many
 * mallocs and then so many frees.
 *
 * usage: pair ROUNDS [BATCH [BYTES]]           under valgrind --tool=callgrind
 */
#include <stdlib.h>

static void *live[1024];

int main(int argc, char **argv)
{
    long   rounds = argc > 1 ? atol(argv[1]) : 1000;
    long   batch = argc > 2 ? atol(argv[2]) : 1;
    size_t bytes = argc > 3 ? (size_t)atol(argv[3]) : 64;
    if (batch == 1) {
        for (long i = 0; i < rounds; i++) {
            void *p = malloc(bytes);
            __asm__ volatile("" : "+r"(p));
            free(p);
        }
        return 0;
    }
    for (long i = 0; i < rounds; i++) {
        for (long k = 0; k < batch; k++) {
            live[k] = malloc(bytes);
        }
        for (long k = 0; k < batch; k++) {
            free(live[k]);
        }
    }
    return 0;
}
