/* count.c - what a pass reads and writes, counted. */
#include "rechunk/count.h"

/* Templates in a cell, from which on it pays to look whether they can be counted without a walk. */
enum { MANY = 4 };

/* Along one dimension, summed over its templates. */
typedef struct axis_tally {
    const pp_rechunk_axis *axis;
    int64_t pairs; /* of a template and a cell that it touches */
    int64_t whole; /* pairs where the template has all of the cell */
    int64_t most;  /* cells of one template */
} axis_tally;

static pp_rechunk_axis axis_of(const int64_t *shape, const pp_rechunk_pass *pass, int d, int64_t cell)
{
    return (pp_rechunk_axis){.extent = shape[d],
                             .work_unit = pass->work_unit_shape[d],
                             .template_extent = pass->template_shape[d],
                             .cell = cell,
                             .phase = pass->source.origin[d] % cell};
}

pp_rechunk_axis pp_rechunk_axis_of_chunks(const int64_t *shape, const pp_rechunk_pass *pass, int d)
{
    return axis_of(shape, pass, d, pass->source.chunk[d]);
}

pp_rechunk_axis pp_rechunk_axis_of_shards(const int64_t *shape, const pp_rechunk_pass *pass, int d)
{
    return axis_of(shape, pass, d, pass->source.shard[d]);
}

/* Where something lies in its cell, `step` elements further, modulo the cell. */
static int64_t advance(const pp_rechunk_axis *axis, int64_t phase, int64_t step)
{
    return phase < axis->cell - step ? phase + step : phase - (axis->cell - step);
}

/* After so many steps everything lies in its cell as it did before. Fewer than two of them are not worth a divisor,
 * which is what planning would mostly compute. */
static int64_t period_of(const pp_rechunk_axis *axis, int64_t step, int64_t count)
{
    return count < 2 ? 1 : axis->cell / pp_greatest_common_divisor(axis->cell, step);
}

/* How many of 0 .. count - 1 are index + a multiple of period. */
static int64_t repetitions(int64_t count, int64_t period, int64_t index)
{
    return count <= period ? 1 : (count - 1 - index) / period + 1;
}

/* Work units of one length; what is the same for all of them is divided once. */
typedef struct work_unit_walk {
    const pp_rechunk_axis *axis;
    void (*visit)(void *context, const pp_rechunk_slice *slice);
    void *context;
    int64_t templates, period, step; /* whole ones, after how many they repeat, and how far one is in cells */
    int64_t rest, rest_offset;       /* the last one if it is cut short */
} work_unit_walk;

static void set_work_unit_length(work_unit_walk *walk, int64_t count)
{
    const pp_rechunk_axis *axis = walk->axis;
    walk->templates = count / axis->template_extent;
    walk->period = period_of(axis, axis->template_extent, walk->templates);
    walk->step = axis->template_extent % axis->cell;
    walk->rest = count % axis->template_extent;
    walk->rest_offset = (count - walk->rest) % axis->cell;
}

static void walk_work_unit(const work_unit_walk *walk, int64_t phase, int64_t times)
{
    int64_t i, distinct = pp_min_i64(walk->templates, walk->period);
    pp_rechunk_slice slice = {.phase = phase, .count = walk->axis->template_extent};
    for (i = 0; i < distinct; i++) {
        slice.times = times * repetitions(walk->templates, walk->period, i);
        walk->visit(walk->context, &slice);
        slice.phase = advance(walk->axis, slice.phase, walk->step);
    }
    if (walk->rest == 0)
        return;
    slice = (pp_rechunk_slice){advance(walk->axis, phase, walk->rest_offset), walk->rest, times};
    walk->visit(walk->context, &slice);
}

void pp_rechunk_axis_walk(const pp_rechunk_axis *axis, void (*visit)(void *context, const pp_rechunk_slice *slice),
                          void *context)
{
    int64_t work_units = axis->extent / axis->work_unit, rest = axis->extent % axis->work_unit,
            step = axis->work_unit % axis->cell;
    int64_t period = period_of(axis, axis->work_unit, work_units), distinct = pp_min_i64(work_units, period),
            phase = axis->phase;
    work_unit_walk walk = {.axis = axis, .visit = visit, .context = context};
    int64_t i;
    set_work_unit_length(&walk, axis->work_unit);
    for (i = 0; i < distinct; i++) {
        walk_work_unit(&walk, phase, repetitions(work_units, period, i));
        phase = advance(axis, phase, step);
    }
    if (rest == 0)
        return;
    set_work_unit_length(&walk, rest);
    walk_work_unit(&walk, advance(axis, axis->phase, (axis->extent - rest) % axis->cell), 1);
}

int64_t pp_rechunk_slice_cells(const pp_rechunk_axis *axis, const pp_rechunk_slice *slice)
{
    int64_t in_first = axis->cell - slice->phase;
    /* Most templates of a finely cut axis lie in one cell: that is not worth a division. */
    return slice->count <= in_first ? 1 : 1 + pp_divide_up(slice->count - in_first, axis->cell);
}

