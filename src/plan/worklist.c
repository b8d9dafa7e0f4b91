#include "plan/worklist.h"

#include "base/checked.h"
#include "base/status.h"

#define LIST_PURPOSE "the lists of shards to transfer"

/* What a build goes by. */
typedef struct list_case {
    const pp_claim_set *plan;
    pp_shard_filter owns;
    void *context;
} list_case;

static const pp_tiling *claim_tiling(const pp_claim_set *plan, size_t claim)
{
    return plan->targets[pp_claims_at(plan->claims, claim)[PP_CLAIM_TARGET]].tiling;
}

static void claim_box(const pp_claim_set *plan, size_t claim, pp_box *box)
{
    pp_claim_box(pp_claims_at(plan->claims, claim), plan->claims->ndim_most, claim_tiling(plan, claim)->shards.ndim,
                 box);
}

/* Shards that claims touch, whether or not they belong in the list: known without visiting them. */
static parapet_status count_touched(const pp_claim_set *plan, size_t *total)
{
    int64_t sum = 0;
    size_t i;
    for (i = 0; i < plan->claims->list.count; i++) {
        pp_box box;
        claim_box(plan, i, &box);
        pp_grid_cells_of_box(&claim_tiling(plan, i)->shards, &box, &box);
        if (!pp_add_fits(sum, pp_box_element_count(&box), &sum) || sum > INT64_MAX / (int64_t)sizeof(pp_work))
            return pp_fail(PARAPET_ERR_MEMORY, "the parts touch more shards than can be listed");
    }
    *total = (size_t)sum;
    return PARAPET_OK;
}

/* Chunks that a claim touches in the shard at this cell, as a range of their numbers. */
static void find_chunk_range(const pp_tiling *tiling, const pp_box *claimed, const int64_t *shard_cell, pp_work *work)
{
    int64_t last[PARAPET_MAX_NDIM];
    pp_box chunks;
    int d;
    (void)pp_tiling_chunks_touched_at(tiling, shard_cell, claimed, &chunks);
    for (d = 0; d < chunks.ndim; d++)
        last[d] = chunks.start[d] + chunks.count[d] - 1;
    work->first_chunk = pp_grid_cell_number(&tiling->chunks, chunks.start);
    work->last_chunk = pp_grid_cell_number(&tiling->chunks, last);
}

/* Counts the shards of a claim that belong in the list, up to most, and lists them when work is not NULL. */
static size_t list_claim(const list_case *by, size_t claim, pp_work *work, size_t most)
{
    const int64_t *words = pp_claims_at(by->plan->claims, claim);
    const pp_tiling *tiling = claim_tiling(by->plan, claim);
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box claimed, cells;
    size_t count = 0;
    bool more;
    claim_box(by->plan, claim, &claimed);
    pp_grid_cells_of_box(&tiling->shards, &claimed, &cells);
    for (more = pp_box_first(&cells, cell); more && count < most; more = pp_box_next(&cells, cell)) {
        int64_t shard = pp_grid_cell_number(&tiling->shards, cell);
        if (by->owns != NULL && !by->owns(by->context, (int)words[PP_CLAIM_TARGET], shard))
            continue;
        if (work != NULL) {
            work[count] = (pp_work){.shard = shard,
                                    .claim = (int64_t)claim,
                                    .target = (int32_t)words[PP_CLAIM_TARGET],
                                    .rank = (int32_t)words[PP_CLAIM_RANK],
                                    .part = words[PP_CLAIM_PART]};
            find_chunk_range(tiling, &claimed, cell, &work[count]);
        }
        count++;
    }
    return count;
}

/* Records of the list. Visiting stops where the budget does, because claims may touch more shards than time allows;
 * it starts again if another thread gave memory back meanwhile. */
