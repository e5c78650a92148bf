/* A library whose constructor runs before that of qedmalloc (-DLIBRARY), and a program that is linked with it: handlers of fork
 * that the constructor has registered may allocate, threads that it has begun give their caches back, and what it has set by mallctl stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int  malloc_info(int options, FILE *stream) __attribute__((weak));
int  mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes) __attribute__((weak));
void library_use(void);

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "constructors: line %d: %s\n", __LINE__, #condition);           \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

#ifdef LIBRARY
#define BLOCKS 2000

static void handler(void)
{
    void *volatile p = malloc(1 << 20);                 /* takes the lock of the pages */
    free(p);
}

static void *work(void *unused)
{
    static _Thread_local void *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        CHECK((block[i] = malloc(4000)) != NULL);
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(block[i]);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    ssize_t ms = 1234;
    free(malloc(100));                                  /* the first call of all, which registers qedmalloc's own handlers */
    CHECK(pthread_atfork(handler, handler, handler) == 0);
    CHECK(mallctl == NULL || mallctl("arenas.dirty_decay_ms", NULL, NULL, &ms, sizeof ms) == 0);
    for (int i = 0; i < 40; i++) {
        pthread_t thread[4];
        for (int j = 0; j < 4; j++) {
            CHECK(pthread_create(&thread[j], NULL, work, NULL) == 0);
        }
        for (int j = 0; j < 4; j++) {
            CHECK(pthread_join(thread[j], NULL) == 0);
        }
    }
}

void library_use(void)
{
}
#else
#define CACHED "<total type=\"cached\" size=\""

static size_t read_number(const char *name)
{
    size_t value = 0, bytes = sizeof value;
    CHECK(mallctl(name, &value, &bytes, NULL, 0) == 0);
    return value;
}

/* Returns the bytes that threads' caches hold. */
static unsigned long read_cached(void)
{
    char  *text = NULL;
    size_t bytes = 0;
    FILE  *f = open_memstream(&text, &bytes);
    CHECK(f != NULL && malloc_info(0, f) == 0 && fclose(f) == 0);
    const char   *at = strstr(text, CACHED);
    unsigned long cached = at == NULL ? ~0UL : strtoul(at + strlen(CACHED), NULL, 10);
    free(text);
    return cached;
}

static void *wait_for_ever(void *unused)
{
    for (;;) {
        (void)pause();
    }
    return unused;
}

int main(void)
{
    library_use();
    if (mallctl != NULL) {
        CHECK(read_number("arenas.dirty_decay_ms") == 1234);
        CHECK(read_cached() < 100000);
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        int   status = -1;
        pid_t child = fork();
        if (child == 0) {
            free(malloc(100000));
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    puts("ok constructors");
    return 0;
}
#endif
