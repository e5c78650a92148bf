/* A plugin with a copy of the allocator in it is closed while threads that have used it live on. The copy takes its hooks with it:
 * threads end, the process forks; and its memory, unless a block is live, which stays as it is.
 *
 * usage: plugin_closed PLUGIN
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"

#define THREADS 3
#define ROUNDS 40

static void *(*take)(size_t);
static void (*give)(void *);
static pthread_barrier_t used, closed;

static void use(void)
{
    for (size_t i = 1; i < 2000000; i = i * 3 / 2 + 1) {
        char *p = take(i);
        if (p == NULL) {
            abort();
        }
        p[0] = p[i - 1] = 1;
        give(p);
    }
}

static void *thread(void *unused)
{
    use();
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return unused;
}

static int fork_works(void)
{
    int   status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static long mapped_bytes(void)
{
    long  pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld", &pages) != 1) {
        abort();
    }
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Opens the plugin, uses it in all threads, closes it, lets the threads end. With a block that is kept, or none. */
static int round_of(const char *plugin, char **kept)
{
    pthread_t ids[THREADS];
    void     *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "plugin_closed: %s\n", dlerror());
        return 0;
    }
    *(void **)&take = dlsym(library, "plugin_take");
    *(void **)&give = dlsym(library, "plugin_give");
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&ids[i], NULL, thread, NULL);
    }
    use();
    pthread_barrier_wait(&used);
    if (kept != NULL) {
        *kept = memset(take(100000), 7, 100000);
    }
    int right = fork_works() && dlclose(library) == 0 && dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) == NULL && fork_works();
    pthread_barrier_wait(&closed);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
    }
    return right;
}

int main(int argc, char **argv)
{
    long  before = 0, after = 0;
    char *kept = NULL;
    alarm(120);
    pthread_barrier_init(&used, NULL, THREADS + 1);
    pthread_barrier_init(&closed, NULL, THREADS + 1);
    for (int i = 0; i < ROUNDS && argc > 1; i++) {
        if (!round_of(argv[1], NULL)) {
            return 1;
        }
        after = mapped_bytes();
        before = i < ROUNDS / 4 ? after : before;       /* the threads' stacks are cached by then */
    }
    if (!emulated() && after > before + (1 << 20)) {
        fprintf(stderr, "plugin_closed: %ld bytes mapped, then %ld\n", before, after);
        return 1;
    }
    if (!round_of(argv[1], &kept)) {
        return 1;
    }
    for (int i = 0; i < 100000; i++) {
        if (kept[i] != 7) {
            return 1;
        }
    }
    printf("ok plugin_closed: %d times, %ld bytes more mapped\n", ROUNDS, after - before);
    return 0;
}
