/* platform_test: compares each function that the proofs believe with another, obvious way to get the same answer, on
 * the real operating system. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/bits.h"
#include "platform/config.h"
#include "platform/libc.h"
#include "platform/lock.h"
#include "platform/os.h"
#include "platform/pool.h"
#include "platform/table.h"
#include "platform/trap.h"
#include "platform/user.h"

static unsigned long checks;
static uint64_t      seed = 0x9E3779B97F4A7C15UL;

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        checks++;                                                                          \
        if (!(condition)) {                                                                \
            fprintf(stderr, "platform_test: line %d: %s\n", __LINE__, #condition);         \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static uint64_t random_tag(void)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return seed ^ seed >> 29;
}

/* ---- bits: the builtins against loops ---------------------------------------------------------------------------- */

static void test_bits_of(uint64_t w)
{
    uint32_t lowest = 0, highest = 63;
    while ((w >> lowest & 1) == 0) {
        lowest++;
    }
    while ((w >> highest & 1) == 0) {
        highest--;
    }
    CHECK(bits_lowest(w) == lowest);
    CHECK(bits_lg_floor(w) == highest);
}

static void test_bits(void)
{
    for (uint64_t w = 1; w < 70000; w++) {
        test_bits_of(w);
    }
    for (uint32_t i = 0; i < 64; i++) {
        for (uint32_t k = 0; k < 64; k++) {
            test_bits_of(1UL << i | 1UL << k);
            test_bits_of(UINT64_MAX >> i);
            test_bits_of(UINT64_MAX << i);
        }
    }
    for (int i = 0; i < 100000; i++) {
        test_bits_of(random_tag() >> random_tag() % 64 | 1UL << random_tag() % 64);
    }
}

/* ---- table: entries keep their place and value while it grows ---------------------------------------------------- */

static TABLE(uint64_t, numbers);
static TABLE_FEW(uint8_t, few);

static void test_table(void)
{
    static const uint64_t from[] = {0, 20 * TABLE_FIRST, TABLE_MAX / 4 - 2 * TABLE_FIRST, TABLE_MAX - 2 * TABLE_FIRST};
    for (uint32_t c = 0; c < sizeof from / sizeof from[0]; c++) {
        uint64_t end = from[c] + (c == 0 ? 16 : 2) * TABLE_FIRST;       /* which passes from one chunk to the next, or to several */
        for (uint64_t i = from[c]; i < end; i++) {
            CHECK(TABLE_GROW(numbers, i) && AT(numbers, i) == 0);
            AT(numbers, i) = i + 1;
        }
        uint64_t *place = &AT(numbers, from[c]);
        CHECK(TABLE_GROW(numbers, from[c]) && place == &AT(numbers, from[c]));
    }
    for (uint32_t c = 0; c < sizeof from / sizeof from[0]; c++) {
        for (uint64_t i = from[c]; i < from[c] + 2 * TABLE_FIRST; i++) {
            CHECK(AT(numbers, i) == i + 1);
        }
    }
    CHECK(!TABLE_GROW(numbers, 2 * TABLE_MAX));
    CHECK(TABLE_GROW(few, TABLE_FEW_MAX - 1) && AT(few, TABLE_FEW_MAX - 1) == 0 && !TABLE_GROW(few, 2 * TABLE_FEW_MAX));
}

/* ---- os: fresh pages are zero and nobody else's; a purge and a discard give zero again ----------------------------------------- */

