/* cache.h - encoded chunks of shards that this server has read or written, for later calls (option cache_bytes).
 *
 * A chunk is remembered with the version of the object that it is in (store/store.h). It is a hit only if the object
 * that was opened in this call has that version: what another job has written since is never answered from here.
 * What is written enters as a draft, which no reader finds, and gets its version when all ranks have agreed that
 * it is published.
 *
 * Chunks are kept as they are stored: untouched chunks of a shard that is written again are needed in that form, more
 * of them fit, and every use verifies them. They are lent to the budget, and never more than cache_bytes: the one
 * that was used longest ago gives way. Safe to use from several threads.
 *
 * write_back.h keeps what is written and not yet in storage, in chunks of the same kind, which do not give way.
 * Once it is in storage, the cache takes these chunks over. */
#ifndef PARAPET_TRANSFER_CACHE_H
#define PARAPET_TRANSFER_CACHE_H

#include "base/budget.h"
#include "codec/codec.h"

typedef struct pp_cache pp_cache;

/* The stored bytes of one chunk. */
typedef struct pp_cached_chunk pp_cached_chunk;

/* In place of the number of a chunk: the stored index of a shard. */
#define PP_CACHE_INDEX INT64_C(-1)

/* An object, or a draft of one. */
typedef struct pp_cache_object {
    int64_t array; /* number of its handle */
    int64_t shard;
    uint64_t version; /* 0: not known, so nothing is found or kept */
    bool is_draft;    /* then version is what pp_cache_draft gave */
} pp_cache_object;

parapet_status pp_cache_build(pp_cache **cache, pp_budget *budget, size_t limit_bytes);
void pp_cache_free(pp_cache *cache); /* takes NULL */

/* Whether a chunk is there; whether there is room for this much more without anything giving way. */
bool pp_cache_has(pp_cache *cache, const pp_cache_object *object, int64_t chunk);
bool pp_cache_has_room(pp_cache *cache, size_t bytes);

/* Copies a chunk of exactly this length; false: it is not there. */
bool pp_cache_get(pp_cache *cache, const pp_cache_object *object, int64_t chunk, void *target, size_t bytes);

/* Keeps a copy, in place of what was known of this chunk; or not, if there is no memory. */
void pp_cache_put(pp_cache *cache, const pp_cache_object *object, int64_t chunk, const void *data, size_t bytes);

/* A number for a new draft. */
uint64_t pp_cache_draft(pp_cache *cache);

/* The draft has become an object of this version, of which this many chunks may be kept. */
void pp_cache_publish(pp_cache *cache, const pp_cache_object *draft, uint64_t version, int64_t chunk_count);

/* A chunk outside of the cache. Its builder has reserved this many bytes for it. */
size_t pp_cached_chunk_reserved_bytes(size_t bytes);
parapet_status pp_cached_chunk_build(pp_cached_chunk **chunk, pp_bytes encoded);
pp_bytes pp_cached_chunk_bytes(const pp_cached_chunk *chunk);
void pp_cached_chunk_free(pp_cached_chunk *chunk); /* takes NULL */

/* Takes over a chunk for which nothing is reserved any more, and keeps it as pp_cache_put does. */
void pp_cache_take_over(pp_cache *cache, const pp_cache_object *object, int64_t number, pp_cached_chunk *chunk);

/* All that is known of an object, except for its index, holds for the one that has taken its place. */
void pp_cache_rename(pp_cache *cache, const pp_cache_object *object, uint64_t version, int64_t chunk_count);

/* Drops all of an array. */
void pp_cache_forget(pp_cache *cache, int64_t array);

#endif
