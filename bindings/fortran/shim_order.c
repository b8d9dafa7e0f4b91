/* Fortran order and C order. */
#include "shim.h"

void shim_reverse(int64_t *to, const int64_t *from, int ndim, int64_t shift)
{
    for (int d = 0; d < ndim; d++)
        to[d] = from[ndim - 1 - d] + shift;
}
