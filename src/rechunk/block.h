/* block.h - the arithmetic of re-blocking (Krishnamoorthy et al., "Layout Transformation Support for the Disk
 * Resident Arrays Framework"), with the paper's errors corrected: block sizes, bounds, orders and intermediate
 * shapes. They generate and rank the planner's candidates; count.h decides. All sizes in elements. */
#ifndef PARAPET_RECHUNK_BLOCK_H
#define PARAPET_RECHUNK_BLOCK_H

#include "rechunk/rechunk.h"

typedef struct pp_blocks {
    int ndim;
    int64_t source[PARAPET_MAX_NDIM], target[PARAPET_MAX_NDIM];
    int64_t lcm[PARAPET_MAX_NDIM];     /* the lcm-block: whole blocks of both; saturates at INT64_MAX */
    int64_t unused[PARAPET_MAX_NDIM];  /* U = min(s, t) - gcd(s, t): limit of what waits for the next target block */
    int64_t largest[PARAPET_MAX_NDIM]; /* max(s, t): bounds the useful data of a step */
    int64_t whole_bricks[PARAPET_MAX_NDIM]; /* ceil(max(s, t) / s) * s: the same in whole source blocks */
} pp_blocks;

typedef enum pp_max_block { PP_MAX_BLOCK_USEFUL, PP_MAX_BLOCK_WHOLE_BRICKS } pp_max_block;

void pp_blocks_init(pp_blocks *blocks, int ndim, const int64_t *source, const int64_t *target);

/* The order of traversal that needs the smallest memory, fastest dimension first: sorted by the angle of (U, templ -
 * M), descending; of equals, the last dimension first. */
void pp_blocks_order(const pp_blocks *blocks, const int64_t *template_shape, pp_max_block kind, int *order);

/* Unused-data buffers for that order, and with the max-block: the memory bound of the paper. Both saturate. */
int64_t pp_blocks_buffers(const pp_blocks *blocks, const int64_t *template_shape, const int *order,
                          pp_max_block kind);
int64_t pp_blocks_memory(const pp_blocks *blocks, const int64_t *template_shape, const int *order, pp_max_block kind);

/* Reads and writes per element when templates start anew at every lcm-block: 1 + product of (1 + s * (templates - 1)
 * / lcm). 2 is the minimum. */
double pp_blocks_io_cost(const pp_blocks *blocks, const int64_t *template_shape);

/* One factor of that product: reads per element along d with templates of that extent. */
double pp_blocks_overhead(const pp_blocks *blocks, int d, int64_t extent);

/* The best template of one pass according to these bounds: the lcm-block if it fits; else one on the border of what
 * fits, as in the paper (Figure 2), improved until none is better (or, in many dimensions, for a fixed number of
 * steps). Also sets order. false: not even one target block fits. */
bool pp_blocks_search(const pp_blocks *blocks, int64_t memory_elements, pp_max_block kind, int64_t *template_shape,
                      int *order);

/* Intermediate blocks: source^((parts - i) / parts) * target^(i / parts), rounded down, in integers: 1 of 2 is the
 * geometric mean, 1 and 2 of 3 are the two-thirds intermediates. parts is at most PP_RECHUNK_PASSES_MOST. */
void pp_blocks_between(int ndim, const int64_t *source, const int64_t *target, int i, int parts, int64_t *between);

/* Figure 7: every way to take P target blocks as a box so that, dealt out in turn, each goes to another of P ranks.
 * grid: blocks per dimension, fastest dimension first; factors: count x ndim. *count is how many there are, of which
 * at most capacity are stored; sorted as found, without duplicates, none larger than the grid. */
void pp_blocks_balanced(int ndim, const int64_t *grid, int64_t ranks, int64_t *factors, int capacity, int *count);

/* How many ranks further the next block along each dimension goes, and the same boxes for any such offsets: these may
 * contain duplicates, which are left out as long as the first ones are stored. */
void pp_blocks_offsets(int ndim, const int64_t *grid, int64_t ranks, int64_t *offsets);
void pp_blocks_balanced_by(int ndim, const int64_t *grid, const int64_t *offsets, int64_t ranks, int64_t *factors,
                           int capacity, int *count);

#endif
