/* A signal's handler forks while its thread is inside malloc or free. The interrupted call must go on in the parent, and in a
 * child that has no other threads to miss; any child may end or exec.
 *
 * usage: fork_in_handler FORKS one        a process of one thread: children return from the handler and allocate
 *        fork_in_handler FORKS past       a process that had a second thread: likewise
 *        fork_in_handler FORKS several    another thread allocates: children end or exec in the handler
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static timer_t               timer;
static int                   several, stop;
static volatile sig_atomic_t forks, failures, in_child;

/* The next signal comes a little after the handler has returned: at another place of the loop each time. */
static void arm(void)
{
    struct itimerspec when = {{0, 0}, {0, 20000 + forks * 7919L % 100000}};
    timer_settime(timer, 0, &when, NULL);
}

static void handler(int signal_number)
{
    int   status = 0;
    pid_t child = fork();
    (void)signal_number;
    if (child == 0) {
        if (several && forks % 8 == 0) {
            execle("/bin/true", "true", (char *)NULL, (char *[]){NULL});    /* whatever C library that has */
            _exit(1);
        }
        if (several) {
            _exit(0);
        }
        in_child = 1;
        alarm(20);
        return;
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        failures++;
    }
    forks--;
    if (forks > 0) {
        arm();
    }
}

/* Mostly slow paths: blocks that no thread caches, and enough of small ones to fill and empty the stacks. */
static void churn(unsigned *state)
{
    char *live[200];
    for (int i = 0; i < 200; i++) {
        *state = *state * 1103515245u + 12345u;
        size_t bytes = i % 2 == 0 ? 300000 + *state % 300000 : 1 + (*state >> 8) % 14000;
        live[i] = malloc(bytes);
        live[i][0] = live[i][bytes - 1] = 1;
    }
    for (int i = 0; i < 200; i++) {
        free(live[i]);
    }
}

static void *worker(void *argument)
{
    unsigned state = (unsigned)(size_t)argument;
    do {
        churn(&state);
    } while (!__atomic_load_n(&stop, __ATOMIC_RELAXED));
    return NULL;
}

int main(int argc, char **argv)
{
    const char      *mode = argc > 2 ? argv[2] : "one";
    struct sigaction action = {.sa_handler = handler};
    struct sigevent  event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    unsigned         state = 1;
    pthread_t        other;
    int              alone = strcmp(mode, "one") == 0;
    sigset_t         only;
    several = strcmp(mode, "several") == 0;
    forks = argc > 1 ? atoi(argv[1]) : 100;
    alarm(120);                          /* a deadlock ends the test */
    sigemptyset(&only);
    sigaddset(&only, SIGUSR1);
    sigprocmask(SIG_BLOCK, &only, NULL);
    stop = !several;
    if (!alone && pthread_create(&other, NULL, worker, (void *)2) != 0) {
        return 1;
    }
    if (!alone && !several) {
        pthread_join(other, NULL);
    }
    if (sigaction(SIGUSR1, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        return 1;
    }
    int asked = forks;
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    arm();
    while (forks > 0 && !in_child) {
        churn(&state);
    }
    if (in_child) {
        churn(&state);
        pid_t child = fork();           /* from no handler */
        if (child == 0) {
            churn(&state);
            _exit(0);
        }
        int status = 0;
        _exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    if (several) {
        pthread_join(other, NULL);
    }
    if (failures != 0) {
        fprintf(stderr, "fork_in_handler %s: %d children failed\n", mode, (int)failures);
        return 1;
    }
    printf("ok fork_in_handler %s: %d forks\n", mode, asked);
    return 0;
}
