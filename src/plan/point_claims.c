#include "plan/point_claims.h"

#include <string.h>

#include "base/checked.h"
#include "geometry/bands.h"
#include "geometry/strided.h"

pp_point_range pp_point_claims_shard(const pp_point_claims *picked, int64_t shard)
{
    int64_t elements = pp_tiling_shard_elements(picked->tiling);
    return (pp_point_range){.from = shard * elements, .end = (shard + 1) * elements, .begin = shard * elements};
}

pp_point_range pp_point_claims_chunk(const pp_point_claims *picked, int64_t shard, int64_t chunk)
{
    int64_t elements = pp_tiling_chunk_elements(picked->tiling);
    int64_t from = (shard * picked->tiling->chunks.cell_count + chunk) * elements;
    return (pp_point_range){.from = from, .end = from + elements, .begin = from};
}

pp_point_range pp_point_claims_band(const pp_point_claims *picked, int64_t shard, int64_t chunk, const pp_box *band)
{
    pp_point_range range = pp_point_claims_chunk(picked, shard, chunk);
    int64_t first, count;
    pp_box whole;
    pp_tiling_chunk_whole_box(picked->tiling, shard, chunk, &whole);
    pp_band_to_run(&whole, band, &first, &count);
    range.from += first;
    range.end = range.from + count;
    return range;
}

int64_t pp_point_claims_count(const pp_point_claims *picked, const pp_point_range *range)
{
    pp_point_walk walk = {.picked = picked, .range = *range};
    int64_t count = 0;
    pp_pick common;
    while (pp_point_claims_next(&walk, &common))
        count += pp_pick_count(&common);
    return count;
}

bool pp_point_claims_has_any(const pp_point_claims *picked, const pp_point_range *range)
{
    pp_point_walk walk = {.picked = picked, .range = *range};
    pp_pick common;
    return pp_point_claims_next(&walk, &common);
}

/* Most picks are passed over: only the first of each chunk is looked at. */
int64_t pp_point_claims_mark_chunks(const pp_point_claims *picked, int64_t shard, unsigned char *is_touched)
{
    pp_point_range range = pp_point_claims_shard(picked, shard);
    int64_t elements = pp_tiling_chunk_elements(picked->tiling), count = 0;
    size_t next = pp_picks_find(picked->picks, picked->count, range.from);
    for (; next < picked->count && picked->picks[next].index < range.end; count++) {
        int64_t chunk = (picked->picks[next].index - range.from) / elements;
        if (is_touched != NULL)
            is_touched[chunk] = 1;
        next += pp_picks_find(picked->picks + next, picked->count - next, range.from + (chunk + 1) * elements);
    }
    return count;
}

void pp_point_claims_bound(const pp_point_claims *picked, int64_t shard, int64_t chunk, pp_box *bounds)
{
    pp_point_walk walk = {.picked = picked, .range = pp_point_claims_chunk(picked, shard, chunk)};
    int64_t first = INT64_MAX, last = -1, row;
    pp_pick common;
    pp_tiling_chunk_whole_box(picked->tiling, shard, chunk, bounds);
    while (pp_point_claims_next(&walk, &common)) {
        first = pp_min_i64(first, common.index - walk.range.from);
        last = pp_max_i64(last, pp_pick_end(&common) - 1 - walk.range.from);
    }
    if (bounds->ndim == 0)
        return;
    row = pp_tiling_chunk_elements(picked->tiling) / bounds->count[0];
    bounds->start[0] += last < 0 ? 0 : first / row;
    bounds->count[0] = last < 0 ? 0 : last / row - first / row + 1;
}

void pp_point_claims_want(const pp_point_claims *picked, const pp_point_range *range, size_t offset,
                          pp_stretch *stretch)
{
    pp_point_walk walk = {.picked = picked, .range = *range};
    size_t element_bytes = picked->tiling->element_bytes;
    pp_pick common;
    while (pp_point_claims_next(&walk, &common)) {
        size_t from = offset + (size_t)(common.index - range->from) * element_bytes;
        pp_stretch_want(stretch, from, from + (size_t)pp_pick_count(&common) * element_bytes);
    }
}

/* ---- Moving ---- */

/* Elements of the commonest sizes are moved one by one without a call. */
static void copy_elements(unsigned char *target, const unsigned char *source, size_t bytes)
{
    switch (bytes) {
    case 4:
        memcpy(target, source, 4);
        break;
    case 8:
        memcpy(target, source, 8);
        break;
    default:
        for (; bytes % 64 == 0 && bytes > 0 && bytes <= 512; bytes -= 64, target += 64, source += 64)
            memcpy(target, source, 64);
        if (bytes > 0)
            memcpy(target, source, bytes);
    }
}

int64_t pp_point_claims_gather(const pp_point_claims *picked, const pp_point_range *range, unsigned char *elements)
{
    pp_point_walk walk = {.picked = picked, .range = *range};
    size_t element_bytes = picked->tiling->element_bytes, bytes;
    int64_t moved = 0;
    pp_pick common;
    for (; pp_point_claims_next(&walk, &common); moved += (int64_t)bytes) {
        bytes = (size_t)pp_pick_count(&common) * element_bytes;
        copy_elements(elements + (size_t)(common.index - range->from) * element_bytes,
                      picked->data + (size_t)pp_pick_place(&common) * element_bytes, bytes);
    }
    return moved;
}

int64_t pp_point_claims_scatter(const pp_point_claims *picked, const pp_point_range *range,
                                const unsigned char *elements)
{
    pp_point_walk walk = {.picked = picked, .range = *range};
    size_t element_bytes = picked->tiling->element_bytes, bytes;
    int64_t moved = 0;
    pp_pick common;
    for (; pp_point_claims_next(&walk, &common); moved += (int64_t)bytes) {
        bytes = (size_t)pp_pick_count(&common) * element_bytes;
        copy_elements(picked->data + (size_t)pp_pick_place(&common) * element_bytes,
                      elements + (size_t)(common.index - range->from) * element_bytes, bytes);
    }
    return moved;
}

int64_t pp_point_claims_fill(const pp_point_claims *picked, const pp_point_range *range, const void *value)
{
    pp_point_walk walk = {.picked = picked, .range = *range};
    size_t element_bytes = picked->tiling->element_bytes;
    int64_t moved = 0;
    pp_pick common;
    while (pp_point_claims_next(&walk, &common)) {
        pp_fill_elements(picked->data + (size_t)pp_pick_place(&common) * element_bytes, pp_pick_count(&common),
                         element_bytes, value);
        moved += pp_pick_count(&common) * (int64_t)element_bytes;
    }
    return moved;
}
