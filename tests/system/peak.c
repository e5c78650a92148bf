/* The greatest amount of memory that the process ever had, in KiB, after 400 blocks of 300 KiB, of which every other one is freed, and one of
 * 40 MiB, which fits into none of the gaps. 60 MiB and that block are in use at the end, and 120 MiB were before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 400
#define BYTES (300UL << 10)
#define LARGE (40UL << 20)
#define FIELD "VmHWM:"

int main(void)
{
    static char *block[BLOCKS];
    char         line[256];
    long         kib = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        block[i] = malloc(BYTES);
        memset(block[i], 1, BYTES);
    }
    for (size_t i = 1; i < BLOCKS; i += 2) {
        free(block[i]);
    }
    memset(malloc(LARGE), 1, LARGE);
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, FIELD, strlen(FIELD)) == 0) {
            kib = strtol(line + strlen(FIELD), NULL, 10);
        }
    }
    printf("%ld\n", kib);
    return kib > 0 ? 0 : 1;
}
