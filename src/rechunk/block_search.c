/* block_search.c - the best template by the bounds of block.h.
 *
 * A larger template never takes less memory and never costs more I/O, so the best one lies on the border of what
 * fits, and along a dimension only the smallest extent with a given number of templates in an lcm-block matters: of a
 * million, some two thousand. Branch and bound goes through these. */
#include <string.h>

#include "base/checked.h"
#include "rechunk/block.h"

/* Chunks of a few thousand a side need half as many in three dimensions; in more, the best so far is taken. */
#define CHECKS_MOST 200000

/* Cost is a product of fractions: what differs by less is the same. */
#define SAME_COST 1e-12

typedef struct template_search {
    const pp_blocks *blocks;
    pp_max_block kind;
    int64_t limit;
    int64_t shape[PARAPET_MAX_NDIM]; /* the dimensions from the one that is tried on: one target block */
    int64_t best[PARAPET_MAX_NDIM];
    double best_reads;
    int checks_left;
} template_search;

static bool fits(template_search *search)
{
    int order[PARAPET_MAX_NDIM];
    search->checks_left--;
    pp_blocks_order(search->blocks, search->shape, search->kind, order);
    return pp_blocks_memory(search->blocks, search->shape, order, search->kind) <= search->limit;
}

/* Target blocks in an lcm-block. */
static int64_t block_count(const pp_blocks *blocks, int d)
{
    return blocks->lcm[d] / blocks->target[d];
}

/* The smallest extent that cuts an lcm-block into no more templates. */
static int64_t extent_for(const pp_blocks *blocks, int d, int64_t templates)
{
    return pp_divide_up(block_count(blocks, d), templates) * blocks->target[d];
}

/* Fewest templates of an lcm-block along d, as long as the other extents stay, which must fit with one block. */
static int64_t fewest_templates(template_search *search, int d)
{
    int64_t low = 1, high = block_count(search->blocks, d), extent = search->shape[d];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        search->shape[d] = extent_for(search->blocks, d, middle);
        if (fits(search))
            high = middle;
        else
            low = middle + 1;
    }
    search->shape[d] = extent;
    return low;
}

static double reads_with(const template_search *search, int d, int64_t templates)
{
    return pp_blocks_overhead(search->blocks, d, extent_for(search->blocks, d, templates));
}

/* Cut equally along all dimensions until it fits, then widened to the border. false: one block each does not fit. */
static bool find_first(template_search *search)
{
    const pp_blocks *blocks = search->blocks;
    int64_t cuts;
    int d;
    memcpy(search->shape, blocks->target, sizeof search->shape);
    if (!fits(search))
        return false;
    for (cuts = 1;; cuts = cuts > INT64_MAX / 2 ? INT64_MAX : cuts * 2) {
        for (d = 0; d < blocks->ndim; d++)
            search->shape[d] = extent_for(blocks, d, cuts);
        if (fits(search))
            break;
    }
    search->best_reads = 1;
    for (d = 0; d < blocks->ndim; d++) {
        int64_t templates = fewest_templates(search, d);
        search->shape[d] = extent_for(blocks, d, templates);
        search->best_reads *= reads_with(search, d, templates);
    }
    memcpy(search->best, search->shape, sizeof search->best);
    return true;
}

/* What no template can be better than whose extents before d are those of search->shape. */
static double least_reads(template_search *search, int d, double reads)
{
    for (; d < search->blocks->ndim; d++)
        reads *= reads_with(search, d, fewest_templates(search, d));
    return reads;
}

static void try_from(template_search *search, int d, double reads)
{
    const pp_blocks *blocks = search->blocks;
    int64_t blocks_along = d < blocks->ndim ? block_count(blocks, d) : 0, templates, extent;
    if (search->checks_left <= 0 || least_reads(search, d, reads) >= search->best_reads * (1 - SAME_COST))
        return;
    if (d == blocks->ndim) {
        memcpy(search->best, search->shape, sizeof search->best);
        search->best_reads = reads;
        return;
    }
    for (templates = fewest_templates(search, d);; templates = pp_divide_up(blocks_along, extent - 1)) {
        extent = pp_divide_up(blocks_along, templates);
        search->shape[d] = extent * blocks->target[d];
        if (search->checks_left <= 0 || reads * reads_with(search, d, templates) >= search->best_reads)
            break;
        try_from(search, d + 1, reads * reads_with(search, d, templates));
        if (extent == 1)
            break;
    }
    search->shape[d] = blocks->target[d];
}

bool pp_blocks_search(const pp_blocks *blocks, int64_t memory_elements, pp_max_block kind, int64_t *template_shape,
                      int *order)
{
    template_search search = {.blocks = blocks, .kind = kind, .limit = memory_elements, .checks_left = CHECKS_MOST};
    if (!find_first(&search))
        return false;
    memcpy(search.shape, blocks->target, sizeof search.shape);
    try_from(&search, 0, 1);
    memcpy(template_shape, search.best, (size_t)blocks->ndim * sizeof *template_shape);
    pp_blocks_order(blocks, template_shape, kind, order);
    return true;
}
