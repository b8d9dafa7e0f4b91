#include "plan/ownership.h"

const pp_owner_strategy *pp_owner_strategy_of(parapet_ownership ownership)
{
    switch (ownership) {
    case PARAPET_OWNERSHIP_ROUND_ROBIN:
    case PARAPET_OWNERSHIP_STATIC: /* the homes themselves follow the weights */
    case PARAPET_OWNERSHIP_LASTING:
        return &pp_owner_round_robin;
    case PARAPET_OWNERSHIP_LOCALITY:
    case PARAPET_OWNERSHIP_DYNAMIC:
        return &pp_owner_locality;
    case PARAPET_OWNERSHIP_CHOOSE:
        break;
    }
    return NULL;
}
