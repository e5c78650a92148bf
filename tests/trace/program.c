/* The program that the recorder is tested on.
 *
 * usage: program story             calls in an order that is always the same, by two threads; tells each, as qed-replay does
 *        program storm THREADS     threads that come and go, and free each other's blocks
 *        program fork              parent and child each make 1000 blocks
 *        program killed            1000 blocks and SIGKILL
 *        program exec PROGRAM      1000 blocks, then another program in this process
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNIT 100000U                /* from here on sizes are the story's own */

/* ---- story ------------------------------------------------------------------------------------------------------- */

static char   told[8192];
static int    told_bytes;
static void  *b[32];
static sem_t  turn[2];

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    told_bytes += vsnprintf(told + told_bytes, sizeof told - (size_t)told_bytes, format, list);
    va_end(list);
}

static void wants(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "program: %s\n", what);
        exit(1);
    }
}

static void pass_turn(int from)
{
    sem_post(&turn[1 - from]);
    sem_wait(&turn[from]);
}

static void *second(void *unused)
{
    sem_wait(&turn[1]);
    free(b[1]), tell("1 free(b1)\n");
    b[3] = calloc(3, UNIT), tell("1 b3 = calloc(3, %u)\n", UNIT);
    pass_turn(1);
    b[5] = realloc(b[4], UNIT + 5), tell("1 b5 = realloc(b4, %u)\n", UNIT + 5);
    sem_post(&turn[0]);
    return unused;
}

static void story(void)
{
    pthread_t id;
    volatile size_t huge = SIZE_MAX / 4;
    sem_init(&turn[0], 0, 0), sem_init(&turn[1], 0, 0);
    pthread_create(&id, NULL, second, NULL);
    b[1] = malloc(UNIT + 1), tell("0 b1 = malloc(%u)\n", UNIT + 1);
    b[2] = malloc(UNIT + 2), tell("0 b2 = malloc(%u)\n", UNIT + 2);
    pass_turn(0);
    free(b[3]), tell("0 free(b3)\n");
    b[4] = realloc(b[2], 5 * UNIT), tell("0 b4 = realloc(b2, %u)\n", 5 * UNIT);
    pass_turn(0);
    b[6] = realloc(NULL, UNIT + 6), tell("0 b6 = realloc(NULL, %u)\n", UNIT + 6);
    wants(malloc(huge) == NULL, "malloc of far too much"), tell("0 malloc(%zu) fails\n", huge);
    wants(calloc(huge, 8) == NULL, "calloc of far too much"), tell("0 calloc(%zu, 8) fails\n", huge);
    wants(realloc(b[6], huge) == NULL, "realloc to far too much"), tell("0 b7 = realloc(b6, %zu) fails\n", huge);
    wants(reallocarray(b[6], huge, 8) == NULL && errno == ENOMEM, "reallocarray of far too much");
    tell("0 b8 = realloc(b7, %zu) fails\n", SIZE_MAX);
    b[9] = reallocarray(b[6], 2, UNIT), tell("0 b9 = realloc(b8, %u)\n", 2 * UNIT);
    b[10] = aligned_alloc(256, UNIT * 4), tell("0 b10 = aligned_alloc(256, %u)\n", 4 * UNIT);
    wants(posix_memalign(&b[11], 64, UNIT + 11) == 0, "posix_memalign"), tell("0 b11 = posix_memalign(64, %u)\n", UNIT + 11);
    wants(posix_memalign(&b[12], 3, UNIT + 12) == EINVAL, "posix_memalign(3)"), tell("0 posix_memalign(3, %u) fails\n", UNIT + 12);
    b[12] = memalign(4096, UNIT + 12), tell("0 b12 = memalign(4096, %u)\n", UNIT + 12);
    b[13] = valloc(UNIT + 13), tell("0 b13 = valloc(%u)\n", UNIT + 13);
    b[14] = pvalloc(UNIT + 14), tell("0 b14 = pvalloc(%u)\n", UNIT + 14);
    wants(realloc(b[14], 0) == NULL, "realloc to 0"), tell("0 realloc(b14, 0)\n");
    free(NULL), tell("0 free(NULL)\n");
    for (int i = 9; i < 14; i++) {
        free(b[i]), tell("0 free(b%d)\n", i);
    }
    (void)!write(1, told, (size_t)told_bytes);
    _exit(0);                       /* b5 stays */
}

/* ---- storm ------------------------------------------------------------------------------------------------------- */

#define SHARED 64
static void        *shared[SHARED];
static pthread_key_t key;

static void late(void *p)           /* a destructor that allocates, and comes again */
{
    static __thread int times;
    free(p);
    pthread_setspecific(key, times++ < 2 ? malloc(48) : NULL);
}

static void *storm(void *arg)
{
    uint64_t dice = (uintptr_t)arg * 2654435761U + 1;
    pthread_setspecific(key, malloc(24));
    for (int i = 0; i < 20000; i++) {
        dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
        void **slot = &shared[dice % SHARED], *p = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
        p = dice % 5 == 0 && p != NULL ? realloc(p, 1 + dice / 64 % 3000) : (free(p), malloc(1 + dice / 64 % 1000));
        free(__atomic_exchange_n(slot, p, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void storms(unsigned threads)
{
    pthread_t id[64];
    void     *p = NULL;
    pthread_key_create(&key, late);
    free(aligned_alloc(64, 640)), free(memalign(512, 700)), free(valloc(800)), free(pvalloc(5000));
    posix_memalign(&p, 32, 100) == 0 ? free(p) : (void)0;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < threads; i++) {
            pthread_create(&id[i], NULL, storm, (void *)(uintptr_t)(round * threads + i + 1));
        }
        for (unsigned i = 0; i < threads; i++) {
            pthread_join(id[i], NULL);
        }
    }
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void thousand(size_t bytes)
{
    for (int i = 0; i < 1000; i++) {
        void *p = malloc(bytes);
        __asm__ volatile("" : : "r"(p) : "memory");
        i % 2 == 0 ? free(p) : (void)0;
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "story") == 0) {
        story();
    } else if (strcmp(mode, "storm") == 0 && argc > 2) {
        storms((unsigned)atoi(argv[2]));
    } else if (strcmp(mode, "fork") == 0) {
        void *from_before = malloc(UNIT);
        pid_t child = fork();
        child == 0 ? free(from_before) : (void)0;
        thousand(child == 0 ? UNIT + 1 : UNIT + 2);
        if (child == 0) {
            _exit(0);
        }
        int status;
        wants(waitpid(child, &status, 0) == child && status == 0, "child");
    } else if (strcmp(mode, "killed") == 0) {
        thousand(UNIT + 3);
        kill(getpid(), SIGKILL);
    } else if (strcmp(mode, "exec") == 0 && argc > 2) {
        thousand(UNIT + 4);
        execv(argv[2], argv + 2);
        return 1;
    }
    return 0;
}
