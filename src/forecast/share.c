#include "forecast/share.h"

#include "base/checked.h"
#include "base/status.h"
#include "plan/pieces.h"

/* Boxes of one rank in one shard that are looked at one by one. */
#define BOXES_MOST (INT64_C(1) << 20)

void pp_share_add(pp_share *sum, const pp_share *share, int64_t times)
{
    sum->requests += times * share->requests;
    sum->fragments += times * share->fragments;
    sum->bytes += times * share->bytes;
    sum->boxes += times * share->boxes;
}

static const pp_encounter *encounter_of(const pp_share_case *share_case, const int32_t *encounters, int d)
{
    return &share_case->crossings[d].encounters[encounters[d]];
}

/* ---- A shard of its own, with the boxes of one rank in it: what pieces.h works on ---- */

typedef struct one_shard {
    pp_tiling tiling; /* of an array that is this one shard, clipped as it is */
    pp_target target;
    pp_budget budget;
    pp_claims claims;
    pp_worklist list;
    pp_claim_set plan;
} one_shard;

static void sample_clear(one_shard *sample)
{
    pp_worklist_clear(&sample->list);
    pp_claims_clear(&sample->claims);
}

static parapet_status add_boxes(one_shard *sample, const pp_share_case *share_case, const int32_t *encounters)
{
    int64_t words[PP_CLAIM_GEOMETRY + 3 * PARAPET_MAX_NDIM], strides[PARAPET_MAX_NDIM] = {0};
    int64_t cell[PARAPET_MAX_NDIM], part = 0;
    int ndim = share_case->tiling->shards.ndim, d;
    parapet_status status = PARAPET_OK;
    pp_box turns = {.ndim = ndim}, box = {.ndim = ndim};
    bool more;
    for (d = 0; d < ndim; d++)
        turns.count[d] = encounter_of(share_case, encounters, d)->intervals;
    for (more = pp_box_first(&turns, cell); more && status == PARAPET_OK; more = pp_box_next(&turns, cell), part++) {
        for (d = 0; d < ndim; d++)
            (void)pp_encounter_interval(&share_case->crossings[d], encounter_of(share_case, encounters, d), cell[d],
                                        &box.start[d], &box.count[d]);
        pp_claim_write(words, ndim, 0, 0, part, &box, NULL, strides);
        status = pp_claims_add(&sample->claims, words);
    }
    return status;
}

static parapet_status check_box_count(const pp_share_case *share_case, const int32_t *encounters)
{
    int64_t boxes = 1;
    int d;
    for (d = 0; d < share_case->tiling->shards.ndim; d++)
        if (!pp_multiply_fits(boxes, encounter_of(share_case, encounters, d)->intervals, &boxes) ||
            boxes > BOXES_MOST)
            return pp_fail(PARAPET_ERR_UNSUPPORTED,
                           "a rank has more than %lld boxes in one shard, too many to plan for; use larger blocks",
                           (long long)BOXES_MOST);
    return PARAPET_OK;
}

static parapet_status sample_init(one_shard *sample, const pp_share_case *share_case, const int32_t *encounters)
{
    int64_t extent[PARAPET_MAX_NDIM];
    const pp_tiling *tiling = share_case->tiling;
    int ndim = tiling->shards.ndim, d;
    parapet_status status;
    pp_grid shards;
    *sample = (one_shard){0};
    pp_budget_init(&sample->budget, SIZE_MAX / 2);
    pp_claims_init(&sample->claims, ndim, &sample->budget);
    for (d = 0; d < ndim; d++)
        extent[d] = encounter_of(share_case, encounters, d)->extent;
    sample->target.tiling = &sample->tiling;
    sample->plan = (pp_claim_set){.targets = &sample->target, .target_count = 1, .claims = &sample->claims};
    if ((status = check_box_count(share_case, encounters)) != PARAPET_OK ||
        (status = pp_grid_init(&shards, ndim, extent, tiling->shards.cell_shape, tiling->element_bytes)) !=
            PARAPET_OK ||
        (status = pp_tiling_init(&sample->tiling, &shards, tiling->chunks.cell_shape, tiling->element_bytes)) !=
            PARAPET_OK ||
        (status = add_boxes(sample, share_case, encounters)) != PARAPET_OK)
        return status;
    return pp_worklist_build(&sample->list, &sample->plan, NULL, NULL, &sample->budget);
}

