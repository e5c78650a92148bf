/* Allocates 10 GiB of small blocks, touches and frees them. Decay must then return the memory to the OS.
 *
 * usage: ten_gib [GIB]         run with QEDMALLOC_CONF=dirty_decay_ms:1000
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long resident_mib(void)
{
    long  size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2) {
        return -1;
    }
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE) / (1 << 20);
}

struct link {
    struct link *next;
    size_t       check;
};

int main(int argc, char **argv)
{
    size_t       gib = argc > 1 ? (size_t)atol(argv[1]) : 10;
    size_t       total = 0, blocks = 0;
    struct link *list = NULL;
    while (total < gib << 30) {
        size_t       bytes = 64 + blocks * 7919 % 960;
        struct link *l = malloc(bytes);
        if (l == NULL) {
            fprintf(stderr, "ten_gib: out of memory after %zu MiB\n", total >> 20);
            return 1;
        }
        l->next = list;
        l->check = (size_t)l ^ bytes;
        list = l;
        total += bytes;
        blocks++;
    }
    long peak = resident_mib();
    for (size_t i = blocks; i > 0; i--) {
        struct link *next = list->next;
        if ((list->check ^ (size_t)list) != 64 + (i - 1) * 7919 % 960) {
            fprintf(stderr, "ten_gib: block %zu changed\n", i - 1);
            return 1;
        }
        free(list);
        list = next;
    }
    long freed = resident_mib();
    long rest = freed;
    for (int i = 0; i < 60 && rest > 200; i++) {        /* a program that goes on in a small way */
        usleep(100000);
        for (int k = 0; k < 200; k++) {
            void *p = malloc(100000 + (size_t)k * 4096);
            __asm__ volatile("" : : "r"(p) : "memory");
            free(p);
        }
        rest = resident_mib();
    }
    if (rest > 200) {
        fprintf(stderr, "ten_gib: %ld MiB resident at the peak, %ld when freed, still %ld after decay\n", peak, freed, rest);
        return 1;
    }
    printf("ok ten_gib: %zu blocks, %ld MiB resident at the peak, %ld when freed, %ld after decay\n", blocks, peak, freed, rest);
    return 0;
}
