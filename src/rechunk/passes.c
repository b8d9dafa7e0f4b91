/* passes.c - several passes, with intermediate layouts between them. */
#include <string.h>

#include "base/checked.h"
#include "rechunk/block.h"
#include "rechunk/count.h"
#include "rechunk/strategy.h"

/* A chunk of an intermediate ends in a checksum. */
#define CHECKSUM_BYTES 4
/* Smaller chunks of an intermediate cost more in requests than they save in memory. */
#define SMALL_BYTES (INT64_C(64) << 10)
/* And when memory is scarce, so small a part of the larger of source and target chunk. */
#define SMALL_PART 16
/* Shapes of intermediate chunks that are weighed, and the part of the effort that each may take. */
#define SHAPES_MOST 80
#define SHAPE_EFFORT_PART 8
/* All of them together may take so many times the effort. */
#define SHAPES_EFFORT 200
/* So much more than the array may be read before other ways are looked for. */
#define WASTE 1.05

typedef int64_t shape_of[PARAPET_MAX_NDIM];

/* An intermediate layout of these chunks. */
static void between_init(pp_rechunk_side *side, const pp_rechunk_problem *problem, const int64_t *chunk)
{
    int64_t bytes;
    int d;
    *side = problem->between;
    side->element_bytes = problem->target.element_bytes;
    bytes = side->element_bytes;
    for (d = 0; d < problem->ndim; d++) {
        side->chunk[d] = side->shard[d] = chunk[d];
        side->origin[d] = 0;
        side->stored_order[d] = d;
        bytes = pp_multiply_saturating(bytes, chunk[d]);
    }
    side->encoded_bytes = side->chunk_buffer_bytes = pp_min_i64(bytes, INT64_MAX - CHECKSUM_BYTES) + CHECKSUM_BYTES;
    side->is_sharded = true;
    side->allows_runs = false;
}

/* Whether so much is read twice that ranks which read together may save something. */
static bool is_wasteful(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    double bytes = (double)pass->source.element_bytes;
    int d;
    for (d = 0; d < problem->ndim; d++)
        bytes *= (double)problem->shape[d];
    return (double)pass->counts.decoded_bytes > WASTE * bytes;
}

bool pp_rechunk_search_any(const pp_rechunk_aim *aim, const pp_rechunk_ends *ends, pp_rechunk_pass *pass)
{
    const pp_rechunk_problem *problem = aim->problem;
    bool may_run = ends->source.allows_runs && problem->force_reading != PARAPET_READING_CHUNKS, found;
    bool must_run = may_run && problem->force_reading == PARAPET_READING_RUNS;
    pp_rechunk_pass other;
    if (problem->force_cooperation == PARAPET_COOPERATION_TOGETHER)
        return pp_rechunk_search_cooperative(aim, ends, pass);
    found = !must_run && pp_rechunk_search_alone(aim, ends, false, pass);
    if (may_run && pp_rechunk_search_alone(aim, ends, true, &other) &&
        (!found || pp_rechunk_pass_is_better(aim, &other, pass))) {
        *pass = other;
        found = true;
    }
    if (!must_run && (!found || is_wasteful(problem, pass)) && pp_rechunk_search_cooperative(aim, ends, &other) &&
        (!found || pp_rechunk_pass_is_better(aim, &other, pass))) {
        *pass = other;
        found = true;
    }
    return found;
}

/* The passes through these intermediate chunks, one fewer than passes. */
static bool chain(const pp_rechunk_aim *aim, shape_of *chunks, int parts, pp_rechunk_route *route)
{
    const pp_rechunk_problem *problem = aim->problem;
    pp_rechunk_ends ends = {.source = problem->source};
    int i;
    route->pass_count = parts;
    for (i = 0; i < parts; i++) {
        ends.is_between = i < parts - 1;
        if (ends.is_between)
            between_init(&ends.target, problem, chunks[i]);
        else
            ends.target = problem->target;
        if (!pp_rechunk_search_any(aim, &ends, &route->passes[i]))
            return false;
        ends.source = route->passes[i].target;
    }
    return true;
}

/* Chunks as far as they lie inside the array. */
static void clip(const pp_rechunk_problem *problem, const int64_t *chunk, int64_t *clipped)
{
    int d;
    for (d = 0; d < problem->ndim; d++)
        clipped[d] = pp_max_i64(1, pp_min_i64(chunk[d], problem->shape[d]));
}

static bool are_equal(int ndim, const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, (size_t)ndim * sizeof a[0]) == 0;
}

/* A pass that ends where it begins is none, unless so many passes are asked for. */
static bool are_distinct(const pp_rechunk_problem *problem, shape_of *chunks, int parts)
{
    int64_t before[PARAPET_MAX_NDIM], target[PARAPET_MAX_NDIM];
    int i;
    if (problem->force_passes != 0)
        return true;
    clip(problem, problem->source.chunk, before);
    clip(problem, problem->target.chunk, target);
    for (i = 0; i < parts - 1; i++) {
        if (are_equal(problem->ndim, before, chunks[i]))
            return false;
        memcpy(before, chunks[i], sizeof before);
    }
    return !are_equal(problem->ndim, before, target);
}

