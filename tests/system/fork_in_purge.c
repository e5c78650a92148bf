/* A thread forks while another one purges. Pages that the purge has in its hands, 64 MiB at a time, must be there for the child too.
 *
 * usage: fork_in_purge FORKS */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 2
#define BLOCK_BYTES (64UL << 20)        /* as much as a purge takes at a time */
#define GROWN_MAX (1L << 20)            /* metadata. A child without what was being purged needs 64 MiB more. */

static void      *block[BLOCKS];
static atomic_int purging, stop;

static int take(int blocks, int touch)
{
    for (int i = 0; i < blocks; i++) {
        block[i] = malloc(BLOCK_BYTES);
        if (block[i] == NULL) {
            return 0;
        }
        if (touch) {
            memset(block[i], 1, BLOCK_BYTES);
        }
    }
    return 1;
}

static void *purge_again_and_again(void *unused)
{
    while (!stop) {
        if (!take(BLOCKS, 1)) {
            exit(2);
        }
        for (int i = 0; i < BLOCKS; i++) {
            free(block[i]);
        }
        purging = 1;
        malloc_trim(0);
        purging = 0;
    }
    return unused;
}

static long address_space_bytes(void)
{
    char  line[64];
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fgets(line, sizeof line, f) == NULL) {
        exit(2);
    }
    fclose(f);
    return atol(line) * sysconf(_SC_PAGESIZE);
}

/* Both blocks were free when the child began. What stdio takes lies in the pages of one, so the other one fits into what the process had, and
 * without the pages of the purge neither does. */
static int child(void)
{
    long before = address_space_bytes();
    if (!take(BLOCKS - 1, 0)) {
        return 2;
    }
    return address_space_bytes() - before > GROWN_MAX ? 1 : 0;
}

int main(int argc, char **argv)
{
    int       forks = argc > 1 ? atoi(argv[1]) : 20, in_purge = 0, lost = 0;
    pthread_t thread;
    setvbuf(stdout, NULL, _IONBF, 0);
    free(malloc(100000));
    if (pthread_create(&thread, NULL, purge_again_and_again, NULL) != 0) {
        return 2;
    }
    while (in_purge < forks) {
        int status;
        while (!purging) {
        }
        usleep((useconds_t)(in_purge * 37 % 500));
        pid_t p = fork();
        if (p == 0) {
            alarm(60);
            _exit(purging ? child() : 3);
        }
        if (p < 0 || waitpid(p, &status, 0) != p || !WIFEXITED(status) || WEXITSTATUS(status) == 2) {
            printf("FAILED fork_in_purge: a child ended with status %x\n", (unsigned)status);
            return 1;
        }
        in_purge += WEXITSTATUS(status) != 3;
        lost += WEXITSTATUS(status) == 1;
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("%s fork_in_purge: of %d forks during a purge, %d lost pages\n", lost == 0 ? "ok" : "FAILED", forks, lost);
    return lost != 0;
}
