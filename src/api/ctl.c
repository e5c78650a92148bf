/* ctl: mallctl, mallctlnametomib and mallctlbymib. What they return for bad names, lengths and accesses is what jemalloc returns. */
#include "api/ctl.h"

#include <errno.h>
#include <string.h>

#include "api/export.h"
#include "api/thread.h"
#include "math/size_class.h"

#include "qedmalloc/qedmalloc.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static size_t piece_bytes(const char *name)
{
    return strcspn(name, ".");
}

/* Whether both names begin with the same pieces, so many. */
static bool pieces_equal(const char *a, const char *b, uint32_t count)
{
    for (; count > 0; count--) {
        size_t bytes = piece_bytes(a);
        if (bytes != piece_bytes(b) || memcmp(a, b, bytes) != 0) {
            return false;
        }
        a += bytes;
        b += bytes;
        if (count > 1 && (*a == '\0' || *b == '\0')) {
            return false;
        }
        a += *a == '.' ? 1 : 0;
        b += *b == '.' ? 1 : 0;
    }
    return true;
}

/* The first row that begins with the same pieces, so many, as this row. Such rows stand together. */
static uint32_t row_first(uint32_t row, uint32_t count)
{
    while (row > 0 && pieces_equal(ctl_names[row - 1].name, ctl_names[row].name, count)) {
        row--;
    }
    return row;
}

/* Whether there is such an arena or class now. */
static bool number_exists(char kind, size_t n)
{
    switch (kind) {
    case 'a': return n <= ctl_arenas() || n == CTL_ALL;        /* as many as there are stands for all, too */
    case 'b': return n < SC_NBINS;
    case 'e': return n < SC_NPSIZES;
    default: return n < SC_NSIZES - SC_NBINS;
    }
}

/* Reads a piece that is a number in decimal. */
static bool piece_number(const char *piece, size_t bytes, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (piece[i] < '0' || piece[i] > '9' || *n > SIZE_MAX / 10 - 1) {
            return false;
        }
        *n = *n * 10 + (size_t)(piece[i] - '0');
    }
    return bytes > 0;
}

/* Whether a piece of the caller's name is that of the table's name. Where that is a number, it is read. */
static bool piece_matches(const char *piece, size_t bytes, const char *wanted, size_t *number)
{
    size_t wanted_bytes = piece_bytes(wanted);
    if (wanted[0] == '%') {
        return piece_number(piece, bytes, number) && number_exists(wanted[1], *number);
    }
    return bytes == wanted_bytes && memcmp(piece, wanted, bytes) == 0;
}

/* Compares a name with the row's, as far as it goes. Returns its pieces, or 0 where it is none of the row's beginnings; numbers[] gets what
 * stands for a number. */
static uint32_t name_pieces(const char *name, const char *wanted, size_t *numbers)
{
    for (uint32_t count = 0; count < CTL_PIECES_MAX; count++) {
        size_t bytes = piece_bytes(name);
        if (!piece_matches(name, bytes, wanted, &numbers[count])) {
            return 0;
        }
        name += bytes;
        wanted += piece_bytes(wanted);
        if (*name == '\0') {
            return count + 1;
        }
        if (*wanted == '\0') {
            return 0;
        }
        name++;
        wanted++;
    }
    return 0;
}

/* Finds the index of names of a name, or of its first pieces where there is room for fewer. Returns the pieces that it has, or 0 if there is no
 * such name. */
static uint32_t name_to_mib(const char *name, size_t *mib, uint32_t room)
{
    size_t   numbers[CTL_PIECES_MAX];
    uint32_t row = 0, count = 0;
    while (row < ctl_name_count && (count = name_pieces(name, ctl_names[row].name, numbers)) == 0) {
        row++;
    }
    const char *wanted = row < ctl_name_count ? ctl_names[row].name : "";
    for (uint32_t i = 0; i < count && i < room; i++) {
        mib[i] = wanted[0] == '%' ? numbers[i] : row_first(row, i + 1);
        wanted += piece_bytes(wanted);
        wanted += *wanted == '.' ? 1 : 0;
    }
    return count;
}

/* Finds the row of an index of names, and the numbers in it. Returns NULL where it leads to no name, or not to its end. */
static const struct ctl_name *mib_to_name(const size_t *mib, size_t count, size_t *index)
{
    if (count == 0 || count > CTL_PIECES_MAX || mib[count - 1] >= ctl_name_count) {
        return NULL;
    }
    uint32_t    row = (uint32_t)mib[count - 1], pieces = 0;     /* every name ends with a word */
    const char *piece = ctl_names[row].name;
    for (;; piece++) {
        if (pieces == count) {
            return NULL;
        }
        if (piece[0] == '%') {
            if (!number_exists(piece[1], mib[pieces])) {
                return NULL;
            }
            *index++ = mib[pieces];
        } else if (mib[pieces] != row_first(row, pieces + 1)) {
            return NULL;
        }
        pieces++;
        piece += piece_bytes(piece);
        if (*piece == '\0') {
            return pieces == count ? &ctl_names[row] : NULL;
        }
    }
}