/* Cells that lie in the slice from their first element to their last. */
static int64_t count_whole_cells(const pp_rechunk_axis *axis, const pp_rechunk_slice *slice)
{
    int64_t before = slice->phase == 0 ? 0 : axis->cell - slice->phase;
    return slice->count - before < axis->cell ? 0 : (slice->count - before) / axis->cell;
}

static void add_slice(void *context, const pp_rechunk_slice *slice)
{
    axis_tally *tally = context;
    int64_t cells = pp_rechunk_slice_cells(tally->axis, slice);
    /* Every pair has an element of its own: the sums are no larger than the extent. */
    tally->pairs += slice->times * cells;
    tally->whole += slice->times * count_whole_cells(tally->axis, slice);
    tally->most = pp_max_i64(tally->most, cells);
}

/* Whether templates are many in a cell, and none lies in two: then nothing has to be walked through. A document may
 * say that a shard has 2^29 chunks of one element, of which a template is one. */
static bool lie_within_cells(const pp_rechunk_axis *axis)
{
    int64_t template_extent = axis->template_extent;
    return axis->cell / MANY >= template_extent && axis->cell % template_extent == 0 &&
           axis->work_unit % template_extent == 0 && axis->phase % template_extent == 0;
}

static axis_tally tally_of(const pp_rechunk_axis *axis)
{
    axis_tally tally = {.axis = axis};
    if (lie_within_cells(axis))
        return (axis_tally){.pairs = pp_divide_up(axis->extent, axis->template_extent), .most = axis->extent > 0};
    pp_rechunk_axis_walk(axis, add_slice, &tally);
    tally.axis = NULL;
    return tally;
}

int64_t pp_rechunk_axis_cells_most(const pp_rechunk_axis *axis)
{
    return tally_of(axis).most;
}

/* Work units side by side, done together: the k-th template of each, then the next. */
typedef struct work_unit_group {
    int64_t phase; /* where its first element lies in its cell */
    int64_t count; /* elements */
} work_unit_group;

/* The cells touched by the templates that start `offset` into each work unit of a group, each cell once. Templates
 * come in ascending order, so one can share only its first cell, and only with the one before it. */
static int64_t count_union(const pp_rechunk_axis *axis, const work_unit_group *group, int64_t offset)
{
    int64_t start, cells = 0, last = -1;
    for (start = offset; start < group->count; start += axis->work_unit) {
        int64_t work_unit_rest = pp_min_i64(axis->work_unit - offset, group->count - start);
        int64_t end = start + pp_min_i64(axis->template_extent, work_unit_rest) + group->phase;
        int64_t first = (start + group->phase) / axis->cell;
        cells -= first == last;
        last = (end - 1) / axis->cell;
        cells += last - first + 1;
        if (axis->work_unit > group->count - start)
            break;
    }
    return cells;
}

static int64_t count_group(const pp_rechunk_axis *axis, const work_unit_group *group)
{
    int64_t offset, cells = 0, longest = pp_min_i64(axis->work_unit, group->count);
    if (group->count <= axis->cell - group->phase) /* all of the group is in one cell, at each step */
        return pp_divide_up(longest, axis->template_extent);
    if (axis->template_extent % axis->cell == 0 && axis->work_unit % axis->cell == 0 &&
        group->phase % axis->cell == 0)
        return pp_divide_up(group->count, axis->cell); /* no cell is in two templates */
    for (offset = 0; offset < longest; offset += pp_min_i64(axis->template_extent, longest - offset))
        cells += count_union(axis, group, offset);
    return cells;
}

