/* pick_post.h - picks and their elements on their way between the ranks that list them and the homes of their shards.
 *
 * Every rank sends its picks to the homes, grouped by home. A home keeps those of each sender in the order in which
 * they come, and with them the memory for their elements, so that elements need no address: they travel as bytes in
 * that order, either way. Everything is a sparse exchange (comm/exchange.h): no rank has a list of pairs of ranks. */
#ifndef PARAPET_TRANSFER_PICK_POST_H
#define PARAPET_TRANSFER_PICK_POST_H

#include "plan/indices.h"
#include "transfer/transfer.h"

/* Picks, and elements in them. */
typedef struct pp_pick_sums {
    int64_t picks, elements;
} pp_pick_sums;

typedef struct pp_pick_post {
    const pp_team *team;
    const pp_target *target;
    const pp_indices *indices;
    pp_budget *budget;
    pp_pick_sums own_sums, served_sums; /* as measured */
    pp_list sums;                       /* one pp_pick_sums for each server: what this rank has for it */
    pp_list senders;                    /* who has something for this home, by rank */
    pp_list own;                        /* picks of this rank, by home */
    pp_index_position rest;             /* where the list goes on behind them */
    pp_list homes;                      /* of these, by rank */
    pp_list served;                     /* picks of all senders, whose places are in: */
    pp_buffer data;
    size_t next_home, next_pick; /* what is sent next */
    pp_failure failure;          /* the first one on this rank */
} pp_pick_post;

void pp_pick_post_init(pp_pick_post *post, const pp_team *team, const pp_target *target, const pp_indices *indices,
                       pp_budget *budget);

/* Empties it, for the next pass or for good; what has failed stays. */
void pp_pick_post_clear(pp_pick_post *post);

/* The most that lists take which grow with the ranks, if there are this many shards. */
size_t pp_pick_post_fixed_bytes(const pp_team *team, int64_t shards);

/* [collective] Finds out how many picks of these shards this rank has, and how many all ranks have for it as a home.
 */
void pp_pick_post_measure(pp_pick_post *post, const pp_shard_range *range);

/* What this rank needs as a home, of what was measured: for picks and elements. */
size_t pp_pick_post_served_bytes(const pp_pick_post *post);

/* [collective] Brings the picks that were measured to their homes. */
void pp_pick_post_deliver(pp_pick_post *post, const pp_shard_range *range);

/* [collective] Brings the elements to the homes, or back. */
void pp_pick_post_send_elements(pp_pick_post *post);
void pp_pick_post_return_elements(pp_pick_post *post);

/* Frees the lists of what this rank has sent, of which nothing will come back. */
void pp_pick_post_forget_own(pp_pick_post *post);

/* Whether everything has come that was announced; otherwise a rank has failed. */
bool pp_pick_post_is_complete(const pp_pick_post *post);

/* Refuses picks that share an element, with the names of the ranks; served is sorted. */
parapet_status pp_pick_post_check_shared(const pp_pick_post *post);

#endif