static void test_pages(void)
{
    enum { MAPS = 50 };
    uint64_t page[MAPS], npages[MAPS];
    for (uint32_t i = 0; i < MAPS; i++) {
        npages[i] = 1 + random_tag() % 300;
        page[i] = os_map(0, npages[i]);
        CHECK(page[i] != 0 && page[i] + npages[i] <= PAGE_COUNT_MAX);
        for (uint32_t k = 0; k < i; k++) {
            CHECK(page[i] + npages[i] <= page[k] || page[k] + npages[k] <= page[i]);
        }
        unsigned char *bytes = (unsigned char *)(page[i] * PAGE);
        for (uint64_t b = 0; b < npages[i] * PAGE; b += 64) {
            CHECK(bytes[b] == 0);
        }
        memset(bytes, (int)i + 1, npages[i] * PAGE);
    }
    for (uint32_t i = 0; i < MAPS; i++) {
        unsigned char *bytes = (unsigned char *)(page[i] * PAGE);
        uint64_t       keep = npages[i] / 2;            /* the first half is purged, the rest stays */
        CHECK(keep == 0 || (i % 4 == 0 ? os_discard(0, page[i], keep) : os_purge(0, page[i], keep, i % 2 == 1)));
        for (uint64_t b = 0; b < npages[i] * PAGE; b += 64) {
            bool zero_or_old = bytes[b] == 0 || (i % 2 == 1 && bytes[b] == i + 1);
            CHECK(b < keep * PAGE ? zero_or_old : bytes[b] == i + 1);
        }
        CHECK(os_unmap(0, page[i], npages[i], i % 2 == 0));
    }
    CHECK(os_map(0, PAGE_COUNT_MAX - 1) == 0);             /* more than there is: refused, errno untouched */
}

