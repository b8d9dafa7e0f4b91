/* write_back.c - the shards that were written and are not stored yet: see write_back.h.
 *
 *     none --pp_write_back_draft--> draft --pp_write_back_commit--> dirty
 *       ^                             |                               |
 *       +----pp_write_back_discard----+                               | pp_write_back_note_stored: by a flush
 *       |                                                             | pp_write_back_drop: by a write
 *       +-------------------------------------------------------------+ pp_write_back_forget, _cut: it is given up
 *
 * A dirty shard is due or not (pp_write_back_choose). It is stuck once another job has replaced its object.
 *
 * Invariants:
 *
 *  1. What a dirty shard stands on does not change while it is dirty: merge keeps what the older one stood on.
 *     The one exception is an object that this server may have made itself (pp_write_back_fits).
 *  2. pp_write_back_commit takes no memory and cannot fail: it follows an agreement, after which no rank may
 *     fail alone. All that it needs was reserved by pp_write_back_draft.
 *  3. A dirty shard goes only when all ranks have agreed that the object in its place is published
 *     (pp_staged_note_outcome), or because its array is closed or cut. After a failure it
 *     stays.
 *  4. What is dirty is reserved from the budget and gives way to nothing; reserved_bytes of a shard is exactly
 *     what it holds, so merge moves the bytes together with the chunks.
 *
 * The option `write_back`, with cache_bytes: docs/guide/caching.md, "Writing later".
 * Coloma et al. write when a file is closed; who learns of a failure then, they leave open. Here it is the
 * status of the flush, on all ranks (docs/design/papers.md, 5, note b). docs/design/collective.md, "Chunks that
 * wait to be written". */
#include "transfer/write_back.h"

#include <string.h>

#include "base/checked.h"

/* There is one bucket for this many bytes. */
#define BYTES_PER_BUCKET ((size_t)256 << 10)
#define BUCKETS_LEAST ((size_t)64)
#define BUCKETS_MOST ((size_t)1 << 18)

struct pp_write_back {
    pp_budget *budget;
    pp_cache *cache;
    size_t limit_bytes;
    size_t bytes;        /* of all shards that are not drafts */
    size_t wanted_bytes; /* by the call that began last */
    pp_dirty_shard **buckets;
    size_t bucket_count;
    pp_dirty_shard *oldest, *newest;
};

parapet_status pp_write_back_build(pp_write_back **delayed, pp_budget *budget, size_t limit_bytes, pp_cache *cache)
{
    parapet_status status = pp_allocate(delayed, sizeof **delayed);
    size_t count = BUCKETS_LEAST;
    if (status != PARAPET_OK)
        return status;
    while (count < BUCKETS_MOST && count < limit_bytes / BYTES_PER_BUCKET)
        count *= 2;
    **delayed = (pp_write_back){.budget = budget, .cache = cache, .limit_bytes = limit_bytes, .bucket_count = count};
    return pp_allocate_array(&(*delayed)->buckets, count, sizeof(*delayed)->buckets[0]);
}

/* ---- Finding ---- */

static pp_dirty_shard **bucket_of(const pp_write_back *delayed, int64_t array, int ndim, const int64_t *cell)
{
    uint64_t mixed = (uint64_t)array * UINT64_C(0x9e3779b97f4a7c15);
    int d;
    for (d = 0; d < ndim; d++)
        mixed = (mixed ^ (uint64_t)cell[d]) * UINT64_C(0xbf58476d1ce4e5b9);
    return &delayed->buckets[(mixed ^ (mixed >> 29)) & (delayed->bucket_count - 1)];
}

static pp_dirty_shard *find_cell(const pp_write_back *delayed, int64_t array, int ndim, const int64_t *cell)
{
    pp_dirty_shard *one = *bucket_of(delayed, array, ndim, cell);
    while (one != NULL && (one->array != array || memcmp(one->cell, cell, (size_t)ndim * sizeof cell[0]) != 0))
        one = one->next;
    return one;
}

pp_dirty_shard *pp_write_back_find(const pp_write_back_place *place)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_grid_cell_position(place->shards, place->number, cell);
    return find_cell(place->write_back, place->array, place->shards->ndim, cell);
}

bool pp_write_back_has(const pp_dirty_shard *shard, int64_t chunk)
{
    return shard->chunks[chunk] != NULL;
}

pp_bytes pp_write_back_get(const pp_dirty_shard *shard, int64_t chunk)
{
    return pp_cached_chunk_bytes(shard->chunks[chunk]);
}

/* ---- Entering and leaving ---- */

static void link_shard(pp_dirty_shard *one)
{
    pp_write_back *delayed = one->owner;
    one->older = delayed->newest;
    one->newer = NULL;
    *(delayed->newest != NULL ? &delayed->newest->newer : &delayed->oldest) = one;
    delayed->newest = one;
}

