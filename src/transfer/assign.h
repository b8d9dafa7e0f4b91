/* assign.h - the homes of shards find owners for them, together: see plan/proposals.h. Or they find out that none are
 * needed: see plan/self_service.h. */
#ifndef PARAPET_TRANSFER_ASSIGN_H
#define PARAPET_TRANSFER_ASSIGN_H

#include "transfer/session.h"

/* The owners of the shards of a home, as indices of servers, in the order of its list. */
typedef struct pp_assignment {
    pp_list owners;  /* of int32_t */
    bool has_moved;  /* some shard of some home goes elsewhere: the same on every rank. false: owners is empty */
    bool serves_own; /* instead of owners, every rank reads its parts itself: the same on every rank */
} pp_assignment;

/* [collective] home has the shards whose home this rank is, with all claims on them; `before` is the status so far.
 * Returns the status of this rank; if any rank has failed, both are false. Clear it even after a failure. */
parapet_status pp_assignment_init(pp_assignment *assignment, const pp_session *session, const pp_view *home,
                                  parapet_status before);
void pp_assignment_clear(pp_assignment *assignment);

/* Index of this rank among the servers; -1: it is none. */
int pp_session_server(const pp_session *session);

#endif
