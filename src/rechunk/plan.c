/* plan.c - the table of ways to make a copy, and the choice of the fastest that fits. */
#include <stdio.h>

#include "base/checked.h"
#include "base/status.h"
#include "rechunk/count.h"
#include "rechunk/strategy.h"

/* Templates that one search may weigh: for a plan of one pass, and for each pass of several. */
#define EFFORT_ONE_PASS 20000
#define EFFORT_PASSES 1000
/* When so much is spent, what is left of the table is not asked any more. A unit is about a microsecond. */
#define EFFORT_ALL 600000
/* Elements along a dimension; of longer arrays only one pass is weighed. */
#define EXTENT_PASSES_MOST (INT64_C(1) << 40)

/* pass_count 0: three or more, as many as are forced. */
static const pp_rechunk_strategy strategies[] = {
    {"of whole chunks", 1, true, pp_rechunk_propose_chunks},
    {"of runs", 1, true, pp_rechunk_propose_runs},
    {"in which ranks read together", 1, true, pp_rechunk_propose_cooperative},
    {"by the geometric mean", 2, false, pp_rechunk_propose_means},
    {"with rounded chunks", 2, false, pp_rechunk_propose_rounded},
    {"with shaped chunks", 2, false, pp_rechunk_propose_shaped},
    {"with small chunks", 2, true, pp_rechunk_propose_small},
    {"by the geometric mean", 3, false, pp_rechunk_propose_means},
    {"with rounded chunks", 3, false, pp_rechunk_propose_rounded},
    {"by the geometric mean", 0, false, pp_rechunk_propose_means},
    {"with rounded chunks", 0, false, pp_rechunk_propose_rounded},
    {"with small chunks", 0, true, pp_rechunk_propose_small},
};
#define STRATEGY_COUNT ((int)(sizeof strategies / sizeof strategies[0]))

/* How many passes a strategy is asked for; 0: it is not asked. */
static int parts_of(const pp_rechunk_strategy *strategy, int force_passes)
{
    if (force_passes >= 3)
        return strategy->pass_count == 0 ? force_passes : 0;
    return force_passes == 0 || strategy->pass_count == force_passes ? strategy->pass_count : 0;
}

static int64_t route_memory(const pp_rechunk_route *route)
{
    int64_t bytes = 0;
    int i;
    for (i = 0; i < route->pass_count; i++)
        bytes = pp_max_i64(bytes, route->passes[i].memory.memory_bytes);
    return bytes;
}

static double route_seconds(const pp_rechunk_route *route)
{
    double seconds = 0;
    int i;
    for (i = 0; i < route->pass_count; i++)
        seconds += route->passes[i].seconds;
    return seconds;
}

/* The route of least memory of all; of two with the same, the one of fewer passes. */
static int64_t find_least(const pp_rechunk_problem *problem, pp_rechunk_route *least)
{
    int64_t spent = 0;
    pp_rechunk_aim aim = {.problem = problem, .seeks_least = true, .effort = EFFORT_PASSES, .spent = &spent};
    pp_rechunk_route route;
    int i, parts;
    least->pass_count = 0;
    for (i = 0; i < STRATEGY_COUNT; i++) {
        parts = parts_of(&strategies[i], problem->force_passes);
        if (parts == 0 || !strategies[i].is_frugal || !strategies[i].propose(&aim, parts, &route))
            continue;
        if (least->pass_count == 0 || route_memory(&route) < route_memory(least))
            *least = route;
    }
    return route_memory(least);
}

static void record(pp_rechunk_plan *plan, int pass_count, const char *how, const pp_rechunk_route *route)
{
    static const char *const words[] = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight"};
    pp_rechunk_candidate *candidate = &plan->candidates[plan->candidate_count++];
    pp_rechunk_counts sum = {0};
    int i;
    *candidate = (pp_rechunk_candidate){.pass_count = pass_count, .is_feasible = route != NULL};
    (void)snprintf(candidate->name, sizeof candidate->name, "%s pass%s %s", words[pass_count],
                   pass_count == 1 ? "" : "es", how);
    for (i = 0; route != NULL && i < pass_count; i++)
        pp_rechunk_counts_add(&sum, &route->passes[i].counts);
    candidate->read_bytes = sum.decoded_bytes;
    candidate->written_bytes = sum.written_bytes;
    if (route != NULL) {
        candidate->memory_bytes = route_memory(route);
        candidate->seconds = route_seconds(route);
    }
}

/* Records a route and takes it if it is the fastest so far. */
static void offer(pp_rechunk_plan *plan, const char *how, const pp_rechunk_route *route, int *chosen)
{
    int i;
    record(plan, route->pass_count, how, route);
    if (*chosen >= 0 && route_seconds(route) >= plan->candidates[*chosen].seconds)
        return;
    *chosen = plan->candidate_count - 1;
    plan->pass_count = route->pass_count;
    for (i = 0; i < route->pass_count; i++)
        plan->passes[i] = route->passes[i];
}

/* Also offers the route that needs the least memory, weighed again with all the memory that there is. */
static void offer_least(const pp_rechunk_aim *aim, pp_rechunk_plan *plan, pp_rechunk_route *least, int *chosen)
{
    int i;
    for (i = 0; i < least->pass_count; i++)
        if (!pp_rechunk_weigh(aim, &least->passes[i]))
            return;
    offer(plan, "of least memory", least, chosen);
}

