#include "plan/picks.h"

#include <string.h>

#include "base/checked.h"

/* Fewer picks than this are sorted one by one. */
#define FEW 32
#define BUCKETS 256

int64_t pp_tiling_shard_elements(const pp_tiling *tiling)
{
    return pp_grid_cell_elements(&tiling->shards);
}

int64_t pp_tiling_chunk_elements(const pp_tiling *tiling)
{
    return pp_grid_cell_elements(&tiling->chunks);
}

static bool has_element(const pp_stored_chunk *chunk, const int64_t *element, int ndim)
{
    int d;
    if (!chunk->is_known)
        return false;
    for (d = 0; d < ndim; d++)
        if (element[d] < chunk->start[d] || element[d] >= chunk->end[d])
            return false;
    return true;
}

static void seek_chunk(const pp_tiling *tiling, pp_stored_chunk *found, const int64_t *element)
{
    const pp_grid *shards = &tiling->shards, *chunks = &tiling->chunks;
    int64_t shard = 0, chunk = 0;
    int d;
    for (d = 0; d < shards->ndim; d++) {
        int64_t cell = element[d] / shards->cell_shape[d], start = cell * shards->cell_shape[d];
        int64_t chunk_cell = (element[d] - start) / chunks->cell_shape[d];
        shard = shard * shards->cells[d] + cell;
        chunk = chunk * chunks->cells[d] + chunk_cell;
        found->start[d] = start + chunk_cell * chunks->cell_shape[d];
        found->end[d] = pp_min_i64(found->start[d] + chunks->cell_shape[d], start + shards->cell_shape[d]);
    }
    found->first = (shard * chunks->cell_count + chunk) * pp_tiling_chunk_elements(tiling);
    found->is_known = true;
}

int64_t pp_stored_index_near(const pp_tiling *tiling, pp_stored_chunk *chunk, const int64_t *element)
{
    int64_t inside = 0;
    int d;
    if (!has_element(chunk, element, tiling->shards.ndim))
        seek_chunk(tiling, chunk, element);
    for (d = 0; d < tiling->shards.ndim; d++)
        inside = inside * tiling->chunks.cell_shape[d] + element[d] - chunk->start[d];
    return chunk->first + inside;
}

int64_t pp_stored_index(const pp_tiling *tiling, const int64_t *element)
{
    return pp_stored_index_near(tiling, &(pp_stored_chunk){.is_known = false}, element);
}

void pp_stored_index_element(const pp_tiling *tiling, int64_t index, int64_t *element)
{
    int64_t chunk_elements = pp_tiling_chunk_elements(tiling), chunks = tiling->chunks.cell_count;
    int64_t inside = index % chunk_elements;
    pp_box box;
    int d;
    pp_tiling_chunk_whole_box(tiling, index / chunk_elements / chunks, index / chunk_elements % chunks, &box);
    for (d = box.ndim - 1; d >= 0; d--) {
        element[d] = box.start[d] + inside % box.count[d];
        inside /= box.count[d];
    }
}

/* ---- Sorting ---- */

static void sort_few(pp_pick *picks, size_t count, const pp_pick_order *order)
{
    size_t i, j;
    for (i = 1; i < count; i++) {
        pp_pick moved = picks[i];
        uint64_t number = order->number_of(order->context, &moved);
        for (j = i; j > 0 && order->number_of(order->context, &picks[j - 1]) > number; j--)
            picks[j] = picks[j - 1];
        picks[j] = moved;
    }
}

static size_t bucket_of(const pp_pick *pick, const pp_pick_order *order, int shift)
{
    return (size_t)(order->number_of(order->context, pick) >> shift & (BUCKETS - 1));
}

/* Where each bucket begins, and at last where all of them end. */
static void find_buckets(const pp_pick *picks, size_t count, const pp_pick_order *order, int shift, size_t *begins)
{
    size_t i, sum = 0, bucket_count;
    memset(begins, 0, (BUCKETS + 1) * sizeof begins[0]);
    for (i = 0; i < count; i++)
        begins[bucket_of(&picks[i], order, shift)]++;
    for (i = 0; i <= BUCKETS; i++) {
        bucket_count = begins[i];
        begins[i] = sum;
        sum += bucket_count;
    }
}

