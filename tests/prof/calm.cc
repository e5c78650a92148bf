// What must not deadlock, or crash, while threads sample: plugins that come and go, exceptions, a handler of SIGPROF that unwinds, fork.
// usage: calm dlopen|throw|signal|fork
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *mode;
static volatile bool done;
static volatile unsigned handled;

static void handler(int)
{
    void *frame[64];
    handled = handled + (backtrace(frame, 64) > 0);
}

__attribute__((noinline)) static int thrower(int depth)
{
    std::string s(100 + depth, 'x');
    if (depth == 0) {
        throw std::runtime_error(s);
    }
    return thrower(depth - 1) + static_cast<int>(s.size());
}

static void churn()
{
    for (int i = 0; i < 2000; i++) {
        void *p = std::malloc(i * 7 % 3000 + 1), *q = std::calloc(1, i % 50 + 1);
        p = std::realloc(p, i * 13 % 30000 + 1);
        std::free(p);
        std::free(q);
    }
}

static void *work(void *)
{
    while (!done) {
        if (std::strcmp(mode, "throw") == 0) {
            try {
                thrower(10);
            } catch (const std::runtime_error &) {
            }
        }
        if (std::strcmp(mode, "dlopen") == 0) {
            void *h = dlopen("libresolv.so.2", RTLD_NOW);
            if (h != nullptr) {
                dlclose(h);
            }
        }
        churn();
    }
    return nullptr;
}

int main(int, char **argv)
{
    pthread_t thread[4];
    mode = argv[1];
    handler(0);     // backtrace opens a library at its first call
    for (pthread_t &t : thread) {
        pthread_create(&t, nullptr, work, nullptr);
    }
    if (std::strcmp(mode, "signal") == 0) {
        struct itimerval every = {{0, 1000}, {0, 1000}};
        std::signal(SIGPROF, handler);
        setitimer(ITIMER_PROF, &every, nullptr);
    }
    for (int i = 0; i < 40; i++) {
        if (std::strcmp(mode, "fork") == 0) {
            pid_t child = fork();
            if (child == 0) {
                churn();
                _exit(0);
            }
            int status = 0;
            if (waitpid(child, &status, 0) != child || status != 0) {
                std::printf("a child failed: %d\n", status);
                return 1;
            }
        } else {
            usleep(15000);
        }
    }
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, nullptr);
    done = true;
    for (pthread_t &t : thread) {
        pthread_join(t, nullptr);
    }
    std::printf("calm %s: %u stacks in handlers\n", mode, handled);
    return std::strcmp(mode, "signal") == 0 && handled < 20;
}
