#include "geometry/strided.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* Side of a block of a transposing copy, in elements; the best of 8 to 256 measured with 8-byte elements. */
#define BLOCK_SIDE 64

/* Room for repetitions of the element to fill with; small, so that it stays in the fastest cache. */
#define PATTERN_BYTES 4096

/* One loop: how often, and how many bytes further both sides are each time. */
typedef struct axis {
    int64_t count;
    int64_t to;
    int64_t from;
} axis;

typedef struct place {
    unsigned char *to;
    const unsigned char *from;
} place;

/* A copy as loops around a move of run_bytes, outermost loop first. Every count is at least 2; strides in the
 * target are not negative, and as built they fall from loop to loop. */
typedef struct nest {
    int ndim;
    axis axes[PARAPET_MAX_NDIM];
    size_t run_bytes;
    place origin;
} nest;

/* The two innermost loops. */
typedef struct plane {
    axis rows;
    axis columns;
    size_t run_bytes;
} plane;

static place place_after(place at, axis loop, int64_t steps)
{
    return (place){at.to + steps * loop.to, at.from + steps * loop.from};
}

/* The order of elements is free in a copy: a loop that runs backwards in the target is turned round. */
static void add_loop(nest *loops, axis loop)
{
    int d = loops->ndim++;
    if (loop.to < 0) {
        loops->origin = place_after(loops->origin, loop, loop.count - 1);
        loop = (axis){loop.count, -loop.to, -loop.from};
    }
    for (; d > 0 && loops->axes[d - 1].to < loop.to; d--)
        loops->axes[d] = loops->axes[d - 1];
    loops->axes[d] = loop;
}

/* Two loops are one where a step of the outer one continues just where the inner one ends, on both sides. */
static void merge_loops(nest *loops)
{
    int kept = 0, d;
    for (d = 1; d < loops->ndim; d++) {
        axis *outer = &loops->axes[kept];
        axis inner = loops->axes[d];
        if (outer->to == inner.to * inner.count && outer->from == inner.from * inner.count)
            *outer = (axis){outer->count * inner.count, inner.to, inner.from};
        else
            loops->axes[++kept] = inner;
    }
    if (loops->ndim > 0)
        loops->ndim = kept + 1;
}

/* Returns false when there is nothing to copy. A fill is a copy whose source stays where it is. */
static bool build_nest(nest *loops, const pp_strided *copy, bool is_fill)
{
    int d;
    loops->ndim = 0;
    loops->run_bytes = copy->element_bytes;
    loops->origin = (place){copy->target, copy->source};
    if (copy->element_bytes == 0)
        return false;
    for (d = 0; d < copy->ndim; d++)
        if (copy->count[d] <= 0)
            return false;
    for (d = 0; d < copy->ndim; d++)
        if (copy->count[d] > 1)
            add_loop(loops, (axis){copy->count[d], copy->target_strides[d], is_fill ? 0 : copy->source_strides[d]});
    merge_loops(loops);
    return true;
}

/* Whether the innermost loop walks over neighbouring elements of the target. */
static bool has_dense_rows(const nest *loops)
{
    return loops->ndim > 0 && loops->axes[loops->ndim - 1].to == (int64_t)loops->run_bytes;
}

/* An innermost loop over elements that are neighbours on both sides becomes part of the run. */
static void lengthen_run(nest *loops)
{
    int inner = loops->ndim - 1;
    if (!has_dense_rows(loops) || loops->axes[inner].from != loops->axes[inner].to)
        return;
    loops->run_bytes *= (size_t)loops->axes[inner].count;
    loops->ndim = inner;
}

/* The loop in which the source moves in the smallest steps: the innermost one unless the copy transposes. */
static int fastest_in_source(const nest *loops)
{
    int best = loops->ndim - 1, d;
    for (d = best - 1; d >= 0; d--)
        if (loops->axes[d].from != 0 && llabs(loops->axes[d].from) < llabs(loops->axes[best].from))
            best = d;
    return best;
}

static void move_next_to_innermost(nest *loops, int d)
{
    axis moved = loops->axes[d];
    for (; d < loops->ndim - 2; d++)
        loops->axes[d] = loops->axes[d + 1];
    loops->axes[d] = moved;
}

/* Inlined with a constant number of bytes, so that memcpy becomes plain moves at any alignment. */
static inline __attribute__((always_inline)) void copy_runs(place at, axis rows, axis columns, size_t bytes)
{
    int64_t row, column;
    for (row = 0; row < rows.count; row++) {
        unsigned char *to = at.to + row * rows.to;
        const unsigned char *from = at.from + row * rows.from;
        for (column = 0; column < columns.count; column++)
            memcpy(to + column * columns.to, from + column * columns.from, bytes);
    }
}

static void copy_plane(place at, const plane *whole)
{
    switch (whole->run_bytes) {
    case 1:
        copy_runs(at, whole->rows, whole->columns, 1);
        break;
    case 2:
        copy_runs(at, whole->rows, whole->columns, 2);
        break;
    case 4:
        copy_runs(at, whole->rows, whole->columns, 4);
        break;
    case 8:
        copy_runs(at, whole->rows, whole->columns, 8);
        break;
    case 16:
        copy_runs(at, whole->rows, whole->columns, 16);
        break;
    case 32:
        copy_runs(at, whole->rows, whole->columns, 32);
        break;
    case 64:
        copy_runs(at, whole->rows, whole->columns, 64);
        break;
    default:
        copy_runs(at, whole->rows, whole->columns, whole->run_bytes);
    }
}

