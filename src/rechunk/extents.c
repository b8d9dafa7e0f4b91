/* extents.c - the extents that a template may have along a dimension. */
#include <string.h>

#include "base/checked.h"
#include "rechunk/count.h"
#include "rechunk/strategy.h"

/* What a template may be along one dimension: multiples of the chunk up to the shard, then multiples of the shard. */
typedef struct ladder {
    int64_t shape, chunk, shard, period;
    int64_t chunk_steps, steps;
} ladder;

static void ladder_init(ladder *rungs, const pp_rechunk_ends *ends, int64_t shape, int d)
{
    int64_t source = ends->source.chunk[d], chunk = ends->target.chunk[d], shard = ends->target.shard[d];
    shape = pp_max_i64(shape, 1);
    if (ends->is_between || shard >= shape)
        shard = pp_multiply_saturating(pp_divide_up(shape, chunk), chunk);
    *rungs = (ladder){.shape = shape,
                      .chunk = chunk,
                      .shard = shard,
                      .period = pp_multiply_saturating(source / pp_greatest_common_divisor(source, chunk), chunk),
                      .chunk_steps = shard / chunk};
    rungs->steps = rungs->chunk_steps + pp_divide_up(shape, shard) - 1;
}

static int64_t ladder_at(const ladder *rungs, int64_t step)
{
    return step < rungs->chunk_steps ? (step + 1) * rungs->chunk : (step - rungs->chunk_steps + 2) * rungs->shard;
}

/* The step of the largest extent that is at most value, which is at least a chunk. */
static int64_t ladder_below(const ladder *rungs, int64_t value)
{
    if (value < 2 * rungs->shard || rungs->steps == rungs->chunk_steps)
        return pp_max_i64(0, pp_min_i64(value / rungs->chunk, rungs->chunk_steps) - 1);
    return pp_min_i64(rungs->steps, value / rungs->shard - 1 + rungs->chunk_steps) - 1;
}

static void extents_add(pp_rechunk_extents *extents, const ladder *rungs, int64_t value)
{
    int64_t extent = ladder_at(rungs, ladder_below(rungs, value));
    int i = extents->count;
    while (i > 0 && extents->extent[i - 1] > extent)
        i--;
    if (extents->count == PP_RECHUNK_EXTENTS_MOST || (i > 0 && extents->extent[i - 1] == extent))
        return;
    memmove(&extents->extent[i + 1], &extents->extent[i], (size_t)(extents->count - i) * sizeof extents->extent[0]);
    extents->extent[i] = extent;
    extents->count++;
}

/* The next of a geometric series whose ratio is eighths / 8, at least one more. */
static int64_t series_next(int64_t value, int64_t eighths)
{
    return pp_max_i64(value + 1, pp_multiply_saturating(value, eighths) / 8);
}

static int64_t series_ratio(int64_t steps, int64_t most)
{
    int64_t eighths = 8, value, count;
    do {
        eighths++;
        for (value = 1, count = 0; value < steps && count <= most; count++)
            value = series_next(value, eighths);
    } while (count > most);
    return eighths;
}

/* Few of many: in geometric steps, each also as the smallest with the same number of templates, and in whole
 * periods of the two grids, where nothing lies across a border. */
static void extents_choose(pp_rechunk_extents *extents, const ladder *rungs, int most)
{
    int64_t last = ladder_at(rungs, rungs->steps - 1), eighths = series_ratio(last / rungs->chunk, most / 4);
    int64_t times, value, even;
    extents_add(extents, rungs, rungs->chunk);
    extents_add(extents, rungs, rungs->shard);
    extents_add(extents, rungs, last);
    for (times = 1; times < last / rungs->chunk; times = series_next(times, eighths)) {
        value = times * rungs->chunk;
        extents_add(extents, rungs, value);
        even = pp_divide_up(rungs->shape, pp_divide_up(rungs->shape, value));
        extents_add(extents, rungs, pp_divide_up(even, rungs->chunk) * rungs->chunk);
        if (value >= rungs->period)
            extents_add(extents, rungs, value - value % rungs->period);
    }
}

void pp_rechunk_extents_init(pp_rechunk_extents *extents, const pp_rechunk_ends *ends, int d, int64_t shape, int most)
{
    ladder rungs;
    int64_t step;
    ladder_init(&rungs, ends, shape, d);
    extents->count = 0;
    if (rungs.steps > most) {
        extents_choose(extents, &rungs, most);
        return;
    }
    for (step = 0; step < rungs.steps; step++)
        extents->extent[extents->count++] = ladder_at(&rungs, step);
}
