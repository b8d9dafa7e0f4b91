#include "geometry/strided.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/loops.h"
#include "geometry/nontemporal.h"
#include "geometry/transpose.h"

/* Side of a block of a transposing copy, in elements; the best of 8 to 256 measured with 8-byte elements. */
#define BLOCK_SIDE 64

/* Copying past the caches pays for large copies of runs of a few cache lines or more. */
#define LEAST_NONTEMPORAL_BYTES ((size_t)256 << 10)
#define LEAST_NONTEMPORAL_RUN_BYTES 256

/* Room for repetitions of the element to fill with; small, so that it stays in the fastest cache. */
#define PATTERN_BYTES 4096

/* The two innermost loops. */
typedef struct plane {
    pp_loop rows;
    pp_loop columns;
    size_t run_bytes;
} plane;

/* Returns false when there is nothing to copy. A fill is a copy whose source stays where it is. */
static bool build_loops(pp_loops *loops, const pp_strided *copy, bool is_fill)
{
    return pp_loops_init(loops, &(pp_loop_box){
                                    .ndim = copy->ndim,
                                    .element_bytes = copy->element_bytes,
                                    .count = copy->count,
                                    .origin = {(uintptr_t)copy->target, (uintptr_t)copy->source},
                                    .to_strides = copy->target_strides,
                                    .from_strides = is_fill ? NULL : copy->source_strides,
                                });
}

/* Whether the innermost loop walks over neighbouring elements of the target. */
static bool has_dense_rows(const pp_loops *loops)
{
    return loops->ndim > 0 && loops->axes[loops->ndim - 1].to == (int64_t)loops->run_bytes;
}

/* The loop in which the source moves in the smallest steps: the innermost one unless the copy transposes. */
static int fastest_in_source(const pp_loops *loops)
{
    int best = loops->ndim - 1, d;
    for (d = best - 1; d >= 0; d--)
        if (loops->axes[d].from != 0 && llabs(loops->axes[d].from) < llabs(loops->axes[best].from))
            best = d;
    return best;
}

static void move_next_to_innermost(pp_loops *loops, int d)
{
    pp_loop moved = loops->axes[d];
    for (; d < loops->ndim - 2; d++)
        loops->axes[d] = loops->axes[d + 1];
    loops->axes[d] = moved;
}

/* Inlined with a constant number of bytes, so that memcpy becomes plain moves at any alignment. */
static inline __attribute__((always_inline)) void copy_runs(pp_place at, pp_loop rows, pp_loop columns, size_t bytes)
{
    int64_t row, column;
    for (row = 0; row < rows.count; row++) {
        unsigned char *to = (unsigned char *)(uintptr_t)at.to + row * rows.to;
        const unsigned char *from = (const unsigned char *)(uintptr_t)at.from + row * rows.from;
        for (column = 0; column < columns.count; column++)
            memcpy(to + column * columns.to, from + column * columns.from, bytes);
    }
}

static void copy_plane(pp_place at, const plane *whole)
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

/* Row by row: what is written lies together. The last tile of a row or column ends with the block, and may write some
 * of what the one before it has written once more. */
static void copy_in_tiles(pp_place at, const plane *block, int64_t side)
{
    pp_loop rows = block->rows, columns = block->columns;
    int64_t last_row = rows.count - side, last_column = columns.count - side, row, column;
    for (row = 0; row < rows.count; row += side) {
        unsigned char *to = (unsigned char *)(uintptr_t)at.to + pp_min_i64(row, last_row) * rows.to;
        const unsigned char *from = (const unsigned char *)(uintptr_t)at.from + pp_min_i64(row, last_row) * rows.from;
        for (column = 0; column < columns.count; column += side)
            pp_transpose_tile(&(pp_tile){.target = to + pp_min_i64(column, last_column) * columns.to,
                                         .target_stride = rows.to,
                                         .source = from + pp_min_i64(column, last_column) * columns.from,
                                         .source_stride = columns.from},
                              block->run_bytes);
    }
}

static void copy_block(pp_place at, const plane *block)
{
    int64_t run = (int64_t)block->run_bytes, side = pp_transpose_side(block->run_bytes);
    bool has_tiles = side > 0 && block->rows.from == run && block->columns.to == run && block->rows.count >= side &&
                     block->columns.count >= side;
    if (has_tiles)
        copy_in_tiles(at, block, side);
    else
        copy_plane(at, block);
}

/* For rows that are the source's fastest loop and columns that are the target's: a block of both fits in cache,
 * so that each cache line is fetched once and used whole. */
