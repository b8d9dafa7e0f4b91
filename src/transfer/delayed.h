/* delayed.h - shards that this server has been given and has not written yet (option write_back).
 *
 * Of a delayed shard only those chunks are here that were written since: the others are in the stored object that was
 * there when it was first written to, which must not be replaced meanwhile. A shard that was written as a whole needs
 * no other; but of one at the edge, which reaches beyond the array, another job may meanwhile write what is beyond,
 * or cut off what is not: it stands on what was there, or was not, in any case. What a call writes is a draft until
 * all ranks have agreed on the call; then it takes its place.
 *
 * Chunks are as they will be stored. They are reserved from a budget of their own, in which the cache gives way to
 * them, and do not give way themselves: whoever wants room has the oldest shards written first.
 *
 * A shard is known by its position: its number changes when the array grows. Only drafts are used from several
 * threads, each from one of them; all else belongs to calls of all ranks, and no local read comes near it. */
#ifndef PARAPET_TRANSFER_DELAYED_H
#define PARAPET_TRANSFER_DELAYED_H

#include "geometry/grid.h"
#include "transfer/cache.h"

typedef struct pp_delayed pp_delayed;

typedef struct pp_delayed_shard {
    int64_t array; /* number of its handle */
    bool is_whole; /* a draft of all its elements: nothing that was delayed before counts */
    bool has_base; /* chunks that are not here are those of the stored object of this version */
    uint64_t base; /* 0: there is no object */
    uint64_t made; /* or of this one; 0: of none */
    bool is_due;   /* chosen to be written */
    bool is_stuck; /* another job has written it: it cannot make room */
    int64_t chunk_count;
    pp_kept_chunk **chunks; /* NULL: it is not here; no bytes: it is here, and not stored */
    size_t reserved_bytes;  /* by all of it */
    size_t used_bytes;      /* of these */
    pp_delayed *owner;
    struct pp_delayed_shard *next;          /* of the same bucket */
    struct pp_delayed_shard *older, *newer; /* by when it was last written to */
    int ndim;
    int64_t cell[]; /* its position in the grid of shards */
} pp_delayed_shard;

/* limit_bytes: of the budget, which is for this and the cache alone. */
parapet_status pp_delayed_build(pp_delayed **delayed, pp_budget *budget, size_t limit_bytes, pp_cache *cache);
void pp_delayed_free(pp_delayed *delayed); /* takes NULL */

/* Which shard of which array is meant. */
typedef struct pp_delayed_place {
    pp_delayed *delayed; /* NULL: nothing is delayed */
    int64_t array;
    const pp_grid *shards;
    int64_t number;
} pp_delayed_place;

/* NULL: it is not delayed. */
pp_delayed_shard *pp_delayed_find(const pp_delayed_place *place);

/* Whether a chunk is here; and its bytes: none if it is not to be stored. */
bool pp_delayed_has(const pp_delayed_shard *shard, int64_t chunk); /* takes NULL */
pp_bytes pp_delayed_get(const pp_delayed_shard *shard, int64_t chunk);

/* ---- Writing ---- */

/* A call that writes begins: what it wants is counted from here. */
void pp_delayed_begin(pp_delayed *delayed); /* takes NULL */

/* A draft with room for new_count chunks of up to chunk_bytes, of chunk_count that the shard has. NULL if there is no
 * room: then the shard has to be written at once. */
parapet_status pp_delayed_draft(const pp_delayed_place *place, int64_t chunk_count, int64_t new_count,
                                size_t chunk_bytes, pp_delayed_shard **draft);

/* Puts a new chunk into a draft. */
parapet_status pp_delayed_put(pp_delayed_shard *draft, int64_t chunk, pp_bytes encoded);

/* All chunks are there: gives back what they did not need. */
void pp_delayed_finish(pp_delayed_shard *draft);
void pp_delayed_discard(pp_delayed_shard *draft); /* takes NULL */

/* All ranks have agreed: what the draft has takes the place of what there was. */
void pp_delayed_commit(pp_delayed_shard *draft);

/* ---- Giving up what is delayed ---- */

/* The shard, as it is with all that is delayed, was written, by a call that wrote to it as well, or by this server;
 * it is an object of that version. Then it is not delayed any more, and in the second case the cache has it. */
void pp_delayed_drop(const pp_delayed_place *place);
void pp_delayed_settle(const pp_delayed_place *place, uint64_t version);

/* This server may have made such an object visible, of that version, and knows no more: the shard stays delayed, and
 * what is delayed fits both objects. */
void pp_delayed_note_made(const pp_delayed_place *place, uint64_t version);

/* Whether what is delayed fits the object of this version, 0: none, which it then stands on. */
bool pp_delayed_fits(pp_delayed_shard *shard, uint64_t version);

/* Forgets all of an array. */
void pp_delayed_forget(pp_delayed *delayed, int64_t array); /* takes NULL */

/* Forgets those shards of an array that have no place in so many cells. */
void pp_delayed_cut(pp_delayed *delayed, int64_t array, const int64_t *cells);

/* Whether the next call, if it wants as much as the last one, finds too little room. */
bool pp_delayed_is_crowded(const pp_delayed *delayed); /* takes NULL */

/* Chooses the shards that are to be written: all, or those written to longest ago until there is room for such a
 * call. */
void pp_delayed_choose(pp_delayed *delayed, bool all);

/* Numbers of the chosen shards of an array, in no order; count them with numbers NULL. Those outside the array are
 * left out. */
size_t pp_delayed_list(const pp_delayed *delayed, int64_t array, const pp_grid *shards, int64_t *numbers);

#endif
