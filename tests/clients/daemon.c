/* As a server does it that becomes a daemon: it asks for a background thread, forks, asks for it again in the child, since jemalloc's is gone
 * there, and ends the parent. What the child frees goes back while it waits for work and makes no call. */
#include "client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 40000
#define MIB (1L << 20)

const char *malloc_conf = "narenas:1,dirty_decay_ms:300,muzzy_decay_ms:0";

static char *block[BLOCKS];

static long resident_bytes(void)
{
    char text[128] = "";
    int  file = open("/proc/self/statm", O_RDONLY);
    long got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    close(file);
    return got <= 0 ? -1 : strtol(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE);
}

static int switch_on(void)
{
    bool   yes = true, is = false;
    size_t size = sizeof is;
    CHECK(mallctl("background_thread", NULL, NULL, &yes, sizeof yes) == 0);
    CHECK(mallctl("background_thread", &is, &size, NULL, 0) == 0 && is);
    return 0;
}

static int serve(void)
{
    size_t   threads = 0, size = sizeof threads;
    uint64_t epoch = 1;
    CHECK(setsid() > 0 && switch_on() == 0);
    long before = resident_bytes();
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(1000);
        memset(block[i], 1, 1000);
    }
    CHECK(resident_bytes() > before + 30 * MIB);
    for (int i = 0; i < BLOCKS; i++) {
        free(block[i]);
    }
    for (int i = 0; i < 400 && resident_bytes() > before + 8 * MIB; i++) {
        usleep(50000);
    }
    CHECK(resident_bytes() <= before + 8 * MIB);
    CHECK(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0);
    CHECK(mallctl("stats.background_thread.num_threads", &threads, &size, NULL, 0) == 0 && threads == 1);
    return 0;
}

int main(void)
{
    int status = 1;
    CHECK(switch_on() == 0);
    pid_t child = fork();
    if (child == 0) {
        _exit(serve());
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    bool off = false;
    CHECK(mallctl("background_thread", NULL, NULL, &off, sizeof off) == 0);
    printf("ok daemon\n");
    return 0;
}
