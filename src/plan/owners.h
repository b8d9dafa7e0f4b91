/* owners.h - what the options of a store say about owners: the strategy that `owners` names, and what it has to be
 * for `sharing` and for what is kept between calls. */
#ifndef PARAPET_PLAN_OWNERS_H
#define PARAPET_PLAN_OWNERS_H

#include <parapet_store.h>

#include "plan/owner.h"

/* NULL: no such strategy. */
const pp_owner_strategy *pp_owner_strategy_of(parapet_owners owners);

/* The owners that a way of sharing needs, and is_kept: that something is kept for the next calls. */
parapet_owners pp_owners_for(parapet_sharing sharing, bool is_kept);

/* CHOOSE becomes what is needed. PARAPET_ERR_ARGUMENT if these do not fit together; kept: the option for which
 * something is kept, or NULL. */
parapet_status pp_owners_choose(parapet_owners *owners, parapet_sharing sharing, const char *kept);

#endif
