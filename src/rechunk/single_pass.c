/* single_pass.c - one pass in which every rank reads for itself: the order of the visit. */
#include <string.h>

#include "base/checked.h"
#include "rechunk/block.h"
#include "rechunk/strategy.h"

/* All orders of so many dimensions are tried. */
#define PERMUTED_MOST 4
#define ORDERS_MOST 24
/* And of more, so many that promise something. */
#define ORDERS_CHOSEN 8

typedef struct orders {
    int ndim, count;
    int order[ORDERS_MOST][PARAPET_MAX_NDIM];
} orders;

/* Dimensions that have a part in the order: with many, only those along which there is more than one source chunk. */
static int list_visited(const pp_rechunk_problem *problem, const pp_rechunk_side *source, int *visited, int *rest)
{
    int count = 0, rest_count = 0, d;
    for (d = 0; d < problem->ndim; d++)
        if (problem->ndim < PERMUTED_MOST ||
            source->origin[d] % source->chunk[d] + problem->shape[d] > source->chunk[d])
            visited[count++] = d;
        else
            rest[rest_count++] = d;
    return count;
}

/* The next permutation in C order; false after the last. */
static bool permute(int *order, int count)
{
    int i = count - 1, j = count - 1, kept;
    while (i > 0 && order[i - 1] >= order[i])
        i--;
    if (i <= 0)
        return false;
    while (order[j] <= order[i - 1])
        j--;
    kept = order[i - 1];
    order[i - 1] = order[j];
    order[j] = kept;
    for (j = count - 1; i < j; i++, j--) {
        kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    return true;
}

static void orders_add(orders *list, const int *order)
{
    size_t bytes = (size_t)list->ndim * sizeof order[0];
    int i;
    for (i = 0; i < list->count; i++)
        if (memcmp(list->order[i], order, bytes) == 0)
            return;
    memcpy(list->order[list->count++], order, bytes);
}

/* The order for a template by the bounds of block.h, and turned round so that each dimension is slowest once. */
static void orders_suggest(orders *list, const pp_blocks *blocks, const int64_t *template_shape)
{
    int fastest_first[PARAPET_MAX_NDIM], order[PARAPET_MAX_NDIM], turn, d;
    pp_blocks_order(blocks, template_shape, PP_MAX_BLOCK_USEFUL, fastest_first);
    for (turn = 0; turn < list->ndim && list->count < ORDERS_CHOSEN; turn++) {
        for (d = 0; d < list->ndim; d++)
            order[d] = fastest_first[list->ndim - 1 - (d + turn) % list->ndim];
        orders_add(list, order);
    }
}

/* Each dimension slowest once: more does not matter for one chunk at a time. */
static void orders_turn(orders *list)
{
    int order[PARAPET_MAX_NDIM], first, d;
    for (first = 0; first < list->ndim && list->count < ORDERS_MOST; first++) {
        for (d = 0; d < list->ndim; d++)
            order[d] = (first + d) % list->ndim;
        orders_add(list, order);
    }
    if (list->ndim == 0)
        list->count = 1;
}

static void orders_init(orders *list, const pp_rechunk_aim *aim, const pp_rechunk_ends *ends)
{
    const pp_rechunk_problem *problem = aim->problem;
    int order[PARAPET_MAX_NDIM], rest[PARAPET_MAX_NDIM], visited_count, d;
    int64_t source[PARAPET_MAX_NDIM];
    pp_blocks blocks;
    *list = (orders){.ndim = problem->ndim};
    if (aim->seeks_least) {
        orders_turn(list);
        return;
    }
    visited_count = list_visited(problem, &ends->source, order, rest);
    memcpy(order + visited_count, rest, (size_t)(problem->ndim - visited_count) * sizeof rest[0]);
    if (visited_count <= PERMUTED_MOST) {
        do
            orders_add(list, order);
        while (permute(order, visited_count));
        return;
    }
    for (d = 0; d < problem->ndim; d++)
        source[d] = pp_min_i64(ends->source.chunk[d], pp_max_i64(1, problem->shape[d]));
    orders_add(list, order);
    pp_blocks_init(&blocks, problem->ndim, source, ends->target.chunk);
    orders_suggest(list, &blocks, problem->shape);
    orders_suggest(list, &blocks, ends->target.chunk);
}

static bool weigh_orders(pp_rechunk_search *search)
{
    const orders *list = search->variants;
    bool fits = false;
    int i;
    for (i = 0; i < list->count; i++) {
        memcpy(search->trial.order, list->order[i], (size_t)list->ndim * sizeof(int));
        fits = pp_rechunk_search_try(search) || fits;
    }
    return fits;
}

bool pp_rechunk_search_alone(const pp_rechunk_aim *aim, const pp_rechunk_ends *ends, bool reads_runs,
                             pp_rechunk_pass *pass)
{
    orders list;
    pp_rechunk_search search = {.aim = aim, .ends = ends, .weigh = weigh_orders, .variants = &list};
    orders_init(&list, aim, ends);
    search.variant_count = list.count;
    search.trial = (pp_rechunk_pass){.source = ends->source, .target = ends->target, .reads_runs = reads_runs};
    if (!pp_rechunk_search_run(&search))
        return false;
    *pass = search.best;
    return true;
}

static bool propose(const pp_rechunk_aim *aim, bool reads_runs, pp_rechunk_route *route)
{
    pp_rechunk_ends ends = {.source = aim->problem->source, .target = aim->problem->target};
    route->pass_count = 1;
    return pp_rechunk_search_alone(aim, &ends, reads_runs, &route->passes[0]);
}

bool pp_rechunk_propose_chunks(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    (void)parts;
    return aim->problem->force_reading != PARAPET_READING_RUNS &&
           aim->problem->force_cooperation != PARAPET_COOPERATION_TOGETHER && propose(aim, false, route);
}

bool pp_rechunk_propose_runs(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    (void)parts;
    return aim->problem->force_reading != PARAPET_READING_CHUNKS &&
           aim->problem->force_cooperation != PARAPET_COOPERATION_TOGETHER && aim->problem->source.allows_runs &&
           propose(aim, true, route);
}
