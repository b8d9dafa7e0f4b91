#include "plan/owner.h"

int pp_home_of(const pp_target *target, int64_t shard, int server_count)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_grid_cell_position(&target->tiling->shards, shard, cell);
    return pp_lattice_turn(target->lattice, target->tiling->shards.ndim, cell, server_count);
}

const pp_owner_strategy *pp_owner_strategy_of(parapet_ownership ownership)
{
    switch (ownership) {
    case PARAPET_OWNERSHIP_ROUND_ROBIN:
        return &pp_owner_round_robin;
    case PARAPET_OWNERSHIP_LOCALITY:
    case PARAPET_OWNERSHIP_DYNAMIC:
        return &pp_owner_locality;
    case PARAPET_OWNERSHIP_CHOOSE:
        break;
    }
    return NULL;
}
