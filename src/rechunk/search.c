/* search.c - the search for a template, the same for ranks that read alone and for ranks that read together.
 *
 *     weigh_grid     combinations of extents, evenly spread, from large to small; if these are all, that is it
 *     weigh_block    the template that the paper's bounds recommend, made smaller until it fits
 *     improve        from the best so far: every extent of a dimension, alone and with each other dimension as
 *                    large as fits, until nothing is better
 *
 * Invariants:
 *
 *  1. Effort is counted, never timed. The same problem has the same plan on every rank, and when a copy is
 *     resumed: then the plan is made anew, and its digest compared.
 *  2. Passes with different templates or orders never compare as equal (pp_rechunk_pass_is_better), so that it
 *     does not matter which of two was weighed first.
 *  3. A trial is given up by bounds only if it could not have won: bound_counts never counts more than there
 *     is, and is_hopeless assumes all the memory that a pass can use.
 *  4. Whatever is taken was counted, and fits. Bounds, and the assumption that memory grows with the extent
 *     (weigh_border), only decide what is looked at.
 *
 * The options memory limit, unit_bytes, passes, reading and cooperation: docs/guide/copying.md. Krishnamoorthy
 * et al. start from a template that just fits and descend steepest (Figure 2); block_search.c does so with
 * their bounds. Here the counts are exact and the order of dimensions is open (docs/design/papers.md, 1, note
 * d; docs/design/copy.md, "What differs from the paper"). */
#include <string.h>

#include "base/checked.h"
#include "rechunk/block.h"
#include "rechunk/count.h"
#include "rechunk/strategy.h"

/* Files of an intermediate: enough for all ranks to have work of equal size, and not many more. */
#define FILES_PER_RANK 4
#define FILES_LEAST 8
/* An index may take this part of the memory: one sixteenth. */
#define INDEX_SHARE 16
#define INDEX_ENTRY_BYTES 16
/* To walk through this many templates that lie differently in the grid costs as much as all the rest of a
 * trial. */
#define SLICES_PER_COST 100
/* How many times as long it takes to count what ranks read together, and what is open. */
#define SLICES_TOGETHER 4
#define SLICES_PER_PLACE 8
/* A search is stopped at this many times the effort that it is given: during weigh_grid and weigh_block, and in
 * all. */
#define EFFORT_GRID 8
#define EFFORT_WHOLE 16

static bool size_and_time(const pp_rechunk_aim *aim, pp_rechunk_pass *pass)
{
    bool fits = pp_rechunk_size_memory(aim->problem, aim->seeks_least ? 0 : aim->limit_bytes, pass);
    pp_rechunk_predict(aim->problem, pass);
    return fits || aim->seeks_least;
}

bool pp_rechunk_weigh(const pp_rechunk_aim *aim, pp_rechunk_pass *pass)
{
    const pp_rechunk_problem *problem = aim->problem;
    pp_rechunk_set_work_unit(problem->ndim, problem->shape, pass);
    pp_rechunk_count(problem->ndim, problem->shape, problem->ranks, pass);
    return size_and_time(aim, pass);
}

