#include "rechunk/count.h"

/* Along one dimension, summed over its templates. */
typedef struct axis_tally {
    const pp_copy_axis *axis;
    int64_t pairs; /* of a template and a cell that it touches */
    int64_t whole; /* pairs where the template has all of the cell */
    int64_t most;  /* cells of one template */
} axis_tally;

int64_t pp_greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static pp_copy_axis axis_of(const int64_t *shape, const pp_copy_pass *pass, int d, int64_t cell)
{
    return (pp_copy_axis){.extent = shape[d],
                          .lot = pass->lot_shape[d],
                          .template_extent = pass->template_shape[d],
                          .cell = cell,
                          .phase = pass->source.origin[d] % cell};
}

pp_copy_axis pp_copy_axis_of_chunks(const int64_t *shape, const pp_copy_pass *pass, int d)
{
    return axis_of(shape, pass, d, pass->source.chunk[d]);
}

pp_copy_axis pp_copy_axis_of_shards(const int64_t *shape, const pp_copy_pass *pass, int d)
{
    return axis_of(shape, pass, d, pass->source.shard[d]);
}

/* Where something lies in its cell, `step` elements further, modulo the cell. */
static int64_t advance(const pp_copy_axis *axis, int64_t phase, int64_t step)
{
    return phase < axis->cell - step ? phase + step : phase - (axis->cell - step);
}

/* After so many steps everything lies in its cell as it did before. */
static int64_t period_of(const pp_copy_axis *axis, int64_t step)
{
    return axis->cell / pp_greatest_common_divisor(axis->cell, step);
}

/* How many of 0 .. count - 1 are index + a multiple of period. */
static int64_t repetitions(int64_t count, int64_t period, int64_t index)
{
    return count <= period ? 1 : (count - 1 - index) / period + 1;
}

/* Lots of one length; what is the same for all of them is divided once. */
typedef struct lot_walk {
    const pp_copy_axis *axis;
    void (*visit)(void *context, const pp_copy_slice *slice);
    void *context;
    int64_t templates, period, step; /* whole ones, after how many they repeat, and how far one is in cells */
    int64_t rest, rest_offset;       /* the last one if it is cut short */
} lot_walk;

static void set_lot_length(lot_walk *walk, int64_t count)
{
    const pp_copy_axis *axis = walk->axis;
    walk->templates = count / axis->template_extent;
    walk->period = period_of(axis, axis->template_extent);
    walk->step = axis->template_extent % axis->cell;
    walk->rest = count % axis->template_extent;
    walk->rest_offset = (count - walk->rest) % axis->cell;
}

static void walk_lot(const lot_walk *walk, int64_t phase, int64_t times)
{
    int64_t i, distinct = pp_min_i64(walk->templates, walk->period);
    pp_copy_slice slice = {.phase = phase, .count = walk->axis->template_extent};
    for (i = 0; i < distinct; i++) {
        slice.times = times * repetitions(walk->templates, walk->period, i);
        walk->visit(walk->context, &slice);
        slice.phase = advance(walk->axis, slice.phase, walk->step);
    }
    if (walk->rest == 0)
        return;
    slice = (pp_copy_slice){advance(walk->axis, phase, walk->rest_offset), walk->rest, times};
    walk->visit(walk->context, &slice);
}

void pp_copy_axis_walk(const pp_copy_axis *axis, void (*visit)(void *context, const pp_copy_slice *slice),
                       void *context)
{
    int64_t lots = axis->extent / axis->lot, rest = axis->extent % axis->lot, step = axis->lot % axis->cell;
    int64_t period = period_of(axis, axis->lot), distinct = pp_min_i64(lots, period), phase = axis->phase;
    lot_walk walk = {.axis = axis, .visit = visit, .context = context};
    int64_t i;
    set_lot_length(&walk, axis->lot);
    for (i = 0; i < distinct; i++) {
        walk_lot(&walk, phase, repetitions(lots, period, i));
        phase = advance(axis, phase, step);
    }
    if (rest == 0)
        return;
    set_lot_length(&walk, rest);
    walk_lot(&walk, advance(axis, axis->phase, (axis->extent - rest) % axis->cell), 1);
}

int64_t pp_copy_slice_cells(const pp_copy_axis *axis, const pp_copy_slice *slice)
{
    int64_t in_first = axis->cell - slice->phase;
    /* Most templates of a finely cut axis lie in one cell: that is not worth a division. */
    return slice->count <= in_first ? 1 : 1 + pp_divide_up(slice->count - in_first, axis->cell);
}

