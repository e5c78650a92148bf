/* trap: one line on standard error, written without allocating, then abort. */
#include "platform/trap.h"

#include <string.h>

#include "platform/os.h"

#define LINE_MAX_BYTES 256U                     /* more than any call's name, what is wrong with it, and 35 bytes */

static char *line_add_hexadecimal(char *end, uintptr_t n)
{
    if (n >= 16) {
        end = line_add_hexadecimal(end, n / 16);
    }
    *end = "0123456789abcdef"[n % 16];
    return end + 1;
}

_Noreturn void trap_misuse(const char *call, const char *what, uintptr_t address)
{
    char  line[LINE_MAX_BYTES];
    char *end = stpcpy(stpcpy(stpcpy(line, "qedmalloc: "), call), "(0x");
    end = stpcpy(stpcpy(stpcpy(line_add_hexadecimal(end, address), "): "), what), "\n");
    os_write_error(line, (size_t)(end - line));
    os_abort();
}
