#include "base/pattern.h"

#include "base/checked.h"
#include "base/status.h"

void pp_patterns_init(pp_patterns *set, pp_budget *budget)
{
    *set = (pp_patterns){.budget = budget};
}

void pp_patterns_clear(pp_patterns *set)
{
    pp_pattern *pattern = set->last, *before;
    for (; pattern != NULL; pattern = before) {
        before = pattern->before;
        pp_list_clear(&pattern->blocks);
        pp_free(pattern);
        pp_budget_release(set->budget, sizeof *pattern);
    }
    pp_patterns_init(set, set->budget);
}

parapet_status pp_pattern_build(pp_patterns *set, pp_pattern **pattern)
{
    pp_pattern *made = NULL;
    parapet_status status = pp_budget_reserve(set->budget, sizeof *made, "the parts of a datatype");
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_allocate(&made, sizeof *made)) != PARAPET_OK) {
        pp_budget_release(set->budget, sizeof *made);
        return status;
    }
    pp_list_init(&made->blocks, sizeof(pp_pattern_block), set->budget, "the blocks of a datatype");
    made->before = set->last;
    *pattern = set->last = made;
    return PARAPET_OK;
}

parapet_status pp_pattern_run(pp_patterns *set, int64_t bytes, const pp_pattern **run)
{
    pp_pattern *made = bytes < PP_PATTERN_SHORT_BYTES ? set->runs[bytes] : NULL;
    parapet_status status = made == NULL ? pp_pattern_build(set, &made) : PARAPET_OK;
    if (status != PARAPET_OK)
        return status;
    made->bytes = made->end = made->extent = bytes;
    made->is_run = true;
    if (bytes < PP_PATTERN_SHORT_BYTES)
        set->runs[bytes] = made;
    *run = made;
    return PARAPET_OK;
}

static parapet_status refuse_size(void)
{
    return pp_fail(PARAPET_ERR_ARGUMENT, "its extent or its displacements do not fit into 64 bits");
}

/* Runs become bytes, so that neighbours are joined whatever they consist of, and repetitions without holes become one
 * block. */
static bool simplify(pp_pattern_block *block, const pp_pattern *byte)
{
    const pp_pattern *inner = block->pattern;
    int64_t end; /* of one repetition, if its patterns have no holes between them */
    if (inner->is_run && (block->count == 1 || inner->extent == inner->bytes)) {
        block->pattern = byte;
        if (!pp_multiply_fits(block->count, inner->bytes, &block->count))
            return false;
    } else if (inner->is_run && block->repeats == 1) {
        *block = (pp_pattern_block){block->displacement, inner->bytes, block->count, inner->extent, byte};
    }
    if (!pp_multiply_fits(block->count, block->pattern->extent, &end))
        return false;
    if (block->repeats == 1 || block->stride != end)
        return true;
    if (!pp_multiply_fits(block->count, block->repeats, &block->count))
        return false;
    block->repeats = 1;
    return true;
}

/* What a block selects. */
typedef struct reach {
    int64_t bytes, first, end, step_end; /* step_end: of the first of its repetitions */
} reach;

static bool measure(const pp_pattern_block *block, reach *all)
{
    const pp_pattern *inner = block->pattern;
    int64_t patterns, beyond;
    return pp_multiply_fits(block->count, block->repeats, &patterns) &&
           pp_multiply_fits(patterns, inner->bytes, &all->bytes) &&
           pp_add_fits(block->displacement, inner->first, &all->first) &&
           pp_multiply_fits(block->count - 1, inner->extent, &beyond) &&
           pp_add_fits(beyond, block->displacement, &beyond) && pp_add_fits(beyond, inner->end, &all->step_end) &&
           pp_multiply_fits(block->repeats - 1, block->stride, &beyond) &&
           pp_add_fits(all->step_end, beyond, &all->end);
}

/* Between the first byte and the last, so that distances fit as well. */
static bool has_distance(const pp_pattern *pattern, const reach *all)
{
    int64_t first = pattern->bytes > 0 ? pp_min_i64(pattern->first, all->first) : all->first, distance;
    return !__builtin_sub_overflow(all->end, first, &distance) &&
           !__builtin_sub_overflow(all->step_end, all->first, &distance);
}

static parapet_status refuse_order(const char *what, int64_t number, int64_t behind)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "%s %lld begins %lld bytes before the end of the one before it: a file view selects each byte "
                   "once, in ascending order",
                   what, (long long)number, (long long)behind);
}

static parapet_status check_order(const pp_pattern *pattern, const pp_pattern_block *block, const reach *all)
{
    const pp_pattern *inner = block->pattern;
    int64_t span = inner->end - inner->first, step = all->step_end - all->first;
    if (block->count > 1 && inner->extent < span)
        return refuse_order("element", 1, span - pp_max_i64(inner->extent, 0));
    if (block->repeats > 1 && block->stride < step)
        return refuse_order("block", pattern->added + 1, step - pp_max_i64(block->stride, 0));
    if (pattern->bytes > 0 && all->first < pattern->end)
        return refuse_order("block", pattern->added, pattern->end - all->first);
    return PARAPET_OK;
}

