/* The report of leaks ends a program whose thread waits for input in a FILE, with status 1, and what it has written is there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *volatile kept[1000];

static void *read_input(void *unused)
{
    char line[100];
    return fgets(line, sizeof line, stdin) == NULL ? NULL : unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, read_input, NULL) != 0) {
        return 2;
    }
    usleep(100000);                             /* the thread holds the lock of stdin */
    for (int i = 0; i < 1000; i++) {
        kept[i] = malloc(100000);
    }
    puts("leaving");
    return 0;
}
