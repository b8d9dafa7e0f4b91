#include "plan/shapes.h"

#include <string.h>

#include "base/checked.h"
#include "base/status.h"

/* A chunk of about 1 MiB compresses well, is fetched in one request near the disk's full speed (256 KiB would
 * already do), and is small enough that reading a corner does not cost a whole file. */
#define CHUNK_TARGET_BYTES (INT64_C(1) << 20)

/* Shards of about 256 MiB keep files few (a terabyte is 4,000 of them) and are still streamed, never held. */
#define SHARD_TARGET_BYTES (INT64_C(256) << 20)

/* With 16 shards to a server the servers end at nearly the same time, also when some are slower; with one, the last
 * shard decides. But 1,024 servers must not mean 16,384 small files: for this no shard becomes smaller than that. */
#define SHARDS_PER_SERVER 16
#define SHARD_LEAST_BYTES (INT64_C(8) << 20)
#define SHARD_LEAST_CHUNKS 4

static int64_t saturating_bytes(int ndim, const int64_t *shape, size_t element_bytes)
{
    int64_t bytes = (int64_t)element_bytes;
    int d;
    for (d = 0; d < ndim; d++)
        if (!pp_multiply_fits(bytes, shape[d], &bytes))
            return INT64_MAX;
    return bytes;
}

static int largest_dimension(int ndim, const int64_t *shape)
{
    int d, largest = 0;
    for (d = 1; d < ndim; d++)
        if (shape[d] > shape[largest])
            largest = d;
    return largest;
}

/* Halves the longest side until the chunk is small enough: chunks come out near cubic, and equal arrays always
 * get equal chunks. */
static void choose_chunks(int ndim, const int64_t *shape, size_t element_bytes, int64_t *chunks)
{
    int d;
    for (d = 0; d < ndim; d++)
        chunks[d] = pp_max_i64(shape[d], 1);
    while (ndim > 0 && saturating_bytes(ndim, chunks, element_bytes) > CHUNK_TARGET_BYTES) {
        d = largest_dimension(ndim, chunks);
        if (chunks[d] == 1)
            break;
        chunks[d] = pp_divide_up(chunks[d], 2);
    }
}

/* Not sought beyond the target: what such a factor leaves is larger than it, and so too large for a chunk. */
static int64_t smallest_factor(int64_t number)
{
    int64_t factor;
    for (factor = 2; factor <= CHUNK_TARGET_BYTES && factor <= number / factor; factor++)
        if (number % factor == 0)
            return factor;
    return number;
}

/* Chunks for shards that are given: divides the longest side by its smallest factor until small enough. */
static void choose_dividing_chunks(int ndim, const int64_t *shards, size_t element_bytes, int64_t *chunks)
{
    memcpy(chunks, shards, (size_t)ndim * sizeof chunks[0]);
    while (ndim > 0 && saturating_bytes(ndim, chunks, element_bytes) > CHUNK_TARGET_BYTES) {
        int d = largest_dimension(ndim, chunks);
        if (chunks[d] == 1)
            break;
        chunks[d] /= smallest_factor(chunks[d]);
    }
}

static int64_t count_cells(int ndim, const int64_t *shape, const int64_t *cells)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        if (!pp_multiply_fits(count, pp_max_i64(pp_divide_up(shape[d], cells[d]), 1), &count))
            return INT64_MAX;
    return count;
}

/* Whether shards are large enough to stay as they are for the sake of having many. */
static bool may_stay(const parapet_array_spec *spec, size_t element_bytes, const int64_t *chunks,
                     const int64_t *shards)
{
    return saturating_bytes(spec->ndim, shards, element_bytes) >= SHARD_LEAST_BYTES &&
           count_cells(spec->ndim, shards, chunks) >= SHARD_LEAST_CHUNKS;
}

/* Whether there are enough shards for the servers expected: one for each, and 16 unless they would be small. */
static bool are_enough(const parapet_array_spec *spec, int64_t expected_servers, const int64_t *shards,
                       bool was_large)
{
    int64_t count = count_cells(spec->ndim, spec->shape, shards);
    if (expected_servers <= 1)
        return true;
    return count >= expected_servers && (!was_large || count / SHARDS_PER_SERVER >= expected_servers);
}

