/* point_exchange.h - picks and their elements on their way between the ranks that list them and the homes of their
 * shards.
 *
 * Every rank sends its picks to the homes, grouped by home. A home keeps those of each sender in the order in which
 * they come, and with them the memory for their elements, so that elements need no address: they travel as bytes in
 * that order, either way. Everything is a sparse exchange (comm/exchange.h): no rank has a list of pairs of ranks. */
#ifndef PARAPET_TRANSFER_POINT_EXCHANGE_H
#define PARAPET_TRANSFER_POINT_EXCHANGE_H

#include "base/status.h"
#include "plan/indices.h"
#include "transfer/transfer.h"

/* Picks, and elements in them. */
typedef struct pp_pick_sums {
    int64_t picks, elements;
} pp_pick_sums;

typedef struct pp_point_exchange {
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
} pp_point_exchange;

void pp_point_exchange_init(pp_point_exchange *post, const pp_team *team, const pp_target *target,
                            const pp_indices *indices, pp_budget *budget);

/* Empties it, for the next pass or for good; what has failed stays. */
void pp_point_exchange_clear(pp_point_exchange *post);

/* The most that lists take which grow with the ranks, if there are this many shards. */
size_t pp_point_exchange_fixed_bytes(const pp_team *team, int64_t shards);

/* [collective] Finds out how many picks of these shards this rank has, and how many all ranks have for it as a home.
 */
void pp_point_exchange_measure(pp_point_exchange *post, const pp_shard_range *range);

/* What this rank needs as a home, of what was measured: for picks and elements. */
size_t pp_point_exchange_served_bytes(const pp_point_exchange *post);

/* [collective] Brings the picks that were measured to their homes. */
void pp_point_exchange_deliver(pp_point_exchange *post, const pp_shard_range *range);

/* [collective] Brings the elements to the homes, or back. */
void pp_point_exchange_send_elements(pp_point_exchange *post);
void pp_point_exchange_return_elements(pp_point_exchange *post);

/* Frees the lists of what this rank has sent, of which nothing will come back. */
void pp_point_exchange_forget_own(pp_point_exchange *post);

/* Whether everything has come that was announced; otherwise a rank has failed. */
bool pp_point_exchange_is_complete(const pp_point_exchange *post);

/* Refuses picks that share an element, with the names of the ranks; served is sorted. */
parapet_status pp_point_exchange_check_shared(const pp_point_exchange *post);

#endif