static void finish(pp_rechunk_plan *plan, int chosen)
{
    pp_rechunk_counts sum = {0};
    int i;
    plan->candidates[chosen].is_chosen = true;
    plan->memory_bytes = plan->candidates[chosen].memory_bytes;
    plan->seconds = plan->candidates[chosen].seconds;
    for (i = 0; i < plan->pass_count - 1; i++)
        pp_rechunk_counts_add(&sum, &plan->passes[i].counts);
    plan->temporary_bytes = sum.written_bytes;
    plan->temporary_files = sum.shards_written;
}

static parapet_status refuse_runs(const pp_rechunk_problem *problem)
{
    return pp_fail(PARAPET_ERR_ARGUMENT, "runs of the source cannot be read, because %s; set reading to choose",
                   problem->source.is_held_by_seal
                       ? "it is sealed, and only whole chunks can be compared with the seal"
                       : "its chunks are compressed or have checksums");
}

static parapet_status refuse_memory(const pp_rechunk_problem *problem, int64_t least_bytes)
{
    return pp_fail(PARAPET_ERR_MEMORY,
                   "copying needs at least %lld bytes (%.1f MiB) of memory per rank, but the limit is %lld%s",
                   (long long)least_bytes, (double)least_bytes / 1048576.0, (long long)problem->memory_bytes,
                   problem->source.is_held_by_seal
                       ? "; the source is sealed, and only whole chunks can be compared with the seal"
                       : "");
}

static parapet_status check(const pp_rechunk_problem *problem)
{
    if (problem->force_passes < 0 || problem->force_passes > PP_RECHUNK_PASSES_MOST)
        return pp_fail(PARAPET_ERR_ARGUMENT, "a copy takes 1 to %d passes, not %d; 0 chooses the number",
                       PP_RECHUNK_PASSES_MOST, problem->force_passes);
    if (problem->force_reading == PARAPET_READING_RUNS && !problem->source.allows_runs)
        return refuse_runs(problem);
    if (problem->force_reading == PARAPET_READING_RUNS && problem->force_cooperation == PARAPET_COOPERATION_TOGETHER)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "ranks that read together read whole chunks, not runs; set reading or cooperation to choose");
    if (problem->force_cooperation == PARAPET_COOPERATION_TOGETHER && problem->cooperation_bytes == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "these ranks cannot read together; set cooperation to choose");
    return PARAPET_OK;
}

static parapet_status choose(const pp_rechunk_problem *problem, pp_rechunk_route *least, pp_rechunk_plan *plan)
{
    int64_t spent = 0;
    pp_rechunk_aim aim = {.problem = problem, .limit_bytes = problem->memory_bytes, .spent = &spent};
    pp_rechunk_route route;
    int chosen = -1, i, parts;
    for (i = 0; i < STRATEGY_COUNT && spent < EFFORT_ALL; i++) {
        if ((parts = parts_of(&strategies[i], problem->force_passes)) == 0)
            continue;
        aim.effort = parts == 1 ? EFFORT_ONE_PASS : EFFORT_PASSES;
        if (strategies[i].propose(&aim, parts, &route))
            offer(plan, strategies[i].name, &route, &chosen);
        else
            record(plan, parts, strategies[i].name, NULL);
    }
    offer_least(&aim, plan, least, &chosen);
    if (chosen < 0)
        return pp_fail(PARAPET_ERR_INTERNAL, "no way to copy fits into %lld bytes, although %lld should be enough",
                       (long long)problem->memory_bytes, (long long)plan->memory_least_bytes);
    finish(plan, chosen);
    return PARAPET_OK;
}

/* An array that long cannot be stored between two passes, and to weigh all ways to do so would take too long. */
static bool is_vast(const pp_rechunk_problem *problem)
{
    int d;
    for (d = 0; d < problem->ndim; d++)
        if (problem->shape[d] > EXTENT_PASSES_MOST)
            return true;
    return false;
}

parapet_status pp_rechunk_plan_build(const pp_rechunk_problem *problem, pp_rechunk_plan *plan)
{
    pp_rechunk_problem given = *problem;
    pp_rechunk_route least;
    parapet_status status;
    int d;
    /* One rank that reads together with itself is every rank for itself. */
    if (given.ranks == 1)
        given.force_cooperation = PARAPET_COOPERATION_ALONE;
    if (given.force_passes == 0 && is_vast(problem))
        given.force_passes = 1;
    *plan = (pp_rechunk_plan){.ndim = given.ndim,
                              .ranks = given.ranks,
                              .threads = given.threads,
                              .limit_bytes = given.memory_bytes,
                              .unit_bytes = given.unit_bytes};
    for (d = 0; d < given.ndim; d++)
        plan->shape[d] = given.shape[d];
    if ((status = check(&given)) != PARAPET_OK)
        return status;
    plan->memory_least_bytes = find_least(&given, &least);
    if (given.memory_bytes < plan->memory_least_bytes)
        return refuse_memory(&given, plan->memory_least_bytes);
    return choose(&given, &least, plan);
}
