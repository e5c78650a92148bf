/* `mappings many`: a process that uses nine of ten mappings that the kernel allows it is told so, once, while it still gets memory.
 * `mappings full`: where no mapping is left, malloc returns NULL and ENOMEM, and the process is told why. It gets memory again when some are
 * free. `mappings few`: nothing is said. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES (256UL << 20)
#define BLOCKS 160
#define PAGE_BYTES 4096UL

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "mappings: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

/* Makes so many mappings of a page each, which the kernel cannot join. */
static char *map(long count)
{
    char *p = mmap(NULL, (size_t)count * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED);
    for (long i = 0; i < count; i += 2) {
        CHECK(mprotect(p + (size_t)i * PAGE_BYTES, PAGE_BYTES, PROT_READ) == 0);
    }
    return p;
}

/* Takes blocks that need more than a hundred requests for memory. */
static void take(void)
{
    static void *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        CHECK((block[i] = malloc(BYTES)) != NULL);
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(block[i]);
    }
}

static void fill(long most)
{
    char *p = map(most - most / 12);
    for (int protection = PROT_READ; mmap(NULL, PAGE_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;) {
        protection = PROT_READ - protection;
    }
    for (int i = 0; i < 3; i++) {
        errno = 0;
        CHECK(malloc(BYTES) == NULL && errno == ENOMEM);
    }
    CHECK(munmap(p, (size_t)most / 2 * PAGE_BYTES) == 0);
    void *block = malloc(BYTES);
    CHECK(block != NULL);
    free(block);
}

int main(int argc, char **argv)
{
    long        most = 0;
    const char *how = argc > 1 ? argv[1] : "";
    FILE       *f = fopen("/proc/sys/vm/max_map_count", "r");
    CHECK(f != NULL && fscanf(f, "%ld", &most) == 1 && fclose(f) == 0);
    if (strcmp(how, "full") == 0) {
        fill(most);
    } else {
        map(strcmp(how, "few") == 0 ? most / 2 : most - most / 12);
        take();
    }
    puts("ok mappings");
    return 0;
}
