#include "plan/indices.h"

#include <string.h>

#include "base/checked.h"
#include "base/status.h"

/* Parts of a range of shards or chunks whose picks are counted at a time. */
#define BUCKETS 1024

/* ---- Checking ---- */

static parapet_status check_point(const pp_indices *indices, int64_t number)
{
    int d, ndim = indices->tiling->shards.ndim;
    const int64_t *point = indices->points + number * ndim;
    for (d = 0; d < ndim; d++)
        if (point[d] < 0 || point[d] >= indices->shape[d])
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "point %lld is at %lld in dimension %d, but the array only reaches from 0 to %lld",
                           (long long)number, (long long)point[d], d, (long long)indices->shape[d]);
    return PARAPET_OK;
}

static int64_t length_of(const pp_indices *indices, int64_t run)
{
    return indices->lengths != NULL ? indices->lengths[run] : 1;
}

static int64_t count_elements(const pp_indices *indices)
{
    int64_t count = 1;
    int d, ndim = indices->tiling->shards.ndim;
    for (d = 0; d < ndim; d++)
        if (indices->shape[d] == 0)
            return 0; /* the others may have any product */
    for (d = 0; d < ndim; d++)
        count *= indices->shape[d];
    return count;
}

static parapet_status check_run(const pp_indices *indices, int64_t number, int64_t array_elements)
{
    int64_t start = indices->starts[number], length = length_of(indices, number);
    if (length < 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "run %lld has a length of %lld", (long long)number, (long long)length);
    if (start < 0 || start > array_elements || length > array_elements - start)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "run %lld begins at element %lld and has %lld, but the array only has %lld", (long long)number,
                       (long long)start, (long long)length, (long long)array_elements);
    return PARAPET_OK;
}

/* Where runs that ascend are divided because they go beyond a chunk, or are too long for a pick. */
typedef struct run_splits {
    int64_t chunk_elements;
    int64_t chunk_end; /* of the chunk in which the last run ended */
    int64_t count;
} run_splits;

static void note_run(run_splits *splits, int64_t start, int64_t end)
{
    int64_t more;
    splits->count += (end - start) / PP_PICK_MOST_ELEMENTS;
    if (end <= splits->chunk_end)
        return;
    if (start >= splits->chunk_end)
        splits->chunk_end = start - start % splits->chunk_elements + splits->chunk_elements;
    more = end > splits->chunk_end ? pp_divide_up(end - splits->chunk_end, splits->chunk_elements) : 0;
    splits->count += more;
    splits->chunk_end += more * splits->chunk_elements;
}

static parapet_status check_runs(pp_indices *indices, int64_t *elements)
{
    run_splits splits = {.chunk_elements = pp_tiling_chunk_elements(indices->tiling)};
    int64_t i, end = 0, array_elements = count_elements(indices);
    parapet_status status = PARAPET_OK;
    *elements = 0;
    for (i = 0; i < indices->count && status == PARAPET_OK; i++) {
        if ((status = check_run(indices, i, array_elements)) != PARAPET_OK)
            return status;
        if (!pp_add_fits(*elements, length_of(indices, i), elements))
            *elements = INT64_MAX;
        indices->is_ascending &= indices->starts[i] >= end;
        end = indices->starts[i] + length_of(indices, i);
        if (indices->is_ascending)
            note_run(&splits, indices->starts[i], end);
    }
    indices->split_count = splits.count;
    return status;
}

static int64_t flat_index(const pp_indices *indices, const int64_t *point)
{
    int64_t flat = 0;
    int d;
    for (d = 0; d < indices->tiling->shards.ndim; d++)
        flat = flat * indices->shape[d] + point[d];
    return flat;
}

static parapet_status check_points(pp_indices *indices, int64_t *elements)
{
    parapet_status status = PARAPET_OK;
    int64_t i, flat, end = 0;
    for (i = 0; i < indices->count && status == PARAPET_OK; i++) {
        if ((status = check_point(indices, i)) != PARAPET_OK || !indices->is_ascending)
            continue;
        flat = flat_index(indices, indices->points + i * indices->tiling->shards.ndim);
        indices->is_ascending = flat >= end;
        end = flat + 1;
    }
    *elements = indices->count;
    return status;
}

/* Whether chunks are whole rows of the array, and follow each other: then elements are stored in the order of the
 * flat index, and have the same number there. */
