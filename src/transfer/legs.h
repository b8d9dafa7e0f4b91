/* legs.h - what a server exchanges by messages for one window: one leg per rank that cannot be reached directly, its
 * fragments lying one behind the other in a staging buffer, or, where a whole chunk comes from one rank, in the chunk
 * itself. */
#ifndef PARAPET_TRANSFER_LEGS_H
#define PARAPET_TRANSFER_LEGS_H

#include "transfer/client.h"

/* One leg, and how far the pieces in it have been moved to or from chunks. */
typedef struct pp_window_leg {
    pp_leg leg;
    pp_pieces pieces;
    pp_piece pending;
    bool has_pending;
    bool is_in_place;
    unsigned char *data; /* in the staging buffer: of the pending piece */
} pp_window_leg;

typedef struct pp_legs {
    pp_window_leg *legs; /* in arena */
    int count;
    pp_buffer arena, staging;
} pp_legs;

/* What the legs of one window are made for. */
typedef struct pp_legs_case {
    const pp_session *session;
    const pp_window *window;
    size_t first, end; /* the shard's records in what is served */
    int tag;
    bool is_offer;
    pp_window_news news;
    unsigned char *chunk;    /* writing: the memory of the one chunk of the window, if all of it is claimed */
    const pp_box *chunk_box; /* and what it holds */
} pp_legs_case;

/* Finds the ranks that need messages; their number may be 0. Takes buffers from the budget and keeps them. */
parapet_status pp_legs_build(pp_legs *legs, const pp_legs_case *legs_case);
void pp_legs_free(pp_legs *legs);

/* Whether a rank's pieces go by messages. */
bool pp_legs_has(const pp_legs *legs, int rank);

/* On the thread that calls MPI: sets all legs going; and whether all have come to an end. */
void pp_legs_ask(pp_legs *legs, pp_pull *pull);
bool pp_legs_are_done(const pp_legs *legs);

/* Moves the pieces of chunk number slot of the window between its memory and the staging buffer. Slots in ascending
 * order, each once. */
void pp_legs_move(pp_legs *legs, const pp_legs_case *legs_case, int slot, const pp_box *chunk_box, void *chunk,
                  pp_direction direction);

#endif
