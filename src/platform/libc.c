/* libc: by names of glibc, which are null where the C library does not have them. */
#include "platform/libc.h"

#include <errno.h>
#include <sys/stat.h>

extern char __libc_single_threaded __attribute__((weak));
void        _IO_list_lock(void) __attribute__((weak));
void        _IO_list_unlock(void) __attribute__((weak));
void        _IO_list_resetlock(void) __attribute__((weak));

/* Asks the kernel: the folder of a process's threads has one link for each, and two links of its own. */
static bool libc_one_task(void)
{
    struct stat tasks;
    int         kept = errno;
    bool        one = stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
    errno = kept;
    return one;
}

/* glibc's name stays 0 once the process has had a second thread. */
bool libc_single_threaded(void)
{
    return (&__libc_single_threaded != NULL && __libc_single_threaded != 0) || libc_one_task();
}

void libc_stdio_lock(void)
{
    if (_IO_list_lock != NULL) {
        _IO_list_lock();
    }
}

void libc_stdio_unlock(void)
{
    if (_IO_list_unlock != NULL) {
        _IO_list_unlock();
    }
}

void libc_stdio_reset(void)
{
    if (_IO_list_resetlock != NULL) {
        _IO_list_resetlock();
    }
}
