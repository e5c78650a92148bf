/* Says whether malloc and qed_malloc are the same library's, and which release its header is of. */
#include <qedmalloc/qedmalloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    void *volatile a = malloc(100);
    int same = qed_malloc_usable_size(a) == 112 && qed_mallinfo2().uordblks > 0;
    qed_free(a);
    puts(same ? "ok linked " QEDMALLOC_VERSION : "FAILED linked: malloc is another one");
    return !same;
}
