/* cooperate.c - one pass in which all ranks read together: which work units are done at a time. */
#include <string.h>

#include "base/checked.h"
#include "rechunk/block.h"
#include "rechunk/count.h"
#include "rechunk/strategy.h"

/* Groups that are weighed for one template. */
#define GROUPS_MOST 64

static bool is_possible(const pp_rechunk_problem *problem)
{
    return problem->ranks > 1 && problem->cooperation_bytes > 0 &&
           problem->force_cooperation != PARAPET_COOPERATION_ALONE;
}

/* Boxes of work units for all ranks: every split of the ranks over the dimensions in which none can have more without
 * another having less. */
typedef struct groups {
    int ndim, count;
    int64_t work_units[PARAPET_MAX_NDIM];
    int64_t group[GROUPS_MOST][PARAPET_MAX_NDIM];
} groups;

static void groups_add(groups *list, const int64_t *group)
{
    size_t bytes = (size_t)list->ndim * sizeof group[0];
    int i;
    for (i = 0; i < list->count; i++)
        if (memcmp(list->group[i], group, bytes) == 0)
            return;
    if (list->count < GROUPS_MOST)
        memcpy(list->group[list->count++], group, bytes);
}

/* Splits `ranks` over dimensions d and up; of the counts that leave equally many ranks to the others, the largest. */
static void groups_split(groups *list, int d, int64_t ranks, int64_t *group)
{
    int64_t count;
    if (d == list->ndim) {
        groups_add(list, group);
        return;
    }
    count = pp_max_i64(1, pp_min_i64(ranks, list->work_units[d]));
    for (; count >= 1 && list->count < GROUPS_MOST; count = ranks / (ranks / count + 1)) {
        group[d] = count;
        groups_split(list, d + 1, ranks / count, group);
    }
}

/* The boxes that give every rank another work unit when work units are dealt out in turn. */
static void groups_balance(groups *list, int64_t ranks)
{
    int64_t grid[PARAPET_MAX_NDIM], factors[(GROUPS_MOST / 4) * PARAPET_MAX_NDIM], group[PARAPET_MAX_NDIM];
    int capacity = GROUPS_MOST / 4, count = 0, i, d;
    for (d = 0; d < list->ndim; d++)
        grid[d] = list->work_units[list->ndim - 1 - d];
    pp_blocks_balanced(list->ndim, grid, ranks, factors, capacity, &count);
    for (i = 0; i < count && i < capacity; i++) {
        for (d = 0; d < list->ndim; d++)
            group[d] = factors[i * list->ndim + list->ndim - 1 - d];
        groups_add(list, group);
    }
}

static void groups_init(groups *list, const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    int64_t group[PARAPET_MAX_NDIM];
    int d;
    list->ndim = problem->ndim;
    list->count = 0;
    for (d = 0; d < problem->ndim; d++)
        list->work_units[d] = pp_max_i64(1, pp_divide_up(problem->shape[d], pass->work_unit_shape[d]));
    groups_balance(list, problem->ranks);
    groups_split(list, 0, problem->ranks, group);
}

/* Memory does not depend on the group, so that one that does not fit stands for all. */
static bool weigh_groups(pp_rechunk_search *search)
{
    const pp_rechunk_problem *problem = search->aim->problem;
    pp_rechunk_pass *trial = &search->trial;
    groups list;
    int i;
    pp_rechunk_search_set_shard(search);
    pp_rechunk_set_work_unit(problem->ndim, problem->shape, trial);
    groups_init(&list, problem, trial);
    for (i = 0; i < list.count; i++) {
        memcpy(trial->group, list.group[i], (size_t)problem->ndim * sizeof trial->group[0]);
        if (!pp_rechunk_search_try(search))
            return false;
    }
    return true;
}

bool pp_rechunk_search_cooperative(const pp_rechunk_aim *aim, const pp_rechunk_ends *ends, pp_rechunk_pass *pass)
{
    pp_rechunk_search search = {.aim = aim, .ends = ends, .weigh = weigh_groups, .variant_count = GROUPS_MOST / 4};
    int d;
    if (!is_possible(aim->problem))
        return false;
    search.trial = (pp_rechunk_pass){.source = ends->source, .target = ends->target, .cooperates = true};
    for (d = 0; d < aim->problem->ndim; d++)
        search.trial.order[d] = d;
    if (!pp_rechunk_search_run(&search))
        return false;
    *pass = search.best;
    return true;
}

bool pp_rechunk_propose_cooperative(const pp_rechunk_aim *aim, int parts, pp_rechunk_route *route)
{
    pp_rechunk_ends ends = {.source = aim->problem->source, .target = aim->problem->target};
    (void)parts;
    route->pass_count = 1;
    return aim->problem->force_reading != PARAPET_READING_RUNS &&
           pp_rechunk_search_cooperative(aim, &ends, &route->passes[0]);
}
