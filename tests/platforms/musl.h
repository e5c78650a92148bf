/* What tests/system has from glibc's malloc.h. */
#include <qedmalloc/qedmalloc.h>

void            *pvalloc(size_t size);
int              malloc_trim(size_t pad);
void             malloc_stats(void);
int              mallopt(int parameter, int value);
int              malloc_info(int options, FILE *stream);
struct mallinfo2 mallinfo2(void);
