/* work_units.c - the work units of a pass and their templates by their numbers: where each lies. */
#include "base/checked.h"
#include "rechunk/rechunk.h"

/* Splits a number in C order over `counts` into positions. */
static void position_of(int ndim, const int64_t *counts, int64_t number, int64_t *position)
{
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        position[d] = number % counts[d];
        number /= counts[d];
    }
}

static void count_work_units(int ndim, const int64_t *shape, const pp_rechunk_pass *pass, int64_t *counts)
{
    int d;
    for (d = 0; d < ndim; d++)
        counts[d] = pp_divide_up(shape[d], pass->work_unit_shape[d]);
}

static void count_templates(const pp_box *work_unit, const pp_rechunk_pass *pass, int64_t *counts)
{
    int d;
    for (d = 0; d < work_unit->ndim; d++)
        counts[d] = pp_divide_up(work_unit->count[d], pass->template_shape[d]);
}

int64_t pp_rechunk_work_unit_count(int ndim, const int64_t *shape, const pp_rechunk_pass *pass)
{
    int64_t counts[PARAPET_MAX_NDIM];
    count_work_units(ndim, shape, pass, counts);
    return pp_product(ndim, counts);
}

void pp_rechunk_work_unit_box(int ndim, const int64_t *shape, const pp_rechunk_pass *pass, int64_t work_unit,
                              pp_box *box)
{
    int64_t counts[PARAPET_MAX_NDIM], position[PARAPET_MAX_NDIM];
    int d;
    count_work_units(ndim, shape, pass, counts);
    position_of(ndim, counts, work_unit, position);
    *box = (pp_box){.ndim = ndim};
    for (d = 0; d < ndim; d++) {
        box->start[d] = position[d] * pass->work_unit_shape[d];
        box->count[d] = pp_min_i64(pass->work_unit_shape[d], shape[d] - box->start[d]);
    }
}

int64_t pp_rechunk_work_unit_template_count(int ndim, const int64_t *shape, const pp_rechunk_pass *pass,
                                            int64_t work_unit)
{
    int64_t counts[PARAPET_MAX_NDIM];
    pp_box box;
    pp_rechunk_work_unit_box(ndim, shape, pass, work_unit, &box);
    count_templates(&box, pass, counts);
    return pp_product(ndim, counts);
}

void pp_rechunk_template_box(int ndim, const int64_t *shape, const pp_rechunk_pass *pass, int64_t work_unit,
                             int64_t number, pp_box *box)
{
    int64_t counts[PARAPET_MAX_NDIM], position[PARAPET_MAX_NDIM];
    int d;
    pp_rechunk_work_unit_box(ndim, shape, pass, work_unit, box);
    count_templates(box, pass, counts);
    position_of(ndim, counts, number, position);
    for (d = 0; d < ndim; d++) {
        int64_t offset = position[d] * pass->template_shape[d];
        box->start[d] += offset;
        box->count[d] = pp_min_i64(pass->template_shape[d], box->count[d] - offset);
    }
}
