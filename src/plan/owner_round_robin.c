#include "plan/owner.h"

static parapet_status choose(const pp_owner_case *owner_case, int *owners)
{
    const pp_worklist *list = owner_case->list;
    size_t first, group = 0;
    for (first = 0; first < list->count; first = pp_worklist_group_end(list, first))
        owners[group++] = owner_case->home;
    return PARAPET_OK;
}

const pp_owner_strategy pp_owner_round_robin = {.moves = false, .choose = choose};
