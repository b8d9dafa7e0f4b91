#include "copy/append_blocks.h"

#include "base/checked.h"

/* How many indices along a dimension have at most this many elements, if each has `others` of them; at least
 * one. */
static int64_t fitting(int64_t most, int64_t others)
{
    return pp_max_i64(1, most / others);
}

/* The extent of a block along a dimension: a whole shard of the target if it fits, else as many whole chunks as
 * fit, else as many indices of a chunk as fit. */
static int64_t choose_base(int64_t shard, int64_t chunk, int64_t fits)
{
    if (shard <= fits)
        return shard;
    return chunk <= fits ? fits - fits % chunk : fits;
}

/* Multiplies the extent of a block, until it covers what is wanted or memory allows no more; returns the
 * elements of the block. */
static int64_t lengthen(int64_t *block, int64_t wanted, int64_t elements, int64_t most)
{
    int64_t times = pp_min_i64(pp_divide_up(wanted, *block), pp_max_i64(1, most / elements));
    times = pp_max_i64(1, times);
    *block *= times;
    return elements * times;
}

static void count_blocks(pp_append_blocks *blocks)
{
    int d;
    blocks->count = pp_box_is_empty(&blocks->region) ? 0 : 1;
    for (d = 0; d < blocks->region.ndim && blocks->count > 0; d++) {
        int64_t start = blocks->region.start[d], stop = start + blocks->region.count[d];
        blocks->first[d] = start / blocks->block[d];
        blocks->along[d] = pp_divide_up(stop, blocks->block[d]) - blocks->first[d];
        blocks->count *= blocks->along[d];
    }
}

void pp_append_blocks_init(pp_append_blocks *blocks, const pp_box *region, const pp_tiling *target,
                           const pp_tiling *source, const pp_append_share *share)
{
    int64_t most = pp_max_i64(1, share->bytes_most / (int64_t)pp_max_i64(1, (int64_t)target->element_bytes));
    int64_t elements = 1, for_each = pp_divide_up(pp_box_element_count(region), share->ranks);
    int d;
    *blocks = (pp_append_blocks){.region = *region};
    for (d = region->ndim - 1; d >= 0; d--) {
        blocks->block[d] =
            choose_base(target->shards.cell_shape[d], target->chunks.cell_shape[d], fitting(most, elements));
        elements *= blocks->block[d];
    }
    for (d = region->ndim - 1; d >= 0; d--)
        elements = lengthen(&blocks->block[d], source->chunks.cell_shape[d], elements, most);
    for (d = region->ndim - 1; d >= 0; d--)
        elements = lengthen(&blocks->block[d], region->count[d], elements, pp_min_i64(most, for_each));
    blocks->elements_most = elements;
    count_blocks(blocks);
}

void pp_append_block(const pp_append_blocks *blocks, int64_t number, pp_box *box)
{
    int d;
    *box = (pp_box){.ndim = blocks->region.ndim};
    for (d = box->ndim - 1; d >= 0; d--) {
        int64_t least = blocks->region.start[d], end = least + blocks->region.count[d];
        int64_t start = (blocks->first[d] + number % blocks->along[d]) * blocks->block[d];
        int64_t stop = pp_min_i64(start + blocks->block[d], end);
        box->start[d] = pp_max_i64(start, least);
        box->count[d] = stop - box->start[d];
        number /= blocks->along[d];
    }
}
