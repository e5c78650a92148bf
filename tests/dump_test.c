/* dump_test: what a dump says of a few contexts, line by line; a path that cannot be written; no numbered dump without a prefix. */
#include <string.h>
#include <unistd.h>

#include "blocks_boot.h"
#include "prof/context.h"
#include "prof/dump.h"

static char text[1 << 20];

static void read_dump(const char *path)
{
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    (void)fclose(f);
}

int main(void)
{
    static char      name[2];
    char             path[] = "/tmp/qed-dump-XXXXXX", numbered[64];
    struct backtrace a = {.depth = 2, .frame = {0x1234, 0xabcdef}}, b = {.depth = 1, .frame = {0x77}};
    os_fake_reset();
    size_class_boot();
    prof_options.lg_sample = 0;
    CHECK(context_boot(0, true));
    struct thread *one = context_thread((struct tcache *)(void *)&name[0], true), *two = context_thread((struct tcache *)(void *)&name[1], true);
    strcpy(one->name, "first");
    uint32_t szind = size_class_index(1000), x = context_add(one, &a, szind);
    CHECK(x != 0 && context_add(one, &a, szind) == x && context_add(two, &a, szind) != 0 && context_add(two, &b, size_class_index(64)) != 0);
    context_remove(x, szind);
    int fd = mkstemp(path);
    CHECK(fd >= 0 && close(fd) == 0 && dump_file(path));
    read_dump(path);
    CHECK(strncmp(text, "heap_v2/1\n  t*: 3: 2112 [4: 3136]\n", 34) == 0);
    CHECK(strstr(text, "\n  t1: 1: 1024 [2: 2048] first\n") != NULL && strstr(text, "\n  t2: 2: 1088 [2: 1088]\n") != NULL);
    CHECK(strstr(text, "\n@ 0x1234 0xabcdef\n  t*: 2: 2048 [3: 3072]\n  t1: 1: 1024 [2: 2048]\n  t2: 1: 1024 [1: 1024]\n") != NULL);
    CHECK(strstr(text, "\n@ 0x77\n  t*: 1: 64 [1: 64]\n  t2: 1: 64 [1: 64]\n") != NULL);
    CHECK(strstr(text, "\nMAPPED_LIBRARIES:\n") != NULL && strstr(text, "dump_test") != NULL);
    CHECK(!dump_file("/nowhere/at/all"));
    CHECK(unlink(path) == 0);
    (void)snprintf(numbered, sizeof numbered, ".%d.0.m0.heap", (int)getpid());
    prof_options.prefix = "";
    CHECK(!dump_numbered('m') && access(numbered, F_OK) != 0);
    (void)snprintf(numbered, sizeof numbered, "%s.%d.0.m0.heap", path, (int)getpid());
    prof_options.prefix = path;
    CHECK(dump_numbered('m') && unlink(numbered) == 0);
    return blocks_done("dump");
}