/* For rows that are the source's fastest loop and columns that are the target's: a block of both fits in cache,
 * so that each cache line is fetched once and used whole. */
static void copy_plane_in_blocks(place at, const plane *whole)
{
    plane block = *whole;
    int64_t row, column;
    for (column = 0; column < whole->columns.count; column += BLOCK_SIDE) {
        place top = place_after(at, whole->columns, column);
        block.columns.count = pp_min_i64(BLOCK_SIDE, whole->columns.count - column);
        for (row = 0; row < whole->rows.count; row += BLOCK_SIDE) {
            block.rows.count = pp_min_i64(BLOCK_SIDE, whole->rows.count - row);
            copy_plane(place_after(top, whole->rows, row), &block);
        }
    }
}

/* Steps through the loops around the plane; false after the last position. */
static bool next_place(const nest *loops, int outer, int64_t *position, place *at)
{
    int d;
    for (d = outer - 1; d >= 0; d--) {
        if (++position[d] < loops->axes[d].count) {
            *at = place_after(*at, loops->axes[d], 1);
            return true;
        }
        position[d] = 0;
        *at = place_after(*at, loops->axes[d], 1 - loops->axes[d].count);
    }
    return false;
}

static void run_nest(nest *loops)
{
    static const axis once = {1, 0, 0};
    int64_t position[PARAPET_MAX_NDIM] = {0};
    int ndim = loops->ndim;
    int fastest = fastest_in_source(loops);
    void (*copy)(place at, const plane *whole) = fastest == ndim - 1 ? copy_plane : copy_plane_in_blocks;
    place at = loops->origin;
    plane inner;
    if (fastest < ndim - 1)
        move_next_to_innermost(loops, fastest);
    inner.columns = ndim > 0 ? loops->axes[ndim - 1] : once;
    inner.rows = ndim > 1 ? loops->axes[ndim - 2] : once;
    inner.run_bytes = loops->run_bytes;
    do
        copy(at, &inner);
    while (next_place(loops, ndim - 2, position, &at));
}

void pp_strided_copy(const pp_strided *copy)
{
    nest loops;
    if (!build_nest(&loops, copy, false))
        return;
    lengthen_run(&loops);
    run_nest(&loops);
}

/* Copies a pattern of that many elements over dense rows as often as it fits; the rest of each row stays. */
static void fill_with_pattern(nest loops, const unsigned char *pattern, int64_t elements)
{
    axis *inner = &loops.axes[loops.ndim - 1];
    loops.run_bytes *= (size_t)elements;
    loops.origin.from = pattern;
    *inner = (axis){inner->count / elements, (int64_t)loops.run_bytes, 0};
    if (inner->count == 1)
        loops.ndim--;
    run_nest(&loops);
}

static void fill_dense_rows(const nest *loops)
{
    unsigned char pattern[PATTERN_BYTES];
    nest rest = *loops;
    axis *inner = &rest.axes[rest.ndim - 1];
    int64_t elements = pp_min_i64(inner->count, (int64_t)(sizeof pattern / loops->run_bytes)), i;
    for (i = 0; i < elements; i++)
        memcpy(pattern + (size_t)i * loops->run_bytes, loops->origin.from, loops->run_bytes);
    fill_with_pattern(*loops, pattern, elements);
    rest.origin = place_after(rest.origin, *inner, inner->count / elements * elements);
    inner->count %= elements;
    if (inner->count > 0)
        fill_with_pattern(rest, pattern, inner->count);
}

void pp_strided_fill(const pp_strided *fill)
{
    nest loops;
    if (!build_nest(&loops, fill, true))
        return;
    if (has_dense_rows(&loops) && loops.run_bytes <= PATTERN_BYTES / 2)
        fill_dense_rows(&loops);
    else
        run_nest(&loops);
}

void pp_fill_elements(void *target, int64_t count, size_t element_bytes, const void *value)
{
    const int64_t stride = (int64_t)element_bytes;
    pp_strided_fill(&(pp_strided){
        .ndim = 1,
        .element_bytes = element_bytes,
        .count = &count,
        .target = target,
        .target_strides = &stride,
        .source = value,
    });
}

void pp_strides_c_order(int ndim, const int64_t *shape, size_t element_bytes, int64_t *strides)
{
    /* Unsigned: the strides of an empty array are never used, but may be too large to multiply. */
    uint64_t stride = element_bytes;
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        strides[d] = (int64_t)stride;
        stride *= (uint64_t)shape[d];
    }
}

int64_t pp_strides_offset(const pp_box *box, const int64_t *strides, const int64_t *position)
{
    int64_t offset = 0;
    int d;
    for (d = 0; d < box->ndim; d++)
        offset += (position[d] - box->start[d]) * strides[d];
    return offset;
}
