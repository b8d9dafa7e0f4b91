/* session.h - what reading and writing share: who holds what, as a client sees it and as a server sees it. */
#ifndef PARAPET_TRANSFER_SESSION_H
#define PARAPET_TRANSFER_SESSION_H

#include "plan/pieces.h"
#include "plan/point_claims.h"
#include "transfer/claim_view.h"
#include "transfer/peers.h"
#include "transfer/transfer.h"

/* How many elements of a shard, or of one of its chunks, are claimed by the records from first to end (not
 * included), which must have no elements in common. */
int64_t pp_view_covered_shard(const pp_view *view, size_t first, size_t end);
int64_t pp_view_covered_chunk(const pp_view *view, size_t first, size_t end, int64_t chunk);

typedef struct pp_session {
    const pp_team *team; /* NULL: this rank reads for itself, or trims on behalf of all of them */
    const pp_transfer_array *arrays;
    int array_count;
    pp_budget *budget;
    pp_target *targets;
    pp_view own;    /* this rank's parts, and every shard they touch */
    pp_view served; /* all claims on the shards that this rank owns; empty if it serves its own */
    pp_peers peers; /* ranks behind the claims in `served` */
    pp_list owned;  /* shards that other homes assigned to this rank: pairs of target and shard, sorted */
    int rank, rank_count;
    pp_direction direction;
    bool is_alone;   /* rank_count is 1 */
    bool serves_own; /* it serves its own claims and no others: it is alone, or every rank does so */
    bool trims;      /* what is outside the array is dropped */
    size_t fragment_bytes;
    size_t enough_bytes; /* the limit that a refusal of memory for lists names */
} pp_session;

/* [collective] Describes the parts, unless a kept description fits, and fixes owners. Every rank must take part until
 * the end; the status is that of this rank. Clear it even after a failure. */
parapet_status pp_session_build(pp_session *session, pp_direction direction, const pp_team *team,
                                const pp_transfer_array *arrays, int array_count);

/* [local] As pp_session_build, for this rank alone, however many there are. Clear it even after a failure. */
parapet_status pp_session_build_alone(pp_session *session, const pp_transfer_array *array);

/* [local] The same for picks of one array, in as many shards as they touch. */
parapet_status pp_session_build_points(pp_session *session, const pp_transfer_array *array,
                                       const pp_point_claims *picked);

/* What the lists of such a session take at most. *shard_count: how many shards the parts touch; one that
 * several parts touch counts several times. */
size_t pp_session_list_bytes(const pp_transfer_array *array, int64_t *shard_count);

/* [local] After an array shrank in the marked dimensions: nothing is claimed, and the shards at its new edge are
 * served. The rank works alone, however many there are. Clear it even after a failure. */
parapet_status pp_session_build_trim(pp_session *session, const pp_transfer_array *array, const bool *is_shrunk);

/* [local] Nothing is claimed, and these shards are served, to be written again as they are. */
parapet_status pp_session_build_again(pp_session *session, const pp_transfer_array *array, const int64_t *shards,
                                      size_t count);
void pp_session_clear(pp_session *session);

/* [local] After all ranks have agreed on this session: keeps its description if the team has a cache of them.
 * Call pp_session_clear next. */
void pp_session_keep(pp_session *session);

/* The first forgets what was served. The second serves the shards in `owned`, which the caller has filled in
 * together with the claims on them. */
void pp_session_serve_nothing(pp_session *session);
parapet_status pp_session_serve_owned(pp_session *session);

/* Of one array. */
const pp_transfer_context *pp_session_context(const pp_session *session, int target);

/* What this rank serves. */
const pp_view *pp_session_served(const pp_session *session);

/* Whether some claim that this rank serves belongs to another rank. */
bool pp_session_has_remote(const pp_session *session);

/* Whether some of those can be reached without messages. */
bool pp_session_uses_direct(const pp_session *session);

/* Groups of the served list: shards that this rank owns. */
int64_t pp_session_shard_count(const pp_session *session);

/* The largest number of other ranks that hold parts of one of these shards. */
int64_t pp_session_rank_most(const pp_session *session);

/* Whether some records of the served list, those of a shard, are more than one for ranks that are reached by
 * messages: they may have elements in common. */
bool pp_session_sends_several(const pp_session *session, size_t first, size_t end);

/* Elements of a chunk, whose box is box, that they have for such ranks; what several have counts as often. */
int64_t pp_session_sent_elements(const pp_session *session, size_t first, size_t end, int64_t chunk,
                                 const pp_box *box);

/* How often elements of a shard are sent, on average over the box in which their claims lie; of the shard where this
 * is largest. 1: claims that are apart, or none. */
int64_t pp_session_copies(const pp_session *session);

#endif
