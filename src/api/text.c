/* text: see text.h. */
#include "api/text.h"

#include "platform/os.h"

void text_add_bytes(struct text *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n && t->length < sizeof t->bytes; i++) {
        t->bytes[t->length++] = s[i];
    }
}

void text_add(struct text *t, const char *s)
{
    size_t n = 0;
    while (s[n] != '\0') {
        n++;
    }
    text_add_bytes(t, s, n);
}

void text_add_number(struct text *t, uint64_t n, size_t width)
{
    char   digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    for (size_t i = sizeof digits - first; i < width; i++) {
        text_add_bytes(t, " ", 1);
    }
    text_add_bytes(t, digits + first, sizeof digits - first);
}

void text_write(struct text *t)
{
    os_write_error(t->bytes, t->length);
    t->length = 0;
}
