/* locks: looks at a program while it runs, one instruction at a time, and counts those that it executes while it holds a lock of the allocator.
 *
 * usage: locks SITES WINDOWS STEPS PROGRAM [ARGUMENT ...]
 *
 * Each line of SITES is an instruction of libqedmalloc.so. It has the offset, and `call` for the entry of a function, or `take` (lock cmpxchg)
 * or `give` (xchg) with the register and the displacement of the operand in memory, and the register that is stored. Between windows of STEPS
 * instructions each, of one thread that runs, the program runs freely. It is started again when it ends. There are WINDOWS of them at least, and
 * more until CALLS_ENOUGH calls are seen or SECONDS_MAX are over. Prints the instructions and the calls that it saw, and for each
 * address how often it was taken as a lock, and how many instructions of the same thread followed until it was given back.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SITES_MAX 4096
#define LOCKS_MAX 4096
#define HELD_MAX 64
#define FREE_NS 10000000L                   /* of running freely between two windows */
#define CALLS_ENOUGH 1000U
#define SECONDS_MAX 40
#define ZERO_FLAG 0x40UL

enum kind { CALL, TAKE, GIVE };

static struct site {
    uint64_t  offset;
    enum kind kind;
    size_t    base, value;                  /* places in struct user_regs_struct */
    int64_t   displacement;
} sites[SITES_MAX];

static struct lock {
    uint64_t offset, taken, instructions;
} locks[LOCKS_MAX];

static struct {
    struct lock *lock;
    uint64_t     since;
} held[HELD_MAX];

static size_t   site_count, lock_count, held_count;
static uint64_t library, library_end, steps, calls;

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static size_t register_place(const char *name)
{
    static const struct {
        const char *name;
        size_t      place;
    } registers[] = {
#define REGISTER(n, e) {#n, offsetof(struct user_regs_struct, n)}, {#e, offsetof(struct user_regs_struct, n)},
        REGISTER(rax, eax) REGISTER(rbx, ebx) REGISTER(rcx, ecx) REGISTER(rdx, edx) REGISTER(rsi, esi) REGISTER(rdi, edi)
        REGISTER(rbp, ebp) REGISTER(r8, r8d) REGISTER(r9, r9d) REGISTER(r10, r10d) REGISTER(r11, r11d) REGISTER(r12, r12d)
        REGISTER(r13, r13d) REGISTER(r14, r14d) REGISTER(r15, r15d) REGISTER(rip, eip) REGISTER(rsp, esp)
    };
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        if (strcmp(registers[i].name, name) == 0) {
            return registers[i].place;
        }
    }
    fprintf(stderr, "locks: no register %s\n", name);
    exit(2);
}

static int by_offset(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void read_sites(const char *path)
{
    char  kind[8], base[8], value[8];
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        fail(path);
    }
    while (site_count < SITES_MAX) {
        struct site *s = &sites[site_count];
        if (fscanf(f, "%lx %7s", &s->offset, kind) != 2) {
            break;
        }
        s->kind = strcmp(kind, "take") == 0 ? TAKE : strcmp(kind, "give") == 0 ? GIVE : CALL;
        if (s->kind != CALL) {
            if (fscanf(f, "%7s %ld %7s", base, &s->displacement, value) != 3) {
                fail("a line of the sites");
            }
            s->base = register_place(base);
            s->value = register_place(value);
        }
        site_count++;
    }
    (void)fclose(f);
    qsort(sites, site_count, sizeof sites[0], by_offset);
}

/* Finds where the program has the library. */
static bool find_library(pid_t pid)
{
    char     path[64], line[512];
    uint64_t first, last;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *f = fopen(path, "r");
    library = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strstr(line, "/libqedmalloc.so") != NULL && sscanf(line, "%lx-%lx", &first, &last) == 2) {
            library = library == 0 ? first : library;
            library_end = last;
        }
    }
    f != NULL ? (void)fclose(f) : (void)0;
    return library != 0;
}

static bool runs(pid_t pid, const char *tid)
{
    char path[320], line[256], state = '?';
    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid, tid);
    FILE *f = fopen(path, "r");
    if (f != NULL) {
        char *end = fgets(line, sizeof line, f) != NULL ? strrchr(line, ')') : NULL;
        state = end != NULL ? end[2] : '?';
        (void)fclose(f);
    }
    return state == 'R';
}

/* Returns a thread of the program that runs, another one each time, or 0. */
static pid_t some_thread(pid_t pid)
{
    static unsigned turn;
    char            path[64];
    pid_t           found[256];
    unsigned        n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] != '.' && n < 256 && runs(pid, e->d_name)) {
            found[n++] = atoi(e->d_name);
        }
    }
    d != NULL ? (void)closedir(d) : (void)0;
    return n == 0 ? 0 : found[turn++ % n];
}

