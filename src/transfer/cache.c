/* cache.c - a hash table of encoded chunks, and a list of them by use: see cache.h for what counts as a hit.
 *
 *     none --pp_cache_put, what is written--> draft --pp_cache_publish--> of a version
 *     none --pp_cache_put, what was read-------------------------------> of a version
 *     of a version --pp_cache_rename--> of the version that has taken its place
 *     any of them --drop, or give_back by the budget--> none
 *
 * Invariants:
 *
 *  1. The lock of the budget guards everything here. There is no lock of its own, because the budget calls
 *     give_back while it holds that one, on whichever thread needs room.
 *  2. Of a chunk there is at most one entry, of whatever version (find_any, take): a newer one takes its place.
 *  3. The list by use and the budget's list of loans have the same order (enter, renew), so that the budget
 *     takes back first what make_room would drop first.
 *  4. make_room drops nothing unless dropping is enough: a chunk that cannot be kept displaces no other.
 *  5. No server is notified of a write by others. That is safe because a version is never used for other
 *     contents (store/store.h), and because after a failure everything of the arrays in that call is forgotten
 *     (pp_batch_forget in array/batch.c).
 *
 * The option `cache_bytes`: docs/guide/caching.md. Coloma et al. cache what a process
 * owns from call to call, and need neither locks nor messages for it (docs/design/papers.md, 5). Why encoded
 * chunks are kept and not elements: docs/design/collective.md, "Chunks that owners keep". */
#include "transfer/cache.h"

#include <string.h>

/* There is one bucket for this many bytes. */
#define BYTES_PER_BUCKET ((size_t)64 << 10)
#define BUCKETS_LEAST ((size_t)64)
#define BUCKETS_MOST ((size_t)1 << 20)

struct pp_cached_chunk {
    pp_loan loan;    /* first, so that a loan is its chunk */
    pp_cache *cache; /* NULL: it is in none */
    pp_cache_object object;
    int64_t chunk;
    struct pp_cached_chunk *next;          /* of the same bucket */
    struct pp_cached_chunk *older, *newer; /* by use */
    size_t bytes;
    unsigned char data[];
};

/* The lock of the budget guards all of it. */
struct pp_cache {
    pp_budget *budget;
    size_t limit_bytes, bytes;
    pp_cached_chunk **buckets;
    size_t bucket_count;
    pp_cached_chunk *oldest, *newest;
    uint64_t drafts;
};

parapet_status pp_cache_build(pp_cache **cache, pp_budget *budget, size_t limit_bytes)
{
    parapet_status status = pp_allocate(cache, sizeof **cache);
    size_t count = BUCKETS_LEAST;
    if (status != PARAPET_OK)
        return status;
    while (count < BUCKETS_MOST && count < limit_bytes / BYTES_PER_BUCKET)
        count *= 2;
    (*cache)->budget = budget;
    (*cache)->limit_bytes = limit_bytes;
    (*cache)->bucket_count = count;
    return pp_allocate_array(&(*cache)->buckets, count, sizeof(*cache)->buckets[0]);
}

/* ---- The lock is held ---- */

static pp_cached_chunk **bucket_of(const pp_cache *cache, int64_t array, int64_t shard, int64_t chunk)
{
    uint64_t mixed = (uint64_t)array * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)shard * UINT64_C(0xbf58476d1ce4e5b9) ^
                     (uint64_t)chunk * UINT64_C(0x94d049bb133111eb);
    return &cache->buckets[(mixed ^ (mixed >> 29)) & (cache->bucket_count - 1)];
}

/* Whatever is known of a chunk, of any version. */
static pp_cached_chunk *find_any(const pp_cache *cache, const pp_cache_object *object, int64_t chunk)
{
    pp_cached_chunk *one = *bucket_of(cache, object->array, object->shard, chunk);
    while (one != NULL &&
           (one->chunk != chunk || one->object.shard != object->shard || one->object.array != object->array))
        one = one->next;
    return one;
}

static pp_cached_chunk *find(const pp_cache *cache, const pp_cache_object *object, int64_t chunk)
{
    pp_cached_chunk *one = find_any(cache, object, chunk);
    bool is_same = one != NULL && object->version != 0 && one->object.version == object->version &&
                   one->object.is_draft == object->is_draft;
    return is_same ? one : NULL;
}

