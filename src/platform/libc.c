/* libc: by names of glibc, which are null where the C library does not have them. */
#include "platform/libc.h"

extern char __libc_single_threaded __attribute__((weak));
void        _IO_list_lock(void) __attribute__((weak));
void        _IO_list_unlock(void) __attribute__((weak));
void        _IO_list_resetlock(void) __attribute__((weak));

bool libc_single_threaded(void)
{
    return &__libc_single_threaded != NULL && __libc_single_threaded != 0;
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
