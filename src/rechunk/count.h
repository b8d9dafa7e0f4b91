/* count.h - what a pass reads, writes and holds, counted exactly from its shapes: no formula is a bound here unless
 * its comment says so.
 *
 * All counts are products over the dimensions, because templates, work units and chunks are boxes. Along a dimension
 * the templates repeat: what a template touches of the source depends only on where in a source chunk it starts and
 * how long it is. Counts that 63 bits cannot hold are INT64_MAX. */
#ifndef PARAPET_RECHUNK_COUNT_H
#define PARAPET_RECHUNK_COUNT_H

#include "base/checked.h"
#include "rechunk/rechunk.h"

static inline int64_t pp_add_saturating(int64_t a, int64_t b)
{
    int64_t sum;
    return pp_add_fits(a, b, &sum) ? sum : INT64_MAX;
}

/* For factors >= 0. */
static inline int64_t pp_multiply_saturating(int64_t a, int64_t b)
{
    int64_t product;
    return pp_multiply_fits(a, b, &product) ? product : INT64_MAX;
}

/* One dimension of a pass, against the source's chunks or its shards. */
typedef struct pp_rechunk_axis {
    int64_t extent, work_unit, template_extent;
    int64_t cell;  /* of the source's grid */
    int64_t phase; /* position of element 0 in its cell */
} pp_rechunk_axis;

/* Templates along an axis that start at the same position in a cell and have the same length. */
typedef struct pp_rechunk_slice {
    int64_t phase; /* position of the first element in its cell */
    int64_t count; /* elements */
    int64_t times; /* templates like this */
} pp_rechunk_slice;

pp_rechunk_axis pp_rechunk_axis_of_chunks(const int64_t *shape, const pp_rechunk_pass *pass, int d);
pp_rechunk_axis pp_rechunk_axis_of_shards(const int64_t *shape, const pp_rechunk_pass *pass, int d);

/* Calls visit for slices that together are all templates along the axis; no more calls than templates, and fewer when
 * they repeat. The same slice may come twice. */
void pp_rechunk_axis_walk(const pp_rechunk_axis *axis, void (*visit)(void *context, const pp_rechunk_slice *slice),
                          void *context);

/* Cells of the source that a slice touches. */
int64_t pp_rechunk_slice_cells(const pp_rechunk_axis *axis, const pp_rechunk_slice *slice);

/* The largest number of cells that any template along the axis touches; 0: there is no template. */
int64_t pp_rechunk_axis_cells_most(const pp_rechunk_axis *axis);

/* Target chunks of the largest template. */
int64_t pp_rechunk_template_chunks(int ndim, const int64_t *shape, const pp_rechunk_pass *pass);

/* Fills pass->work_unit_shape from template and shard. */
void pp_rechunk_set_work_unit(int ndim, const int64_t *shape, pp_rechunk_pass *pass);

/* Fills pass->counts for all ranks; with pass->cooperates, what one group of work units reads together counts once.
 * The template, work unit, order, reads_runs and group must be set. Ranks that cooperate read whole chunks:
 * reads_runs is then ignored. A source without shards has no index to read. */
void pp_rechunk_count(int ndim, const int64_t *shape, int ranks, pp_rechunk_pass *pass);

/* count_open_chunks.c: the largest number of target chunks that are open at once when the source chunks of a template
 * are visited in pass->order. A chunk opens with the visit of the first source chunk that has some of it, and closes
 * after the last. Exact, unless the search for the worst place is cut short: after a million places, with more than
 * 4096 combinations of lengths that templates have along the dimensions (which takes at least eight dimensions), or
 * without memory for the search. Then it is an upper bound. */
int64_t pp_rechunk_open_chunks(int ndim, const int64_t *shape, const pp_rechunk_pass *pass);

/* A line of the cache. */
#define PP_RECHUNK_LINE_BYTES 64

/* pass_memory.c: the most source chunks that an item may have. Several, if each has less than a line of the cache of
 * the target's fastest dimension, in which its own elements do not lie together: as many as fill a line. They are
 * visited one after the other and have elements of the same target chunks, so what is open is the same as one by one.
 */
int64_t pp_rechunk_item_chunks_most(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass);

/* pass_memory.c: sizes pass->memory: the smallest that works, then, as far as limit_bytes allows, more items and
 * chunk buffers for overlap, larger items, and larger write buffers. False: even the smallest does not fit;
 * memory.memory_bytes is then the smallest. The larger the limit, the larger memory_bytes. */
bool pp_rechunk_size_memory(const pp_rechunk_problem *problem, int64_t limit_bytes, pp_rechunk_pass *pass);

/* cost.c: what the machine needs for the pass, in seconds; fills pass->seconds. Counts and memory must be set. The
 * busiest rank decides, that with the largest number of work units: read  = requests * request_seconds (or
 * run_seconds) + stored bytes / read rate work  = (decode + scatter + encode) / workers that have a core write =
 * stored bytes / write rate + flushes time  = the longest of the three and three quarters of the others, and for
 * every template what is open at its edges; all of them, one after the other, when there is no memory for more and no
 * less than the storage needs for what all ranks read and write. Ranks that work at the same time share the limits of
 * the disk and the cores. Cooperating ranks read equal parts, then exchange, then write: nothing overlaps. */
void pp_rechunk_predict(const pp_rechunk_problem *problem, pp_rechunk_pass *pass);

#endif