/* Cells that lie in the slice from their first element to their last. */
static int64_t count_whole_cells(const pp_copy_axis *axis, const pp_copy_slice *slice)
{
    int64_t before = slice->phase == 0 ? 0 : axis->cell - slice->phase;
    return slice->count - before < axis->cell ? 0 : (slice->count - before) / axis->cell;
}

static void add_slice(void *context, const pp_copy_slice *slice)
{
    axis_tally *tally = context;
    int64_t cells = pp_copy_slice_cells(tally->axis, slice);
    /* Every pair has an element of its own: the sums are no larger than the extent. */
    tally->pairs += slice->times * cells;
    tally->whole += slice->times * count_whole_cells(tally->axis, slice);
    tally->most = pp_max_i64(tally->most, cells);
}

static axis_tally tally_of(const pp_copy_axis *axis)
{
    axis_tally tally = {.axis = axis};
    pp_copy_axis_walk(axis, add_slice, &tally);
    tally.axis = NULL;
    return tally;
}

int64_t pp_copy_axis_cells_most(const pp_copy_axis *axis)
{
    return tally_of(axis).most;
}

/* Lots side by side, done together: the k-th template of each, then the next. */
typedef struct lot_group {
    int64_t phase; /* where its first element lies in its cell */
    int64_t count; /* elements */
} lot_group;

/* The cells touched by the templates that start `offset` into each lot of a group, each cell once. Templates come in
 * ascending order, so one can share only its first cell, and only with the one before it. */
static int64_t count_union(const pp_copy_axis *axis, const lot_group *group, int64_t offset)
{
    int64_t start, cells = 0, last = -1;
    for (start = offset; start < group->count; start += axis->lot) {
        int64_t lot_rest = pp_min_i64(axis->lot - offset, group->count - start);
        int64_t end = start + pp_min_i64(axis->template_extent, lot_rest) + group->phase;
        int64_t first = (start + group->phase) / axis->cell;
        cells -= first == last;
        last = (end - 1) / axis->cell;
        cells += last - first + 1;
        if (axis->lot > group->count - start)
            break;
    }
    return cells;
}

static int64_t count_group(const pp_copy_axis *axis, const lot_group *group)
{
    int64_t offset, cells = 0, longest = pp_min_i64(axis->lot, group->count);
    for (offset = 0; offset < longest; offset += pp_min_i64(axis->template_extent, longest - offset))
        cells += count_union(axis, group, offset);
    return cells;
}

/* Cells that groups of `lots` lots read together, summed over groups and steps. */
static int64_t count_shared_cells(const pp_copy_axis *axis, int64_t lots)
{
    int64_t extent = pp_min_i64(pp_multiply_saturating(axis->lot, lots), pp_max_i64(axis->extent, 1));
    int64_t groups = axis->extent / extent, rest = axis->extent % extent, period = period_of(axis, extent);
    int64_t i, distinct = pp_min_i64(groups, period), cells = 0;
    lot_group group = {axis->phase, extent};
    for (i = 0; i < distinct; i++) {
        cells += repetitions(groups, period, i) * count_group(axis, &group);
        group.phase = advance(axis, group.phase, extent % axis->cell);
    }
    if (rest == 0)
        return cells;
    group = (lot_group){advance(axis, axis->phase, (axis->extent - rest) % axis->cell), rest};
    return cells + count_group(axis, &group);
}

static int64_t product_of(int ndim, const int64_t *factors)
{
    int64_t product = 1;
    int d;
    for (d = 0; d < ndim; d++)
        product = pp_multiply_saturating(product, factors[d]);
    return product;
}

static bool is_empty(int ndim, const int64_t *shape)
{
    int d;
    for (d = 0; d < ndim; d++)
        if (shape[d] == 0)
            return true;
    return false;
}

static int64_t pairs_of(const pp_copy_pass *pass, const pp_copy_axis *axis, int d)
{
    return pass->cooperates ? count_shared_cells(axis, pp_max_i64(pass->group[d], 1)) : tally_of(axis).pairs;
}

static int64_t count_index_reads(int ndim, const int64_t *shape, const pp_copy_pass *pass)
{
    int64_t reads = 1;
    int d;
    if (!pass->source.is_sharded)
        return 0;
    for (d = 0; d < ndim; d++) {
        pp_copy_axis axis = pp_copy_axis_of_shards(shape, pass, d);
        reads = pp_multiply_saturating(reads, pairs_of(pass, &axis, d));
    }
    return reads;
}