static void count_window(const one_shard *sample, const pp_window *window, size_t fragment_bytes, int64_t times,
                         pp_share *share)
{
    pp_pieces pieces;
    int64_t fragments, bytes;
    pp_pieces_init(&pieces, &sample->plan, &sample->list, window, 0, sample->list.count, fragment_bytes);
    pp_pieces_count(&pieces, &fragments, &bytes);
    share->requests += times * (fragments > 0);
    share->fragments += times * fragments;
}

static void count_windows(const one_shard *sample, const pp_share_case *share_case, pp_share *share)
{
    pp_window window = {0};
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box inside;
    bool more;
    pp_tiling_chunks_inside(&sample->tiling, 0, &inside);
    for (more = pp_box_first(&inside, cell); more;) {
        window.chunk_count = 0;
        for (; more && window.chunk_count < share_case->window_chunks; more = pp_box_next(&inside, cell))
            window.chunks[window.chunk_count++] = pp_grid_cell_number(&share_case->tiling->chunks, cell);
        count_window(sample, &window, share_case->fragment_bytes, 1, share);
    }
}

/* Bytes and boxes follow from the encounters alone. */
static void measure(const pp_share_case *share_case, const int32_t *encounters, pp_share *share)
{
    int d;
    *share = (pp_share){.bytes = (int64_t)share_case->tiling->element_bytes, .boxes = 1};
    for (d = 0; d < share_case->tiling->shards.ndim; d++) {
        share->bytes *= encounter_of(share_case, encounters, d)->elements;
        share->boxes *= encounter_of(share_case, encounters, d)->intervals;
    }
}

parapet_status pp_share_count_by_pieces(const pp_share_case *share_case, const int32_t *encounters, pp_share *share)
{
    one_shard sample;
    parapet_status status = sample_init(&sample, share_case, encounters);
    measure(share_case, encounters, share);
    if (status == PARAPET_OK)
        count_windows(&sample, share_case, share);
    sample_clear(&sample);
    return status;
}

/* ---- Every window fits one message: only windows are to be counted ---- */

/* A walk through the chunks that the encounters touch, in C order: all chunks of one run of the last dimension at a
 * time. */
typedef struct touch_walk {
    int ndim; /* dimensions behind it are touched as a whole: a step of this one is `tail` chunks */
    int64_t tail;
    pp_run run[PARAPET_MAX_NDIM];
    int64_t at[PARAPET_MAX_NDIM];
} touch_walk;

static int64_t first_chunk_of_run(const touch_walk *walk, const pp_share_case *share_case, const int32_t *encounters)
{
    int64_t number = 0;
    int d;
    for (d = 0; d < walk->ndim; d++)
        number = number * encounter_of(share_case, encounters, d)->chunks + walk->at[d];
    return number * walk->tail;
}

static bool enter_run(touch_walk *walk, const pp_share_case *share_case, const int32_t *encounters, int d)
{
    bool is_found =
        pp_encounter_next_run(&share_case->crossings[d], encounter_of(share_case, encounters, d), &walk->run[d]);
    walk->at[d] = walk->run[d].first;
    return is_found;
}

/* Moves on to the next run of the last dimension; false: that was the last. */
static bool next_touched(touch_walk *walk, const pp_share_case *share_case, const int32_t *encounters)
{
    int d;
    for (d = walk->ndim - 1; d >= 0; d--) {
        if (d < walk->ndim - 1 && ++walk->at[d] < walk->run[d].first + walk->run[d].count)
            return true;
        if (enter_run(walk, share_case, encounters, d))
            return true;
        walk->run[d] = (pp_run){0};
        (void)enter_run(walk, share_case, encounters, d);
    }
    return false;
}

static touch_walk start_walk(const pp_share_case *share_case, const int32_t *encounters)
{
    touch_walk walk = {.ndim = share_case->tiling->shards.ndim, .tail = 1};
    int d;
    while (walk.ndim > 1 && encounter_of(share_case, encounters, walk.ndim - 1)->touched_chunks ==
                                encounter_of(share_case, encounters, walk.ndim - 1)->chunks) {
        walk.ndim--;
        walk.tail *= encounter_of(share_case, encounters, walk.ndim)->chunks;
    }
    for (d = 0; d < walk.ndim; d++)
        (void)enter_run(&walk, share_case, encounters, d);
    return walk;
}

