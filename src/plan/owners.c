#include "plan/owners.h"

#include <stdio.h>

#include "base/choice.h"
#include "base/status.h"

const pp_owner_strategy *pp_owner_strategy_of(parapet_owners owners)
{
    switch (owners) {
    case PARAPET_OWNERS_NEAREST:
        return &pp_owner_nearest;
    case PARAPET_OWNERS_IN_TURN:
        return &pp_owner_in_turn;
    case PARAPET_OWNERS_CHOOSE:
        break;
    }
    return NULL;
}

/* Weights say how often a server has its turn; stealing begins with the nearest owners. */
parapet_owners pp_owners_for(parapet_sharing sharing, bool is_kept)
{
    return sharing == PARAPET_SHARING_WEIGHTS || is_kept ? PARAPET_OWNERS_IN_TURN : PARAPET_OWNERS_NEAREST;
}

static parapet_status need(const char *what, const pp_choice *choice, int wanted, int found)
{
    if (found == wanted)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT, "%s needs %s %s, not %s", what, choice->name,
                   pp_choice_word_of(choice, wanted)->word, pp_choice_word_of(choice, found)->word);
}

/* To a server that does not own the same shards in the next call, what was kept is of no use. */
static parapet_status check_kept(parapet_owners owners, parapet_sharing sharing, const char *kept)
{
    parapet_status status = need(kept, &pp_choice_sharing, PARAPET_SHARING_EQUAL, (int)sharing);
    return status == PARAPET_OK ? need(kept, &pp_choice_owners, PARAPET_OWNERS_IN_TURN, (int)owners) : status;
}

parapet_status pp_owners_choose(parapet_owners *owners, parapet_sharing sharing, const char *kept)
{
    char what[32];
    if (*owners == PARAPET_OWNERS_CHOOSE)
        *owners = pp_owners_for(sharing, kept != NULL);
    if (kept != NULL)
        return check_kept(*owners, sharing, kept);
    if (sharing == PARAPET_SHARING_EQUAL)
        return PARAPET_OK;
    (void)snprintf(what, sizeof what, "%s %s", pp_choice_sharing.name,
                   pp_choice_word_of(&pp_choice_sharing, (int)sharing)->word);
    return need(what, &pp_choice_owners, (int)pp_owners_for(sharing, false), (int)*owners);
}
