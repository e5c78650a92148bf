/* Calls mallctl with every name that jemalloc's manual has (tests/api/mallctl_names.tsv), and checks its type and access, errors, indexes of
 * names, and what writing does.
 *
 * Names are there or not as the table says. With --table the program prints what it found instead of comparing: the table's second half.
 * usage: mallctl NAMES.tsv [--table]
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <jemalloc/jemalloc.h>

static int checks, failures;

static void check(int good, const char *name, const char *what)
{
    checks++;
    if (!good) {
        failures++;
        fprintf(stderr, "mallctl: %s: %s\n", name, what);
    }
}

static size_t type_bytes(const char *type)
{
    return strcmp(type, "bool") == 0 ? sizeof(bool) : strcmp(type, "unsigned") == 0 ? sizeof(unsigned)
           : strcmp(type, "uint32_t") == 0 ? sizeof(uint32_t) : strcmp(type, "void") == 0 ? 0 : sizeof(uint64_t);
}

/* <i> is arena 0 or all arenas, <j> the class 3; of the alternatives in braces the first. */
static void spell(char *to, const char *from, const char *arena)
{
    while (*from != '\0') {
        if (*from == '<') {
            to += sprintf(to, "%s", from[1] == 'i' ? arena : "3");
            from = strchr(from, '>') + 1;
        } else if (*from == '{') {
            to += sprintf(to, "%s", strncmp(from, "{counter}", 9) == 0 ? "num_ops" : "dirty");
            from = strchr(from, '}') + 1;
        } else if (*from == ';') {
            from++;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static void check_void(const char *name)
{
    uint64_t value = 0;
    size_t   bytes = sizeof value;
    check(mallctl(name, &value, &bytes, NULL, 0) == EPERM, name, "can be read");
    check(mallctl(name, NULL, NULL, &value, sizeof value) == EPERM, name, "can be written");
    check(mallctl(name, NULL, NULL, NULL, 0) == 0, name, "does not act");
}

static void check_value(const char *name, size_t size, int writable)
{
    unsigned char value[16], again[16];
    size_t        bytes = size, mib[8], count = 8;
    memset(value, 0xA5, sizeof value);
    check(mallctl(name, value, &bytes, NULL, 0) == 0 && bytes == size && value[size] == 0xA5, name, "cannot be read with its type");
    check(mallctl(name, NULL, NULL, NULL, 0) == 0, name, "wants to be read");
    for (size_t wrong = 0; wrong < 16; wrong++) {
        bytes = wrong;
        memset(again, 0xA5, sizeof again);
        check(wrong == size || (mallctl(name, again, &bytes, NULL, 0) == EINVAL && bytes == (wrong < size ? wrong : size)
                                && again[bytes] == 0xA5), name, "another length is not EINVAL");
    }
    check(mallctlnametomib(name, mib, &count) == 0 && count > 0 && count < 8, name, "has no index of names");
    bytes = size;
    check(mallctlbymib(mib, count, again, &bytes, NULL, 0) == 0 && bytes == size, name, "cannot be read by its index of names");
    check(strstr(name, "uptime") != NULL || strstr(name, "approximate") != NULL || memcmp(value, again, size) == 0,
          name, "differs by its index of names");
    check(mallctlbymib(mib, count - 1, again, &bytes, NULL, 0) == ENOENT, name, "a part of its index of names is taken for it");
    if (!writable) {
        check(mallctl(name, NULL, NULL, value, size) == EPERM, name, "can be written");
        check(mallctl(name, NULL, NULL, NULL, size) == EPERM, name, "a length without a value is not EPERM");
        return;
    }
    check(mallctl(name, NULL, NULL, value, size + 1) == EINVAL, name, "a longer value is not EINVAL");
    check(mallctl(name, NULL, NULL, value, size == 0 ? 0 : size - 1) == EINVAL, name, "a shorter value is not EINVAL");
    check(mallctl(name, NULL, NULL, value, size) == 0, name, "does not take the value that it has");
}

/* Names that take or give pointers, that make and destroy something, or that refuse the arenas from the start: tests/clients/arenas.c,
 * arena_reset.c, explicit_caches.c, hooks.c, tests/system/arenas.c and tcache_depth.c call them. */
static int calls_by_itself(const char *row)
{
    return strcmp(row, "arenas.create") == 0 || strcmp(row, "arenas.lookup") == 0 || strcmp(row, "arena.<i>.name") == 0
           || strcmp(row, "arena.<i>.extent_hooks") == 0 || strcmp(row, "arena.<i>.reset") == 0 || strcmp(row, "arena.<i>.destroy") == 0
           || strncmp(row, "tcache.", 7) == 0 || strncmp(row, "thread.tcache.ncached_max.", 26) == 0;
}

static void check_row(const char *row, const char *type, const char *access, const char *state, int table)
{
    const char *arenas[] = {"0", "4096"};
    for (int i = 0; i < (strstr(row, "<i>") != NULL && strstr(row, "arenas.bin") != row && strstr(row, "arenas.lextent") != row ? 2 : 1); i++) {
        char     name[128];
        uint64_t value = 0;
        size_t   bytes = type_bytes(type);
        spell(name, row, arenas[i]);
        int there = strcmp(type, "void") == 0 ? mallctl(name, NULL, NULL, NULL, 0) : mallctl(name, &value, &bytes, NULL, 0);
        if (table) {
            printf("%s\t%s\t%s\t%s\t%s\n", name, type, access, state, strerror(there));
        } else if (strcmp(state, "works") != 0 && strcmp(state, "fixed") != 0) {
            check(there == ENOENT, name, "is there");
        } else if (calls_by_itself(row)) {
            check(there != ENOENT, name, "is not there");
        } else if (strcmp(access, "-w") == 0) {
            check(there == EPERM, name, "can be read");
            check(mallctl(name, NULL, NULL, NULL, 0) == ENOENT, name, "acts without profiling");
        } else if (strcmp(type, "void") == 0) {
            check_void(name);
        } else {
            check_value(name, type_bytes(type), access[1] == 'w');
        }
    }
}

/* What is at no place of the table. */
static void check_errors(void)
{
    static const char *const none[] = {"", ".", "..", "stats", "stats.", "stats.allocated.", "stats.allocated.x", "arenas", "arena.0",
        "arena..purge", "arena.x.purge", "arena.-1.purge", "arena.99.purge", "arena.99999999999999999999999.purge", "arenas.bin.999.size",
        "stats.arenas.0.bins.999.curregs", "nothing", "stats.arenas.0.small.resident", "opt.nothing", "arenas.lextent.99999.size", "version.x"};
    size_t   mib[8], count;
    unsigned narenas = 0, one = 1;
    char     name[64];
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        check(mallctl(none[i], NULL, NULL, NULL, 0) == ENOENT, none[i], "is a name");
    }
    count = 8;
    check(mallctlnametomib("stats.arenas.0.bins.1", mib, &count) == 0 && count == 5 && mib[2] == 0 && mib[4] == 1,
          "stats.arenas.0.bins.1", "is no beginning of names");
    count = 2;
    check(mallctlnametomib("arenas.bin.7.size", mib, &count) == 0 && count == 2, "arenas.bin.7.size", "does not fit into a shorter index");
    mib[0] = mib[1] = SIZE_MAX;
    check(mallctlbymib(mib, 2, NULL, NULL, NULL, 0) == ENOENT && mallctlbymib(mib, 0, NULL, NULL, NULL, 0) == ENOENT, "mib", "leads to a name");
    size_t bytes = sizeof narenas;
    check(mallctl("arenas.narenas", &narenas, &bytes, NULL, 0) == 0 && narenas > 0, "arenas.narenas", "is 0");
    snprintf(name, sizeof name, "arena.%u.purge", narenas);     /* as many as there are: all, as before jemalloc 5 */
    check(mallctl(name, NULL, NULL, NULL, 0) == 0, name, "does not stand for all arenas");
    check(mallctl("arenas.narenas", NULL, NULL, &one, sizeof one) == EPERM, "arenas.narenas", "can be written");
}

/* A client that reads one class after the other, by changing the number in the index of names. */
static void check_classes(void)
{
    size_t   mib[4], count = 4, size = 0, before = 0, bytes;
    uint32_t regions = 0;
    unsigned bins = 0;
    bytes = sizeof bins;
    mallctl("arenas.nbins", &bins, &bytes, NULL, 0);
    mallctlnametomib("arenas.bin.0.size", mib, &count);
    for (mib[2] = 0; mib[2] < bins; mib[2]++) {
        bytes = sizeof size;
        check(mallctlbymib(mib, count, &size, &bytes, NULL, 0) == 0 && size > before && size == nallocx(before + 1, 0),
              "arenas.bin", "is not the next class");
        before = size;
    }
    check(mallctlbymib(mib, count, &size, &bytes, NULL, 0) == ENOENT, "arenas.bin", "goes on");
    bytes = sizeof size;
    check(mallctl("arenas.lextent.0.size", &size, &bytes, NULL, 0) == 0 && size == nallocx(before + 1, 0),
          "arenas.lextent.0.size", "is not the next class");
    bytes = sizeof regions;
    check(mallctl("arenas.bin.0.nregs", &regions, &bytes, NULL, 0) == 0 && regions > 0, "arenas.bin.0.nregs", "is 0");
}

static uint64_t number(const char *name)
{
    uint64_t value = 0, epoch = 1;
    size_t   bytes = sizeof value;
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    mallctl(name, &value, &bytes, NULL, 0);
    return value;
}

/* What is allocated shows at the next epoch, and not before. */
static void check_statistics(void)
{
    size_t   bytes = sizeof(size_t), before = number("stats.allocated"), stale = 0, active = number("stats.active");
    uint64_t epoch = number("epoch"), next = 1;
    char    *p = mallocx(40 << 20, 0), *q = mallocx(100, 0);
    mallctl("stats.allocated", &stale, &bytes, NULL, 0);
    check(stale == before, "stats.allocated", "changes within an epoch");
    check(number("stats.allocated") == before + (40 << 20) + sallocx(q, 0), "stats.allocated", "is not exact");
    check(number("stats.active") >= active + (40 << 20), "stats.active", "leaves out a large block");
    check(number("stats.arenas.4096.large.allocated") >= 40 << 20 && number("stats.arenas.4096.large.nmalloc") > 0,
          "large", "leaves out a large block");
    check(number("stats.arenas.4096.bins.7.curregs") > 0 && number("stats.arenas.4096.bins.7.curslabs") > 0, "bins.7", "is empty");
    check(number("stats.arenas.4096.small.allocated") + number("stats.arenas.4096.large.allocated") >= number("stats.allocated"),
          "small + large", "is too little");
    check(number("stats.arenas.4096.pactive") * number("arenas.page") == number("stats.active"), "pactive", "is not what is active");
    bytes = sizeof next;
    check(mallctl("epoch", &next, &bytes, &next, sizeof next) == 0 && next > epoch, "epoch", "does not go on");
    memset(p, 1, 40 << 20);
    dallocx(p, 0);
    check(number("stats.arenas.4096.pdirty") * number("arenas.page") >= 40 << 20, "pdirty", "leaves out a freed block");
    check(mallctl("arena." "4096" ".purge", NULL, NULL, NULL, 0) == 0 && number("stats.arenas.4096.pdirty") == 0,
          "arena.4096.purge", "leaves dirty pages");
    check(number("stats.retained") >= 40 << 20, "stats.retained", "leaves out what was purged");
    dallocx(q, 0);
}

/* The sum of a figure over the classes 0, 1, ... of all arenas. */
static uint64_t sum_of(const char *group, const char *figure)
{
    uint64_t sum = 0, value = 0;
    char     name[80];
    for (unsigned i = 0;; i++) {
        size_t bytes = sizeof value;
        snprintf(name, sizeof name, "stats.arenas.4096.%s.%u.%s", group, i, figure);
        if (mallctl(name, &value, &bytes, NULL, 0) != 0) {
            return sum;
        }
        sum += value;
    }
}

/* What happens is counted where it happens, and by class as much as in all. */
static void check_counts(void)
{
    uint64_t page = number("arenas.page"), fills = number("stats.arenas.4096.bins.20.nfills");
    uint64_t slabs = number("stats.arenas.4096.bins.20.nslabs");
    uint64_t flushes = number("stats.arenas.4096.bins.20.nflushes"), again = number("stats.arenas.4096.bins.20.nreslabs");
    uint64_t came = number("stats.arenas.4096.lextents.50.nmalloc"), went = number("stats.arenas.4096.lextents.50.ndalloc");
    uint64_t purges = number("stats.arenas.4096.dirty_npurge"), calls = number("stats.arenas.4096.dirty_nmadvise");
    uint64_t purged = number("stats.arenas.4096.dirty_purged"), zeros = number("stats.zero_reallocs");
    size_t   small = number("arenas.bin.20.size"), large = number("arenas.lextent.50.size");
    void    *block[1000];
    for (int i = 0; i < 1000; i++) {
        block[i] = mallocx(small, 0);
    }
    uint64_t made = number("stats.arenas.4096.bins.20.nslabs") - slabs;
    check(made * number("arenas.bin.20.nregs") >= 1000 && made <= 1000 && number("stats.arenas.4096.bins.20.curslabs") >= made,
          "bins.20.nslabs", "is not what 1000 blocks need");
    fills = number("stats.arenas.4096.bins.20.nfills") - fills;
    check(fills > 0 && fills <= 1000 && number("stats.arenas.4096.bins.20.nrequests") == number("stats.arenas.4096.bins.20.nfills"),
          "bins.20.nfills", "is not what 1000 blocks need");
    for (int i = 0; i < 1000; i += 2) {
        dallocx(block[i], 0);
    }
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    check(number("stats.arenas.4096.bins.20.nflushes") > flushes, "bins.20.nflushes", "leaves out a flush");
    check(number("stats.arenas.4096.bins.20.nonfull_slabs") > 0
          && number("stats.arenas.4096.bins.20.nonfull_slabs") <= number("stats.arenas.4096.bins.20.curslabs"),
          "bins.20.nonfull_slabs", "is not between 1 and the slabs");
    for (int i = 0; i < 1000; i += 2) {
        block[i] = mallocx(small, 0);
    }
    check(number("stats.arenas.4096.bins.20.nreslabs") > again, "bins.20.nreslabs", "leaves out a slab that is used again");
    for (int i = 0; i < 1000; i++) {
        dallocx(block[i], 0);
    }
    void *p = mallocx(large, 0);
    check(number("stats.arenas.4096.lextents.50.curlextents") == came - went + 1 && number("stats.arenas.4096.lextents.50.nmalloc") == came + 1
          && number("stats.arenas.4096.lextents.50.nrequests") == came + 1, "lextents.50", "leaves out a block");
    dallocx(p, 0);
    check(number("stats.arenas.4096.lextents.50.ndalloc") == went + 1, "lextents.50.ndalloc", "leaves out a block");
    check(sum_of("lextents", "nmalloc") == number("stats.arenas.4096.large.nmalloc") && sum_of("lextents", "ndalloc")
          == number("stats.arenas.4096.large.ndalloc") && number("stats.arenas.4096.large.nfills") == number("stats.arenas.4096.large.nrequests")
          && number("stats.arenas.4096.large.nflushes") == number("stats.arenas.4096.large.ndalloc"), "lextents", "are not what large has");
    check(sum_of("bins", "nfills") == number("stats.arenas.4096.small.nfills") && sum_of("bins", "nflushes")
          == number("stats.arenas.4096.small.nflushes") && sum_of("bins", "nrequests") == number("stats.arenas.4096.small.nrequests"),
          "bins", "are not what small has");
    check(sum_of("extents", "dirty_bytes") == number("stats.arenas.4096.pdirty") * page && sum_of("extents", "dirty_bytes") >= large
          && sum_of("extents", "retained_bytes") == number("stats.retained") && sum_of("extents", "muzzy_bytes")
          == number("stats.arenas.4096.pmuzzy") * page, "extents", "are not the free pages");
    check(sum_of("extents", "ndirty") > 0 && sum_of("extents", "ndirty") * page <= sum_of("extents", "dirty_bytes"), "extents", "are too many");
    uint64_t dirty = number("stats.arenas.4096.pdirty");
    mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
    check(number("stats.arenas.4096.dirty_purged") == purged + dirty && number("stats.arenas.4096.dirty_npurge") > purges
          && number("stats.arenas.4096.dirty_nmadvise") - calls >= number("stats.arenas.4096.dirty_npurge") - purges,
          "dirty_purged", "is not what was dirty");
    check(number("stats.arenas.4096.muzzy_purged") == 0 && number("stats.arenas.4096.muzzy_npurge") == 0, "muzzy_purged", "is not 0");
    check(sum_of("extents", "ndirty") == 0 && sum_of("extents", "nretained") > 0, "extents", "stay dirty after a purge");
    check(number("stats.arenas.4096.extent_avail") > 0, "extent_avail", "is 0 after extents have joined");
    check(realloc(mallocx(10, 0), 0) == NULL && number("stats.zero_reallocs") == zeros + 1, "stats.zero_reallocs", "leaves out a call");
}

/* Decay times that are set while the program runs: at once, and back. */
static void check_decay(void)
{
    ssize_t old = 0, at_once = 0, never = -1, wrong = -2;
    size_t  bytes = sizeof old;
    check(mallctl("arenas.dirty_decay_ms", &old, &bytes, &at_once, sizeof at_once) == 0 && old == 10000,
          "arenas.dirty_decay_ms", "is not 10000");
    check(number("arena.0.dirty_decay_ms") == 0 && number("stats.arenas.0.dirty_decay_ms") == 0,
          "arena.0.dirty_decay_ms", "is not what was set");
    check(number("opt.dirty_decay_ms") == 10000, "opt.dirty_decay_ms", "is not what was read at the start");
    dallocx(mallocx(20 << 20, 0), 0);
    mallctl("arena.0.decay", NULL, NULL, NULL, 0);
    check(number("stats.arenas.4096.pdirty") == 0, "dirty_decay_ms", "0 leaves dirty pages");
    check(mallctl("arena.0.dirty_decay_ms", NULL, NULL, &never, sizeof never) == 0, "arena.0.dirty_decay_ms", "cannot be -1");
    check(mallctl("arena.0.dirty_decay_ms", NULL, NULL, &wrong, sizeof wrong) == EFAULT, "arena.0.dirty_decay_ms", "can be -2");
    check(mallctl("arenas.dirty_decay_ms", NULL, NULL, &old, sizeof old) == 0 && number("opt.dirty_decay_ms") == 10000,
          "arenas.dirty_decay_ms", "cannot be set back");
}

int main(int argc, char **argv)
{
    char  line[512];
    int   rows = 0, table = argc > 2 && strcmp(argv[2], "--table") == 0;
    FILE *names = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (names == NULL) {
        fprintf(stderr, "usage: mallctl NAMES.tsv [--table]\n");
        return 2;
    }
    for (; fgets(line, sizeof line, names) != NULL; rows++) {
        char *rest = line, *cell[6];
        for (int i = 0; i < 6; i++) {
            cell[i] = strsep(&rest, "\t\n");
        }
        if (rows > 0) {
            check_row(cell[0], cell[1], cell[2], cell[4], table);
        }
    }
    fclose(names);
    if (table) {
        return 0;
    }
    check_errors();
    check_classes();
    check_statistics();
    check_counts();
    check_decay();
    if (failures > 0) {
        return 1;
    }
    printf("ok mallctl: %d names, %d checks\n", rows - 1, checks);
    return 0;
}
