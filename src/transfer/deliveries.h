/* deliveries.h - what a server exchanges by messages for one window: one delivery per rank that cannot be reached
 * directly, its fragments one after the other in a staging buffer or, if a whole chunk comes from one rank, in the
 * chunk itself. Where ranks read the same elements, the window may have more fragments than there is room for: they
 * are sent in loads, one after the other. */
#ifndef PARAPET_TRANSFER_DELIVERIES_H
#define PARAPET_TRANSFER_DELIVERIES_H

#include "transfer/client.h"

/* One delivery, and how far the pieces in it have been moved to or from chunks. */
typedef struct pp_window_delivery {
    pp_delivery delivery;
    pp_pieces pieces;
    pp_piece pending;
    bool has_pending;
    size_t left_bytes; /* of the fragments, behind the pending piece */
    bool is_in_place;
    unsigned char *data; /* in the staging buffer: of the pending piece */
} pp_window_delivery;

typedef struct pp_deliveries {
    pp_window_delivery *deliveries; /* in arena */
    int count;
    bool is_over;          /* their messages have arrived, or left */
    bool has_more;         /* this was not the last load of the window */
    size_t next;           /* where the next one begins: the first record of a rank, */
    int64_t next_fragment; /* and its first fragment that was not in a load */
    pp_buffer arena, staging;
} pp_deliveries;

/* What the deliveries of one window are made for. */
typedef struct pp_delivery_case {
    const pp_session *session;
    const pp_window *window;
    size_t first, end; /* the shard's records in what is served */
    int tag;
    pp_direction direction;
    pp_window_news news;
    unsigned char *chunk;            /* writing: the memory of the one chunk of the window, if all of it is claimed */
    const pp_box *chunk_box;         /* and what it holds */
    size_t staged_bytes, list_bytes; /* most that a load may take for fragments, and for the list of them */
} pp_delivery_case;

/* Finds the ranks that need messages, and begins the first load of them, or the next one if there are more; there may
 * be none, and there are none if this rank is alone. Takes buffers from the budget and keeps them. */
parapet_status pp_deliveries_build(pp_deliveries *deliveries, const pp_delivery_case *delivery_case);
parapet_status pp_deliveries_build_next(pp_deliveries *deliveries, const pp_delivery_case *delivery_case);
void pp_deliveries_free(pp_deliveries *deliveries);

/* Whether a rank's pieces go by messages of this load. */
bool pp_deliveries_has(const pp_deliveries *deliveries, int rank);

/* On the thread that calls MPI: starts all deliveries; tells whether all have ended. */
void pp_deliveries_ask(pp_deliveries *deliveries, pp_pull *pull);
bool pp_deliveries_are_done(const pp_deliveries *deliveries);

/* Moves the pieces of chunk number index of the window between its memory and the staging buffer; whether the load
 * has any. Indices in ascending order, each once. */
bool pp_deliveries_want(pp_deliveries *deliveries, const pp_delivery_case *delivery_case, int index);
void pp_deliveries_move(pp_deliveries *deliveries, const pp_delivery_case *delivery_case, int index,
                        const pp_box *chunk_box, void *chunk);

#endif
