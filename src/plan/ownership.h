/* ownership.h - the strategy that the option "ownership" of a store names. */
#ifndef PARAPET_PLAN_OWNERSHIP_H
#define PARAPET_PLAN_OWNERSHIP_H

#include <parapet_store.h>

#include "plan/owner.h"

/* NULL: no such strategy. */
const pp_owner_strategy *pp_owner_strategy_of(parapet_ownership ownership);

#endif
