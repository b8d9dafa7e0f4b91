/* session.h - what reading and writing share: who holds what, as a client sees it and as a server sees it. */
#ifndef PARAPET_TRANSFER_SESSION_H
#define PARAPET_TRANSFER_SESSION_H

#include "plan/pieces.h"
#include "transfer/peers.h"
#include "transfer/transfer.h"

/* Claims, and the shards they touch. */
typedef struct pp_view {
    pp_claims claims;
    pp_worklist list;
    pp_claim_set plan; /* of the claims */
} pp_view;

typedef struct pp_owned {
    int64_t *shards; /* pairs of target and shard, sorted */
    size_t count, capacity;
} pp_owned;

typedef struct pp_session {
    const pp_team *team;
    const pp_transfer_array *arrays;
    int array_count;
    pp_budget *budget;
    pp_target *targets;
    pp_view own;    /* this rank's parts, and every shard they touch */
    pp_view served; /* all claims on the shards that this rank owns; empty on one rank, which serves its own */
    pp_peers peers; /* ranks behind the claims in `served` */
    pp_owned owned; /* shards that other homes have given to this rank */
    bool is_alone;
} pp_session;

/* [collective] Describes the parts, fixes owners. Every rank must take part to the end; the status is this rank's
 * own. Clear it also after a failure. */
parapet_status pp_session_build(pp_session *session, const pp_team *team, const pp_transfer_array *arrays,
                                int array_count);
void pp_session_clear(pp_session *session);

/* What this rank serves. */
const pp_view *pp_session_served(const pp_session *session);

/* Whether some claim in what this rank serves is of another rank. */
bool pp_session_has_remote(const pp_session *session);

/* Whether some of those can be reached without messages. */
bool pp_session_uses_direct(const pp_session *session);

/* Groups of the served list: shards that this rank owns. */
int64_t pp_session_shard_count(const pp_session *session);

/* The most other ranks that have something of one of these shards. */
int64_t pp_session_rank_most(const pp_session *session);

#endif