static bool is_flat(const pp_indices *indices)
{
    const pp_grid *shards = &indices->tiling->shards, *chunks = &indices->tiling->chunks;
    int d;
    for (d = 1; d < shards->ndim; d++)
        if (shards->cells[d] != 1 || shards->cell_shape[d] != indices->shape[d] ||
            chunks->cell_shape[d] != indices->shape[d])
            return false;
    return shards->ndim == 0 || shards->cell_shape[0] % chunks->cell_shape[0] == 0;
}

parapet_status pp_indices_check(pp_indices *indices, int64_t *elements)
{
    parapet_status status;
    indices->is_ascending = is_flat(indices);
    indices->split_count = 0;
    status = (indices->are_points ? check_points : check_runs)(indices, elements);
    if (status == PARAPET_OK && *elements > PP_PICK_MOST_PLACES)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a rank lists more than %lld elements", (long long)PP_PICK_MOST_PLACES);
    return status;
}

/* ---- Walking ---- */

pp_shard_range pp_shard_range_whole(const pp_tiling *tiling, int64_t from, int64_t end)
{
    return (pp_shard_range){.from = from, .end = end, .chunk_end = tiling->chunks.cell_count};
}

void pp_index_walk_init(pp_index_walk *walk, const pp_indices *indices, const pp_shard_range *range)
{
    int64_t elements = pp_tiling_shard_elements(indices->tiling), part = pp_tiling_chunk_elements(indices->tiling);
    bool is_whole = range->chunk_from == 0 && range->chunk_end == indices->tiling->chunks.cell_count;
    *walk = (pp_index_walk){.indices = indices,
                            .first = range->from * elements,
                            .end = range->end * elements,
                            .part_first = range->chunk_from * part,
                            .part_end = range->chunk_end * part,
                            .shard_elements = is_whole ? 0 : elements,
                            .is_flat = is_flat(indices),
                            .chunk_elements = part,
                            .at = range->start};
    if (range->end - range->from != 1)
        return;
    walk->end = walk->first + walk->part_end;
    walk->first += walk->part_first;
    walk->shard_elements = 0;
}

/* Where chunks are whole rows, the stored index of an element is the flat one. The chunk becomes that of the element;
 * returns how many elements there are to the end of it. */
static int64_t seek_flat(pp_index_walk *walk, int64_t flat)
{
    if (flat < walk->chunk.first || flat >= walk->chunk.first + walk->chunk_elements)
        walk->chunk.first = flat - flat % walk->chunk_elements;
    return walk->chunk.first + walk->chunk_elements - flat;
}

static int64_t find_point(pp_index_walk *walk, const int64_t *point)
{
    int64_t flat;
    if (!walk->is_flat)
        return pp_stored_index_near(walk->indices->tiling, &walk->chunk, point);
    flat = flat_index(walk->indices, point);
    (void)seek_flat(walk, flat);
    return flat;
}

static pp_pick take_point(pp_index_walk *walk)
{
    const pp_indices *indices = walk->indices;
    const int64_t *point = indices->points + walk->at.next++ * indices->tiling->shards.ndim;
    return pp_pick_of(find_point(walk, point), walk->at.place++, 1);
}

/* Elements from this one to the end of its row in the chunk, which is its own. */
static int64_t row_left(const pp_index_walk *walk, const int64_t *element)
{
    int last = walk->indices->tiling->shards.ndim - 1;
    return last < 0 ? 1 : pp_min_i64(walk->chunk.end[last], walk->indices->shape[last]) - element[last];
}

/* The first dimension needs no division: the flat index is inside the array. */
static void find_element(const pp_indices *indices, int64_t flat, int64_t *element)
{
    int d;
    for (d = indices->tiling->shards.ndim - 1; d > 0; d--) {
        element[d] = flat % indices->shape[d];
        flat /= indices->shape[d];
    }
    element[0] = flat;
}

/* Where an element of the flat index is stored, and how many others follow it there. */
static int64_t find_row(pp_index_walk *walk, int64_t flat, int64_t *count)
{
    int64_t element[PARAPET_MAX_NDIM], index;
    if (walk->is_flat) {
        *count = seek_flat(walk, flat);
        return flat;
    }
    find_element(walk->indices, flat, element);
    index = pp_stored_index_near(walk->indices->tiling, &walk->chunk, element);
    *count = row_left(walk, element);
    return index;
}