static void copy_plane_in_blocks(pp_place at, const plane *whole)
{
    plane block = *whole;
    int64_t row, column;
    for (column = 0; column < whole->columns.count; column += BLOCK_SIDE) {
        pp_place top = pp_loop_step(at, whole->columns, column);
        block.columns.count = pp_min_i64(BLOCK_SIDE, whole->columns.count - column);
        for (row = 0; row < whole->rows.count; row += BLOCK_SIDE) {
            block.rows.count = pp_min_i64(BLOCK_SIDE, whole->rows.count - row);
            copy_block(pp_loop_step(top, whole->rows, row), &block);
        }
    }
}

static void copy_plane_past_caches(pp_place at, const plane *whole)
{
    int64_t row, column;
    for (row = 0; row < whole->rows.count; row++)
        for (column = 0; column < whole->columns.count; column++) {
            pp_place run = pp_loop_step(pp_loop_step(at, whole->rows, row), whole->columns, column);
            pp_nontemporal_copy((void *)(uintptr_t)run.to, (const void *)(uintptr_t)run.from, whole->run_bytes);
        }
}

typedef void (*copy_of_plane)(pp_place at, const plane *whole);

static void run_loops(pp_loops *loops, copy_of_plane wanted)
{
    static const pp_loop once = {1, 0, 0};
    int64_t position[PARAPET_MAX_NDIM] = {0};
    int ndim = loops->ndim;
    int fastest = fastest_in_source(loops);
    copy_of_plane copy = fastest == ndim - 1 ? wanted : copy_plane_in_blocks;
    pp_place at = loops->origin;
    plane inner;
    if (fastest < ndim - 1)
        move_next_to_innermost(loops, fastest);
    inner.columns = ndim > 0 ? loops->axes[ndim - 1] : once;
    inner.rows = ndim > 1 ? loops->axes[ndim - 2] : once;
    inner.run_bytes = loops->run_bytes;
    do
        copy(at, &inner);
    while (pp_loops_next(loops, ndim - 2, position, &at));
}

static bool goes_past_caches(const pp_strided *copy, const pp_loops *loops)
{
    size_t bytes = copy->element_bytes;
    int d;
    for (d = 0; d < copy->ndim; d++)
        bytes *= (size_t)copy->count[d];
    return copy->is_nontemporal && loops->run_bytes >= LEAST_NONTEMPORAL_RUN_BYTES &&
           bytes >= LEAST_NONTEMPORAL_BYTES;
}

void pp_strided_copy(const pp_strided *copy)
{
    pp_loops loops;
    if (!build_loops(&loops, copy, false))
        return;
    pp_loops_lengthen_run(&loops);
    if (!goes_past_caches(copy, &loops)) {
        run_loops(&loops, copy_plane);
        return;
    }
    run_loops(&loops, copy_plane_past_caches);
    pp_nontemporal_end();
}

/* Copies a pattern of that many elements over dense rows as often as it fits; the rest of each row stays. */
static void fill_with_pattern(pp_loops loops, const unsigned char *pattern, int64_t elements)
{
    pp_loop *inner = &loops.axes[loops.ndim - 1];
    loops.run_bytes *= (size_t)elements;
    loops.origin.from = (uintptr_t)pattern;
    *inner = (pp_loop){inner->count / elements, (int64_t)loops.run_bytes, 0};
    if (inner->count == 1)
        loops.ndim--;
    run_loops(&loops, copy_plane);
}

static void fill_dense_rows(const pp_loops *loops)
{
    unsigned char pattern[PATTERN_BYTES];
    pp_loops rest = *loops;
    pp_loop *inner = &rest.axes[rest.ndim - 1];
    int64_t elements = pp_min_i64(inner->count, (int64_t)(sizeof pattern / loops->run_bytes)), i;
    for (i = 0; i < elements; i++)
        memcpy(pattern + (size_t)i * loops->run_bytes, (const void *)(uintptr_t)loops->origin.from, loops->run_bytes);
    fill_with_pattern(*loops, pattern, elements);
    rest.origin = pp_loop_step(rest.origin, *inner, inner->count / elements * elements);
    inner->count %= elements;
    if (inner->count > 0)
        fill_with_pattern(rest, pattern, inner->count);
}

void pp_strided_fill(const pp_strided *fill)
{
    pp_loops loops;
    if (!build_loops(&loops, fill, true))
        return;
    if (has_dense_rows(&loops) && loops.run_bytes <= PATTERN_BYTES / 2)
        fill_dense_rows(&loops);
    else
        run_loops(&loops, copy_plane);
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
