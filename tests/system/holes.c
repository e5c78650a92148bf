/* What goes back when few blocks stay, scattered over many pages: 300,000 blocks of 512 bytes to 2 KiB, of which one in twenty stays. Prints
 * how many percent of the memory went back by malloc_trim, or with the argument `decay` while 40 calls in two seconds leave the fast path,
 * or with `sleep` while it makes none, for 30 seconds or until 70 % have gone. The blocks that stay keep their bytes. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 300000U

static char    *block[BLOCKS];
static size_t   bytes[BLOCKS];
static uint64_t seed = 7;

static size_t below(size_t n)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(seed >> 33) % n;
}

static long resident_pages(void)
{
    long  size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2) {
        exit(2);
    }
    fclose(f);
    return resident;
}

static void few_calls(void)
{
    for (int i = 0; i < 40; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        free(malloc(300000));
    }
}

int main(int argc, char **argv)
{
    long begin = resident_pages();
    for (uint32_t i = 0; i < BLOCKS; i++) {
        bytes[i] = 512 + below(1536);
        block[i] = malloc(bytes[i]);
        memset(block[i], (int)(i % 255) + 1, bytes[i]);
    }
    long all = resident_pages() - begin;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        if (below(20) != 0) {
            free(block[i]);
            block[i] = NULL;
        }
    }
    if (argc > 1 && strcmp(argv[1], "decay") == 0) {
        few_calls();
    } else if (argc > 1 && strcmp(argv[1], "sleep") == 0) {
        for (int i = 0; i < 300 && (all - (resident_pages() - begin)) * 100 / all < 70; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        }
    } else {
        malloc_trim(0);
    }
    printf("%ld\n", (all - (resident_pages() - begin)) * 100 / all);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        for (size_t k = 0; block[i] != NULL && k < bytes[i]; k++) {
            if (block[i][k] != (char)((int)(i % 255) + 1)) {
                fprintf(stderr, "block %u has changed at byte %zu\n", i, k);
                return 1;
            }
        }
    }
    return 0;
}
