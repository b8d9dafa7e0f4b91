#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "plan/worklist.h"

#define PAIRWISE_MOST 16
#define SAMPLE_MOST 64

/* The search for two claims of one shard that overlap. The shard is cut in two at a coordinate, again and again,
 * until a few claims are left in each region, which are compared pair by pair. A claim that crosses a cut belongs to
 * both sides. The two sides follow each other, each with the crossing claims between them:
 *
 *     before the cut | across it | after it
 *     [------- first side ------]
 *                     [----- second side ---]
 *
 * so that no memory is needed but for one row of pointers. */
typedef struct overlap_search {
    const int64_t **claims; /* of the shard: the few, or more */
    int ndim, ndim_most;
    pp_box shard;            /* what claims have beyond it is left aside */
    const int64_t *found[2]; /* two claims that overlap; NULL: none do */
    const int64_t *few[PAIRWISE_MOST];
} overlap_search;

typedef struct overlap_cut {
    int d;
    int64_t at; /* before: ends here or earlier; after: starts here or later */
} overlap_cut;

static int64_t start_of(const overlap_search *search, const int64_t *claim, int d)
{
    return pp_max_i64(claim[PP_CLAIM_GEOMETRY + d], search->shard.start[d]);
}

static int64_t end_of(const overlap_search *search, const int64_t *claim, int d)
{
    const int64_t *geometry = claim + PP_CLAIM_GEOMETRY;
    return pp_min_i64(geometry[d] + geometry[search->ndim_most + d], search->shard.start[d] + search->shard.count[d]);
}

static bool is_named_before(const int64_t *a, const int64_t *b)
{
    return a[PP_CLAIM_RANK] != b[PP_CLAIM_RANK] ? a[PP_CLAIM_RANK] < b[PP_CLAIM_RANK]
                                                : a[PP_CLAIM_PART] < b[PP_CLAIM_PART];
}

static bool do_overlap(const overlap_search *search, const int64_t *a, const int64_t *b)
{
    int d;
    for (d = 0; d < search->ndim; d++)
        if (start_of(search, a, d) >= end_of(search, b, d) || start_of(search, b, d) >= end_of(search, a, d))
            return false;
    return true;
}

/* Whether no two of the claims overlap; if two do, they are remembered. */
static bool are_pairs_apart(overlap_search *search, const int64_t **claims, size_t count)
{
    size_t i, j;
    for (i = 0; i < count; i++)
        for (j = i + 1; j < count; j++)
            if (do_overlap(search, claims[i], claims[j])) {
                search->found[0] = claims[i];
                search->found[1] = claims[j];
                return false;
            }
    return true;
}

/* Some of the claims, all if there are few. Not at equal steps: claims often come in a regular order. */
static size_t take_sample(const int64_t **claims, size_t count, const int64_t **sample)
{
    size_t i, taken = pp_min_size(count, SAMPLE_MOST);
    for (i = 0; i < taken; i++)
        sample[i] = claims[count <= SAMPLE_MOST ? i : i * UINT64_C(11400714819323198485) % count];
    return taken;
}

