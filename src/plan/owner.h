/* owner.h - who owns a shard. The home of a shard is known to all by arithmetic; it has the claims on the shard, and
 * proposes an owner. One strategy per file, all of the same shape:
 *
 *     owner_in_turn.c   the home itself
 *     owner_nearest.c   the server that holds most of the shard; proposals.h keeps that within everybody's share
 */
#ifndef PARAPET_PLAN_OWNER_H
#define PARAPET_PLAN_OWNER_H

#include "plan/proposals.h"
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

/* Index of the server that the shard of a group of the list is proposed to; *held: the elements of it that this
 * server holds. */
typedef int (*pp_owner_choice)(const pp_owner_case *owner_case, size_t first, size_t end, int64_t *held);

typedef struct pp_owner_strategy {
    bool moves; /* whether an owner may differ from the home */
    pp_owner_choice nearest;
} pp_owner_strategy;

extern const pp_owner_strategy pp_owner_in_turn;
extern const pp_owner_strategy pp_owner_nearest;

/* What the home proposes for the shard of a group of its list. */
void pp_owner_propose(const pp_owner_case *owner_case, const pp_owner_strategy *strategy, size_t first, size_t end,
                      pp_proposal *proposal);

#endif
