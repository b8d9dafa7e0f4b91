/* open_chunks.h - the target chunks of a template that are being put together: each has a open chunk, which is a
 * buffer, from its first element to its last.
 *
 * Open chunks are taken in the order of the visit by one thread, which waits when none is free: everything that was
 * taken before is then on its way to be given back, so with as many open chunks as the plan counts nobody waits for
 * ever. */
#ifndef PARAPET_COPY_OPEN_CHUNKS_H
#define PARAPET_COPY_OPEN_CHUNKS_H

#include <pthread.h>

#include "copy/pass.h"

typedef struct pp_open_chunk {
    pp_buffer buffer;     /* a part of the memory of all */
    int64_t chunk;        /* which chunk of the template */
    atomic_llong missing; /* visits that have not brought their elements yet */
    atomic_bool has_data; /* some of it is stored in the source */
    int32_t next_free;
    pp_bytes encoded; /* when it is complete and waits to be written */
    struct pp_open_chunk *following;
} pp_open_chunk;

typedef struct pp_open_chunks {
    const pp_layout *layout; /* of the target */
    pp_budget *budget;
    pp_box chunks;          /* of the template, as positions in the grid of all target chunks */
    int32_t *open_chunk_of; /* one per chunk of the template; -1: none */
    int64_t table_count;
    size_t reserved_bytes;
    pp_open_chunk *list;
    pp_buffer memory; /* of their buffers */
    int32_t open_chunk_count, first_free;
    int64_t pending; /* visits under way */
    bool is_given_up;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pp_open_chunks;

/* Room for a number of open chunks and for templates of at most so many chunks. Free it also after a failure. */
parapet_status pp_open_chunks_init(pp_open_chunks *open_chunks, const pp_transfer_context *target,
                                   int64_t open_chunk_count, int64_t template_chunks);
void pp_open_chunks_free(pp_open_chunks *open_chunks);

/* Turns to another template. No open chunk may be taken. */
void pp_open_chunks_begin(pp_open_chunks *open_chunks, const pp_box *template_box);

/* Where a chunk of the template lies: its position in the grid of all chunks. */
void pp_open_chunks_cell(const pp_open_chunks *open_chunks, int64_t chunk, int64_t *cell);

/* The open chunk of the chunk at that position, which has been taken. */
pp_open_chunk *pp_open_chunks_find(const pp_open_chunks *open_chunks, const int64_t *cell);

/* Takes a open chunk for the chunk at that position, if it has none, and waits until there is one; visits is how many
 * source chunks have some of it. False: given up. */
bool pp_open_chunks_take(pp_open_chunks *open_chunks, const int64_t *cell, int64_t visits);
void pp_open_chunks_give_back(pp_open_chunks *open_chunks, pp_open_chunk *open_chunk);

/* A visit begins, is over. */
void pp_open_chunks_enter(pp_open_chunks *open_chunks);
void pp_open_chunks_leave(pp_open_chunks *open_chunks);

/* Waits until no visit is under way. False: given up, and some may be. */
bool pp_open_chunks_drain(pp_open_chunks *open_chunks);

/* Something has failed: nobody waits any more. */
void pp_open_chunks_give_up(pp_open_chunks *open_chunks);

#endif
