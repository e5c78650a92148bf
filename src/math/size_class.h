/* skeleton: owner replaces. Every macro is a constant expression usable in #if and array sizes. */
#ifndef QED_MATH_SIZE_CLASS_H
#define QED_MATH_SIZE_CLASS_H
#include <stdint.h>
#include "platform/config.h"
#define SC_NTINY (LG_QUANTUM - SC_LG_TINY_MIN)
#define SC_NGROUP (1U << SC_LG_NGROUP)
/* SC_NSIZES, SC_NBINS (small classes), SC_NPSIZES, SC_SMALL_MAXCLASS, SC_LARGE_MINCLASS, SC_LARGE_MAXCLASS, SC_LOOKUP_MAX (4096) */
uint32_t size_class_index(uint64_t size_bytes);        /* least class that fits, SC_NSIZES if none; closed form, no loop */
uint64_t size_class_bytes(uint32_t szind);             /* closed form */
uint32_t size_class_lookup(uint64_t size_bytes);       /* by table, size_bytes <= SC_LOOKUP_MAX */
uint32_t size_class_slab_pages(uint32_t szind);        /* least page count that the class divides; small classes */
uint32_t size_class_page_index(uint64_t npages);       /* psz index of the largest page class <= npages (floor) */
uint32_t size_class_page_index_ceil(uint64_t npages);  /* psz index of the least page class >= npages */
void     size_class_boot(void);                        /* fills the lookup table */
#endif
