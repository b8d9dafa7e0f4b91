#include "plan/owner.h"

int pp_home_of(const pp_target *target, int64_t shard, int server_count)
{
    return (int)((target->first_shard + shard) % server_count);
}

const pp_owner_strategy *pp_owner_strategy_of(int64_t ownership)
{
    switch (ownership) {
    case 1:
        return &pp_owner_round_robin;
    case 2:
        return &pp_owner_locality;
    default:
        return NULL;
    }
}
