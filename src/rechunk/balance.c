/* balance.c - Figure 7 of the paper: boxes of target blocks that keep every rank busy. */
#include <string.h>

#include "rechunk/block.h"
#include "rechunk/count.h"

typedef struct factoring {
    int ndim;
    const int64_t *grid, *offsets;
    int64_t factor[PARAPET_MAX_NDIM];
    int64_t *found;
    int capacity, count;
} factoring;

static bool is_known(const factoring *all)
{
    size_t bytes = (size_t)all->ndim * sizeof *all->factor;
    int i;
    for (i = 0; i < all->count && i < all->capacity; i++)
        if (memcmp(all->found + (size_t)i * (size_t)all->ndim, all->factor, bytes) == 0)
            return true;
    return false;
}

static void note(factoring *all)
{
    if (is_known(all))
        return;
    if (all->count < all->capacity)
        memcpy(all->found + (size_t)all->count * (size_t)all->ndim, all->factor,
               (size_t)all->ndim * sizeof *all->factor);
    all->count++;
}

/* Along a dimension, ranks / gcd(ranks, offset) blocks belong to different ranks before one repeats. What is left of
 * ranks goes to the other dimensions: of this one it divides the offset, which makes another factor 1. */
static void factor_rest(factoring *all, int64_t ranks)
{
    int d;
    if (ranks == 1) {
        note(all);
        return;
    }
    for (d = 0; d < all->ndim; d++) {
        int64_t factor = ranks / pp_greatest_common_divisor(ranks, all->offsets[d]);
        if (factor == 1 || factor > all->grid[d])
            continue;
        all->factor[d] = factor;
        factor_rest(all, ranks / factor);
        all->factor[d] = 1;
    }
}

void pp_blocks_offsets(int ndim, const int64_t *grid, int64_t ranks, int64_t *offsets)
{
    __int128 offset = 1 % ranks;
    int d;
    for (d = 0; d < ndim; d++) {
        offsets[d] = (int64_t)offset;
        offset = offset * grid[d] % ranks;
    }
}

void pp_blocks_balanced_by(int ndim, const int64_t *grid, const int64_t *offsets, int64_t ranks, int64_t *factors,
                           int capacity, int *count)
{
    factoring all = {.ndim = ndim, .grid = grid, .offsets = offsets, .found = factors, .capacity = capacity};
    int d;
    for (d = 0; d < ndim; d++)
        all.factor[d] = 1;
    factor_rest(&all, ranks);
    *count = all.count;
}

void pp_blocks_balanced(int ndim, const int64_t *grid, int64_t ranks, int64_t *factors, int capacity, int *count)
{
    int64_t offsets[PARAPET_MAX_NDIM];
    pp_blocks_offsets(ndim, grid, ranks, offsets);
    pp_blocks_balanced_by(ndim, grid, offsets, ranks, factors, capacity, count);
}
