/* text: lines for standard error, formatted without allocating. */
#ifndef QED_API_TEXT_H
#define QED_API_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char   bytes[512];
    size_t length;
};

void text_add(struct text *t, const char *s);           /* drops what does not fit */
void text_add_bytes(struct text *t, const char *s, size_t n);
void text_add_number(struct text *t, uint64_t n, size_t width);     /* in decimal, padded on the left */
void text_write(struct text *t);                        /* writes it to standard error and empties it */

#endif