bool pp_rechunk_propose_means(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    const pp_rechunk_problem *problem = aim->problem;
    shape_of source, target, chunks[PP_RECHUNK_PASSES_MOST];
    int i;
    clip(problem, problem->source.chunk, source);
    clip(problem, problem->target.chunk, target);
    for (i = 1; i < parts; i++)
        pp_blocks_between(problem->ndim, source, target, i, parts, chunks[i - 1]);
    return are_distinct(problem, chunks, parts) && chain(aim, chunks, parts, route);
}

/* A number near wish, from low to high, that is a multiple of low and, if there is one, a divisor of high. */
static int64_t round_between(int64_t low, int64_t high, int64_t wish)
{
    int64_t times = pp_max_i64(1, (wish + low / 2) / low), parts = high / low, distance;
    for (distance = 0; high % low == 0 && distance <= times / 2 && distance < 4096; distance++) {
        if (parts % (times - distance) == 0)
            return low * (times - distance);
        if (parts % (times + distance) == 0)
            return low * (times + distance);
    }
    return low * pp_min_i64(times, pp_max_i64(1, parts));
}

static void round_shape(int ndim, const int64_t *source, const int64_t *target, const int64_t *wish, int64_t *chunk)
{
    int d;
    for (d = 0; d < ndim; d++)
        chunk[d] = round_between(pp_min_i64(source[d], target[d]), pp_max_i64(source[d], target[d]), wish[d]);
}

bool pp_rechunk_propose_rounded(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    const pp_rechunk_problem *problem = aim->problem;
    shape_of before, target, wish, chunks[PP_RECHUNK_PASSES_MOST];
    int i;
    clip(problem, problem->source.chunk, before);
    clip(problem, problem->target.chunk, target);
    for (i = 1; i < parts; i++) {
        pp_blocks_between(problem->ndim, before, target, 1, parts - i + 1, wish);
        round_shape(problem->ndim, before, target, wish, chunks[i - 1]);
        memcpy(before, chunks[i - 1], sizeof before);
    }
    return are_distinct(problem, chunks, parts) && chain(aim, chunks, parts, route);
}

static int64_t volume_bytes(const pp_rechunk_problem *problem, const int64_t *chunk)
{
    int64_t bytes = problem->target.element_bytes;
    int d;
    for (d = 0; d < problem->ndim; d++)
        bytes = pp_multiply_saturating(bytes, chunk[d]);
    return bytes;
}

/* The dimension along which the chunk is smallest against what it may be; -1: it is as large as it may be. */
static int narrowest(int ndim, const int64_t *chunk, const int64_t *most)
{
    double ratio, largest = 1;
    int found = -1, d;
    for (d = 0; d < ndim; d++) {
        ratio = (double)most[d] / (double)chunk[d];
        if (ratio > largest) {
            largest = ratio;
            found = d;
        }
    }
    return found;
}

/* A chunk of an intermediate that is smaller than this is absurd. */
static int64_t small_bytes(const pp_rechunk_problem *problem)
{
    shape_of source, target;
    clip(problem, problem->source.chunk, source);
    clip(problem, problem->target.chunk, target);
    return pp_min_i64(SMALL_BYTES,
                      pp_max_i64(volume_bytes(problem, source), volume_bytes(problem, target)) / SMALL_PART);
}

/* What source and target chunk have in common, made larger as far as it has to be. */
static void small_shape(const pp_rechunk_problem *problem, int64_t *chunk)
{
    shape_of source, target, most;
    int64_t least = small_bytes(problem);
    int d;
    clip(problem, problem->source.chunk, source);
    clip(problem, problem->target.chunk, target);
    for (d = 0; d < problem->ndim; d++) {
        chunk[d] = pp_min_i64(source[d], target[d]);
        most[d] = pp_max_i64(source[d], target[d]);
    }
    while (volume_bytes(problem, chunk) < least && (d = narrowest(problem->ndim, chunk, most)) >= 0)
        chunk[d] = pp_min_i64(2 * chunk[d], most[d]);
}

bool pp_rechunk_propose_small(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    shape_of chunks[PP_RECHUNK_PASSES_MOST];
    int i;
    for (i = 0; i < parts - 1; i++)
        small_shape(aim->problem, chunks[i]);
    return are_distinct(aim->problem, chunks, parts) && chain(aim, chunks, parts, route);
}

/* A walk through the shapes of one intermediate's chunks, always to a better one. */
typedef struct walk {
    pp_rechunk_aim aim;
    shape_of common; /* of source and target chunk, the smaller */
    int64_t least_bytes, spent_most;
    shape_of seen[SHAPES_MOST];
    int seen_count;
    shape_of best;
    double seconds; /* of the best; 0: none */
} walk;