static void unlink_use(pp_cache *cache, pp_cached_chunk *one)
{
    *(one->older != NULL ? &one->older->newer : &cache->oldest) = one->newer;
    *(one->newer != NULL ? &one->newer->older : &cache->newest) = one->older;
}

static void link_use(pp_cache *cache, pp_cached_chunk *one)
{
    one->older = cache->newest;
    one->newer = NULL;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = one;
    cache->newest = one;
}

static void remove_chunk(pp_cached_chunk *one)
{
    pp_cache *cache = one->cache;
    pp_cached_chunk **place = bucket_of(cache, one->object.array, one->object.shard, one->chunk);
    while (*place != one)
        place = &(*place)->next;
    *place = one->next;
    unlink_use(cache, one);
    cache->bytes -= one->loan.bytes;
    pp_free(one);
}

static void give_back(pp_loan *loan)
{
    remove_chunk((pp_cached_chunk *)(void *)loan);
}

static void drop(pp_cached_chunk *one)
{
    pp_budget_withdraw(one->cache->budget, &one->loan);
    remove_chunk(one);
}

/* The chunk was used: now all others give way before it. */
static void renew(pp_cached_chunk *one)
{
    pp_cache *cache = one->cache;
    pp_budget_withdraw(cache->budget, &one->loan);
    pp_budget_offer(cache->budget, &one->loan);
    unlink_use(cache, one);
    link_use(cache, one);
}

/* Makes room for this much more; false: dropping all chunks would not be enough, and they stay. */
static bool make_room(pp_cache *cache, size_t bytes)
{
    if (bytes > cache->limit_bytes || !pp_budget_has_room(cache->budget, bytes, cache->bytes))
        return false;
    while (bytes > cache->limit_bytes - cache->bytes || !pp_budget_has_room(cache->budget, bytes, 0))
        drop(cache->oldest);
    return true;
}

/* There is room. */
static void enter(pp_cache *cache, const pp_cache_object *object, int64_t chunk, pp_cached_chunk *one)
{
    pp_cached_chunk **place = bucket_of(cache, object->array, object->shard, chunk);
    one->cache = cache;
    one->object = *object;
    one->chunk = chunk;
    one->next = *place;
    *place = one;
    link_use(cache, one);
    cache->bytes += one->loan.bytes;
    pp_budget_offer(cache->budget, &one->loan);
}

static void publish_chunk(pp_cached_chunk *one, uint64_t version)
{
    one->object.version = version;
    one->object.is_draft = false;
    if (version == 0) /* not known, so no object that is opened later could be shown to be this one */
        drop(one);
}

/* Drops what was known of this chunk and makes room for a new entry; false: there is none. */
static bool take(pp_cache *cache, const pp_cache_object *object, int64_t chunk, size_t bytes)
{
    pp_cached_chunk *known = find_any(cache, object, chunk);
    if (known != NULL)
        drop(known);
    return object->version != 0 && make_room(cache, pp_cached_chunk_reserved_bytes(bytes));
}

/* ---- Chunks ---- */

size_t pp_cached_chunk_reserved_bytes(size_t bytes)
{
    return sizeof(pp_cached_chunk) + bytes;
}

parapet_status pp_cached_chunk_build(pp_cached_chunk **chunk, pp_bytes encoded)
{
    size_t all_bytes = pp_cached_chunk_reserved_bytes(encoded.bytes);
    parapet_status status = pp_allocate(chunk, all_bytes);
    if (status != PARAPET_OK)
        return status;
    (*chunk)->loan = (pp_loan){.bytes = all_bytes, .give_back = give_back};
    (*chunk)->bytes = encoded.bytes;
    if (encoded.bytes > 0)
        memcpy((*chunk)->data, encoded.data, encoded.bytes);
    return PARAPET_OK;
}

pp_bytes pp_cached_chunk_bytes(const pp_cached_chunk *chunk)
{
    return (pp_bytes){chunk->data, chunk->bytes};
}

void pp_cached_chunk_free(pp_cached_chunk *chunk)
{
    pp_free(chunk);
}

