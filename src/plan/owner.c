#include "plan/owner.h"

#include "base/checked.h"

int pp_home_of(const pp_target *target, int64_t shard, int server_count)
{
    int64_t cell[PARAPET_MAX_NDIM];
    int ndim = target->tiling->shards.ndim;
    pp_grid_cell_position(&target->tiling->shards, shard, cell);
    if (target->turns == NULL)
        return pp_lattice_turn(target->lattice, ndim, cell, server_count);
    return target->turns->servers[pp_lattice_turn(target->lattice, ndim, cell, target->turns->count)];
}

/* Parts of a read may overlap, but what they share is read once. */
void pp_owner_propose(const pp_owner_case *owner_case, const pp_owner_strategy *strategy, size_t first, size_t end,
                      pp_proposal *proposal)
{
    const pp_work *work = &owner_case->list->work[first];
    const pp_tiling *tiling = owner_case->plan->targets[work->target].tiling;
    int64_t element_bytes = (int64_t)tiling->element_bytes, covered, held;
    pp_box box;
    pp_tiling_shard_box(tiling, work->shard, &box);
    covered = pp_worklist_covered_shard(owner_case->list, owner_case->plan, first, end, &box);
    *proposal = (pp_proposal){.target = work->target,
                              .shard = work->shard,
                              .load_bytes = pp_min_i64(covered, pp_box_element_count(&box)) * element_bytes,
                              .home = owner_case->home,
                              .owner = PP_NO_OWNER};
    proposal->server = strategy->nearest(owner_case, first, end, &held);
    proposal->held_bytes = held * element_bytes;
}