static int64_t count_touched_windows(const pp_share_case *share_case, const int32_t *encounters)
{
    int ndim = share_case->tiling->shards.ndim;
    touch_walk walk = start_walk(share_case, encounters);
    int64_t counted = 0, last = -1;
    if (ndim == 0)
        return 1;
    do {
        int64_t first = first_chunk_of_run(&walk, share_case, encounters);
        int64_t chunks = walk.run[walk.ndim - 1].count * walk.tail;
        int64_t low = pp_max_i64(first / share_case->window_chunks, last + 1);
        int64_t high = (first + chunks - 1) / share_case->window_chunks;
        counted += pp_max_i64(high - low + 1, 0);
        last = high;
    } while (next_touched(&walk, share_case, encounters));
    return counted;
}

/* ---- A window is one chunk: chunks that are cut alike count alike ---- */

/* Chunks in which an encounter has intervals of the same lengths. */
typedef struct alike {
    int64_t chunk; /* the first of them */
    int64_t count;
} alike;

enum { ALIKE_MOST = 8 };

/* Length of interval number index within a chunk; 0: it is outside. */
static int64_t length_within(const pp_crossing *crossing, const pp_encounter *encounter, int64_t index, int64_t chunk)
{
    int64_t start, count, low = chunk * crossing->chunk_shape, high = low + crossing->chunk_shape;
    if (!pp_encounter_interval(crossing, encounter, index, &start, &count))
        return 0;
    low = pp_max_i64(low, start);
    high = pp_min_i64(high, start + count);
    return high > low ? high - low : 0;
}

static int64_t first_interval_in(const pp_crossing *crossing, const pp_encounter *encounter, int64_t chunk)
{
    int64_t index = 0, behind = chunk * crossing->chunk_shape - encounter->next;
    if (length_within(crossing, encounter, 0, chunk) > 0 || encounter->next < 0)
        return 0;
    /* One before the first that can reach into the chunk, then on. */
    if (behind > 0)
        index = behind / crossing->stride;
    while (index < encounter->intervals && length_within(crossing, encounter, index, chunk) == 0)
        index++;
    return index;
}

static bool is_cut_alike(const pp_crossing *crossing, const pp_encounter *encounter, int64_t a, int64_t b)
{
    int64_t index_a = first_interval_in(crossing, encounter, a), index_b = first_interval_in(crossing, encounter, b);
    for (;; index_a++, index_b++) {
        int64_t length = length_within(crossing, encounter, index_a, a);
        if (length != length_within(crossing, encounter, index_b, b))
            return false;
        if (length == 0)
            return true;
    }
}

/* Chunks between the first and the last of a run of one interval are all whole. */
static int64_t skip_whole(const pp_crossing *crossing, const pp_encounter *encounter, int64_t chunk, int64_t left)
{
    int64_t end = encounter->high / crossing->chunk_shape; /* the first that is not whole */
    if (encounter->intervals > 1 || length_within(crossing, encounter, 0, chunk) < crossing->chunk_shape)
        return 1;
    return pp_max_i64(pp_min_i64(left, end - chunk), 1);
}

/* Sorts the touched chunks by how they are cut; 0: there are too many ways. */
static int sort_alike(const pp_crossing *crossing, const pp_encounter *encounter, alike sorted[ALIKE_MOST])
{
    pp_run run = {0};
    int64_t at, step;
    int count = 0, i;
    while (pp_encounter_next_run(crossing, encounter, &run))
        for (at = run.first; at < run.first + run.count; at += step) {
            step = skip_whole(crossing, encounter, at, run.first + run.count - at);
            for (i = 0; i < count && !is_cut_alike(crossing, encounter, sorted[i].chunk, at); i++)
                continue;
            if (i == ALIKE_MOST)
                return 0;
            if (i == count)
                sorted[count++] = (alike){.chunk = at};
            sorted[i].count += step;
        }
    return count;
}

static int64_t elements_in_chunk(const pp_crossing *crossing, const pp_encounter *encounter, int64_t chunk)
{
    int64_t index = first_interval_in(crossing, encounter, chunk), elements = 0, length;
    while ((length = length_within(crossing, encounter, index++, chunk)) > 0)
        elements += length;
    return elements;
}

