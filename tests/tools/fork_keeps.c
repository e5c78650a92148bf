/* fork_keeps: what a thread has ready is as it was in the child of a fork, since a handler that forks may have interrupted a malloc. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZES 64U

int main(void)
{
    void *last[SIZES];
    int   status;
    for (size_t i = 0; i < SIZES; i++) {
        last[i] = malloc(16 * i + 16);
        free(last[i]);
    }
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = SIZES; i-- > 0;) {
            void *block = malloc(16 * i + 16);
            free(block);
            for (size_t k = i; k < SIZES; k++) {        /* sizes of one class share the block */
                block = block == last[k] ? NULL : block;
            }
            if (block != NULL) {
                printf("%zu bytes: another block than the last one freed\n", 16 * i + 16);
                _exit(1);
            }
        }
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
