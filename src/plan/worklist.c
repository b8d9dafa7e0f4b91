#include "plan/worklist.h"

#include <stdlib.h>

#include "base/checked.h"

static parapet_status count_work(const pp_grid *shards, const pp_box *boxes, int box_count, size_t *total)
{
    int i;
    int64_t sum = 0;
    for (i = 0; i < box_count; i++) {
        pp_box cells;
        pp_grid_cells_of_box(shards, &boxes[i], &cells);
        if (!pp_add_fits(sum, pp_box_element_count(&cells), &sum) || sum > INT64_MAX / (int64_t)sizeof(pp_work))
            return pp_fail(PARAPET_ERR_MEMORY, "the parts touch more shards than can be listed");
    }
    *total = (size_t)sum;
    return PARAPET_OK;
}

static int compare_work(const void *left, const void *right)
{
    const pp_work *a = left, *b = right;
    if (a->shard != b->shard)
        return a->shard < b->shard ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static size_t list_part(pp_work *work, const pp_grid *shards, const pp_box *box, int part)
{
    int64_t cell[PARAPET_MAX_NDIM];
    pp_box cells;
    size_t count = 0;
    bool more;
    pp_grid_cells_of_box(shards, box, &cells);
    for (more = pp_box_first(&cells, cell); more; more = pp_box_next(&cells, cell))
        work[count++] = (pp_work){.shard = pp_grid_cell_number(shards, cell), .part = part};
    return count;
}

static parapet_status reserve_work(pp_worklist *list, size_t count, pp_budget *budget)
{
    parapet_status status;
    *list = (pp_worklist){.budget = budget};
    status = pp_budget_reserve(budget, count * sizeof(pp_work), "the lists of shards to transfer");
    if (status != PARAPET_OK)
        return status;
    list->count = count;
    if ((status = pp_allocate_array(&list->work, count, sizeof(pp_work))) != PARAPET_OK)
        pp_worklist_clear(list);
    return status;
}

parapet_status pp_worklist_build(pp_worklist *list, const pp_grid *shards, const pp_box *boxes, int box_count,
                                 pp_budget *budget)
{
    parapet_status status;
    size_t total, done = 0;
    int i;
    *list = (pp_worklist){0};
    if ((status = count_work(shards, boxes, box_count, &total)) != PARAPET_OK ||
        (status = reserve_work(list, total, budget)) != PARAPET_OK)
        return status;
    for (i = 0; i < box_count; i++)
        done += list_part(list->work + done, shards, &boxes[i], i);
    if (box_count > 1)
        qsort(list->work, total, sizeof(pp_work), compare_work);
    return PARAPET_OK;
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
                work[count] = (pp_work){.shard = pp_grid_cell_number(shards, cell), .part = PP_NO_PART};
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
    parapet_status status = pp_budget_check(budget, count_edge_most(shards, is_marked) * sizeof(pp_work),
                                            "the lists of shards to transfer");
    *list = (pp_worklist){0};
    if (status != PARAPET_OK ||
        (status = reserve_work(list, list_edge(shards, is_marked, NULL), budget)) != PARAPET_OK)
        return status;
    (void)list_edge(shards, is_marked, list->work);
    qsort(list->work, list->count, sizeof(pp_work), compare_work);
    return PARAPET_OK;
}

void pp_worklist_clear(pp_worklist *list)
{
    if (list->budget != NULL)
        pp_budget_release(list->budget, list->count * sizeof(pp_work));
    pp_free(list->work);
    *list = (pp_worklist){0};
}

size_t pp_worklist_group_end(const pp_worklist *list, size_t first)
{
    size_t end = first;
    while (end < list->count && list->work[end].shard == list->work[first].shard)
        end++;
    return end;
}

static parapet_status refuse_overlap(int64_t first, int64_t second, const pp_box *common)
{
    pp_text text = {0};
    char *shown;
    parapet_status status;
    pp_box_print(common, &text);
    if ((status = pp_text_finish(&text, &shown)) != PARAPET_OK)
        return status;
    status = pp_fail(PARAPET_ERR_ARGUMENT, "parts %lld and %lld overlap in %s", (long long)first, (long long)second,
                     shown);
    pp_free(shown);
    return status;
}

static parapet_status check_group(const pp_worklist *list, size_t first, size_t end, const pp_box *boxes)
{
    size_t i, j;
    for (i = first; i < end; i++) {
        for (j = i + 1; j < end; j++) {
            pp_box common;
            int64_t a = list->work[i].part, b = list->work[j].part;
            if (pp_box_intersect(&boxes[a], &boxes[b], &common))
                return refuse_overlap(a, b, &common);
        }
    }
    return PARAPET_OK;
}

parapet_status pp_worklist_check_disjoint(const pp_worklist *list, const pp_box *boxes)
{
    size_t first = 0;
    while (first < list->count) {
        size_t end = pp_worklist_group_end(list, first);
        parapet_status status = check_group(list, first, end, boxes);
        if (status != PARAPET_OK)
            return status;
        first = end;
    }
    return PARAPET_OK;
}

int64_t pp_worklist_covered(const pp_worklist *list, size_t first, size_t end, const pp_box *boxes, const pp_box *box)
{
    int64_t covered = 0;
    size_t i;
    for (i = first; i < end; i++) {
        pp_box common;
        if (list->work[i].part != PP_NO_PART && pp_box_intersect(&boxes[list->work[i].part], box, &common))
            covered += pp_box_element_count(&common);
    }
    return covered;
}