static struct lock *lock_at(uint64_t offset)
{
    for (size_t i = 0; i < lock_count; i++) {
        if (locks[i].offset == offset) {
            return &locks[i];
        }
    }
    if (lock_count == LOCKS_MAX) {
        fprintf(stderr, "locks: too many\n");
        exit(2);
    }
    locks[lock_count].offset = offset;
    return &locks[lock_count++];
}

static void took(uint64_t address)
{
    if (held_count < HELD_MAX) {
        held[held_count].lock = lock_at(address - library);
        held[held_count++].since = steps;
    }
}

static void gave(uint64_t address)
{
    for (size_t i = held_count; i-- > 0;) {
        if (held[i].lock->offset == address - library) {
            held[i].lock->taken++;
            held[i].lock->instructions += steps - held[i].since;
            memmove(&held[i], &held[i + 1], (--held_count - i) * sizeof held[0]);
            return;
        }
    }
}

static uint64_t register_of(const struct user_regs_struct *r, size_t place)
{
    uint64_t value;
    memcpy(&value, (const char *)r + place, sizeof value);
    return value;
}

/* Returns false if the thread has ended. */
static bool step(pid_t tid)
{
    int status;
    if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) != 0 || waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) {
        return false;
    }
    steps++;
    return true;
}

static bool window(pid_t tid, long count)
{
    held_count = 0;
    for (; count > 0; count--) {
        errno = 0;
        uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, rip), NULL);
        if (errno != 0) {
            return false;
        }
        struct site  key = {.offset = at - library};
        struct site *s = at >= library && at < library_end ? bsearch(&key, sites, site_count, sizeof sites[0], by_offset) : NULL;
        struct user_regs_struct before, after;
        if (s == NULL || s->kind == CALL) {
            calls += s != NULL;
            if (!step(tid)) {
                return false;
            }
            continue;
        }
        (void)ptrace(PTRACE_GETREGS, tid, NULL, &before);
        if (!step(tid)) {
            return false;
        }
        (void)ptrace(PTRACE_GETREGS, tid, NULL, &after);
        uint64_t base = s->base == offsetof(struct user_regs_struct, rip) ? after.rip : register_of(&before, s->base);
        uint64_t address = base + (uint64_t)s->displacement;
        if (s->kind == TAKE) {
            (after.eflags & ZERO_FLAG) != 0 ? took(address) : (void)0;
        } else if ((uint32_t)register_of(&before, s->value) == 0) {
            gave(address);
        } else if ((uint32_t)register_of(&after, s->value) == 0) {
            took(address);                  /* after a sleep */
        }
    }
    return true;
}

static pid_t start(char **program)
{
    pid_t pid = fork();
    if (pid < 0) {
        fail("fork");
    }
    if (pid == 0) {
        (void)setenv("LD_PRELOAD", getenv("QED_PRELOAD"), 1);
        (void)freopen("/dev/null", "w", stdout);
        (void)execvp(program[0], program);
        fail(program[0]);
    }
    return pid;
}

/* Waits, then looks at one window, if the program has a thread that runs. Returns whether it does; *ended says that the program has ended. */
static bool look(pid_t pid, long count, bool *ended)
{
    int status = 0;
    (void)nanosleep(&(struct timespec){0, FREE_NS}, NULL);
    *ended = (waitpid(pid, &status, WNOHANG) == pid && !WIFSTOPPED(status)) || kill(pid, 0) != 0;
    pid_t tid = *ended || !find_library(pid) ? 0 : some_thread(pid);
    if (tid == 0 || ptrace(PTRACE_ATTACH, tid, NULL, NULL) != 0) {
        return false;
    }
    (void)waitpid(tid, &status, __WALL);
    if (window(tid, count)) {
        (void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: locks SITES WINDOWS STEPS PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    read_sites(argv[1]);
    pid_t  pid = start(argv + 4);
    time_t end = time(NULL) + SECONDS_MAX;
    for (long windows = atol(argv[2]); (windows > 0 || calls < CALLS_ENOUGH) && time(NULL) < end;) {
        bool ended = false;
        windows -= look(pid, atol(argv[3]), &ended);
        pid = ended ? start(argv + 4) : pid;
    }
    (void)kill(pid, SIGKILL);
    printf("instructions %lu\ncalls %lu\n", steps, calls);
    for (size_t i = 0; i < lock_count; i++) {
        printf("lock %lx %lu %lu\n", locks[i].offset, locks[i].taken, locks[i].instructions);
    }
    return 0;
}