static bool walk_try(walk *by, const int64_t *chunk)
{
    const pp_rechunk_problem *problem = by->aim.problem;
    pp_rechunk_route route;
    shape_of chunks[1];
    double seconds;
    int i;
    for (i = 0; i < by->seen_count; i++)
        if (are_equal(problem->ndim, by->seen[i], chunk))
            return false;
    if (*by->aim.spent > by->spent_most || by->seen_count == SHAPES_MOST ||
        volume_bytes(problem, chunk) < by->least_bytes)
        return false;
    memcpy(by->seen[by->seen_count++], chunk, sizeof by->seen[0]);
    memcpy(chunks[0], chunk, sizeof chunks[0]);
    if (!are_distinct(problem, chunks, 2) || !chain(&by->aim, chunks, 2, &route))
        return false;
    seconds = route.passes[0].seconds + route.passes[1].seconds;
    if (by->seconds > 0 && seconds >= by->seconds)
        return false;
    by->seconds = seconds;
    memcpy(by->best, chunk, sizeof by->best);
    return true;
}

/* The extent next to one of dimension d: times ratio, or divided by it, in whole units of what source and target
 * chunk have in common. The same if there is none. */
static int64_t neighbour(const walk *by, int64_t extent, int d, double ratio)
{
    int64_t unit = by->common[d], most = pp_max_i64(1, by->aim.problem->shape[d]), times, next;
    if (extent < unit || (extent == unit && ratio < 1))
        unit = 1;
    times = extent / unit;
    next = times > INT64_MAX / 4 ? times : (int64_t)((double)times * ratio);
    if (next == times)
        next += ratio > 1 ? 1 : -1;
    return pp_min_i64(most, pp_multiply_saturating(pp_max_i64(1, next), unit));
}

/* From the best shape: one dimension larger or smaller, or one larger and another smaller. */
static bool walk_step(walk *by, double ratio)
{
    int ndim = by->aim.problem->ndim, a, b;
    shape_of from, chunk;
    bool found = false;
    memcpy(from, by->best, sizeof from);
    for (a = 0; a < ndim; a++)
        for (b = -1; b < ndim; b++) {
            memcpy(chunk, from, sizeof chunk);
            chunk[a] = neighbour(by, from[a], a, b == a ? 1 / ratio : ratio);
            if (b >= 0 && b != a)
                chunk[b] = neighbour(by, from[b], b, 1 / ratio);
            found = walk_try(by, chunk) || found;
        }
    return found;
}

static void walk_on(walk *by)
{
    while (walk_step(by, 2))
        ;
    while (walk_step(by, 1.25))
        ;
}

/* From the mean, and from what source and target have in common. */
static void walk_between(walk *by, const int64_t *source, const int64_t *target)
{
    const pp_rechunk_problem *problem = by->aim.problem;
    shape_of chunk;
    pp_blocks_between(problem->ndim, source, target, 1, 2, chunk);
    round_shape(problem->ndim, source, target, chunk, chunk);
    (void)walk_try(by, chunk);
    small_shape(problem, chunk);
    (void)walk_try(by, chunk);
    if (by->seconds > 0)
        walk_on(by);
}

/* From source and target themselves, from what encloses both, and from the whole array: rarely any good, but where
 * arrays are small. */
static void walk_outside(walk *by, const int64_t *source, const int64_t *target)
{
    const pp_rechunk_problem *problem = by->aim.problem;
    shape_of enclosing, whole;
    bool found;
    int d;
    for (d = 0; d < problem->ndim; d++)
        enclosing[d] = pp_max_i64(source[d], target[d]);
    clip(problem, problem->shape, whole);
    found = walk_try(by, source);
    found = walk_try(by, target) || found;
    found = walk_try(by, enclosing) || found;
    found = walk_try(by, whole) || found;
    if (found)
        walk_on(by);
}

bool pp_rechunk_propose_shaped(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    const pp_rechunk_problem *problem = aim->problem;
    walk by = {.aim = *aim, .least_bytes = small_bytes(problem)};
    shape_of source, target, chunks[1];
    int d;
    (void)parts;
    by.aim.effort = aim->effort / SHAPE_EFFORT_PART;
    by.spent_most = pp_add_saturating(*aim->spent, pp_multiply_saturating(SHAPES_EFFORT, aim->effort));
    clip(problem, problem->source.chunk, source);
    clip(problem, problem->target.chunk, target);
    for (d = 0; d < problem->ndim; d++)
        by.common[d] = pp_min_i64(source[d], target[d]);
    walk_between(&by, source, target);
    walk_outside(&by, source, target);
    if (!(by.seconds > 0))
        return false;
    memcpy(chunks[0], by.best, sizeof chunks[0]);
    return chain(aim, chunks, 2, route);
}
