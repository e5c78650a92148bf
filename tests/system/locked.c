/* A program locks pages of blocks in memory and frees the blocks. Linux purges no locked pages. The others go back all the same, and what is
 * zero by contract is zero. With dirty_decay_ms:500. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 64
#define BYTES (1UL << 20)
#define LOCKED (1UL << 16)

static long resident_bytes(void)
{
    long  size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2) {
        exit(2);
    }
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

int main(void)
{
    static unsigned char *block[BLOCKS];
    long                  before = resident_bytes();
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(BYTES);
        memset(block[i], 0xA5, BYTES);
        if (i % 8 == 7 && mlock(block[i] + BYTES / 2, LOCKED) != 0) {
            printf("FAILED locked: the system locks no pages\n");
            return 1;
        }
    }
    for (int i = BLOCKS; i > 0; i--) {
        free(block[i - 1]);
    }
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        free(malloc(300000));
    }
    long kept = resident_bytes() - before, wrong = 0;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = calloc(1, BYTES);
        for (size_t at = 0; at < BYTES; at++) {
            wrong += block[i] == NULL || block[i][at] != 0;
        }
    }
    int good = kept < (long)(BLOCKS * BYTES / 8) && wrong == 0;
    printf("%s locked: of %d MiB freed %ld KiB stay, %ld bytes of calloc's are not zero\n", good ? "ok" : "FAILED", BLOCKS, kept / 1024, wrong);
    return good ? 0 : 1;
}