/* Every swap brings one pick to its bucket. */
static void fill_buckets(pp_pick *picks, const pp_pick_order *order, int shift, const size_t *begins)
{
    size_t next[BUCKETS], bucket;
    memcpy(next, begins, sizeof next);
    for (bucket = 0; bucket < BUCKETS; bucket++)
        while (next[bucket] < begins[bucket + 1]) {
            pp_pick *here = &picks[next[bucket]], moved = *here;
            size_t target = bucket_of(here, order, shift);
            if (target != bucket) {
                *here = picks[next[target]];
                picks[next[target]] = moved;
            }
            next[target]++;
        }
}

static void sort_byte(pp_pick *picks, size_t count, const pp_pick_order *order, int shift)
{
    size_t begins[BUCKETS + 1], bucket;
    if (count <= FEW) {
        sort_few(picks, count, order);
        return;
    }
    find_buckets(picks, count, order, shift, begins);
    fill_buckets(picks, order, shift, begins);
    for (bucket = 0; shift > 0 && bucket < BUCKETS; bucket++)
        sort_byte(picks + begins[bucket], begins[bucket + 1] - begins[bucket], order, shift - 8);
}

/* As lists often are that programs make once. */
static bool is_sorted(const pp_pick *picks, size_t count, const pp_pick_order *order)
{
    uint64_t before = 0, number;
    size_t i;
    for (i = 0; i < count; i++, before = number)
        if ((number = order->number_of(order->context, &picks[i])) < before)
            return false;
    return true;
}

void pp_picks_sort(pp_pick *picks, size_t count, const pp_pick_order *order)
{
    int shift = 0;
    if (is_sorted(picks, count, order))
        return;
    while (shift < 56 && order->most >> shift >> 8 != 0)
        shift += 8;
    sort_byte(picks, count, order, shift);
}

static uint64_t stored_index_of(void *context, const pp_pick *pick)
{
    (void)context;
    return (uint64_t)pick->index;
}

static bool are_sorted(const pp_pick *picks, size_t count)
{
    size_t i;
    for (i = 1; i < count; i++)
        if (picks[i].index < picks[i - 1].index)
            return false;
    return true;
}

void pp_picks_sort_stored(pp_pick *picks, size_t count, const pp_tiling *tiling)
{
    const pp_pick_order order = {
        .number_of = stored_index_of,
        .most = (uint64_t)tiling->shards.cell_count * (uint64_t)pp_tiling_shard_elements(tiling),
    };
    if (!are_sorted(picks, count))
        pp_picks_sort(picks, count, &order);
}

/* ---- Looking ---- */

size_t pp_picks_find(const pp_pick *picks, size_t count, int64_t index)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (picks[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t pp_picks_find_shared(const pp_pick *picks, size_t count)
{
    size_t i;
    for (i = 1; i < count; i++)
        if (pp_pick_end(&picks[i - 1]) > picks[i].index)
            return i - 1;
    return count;
}

/* ---- Travelling ---- */

/* The next bytes that lie together, at most so many; NULL: there are no more. */
static unsigned char *next_bytes(pp_pick_stream *stream, size_t most, size_t *bytes)
{
    const pp_pick *pick;
    unsigned char *data;
    size_t all;
    if (most == 0 || stream->next == stream->count)
        return NULL;
    pick = &stream->picks[stream->next];
    all = (size_t)pp_pick_count(pick) * stream->element_bytes;
    *bytes = pp_min_size(all - stream->passed, most);
    data = stream->data + (size_t)pp_pick_place(pick) * stream->element_bytes + stream->passed;
    stream->passed += *bytes;
    if (stream->passed == all) {
        stream->next++;
        stream->passed = 0;
    }
    return data;
}

size_t pp_picks_gather(pp_pick_stream *stream, void *bytes, size_t most)
{
    size_t done = 0, more;
    unsigned char *data;
    for (; (data = next_bytes(stream, most - done, &more)) != NULL; done += more)
        memcpy((unsigned char *)bytes + done, data, more);
    return done;
}

size_t pp_picks_scatter(pp_pick_stream *stream, const void *bytes, size_t most)
{
    size_t done = 0, more;
    unsigned char *data;
    for (; (data = next_bytes(stream, most - done, &more)) != NULL; done += more)
        memcpy(data, (const unsigned char *)bytes + done, more);
    return done;
}