static void test_facts(void)
{
    uint64_t        before = os_clock_ms();
    struct timespec pause = {0, 30000000};
    nanosleep(&pause, NULL);
    CHECK(os_clock_ms() >= before + 20 && os_clock_ms() < before + 60000);
    CHECK(os_memory_bytes() > 1UL << 20 && os_memory_bytes() <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    CHECK(os_cpu_count() >= 1 && os_cpu_count() <= (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
    CHECK(os_page_bytes() == (uint64_t)sysconf(_SC_PAGESIZE));
    errno = 77;
    CHECK(os_map(0, PAGE_COUNT_MAX - 1) == 0 && errno == 77);
    unsigned char *metadata = os_map_metadata(1 << 20);
    CHECK(metadata != NULL && (uintptr_t)metadata % 4096 == 0 && metadata[0] == 0 && metadata[(1 << 20) - 1] == 0);
}

/* Bytes that are to be opened read as zero before. A write to one that is not open ends the process. */
static void test_sparse(void)
{
    enum { BYTES = 1 << 20, FROM = 3 << 16, OPEN = 1 << 16 };
    unsigned char *bytes = os_map_sparse(BYTES);
    CHECK(bytes != NULL && (uintptr_t)bytes % 4096 == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(os_open(bytes + FROM, OPEN));                     /* the second time it changes nothing */
        for (size_t b = 0; b < BYTES; b++) {
            bool open = b >= FROM && b < FROM + OPEN;
            CHECK(bytes[b] == (open && i == 1 ? b % 251 : 0));
            if (open) {
                bytes[b] = (unsigned char)(b % 251);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        size_t at = i == 0 ? FROM - 1 : i == 1 ? FROM + OPEN : FROM;
        pid_t  child = fork();
        if (child == 0) {
            bytes[at] = 1;
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && (i == 2 ? status == 0 : WIFSIGNALED(status)));
    }
}

/* ---- mutex and atomics: no increment is lost --------------------------------------------------------------------- */

static struct mutex lock = MUTEX_INIT;
static uint64_t     guarded[2];

static void *count_up(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 100000; i++) {
        mutex_lock(&lock);
        guarded[0]++;
        if (i % 1000 == 0) {
            sched_yield();
        }
        guarded[1]++;
        mutex_unlock(&lock);
    }
    return NULL;
}

static void test_mutex(void)
{
    pthread_t id[8];
    for (int i = 0; i < 8; i++) {
        pthread_create(&id[i], NULL, count_up, NULL);
    }
    for (int i = 0; i < 200; i++) {
        mutex_lock(&lock);
        CHECK(guarded[0] == guarded[1]);
        mutex_unlock(&lock);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(id[i], NULL);
    }
    CHECK(guarded[0] == 800000 && guarded[1] == 800000 && lock.word == 0);
}

/* A lock that is taken stays taken until it is given back; in the child of a fork, until it is reset. */
static void *take_once(void *taken)
{
    mutex_lock(&lock);
    __atomic_store_n((int *)taken, 1, __ATOMIC_RELEASE);
    mutex_unlock(&lock);
    return NULL;
}

static void test_mutex_held(void)
{
    int       taken = 0, status = 0;
    pthread_t id;
    CHECK(!lock_inside());
    mutex_lock(&lock);
    CHECK(lock_inside());
    pthread_create(&id, NULL, take_once, &taken);
    for (int i = 0; i < 100; i++) {
        sched_yield();
        CHECK(__atomic_load_n(&taken, __ATOMIC_ACQUIRE) == 0 && lock.word != 0);
    }
    pid_t child = fork();
    if (child == 0) {
        bool inside = lock_inside();
        mutex_reset(&lock);
        inside = inside && !lock_inside();
        mutex_lock(&lock);
        mutex_unlock(&lock);
        _exit(inside && lock.word == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    mutex_unlock(&lock);
    pthread_join(id, NULL);
    CHECK(taken == 1 && lock.word == 0 && !lock_inside());
}

/* Each rank is a lock of its own: a thread can hold all of them. */
static void test_lock_table(void)
{
    for (uint32_t rank = 0; rank < LOCK_RANKS; rank++) {
        lock_take(rank);
    }
    CHECK(lock_inside());
    for (uint32_t rank = 0; rank < LOCK_RANKS; rank++) {
        CHECK(LOCK_MUTEX(rank)->word == 1);
        if (rank % 2 == 0) {
            lock_give(rank);
        } else {
            lock_reset(rank);
        }
        CHECK(LOCK_MUTEX(rank)->word == 0);
    }
    CHECK(!lock_inside());
}

/* ---- libc: who has the lock of stdio's list, in parent and child of a fork ------------------------------------------ */

/* Another C library does not say that there is one thread, and has no lock that fork waits for. */
#ifdef __GLIBC__
enum { GLIBC = 1 };
#else
enum { GLIBC = 0 };
#endif

static void *flush_once(void *done)
{
    fflush(NULL);
    __atomic_store_n((int *)done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void test_libc(void)
{
    int       done = 0, status = 0;
    pthread_t id;
    bool      single = libc_single_threaded();
    libc_stdio_lock();
    libc_stdio_lock();                  /* recursive */
    pthread_create(&id, NULL, flush_once, &done);
    CHECK(single && !libc_single_threaded());
    for (int i = 0; i < 100; i++) {
        sched_yield();
        CHECK(!GLIBC || __atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0);
    }
    pid_t child = fork();
    if (child == 0) {
        libc_stdio_reset();
        if (getenv("EMULATED") != NULL) {       /* qemu 7.2 ends when the child of a fork makes a thread */
            flush_once(&done);
        } else {
            pthread_create(&id, NULL, flush_once, &done);
            pthread_join(id, NULL);
        }
        _exit(done == 1 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    libc_stdio_unlock();
    libc_stdio_unlock();
    pthread_join(id, NULL);
    CHECK(done == 1);
    for (int i = 0; i < 10000 && !libc_single_threaded(); i++) {        /* the kernel forgets the thread a little later */
        usleep(1000);
    }
    CHECK(libc_single_threaded() || getenv("EMULATED") != NULL);        /* an emulator has threads of its own */
}

/* ---- user: moving and zeroing against a loop over bytes, all bytes around them compared ---------------------------- */

static void test_user(void)
{
    enum { ROOM = 4 * 4096 };
    static unsigned char real[ROOM], model[ROOM];
    for (uint32_t round = 0; round < 20000; round++) {
        uint64_t most = round % 8 == 0 ? 4096 : 80;
        uint64_t bytes = random_tag() % (most + 1);
        uint64_t from = random_tag() % 4096, to = from + bytes + random_tag() % 100;
        if (round % 2 == 1) {
            uint64_t swap = from;
            from = to;
            to = swap;
        }
        for (uint64_t i = 0; i < 100; i++) {
            real[(from + i * 37) % ROOM] = model[(from + i * 37) % ROOM] = (unsigned char)random_tag();
        }
        for (uint64_t i = 0; i < bytes; i++) {
            model[to + i] = round % 3 == 0 ? 0 : model[from + i];
        }
        if (round % 3 == 0) {
            user_zero((uint64_t)real + to, bytes, false);
        } else {
            user_move((uint64_t)real + to, (uint64_t)real + from, bytes);
            memcpy(model + from, real + from, bytes);       /* unspecified */
        }
        CHECK(memcmp(real, model, ROOM) == 0);
        user_zero((uint64_t)real + from, bytes, true);
        CHECK(memcmp(real, model, ROOM) == 0);
        user_fill((uint64_t)real + from, bytes, (uint8_t)round);
        for (uint64_t i = 0; i < bytes; i++) {
            model[from + i] = (unsigned char)round;
        }
        CHECK(memcmp(real, model, ROOM) == 0);
    }
}

/* Long blocks to and fro, in pages of several mappings: what is moved, what stands behind it, errno. */
static void test_user_long(void)
{
    enum { NPAGES = (16UL << 20) / PAGE };
    uint64_t       first = os_map(0, 2 * NPAGES + 2);
    unsigned char *block[2] = {(unsigned char *)(first * PAGE), (unsigned char *)((first + NPAGES + 1) * PAGE)};
    unsigned char *model = malloc((NPAGES + 1) * PAGE);
    CHECK(first != 0 && model != NULL);
    CHECK(madvise(block[0] + 5 * NPAGES / 16 * PAGE, 3 * PAGE, MADV_DONTDUMP) == 0);    /* a mapping of its own */
    for (uint32_t round = 0; round < 40; round++) {
        unsigned char *from = block[round % 2], *to = block[1 - round % 2];
        uint64_t       bytes = round % 4 == 0 ? NPAGES * PAGE : random_tag() % (NPAGES * PAGE);
        for (uint64_t i = 0; i < (NPAGES + 1) * PAGE; i += 1 + random_tag() % 500) {
            from[i] = to[i] = (unsigned char)random_tag();
        }
        memcpy(model, from, bytes);
        memcpy(model + bytes, to + bytes, (NPAGES + 1) * PAGE - bytes);
        errno = 7;
        user_move((uint64_t)to, (uint64_t)from, bytes);
        CHECK(errno == 7 && memcmp(model, to, (NPAGES + 1) * PAGE) == 0);
        memcpy(model, from, NPAGES * PAGE);
        uint64_t n = 1 + random_tag() % NPAGES, zero = 0;
        bool     moved = os_move((uint64_t)to / PAGE, (uint64_t)from / PAGE, n);
        CHECK(errno == 7 && (!moved || memcmp(model, to, n * PAGE) == 0));
        for (uint64_t i = 0; i < n; i++) {
            zero += memcmp(from + i * PAGE, model + i * PAGE, PAGE) != 0 ? 1 : 0;
            CHECK(moved || zero == 0);
        }
        CHECK(memcmp(model + n * PAGE, from + n * PAGE, (NPAGES - n) * PAGE) == 0);
    }
    free(model);
    CHECK(os_unmap(0, first, 2 * NPAGES + 2, true));
}

/* Pages of a mapping that are in memory and no page of zeros that reading has brought in. */
static uint64_t written_npages(uint64_t address, uint64_t npages)
{
    uint64_t n = 0;
    FILE    *f = fopen("/proc/self/smaps", "r");
    char     line[256];
    bool     in = false;
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long begin, end, kib;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
            in = address < end && begin < address + npages * PAGE;
        } else if (in && sscanf(line, "Anonymous: %lu kB", &kib) == 1) {
            n += kib * 1024 / PAGE;
        }
    }
    fclose(f);
    return n;
}

/* Returns whether reading pages that nobody has written takes memory for them. Some kernels have no page of zeros that stands for them. */
static bool reading_takes_memory(void)
{
    enum { NPAGES = 16 };
    uint64_t from = os_map(0, NPAGES);
    CHECK(from != 0 && madvise((void *)(from * PAGE), NPAGES * PAGE, MADV_NOHUGEPAGE) == 0 && written_npages(from * PAGE, 1) == 0);
    CHECK(madvise((void *)(from * PAGE), NPAGES * PAGE, MADV_DONTDUMP) == 0);
    for (uint64_t i = 0; i < NPAGES; i++) {
        CHECK(*(volatile unsigned char *)((from + i) * PAGE) == 0);
    }
    bool takes = written_npages(from * PAGE, NPAGES) != 0;
    CHECK(os_unmap(0, from, NPAGES, true));
    return takes;
}

/* A copy of pages of which most were never written holds the same bytes, over whatever was there. It takes memory for the others alone, where
 * reading takes none. */
static void test_user_sparse(void)
{
    bool takes = reading_takes_memory();
    enum { NPAGES = 300, BYTES = NPAGES * PAGE - 100 };
    for (uint32_t round = 0; round < 20; round++) {
        uint64_t       from = os_map(0, 2 * NPAGES + 1), to = from + NPAGES + 1, written = 0;
        unsigned char *source = (unsigned char *)(from * PAGE), *copy = (unsigned char *)(to * PAGE);
        unsigned char *model = calloc(NPAGES, PAGE);
        CHECK(from != 0 && model != NULL && madvise(source, (2 * NPAGES + 1) * PAGE, MADV_NOHUGEPAGE) == 0);
        CHECK(madvise(copy - PAGE, PAGE, MADV_DONTDUMP) == 0);      /* so that what lies on either side is a mapping of its own */
        for (uint64_t i = 0; i < NPAGES; i += 1 + random_tag() % 20, written++) {
            source[i * PAGE + random_tag() % (i == NPAGES - 1 ? PAGE - 100 : PAGE)] = (unsigned char)(1 + random_tag() % 255);
        }
        uint64_t dirty = round % 2 == 0 ? 0 : random_tag() % NPAGES;
        memset(copy, 7, dirty * PAGE);
        memset(model, 7, dirty * PAGE);
        memcpy(model, source, BYTES);
        uint64_t before = written_npages(from * PAGE, NPAGES);
        user_move((uint64_t)copy, (uint64_t)source, BYTES);
        CHECK(memcmp(copy, model, NPAGES * PAGE) == 0);
        CHECK(takes || (before == written && written_npages(from * PAGE, NPAGES) == written));
        uint64_t in_copy = written_npages(to * PAGE, NPAGES);
        CHECK(in_copy >= dirty && (takes || in_copy <= dirty + written + 1));
        free(model);
        CHECK(os_unmap(0, from, 2 * NPAGES + 1, true));
    }
}

/* ---- trap: one exact line, then SIGABRT -------------------------------------------------------------------------- */

static void test_trap(void)
{
    int  pipe_ends[2];
    char line[200] = {0};
    int  status = 0;
    CHECK(pipe(pipe_ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], 2);
        trap_misuse("free", "not a block", 0xabc123);
    }
    close(pipe_ends[1]);
    CHECK(read(pipe_ends[0], line, sizeof line - 1) > 0 && strchr(line, '\n') != NULL);
    if (getenv("EMULATED") != NULL) {           /* qemu adds a line of its own */
        strchr(line, '\n')[1] = 0;
    }
    CHECK(strcmp(line, "qedmalloc: free(0xabc123): not a block\n") == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    test_bits();
    test_table();
    test_pages();
    test_facts();
    test_sparse();
    test_libc();
    test_mutex();
    test_mutex_held();
    test_lock_table();
    test_user();
    test_user_long();
    test_user_sparse();
    test_trap();
    printf("ok platform: %lu checks, seed 0x9E3779B97F4A7C15\n", checks);
    return 0;
}
