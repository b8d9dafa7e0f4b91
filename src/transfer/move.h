/* move.h - moves one piece between a chunk in this process and the memory of the rank that claims it. */
#ifndef PARAPET_TRANSFER_MOVE_H
#define PARAPET_TRANSFER_MOVE_H

#include "plan/claims.h"
#include "transfer/direction.h"

typedef struct pp_move {
    const pp_box *box;    /* what moves; inside the claim and the chunk */
    const int64_t *claim; /* its words */
    int ndim_most;
    const pp_box *chunk_box; /* what the chunk's memory holds, in C order */
    void *chunk;
    size_t element_bytes;
} pp_move;

/* The address of the first element of the box in the memory of the claim's rank. */
uint64_t pp_move_address(const pp_move *move);

/* The claim belongs to this rank. */
void pp_move_own(const pp_move *move, pp_direction direction);

/* The claim belongs to another process on this node. false: the system refuses. */
bool pp_move_direct(const pp_move *move, pp_direction direction, int64_t process);

/* Between a chunk and the bytes of a message, in which the box is packed in C order. */
void pp_move_packed(const pp_move *move, pp_direction direction, void *packed);

/* Sets the box in this rank's own memory to one value. */
void pp_move_fill(const pp_move *move, const void *value);

/* Whether the box is one run of bytes in the claim's memory. */
bool pp_move_is_run(const pp_move *move);

#endif
