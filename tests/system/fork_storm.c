/* Four threads allocate without a pause while the main thread forks. Parent and child must both go on allocating.
 *
 * usage: fork_storm [FORKS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"

static int stop;

static void churn(unsigned *state, int rounds)
{
    char *live[64] = {0};
    for (int i = 0; i < rounds; i++) {
        *state = *state * 1103515245u + 12345u;
        unsigned k = (*state >> 8) % 64;
        size_t   bytes = (*state >> 16) % 8 == 0 ? 1 + *state % 300000 : 1 + *state % 2000;
        free(live[k]);
        live[k] = malloc(bytes);
        live[k][0] = live[k][bytes - 1] = 1;
    }
    for (int k = 0; k < 64; k++) {
        free(live[k]);
    }
}

static void *worker(void *argument)
{
    unsigned state = (unsigned)(size_t)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        churn(&state, 1000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int       forks = argc > 1 ? atoi(argv[1]) : 500;
    pthread_t ids[4];
    alarm(120);                         /* a deadlock ends the test */
    for (size_t i = 0; i < 4; i++) {
        pthread_create(&ids[i], NULL, worker, (void *)(i + 1));
    }
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0) {
            unsigned  state = 77u + (unsigned)i;
            pthread_t id;
            churn(&state, 300);
            if (i % 10 == 0 && !emulated()) {          /* the child may start threads of its own */
                stop = 0;
                pthread_create(&id, NULL, worker, (void *)9);
                __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
                pthread_join(id, NULL);
            }
            _exit(0);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "fork_storm: child %d ended with status %d\n", i, status);
            return 1;
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++) {
        pthread_join(ids[i], NULL);
    }
    printf("ok fork_storm: %d forks from 4 allocating threads\n", forks);
    return 0;
}
