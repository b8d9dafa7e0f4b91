/* Regular distributions over a mesh of ranks. In Fortran order, neighbouring ranks are neighbours along the first
 * dimension of the mesh. */
#include "shim.h"

/* A distribution with its lists in C order. */
typedef struct shim_distribution {
    parapet_distribution cut;
    int64_t shape[PARAPET_MAX_NDIM], mesh[PARAPET_MAX_NDIM], block[PARAPET_MAX_NDIM];
    parapet_spread spread[PARAPET_MAX_NDIM];
} shim_distribution;

static void describe(shim_distribution *self, int ndim, const int64_t *shape, const int64_t *mesh,
                     const int64_t *block)
{
    self->cut =
        (parapet_distribution){.ndim = ndim, .shape = self->shape, .mesh = self->mesh, .spread = self->spread};
    self->cut.block = self->block;
    shim_reverse(self->shape, shape, ndim, 0);
    shim_reverse(self->mesh, mesh, ndim, 0);
    shim_reverse(self->block, block, ndim, 0);
    for (int d = 0; d < ndim; d++) {
        self->spread[d] = self->block[d] > 0 ? PARAPET_CYCLIC : self->mesh[d] > 1 ? PARAPET_BLOCK : PARAPET_WHOLE;
        if (self->block[d] == 0)
            self->block[d] = 1;
    }
}

parapet_status parapet_fortran_distribution_count(int ndim, const int64_t *shape, const int64_t *mesh,
                                                  const int64_t *block, int64_t rank, int64_t *count)
{
    shim_distribution all;
    shim_begin();
    describe(&all, ndim, shape, mesh, block);
    return parapet_distribution_count(&all.cut, rank, count);
}

parapet_status parapet_fortran_distribution_box(int ndim, const int64_t *shape, const int64_t *mesh,
                                                const int64_t *block, const int64_t *rank_and_index, int64_t *start,
                                                int64_t *count)
{
    int64_t first[PARAPET_MAX_NDIM] = {0}, extent[PARAPET_MAX_NDIM] = {0}, boxes = 0;
    shim_distribution all;
    parapet_status status;
    shim_begin();
    describe(&all, ndim, shape, mesh, block);
    if ((status = parapet_distribution_count(&all.cut, rank_and_index[0], &boxes)) != PARAPET_OK)
        return status;
    if (boxes > 0 || rank_and_index[1] != 1)
        status = parapet_distribution_box(&all.cut, rank_and_index[0], rank_and_index[1] - 1, first, extent);
    shim_reverse(start, first, ndim, 1);
    shim_reverse(count, extent, ndim, 0);
    return status;
}