static void sort_numbers(int64_t *values, size_t count)
{
    size_t i, j;
    for (i = 1; i < count; i++) {
        int64_t value = values[i];
        for (j = i; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

/* Pairs of claims, times two, that are left to compare on both sides of a cut together. */
static uint64_t count_pairs(uint64_t first_side, uint64_t second_side)
{
    return first_side * first_side + second_side * second_side;
}

static uint64_t pairs_left(const overlap_search *search, const int64_t **claims, size_t count, overlap_cut cut)
{
    uint64_t first_side = 0, second_side = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        first_side += start_of(search, claims[i], cut.d) < cut.at;
        second_side += end_of(search, claims[i], cut.d) > cut.at;
    }
    return count_pairs(first_side, second_side);
}

/* The best cut of one dimension, for sorted starts and ends. It is at an end: moving a cut back to the last end
 * before it takes claims from the first side and gives none to the second. */
static uint64_t best_cut(const int64_t *starts, const int64_t *ends, size_t count, int64_t *at)
{
    uint64_t least = UINT64_MAX;
    size_t i, started = 0;
    for (i = 0; i < count; i++) {
        uint64_t left;
        while (started < count && starts[started] < ends[i])
            started++;
        left = count_pairs(started, count - i - 1);
        if (left < least) {
            least = left;
            *at = ends[i];
        }
    }
    return least;
}

/* The cut that separates best, judged by a sample. */
static overlap_cut choose_cut(const overlap_search *search, const int64_t **claims, size_t count)
{
    const int64_t *sample[SAMPLE_MOST];
    int64_t starts[SAMPLE_MOST], ends[SAMPLE_MOST];
    size_t i, taken = take_sample(claims, count, sample);
    overlap_cut best = {0, 0};
    uint64_t least = UINT64_MAX;
    int d;
    for (d = 0; d < search->ndim; d++) {
        overlap_cut cut = {d, 0};
        uint64_t left;
        for (i = 0; i < taken; i++) {
            starts[i] = start_of(search, sample[i], d);
            ends[i] = end_of(search, sample[i], d);
        }
        sort_numbers(starts, taken);
        sort_numbers(ends, taken);
        left = best_cut(starts, ends, taken, &cut.at);
        if (left < least) {
            least = left;
            best = cut;
        }
    }
    return best;
}

/* Moves the claims that reach beyond the cut, or start at or after it, behind the others; returns how many others. */
static size_t partition(const overlap_search *search, const int64_t **claims, size_t count, overlap_cut cut,
                        bool by_end)
{
    size_t i, kept = 0;
    for (i = 0; i < count; i++) {
        const int64_t *claim = claims[i];
        if (by_end ? end_of(search, claim, cut.d) > cut.at : start_of(search, claim, cut.d) >= cut.at)
            continue;
        claims[i] = claims[kept];
        claims[kept++] = claim;
    }
    return kept;
}

static bool is_region_apart(overlap_search *search, const int64_t **claims, size_t count)
{
    overlap_cut cut;
    size_t before;
    if (count <= PAIRWISE_MOST || search->ndim == 0)
        return are_pairs_apart(search, claims, count);
    cut = choose_cut(search, claims, count);
    /* A cut that leaves most of the pairs is none. This also bounds the depth, by about 30 log2 n. */
    if (pairs_left(search, claims, count, cut) / 15 >= (uint64_t)count * count / 16)
        return are_pairs_apart(search, claims, count);
    before = partition(search, claims, count, cut, false);
    if (!is_region_apart(search, claims, before))
        return false;
    before = partition(search, claims, before, cut, true);
    return is_region_apart(search, claims + before, count - before);
}

static bool is_group_apart(const pp_worklist *list, const pp_claim_set *plan, size_t first, size_t end,
                           overlap_search *search)
{
    const pp_tiling *tiling = plan->targets[list->work[first].target].tiling;
    size_t i;
    search->ndim = tiling->shards.ndim;
    search->ndim_most = plan->claims->ndim_most;
    pp_tiling_shard_box(tiling, list->work[first].shard, &search->shard);
    for (i = first; i < end; i++)
        search->claims[i - first] = pp_claims_at(plan->claims, (size_t)list->work[i].claim);
    return is_region_apart(search, search->claims, end - first);
}

static size_t largest_group(const pp_worklist *list)
{
    size_t first, end, largest = 0;
    for (first = 0; first < list->count; first = end) {
        end = pp_worklist_group_end(list, first);
        largest = pp_max_size(largest, end - first);
    }
    return largest;
}

static void search_groups(const pp_worklist *list, const pp_claim_set *plan, overlap_search *search)
{
    bool is_detached = true;
    size_t first, end;
    for (first = 0; first < list->count && is_detached; first = end) {
        end = pp_worklist_group_end(list, first);
        is_detached = end - first == 1 || is_group_apart(list, plan, first, end, search);
    }
}

/* Looks for two claims of one shard that overlap. */
static parapet_status find_overlap(const pp_worklist *list, const pp_claim_set *plan, overlap_search *search)
{
    size_t largest = largest_group(list), bytes = largest * sizeof search->claims[0];
    parapet_status status;
    *search = (overlap_search){.claims = search->few};
    if (largest <= PAIRWISE_MOST) {
        search_groups(list, plan, search);
        return PARAPET_OK;
    }
    if ((status = pp_budget_reserve(list->budget, bytes, "the search for parts that overlap")) != PARAPET_OK)
        return status;
    if ((status = pp_allocate(&search->claims, bytes)) == PARAPET_OK)
        search_groups(list, plan, search);
    pp_free((void *)search->claims);
    pp_budget_release(list->budget, bytes);
    return status;
}

parapet_status pp_worklist_is_disjoint(const pp_worklist *list, const pp_claim_set *plan, bool *is_disjoint)
{
    overlap_search search;
    parapet_status status = find_overlap(list, plan, &search);
    *is_disjoint = status == PARAPET_OK && search.found[0] == NULL;
    return status;
}

static parapet_status refuse_overlap(const overlap_search *search, int size)
{
    const int64_t *a = search->found[0], *b = search->found[1];
    const int64_t *first = is_named_before(a, b) ? a : b, *second = first == a ? b : a;
    pp_text text = {0};
    char *shown;
    pp_box common, other;
    parapet_status status;
    pp_claim_box(a, search->ndim_most, search->ndim, &common);
    pp_claim_box(b, search->ndim_most, search->ndim, &other);
    (void)pp_box_intersect(&common, &other, &common);
    pp_box_print(&common, &text);
    if ((status = pp_text_finish(&text, &shown)) != PARAPET_OK)
        return status;
    if (size == 1)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "parts %lld and %lld overlap in %s", (long long)first[PP_CLAIM_PART],
                         (long long)second[PP_CLAIM_PART], shown);
    else
        status = pp_fail(PARAPET_ERR_ARGUMENT, "part %lld of rank %lld and part %lld of rank %lld overlap in %s",
                         (long long)first[PP_CLAIM_PART], (long long)first[PP_CLAIM_RANK],
                         (long long)second[PP_CLAIM_PART], (long long)second[PP_CLAIM_RANK], shown);
    pp_free(shown);
    return status;
}

parapet_status pp_worklist_check_disjoint(const pp_worklist *list, const pp_claim_set *plan, int size)
{
    overlap_search search;
    parapet_status status = find_overlap(list, plan, &search);
    return status == PARAPET_OK && search.found[0] != NULL ? refuse_overlap(&search, size) : status;
}