/* Cells that groups of so many work units read together, summed over groups and steps. */
static int64_t count_shared_cells(const pp_rechunk_axis *axis, int64_t work_units)
{
    int64_t extent = pp_min_i64(pp_multiply_saturating(axis->work_unit, work_units), pp_max_i64(axis->extent, 1));
    int64_t groups = axis->extent / extent, rest = axis->extent % extent, period = period_of(axis, extent, groups), i;
    int64_t distinct = pp_min_i64(groups, period), cells = 0;
    work_unit_group group = {axis->phase, extent};
    for (i = 0; i < distinct; i++) {
        cells += repetitions(groups, period, i) * count_group(axis, &group);
        group.phase = advance(axis, group.phase, extent % axis->cell);
    }
    if (rest == 0)
        return cells;
    group = (work_unit_group){advance(axis, axis->phase, (axis->extent - rest) % axis->cell), rest};
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

static int64_t pairs_of(const pp_rechunk_pass *pass, const pp_rechunk_axis *axis, int d)
{
    return pass->cooperates ? count_shared_cells(axis, pp_max_i64(pass->group[d], 1)) : tally_of(axis).pairs;
}

static int64_t count_index_reads(int ndim, const int64_t *shape, const pp_rechunk_pass *pass)
{
    int64_t reads = 1;
    int d;
    if (!pass->source.is_sharded)
        return 0;
    for (d = 0; d < ndim; d++) {
        pp_rechunk_axis axis = pp_rechunk_axis_of_shards(shape, pass, d);
        reads = pp_multiply_saturating(reads, pairs_of(pass, &axis, d));
    }
    return reads;
}

/* Contiguous runs of all pairs of a template and a chunk. A pair with a chunk's elements from `cover` of each
 * dimension is one run if it has all of them; else every position of the dimensions slower than the fastest one that
 * is not whole begins a run. From the fastest dimension to the slowest, with `whole` the pairs that have everything
 * so far, and `runs` those of all others: a slower dimension multiplies the latter by what is covered of it, which
 * over all pairs is its extent. */
static int64_t count_runs(int ndim, const int64_t *shape, const pp_rechunk_pass *pass)
{
    int64_t whole = 1, runs = 0;
    int i;
    for (i = ndim - 1; i >= 0; i--) {
        int d = pass->source.stored_order[i];
        pp_rechunk_axis axis = pp_rechunk_axis_of_chunks(shape, pass, d);
        axis_tally tally = tally_of(&axis);
        runs = pp_add_saturating(pp_multiply_saturating(runs, shape[d]),
                                 pp_multiply_saturating(whole, tally.pairs - tally.whole));
        whole = pp_multiply_saturating(whole, tally.whole);
    }
    return pp_add_saturating(runs, whole);
}

static void count_reads(int ndim, const int64_t *shape, pp_rechunk_pass *pass)
{
    pp_rechunk_counts *counts = &pass->counts;
    int64_t element_bytes = pass->source.element_bytes;
    int d;
    counts->chunk_reads = 1;
    for (d = 0; d < ndim; d++) {
        pp_rechunk_axis axis = pp_rechunk_axis_of_chunks(shape, pass, d);
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

static void count_writes(int ndim, const int64_t *shape, pp_rechunk_pass *pass)
{
    pp_rechunk_counts *counts = &pass->counts;
    const pp_rechunk_side *target = &pass->target;
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

static int64_t count_axis_templates(const pp_rechunk_axis *axis)
{
    int64_t work_units = axis->extent / axis->work_unit, rest = axis->extent % axis->work_unit;
    return work_units * pp_divide_up(axis->work_unit, axis->template_extent) +
           pp_divide_up(rest, axis->template_extent);
}

int64_t pp_rechunk_template_chunks(int ndim, const int64_t *shape, const pp_rechunk_pass *pass)
{
    int64_t chunks = 1;
    int d;
    for (d = 0; d < ndim; d++)
        chunks = pp_multiply_saturating(
            chunks, pp_divide_up(pp_min_i64(pass->template_shape[d], shape[d]), pass->target.chunk[d]));
    return chunks;
}

void pp_rechunk_set_work_unit(int ndim, const int64_t *shape, pp_rechunk_pass *pass)
{
    int d;
    (void)shape;
    for (d = 0; d < ndim; d++)
        pass->work_unit_shape[d] = pp_max_i64(pass->target.shard[d], pass->template_shape[d]);
}

void pp_rechunk_count(int ndim, const int64_t *shape, int ranks, pp_rechunk_pass *pass)
{
    int d;
    (void)ranks; /* they decide the groups, which are given */
    pass->counts = (pp_rechunk_counts){0};
    if (is_empty(ndim, shape))
        return;
    pass->counts.work_units = pass->counts.templates = 1;
    for (d = 0; d < ndim; d++) {
        pp_rechunk_axis axis = pp_rechunk_axis_of_chunks(shape, pass, d);
        pass->counts.work_units =
            pp_multiply_saturating(pass->counts.work_units, pp_divide_up(shape[d], axis.work_unit));
        pass->counts.templates = pp_multiply_saturating(pass->counts.templates, count_axis_templates(&axis));
    }
    count_reads(ndim, shape, pass);
    count_writes(ndim, shape, pass);
}

void pp_rechunk_counts_add(pp_rechunk_counts *sum, const pp_rechunk_counts *more)
{
    sum->work_units = pp_add_saturating(sum->work_units, more->work_units);
    sum->templates = pp_add_saturating(sum->templates, more->templates);
    sum->chunk_reads = pp_add_saturating(sum->chunk_reads, more->chunk_reads);
    sum->read_requests = pp_add_saturating(sum->read_requests, more->read_requests);
    sum->index_reads = pp_add_saturating(sum->index_reads, more->index_reads);
    sum->decoded_bytes = pp_add_saturating(sum->decoded_bytes, more->decoded_bytes);
    sum->chunks_written = pp_add_saturating(sum->chunks_written, more->chunks_written);
    sum->shards_written = pp_add_saturating(sum->shards_written, more->shards_written);
    sum->written_bytes = pp_add_saturating(sum->written_bytes, more->written_bytes);
    sum->templates_resumed = pp_add_saturating(sum->templates_resumed, more->templates_resumed);
}
