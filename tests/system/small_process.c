/* What a small process has in memory, as KiB in pages that are its own: it has one block of a class each up to 1 KiB. No function of this
 * program allocates anything else. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD "\nAnonymous:"

int main(void)
{
    static char text[1 << 17];
    static char line[32];
    size_t      used = 0;
    long        sum = 0;
    ssize_t     n;
    for (size_t bytes = 16; bytes <= 1024; bytes *= 2) {
        char *p = malloc(bytes);
        memset(p, 1, bytes);
    }
    int file = open("/proc/self/smaps", O_RDONLY);
    while ((n = read(file, text + used, sizeof text - 1 - used)) > 0) {
        used += (size_t)n;
    }
    for (char *at = text; (at = strstr(at, FIELD)) != NULL; at++) {
        sum += strtol(at + strlen(FIELD), NULL, 10);
    }
    n = snprintf(line, sizeof line, "%ld\n", sum);
    return write(1, line, (size_t)n) == n && file >= 0 ? 0 : 1;
}