static void unlink_shard(pp_dirty_shard *one)
{
    pp_write_back *delayed = one->owner;
    *(one->older != NULL ? &one->older->newer : &delayed->oldest) = one->newer;
    *(one->newer != NULL ? &one->newer->older : &delayed->newest) = one->older;
}

static void enter(pp_dirty_shard *one)
{
    pp_dirty_shard **place = bucket_of(one->owner, one->array, one->ndim, one->cell);
    one->next = *place;
    *place = one;
    link_shard(one);
    one->owner->bytes += one->reserved_bytes;
}

static void leave(pp_dirty_shard *one)
{
    pp_dirty_shard **place = bucket_of(one->owner, one->array, one->ndim, one->cell);
    while (*place != one)
        place = &(*place)->next;
    *place = one->next;
    unlink_shard(one);
    one->owner->bytes -= one->reserved_bytes;
}

/* It is in no list. */
static void free_shard(pp_dirty_shard *one)
{
    int64_t chunk;
    for (chunk = 0; one->chunks != NULL && chunk < one->chunk_count; chunk++)
        pp_cached_chunk_free(one->chunks[chunk]);
    pp_budget_release(one->owner->budget, one->reserved_bytes);
    pp_free(one->chunks);
    pp_free(one);
}

static void drop(pp_dirty_shard *one)
{
    leave(one);
    free_shard(one);
}

void pp_write_back_free(pp_write_back *delayed)
{
    if (delayed == NULL)
        return;
    while (delayed->oldest != NULL)
        drop(delayed->oldest);
    pp_free(delayed->buckets);
    pp_free(delayed);
}

/* ---- Writing ---- */

void pp_write_back_begin(pp_write_back *delayed)
{
    delayed->wanted_bytes = 0;
}

static size_t fixed_bytes(int ndim, int64_t chunk_count)
{
    return sizeof(pp_dirty_shard) + (size_t)ndim * sizeof(int64_t) + (size_t)chunk_count * sizeof(pp_cached_chunk *);
}

bool pp_write_back_reserve(const pp_write_back_place *place, int64_t chunk_count, int64_t new_count,
                           size_t chunk_bytes, size_t *bytes)
{
    pp_write_back *delayed = place->write_back;
    size_t fixed = fixed_bytes(place->shards->ndim, chunk_count);
    int64_t product;
    if (!pp_multiply_fits(new_count, (int64_t)pp_cached_chunk_reserved_bytes(chunk_bytes), &product) ||
        !pp_add_size_fits((size_t)product, fixed, bytes) || *bytes > delayed->limit_bytes) {
        delayed->wanted_bytes = delayed->limit_bytes;
        return false;
    }
    delayed->wanted_bytes = pp_min_size(delayed->limit_bytes, delayed->wanted_bytes + *bytes);
    return *bytes <= pp_budget_available(delayed->budget) &&
           pp_budget_reserve(delayed->budget, *bytes, "what is written later") == PARAPET_OK;
}

parapet_status pp_write_back_draft(const pp_write_back_place *place, int64_t chunk_count, size_t bytes,
                                   pp_dirty_shard **draft)
{
    pp_write_back *delayed = place->write_back;
    pp_dirty_shard *made;
    parapet_status status;
    if ((status = pp_allocate(&made, sizeof *made + (size_t)place->shards->ndim * sizeof made->cell[0])) !=
        PARAPET_OK) {
        pp_budget_release(delayed->budget, bytes);
        return status;
    }
    *made = (pp_dirty_shard){.owner = delayed,
                             .array = place->array,
                             .chunk_count = chunk_count,
                             .reserved_bytes = bytes,
                             .used_bytes = fixed_bytes(place->shards->ndim, chunk_count),
                             .ndim = place->shards->ndim};
    pp_grid_cell_position(place->shards, place->number, made->cell);
    if ((status = pp_allocate_array(&made->chunks, (size_t)chunk_count, sizeof made->chunks[0])) != PARAPET_OK)
        free_shard(made);
    else
        *draft = made;
    return status;
}

parapet_status pp_write_back_put(pp_dirty_shard *draft, int64_t chunk, pp_bytes encoded)
{
    draft->used_bytes += pp_cached_chunk_reserved_bytes(encoded.bytes);
    return pp_cached_chunk_build(&draft->chunks[chunk], encoded);
}

void pp_write_back_finish(pp_dirty_shard *draft)
{
    pp_budget_release(draft->owner->budget, draft->reserved_bytes - draft->used_bytes);
    draft->reserved_bytes = draft->used_bytes;
}

void pp_write_back_discard(pp_dirty_shard *draft)
{
    free_shard(draft);
}

static size_t reserved_bytes_of(const pp_cached_chunk *chunk)
{
    return chunk != NULL ? pp_cached_chunk_reserved_bytes(pp_cached_chunk_bytes(chunk).bytes) : 0;
}

