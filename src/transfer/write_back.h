/* write_back.h - shards that this server has been given and has not written yet (option write_back).
 *
 * Of such a shard only the chunks are here that were written since. The others are in the object that was
 * stored when the shard was first written to, and which must not be replaced meanwhile: the shard stands on
 * that object. A shard that was written as a whole needs no object to stand on. One at the edge of the array
 * has one in any case, if only the fact that there was none: another job may write what lies beyond the edge,
 * or cut it off. What a call writes is a draft until all ranks have agreed on the call.
 *
 * Chunks are as they will be stored. They are reserved from a budget of their own, in which the cache gives way
 * to them. They do not give way themselves: a call that needs room has the oldest shards written first.
 *
 * A shard is known by its position, because its number changes when the array grows. Drafts are used by several
 * threads, each draft by one of them; everything else only by collective calls, and never by local reads. */
#ifndef PARAPET_TRANSFER_WRITE_BACK_H
#define PARAPET_TRANSFER_WRITE_BACK_H

#include "geometry/grid.h"
#include "transfer/cache.h"

typedef struct pp_write_back pp_write_back;

typedef struct pp_dirty_shard {
    int64_t array; /* number of its handle */
    bool is_whole; /* a draft of all its elements: nothing that was delayed before counts */
    bool has_base; /* chunks that are not here are those of the stored object of this version */
    uint64_t base; /* 0: there is no object */
    uint64_t made; /* or of this one; 0: of none */
    bool is_due;   /* chosen to be written */
    bool is_stuck; /* another job has replaced its object: writing it cannot make room */
    int64_t chunk_count;
    pp_cached_chunk **chunks; /* NULL: it is not here; no bytes: it is here, and not stored */
    size_t reserved_bytes;    /* by all of it */
    size_t used_bytes;        /* of these */
    pp_write_back *owner;
    struct pp_dirty_shard *next;          /* of the same bucket */
    struct pp_dirty_shard *older, *newer; /* by when it was last written to */
    int ndim;
    int64_t cell[]; /* its position in the grid of shards */
} pp_dirty_shard;

/* limit_bytes: of the budget, which is for this and the cache alone. */
parapet_status pp_write_back_build(pp_write_back **delayed, pp_budget *budget, size_t limit_bytes, pp_cache *cache);
void pp_write_back_free(pp_write_back *delayed); /* takes NULL */

/* Which shard of which array is meant. */
typedef struct pp_write_back_place {
    pp_write_back *write_back;
    int64_t array;
    const pp_grid *shards;
    int64_t number;
} pp_write_back_place;

/* NULL: it is not delayed. */
pp_dirty_shard *pp_write_back_find(const pp_write_back_place *place);

/* Whether a chunk is here; and its bytes: none if it is not to be stored. */
bool pp_write_back_has(const pp_dirty_shard *shard, int64_t chunk);
pp_bytes pp_write_back_get(const pp_dirty_shard *shard, int64_t chunk);

/* ---- Writing ---- */

/* A call that writes begins: what it wants is counted from here. */
void pp_write_back_begin(pp_write_back *delayed);

/* Reserves room for a draft of new_count chunks of up to chunk_bytes each, of chunk_count that the shard has; false:
 * there is none, and the shard has to be written at once. */
bool pp_write_back_reserve(const pp_write_back_place *place, int64_t chunk_count, int64_t new_count,
                           size_t chunk_bytes, size_t *bytes);

/* A draft that has this room; a failure gives it back. */
parapet_status pp_write_back_draft(const pp_write_back_place *place, int64_t chunk_count, size_t bytes,
                                   pp_dirty_shard **draft);

/* Puts a new chunk into a draft. */
parapet_status pp_write_back_put(pp_dirty_shard *draft, int64_t chunk, pp_bytes encoded);

/* All chunks are there: gives back what they did not need. */
void pp_write_back_finish(pp_dirty_shard *draft);
void pp_write_back_discard(pp_dirty_shard *draft);

/* All ranks have agreed: what the draft has takes the place of what there was. */
void pp_write_back_commit(pp_dirty_shard *draft);

/* ---- Giving up what is delayed ---- */

/* The shard, as it is with all that is delayed, was written, by a call that wrote to it as well, or by this server;
 * it is an object of that version. Then it is not delayed any more, and in the second case the cache has it. */
void pp_write_back_drop(const pp_write_back_place *place);
void pp_write_back_note_stored(const pp_write_back_place *place, uint64_t version);

/* This server may have made such an object visible, of that version, and knows no more: the shard stays delayed, and
 * what is delayed fits both objects. */
void pp_write_back_note_made(const pp_write_back_place *place, uint64_t version);

/* Whether what is delayed fits the object of this version, 0: none, which it then stands on. */
bool pp_write_back_fits(pp_dirty_shard *shard, uint64_t version);

/* Forgets all of an array. */
void pp_write_back_forget(pp_write_back *delayed, int64_t array);

/* Forgets those shards of an array that lie outside of this many cells along each dimension. */
void pp_write_back_cut(pp_write_back *delayed, int64_t array, const int64_t *cells);

/* Whether the next call, if it wants as much as the last one, finds too little room. */
bool pp_write_back_is_crowded(const pp_write_back *delayed);

/* Chooses the shards that are to be written: all, or those written to longest ago until there is room for such a
 * call. */
void pp_write_back_choose(pp_write_back *delayed, bool all);

/* Numbers of the chosen shards of an array, in no order; count them with numbers NULL. Those outside the array are
 * left out. */
size_t pp_write_back_list(const pp_write_back *delayed, int64_t array, const pp_grid *shards, int64_t *numbers);

#endif
