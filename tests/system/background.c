/* The background thread, with background_thread:true,dirty_decay_ms:300 and 2 arenas.
 * `background idle`: what a process has freed goes back while it makes no call; the thread has all signals blocked.
 * `background fork`: a child returns its pages too; it has a thread if the one that forked was alone, and gets one by mallctl otherwise.
 * `background off`:  mallctl ends the thread, and begins it again. The setting is false here. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

#define MIB (1L << 20)
#define BLOCKS 40000
#define SECONDS 20

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "background: line %d: %s\n", __LINE__, #condition); \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

static char *block[BLOCKS];

/* Reads without an allocation. */
static long resident_bytes(void)
{
    char text[128] = "";
    int  file = open("/proc/self/statm", O_RDONLY);
    CHECK(file >= 0 && read(file, text, sizeof text - 1) > 0);
    close(file);
    return strtol(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static long threads(void)
{
    struct stat tasks;
    CHECK(stat("/proc/self/task", &tasks) == 0);
    return (long)tasks.st_nlink - 2;
}

static uint64_t number(const char *name)
{
    uint64_t value = 0, epoch = 1;
    size_t   bytes = sizeof value;
    CHECK(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
    if (mallctl(name, &value, &bytes, NULL, 0) != 0) {          /* a bool */
        value = 0;
        CHECK(bytes == 1 && mallctl(name, &value, &bytes, NULL, 0) == 0);
    }
    return value;
}

static int set(bool on)
{
    return mallctl("background_thread", NULL, NULL, &on, sizeof on);
}

static void use_and_free(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(1000);
        memset(block[i], 1, 1000);
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(block[i]);
    }
}

/* Whether the memory of freed blocks goes back without a call. */
static bool returns_pages(long ms)
{
    CHECK(mallctl("arena.4096.purge", NULL, NULL, NULL, 0) == 0);
    long before = resident_bytes();
    use_and_free();
    for (; ms > 0 && resident_bytes() > before + 4 * MIB; ms -= 50) {
        pause_ms(50);
    }
    return resident_bytes() <= before + 4 * MIB;
}

/* Whether the thread of that name has signals blocked, from /proc. */
static bool blocks_signals(void)
{
    bool blocked = false;
    for (int tid = getpid() + 1; tid < getpid() + 1000 && !blocked; tid++) {
        char  path[64], line[256], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
        FILE *f = fopen(path, "r");
        while (f != NULL && fgets(line, sizeof line, f) != NULL) {
            sscanf(line, "Name: %63s", name);
            if (strncmp(line, "SigBlk:", 7) == 0 && strcmp(name, "qed-background") == 0) {
                blocked = (strtoull(line + 7, NULL, 16) & 0x7fff) == 0x7eff;       /* 1 to 15, but for SIGKILL */
            }
        }
        if (f != NULL) {
            fclose(f);
        }
    }
    return blocked;
}

static void idle(void)
{
    CHECK(threads() == 2 && blocks_signals());
    CHECK(number("opt.background_thread") == 1 && number("background_thread") == 1 && number("stats.background_thread.num_threads") == 1);
    CHECK(returns_pages(SECONDS * 1000));
    pause_ms(1000);
    CHECK(number("stats.arenas.4096.pdirty") == 0);
    CHECK(number("stats.background_thread.num_runs") > 2 && number("stats.background_thread.run_interval") > 1000000);
}

static bool child_succeeds(pid_t child)
{
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_gate(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

static void forks(void)
{
    pthread_t thread;
    pid_t     child;
    if ((child = fork()) == 0) {                /* as a daemon does */
        CHECK(setsid() > 0 && threads() == 2 && returns_pages(SECONDS * 1000));
        CHECK((child = fork()) >= 0);
        if (child == 0) {
            CHECK(threads() == 2 && number("background_thread") == 1 && returns_pages(SECONDS * 1000));
            _exit(0);
        }
        _exit(child_succeeds(child) ? 0 : 1);
    }
    CHECK(child_succeeds(child) && threads() == 2);
    pthread_mutex_lock(&gate);
    CHECK(pthread_create(&thread, NULL, wait_for_gate, NULL) == 0);
    if ((child = fork()) == 0) {
        CHECK(threads() == 1 && number("background_thread") == 0);
        CHECK(set(true) == 0 && threads() == 2 && returns_pages(SECONDS * 1000));
        _exit(0);
    }
    CHECK(child_succeeds(child) && threads() == 3);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    for (int i = 0; i < 200; i++) {
        if ((child = fork()) == 0) {
            alarm(SECONDS);
            free(malloc(100000));
            _exit(0);
        }
        CHECK(child_succeeds(child));
    }
    CHECK(returns_pages(SECONDS * 1000));
}

/* Two threads switch, and two begin epochs, which read of the thread. */
static volatile int switched;

static void *switches(void *unused)
{
    for (int i = 0; i < 200; i++) {
        CHECK(set(i % 2 == 0) == 0);
    }
    switched = switched + 1;
    return unused;
}

static void *epochs(void *unused)
{
    while (!switched) {
        (void)number("stats.background_thread.num_runs");
    }
    return unused;
}

static void contend(void)
{
    pthread_t thread[4];
    alarm(60);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&thread[i], NULL, i < 2 ? switches : epochs, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
    }
    CHECK(set(false) == 0);
}

static void off(void)
{
    bool   was = true;
    size_t bytes = sizeof was, most = 2;
    CHECK(mallctl("background_thread", &was, &bytes, NULL, 0) == 0 && !was && threads() == 1);
    CHECK(!returns_pages(1500));
    CHECK(set(true) == 0 && set(true) == 0 && number("background_thread") == 1 && threads() == 2 && returns_pages(SECONDS * 1000));
    CHECK(set(false) == 0 && set(false) == 0 && number("background_thread") == 0 && threads() == 1 && !returns_pages(1500));
    CHECK(number("stats.background_thread.num_threads") == 0);
    contend();
    CHECK(mallctl("max_background_threads", NULL, NULL, &most, sizeof most) != 0 && number("max_background_threads") == 1);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "idle") == 0) {
        idle();
    } else if (strcmp(mode, "fork") == 0) {
        forks();
    } else {
        off();
    }
    printf("ok background %s\n", mode);
    return 0;
}
