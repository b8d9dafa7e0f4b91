#include "geometry/flat.h"

#include "base/checked.h"
#include "base/status.h"

parapet_status pp_flat_init(pp_flat *flat, int ndim, const int64_t *shape, size_t element_bytes)
{
    int64_t step = 1;
    int d;
    *flat = (pp_flat){.ndim = ndim, .element_bytes = (int64_t)element_bytes};
    for (d = ndim - 1; d >= 0; d--) {
        flat->shape[d] = shape[d];
        flat->step[d] = step;
        if (!pp_multiply_fits(step, shape[d], &step))
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "the number of its elements does not fit into 64 bits");
    }
    if (element_bytes == 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "its elements have no bytes");
    if (!pp_multiply_fits(step, flat->element_bytes, &flat->bytes))
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the number of its bytes does not fit into 64 bits");
    return PARAPET_OK;
}

/* Loops over elements, outermost first: `to` counts elements, `from` bytes. Each dimension adds at most one. */
typedef struct nest {
    int count;
    pp_loop loops[2 * PARAPET_MAX_NDIM + 1];
    int64_t start, offset_bytes;
} nest;

typedef struct visit {
    const pp_flat *flat;
    pp_flat_box_visitor visitor;
    void *context;
} visit;

static parapet_status cut(const visit *all, const nest *given);

static int64_t coordinate(const pp_flat *flat, int64_t element, int d)
{
    return element / flat->step[d] % flat->shape[d];
}

/* The dimension along which a loop steps from neighbour to neighbour, or -1. Dimensions of one element share their
 * step with the one before them, which is meant. */
static int find_dimension(const pp_flat *flat, int64_t step)
{
    int d = 0;
    while (d < flat->ndim && flat->step[d] != step)
        d++;
    return d < flat->ndim ? d : -1;
}

static parapet_status visit_box(const visit *all, const nest *given)
{
    const pp_flat *flat = all->flat;
    pp_flat_box found = {.box.ndim = flat->ndim, .offset_bytes = given->offset_bytes};
    int d, i;
    for (d = 0; d < flat->ndim; d++) {
        found.box.start[d] = coordinate(flat, given->start, d);
        found.box.count[d] = 1;
        found.strides_bytes[d] = flat->element_bytes;
    }
    for (i = 0; i < given->count; i++) {
        d = find_dimension(flat, given->loops[i].to);
        found.box.count[d] = given->loops[i].count;
        found.strides_bytes[d] = given->loops[i].from;
    }
    return all->visitor(all->context, &found);
}

static void advance(nest *at, pp_loop loop, int64_t steps)
{
    at->start += steps * loop.to;
    at->offset_bytes += steps * loop.from;
}

static void drop_loop(nest *at, int i)
{
    for (at->count--; i < at->count; i++)
        at->loops[i] = at->loops[i + 1];
}

/* The same loop with another count; with 1 it is none. */
static parapet_status cut_some(const visit *all, nest *at, int i, int64_t count)
{
    nest some = *at;
    parapet_status status = PARAPET_OK;
    some.loops[i].count = count;
    if (count == 1)
        drop_loop(&some, i);
    if (count > 0)
        status = cut(all, &some);
    advance(at, at->loops[i], count);
    return status;
}

/* The loop in lines of equal length, which a loop around them counts. */
static parapet_status cut_lines(const visit *all, nest *at, int i, int64_t length, int64_t lines)
{
    pp_loop line = at->loops[i], around = {lines, length * line.to, length * line.from};
    nest some = *at;
    parapet_status status;
    int j;
    if (lines == 0)
        return PARAPET_OK;
    some.loops[i].count = length;
    if (lines > 1) {
        for (j = some.count++; j > i; j--)
            some.loops[j] = some.loops[j - 1];
        some.loops[i] = around;
    }
    status = cut(all, &some);
    advance(at, around, lines);
    return status;
}

/* After how many steps a loop has reached the neighbour in some dimension; 0: never. */
static int64_t steps_to_neighbour(const pp_flat *flat, int64_t step)
{
    int d = flat->ndim - 1;
    while (d >= 0 && (flat->step[d] < step || flat->step[d] % step != 0))
        d--;
    return d >= 0 ? flat->step[d] / step : 0;
}

/* A loop that leads from box to box. If it passes several neighbours in a dimension, the boxes reach that far. */
static parapet_status deal_out(const visit *all, const nest *given, int i)
{
    pp_loop loop = given->loops[i];
    int64_t length = steps_to_neighbour(all->flat, loop.to), step;
    parapet_status status = PARAPET_OK;
    nest one = *given;
    if (length > 0 && loop.count / length > 1) {
        status = cut_lines(all, &one, i, length, loop.count / length);
        return status == PARAPET_OK ? cut_some(all, &one, i, loop.count % length) : status;
    }
    drop_loop(&one, i);
    for (step = 0; step < loop.count && status == PARAPET_OK; step++) {
        advance(&one, loop, step > 0);
        status = cut(all, &one);
    }
    return status;
}

/* A loop along dimension d that reaches beyond its end: what is left of the line, whole lines, and the rest. */
static parapet_status split(const visit *all, const nest *given, int i, int d)
{
    int64_t length = all->flat->shape[d], at = coordinate(all->flat, given->start, d);
    int64_t head = at > 0 ? length - at : 0, rest = given->loops[i].count - head;
    nest left = *given;
    parapet_status status;
    if ((status = cut_some(all, &left, i, head)) != PARAPET_OK ||
        (status = cut_lines(all, &left, i, length, rest / length)) != PARAPET_OK)
        return status;
    return cut_some(all, &left, i, rest % length);
}

static parapet_status cut(const visit *all, const nest *given)
{
    const pp_flat *flat = all->flat;
    int i, d;
    for (i = 0; i < given->count; i++) {
        if ((d = find_dimension(flat, given->loops[i].to)) < 0)
            return deal_out(all, given, i);
        if (given->loops[i].count > flat->shape[d] - coordinate(flat, given->start, d))
            return split(all, given, i, d);
    }
    return visit_box(all, given);
}

static bool is_whole(const pp_flat *flat, const pp_loops *loops)
{
    int64_t unit = flat->element_bytes;
    int i;
    for (i = 0; i < loops->ndim; i++)
        if (loops->axes[i].to % unit != 0)
            return false;
    return (int64_t)loops->run_bytes % unit == 0 && (int64_t)loops->origin.to % unit == 0;
}

parapet_status pp_flat_visit_boxes(const pp_flat *flat, const pp_loops *loops, pp_flat_box_visitor visitor,
                                   void *context)
{
    visit all = {flat, visitor, context};
    int64_t unit = flat->element_bytes, first = (int64_t)loops->origin.to;
    nest whole = {.start = first / unit, .offset_bytes = (int64_t)loops->origin.from};
    int i;
    if (!is_whole(flat, loops))
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "it selects parts of elements: the run of %lld bytes at byte %lld, or what follows at the same "
            "distances, does not consist of whole elements of %lld bytes",
            (long long)loops->run_bytes, (long long)first, (long long)unit);
    for (i = 0; i < loops->ndim; i++)
        whole.loops[whole.count++] = (pp_loop){loops->axes[i].count, loops->axes[i].to / unit, loops->axes[i].from};
    if ((int64_t)loops->run_bytes > unit)
        whole.loops[whole.count++] = (pp_loop){(int64_t)loops->run_bytes / unit, 1, unit};
    return cut(&all, &whole);
}
