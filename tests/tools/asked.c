/* asked: a library that has the program print malloc_stats whenever SIGUSR2 comes. A thread waits for the signal, which all others block. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void *answer(void *unused)
{
    sigset_t wanted;
    int      signal;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    while (sigwait(&wanted, &signal) == 0) {
        malloc_stats();
        fflush(stderr);
    }
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    sigset_t  wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    pthread_create(&thread, NULL, answer, NULL);
}