/* Doubles the shard along the dimension in which it covers least of the array, while it stays below the target
 * and leaves enough shards for the servers expected. */
static void choose_shards(const parapet_array_spec *spec, size_t element_bytes, int64_t expected_servers,
                          const int64_t *chunks, int64_t *shards)
{
    int d, least;
    memcpy(shards, chunks, (size_t)spec->ndim * sizeof shards[0]);
    for (;;) {
        bool was_large = may_stay(spec, element_bytes, chunks, shards);
        int64_t before;
        least = -1;
        for (d = 0; d < spec->ndim; d++)
            if (shards[d] < spec->shape[d] && (least < 0 || pp_divide_up(spec->shape[d], shards[d]) >
                                                                pp_divide_up(spec->shape[least], shards[least])))
                least = d;
        if (least < 0)
            return;
        before = shards[least];
        shards[least] = before > INT64_MAX / 4 ? before : 2 * before;
        if (shards[least] > spec->shape[least])
            shards[least] = pp_divide_up(spec->shape[least], chunks[least]) * chunks[least];
        if (saturating_bytes(spec->ndim, shards, element_bytes) > SHARD_TARGET_BYTES ||
            !are_enough(spec, expected_servers, shards, was_large) || shards[least] == before) {
            shards[least] = before;
            return;
        }
    }
}

/* As many shards along each dimension, as equal as whole chunks allow: a rank that gets one of two has half. */
static void even_out(const parapet_array_spec *spec, const int64_t *chunks, int64_t *shards)
{
    int d;
    for (d = 0; d < spec->ndim; d++) {
        int64_t count = pp_divide_up(spec->shape[d], shards[d]), all = pp_divide_up(spec->shape[d], chunks[d]), each;
        if (count < 2)
            continue;
        each = pp_divide_up(all, count);
        if (pp_divide_up(all, each) == count)
            shards[d] = each * chunks[d];
    }
}

static parapet_status take_given(const parapet_array_spec *spec, const int64_t *given, const char *name,
                                 int64_t *shape)
{
    int d;
    for (d = 0; d < spec->ndim; d++) {
        if (given[d] < 0)
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "%s[%d] is %lld, but must be 1 or more, or 0 for the whole dimension", name, d,
                           (long long)given[d]);
        shape[d] = given[d] > 0 ? given[d] : pp_max_i64(spec->shape[d], 1);
    }
    return PARAPET_OK;
}

static parapet_status fit_shards(const parapet_array_spec *spec, const int64_t *chunks, int64_t *shards)
{
    int d;
    for (d = 0; d < spec->ndim; d++) {
        if (spec->shards[d] == 0 && pp_divide_up(shards[d], chunks[d]) <= INT64_MAX / chunks[d])
            shards[d] = pp_divide_up(shards[d], chunks[d]) * chunks[d];
        if (shards[d] % chunks[d] != 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "shards[%d] is %lld, which is not a multiple of chunks[%d], %lld", d,
                           (long long)shards[d], d, (long long)chunks[d]);
    }
    return PARAPET_OK;
}

parapet_status pp_shapes_choose(const parapet_array_spec *spec, size_t element_bytes, int64_t expected_servers,
                                int64_t *chunks, int64_t *shards)
{
    bool has_shards = spec->shards != NULL && !spec->unsharded;
    parapet_status status = PARAPET_OK;
    if (has_shards)
        status = take_given(spec, spec->shards, "shards", shards);
    if (status == PARAPET_OK && spec->chunks != NULL)
        status = take_given(spec, spec->chunks, "chunks", chunks);
    else if (has_shards)
        choose_dividing_chunks(spec->ndim, shards, element_bytes, chunks);
    else
        choose_chunks(spec->ndim, spec->shape, element_bytes, chunks);
    if (status != PARAPET_OK)
        return status;
    if (has_shards)
        return fit_shards(spec, chunks, shards);
    if (spec->unsharded)
        memcpy(shards, chunks, (size_t)spec->ndim * sizeof shards[0]);
    else
        choose_shards(spec, element_bytes, expected_servers, chunks, shards);
    if (!spec->unsharded)
        even_out(spec, chunks, shards);
    return PARAPET_OK;
}
