/* Calls malloc(64) and free, so that the cost of a pair can be counted. It makes one pair at a time, or, with a second argument, so many
 * mallocs and then so many frees. TAKE and GIVE are other functions that do the same, TAKE_AS(bytes) and GIVE_AS(block, bytes) are
 * whole calls, and ORDER(k) is which block comes back as number k. FIRST is a name of mallctl that is read before. So many bytes
 * are FREED forty times before.
 *
 * usage: pair ROUNDS [BATCH [BYTES]]           under valgrind --tool=callgrind
 */
#include <stdlib.h>

#ifdef TAKE_AS
#define TAKE(bytes) TAKE_AS(bytes)
#define GIVE(block, bytes) free(block)
#elif defined GIVE_AS
void sdallocx(void *block, size_t bytes, int flags);
#define TAKE(bytes) malloc(bytes)
#define GIVE(block, bytes) GIVE_AS(block, bytes)
#elif !defined TAKE
#define TAKE malloc
#define GIVE(block, bytes) free(block)
#else
void *TAKE(size_t bytes);
void  GIVE(void *block, size_t bytes);
#endif

#ifndef ORDER
#define ORDER(k) (k)
#endif

#ifndef FIRST
#define FIRST ""
#endif
int mallctl(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);

static void *live[2048];

int main(int argc, char **argv)
{
    long   rounds = argc > 1 ? atol(argv[1]) : 1000;
    long   batch = argc > 2 ? atol(argv[2]) : 1;
    size_t bytes = argc > 3 ? (size_t)atol(argv[3]) : 64;
    size_t value, size = sizeof value;
    if (*FIRST != '\0' && mallctl(FIRST, &value, &size, NULL, 0) != 0) {
        return 1;
    }
#ifdef FREED
    for (int i = 0; i < 40; i++) {
        void *volatile freed = malloc(FREED);
        free(freed);
    }
#endif
    if (batch == 1) {
        for (long i = 0; i < rounds; i++) {
            void *p = TAKE(bytes);
            __asm__ volatile("" : "+r"(p));
            GIVE(p, bytes);
        }
        return 0;
    }
    for (long i = 0; i < rounds; i++) {
        for (long k = 0; k < batch; k++) {
            live[k] = TAKE(bytes);
        }
        for (long k = 0; k < batch; k++) {
            GIVE(live[ORDER(k)], bytes);
        }
    }
    return 0;
}
