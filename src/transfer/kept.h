/* kept.h - descriptions of earlier calls, for calls that move the same parts again.
 *
 * Who holds what depends on how the arrays are divided, on where the homes of their shards are, and on the boxes of
 * all parts; not on which arrays they are. If these are as in a call whose description is kept on all ranks, nobody
 * has to tell it again. Where the parts are in memory may have changed: only that is told then, and only if servers
 * copy from or to there directly.
 *
 * Every rank keeps its own half of a description in the same slot as the others, or has nothing in that slot. All
 * find out together which slot is used, where the call begins. What is kept is lent to the budget. */
#ifndef PARAPET_TRANSFER_KEPT_H
#define PARAPET_TRANSFER_KEPT_H

#include "transfer/peers.h"
#include "transfer/transfer.h"
#include "transfer/view.h"

#define PP_KEPT_COUNT 16

/* What a rank knows of a call: what it holds, what it serves, and the ranks behind that. */
typedef struct pp_description {
    pp_view own, served;
    pp_peers peers;
} pp_description;

parapet_status pp_kept_build(pp_kept **kept, pp_budget *budget);
void pp_kept_free(pp_kept *kept);

/* Which slots describe the parts of this rank, as bits for an agreement; 0: none. arrays: of the call that begins.
 * From here until the choice they are in use: what a rank has announced cannot be given back by its other threads. */
uint64_t pp_kept_find(pp_kept *kept, const pp_team *team, const pp_transfer_array *arrays, int array_count);

/* These bits all ranks have in common: the session that is built next uses one of their slots, or, for 0, none. A
 * call that ends, however far it has come, chooses none. */
void pp_kept_choose(pp_kept *kept, uint64_t common);

/* The description for this session; false: all ranks have to describe their parts. *has_moved: some rank's parts are
 * at other addresses than it says. The claims of this rank have the addresses of the earlier call. */
bool pp_kept_take(pp_kept *kept, pp_description *taken, bool *has_moved);

/* Keeps the description of these arrays in this call; the caller has it no more. All ranks do so, or none. */
void pp_kept_put(pp_kept *kept, const pp_team *team, const pp_transfer_array *arrays, int array_count,
                 pp_description *description);

#endif
