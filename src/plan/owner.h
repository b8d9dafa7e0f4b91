/* owner.h - who owns a shard. The home of a shard is known to all by arithmetic; it has the claims on the shard, and
 * decides. One strategy per file, all of the same shape:
 *
 *     owner_round_robin.c   the home itself
 *     owner_locality.c      the server that holds most of the shard, as long as no home overloads it
 */
#ifndef PARAPET_PLAN_OWNER_H
#define PARAPET_PLAN_OWNER_H

#include "plan/worklist.h"

/* Index of the home of a shard among the servers: the same in every call, whatever else the call moves. */
int pp_home_of(const pp_target *target, int64_t shard, int server_count);

/* What a home decides from. */
typedef struct pp_owner_case {
    const pp_claim_set *plan;
    const pp_worklist *list; /* the shards of this home, with all claims on them */
    const int *servers;      /* ranks in ascending order */
    int server_count;
    int home; /* index of this home */
} pp_owner_case;

/* Fills owners[group] with the index of the owner for every group of the list, in order. */
typedef parapet_status (*pp_owner_choose)(const pp_owner_case *owner_case, int *owners);

typedef struct pp_owner_strategy {
    bool moves; /* whether an owner may differ from the home */
    pp_owner_choose choose;
} pp_owner_strategy;

extern const pp_owner_strategy pp_owner_round_robin;
extern const pp_owner_strategy pp_owner_locality;

/* NULL: no such strategy. */
const pp_owner_strategy *pp_owner_strategy_of(parapet_ownership ownership);

#endif
