/* trap: one line on standard error, written without allocating, then abort. */
#include "platform/trap.h"

#include <stddef.h>

#include "platform/os.h"

#define LINE_MAX_BYTES 256U

struct line {
    char   text[LINE_MAX_BYTES];
    size_t bytes;
};

static void line_add(struct line *l, const char *s)
{
    while (*s != '\0' && l->bytes < LINE_MAX_BYTES) {
        l->text[l->bytes++] = *s++;
    }
}

static void line_add_hexadecimal(struct line *l, uintptr_t n)
{
    if (n >= 16) {
        line_add_hexadecimal(l, n / 16);
    }
    line_add(l, (const char[]){"0123456789abcdef"[n % 16], '\0'});
}

_Noreturn void trap_misuse(const char *call, const char *what, uintptr_t address)
{
    struct line l = {.bytes = 0};
    line_add(&l, "qedmalloc: ");
    line_add(&l, call);
    line_add(&l, "(0x");
    line_add_hexadecimal(&l, address);
    line_add(&l, "): ");
    line_add(&l, what);
    line_add(&l, "\n");
    os_write_error(l.text, l.bytes);
    os_abort();
}
