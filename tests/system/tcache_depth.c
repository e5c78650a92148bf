/* A thread says how many blocks of a class its cache may hold (thread.tcache.ncached_max). What a class has out, for the program and in
 * caches, says so after all blocks are freed. Other threads, and the next one that gets the cache, hold what the classes say. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jemalloc/jemalloc.h>

#define BLOCKS 300
#define READ "thread.tcache.ncached_max.read_sizeclass"
#define WRITE "thread.tcache.ncached_max.write"

static int failures;

static void check(int good, const char *what)
{
    if (!good) {
        failures++;
        fprintf(stderr, "tcache_depth: %s\n", what);
    }
}

static size_t most(size_t bytes)
{
    size_t value = SIZE_MAX, size = sizeof value;
    check(mallctl(READ, &value, &size, &bytes, sizeof bytes) == 0 && size == sizeof value, "a class cannot be read");
    return value;
}

static int set(const char *text)
{
    return mallctl(WRITE, NULL, NULL, &text, sizeof text);
}

/* Blocks of 1025 to 1280 bytes that are out. */
static uint64_t out(void)
{
    uint64_t epoch = 1;
    size_t   value = 0, size = sizeof value, bytes = sizeof(size_t), class_bytes = 0;
    char     name[64];
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    for (int i = 0;; i++) {
        snprintf(name, sizeof name, "arenas.bin.%d.size", i);
        check(mallctl(name, &class_bytes, &bytes, NULL, 0) == 0, name);
        if (class_bytes == 1280) {
            snprintf(name, sizeof name, "stats.arenas.4096.bins.%d.curregs", i);
            check(mallctl(name, &value, &size, NULL, 0) == 0, name);
            return value;
        }
    }
}

static void come_and_go(void)
{
    static void *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(1280);
        check(block[i] != NULL, "no block");
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(block[i]);
    }
}

static void *another(void *least)
{
    check(most(1280) == *(size_t *)least, "another thread holds something else");
    check(set("0-4096:1") == 0 && most(1280) == 1 && most(16) == 1, "a range is not set");
    return NULL;
}

static void check_texts(void)
{
    static const char *const wrong[] = {"", "1280", "1280-1280", "1280-1280:", "1280-1000:1", "-1280:1", "1280-1280:-1", "1280-1280:1|",
        "|1280-1280:1", " 1280-1280:1", "1280-1280:1 ", "1280-1280:1|x", "a-b:c", "1280-99999999999999999999999:1",
        "1280-1280:99999999999999999999999"};
    size_t before = most(1280), size = sizeof before, value = 1280;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check(set(wrong[i]) == EINVAL && most(1280) == before, wrong[i]);
    }
    const char *none = NULL;
    check(mallctl(WRITE, NULL, NULL, NULL, 0) == EINVAL && mallctl(WRITE, NULL, NULL, &none, sizeof none) == EINVAL, "no text is not EINVAL");
    check(mallctl(WRITE, &value, &size, NULL, 0) == EPERM, "the text can be read");
    check(mallctl(READ, &value, &size, NULL, 0) == EINVAL && mallctl(READ, &value, &size, &value, 4) == EINVAL, "no size is not EINVAL");
    check(mallctl(READ, NULL, NULL, &value, sizeof value) == 0, "a size wants an answer");
    size = 4;
    check(mallctl(READ, &value, &size, &value, sizeof value) == EINVAL && size == 4, "a shorter answer is not EINVAL");
}

/* Classes above a size hold nothing, and those up to it what they may. */
static void check_max(void)
{
    size_t before = 0, now = 0, size = sizeof now, all = most(1280), new = 1000;
    check(mallctl("thread.tcache.max", &before, &size, &new, sizeof new) == 0 && before > 4096, "the largest class is small");
    check(mallctl("thread.tcache.max", &now, &size, NULL, 0) == 0 && now == 1024 && most(1024) > 0 && most(1025) == 0 && most(20000) == 0,
          "larger classes are held");
    uint64_t none = out();
    come_and_go();
    check(out() == none, "blocks of a larger class stay");
    check(set("64-64:5") == 0 && mallctl("thread.tcache.max", NULL, NULL, &before, sizeof before) == 0 && most(64) == 5 && most(1280) == all,
          "larger classes are not held again");
    check(mallctl("thread.tcache.max", &now, &size, NULL, 0) == 0 && now == before && set("64-64:1000000") == 0, "the largest class is another");
}

int main(void)
{
    pthread_t thread;
    size_t    all = most(1280), small = most(16), huge = SIZE_MAX, size = sizeof huge;
    check(all >= 100 && small >= all && most(1 << 20) == 0, "what a class may have at first");
    check(mallctl(READ, &huge, &size, &huge, sizeof huge) == EINVAL, "what is no class has a stack");
    check_texts();
    uint64_t before = out();
    come_and_go();
    check(out() >= before + 20, "few blocks stay");
    check(set("1281-1281:0|1025-1280:7") == 0 && most(1280) == 7 && most(1025) == 7 && most(1536) == 0 && most(1024) > 7, "ranges are not set");
    come_and_go();
    check(out() <= before + 7, "more blocks stay than may");
    check(set("1280-1280:0") == 0 && out() == before, "blocks stay that may not");
    come_and_go();
    check(out() == before, "blocks come to stay");
    for (int round = 0; round < 2; round++) {           /* the second thread has the first one's cache */
        check(pthread_create(&thread, NULL, another, &all) == 0 && pthread_join(thread, NULL) == 0, "no thread");
    }
    check(set("0-999999999:100000000") == 0 && most(1280) == all && most(16) == small && most(20000) > 0, "all is not as at first");
    come_and_go();
    check(out() >= before + 20, "few blocks stay again");
    check_max();
    check_texts();
    printf("%s tcache_depth\n", failures == 0 ? "ok" : "FAILED");
    return failures != 0;
}