/* ---- The calls ---- */

void pp_cache_free(pp_cache *cache)
{
    if (cache == NULL)
        return;
    pp_budget_lock(cache->budget);
    while (cache->oldest != NULL)
        drop(cache->oldest);
    pp_budget_unlock(cache->budget);
    pp_free(cache->buckets);
    pp_free(cache);
}

bool pp_cache_has(pp_cache *cache, const pp_cache_object *object, int64_t chunk)
{
    bool is_there;
    pp_budget_lock(cache->budget);
    is_there = find(cache, object, chunk) != NULL;
    pp_budget_unlock(cache->budget);
    return is_there;
}

bool pp_cache_has_room(pp_cache *cache, size_t bytes)
{
    size_t all_bytes = pp_cached_chunk_reserved_bytes(bytes);
    bool has_room;
    pp_budget_lock(cache->budget);
    has_room = all_bytes <= cache->limit_bytes - cache->bytes && pp_budget_has_room(cache->budget, all_bytes, 0);
    pp_budget_unlock(cache->budget);
    return has_room;
}

bool pp_cache_get(pp_cache *cache, const pp_cache_object *object, int64_t chunk, void *target, size_t bytes)
{
    pp_cached_chunk *one;
    bool is_there;
    pp_budget_lock(cache->budget);
    one = find(cache, object, chunk);
    is_there = one != NULL && one->bytes == bytes;
    if (is_there) {
        /* With the lock: without it another thread that needs room could have the chunk given back meanwhile. */
        memcpy(target, one->data, bytes);
        renew(one);
    }
    pp_budget_unlock(cache->budget);
    return is_there;
}

void pp_cache_put(pp_cache *cache, const pp_cache_object *object, int64_t chunk, const void *data, size_t bytes)
{
    pp_cached_chunk *one = NULL;
    pp_budget_lock(cache->budget);
    if (take(cache, object, chunk, bytes) && pp_cached_chunk_build(&one, (pp_bytes){data, bytes}) == PARAPET_OK)
        enter(cache, object, chunk, one);
    pp_budget_unlock(cache->budget);
}

void pp_cache_take_over(pp_cache *cache, const pp_cache_object *object, int64_t number, pp_cached_chunk *chunk)
{
    bool is_taken;
    pp_budget_lock(cache->budget);
    is_taken = take(cache, object, number, chunk->bytes);
    if (is_taken)
        enter(cache, object, number, chunk);
    pp_budget_unlock(cache->budget);
    if (!is_taken)
        pp_cached_chunk_free(chunk);
}

uint64_t pp_cache_draft(pp_cache *cache)
{
    uint64_t number = 0;
    pp_budget_lock(cache->budget);
    number = ++cache->drafts;
    pp_budget_unlock(cache->budget);
    return number;
}

void pp_cache_publish(pp_cache *cache, const pp_cache_object *draft, uint64_t version, int64_t chunk_count)
{
    pp_cached_chunk *one;
    int64_t chunk;
    pp_budget_lock(cache->budget);
    for (chunk = PP_CACHE_INDEX; chunk < chunk_count; chunk++)
        if ((one = find(cache, draft, chunk)) != NULL)
            publish_chunk(one, version);
    pp_budget_unlock(cache->budget);
}

void pp_cache_rename(pp_cache *cache, const pp_cache_object *object, uint64_t version, int64_t chunk_count)
{
    pp_cached_chunk *one;
    int64_t chunk;
    pp_budget_lock(cache->budget);
    for (chunk = PP_CACHE_INDEX; chunk < chunk_count; chunk++)
        if ((one = find(cache, object, chunk)) != NULL)
            publish_chunk(one, chunk == PP_CACHE_INDEX ? 0 : version);
    pp_budget_unlock(cache->budget);
}

void pp_cache_forget(pp_cache *cache, int64_t array)
{
    pp_cached_chunk *one, *newer;
    pp_budget_lock(cache->budget);
    for (one = cache->oldest; one != NULL; one = newer) {
        newer = one->newer;
        if (one->object.array == array)
            drop(one);
    }
    pp_budget_unlock(cache->budget);
}
