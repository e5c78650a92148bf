/* ctl_fuzz: mallctl with names, indexes of names and lengths that the input makes up. The world is the allocator with a few blocks, over the
 * deterministic OS. The step is one call. The check is that nothing is written beyond what a call says that it has written, that it returns
 * one of its errors and leaves errno, that a name and its index of names have the same value, and that the statistics are exact. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl.h"
#include "api/thread.h"
#include "platform/hooks.h"
#include "platform/os_fake.h"
#include "qedmalloc/qedmalloc.h"
#include "reset.h"

#define BLOCKS 16U
#define PIECES 8U

static const uint8_t *input;
static size_t         input_left;

static uint32_t take(void)
{
    uint32_t x = input_left > 0 ? *input++ : 0;
    input_left -= input_left > 0 ? 1 : 0;
    return x;
}

static _Noreturn void fail(const char *what, const char *name)
{
    fprintf(stderr, "ctl_fuzz: %s: %s\n", what, name);
    abort();
}

static const char *const words[] = {
    "version", "epoch", "stats", "arenas", "arena", "thread", "opt", "config", "tcache", "0", "1", "4096", "35", "36", "99999999999999999999",
    "-1", "", "allocated", "active", "bins", "bin", "lextent", "size", "nregs", "curregs", "nmalloc", "small", "large", "purge", "decay",
    "dirty_decay_ms", "muzzy_decay_ms", "flush", "idle", "initialized", "narenas", "tcache_max", "enabled", "background_thread",
    "max_background_threads", "approximate_stats", "pactive", "pdirty", "retained", "resident", "dss", "prof", "stats_print_opts",
    "malloc_conf", "nbins", "page", "nfills", "nflushes", "nslabs", "nreslabs", "nonfull_slabs", "nrequests", "lextents", "extents", "ndirty",
    "dirty_bytes", "nmuzzy", "retained_bytes", "curlextents", "dirty_npurge", "dirty_nmadvise", "muzzy_purged", "extent_avail",
    "zero_reallocs", "198", "199", "deallocated", "allocatedp", "deallocatedp", "peak", "read", "reset", "create", "lookup", "name",
    "destroy", "extent_hooks",
};

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

/* Gives pages back that the usual alloc has given, but now and then it refuses. */
static bool take_back(extent_hooks_t *hooks, void *address, size_t size, bool committed, unsigned arena)
{
    if (size / PAGE % 3 == 0) {
        return true;
    }
    hooks_default.destroy(hooks, address, size, committed, arena);
    return false;
}

static extent_hooks_t own_hooks, no_hooks;

static void *take_hooks(void)
{
    own_hooks = hooks_default;
    own_hooks.dalloc = take_back;
    switch (take() % 4) {
    case 0: return NULL;
    case 1: return &no_hooks;
    case 2: return &hooks_default;
    default: return &own_hooks;
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* A name of the table, with numbers from the input. */
static void take_known_name(char *name)
{
    uint32_t n = take() * 256 + take();
    for (const char *from = ctl_names[n % ctl_name_count].name; *from != '\0'; from++) {
        if (*from == '%') {
            uint32_t number = take();
            name += sprintf(name, "%u", number == 255 ? CTL_ALL : number % 64);
            from++;
        } else {
            *name++ = *from;
        }
    }
    *name = '\0';
}

static void take_name(char *name, size_t room)
{
    uint32_t count = take() % 7;
    size_t   used = 0;
    if (count == 0) {
        take_known_name(name);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t w = take();
        int      n = w < 250 ? snprintf(name + used, room - used, "%s%s", i > 0 ? "." : "", words[w % (sizeof words / sizeof *words)])
                             : snprintf(name + used, room - used, "%c%c", (int)(take() | 1), (int)(take() | 1));
        used += (size_t)n;
    }
    name[used] = '\0';
}

static int checked(int result, const char *name)
{
    if (result != 0 && result != ENOENT && result != EPERM && result != EINVAL && result != EFAULT && result != EAGAIN) {
        fail("another error", name);
    }
    if (errno != 77) {
        fail("errno changed", name);
    }
    return result;
}

static const char *const texts[] = {"disabled", "primary", "", "8-64:3", "1024-1024:0|16-128:200", "a name", "1-"};

static bool takes_text(const char *name)
{
    static const char *const ends[] = {"dss", "prof.name", "prof.prefix", "prof.dump", "ncached_max.write"};
    bool                     takes = false;
    for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        takes = takes || strstr(name, ends[i]) != NULL;
    }
    return takes;
}

/* Reads and writes with lengths from the input, into a buffer whose rest must stay. */
static void access_value(const char *name)
{
    uint8_t  old[24], kept[24];
    uint64_t value = take() % 4 == 0 ? UINT64_MAX - take() : take();
    size_t   given = take() % 17, bytes = given, new_bytes = take() % 4 == 0 ? take() % 17 : 8;
    bool     reads = take() % 4 != 0, writes = take() % 4 == 0;
    writes = writes && strcmp(name, "background_thread") != 0;      /* a thread would act whenever it likes */
    if (takes_text(name)) {                 /* a pointer to a text, which must be one */
        value = (uint64_t)(uintptr_t)texts[take() % (sizeof texts / sizeof *texts)];
        new_bytes = 8;
    }
    static char room[32];
    bool        pointer = strstr(name, "name") != NULL && strstr(name, "prof") == NULL;
    bool hooks = strstr(name, "create") != NULL || strstr(name, "hooks") != NULL;
    if (pointer || hooks) {         /* pointers to a name and to room for one, or to hooks */
        value = pointer ? (uint64_t)(uintptr_t)"name" : (uint64_t)(uintptr_t)take_hooks();
        writes = writes && new_bytes == 8;
    }
    uint64_t values[3] = {value, value, value};
    memset(old, 0xA5, sizeof old);
    if (pointer) {
        char *to = room;
        memcpy(old, &to, sizeof to);
    }
    memcpy(kept, old, sizeof old);
    int result = checked(qed_mallctl(name, reads ? old : NULL, reads ? &bytes : NULL, writes ? values : NULL, writes ? new_bytes : 0), name);
    if (bytes > given || memcmp(old + bytes, kept + bytes, sizeof old - bytes) != 0) {
        fail("wrote more than it says", name);
    }
    if (result == 0 && reads && bytes != given) {
        fail("another length is no error", name);
    }
}

static void compare_with_mib(const char *name)
{
    size_t  mib[PIECES], count = PIECES, bytes[2] = {16, 16};
    uint8_t a[16] = {0}, b[16] = {0};
    int     there = checked(qed_mallctlnametomib(name, mib, &count), name);
    if (there == 0) {
        int by_name = checked(qed_mallctl(name, a, &bytes[0], NULL, 0), name);
        int by_mib = checked(qed_mallctlbymib(mib, count, b, &bytes[1], NULL, 0), name);
        if (by_name != by_mib || bytes[0] != bytes[1] || (memcmp(a, b, 16) != 0 && strstr(name, "uptime") == NULL)) {
            fail("a name and its index of names differ", name);
        }
    }
}

static void any_mib(void)
{
    size_t   mib[PIECES], count = take() % (PIECES + 1), bytes = take() % 17;
    uint8_t  old[24];
    uint64_t zero = 0;
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t x = take();
        mib[i] = x == 255 ? SIZE_MAX : x == 254 ? 4096 : x;
    }
    bool writes = take() % 4 == 0;
    (void)checked(qed_mallctlbymib(mib, count, old, &bytes, writes ? &zero : NULL, writes ? sizeof zero : 0), "mib");
}