typedef struct alike_walk {
    const pp_share_case *share_case;
    const int32_t *encounters;
    alike sorted[PARAPET_MAX_NDIM][ALIKE_MOST];
    pp_box choices; /* which of the ways, per dimension */
} alike_walk;

/* Needs the sample only for a chunk that does not fit a message. */
static parapet_status count_alike(const alike_walk *walk, const int64_t *choice, one_shard *sample, bool *has_sample,
                                  pp_share *share)
{
    const pp_share_case *share_case = walk->share_case;
    int64_t cell[PARAPET_MAX_NDIM], times = 1, bytes = (int64_t)share_case->tiling->element_bytes;
    pp_window window = {.chunk_count = 1};
    parapet_status status;
    int d;
    for (d = 0; d < walk->choices.ndim; d++) {
        const alike *same = &walk->sorted[d][choice[d]];
        cell[d] = same->chunk;
        times *= same->count;
        bytes *=
            elements_in_chunk(&share_case->crossings[d], encounter_of(share_case, walk->encounters, d), same->chunk);
    }
    if ((size_t)bytes <= share_case->fragment_bytes) {
        share->requests += times;
        share->fragments += times;
        return PARAPET_OK;
    }
    if (!*has_sample) {
        *has_sample = true;
        if ((status = sample_init(sample, share_case, walk->encounters)) != PARAPET_OK)
            return status;
    }
    window.chunks[0] = pp_grid_cell_number(&share_case->tiling->chunks, cell);
    count_window(sample, &window, share_case->fragment_bytes, times, share);
    return PARAPET_OK;
}

/* *is_counted false: chunks are cut in too many ways for this. */
static parapet_status count_single_chunks(const pp_share_case *share_case, const int32_t *encounters, pp_share *share,
                                          bool *is_counted)
{
    alike_walk walk = {.share_case = share_case, .encounters = encounters};
    int64_t choice[PARAPET_MAX_NDIM];
    bool more, has_sample = false;
    parapet_status status = PARAPET_OK;
    one_shard sample;
    int d;
    walk.choices = (pp_box){.ndim = share_case->tiling->shards.ndim};
    for (d = 0; d < walk.choices.ndim; d++)
        walk.choices.count[d] =
            sort_alike(&share_case->crossings[d], encounter_of(share_case, encounters, d), walk.sorted[d]);
    *is_counted = !pp_box_is_empty(&walk.choices);
    for (more = pp_box_first(&walk.choices, choice); more && status == PARAPET_OK;
         more = pp_box_next(&walk.choices, choice))
        status = count_alike(&walk, choice, &sample, &has_sample, share);
    if (has_sample)
        sample_clear(&sample);
    return status;
}

/* The most elements along one dimension that an encounter can have in a chunk: blocks of all whole strides that fit,
 * and in the rest no more than one block. */
static int64_t most_in_chunk(const pp_crossing *crossing, const pp_encounter *encounter)
{
    int64_t most = crossing->chunk_shape / crossing->stride * crossing->block + crossing->block;
    if (encounter->intervals == 1)
        most = encounter->high - encounter->low;
    return pp_min_i64(most, crossing->chunk_shape);
}

/* Whether what the rank has of any window surely fits one message. */
static bool fits_messages(const pp_share_case *share_case, const int32_t *encounters, const pp_share *share)
{
    int64_t most = (int64_t)share_case->tiling->element_bytes * share_case->window_chunks;
    int d;
    for (d = 0; d < share_case->tiling->shards.ndim; d++)
        if (!pp_multiply_fits(most, most_in_chunk(&share_case->crossings[d], encounter_of(share_case, encounters, d)),
                              &most))
            return (size_t)share->bytes <= share_case->fragment_bytes;
    return (size_t)pp_min_i64(most, share->bytes) <= share_case->fragment_bytes;
}

parapet_status pp_share_count(const pp_share_case *share_case, const int32_t *encounters, pp_share *share)
{
    parapet_status status;
    bool is_counted;
    measure(share_case, encounters, share);
    if (fits_messages(share_case, encounters, share)) {
        share->requests = count_touched_windows(share_case, encounters);
        share->fragments = share->requests;
        return PARAPET_OK;
    }
    if (share_case->window_chunks == 1) {
        status = count_single_chunks(share_case, encounters, share, &is_counted);
        if (status != PARAPET_OK || is_counted)
            return status;
    }
    return pp_share_count_by_pieces(share_case, encounters, share);
}