/* Whether block continues the last one, which is then longer. */
static bool join(pp_pattern_block *last, const pp_pattern_block *block)
{
    int64_t distance, next;
    if (last->pattern != block->pattern || block->repeats > 1)
        return false;
    distance = block->displacement - last->displacement;
    if (last->repeats == 1 && distance == last->count * last->pattern->extent) {
        last->count += block->count;
        return true;
    }
    if (last->count != block->count)
        return false;
    if (last->repeats == 1)
        last->stride = distance;
    else if (!pp_multiply_fits(last->repeats, last->stride, &next) || next != distance)
        return false;
    last->repeats++;
    return true;
}

static parapet_status put(pp_pattern *pattern, const pp_pattern_block *block)
{
    size_t count = pattern->blocks.count;
    return count > 0 && join(pp_list_at(&pattern->blocks, count - 1), block) ? PARAPET_OK
                                                                             : pp_list_add(&pattern->blocks, block);
}

parapet_status pp_pattern_add(pp_patterns *set, pp_pattern *pattern, const pp_pattern_block *block)
{
    pp_pattern_block simple = *block;
    const pp_pattern *byte;
    reach all;
    int64_t bytes;
    parapet_status status = pp_pattern_run(set, 1, &byte);
    if (status != PARAPET_OK || block->count <= 0 || block->repeats <= 0 || block->pattern->bytes == 0) {
        pattern->added++;
        return status;
    }
    if (!simplify(&simple, byte) || !measure(&simple, &all) || !has_distance(pattern, &all) ||
        !pp_add_fits(pattern->bytes, all.bytes, &bytes))
        return refuse_size();
    if ((status = check_order(pattern, &simple, &all)) != PARAPET_OK ||
        (status = put(pattern, &simple)) != PARAPET_OK)
        return status;
    if (pattern->bytes == 0)
        pattern->first = all.first;
    pattern->end = all.end;
    pattern->bytes = bytes;
    pattern->added += block->repeats;
    return PARAPET_OK;
}

void pp_pattern_finish(pp_pattern *pattern, int64_t extent)
{
    pattern->extent = extent;
    pattern->is_run = pattern->first == 0 && pattern->end == pattern->bytes;
    if (pattern->is_run)
        pp_list_clear(&pattern->blocks);
}

/* The loops around the pattern that is walked. */
typedef struct walk {
    int depth;
    int64_t count[PARAPET_MAX_NDIM], to[PARAPET_MAX_NDIM], from[PARAPET_MAX_NDIM];
    pp_loops_visitor visitor;
    void *context;
} walk;

static parapet_status enter(walk *all, int64_t count, int64_t to, int64_t from)
{
    if (count == 1)
        return PARAPET_OK;
    if (all->depth == PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "it nests more than %d repetitions", PARAPET_MAX_NDIM);
    all->count[all->depth] = count;
    all->to[all->depth] = to;
    all->from[all->depth++] = from;
    return PARAPET_OK;
}

static parapet_status visit_run(const walk *all, pp_place at, int64_t bytes)
{
    pp_loop_box box = {.ndim = all->depth,
                       .element_bytes = (size_t)bytes,
                       .count = all->count,
                       .origin = at,
                       .to_strides = all->to,
                       .from_strides = all->from};
    pp_loops loops;
    if (!pp_loops_init(&loops, &box))
        return PARAPET_OK;
    pp_loops_lengthen_run(&loops);
    return all->visitor(all->context, &loops);
}

static parapet_status walk_pattern(walk *all, const pp_pattern *pattern, pp_place at);

static parapet_status walk_block(walk *all, const pp_pattern_block *block, pp_place at)
{
    const pp_pattern *inner = block->pattern;
    int depth = all->depth;
    bool is_bytes = inner->is_run && inner->bytes == 1 && inner->extent == 1;
    parapet_status status = enter(all, block->repeats, block->stride, block->count * inner->bytes);
    if (status == PARAPET_OK && is_bytes)
        status = visit_run(all, at, block->count);
    else if (status == PARAPET_OK && (status = enter(all, block->count, inner->extent, inner->bytes)) == PARAPET_OK)
        status = walk_pattern(all, inner, at);
    all->depth = depth;
    return status;
}

static parapet_status walk_pattern(walk *all, const pp_pattern *pattern, pp_place at)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    if (pattern->is_run)
        return visit_run(all, at, pattern->bytes);
    for (i = 0; i < pattern->blocks.count && status == PARAPET_OK; i++) {
        const pp_pattern_block *block = pp_list_at(&pattern->blocks, i);
        pp_place begin = {at.to + (uint64_t)block->displacement, at.from};
        status = walk_block(all, block, begin);
        at.from += (uint64_t)(block->count * block->repeats * block->pattern->bytes);
    }
    return status;
}

parapet_status pp_pattern_walk(const pp_pattern *pattern, pp_place origin, pp_loops_visitor visitor, void *context)
{
    walk all = {.visitor = visitor, .context = context};
    return walk_pattern(&all, pattern, origin);
}
