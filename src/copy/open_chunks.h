/* open_chunks.h - the target chunks of a template that are being assembled: each is open, and has its own buffer,
 * from its first element to its last.
 *
 * One thread opens chunks in the order of the visits, and waits when no buffer is free. Every chunk that was opened
 * before will then be closed by visits already under way, so with as many buffers as the plan counts open chunks, no
 * wait lasts forever. */
#ifndef PARAPET_COPY_OPEN_CHUNKS_H
#define PARAPET_COPY_OPEN_CHUNKS_H

#include <pthread.h>

#include "transfer/context.h"

/* A buffer, and the open chunk in it. */
typedef struct pp_open_chunk {
    pp_buffer buffer;     /* a part of the memory of all */
    int64_t chunk;        /* which chunk of the template */
    atomic_llong missing; /* visits that have not brought their elements yet */
    atomic_bool has_data; /* a part of it is stored in the source */
    int32_t next_free;
    uint32_t checksum; /* of encoded */
    pp_bytes encoded;  /* when it is complete and waits to be written */
    struct pp_open_chunk *following;
} pp_open_chunk;

typedef struct pp_open_chunks {
    const pp_layout *layout; /* of the target */
    pp_budget *budget;
    pp_box chunks;      /* of the template, as positions in the grid of all target chunks */
    int32_t *buffer_of; /* one per chunk of the template; -1: not opened yet */
    int64_t table_count;
    size_t reserved_bytes;
    pp_open_chunk *list; /* one per buffer */
    pp_buffer memory;    /* of all buffers */
    int32_t buffer_count, first_free;
    int64_t pending; /* visits under way */
    bool is_given_up;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pp_open_chunks;

/* Room for this many open chunks, and for templates of up to template_chunks. Free it even after a failure. */
parapet_status pp_open_chunks_init(pp_open_chunks *open_chunks, const pp_transfer_context *target,
                                   int64_t buffer_count, int64_t template_chunks);
void pp_open_chunks_free(pp_open_chunks *open_chunks);

/* Turns to another template. No chunk may be open. */
void pp_open_chunks_begin(pp_open_chunks *open_chunks, const pp_box *template_box);

/* The position of a chunk of the template in the grid of all chunks. */
void pp_open_chunks_cell(const pp_open_chunks *open_chunks, int64_t chunk, int64_t *cell);

/* The chunk at that position, which has been opened. */
pp_open_chunk *pp_open_chunks_find(const pp_open_chunks *open_chunks, const int64_t *cell);

/* Opens the chunk at that position, unless it is open, and waits until there is a buffer for it; visits is how many
 * source chunks have elements of it. False: given up. */
bool pp_open_chunks_open(pp_open_chunks *open_chunks, const int64_t *cell, int64_t visits);

/* Its buffer is free for another. */
void pp_open_chunks_close(pp_open_chunks *open_chunks, pp_open_chunk *open_chunk);

/* A visit begins, is over. */
void pp_open_chunks_enter(pp_open_chunks *open_chunks);
void pp_open_chunks_leave(pp_open_chunks *open_chunks);

/* Waits until no visit is under way. False: given up, and some may be. */
bool pp_open_chunks_drain(pp_open_chunks *open_chunks);

/* Something has failed: nobody waits any more. */
void pp_open_chunks_give_up(pp_open_chunks *open_chunks);

#endif
