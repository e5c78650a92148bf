/* Threads begin epochs without a pause while the program forks. Each child reads statistics and ends. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

static volatile int done;

static int begin_epoch(void)
{
    uint64_t epoch = 1, before = 0;
    size_t   bytes = sizeof before, allocated = 0, active = 0;
    if (mallctl("epoch", &before, &bytes, &epoch, sizeof epoch) != 0 || before == 0) {
        return 1;
    }
    bytes = sizeof allocated;
    return mallctl("stats.allocated", &allocated, &bytes, NULL, 0) != 0 || mallctl("stats.active", &active, &bytes, NULL, 0) != 0;
}

static void *epochs(void *unused)
{
    (void)unused;
    for (unsigned n = 0; !done; n++) {
        void *p = mallocx(100 + n % 1000, 0);
        if (begin_epoch() != 0) {
            abort();
        }
        dallocx(p, 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int       forks = argc > 1 ? atoi(argv[1]) : 200;
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread[i], NULL, epochs, NULL);
    }
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);                  /* a lock that is never given back */
            _exit(begin_epoch());
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "mallctl_fork: fork %d: status %d\n", i, status);
            return 1;
        }
    }
    done = 1;
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
    }
    printf("ok mallctl_fork: %d forks\n", forks);
    return 0;
}
