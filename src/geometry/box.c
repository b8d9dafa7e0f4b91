#include "geometry/box.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/status.h"

static int64_t end_of(const pp_box *box, int d)
{
    return box->start[d] + box->count[d];
}

parapet_status pp_box_init(pp_box *box, int ndim, const int64_t *start, const int64_t *count)
{
    int d;
    if (ndim < 0 || ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a box has %d dimensions, but must have 0 to %d", ndim,
                       PARAPET_MAX_NDIM);
    box->ndim = ndim;
    for (d = 0; d < ndim; d++) {
        int64_t end;
        box->start[d] = start != NULL ? start[d] : 0;
        box->count[d] = count[d];
        if (count[d] < 0)
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the box has a count of %" PRId64 " in dimension %d, but must have 0 or more", count[d],
                           d);
        if (!pp_add_fits(box->start[d], count[d], &end))
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the box ends beyond 64 bits in dimension %d: start %" PRId64 ", count %" PRId64, d,
                           box->start[d], count[d]);
    }
    return PARAPET_OK;
}

bool pp_box_is_empty(const pp_box *box)
{
    int d;
    for (d = 0; d < box->ndim; d++)
        if (box->count[d] == 0)
            return true;
    return false;
}

int64_t pp_box_element_count(const pp_box *box)
{
    int64_t elements = 1;
    int d;
    /* First, because the other counts of an empty box may be too large to multiply. */
    if (pp_box_is_empty(box))
        return 0;
    for (d = 0; d < box->ndim; d++)
        elements *= box->count[d];
    return elements;
}

bool pp_box_intersect(const pp_box *a, const pp_box *b, pp_box *common)
{
    int d;
    common->ndim = a->ndim;
    for (d = 0; d < common->ndim; d++) {
        int64_t start = pp_max_i64(a->start[d], b->start[d]);
        int64_t end = pp_min_i64(end_of(a, d), end_of(b, d));
        common->start[d] = start;
        common->count[d] = end > start ? end - start : 0;
    }
    return !pp_box_is_empty(common);
}

bool pp_box_contains(const pp_box *outer, const pp_box *inner)
{
    int d;
    if (pp_box_is_empty(inner))
        return true;
    for (d = 0; d < inner->ndim; d++)
        if (inner->start[d] < outer->start[d] || end_of(inner, d) > end_of(outer, d))
            return false;
    return true;
}

bool pp_box_equals(const pp_box *a, const pp_box *b)
{
    int d;
    if (a->ndim != b->ndim)
        return false;
    for (d = 0; d < a->ndim; d++)
        if (a->start[d] != b->start[d] || a->count[d] != b->count[d])
            return false;
    return true;
}

void pp_box_print(const pp_box *box, pp_text *text)
{
    int d;
    pp_text_add(text, "[");
    for (d = 0; d < box->ndim; d++)
        pp_text_add(text, "%s%" PRId64 ":%" PRId64, d > 0 ? ", " : "", box->start[d], end_of(box, d));
    pp_text_add(text, "]");
}

bool pp_box_first(const pp_box *box, int64_t *cell)
{
    int d;
    for (d = 0; d < box->ndim; d++)
        cell[d] = box->start[d];
    return !pp_box_is_empty(box);
}

bool pp_box_next(const pp_box *box, int64_t *cell)
{
    int d;
    for (d = box->ndim - 1; d >= 0; d--) {
        if (++cell[d] < end_of(box, d))
            return true;
        cell[d] = box->start[d];
    }
    return false;
}