/* Contiguous runs of all pairs of a template and a chunk. A pair with a chunk's elements from `cover` of each
 * dimension is one run if it has all of them; else every position of the dimensions slower than the fastest one that
 * is not whole begins a run. From the fastest dimension to the slowest, with `whole` the pairs that have everything
 * so far, and `runs` those of all others: a slower dimension multiplies the latter by what is covered of it, which
 * over all pairs is its extent. */
static int64_t count_runs(int ndim, const int64_t *shape, const pp_copy_pass *pass)
{
    int64_t whole = 1, runs = 0;
    int i;
    for (i = ndim - 1; i >= 0; i--) {
        int d = pass->source.stored_order[i];
        pp_copy_axis axis = pp_copy_axis_of_chunks(shape, pass, d);
        axis_tally tally = tally_of(&axis);
        runs = pp_add_saturating(pp_multiply_saturating(runs, shape[d]),
                                 pp_multiply_saturating(whole, tally.pairs - tally.whole));
        whole = pp_multiply_saturating(whole, tally.whole);
    }
    return pp_add_saturating(runs, whole);
}

static void count_reads(int ndim, const int64_t *shape, pp_copy_pass *pass)
{
    pp_copy_counts *counts = &pass->counts;
    int64_t element_bytes = pass->source.element_bytes;
    int d;
    counts->chunk_reads = 1;
    for (d = 0; d < ndim; d++) {
        pp_copy_axis axis = pp_copy_axis_of_chunks(shape, pass, d);
        counts->chunk_reads = pp_multiply_saturating(counts->chunk_reads, pairs_of(pass, &axis, d));
    }
    counts->index_reads = count_index_reads(ndim, shape, pass);
    if (pass->reads_runs && !pass->cooperates) {
        counts->read_requests = count_runs(ndim, shape, pass);
        counts->decoded_bytes = pp_multiply_saturating(product_of(ndim, shape), element_bytes);
        return;
    }
    counts->read_requests = counts->chunk_reads;
    counts->decoded_bytes = pp_multiply_saturating(
        counts->chunk_reads, pp_multiply_saturating(product_of(ndim, pass->source.chunk), element_bytes));
}

static void count_writes(int ndim, const int64_t *shape, pp_copy_pass *pass)
{
    pp_copy_counts *counts = &pass->counts;
    const pp_copy_side *target = &pass->target;
    int d;
    counts->chunks_written = counts->shards_written = 1;
    for (d = 0; d < ndim; d++) {
        counts->chunks_written =
            pp_multiply_saturating(counts->chunks_written, pp_divide_up(shape[d], target->chunk[d]));
        counts->shards_written =
            pp_multiply_saturating(counts->shards_written, pp_divide_up(shape[d], target->shard[d]));
    }
    counts->written_bytes = pp_multiply_saturating(
        counts->chunks_written, pp_multiply_saturating(product_of(ndim, target->chunk), target->element_bytes));
}

static int64_t count_axis_templates(const pp_copy_axis *axis)
{
    int64_t lots = axis->extent / axis->lot, rest = axis->extent % axis->lot;
    return lots * pp_divide_up(axis->lot, axis->template_extent) + pp_divide_up(rest, axis->template_extent);
}

int64_t pp_copy_template_chunks(int ndim, const int64_t *shape, const pp_copy_pass *pass)
{
    int64_t chunks = 1;
    int d;
    for (d = 0; d < ndim; d++)
        chunks = pp_multiply_saturating(
            chunks, pp_divide_up(pp_min_i64(pass->template_shape[d], shape[d]), pass->target.chunk[d]));
    return chunks;
}

void pp_copy_set_lot(int ndim, const int64_t *shape, pp_copy_pass *pass)
{
    int d;
    (void)shape;
    for (d = 0; d < ndim; d++)
        pass->lot_shape[d] = pp_max_i64(pass->target.shard[d], pass->template_shape[d]);
}

void pp_copy_count(int ndim, const int64_t *shape, int ranks, pp_copy_pass *pass)
{
    int d;
    (void)ranks; /* they decide the groups, which are given */
    pass->counts = (pp_copy_counts){0};
    if (is_empty(ndim, shape))
        return;
    pass->counts.lots = pass->counts.templates = 1;
    for (d = 0; d < ndim; d++) {
        pp_copy_axis axis = pp_copy_axis_of_chunks(shape, pass, d);
        pass->counts.lots = pp_multiply_saturating(pass->counts.lots, pp_divide_up(shape[d], axis.lot));
        pass->counts.templates = pp_multiply_saturating(pass->counts.templates, count_axis_templates(&axis));
    }
    count_reads(ndim, shape, pass);
    count_writes(ndim, shape, pass);
}