/* What the thread has counted changes as its live blocks do. */
static void check_counts(size_t live, bool first)
{
    static uint64_t before;
    uint64_t        got = 0, gone = 0;
    size_t          bytes = sizeof got;
    int             result = checked(qed_mallctl("thread.allocated", &got, &bytes, NULL, 0), "thread.allocated");
    if (result != checked(qed_mallctl("thread.deallocated", &gone, &bytes, NULL, 0), "thread.deallocated")
        || (!first && got - gone - live != before)) {
        fail("differs from the live blocks", "thread.allocated");
    }
    before = got - gone - live;
}

static size_t live_bytes(void *const *block)
{
    size_t live = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        live += qed_malloc_usable_size(block[i]);
    }
    return live;
}

static void check_statistics(void *const *block)
{
    uint64_t epoch = 1;
    size_t   live = live_bytes(block), allocated = 0, bytes = sizeof allocated;
    (void)checked(qed_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch), "epoch");
    if (checked(qed_mallctl("stats.allocated", &allocated, &bytes, NULL, 0), "stats.allocated") != 0 || allocated != live) {
        fail("differs from the live blocks", "stats.allocated");
    }
    check_counts(live, false);
}

static unsigned arena_of(const void *block)
{
    unsigned arena = UINT32_MAX;
    size_t   bytes = sizeof arena;
    return block != NULL && qed_mallctl("arenas.lookup", &arena, &bytes, &block, sizeof block) == 0 ? arena : UINT32_MAX;
}

/* Forgets the blocks that a call has ended: all of one arena that was made, and no others. */
static void forget_ended(void **block, const unsigned *arena)
{
    unsigned ended = UINT32_MAX;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        ended = block[i] != NULL && arena_of(block[i]) == UINT32_MAX ? arena[i] : ended;
    }
    for (uint32_t i = 0; i < BLOCKS && ended != UINT32_MAX; i++) {
        if (ended < bin_shared || (block[i] != NULL && (arena[i] == ended) != (arena_of(block[i]) == UINT32_MAX))) {
            fail("has ended a block of another arena, or not all of one", "arena.reset");
        }
        block[i] = arena[i] == ended ? NULL : block[i];
    }
    if (ended != UINT32_MAX) {
        check_counts(live_bytes(block), true);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *block[BLOCKS] = {NULL};
    char  name[512];
    reset();
    input = data;
    input_left = size;
    arena_boot(1 + take() % 4, false);
    errno = 77;
    check_counts(0, true);
    while (input_left > 0) {
        uint32_t op = take(), i = op / 8 % BLOCKS;
        unsigned arena[BLOCKS];
        size_t   bytes = 0;
        for (uint32_t k = 0; k < BLOCKS; k++) {
            arena[k] = arena_of(block[k]);
        }
        errno = 77;
        switch (op % 8) {
        case 0:
            qed_free(block[i]);
            bytes = (size_t)take() << op / 32;
            block[i] = qed_mallocx(bytes, take() % 4 == 0 ? MALLOCX_ARENA(take() % 8) : 0);
            break;
        case 1: check_statistics(block); break;
        case 2: any_mib(); break;
        case 3: case 4:
            take_name(name, sizeof name);
            compare_with_mib(name);
            break;
        default:
            take_name(name, sizeof name);
            access_value(name);
        }
        op % 8 > 1 ? forget_ended(block, arena) : (void)0;
    }
    return 0;
}
