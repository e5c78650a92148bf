/* product: whether a * b can be represented. A multiplication that overflows is a defect in the proven text, so callers
 * ask first. A division is needed only if a factor has more than 32 bits.
 */
#ifndef QED_MATH_PRODUCT_H
#define QED_MATH_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

/*@ assigns         \nothing;
    ensures  exact: \result <==> a * b > UINT64_MAX;
*/
static inline bool product_overflows(uint64_t a, uint64_t b)
{
    if (a <= UINT32_MAX && b <= UINT32_MAX) {
        /*@ assert small: a * b <= UINT32_MAX * UINT32_MAX; */
        return false;
    }
    if (b == 0) {
        return false;
    }
    /*@ assert least: UINT64_MAX / b * b <= UINT64_MAX < (UINT64_MAX / b + 1) * b; */
    return a > UINT64_MAX / b;
}

#endif
