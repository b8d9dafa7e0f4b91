/* session_cache.h - descriptions of earlier calls, for calls that move the same parts again.
 *
 * Who holds what depends on how the arrays are divided, on where the homes of their shards are, and on the boxes
 * of all parts; not on which arrays they are. If these are as in a call whose description all ranks have kept,
 * the ranks need not describe their parts again. If parts are at other addresses, only those are sent, and only
 * if servers copy directly.
 *
 * Every rank keeps its own half of a description, in the same slot as the others, or has nothing in that slot.
 * Which slot is used is agreed on where the call begins. What is kept is lent to the budget. */
#ifndef PARAPET_TRANSFER_SESSION_CACHE_H
#define PARAPET_TRANSFER_SESSION_CACHE_H

#include "transfer/claim_view.h"
#include "transfer/peers.h"
#include "transfer/transfer.h"

#define PP_SESSION_CACHE_COUNT 16

/* What a rank knows of a call: what it holds, what it serves, and the ranks behind that. */
typedef struct pp_description {
    pp_view own, served;
    pp_peers peers;
} pp_description;

parapet_status pp_session_cache_build(pp_session_cache **kept, pp_budget *budget);
void pp_session_cache_free(pp_session_cache *kept);

/* Finds the slots whose description fits this rank's parts in the call that begins, and returns them as bits
 * for an agreement; 0: none. Until pp_session_cache_choose these slots are in use, so that no other thread of
 * this rank can have one given back that was announced. */
uint64_t pp_session_cache_find(pp_session_cache *kept, const pp_team *team, const pp_transfer_array *arrays,
                               int array_count);

/* Chooses the slot that the next session uses, from the bits that all ranks have in common; 0: none. A call
 * that ends, however far it has come, chooses none. false: none was chosen. */
bool pp_session_cache_choose(pp_session_cache *kept, uint64_t common);

/* The description that was chosen. *has_moved: some rank's parts are at other addresses than it says. The claims of
 * this rank have the addresses of the earlier call. */
void pp_session_cache_take(pp_session_cache *kept, pp_description *taken, bool *has_moved);

/* Keeps the description of these arrays in this call; the caller has it no more. All ranks do so, or none. */
void pp_session_cache_put(pp_session_cache *kept, const pp_team *team, const pp_transfer_array *arrays,
                          int array_count, pp_description *description);

#endif
