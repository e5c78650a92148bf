/* Forks beside threads that are inside stdio: one flushes all streams, which takes the lock of stdio's list and waits for a
 * stream; one reads long lines, which holds a stream and allocates; one opens and closes streams, which allocates and takes the
 * list's lock. The C library's fork waits for the list too. Parent and child allocate and use stdio afterwards.
 *
 * usage: fork_beside_stdio FORKS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"

#define LINE_BYTES 3000000              /* far above what a thread caches: getline's growth takes locks */

static int  stop;
static char path[64];                   /* of a file with one line */

static int stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void *flush_all(void *unused)
{
    while (!stopped()) {
        fflush(NULL);
        usleep(20);                     /* stdio's locks are unfair: fork must come in between */
    }
    return unused;
}

static void *read_lines(void *unused)
{
    FILE *f = fopen(path, "r");
    while (!stopped()) {
        char  *line = NULL;
        size_t room = 0;
        rewind(f);
        if (getline(&line, &room, f) != LINE_BYTES) {
            abort();
        }
        free(line);
    }
    fclose(f);
    return unused;
}

static void *open_streams(void *unused)
{
    while (!stopped()) {
        FILE *f[8];
        for (int i = 0; i < 8; i++) {
            f[i] = fopen("/dev/null", "w");
            fprintf(f[i], "%d", i);
        }
        for (int i = 0; i < 8; i++) {
            fclose(f[i]);
        }
    }
    return unused;
}

/* What takes stdio's list and the allocator's locks; NULL where all of it works. */
static void *work(void *unused)
{
    FILE *f = fopen("/dev/null", "w");
    char *p = malloc(LINE_BYTES);
    int   failed = f == NULL || p == NULL || fprintf(f, "%p", (void *)p) < 0 || fflush(NULL) != 0 || fclose(f) != 0;
    free(p);
    return failed ? &stop : unused;
}

static int works_in_two_threads(void)
{
    pthread_t id;
    void     *failed = NULL;
    if (emulated()) {
        return work(NULL) == NULL && work(NULL) == NULL;
    }
    return work(NULL) == NULL && pthread_create(&id, NULL, work, NULL) == 0 && pthread_join(id, &failed) == 0 && failed == NULL;
}

static void fork_once(int number)
{
    int   status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(120);
        _exit(works_in_two_threads() ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "fork_beside_stdio: child %d ended with status %d\n", number, status);
        _exit(1);
    }
}

int main(int argc, char **argv)
{
    void *(*const parts[])(void *) = {flush_all, read_lines, open_streams};
    int       forks = argc > 1 ? atoi(argv[1]) : 100;
    char     *line = malloc(LINE_BYTES);
    int       file = memfd_create("line", 0);
    pthread_t ids[3];
    alarm(120);                          /* a deadlock ends the test */
    memset(line, 'x', LINE_BYTES);
    line[LINE_BYTES - 1] = '\n';
    if (write(file, line, LINE_BYTES) != LINE_BYTES) {
        return 1;
    }
    free(line);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fork_once(0);                       /* from a process of one thread */
    for (int t = 0; t < 3; t++) {
        pthread_create(&ids[t], NULL, parts[t], NULL);
    }
    for (int i = 1; i <= forks; i++) {
        fork_once(i);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int t = 0; t < 3; t++) {
        pthread_join(ids[t], NULL);
    }
    if (!works_in_two_threads()) {
        return 1;
    }
    printf("ok fork_beside_stdio: %d forks beside threads in stdio\n", forks);
    return 0;
}
