#include "base/loops.h"

pp_place pp_loop_step(pp_place at, pp_loop loop, int64_t steps)
{
    return (pp_place){at.to + (uint64_t)loop.to * (uint64_t)steps, at.from + (uint64_t)loop.from * (uint64_t)steps};
}

static void add_loop(pp_loops *loops, pp_loop loop)
{
    int d = loops->ndim++;
    if (loop.to < 0) {
        loops->origin = pp_loop_step(loops->origin, loop, loop.count - 1);
        loop = (pp_loop){loop.count, -loop.to, -loop.from};
    }
    for (; d > 0 && loops->axes[d - 1].to < loop.to; d--)
        loops->axes[d] = loops->axes[d - 1];
    loops->axes[d] = loop;
}

static void merge_loops(pp_loops *loops)
{
    int kept = 0, d;
    for (d = 1; d < loops->ndim; d++) {
        pp_loop *outer = &loops->axes[kept];
        pp_loop inner = loops->axes[d];
        if (outer->to == inner.to * inner.count && outer->from == inner.from * inner.count)
            *outer = (pp_loop){outer->count * inner.count, inner.to, inner.from};
        else
            loops->axes[++kept] = inner;
    }
    if (loops->ndim > 0)
        loops->ndim = kept + 1;
}

bool pp_loops_init(pp_loops *loops, const pp_loop_box *box)
{
    int d;
    loops->ndim = 0;
    loops->run_bytes = box->element_bytes;
    loops->origin = box->origin;
    if (box->element_bytes == 0)
        return false;
    for (d = 0; d < box->ndim; d++)
        if (box->count[d] <= 0)
            return false;
    for (d = 0; d < box->ndim; d++)
        if (box->count[d] > 1)
            add_loop(loops, (pp_loop){box->count[d], box->to_strides[d],
                                      box->from_strides != NULL ? box->from_strides[d] : 0});
    merge_loops(loops);
    return true;
}

void pp_loops_lengthen_run(pp_loops *loops)
{
    const pp_loop *inner = loops->ndim > 0 ? &loops->axes[loops->ndim - 1] : NULL;
    if (inner == NULL || inner->to != (int64_t)loops->run_bytes || inner->from != inner->to)
        return;
    loops->run_bytes *= (size_t)inner->count;
    loops->ndim--;
}

bool pp_loops_next(const pp_loops *loops, int outer, int64_t *position, pp_place *at)
{
    int d;
    for (d = outer - 1; d >= 0; d--) {
        if (++position[d] < loops->axes[d].count) {
            *at = pp_loop_step(*at, loops->axes[d], 1);
            return true;
        }
        position[d] = 0;
        *at = pp_loop_step(*at, loops->axes[d], 1 - loops->axes[d].count);
    }
    return false;
}