static pp_pick take_row(pp_index_walk *walk)
{
    int64_t left = length_of(walk->indices, walk->at.next) - walk->at.done, index, count;
    pp_pick pick;
    index = find_row(walk, walk->indices->starts[walk->at.next] + walk->at.done, &count);
    count = pp_min_i64(pp_min_i64(count, left), PP_PICK_MOST_ELEMENTS);
    pick = pp_pick_of(index, walk->at.place, count);
    walk->at.place += count;
    walk->at.done += count;
    if (count == left) {
        walk->at.next++;
        walk->at.done = 0;
    }
    return pick;
}

static bool take_any(pp_index_walk *walk, pp_pick *pick)
{
    const pp_indices *indices = walk->indices;
    while (!indices->are_points && walk->at.next < indices->count && length_of(indices, walk->at.next) == 0)
        walk->at.next++;
    if (walk->at.next >= indices->count)
        return false;
    *pick = indices->are_points ? take_point(walk) : take_row(walk);
    return true;
}

static bool is_inside(const pp_index_walk *walk, const pp_pick *pick)
{
    int64_t part;
    if (pick->index < walk->first || pick->index >= walk->end)
        return false;
    if (walk->shard_elements == 0)
        return true;
    part = pick->index % walk->shard_elements;
    return part >= walk->part_first && part < walk->part_end;
}

/* Gives back what was taken last: of a point or run that it ended, or of a run that goes on. */
static void give_back(pp_index_walk *walk, const pp_pick *pick)
{
    int64_t count = pp_pick_count(pick);
    if (walk->at.done == 0) {
        walk->at.next--;
        walk->at.done = walk->indices->are_points ? 1 : length_of(walk->indices, walk->at.next);
    }
    walk->at.done -= count;
    walk->at.place -= count;
}

/* Of a list that ascends, nothing that follows an element behind the range is inside it. */
static bool take_inside(pp_index_walk *walk, pp_pick *pick)
{
    while (take_any(walk, pick)) {
        if (is_inside(walk, pick))
            return true;
        if (walk->indices->is_ascending && pick->index >= walk->end) {
            give_back(walk, pick);
            return false;
        }
    }
    return false;
}

/* Whether a pick goes on where another ends, in the same chunk. */
static bool goes_on(const pp_index_walk *walk, const pp_pick *before, const pp_pick *pick)
{
    int64_t count = pp_pick_count(before);
    return pick->index == before->index + count && pp_pick_place(pick) == pp_pick_place(before) + count &&
           count + pp_pick_count(pick) <= PP_PICK_MOST_ELEMENTS && pick->index != walk->chunk.first;
}

bool pp_index_walk_next(pp_index_walk *walk, pp_pick *pick)
{
    pp_pick found = walk->ahead, more;
    walk->ahead = (pp_pick){0};
    while (take_inside(walk, &more)) {
        if (pp_pick_count(&found) == 0) {
            found = more;
        } else if (goes_on(walk, &found, &more)) {
            found = pp_pick_of(found.index, pp_pick_place(&found), pp_pick_count(&found) + pp_pick_count(&more));
        } else {
            walk->ahead = more;
            break;
        }
    }
    *pick = found;
    return pp_pick_count(&found) > 0;
}

int64_t pp_indices_count_picks(const pp_indices *indices, const pp_shard_range *range)
{
    pp_index_walk walk;
    pp_pick pick;
    int64_t count = 0;
    pp_index_walk_init(&walk, indices, range);
    while (pp_index_walk_next(&walk, &pick))
        count++;
    return count;
}

/* Where the list goes on when the walk has shown its last pick. */
static pp_index_position position_behind(pp_index_walk *walk)
{
    pp_pick none;
    (void)pp_index_walk_next(walk, &none);
    return walk->at;
}

parapet_status pp_indices_collect(const pp_indices *indices, const pp_shard_range *range, int64_t count,
                                  pp_list *picks, pp_index_position *rest)
{
    parapet_status status = pp_list_reserve(picks, (size_t)count);
    pp_index_walk walk;
    pp_pick *pick;
    if (status != PARAPET_OK)
        return status;
    pick = pp_list_at(picks, picks->count);
    pp_index_walk_init(&walk, indices, range);
    for (; count > 0 && pp_index_walk_next(&walk, pick); count--, pick++)
        picks->count++;
    *rest = indices->is_ascending ? position_behind(&walk) : (pp_index_position){0};
    return PARAPET_OK;
}

/* ---- Passes ---- */

/* A range is limited along its shards, or along the chunks of each of them. */
typedef enum range_axis { ALONG_SHARDS, ALONG_CHUNKS } range_axis;

static int64_t *from_of(pp_shard_range *range, range_axis axis)
{
    return axis == ALONG_SHARDS ? &range->from : &range->chunk_from;
}

