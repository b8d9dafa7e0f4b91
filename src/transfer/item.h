/* item.h - what passes through the pipeline of a transfer, in either direction: some chunks of one shard, and how
 * their elements get to or from the ranks that claim them. */
#ifndef PARAPET_TRANSFER_ITEM_H
#define PARAPET_TRANSFER_ITEM_H

#include "transfer/deliveries.h"

/* How the struct of an owned shard begins, in either direction. */
typedef struct pp_transfer_shard {
    int target; /* which array of the transfer */
    int64_t number;
    size_t first, end;  /* its records in what is served */
    atomic_int pending; /* items that were taken from it and not yet consumed */
    bool is_spent;      /* known: no more can be taken */
    struct pp_transfer_shard *following;
} pp_transfer_shard;

/* How the struct of an item begins, in either direction. */
typedef struct pp_transfer_item {
    pp_transfer_shard *shard;
    int slot;
    pp_window window; /* if the rank is alone, an item of a reader may have more chunks than a window */
    pp_window_news news;
    pp_deliveries deliveries; /* what other ranks send or receive */
} pp_transfer_item;

/* What the array of a shard has to work with. */
const pp_transfer_context *pp_context_of(const pp_transfer *transfer, const pp_transfer_shard *shard);

/* What the deliveries of an item are made for. */
pp_delivery_case pp_transfer_delivery_case(const pp_transfer *transfer, const pp_transfer_item *item);

/* One chunk of an item that is moved between its memory and the claims on it. */
typedef struct pp_chunk_move {
    pp_transfer_item *item;
    int worker;
    int index; /* which chunk of the window */
    int64_t chunk;
    pp_box whole, inside; /* the chunk in full, and clipped to the array */
    unsigned char *elements;
    int64_t moved_bytes;  /* of all pieces of the chunk */
    int64_t direct_bytes; /* of all pieces so far that were copied from process to process, or are about to be */
} pp_chunk_move;

/* Moves every piece of the chunk to or from this rank's own memory, the memory of other processes on the node, or
 * messages. false: the system refuses to copy from or to another process. From then on its pieces must be sent as
 * messages, and the item must begin again. */
bool pp_chunk_move_pieces(const pp_transfer *transfer, pp_chunk_move *move);

#endif
