#include "copy/view.h"

void pp_copy_view_init(pp_copy_view *view, int ndim, const int64_t *shape)
{
    int d;
    *view = (pp_copy_view){.ndim = ndim};
    for (d = 0; d < ndim; d++) {
        view->shape[d] = shape[d];
        view->axis[d] = d;
    }
}

void pp_copy_view_box(const pp_copy_view *view, const pp_box *target, pp_box *source)
{
    int d;
    source->ndim = view->ndim;
    for (d = 0; d < view->ndim; d++) {
        int a = view->axis[d];
        int64_t first =
            view->is_reversed[d] ? view->shape[d] - target->start[d] - target->count[d] : target->start[d];
        source->start[a] = view->start[d] + first;
        source->count[a] = target->count[d];
    }
}

/* Where element 0 of the target lies in its shard. Reversed, a shard begins at the element after its last one in the
 * source, so borders are counted from the end of what is copied. */
static int64_t origin_of(const pp_copy_view *view, int d, int64_t shard)
{
    if (!view->is_reversed[d])
        return view->start[d] % shard;
    return (shard - (view->start[d] + view->shape[d]) % shard) % shard;
}

void pp_copy_view_side(const pp_copy_view *view, const pp_layout *layout, pp_rechunk_side *side)
{
    int d;
    for (d = 0; d < view->ndim; d++) {
        int a = view->axis[d];
        side->chunk[d] = layout->tiling.chunks.cell_shape[a];
        side->shard[d] = layout->tiling.shards.cell_shape[a];
        side->origin[d] = origin_of(view, d, side->shard[d]);
        side->stored_order[a] = d;
    }
}
