/* Shapes of a program's life in which an allocator keeps memory or gives it back: `memory SHAPE [SCALE]`.
 * At each point of interest it prints "NAME LIVE_BYTES RSS_KIB MILLISECONDS", the last two since and at that moment, by a thread
 * that has allocated nothing for it. `memory` lists the shapes. SCALE shortens the times, not the sizes. All dice are fixed. */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024UL
#define MIB (1024UL * KIB)
#define DECAY_SECONDS 12.0                          /* a little more than the ten seconds after which peers purge */

static double        scale = 1;
static double        begin;
static atomic_size_t live;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t roll(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t rss_kib(void)
{
    char  text[128] = {0};
    int   file = open("/proc/self/statm", O_RDONLY);
    char *resident = read(file, text, sizeof text - 1) > 0 ? strchr(text, ' ') : NULL;
    close(file);
    return resident != NULL ? strtoul(resident, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) / KIB : 0;
}

static void mark(const char *name)
{
    char text[128];
    int  n = snprintf(text, sizeof text, "%s %zu %zu %.0f\n", name, atomic_load(&live), rss_kib(), (now() - begin) * 1000);
    if (write(1, text, (size_t)n) != n) {
        exit(1);
    }
}

static void *filled(size_t bytes)
{
    char *p = malloc(bytes);
    for (size_t b = 0; b < bytes; b += 4096) {
        ((volatile char *)p)[b] = 1;
    }
    ((volatile char *)p)[bytes - 1] = 1;
    return p;
}

/* What a server does while nothing much happens: small blocks come and go, some thousand in a second. */
static void light_activity(double seconds)
{
    static void *block[100];
    uint64_t     dice = 9;
    for (double end = now() + seconds * scale; now() < end;) {
        for (size_t i = 0; i < 50; i++) {
            size_t k = roll(&dice) % 100;
            free(block[k]);
            block[k] = filled(16 + roll(&dice) % 1000);
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

/* ---- phases: much and little in turn, other sizes each time ---------------------------------------------------------- */

#define PHASES 12
#define PHASE_THREADS 4
#define PHASE_SECONDS 2.0

static const struct {
    size_t live, least, most;                       /* bytes: of all threads; of a block */
} phase[PHASES] = {
    {400 * MIB, 16, 128},     {30 * MIB, 1000, 4000},    {400 * MIB, 200, 1000},    {30 * MIB, 16, 200},
    {400 * MIB, 4000, 32000}, {30 * MIB, 100, 500},      {400 * MIB, 1000, 3000},   {30 * MIB, 20000, 100000},
    {400 * MIB, 30, 60},      {30 * MIB, 500, 2000},     {400 * MIB, 50000, 300000}, {30 * MIB, 48, 96},
};
static pthread_barrier_t gate;

struct block {
    void  *at;
    size_t bytes;
};

static void drop(struct block *b)
{
    free(b->at);
    atomic_fetch_sub(&live, b->at != NULL ? b->bytes : 0);
    *b = (struct block){0};
}

static void take(struct block *b, uint64_t *dice, size_t p)
{
    b->bytes = phase[p].least + roll(dice) % (phase[p].most - phase[p].least);
    b->at = filled(b->bytes);
    atomic_fetch_add(&live, b->bytes);
}

static void *live_through(void *argument)
{
    size_t         me = (size_t)argument, survivors = 0;
    uint64_t       dice = 100 + me;
    struct block  *old = NULL;
    for (size_t p = 0; p < PHASES; p++) {
        size_t        n = phase[p].live / PHASE_THREADS / ((phase[p].least + phase[p].most) / 2);
        struct block *b = calloc(n, sizeof *b);
        for (size_t i = 0; i < n; i++) {
            take(&b[i], &dice, p);
        }
        for (double end = now() + PHASE_SECONDS * scale; now() < end;) {
            for (size_t i = 0; i < 100; i++) {
                size_t k = roll(&dice) % n;
                drop(&b[k]);
                take(&b[k], &dice, p);
            }
        }
        for (size_t i = 0; i < survivors; i++) {    /* those of the phase before have lived long enough */
            drop(&old[i]);
        }
        free(old);
        pthread_barrier_wait(&gate);
        if (me == 0) {
            char name[16];
            snprintf(name, sizeof name, "phase_%zu", p + 1);
            mark(name);
        }
        pthread_barrier_wait(&gate);
        survivors = 0;
        for (size_t i = 0; i < n; i++) {
            if (roll(&dice) % 20 == 0) {
                b[survivors++] = b[i];
            } else {
                drop(&b[i]);
            }
        }
        old = b;
    }
    return NULL;                                    /* the last survivors stay */
}

static void phases(void)
{
    pthread_t id[PHASE_THREADS];
    pthread_barrier_init(&gate, NULL, PHASE_THREADS);
    for (size_t i = 0; i < PHASE_THREADS; i++) {
        pthread_create(&id[i], NULL, live_through, (void *)i);
    }
    for (size_t i = 0; i < PHASE_THREADS; i++) {
        pthread_join(id[i], NULL);
    }
    light_activity(DECAY_SECONDS);
    mark("after_decay");
}

/* ---- threads that come and go --------------------------------------------------------------------------------------- */

#define COMERS 4096
#define ROUNDS 3

static pthread_attr_t small_stack;
static int            overlap;

static void *work_a_little(void *argument)
{
    uint64_t dice = 1 + (size_t)argument;
    void    *p[100];
    for (size_t i = 0; i < 100; i++) {
        p[i] = filled(i % 20 != 0 ? 16 + roll(&dice) % 500 : 16 + roll(&dice) % 4000);
    }
    if (overlap) {
        pthread_barrier_wait(&gate);
    }
    for (size_t i = 0; i < 100; i++) {
        free(p[i]);
    }
    return NULL;
}

static void come_and_go(const char *name, size_t together)
{
    static pthread_t id[COMERS];
    for (size_t i = 0; i < COMERS; i += together) {
        for (size_t k = 0; k < together; k++) {
            if (pthread_create(&id[k], &small_stack, work_a_little, (void *)(i + k)) != 0) {
                perror("pthread_create");
                exit(1);
            }
        }
        for (size_t k = 0; k < together; k++) {
            pthread_join(id[k], NULL);
        }
    }
    mark(name);
}

static void rounds_of_threads(size_t together)
{
    overlap = together > 1;
    pthread_attr_init(&small_stack);
    pthread_attr_setstacksize(&small_stack, 256 * KIB);
    pthread_barrier_init(&gate, NULL, (unsigned)together);
    come_and_go("round_1", together);
    come_and_go("round_2", together);
    come_and_go("round_3", together);
    light_activity(DECAY_SECONDS);
    mark("after_decay");
}

static void threads_in_turn(void) { rounds_of_threads(1); }
static void threads_overlapping(void) { rounds_of_threads(COMERS); }

/* ---- hits only, after much has been freed ------------------------------------------------------------------------------ */

static void hits(void)
{
    size_t   n = 100000;
    uint64_t dice = 5;
    void   **p = calloc(n, sizeof *p);
    for (size_t i = 0; i < n; i++) {
        p[i] = filled(16 + roll(&dice) % 2000);
    }
    mark("large_phase");
    for (size_t i = 0; i < n; i++) {
        free(p[i]);
    }
    free(p);
    mark("freed");
    for (double end = now() + DECAY_SECONDS * scale; now() < end;) {
        for (size_t i = 0; i < 100000; i++) {
            free(filled(64));
        }
    }
    mark("after_hits");
}

/* ---- holes: few blocks in many pages ------------------------------------------------------------------------------------ */

static void holes(void)
{
    size_t        n = 300000;
    uint64_t      dice = 7;
    struct block *b = calloc(n, sizeof *b);
    for (size_t i = 0; i < n; i++) {
        b[i].bytes = 512 + roll(&dice) % 1536;
        b[i].at = filled(b[i].bytes);
        atomic_fetch_add(&live, b[i].bytes);
    }
    mark("all");
    for (size_t i = 0; i < n; i++) {
        if (roll(&dice) % 20 != 0) {
            drop(&b[i]);
        }
    }
    mark("one_in_twenty");
    light_activity(DECAY_SECONDS);
    mark("after_decay");
    malloc_trim(0);                                 /* glibc's own where the library has none; it has little to trim there */
    mark("after_trim");
}

static const struct {
    const char *name;
    void (*body)(void);
} shape[] = {
    {"phases", phases}, {"threads_in_turn", threads_in_turn}, {"threads_overlapping", threads_overlapping}, {"hits", hits}, {"holes", holes},
};

int main(int argc, char **argv)
{
    scale = argc > 2 ? atof(argv[2]) : 1;
    begin = now();
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        if (argc < 2) {
            puts(shape[i].name);
        } else if (strcmp(argv[1], shape[i].name) == 0) {
            mark("start");
            shape[i].body();
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
