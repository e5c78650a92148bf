/* `large_tls N`: a program with more thread-local variables than fit in a small stack has N threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local char large[400 * 1024];

int main(int argc, char **argv)
{
    struct stat tasks;
    unsigned    wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 1, threads = 0;
    memset(large, 1, sizeof large);
    for (int i = 0; i < 50 && threads != wanted; i++) {
        (void)usleep(20000);
        threads = stat("/proc/self/task", &tasks) == 0 ? (unsigned)tasks.st_nlink - 2 : 0;
    }
    if (threads != wanted) {
        fprintf(stderr, "large_tls: %u threads\n", threads);
        return 1;
    }
    puts("ok large_tls");
    return 0;
}