static int compare_extents(int ndim, const pp_rechunk_pass *a, const pp_rechunk_pass *b)
{
    int d;
    for (d = 0; d < ndim; d++)
        if (a->template_shape[d] != b->template_shape[d])
            return a->template_shape[d] < b->template_shape[d] ? -1 : 1;
    for (d = 0; d < ndim; d++)
        if (a->order[d] != b->order[d])
            return a->order[d] < b->order[d] ? -1 : 1;
    return 0;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

bool pp_rechunk_pass_is_better(const pp_rechunk_aim *aim, const pp_rechunk_pass *pass, const pp_rechunk_pass *than)
{
    int memory = compare(pass->memory.memory_bytes, than->memory.memory_bytes), order;
    if (aim->seeks_least && memory != 0)
        return memory < 0;
    if (pass->seconds < than->seconds || pass->seconds > than->seconds)
        return pass->seconds < than->seconds;
    if ((order = compare(pass->counts.decoded_bytes, than->counts.decoded_bytes)) != 0 || (order = memory) != 0 ||
        (order = compare(pass->counts.templates, than->counts.templates)) != 0)
        return order < 0;
    return compare_extents(aim->problem->ndim, pass, than) < 0;
}

/* How many templates along a dimension one shard has: as few as leave at most files_most shards, where there
 * are `others` along the other dimensions; but at most times_most. */
static int64_t shard_templates(int64_t templates, int64_t others, int64_t files_most, int64_t times_most)
{
    int64_t files = pp_max_i64(1, files_most / pp_max_i64(1, others));
    return pp_max_i64(1, pp_min_i64(pp_divide_up(templates, files), times_most));
}

/* The shard of an intermediate: whole templates, more along the dimensions that come first in the order, so that
 * there are few files but work for all ranks, and an index that takes little of the memory. */
static void grow_shard(const pp_rechunk_aim *aim, pp_rechunk_pass *pass)
{
    const pp_rechunk_problem *problem = aim->problem;
    int64_t files_most = pp_max_i64(FILES_LEAST, FILES_PER_RANK * (int64_t)problem->ranks), files = 1, chunks = 1;
    int64_t chunks_most = aim->limit_bytes / INDEX_SHARE / INDEX_ENTRY_BYTES, templates, times;
    int i, d;
    for (d = 0; d < problem->ndim; d++) {
        files = pp_multiply_saturating(files, pp_divide_up(problem->shape[d], pass->template_shape[d]));
        chunks = pp_multiply_saturating(chunks, pass->template_shape[d] / pass->target.chunk[d]);
        pass->target.shard[d] = pass->template_shape[d];
    }
    if (aim->seeks_least)
        return;
    for (i = 0; i < problem->ndim && files > files_most; i++) {
        d = pass->order[i];
        templates = pp_divide_up(problem->shape[d], pass->template_shape[d]);
        files /= templates;
        times = shard_templates(templates, files, files_most, chunks_most / chunks);
        pass->target.shard[d] = pp_multiply_saturating(times, pass->template_shape[d]);
        files = pp_multiply_saturating(files, pp_divide_up(templates, times));
        chunks = pp_multiply_saturating(chunks, times);
    }
}

/* No more bytes of elements inside the array than the unit, unless it is one chunk. */
static bool template_is_allowed(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    int64_t bytes = pass->target.element_bytes;
    bool is_chunk = true;
    int d;
    for (d = 0; d < problem->ndim; d++) {
        bytes = pp_multiply_saturating(bytes, pp_min_i64(pass->template_shape[d], problem->shape[d]));
        is_chunk = is_chunk && pass->template_shape[d] == pass->target.chunk[d];
    }
    return problem->unit_bytes == 0 || bytes <= problem->unit_bytes || is_chunk;
}

/* Fewer reads and flushes than there can be, without looking at how templates lie in the grid. */
static void bound_counts(const pp_rechunk_problem *problem, pp_rechunk_pass *trial)
{
    pp_rechunk_counts *counts = &trial->counts;
    int64_t bytes = trial->source.element_bytes, templates, cells;
    int d;
    *counts = (pp_rechunk_counts){.work_units = 1, .templates = 1, .chunk_reads = 1, .shards_written = 1};
    for (d = 0; d < problem->ndim; d++) {
        templates = pp_divide_up(problem->shape[d], trial->template_shape[d]);
        cells = pp_divide_up(problem->shape[d], trial->source.chunk[d]);
        counts->work_units =
            pp_multiply_saturating(counts->work_units, pp_divide_up(problem->shape[d], trial->work_unit_shape[d]));
        counts->shards_written =
            pp_multiply_saturating(counts->shards_written, pp_divide_up(problem->shape[d], trial->target.shard[d]));
        counts->templates = pp_multiply_saturating(counts->templates, templates);
        if (trial->cooperates)
            templates = pp_divide_up(templates, trial->group[d]);
        counts->chunk_reads = pp_multiply_saturating(counts->chunk_reads, pp_max_i64(templates, cells));
        bytes = pp_multiply_saturating(bytes, trial->source.chunk[d]);
    }
    if (trial->reads_runs)
        return;
    counts->read_requests = counts->chunk_reads;
    counts->decoded_bytes = pp_multiply_saturating(counts->chunk_reads, bytes);
}

/* Whether the trial is too slow by these counts, even with all the memory that it can use. */
static bool is_hopeless(const pp_rechunk_search *search, pp_rechunk_pass *trial)
{
    if (!search->has_best || search->aim->seeks_least)
        return false;
    trial->memory = (pp_rechunk_memory){
        .items = 2, .chunk_buffers = 1, .item_chunks = pp_rechunk_item_chunks_most(search->aim->problem, trial)};
    pp_rechunk_predict(search->aim->problem, trial);
    return trial->seconds > search->best.seconds;
}

/* How many templates that lie differently in the grid are looked at to count what a pass does. */
static int64_t count_slices(const pp_rechunk_problem *problem, const pp_rechunk_pass *trial)
{
    int64_t slices = 0, templates, cell;
    int d;
    for (d = 0; d < problem->ndim; d++) {
        templates = pp_divide_up(problem->shape[d], trial->template_shape[d]);
        cell = trial->source.shard[d];
        slices = pp_add_saturating(
            slices, trial->cooperates
                        ? pp_multiply_saturating(templates, SLICES_TOGETHER)
                        : pp_min_i64(templates, cell / pp_greatest_common_divisor(cell, trial->template_shape[d])));
    }
    return slices;
}

/* How many source chunks that lie differently in the target's are looked at to count what is open. */
static int64_t count_places(const pp_rechunk_problem *problem, const pp_rechunk_pass *trial)
{
    int64_t places = 0, templates, cell, chunk, extent;
    int d;
    for (d = 0; d < problem->ndim && !trial->cooperates; d++) {
        cell = trial->source.chunk[d];
        chunk = trial->target.chunk[d];
        extent = pp_min_i64(problem->shape[d], trial->template_shape[d]);
        templates = pp_min_i64(pp_divide_up(problem->shape[d], trial->template_shape[d]),
                               cell / pp_greatest_common_divisor(cell, trial->template_shape[d]));
        places = pp_add_saturating(
            places,
            pp_multiply_saturating(templates * SLICES_PER_PLACE,
                                   1 + pp_min_i64(extent / cell, chunk / pp_greatest_common_divisor(chunk, cell))));
    }
    return places;
}

void pp_rechunk_search_set_shard(pp_rechunk_search *search)
{
    if (search->ends->is_between)
        grow_shard(search->aim, &search->trial);
}

/* Most trials are slow passes. Ever better counts show that, cheapest first; what a pass holds open takes
 * longest to find out, and is counted only for those that are left. */
static bool try_shard(pp_rechunk_search *search)
{
    const pp_rechunk_problem *problem = search->aim->problem;
    pp_rechunk_pass *trial = &search->trial;
    int64_t slices;
    pp_rechunk_set_work_unit(problem->ndim, problem->shape, trial);
    search->spent += 1 + problem->ndim / 4;
    bound_counts(problem, trial);
    if (is_hopeless(search, trial))
        return true;
    slices = count_slices(problem, trial);
    search->spent += slices / SLICES_PER_COST;
    pp_rechunk_count(problem->ndim, problem->shape, problem->ranks, trial);
    if (is_hopeless(search, trial))
        return true;
    search->spent +=
        (int64_t)3 * problem->ndim + pp_add_saturating(slices, count_places(problem, trial)) / SLICES_PER_COST;
    if (!size_and_time(search->aim, trial))
        return false;
    if (!search->has_best || pp_rechunk_pass_is_better(search->aim, trial, &search->best))
        search->best = *trial;
    search->has_best = true;
    return true;
}

bool pp_rechunk_search_try(pp_rechunk_search *search)
{
    pp_rechunk_pass *trial = &search->trial;
    size_t bytes = (size_t)search->aim->problem->ndim * sizeof trial->template_shape[0];
    pp_rechunk_search_set_shard(search);
    if (try_shard(search))
        return true;
    if (!search->ends->is_between || memcmp(trial->target.shard, trial->template_shape, bytes) == 0)
        return false;
    /* The index of a smaller shard may fit. */
    memcpy(trial->target.shard, trial->template_shape, bytes);
    return try_shard(search);
}

/* Weighs the template whose extents have these numbers. */
static bool weigh_at(pp_rechunk_search *search, const int *index)
{
    int d;
    for (d = 0; d < search->aim->problem->ndim; d++)
        search->trial.template_shape[d] = search->extents[d].extent[index[d]];
    return template_is_allowed(search->aim->problem, &search->trial) && search->weigh(search);
}

static bool has_effort(const pp_rechunk_search *search, int64_t times)
{
    return search->spent < pp_multiply_saturating(times, search->aim->effort);
}

/* Some of the extents of every dimension, evenly spread, so that all their combinations are within effort; all of
 * them if that is possible. */
static void grid_init(const pp_rechunk_search *search, int *points)
{
    int ndim = search->aim->problem->ndim, d, widest;
    int64_t total;
    for (d = 0; d < ndim; d++)
        points[d] = search->extents[d].count;
    for (;;) {
        total = search->variant_count;
        widest = 0;
        for (d = 0; d < ndim; d++) {
            total = pp_multiply_saturating(total, points[d]);
            widest = points[d] > points[widest] ? d : widest;
        }
        if (total <= search->aim->effort || ndim == 0 || points[widest] == 1)
            return;
        points[widest]--;
    }
}

/* Whether everything there is was weighed. */
static bool weigh_grid(pp_rechunk_search *search)
{
    int ndim = search->aim->problem->ndim, points[PARAPET_MAX_NDIM], index[PARAPET_MAX_NDIM], d;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box grid = {.ndim = ndim};
    bool more, is_all = true;
    grid_init(search, points);
    for (d = 0; d < ndim; d++) {
        grid.count[d] = points[d];
        is_all = is_all && points[d] == search->extents[d].count;
    }
    /* From large templates to small ones: after a large one that fits, most of the small ones are hopeless. */
    for (more = pp_box_first(&grid, cell); more && has_effort(search, EFFORT_GRID); more = pp_box_next(&grid, cell)) {
        for (d = 0; d < ndim; d++)
            index[d] = points[d] == 1
                           ? 0
                           : (int)((points[d] - 1 - cell[d]) * (search->extents[d].count - 1) / (points[d] - 1));
        (void)weigh_at(search, index);
    }
    return is_all && !more;
}

static void index_of(const pp_rechunk_search *search, const int64_t *template_shape, int *index)
{
    int d;
    for (d = 0; d < search->aim->problem->ndim; d++)
        for (index[d] = search->extents[d].count - 1;
             index[d] > 0 && search->extents[d].extent[index[d]] > template_shape[d]; index[d]--)
            ;
}

/* The template that the bounds of block.h recommend, made smaller until it fits. */
static void weigh_block(pp_rechunk_search *search)
{
    const pp_rechunk_problem *problem = search->aim->problem;
    int64_t source[PARAPET_MAX_NDIM], template_shape[PARAPET_MAX_NDIM];
    int64_t elements = search->aim->limit_bytes / pp_max_i64(1, search->ends->target.element_bytes);
    int index[PARAPET_MAX_NDIM] = {0}, order[PARAPET_MAX_NDIM], d, largest;
    pp_blocks blocks;
    for (d = 0; d < problem->ndim; d++)
        source[d] = pp_min_i64(search->ends->source.chunk[d], pp_max_i64(1, problem->shape[d]));
    pp_blocks_init(&blocks, problem->ndim, source, search->ends->target.chunk);
    if (!pp_blocks_search(&blocks, elements, PP_MAX_BLOCK_USEFUL, template_shape, order))
        return;
    index_of(search, template_shape, index);
    while (has_effort(search, EFFORT_GRID) && !weigh_at(search, index)) {
        for (largest = 0, d = 1; d < problem->ndim; d++)
            largest = index[d] > index[largest] ? d : largest;
        if (index[largest] == 0)
            return;
        index[largest] /= 2;
    }
}

/* The largest extent of dimension b that fits, given the others: memory grows with it, nearly always. */
static void weigh_border(pp_rechunk_search *search, int *index, int b)
{
    int fits = -1, fails = search->extents[b].count, kept = index[b];
    while (fails - fits > 1) {
        index[b] = fits + (fails - fits) / 2;
        if (weigh_at(search, index))
            fits = index[b];
        else
            fails = index[b];
    }
    index[b] = kept;
}

/* Every extent of dimension a, alone and with every other dimension as large as fits. */
static void vary(pp_rechunk_search *search, int a)
{
    int ndim = search->aim->problem->ndim, index[PARAPET_MAX_NDIM], kept, b;
    index_of(search, search->best.template_shape, index);
    kept = index[a];
    for (index[a] = 0; index[a] < search->extents[a].count; index[a]++)
        if (index[a] != kept && has_effort(search, EFFORT_WHOLE))
            (void)weigh_at(search, index);
    for (b = 0; b < ndim; b++)
        for (index[a] = 0; b != a && search->extents[b].count > 1 && index[a] < search->extents[a].count; index[a]++)
            if (has_effort(search, EFFORT_WHOLE))
                weigh_border(search, index, b);
}

static void improve(pp_rechunk_search *search)
{
    pp_rechunk_pass before;
    int a;
    do {
        before = search->best;
        for (a = 0; a < search->aim->problem->ndim; a++)
            if (search->extents[a].count > 1)
                vary(search, a);
    } while (has_effort(search, EFFORT_WHOLE) && pp_rechunk_pass_is_better(search->aim, &search->best, &before));
}

static void search_templates(pp_rechunk_search *search)
{
    static const int smallest[PARAPET_MAX_NDIM] = {0};
    if (search->aim->seeks_least) {
        (void)weigh_at(search, smallest);
        return;
    }
    if (weigh_grid(search))
        return;
    weigh_block(search);
    if (search->has_best || weigh_at(search, smallest))
        improve(search);
}

bool pp_rechunk_search_run(pp_rechunk_search *search)
{
    const pp_rechunk_problem *problem = search->aim->problem;
    int most = problem->ndim <= 2 ? PP_RECHUNK_EXTENTS_MOST : problem->ndim == 3 ? 40 : 24, d;
    for (d = 0; d < problem->ndim; d++)
        pp_rechunk_extents_init(&search->extents[d], search->ends, d, problem->shape[d], most);
    search_templates(search);
    *search->aim->spent += search->spent;
    return search->has_best;
}