/* Moves the chunks of the other one on top of those of this one. Neither is in a list. */
static void merge(pp_dirty_shard *one, pp_dirty_shard *other)
{
    int64_t chunk;
    for (chunk = 0; chunk < one->chunk_count; chunk++) {
        pp_cached_chunk *newer = other->chunks[chunk], *known = one->chunks[chunk];
        if (newer == NULL)
            continue;
        one->reserved_bytes += reserved_bytes_of(newer);
        one->chunks[chunk] = newer;
        other->reserved_bytes -= reserved_bytes_of(newer);
        other->reserved_bytes += reserved_bytes_of(known);
        one->reserved_bytes -= reserved_bytes_of(known);
        other->chunks[chunk] = known;
    }
}

void pp_write_back_commit(pp_dirty_shard *draft)
{
    pp_dirty_shard *known = find_cell(draft->owner, draft->array, draft->ndim, draft->cell);
    if (known != NULL && !draft->is_whole) { /* what is not written anew is still there, or in what that stands on */
        leave(known);
        merge(known, draft);
        free_shard(draft);
        draft = known;
    } else if (known != NULL) {
        drop(known);
    }
    enter(draft);
}

/* ---- Giving up ---- */

void pp_write_back_drop(const pp_write_back_place *place)
{
    pp_dirty_shard *one = pp_write_back_find(place);
    if (one != NULL)
        drop(one);
}

void pp_write_back_note_made(const pp_write_back_place *place, uint64_t version)
{
    pp_dirty_shard *one = pp_write_back_find(place);
    if (one != NULL && version != 0)
        one->made = version;
}

bool pp_write_back_fits(pp_dirty_shard *shard, uint64_t version)
{
    if (!shard->has_base || version == shard->base)
        return true;
    if (version == 0 || version != shard->made)
        return false;
    /* A flush or a write has failed, and its object is visible all the same. It has everything that is dirty here,
     * on top of the former base. */
    shard->base = version;
    return true;
}

void pp_write_back_note_stored(const pp_write_back_place *place, uint64_t version)
{
    pp_dirty_shard *one = pp_write_back_find(place);
    pp_cache_object object = {
        .array = place->array, .shard = place->number, .version = one->has_base ? one->base : 0};
    int64_t chunk;
    pp_cache_rename(one->owner->cache, &object, version, one->chunk_count);
    object.version = version;
    leave(one);
    for (chunk = 0; chunk < one->chunk_count; chunk++) {
        pp_cached_chunk *taken = one->chunks[chunk];
        if (taken == NULL || pp_cached_chunk_bytes(taken).bytes == 0)
            continue;
        /* Released before the cache lends it: counted twice, it might find no room. */
        pp_budget_release(one->owner->budget, reserved_bytes_of(taken));
        one->reserved_bytes -= reserved_bytes_of(taken);
        one->chunks[chunk] = NULL;
        pp_cache_take_over(one->owner->cache, &object, chunk, taken);
    }
    free_shard(one);
}

void pp_write_back_forget(pp_write_back *delayed, int64_t array)
{
    pp_dirty_shard *one, *newer;
    for (one = delayed->oldest; one != NULL; one = newer) {
        newer = one->newer;
        if (one->array == array)
            drop(one);
    }
}

static bool is_inside(const pp_dirty_shard *one, const int64_t *cells)
{
    int d;
    for (d = 0; d < one->ndim; d++)
        if (one->cell[d] >= cells[d])
            return false;
    return true;
}

void pp_write_back_cut(pp_write_back *delayed, int64_t array, const int64_t *cells)
{
    pp_dirty_shard *one, *newer;
    for (one = delayed->oldest; one != NULL; one = newer) {
        newer = one->newer;
        if (one->array == array && !is_inside(one, cells))
            drop(one);
    }
}

bool pp_write_back_is_crowded(const pp_write_back *delayed)
{
    return delayed->oldest != NULL && delayed->limit_bytes - delayed->bytes < delayed->wanted_bytes;
}

void pp_write_back_choose(pp_write_back *delayed, bool all)
{
    size_t room = delayed->limit_bytes - delayed->bytes;
    pp_dirty_shard *one;
    for (one = delayed->oldest; one != NULL; one = one->newer) {
        one->is_due = all || (room < delayed->wanted_bytes && !one->is_stuck);
        room += one->is_due ? one->reserved_bytes : 0;
    }
}

size_t pp_write_back_list(const pp_write_back *delayed, int64_t array, const pp_grid *shards, int64_t *numbers)
{
    const pp_dirty_shard *one;
    size_t count = 0;
    for (one = delayed->oldest; one != NULL; one = one->newer) {
        if (!one->is_due || one->array != array || !is_inside(one, shards->cells))
            continue;
        if (numbers != NULL)
            numbers[count] = pp_grid_cell_number(shards, one->cell);
        count++;
    }
    return count;
}
