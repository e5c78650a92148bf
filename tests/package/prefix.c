/* The prefixed library beside the C library's malloc. */
#include <qedmalloc/qedmalloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    void *volatile ours = qed_calloc(10, 10);
    void *volatile theirs = malloc(100);
    int ok = ours != NULL && theirs != NULL && qed_malloc_usable_size(ours) == 112;
    free(theirs);
    qed_free(ours);
    puts(ok ? "ok prefix" : "FAILED prefix");
    return !ok;
}