/* ---- reading and writing ----------------------------------------------------------------------------------------- */

static size_t type_bytes(enum ctl_type type)
{
    switch (type) {
    case CTL_BOOL: return sizeof(bool);
    case CTL_UNSIGNED: return sizeof(unsigned);
    case CTL_UINT32: return sizeof(uint32_t);
    default: return sizeof(uint64_t);
    }
}

int ctl_give(const void *value, size_t bytes, void *old, size_t *old_bytes)
{
    if (old == NULL || old_bytes == NULL) {
        return 0;
    }
    size_t given = bytes < *old_bytes ? bytes : *old_bytes;
    int    result = *old_bytes == bytes ? 0 : EINVAL;
    memcpy(old, value, given);
    *old_bytes = given;
    return result;
}

static int ctl_write(const struct ctl_name *n, const size_t *index, const void *new_value, size_t new_bytes)
{
    uint64_t value = 0;
    if (new_bytes != type_bytes(n->type)) {
        return EINVAL;
    }
    memcpy(&value, new_value, new_bytes);
    if (n->type == CTL_BOOL && value > 1) {
        return EINVAL;
    }
    return n->write(n, index, value);
}

/* Whether a name's value is as it was at the last epoch. Only such names need memory for the statistics. */
static bool of_epoch(const struct ctl_name *n)
{
    return strcmp(n->name, "epoch") == 0 || strncmp(n->name, "stats.", 6) == 0;
}

static int ctl_access(const struct ctl_name *n, const size_t *index, void *old, size_t *old_bytes, const void *new_value, size_t new_bytes)
{
    uint64_t value = 0;
    if (of_epoch(n) && !ctl_ready()) {
        return EAGAIN;
    }
    if (n->call != NULL) {
        return n->call(index, old, old_bytes, new_value, new_bytes);
    }
    if (n->act != NULL) {
        return old != NULL || old_bytes != NULL || new_value != NULL || new_bytes != 0 ? EPERM : n->act(index);
    }
    if (n->read == NULL) {
        return old != NULL || old_bytes != NULL ? EPERM
               : new_value == NULL ? n->write(n, index, CTL_NO_VALUE) : ctl_write(n, index, new_value, new_bytes);
    }
    if (n->write == NULL && (new_value != NULL || new_bytes != 0)) {
        return EPERM;
    }
    if (n->first && new_value != NULL) {
        int result = ctl_write(n, index, new_value, new_bytes);
        if (result != 0) {
            return result;
        }
        new_value = NULL;
    }
    if (old != NULL && old_bytes != NULL) {
        int result = n->read(n, index, &value);
        /* little-endian: the first bytes are the low ones */
        result = result != 0 ? result : ctl_give(&value, type_bytes(n->type), old, old_bytes);
        if (result != 0) {
            return result;
        }
    }
    return new_value != NULL ? ctl_write(n, index, new_value, new_bytes) : 0;
}

/* ---- the functions ----------------------------------------------------------------------------------------------- */

PUBLIC int qed_mallctlnametomib(const char *name, size_t *mib, size_t *mib_count)
{
    (void)thread_get();
    uint32_t room = *mib_count < CTL_PIECES_MAX ? (uint32_t)*mib_count : CTL_PIECES_MAX;
    uint32_t count = name_to_mib(name, mib, room);
    *mib_count = count != 0 && count < *mib_count ? count : *mib_count;
    return count == 0 ? ENOENT : 0;
}

PUBLIC int qed_mallctlbymib(const size_t *mib, size_t mib_count, void *old, size_t *old_bytes, void *new_value, size_t new_bytes)
{
    size_t index[CTL_PIECES_MAX];
    (void)thread_get();
    const struct ctl_name *n = mib_to_name(mib, mib_count, index);
    return n == NULL ? ENOENT : ctl_access(n, index, old, old_bytes, new_value, new_bytes);
}

PUBLIC int qed_mallctl(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes)
{
    size_t mib[CTL_PIECES_MAX], count = CTL_PIECES_MAX;
    int    result = qed_mallctlnametomib(name, mib, &count);
    return result != 0 ? result : qed_mallctlbymib(mib, count, old, old_bytes, new_value, new_bytes);
}

EXPORT(int, mallctlnametomib, (const char *name, size_t *mib, size_t *mib_count));
EXPORT(int, mallctlbymib, (const size_t *mib, size_t mib_count, void *old, size_t *old_bytes, void *new_value, size_t new_bytes));
EXPORT(int, mallctl, (const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes));