static int64_t *end_of(pp_shard_range *range, range_axis axis)
{
    return axis == ALONG_SHARDS ? &range->end : &range->chunk_end;
}

/* The number of a pick's shard, or of its chunk in the shard. */
static int64_t position_of(const pp_tiling *tiling, const pp_pick *pick, range_axis axis)
{
    if (axis == ALONG_SHARDS)
        return pick->index / pp_tiling_shard_elements(tiling);
    return pick->index / pp_tiling_chunk_elements(tiling) % tiling->chunks.cell_count;
}

/* Counts the picks of a range in buckets of this many shards or chunks. A list that ascends is walked only
 * until there are more than most_picks. */
static void count_buckets(const pp_indices *indices, const pp_shard_range *range, range_axis axis, int64_t width,
                          int64_t most_picks, int64_t *counts)
{
    int64_t from = axis == ALONG_SHARDS ? range->from : range->chunk_from, sum = 0, first = -1, bucket = 0;
    int64_t unit =
        axis == ALONG_SHARDS ? pp_tiling_shard_elements(indices->tiling) : pp_tiling_chunk_elements(indices->tiling);
    pp_index_walk walk;
    pp_pick pick;
    memset(counts, 0, BUCKETS * sizeof counts[0]);
    pp_index_walk_init(&walk, indices, range);
    while ((sum <= most_picks || !indices->is_ascending) && pp_index_walk_next(&walk, &pick)) {
        if (first < 0 || pick.index < first || pick.index - first >= unit) {
            first = pick.index - pick.index % unit;
            bucket = (position_of(indices->tiling, &pick, axis) - from) / width;
        }
        counts[bucket]++;
        sum++;
    }
}

static int64_t limit(const pp_indices *indices, int64_t most_picks, range_axis axis, pp_shard_range *range)
{
    pp_shard_range searched = *range;
    int64_t *from = from_of(&searched, axis), *end = end_of(&searched, axis), *found = end_of(range, axis);
    while (*from < *end) {
        int64_t counts[BUCKETS], sum = 0, width = pp_divide_up(*end - *from, BUCKETS);
        int i;
        count_buckets(indices, &searched, axis, width, most_picks, counts);
        for (i = 0; i < BUCKETS && sum + counts[i] <= most_picks; i++)
            sum += counts[i];
        if (i == BUCKETS)
            return sum;
        *from += i * width;
        *found = *from;
        if (sum > 0)
            return sum;
        *end = pp_min_i64(*from + width, *end);
        *found = *end;
        if (width == 1) /* of a list that ascends, only some were counted */
            return indices->is_ascending ? pp_indices_count_picks(indices, range) : counts[i];
    }
    return 0;
}

int64_t pp_indices_limit(const pp_indices *indices, int64_t most_picks, pp_shard_range *range)
{
    return limit(indices, most_picks, ALONG_SHARDS, range);
}

int64_t pp_indices_limit_chunks(const pp_indices *indices, int64_t most_picks, pp_shard_range *range)
{
    return limit(indices, most_picks, ALONG_CHUNKS, range);
}

/* ---- Passes of lists that ascend ---- */

/* The first element of a point or run; where the list ascends, that is also its stored index. */
static int64_t element_listed(const pp_indices *indices, int64_t number)
{
    return indices->are_points ? flat_index(indices, indices->points + number * indices->tiling->shards.ndim)
                               : indices->starts[number];
}

bool pp_indices_limit_ascending(const pp_indices *indices, int64_t most_picks, pp_shard_range *range, int64_t *picks)
{
    int64_t shard = pp_tiling_shard_elements(indices->tiling), chunk = pp_tiling_chunk_elements(indices->tiling);
    int64_t next = range->start.next, left = indices->count - next, first, last;
    int64_t most = most_picks - indices->split_count - (range->start.done > 0);
    if (!indices->is_ascending || most <= 0)
        return false;
    first = left > 0 ? (element_listed(indices, next) + range->start.done) / shard : range->end;
    *picks = first < range->end ? pp_min_i64(left, most) + most_picks - most : 0;
    if (*picks == 0 || left <= most)
        return true;
    last = element_listed(indices, next + most); /* everything before it has room */
    range->from = pp_max_i64(range->from, first);
    if (last / shard > range->from) {
        range->end = pp_min_i64(range->end, last / shard);
        return true;
    }
    range->end = range->from + 1;
    range->chunk_end = last % shard / chunk;
    return range->chunk_end > range->chunk_from;
}
