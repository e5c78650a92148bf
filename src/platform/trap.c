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

static void line_add_address(struct line *l, uintptr_t a)
{
    char digits[2 + 16 + 1] = "0x";
    int  n = 2;
    int  shift = 60;
    while (shift > 0 && ((a >> shift) & 15U) == 0) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        digits[n++] = "0123456789abcdef"[(a >> shift) & 15U];
    }
    digits[n] = '\0';
    line_add(l, digits);
}

_Noreturn void trap_misuse(const char *call, const char *what, uintptr_t address)
{
    struct line l = {.bytes = 0};
    line_add(&l, "qedmalloc: ");
    line_add(&l, call);
    line_add(&l, "(");
    line_add_address(&l, address);
    line_add(&l, "): ");
    line_add(&l, what);
    line_add(&l, "\n");
    os_write_error(l.text, l.bytes);
    os_abort();
}

_Noreturn void trap_internal(const char *what)
{
    struct line l = {.bytes = 0};
    line_add(&l, "qedmalloc: internal check failed: ");
    line_add(&l, what);
    line_add(&l, "\n");
    os_write_error(l.text, l.bytes);
    os_abort();
}
