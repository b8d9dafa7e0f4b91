/* open_chunks.h - the target chunks of a template that are being put together: each has a slot, which is a buffer,
 * from its first element to its last.
 *
 * Slots are taken in the order of the visit by one thread, which waits when none is free: everything that was taken
 * before is then on its way to be given back, so with as many slots as the plan counts nobody waits for ever. */
#ifndef PARAPET_COPY_OPEN_CHUNKS_H
#define PARAPET_COPY_OPEN_CHUNKS_H

#include <pthread.h>

#include "copy/pass.h"

typedef struct pp_copy_slot {
    pp_buffer buffer;     /* a part of the memory of all */
    int64_t chunk;        /* which chunk of the template */
    atomic_llong missing; /* visits that have not brought their elements yet */
    atomic_bool has_data; /* some of it is stored in the source */
    int32_t next_free;
    pp_bytes encoded; /* when it is complete and waits to be written */
    struct pp_copy_slot *following;
} pp_copy_slot;

typedef struct pp_copy_slots {
    const pp_layout *layout; /* of the target */
    pp_budget *budget;
    pp_box chunks;    /* of the template, as positions in the grid of all target chunks */
    int32_t *slot_of; /* one per chunk of the template; -1: none */
    int64_t table_count;
    size_t reserved_bytes;
    pp_copy_slot *slots;
    pp_buffer memory; /* of their buffers */
    int32_t slot_count, first_free;
    int64_t pending; /* visits under way */
    bool is_given_up;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pp_copy_slots;

/* Room for a number of slots and for templates of at most so many chunks. Free it also after a failure. */
parapet_status pp_copy_slots_init(pp_copy_slots *slots, const pp_transfer_context *target, int64_t slot_count,
                                  int64_t template_chunks);
void pp_copy_slots_free(pp_copy_slots *slots);

/* Turns to another template. No slot may be taken. */
void pp_copy_slots_begin(pp_copy_slots *slots, const pp_box *template_box);

/* Where a chunk of the template lies: its position in the grid of all chunks, and its whole box. */
void pp_copy_slots_cell(const pp_copy_slots *slots, int64_t chunk, int64_t *cell);
void pp_copy_slots_box(const pp_copy_slots *slots, const int64_t *cell, pp_box *box);

/* The slot of the chunk at that position, which has been taken. */
pp_copy_slot *pp_copy_slots_find(const pp_copy_slots *slots, const int64_t *cell);

/* Takes a slot for the chunk at that position, if it has none, and waits until there is one; visits is how many
 * source chunks have some of it. False: given up. */
bool pp_copy_slots_take(pp_copy_slots *slots, const int64_t *cell, int64_t visits);
void pp_copy_slots_give_back(pp_copy_slots *slots, pp_copy_slot *slot);

/* A visit begins, is over. */
void pp_copy_slots_enter(pp_copy_slots *slots);
void pp_copy_slots_leave(pp_copy_slots *slots);

/* Waits until no visit is under way. False: given up, and some may be. */
bool pp_copy_slots_drain(pp_copy_slots *slots);

/* Something has failed: nobody waits any more. */
void pp_copy_slots_give_up(pp_copy_slots *slots);

#endif