static parapet_status count_work(const list_case *by, const pp_budget *budget, size_t *total)
{
    size_t i, touched = 0, most = pp_budget_available(budget) / sizeof(pp_work);
    parapet_status status = count_touched(by->plan, &touched);
    *total = touched;
    if (status != PARAPET_OK || by->owns == NULL)
        return status;
    *total = 0;
    for (i = 0; i < by->plan->claims->list.count; i++) {
        *total += list_claim(by, i, NULL, most - *total + 1);
        if (*total > most) {
            status = pp_budget_check(budget, touched * sizeof(pp_work), LIST_PURPOSE);
            return status != PARAPET_OK ? status : count_work(by, budget, total);
        }
    }
    return PARAPET_OK;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_shards(const pp_work *a, const pp_work *b)
{
    return a->target != b->target ? compare_numbers(a->target, b->target) : compare_numbers(a->shard, b->shard);
}

static int compare_work(const void *left, const void *right)
{
    const pp_work *a = left, *b = right;
    int order = compare_shards(a, b);
    if (order != 0)
        return order;
    return a->rank != b->rank ? compare_numbers(a->rank, b->rank) : compare_numbers(a->part, b->part);
}

static parapet_status sort_work(pp_worklist *list)
{
    return pp_sort_within(list->budget, list->work, list->count, sizeof(pp_work), compare_work, LIST_PURPOSE);
}

static parapet_status reserve_work(pp_worklist *list, size_t count, pp_budget *budget)
{
    parapet_status status;
    *list = (pp_worklist){0};
    if ((status = pp_budget_reserve(budget, count * sizeof(pp_work), LIST_PURPOSE)) != PARAPET_OK)
        return status;
    list->budget = budget;
    list->count = count;
    if ((status = pp_allocate_array(&list->work, count, sizeof(pp_work))) != PARAPET_OK)
        pp_worklist_clear(list);
    return status;
}

parapet_status pp_worklist_build(pp_worklist *list, const pp_claim_set *plan, pp_shard_filter owns, void *context,
                                 pp_budget *budget)
{
    list_case by = {plan, owns, context};
    parapet_status status;
    size_t i, total, done = 0;
    *list = (pp_worklist){0};
    if ((status = count_work(&by, budget, &total)) != PARAPET_OK ||
        (status = reserve_work(list, total, budget)) != PARAPET_OK)
        return status;
    for (i = 0; i < plan->claims->list.count; i++)
        done += list_claim(&by, i, list->work + done, total - done);
    return sort_work(list);
}

/* A slab one shard thick at the far end of dimension d, where shards overhang the array; empty if none does. */
static void edge_slab(const pp_grid *shards, int d, pp_box *slab)
{
    (void)pp_box_init(slab, shards->ndim, NULL, shards->cells);
    slab->start[d] = pp_max_i64(shards->cells[d] - 1, 0);
    slab->count[d] = shards->shape[d] % shards->cell_shape[d] != 0;
}

/* Whether the cell lies in the slab of a marked dimension before d, and so was listed there. */
static bool is_listed_before(const pp_grid *shards, const bool *is_marked, int d, const int64_t *cell)
{
    int i;
    for (i = 0; i < d; i++)
        if (is_marked[i] && shards->shape[i] % shards->cell_shape[i] != 0 && cell[i] == shards->cells[i] - 1)
            return true;
    return false;
}

/* Counts the edge shards, and lists them when work is not NULL. */
static size_t list_edge(const pp_grid *shards, const bool *is_marked, pp_work *work)
{
    int64_t cell[PARAPET_MAX_NDIM];
    size_t count = 0;
    pp_box slab;
    bool more;
    int d;
    for (d = 0; d < shards->ndim; d++) {
        edge_slab(shards, d, &slab);
        for (more = is_marked[d] && pp_box_first(&slab, cell); more; more = pp_box_next(&slab, cell)) {
            if (is_listed_before(shards, is_marked, d, cell))
                continue;
            if (work != NULL)
                work[count] = (pp_work){.shard = pp_grid_cell_number(shards, cell), .claim = PP_NO_CLAIM};
            count++;
        }
    }
    return count;
}

/* At least as many as there are, known without visiting them: an edge may have more shards than time allows. */
static size_t count_edge_most(const pp_grid *shards, const bool *is_marked)
{
    int64_t sum = 0;
    pp_box slab;
    int d;
    for (d = 0; d < shards->ndim; d++) {
        edge_slab(shards, d, &slab);
        if (is_marked[d] && !pp_add_fits(sum, pp_box_element_count(&slab), &sum))
            return SIZE_MAX / sizeof(pp_work);
    }
    return pp_min_size((size_t)sum, SIZE_MAX / sizeof(pp_work));
}

parapet_status pp_worklist_build_edge(pp_worklist *list, const pp_grid *shards, const bool *is_marked,
                                      pp_budget *budget)
{
    parapet_status status =
        pp_budget_check(budget, count_edge_most(shards, is_marked) * sizeof(pp_work), LIST_PURPOSE);
    *list = (pp_worklist){0};
    if (status != PARAPET_OK ||
        (status = reserve_work(list, list_edge(shards, is_marked, NULL), budget)) != PARAPET_OK)
        return status;
    (void)list_edge(shards, is_marked, list->work);
    return sort_work(list);
}

parapet_status pp_worklist_build_listed(pp_worklist *list, const int64_t *shards, size_t count, pp_budget *budget)
{
    parapet_status status = reserve_work(list, count, budget);
    size_t i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        list->work[i] = (pp_work){.shard = shards[i], .claim = PP_NO_CLAIM};
    return status == PARAPET_OK ? sort_work(list) : status;
}

/* Counts the shards that picks touch, and lists them when work is not NULL. */
static size_t list_points(const pp_point_claims *picked, pp_work *work)
{
    int64_t elements = pp_tiling_shard_elements(picked->tiling), chunk = pp_tiling_chunk_elements(picked->tiling);
    size_t i, end, count = 0;
    for (i = 0; i < picked->count; i = end, count++) {
        const pp_pick *first = &picked->picks[i];
        int64_t shard = first->index / elements, begin = shard * elements;
        end = i + pp_picks_find(first, picked->count - i, begin + elements);
        if (work != NULL)
            work[count] = (pp_work){.shard = shard,
                                    .first_chunk = (first->index - begin) / chunk,
                                    .last_chunk = (picked->picks[end - 1].index - begin) / chunk};
    }
    return count;
}

parapet_status pp_worklist_build_points(pp_worklist *list, const pp_point_claims *picked, pp_budget *budget)
{
    parapet_status status = reserve_work(list, list_points(picked, NULL), budget);
    if (status == PARAPET_OK)
        (void)list_points(picked, list->work);
    return status;
}

void pp_worklist_clear(pp_worklist *list)
{
    if (list->budget != NULL)
        pp_budget_release(list->budget, list->count * sizeof(pp_work));
    pp_free(list->work);
    *list = (pp_worklist){0};
}

/* The first record from first to end that is not before key, or not before and not equal to it. By halving, because
 * requests look up shards with any number of claims. */
static size_t search_work(const pp_worklist *list, size_t first, size_t end, const pp_work *key, bool skips_equal)
{
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = compare_shards(&list->work[middle], key);
        if (order < 0 || (order == 0 && skips_equal))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

size_t pp_worklist_group_end(const pp_worklist *list, size_t first)
{
    return first >= list->count ? list->count : search_work(list, first, list->count, &list->work[first], true);
}

size_t pp_worklist_group_start(const pp_worklist *list, size_t end)
{
    return end == 0 ? 0 : search_work(list, 0, end, &list->work[end - 1], false);
}

size_t pp_worklist_rank_end(const pp_worklist *list, size_t first, size_t group_end)
{
    size_t low = first, high = group_end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->work[middle].rank == list->work[first].rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t pp_worklist_group_count(const pp_worklist *list)
{
    size_t first, count = 0;
    for (first = 0; first < list->count; first = pp_worklist_group_end(list, first))
        count++;
    return count;
}

bool pp_worklist_find(const pp_worklist *list, int target, int64_t shard, size_t *first, size_t *end)
{
    pp_work key = {.target = target, .shard = shard};
    *first = search_work(list, 0, list->count, &key, false);
    *end = search_work(list, *first, list->count, &key, true);
    return *first < *end;
}

static int64_t covered_by(const pp_claim_set *plan, const pp_work *work, const pp_box *box)
{
    pp_box common;
    claim_box(plan, (size_t)work->claim, &common);
    return pp_box_intersect(&common, box, &common) ? pp_box_element_count(&common) : 0;
}

int64_t pp_worklist_covered(const pp_worklist *list, const pp_claim_set *plan, size_t first, size_t end,
                            int64_t chunk, const pp_box *box)
{
    int64_t covered = 0;
    size_t i;
    for (i = first; i < end; i++) {
        const pp_work *work = &list->work[i];
        if (work->claim != PP_NO_CLAIM && work->first_chunk <= chunk && chunk <= work->last_chunk)
            covered += covered_by(plan, work, box);
    }
    return covered;
}

int64_t pp_worklist_covered_shard(const pp_worklist *list, const pp_claim_set *plan, size_t first, size_t end,
                                  const pp_box *box)
{
    int64_t covered = 0;
    size_t i;
    for (i = first; i < end; i++)
        if (list->work[i].claim != PP_NO_CLAIM)
            covered += covered_by(plan, &list->work[i], box);
    return covered;
}
