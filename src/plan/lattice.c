#include "plan/lattice.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "plan/lattice_load.h"

/* Candidates that are compared: fewer where each takes long, more while none is good. */
#define CANDIDATES 64
#define CANDIDATES_LEAST 8
#define COMPARED_TURNS (INT64_C(1) << 20) /* candidates x turns */
#define SEARCHED 1024                     /* while none is good */
#define SEARCHED_TURNS (INT64_C(1) << 17)

/* With weights there are several times as many turns, and the least load is seldom found. So what is counted is
 * limited, too, in turns that are visited: some milliseconds, and more while no candidate is good. */
#define VISITED (INT64_C(1) << 20)
#define VISITED_SEARCHING (INT64_C(1) << 21)

#define SLAB_CELLS 3
#define PENCIL_CELLS 2

#define BEGINNINGS 4 /* of an array among the turns of servers with weights */

/* Shapes that are judged in every dimension. */
enum { PLANE, SLAB, PENCIL, LINE, DIRECTED_SHAPES };

/* Shapes of no direction. */
enum { WHOLE, INNER, UNDIRECTED_SHAPES };

double pp_lattice_limit(int64_t count, int turn_count)
{
    if (count / 16 >= turn_count)
        return 1.20 * (double)count / turn_count;
    return 2.0 * (double)pp_divide_up(count, turn_count);
}

static int64_t extent_of(int shape, int64_t cells, bool is_its_dimension)
{
    switch (shape) {
    case PLANE:
        return is_its_dimension ? 1 : cells;
    case SLAB:
        return is_its_dimension ? pp_min_i64(cells, SLAB_CELLS) : cells;
    case PENCIL:
        return is_its_dimension ? cells : pp_min_i64(cells, PENCIL_CELLS);
    default:
        return is_its_dimension ? cells : 1;
    }
}

bool pp_lattice_shape(int number, int ndim, const int64_t *cells, int64_t *extents)
{
    int directed = number - UNDIRECTED_SHAPES, d;
    for (d = 0; d < ndim; d++) {
        extents[d] = pp_max_i64(cells[d], 1);
        if (number == INNER && extents[d] > 1)
            extents[d]--;
        if (directed >= 0)
            extents[d] = extent_of(directed / ndim, extents[d], d == directed % ndim);
    }
    return number < UNDIRECTED_SHAPES || directed < DIRECTED_SHAPES * ndim;
}

/* ---- Judging ---- */

/* How well a candidate does; smaller is better, and what comes first counts first. */
typedef struct verdict {
    double beyond; /* the worst load over its limit; 1: all are within their limits */
    double whole;  /* load of the whole array: of a turn, or with weights of a server for each of its turns */
    double sum;    /* of all loads over their limits */
} verdict;

typedef struct search {
    int ndim, turn_count;
    const int64_t *cells;
    const pp_turns *turns; /* NULL: all servers have the same weight */
    pp_lattice_load load;
    uint64_t random;
    int64_t best[PARAPET_MAX_NDIM];
    verdict best_verdict;
    bool is_perfect; /* no shape can be spread better than the best does; with weights: not the whole array */
    int64_t visited; /* turns, by all that was counted */
} search;

static bool is_better(const verdict *a, const verdict *b)
{
    if (a->beyond != b->beyond)
        return a->beyond < b->beyond;
    return a->beyond == 1 && a->whole != b->whole ? a->whole < b->whole : a->sum < b->sum;
}

/* Of what was counted last. The load of servers depends on where the array begins, so a few beginnings are tried. */
static pp_server_load load_of_servers(search *by)
{
    pp_server_load all = {.is_least = true};
    int i;
    for (i = 0; i < BEGINNINGS; i++) {
        pp_server_load one = pp_lattice_load_of_servers(&by->load, by->turns, by->turn_count / BEGINNINGS * i);
        all.worst = one.worst > all.worst ? one.worst : all.worst;
        all.is_least = all.is_least && one.is_least;
    }
    by->visited += (int64_t)BEGINNINGS * by->turn_count;
    return all;
}

static int64_t count_shape(search *by, const int64_t *extents, const int64_t *multipliers)
{
    by->visited += (int64_t)by->ndim * by->turn_count;
    return pp_lattice_load_count(&by->load, by->ndim, extents, multipliers);
}

/* What servers have of the whole array, which was counted last, goes into the verdict. */
static bool judge_servers(search *by, verdict *own)
{
    pp_server_load load = load_of_servers(by);
    own->whole = load.worst;
    return load.is_least;
}

/* Gives up as soon as the candidate cannot be better than the best so far. */
static void judge(search *by, const int64_t *multipliers)
{
    verdict own = {.beyond = 1};
    bool is_perfect = true;
    int64_t extents[PARAPET_MAX_NDIM];
    int shape;
    for (shape = 0; pp_lattice_shape(shape, by->ndim, by->cells, extents); shape++) {
        int64_t count = pp_product(by->ndim, extents), most = count_shape(by, extents, multipliers);
        double over = (double)most / pp_lattice_limit(count, by->turn_count);
        own.whole = shape == WHOLE ? (double)most : own.whole;
        if (by->turns == NULL)
            is_perfect = is_perfect && most == pp_divide_up(count, by->turn_count);
        else if (shape == WHOLE)
            is_perfect = judge_servers(by, &own);
        own.beyond = over > own.beyond ? over : own.beyond;
        own.sum += over;
        if (!is_better(&own, &by->best_verdict))
            return;
    }
    by->best_verdict = own;
    by->is_perfect = is_perfect && own.beyond == 1;
    memcpy(by->best, multipliers, (size_t)by->ndim * sizeof multipliers[0]);
}

/* ---- Candidates ---- */

/* splitmix64, which starts alike for every array. */
static uint64_t draw(search *by)
{
    uint64_t value = by->random += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* Steps of such a multiplier visit every turn. That is required along an extent that is a multiple of the turns,
 * which is then spread exactly, and along one that has yet to grow. */
static bool is_allowed(const search *by, int d, int64_t multiplier)
{
    return (by->cells[d] > 1 && by->cells[d] % by->turn_count != 0) ||
           pp_greatest_common_divisor(by->turn_count, multiplier) == 1;
}

static int64_t draw_multiplier(search *by, int d)
{
    int64_t multiplier;
    do
        multiplier = (int64_t)(draw(by) % (uint64_t)by->turn_count);
    while (!is_allowed(by, d, multiplier));
    return multiplier;
}

/* The first candidate counts the shards in a row. Nothing spreads the whole array, or a small one, better. */
static void propose(search *by, bool is_first, int64_t *multipliers)
{
    int64_t row = 1 % by->turn_count;
    int d;
    for (d = by->ndim; d-- > 0;) {
        multipliers[d] = d == by->ndim - 1 ? 1 : is_first ? row : draw_multiplier(by, d);
        if (!is_allowed(by, d, multipliers[d]))
            multipliers[d] = draw_multiplier(by, d);
        row = row * (pp_max_i64(by->cells[d], 1) % by->turn_count) % by->turn_count;
    }
}

/* The best so far with another multiplier in one dimension: while none is good, this finds more than starting anew.
 */
static void vary_best(search *by, int64_t *multipliers)
{
    int d = (int)(draw(by) % (uint64_t)by->ndim);
    memcpy(multipliers, by->best, (size_t)by->ndim * sizeof multipliers[0]);
    multipliers[d] = draw_multiplier(by, d);
}

/* Whether another candidate is tried, of which there were `tried`. */
static bool goes_on(const search *by, int64_t tried, int64_t compared)
{
    int64_t searched = pp_max_i64(compared, pp_min_i64(SEARCHED, SEARCHED_TURNS / by->turn_count));
    bool is_good = by->best_verdict.beyond <= 1;
    if (by->turns != NULL && by->visited >= (is_good ? VISITED : VISITED_SEARCHING))
        return false;
    return !by->is_perfect && tried < (is_good ? compared : searched);
}

static void search_best(search *by)
{
    int64_t compared = pp_max_i64(CANDIDATES_LEAST, pp_min_i64(CANDIDATES, COMPARED_TURNS / by->turn_count)), i;
    int64_t multipliers[PARAPET_MAX_NDIM];
    by->best_verdict = (verdict){.beyond = HUGE_VAL};
    for (i = 0; goes_on(by, i, compared); i++) {
        if (i >= compared && i % 4 != 0)
            vary_best(by, multipliers);
        else
            propose(by, i == 0, multipliers);
        judge(by, multipliers);
    }
}

/* An array without elements may have extents that cannot be multiplied. It has yet to grow, nobody knows how. */
static bool can_count(int ndim, const int64_t *cells)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        if (!pp_multiply_fits(count, pp_max_i64(cells[d], 1), &count))
            return false;
    return true;
}

static parapet_status choose(search *by, pp_lattice *lattice, const int64_t *cells)
{
    static const int64_t none[PARAPET_MAX_NDIM] = {0};
    parapet_status status = PARAPET_OK;
    by->cells = can_count(by->ndim, cells) ? cells : none;
    *lattice = (pp_lattice){0};
    if (by->turn_count > 1 && by->ndim > 0 &&
        (status = pp_lattice_load_init(&by->load, by->turn_count)) == PARAPET_OK) {
        search_best(by);
        memcpy(lattice->multipliers, by->best, sizeof by->best);
        lattice->visited = by->visited;
    }
    pp_lattice_load_clear(&by->load);
    return status;
}

parapet_status pp_lattice_choose(pp_lattice *lattice, int ndim, const int64_t *cells, int turn_count)
{
    search by = {.ndim = ndim, .turn_count = turn_count};
    return choose(&by, lattice, cells);
}

parapet_status pp_lattice_choose_weighted(pp_lattice *lattice, int ndim, const int64_t *cells, const pp_turns *turns)
{
    search by = {.ndim = ndim, .turn_count = turns->count, .turns = turns};
    return choose(&by, lattice, cells);
}

int pp_lattice_turn(const pp_lattice *lattice, int ndim, const int64_t *cell, int turn_count)
{
    int64_t turn = lattice->phase % turn_count;
    int d;
    for (d = 0; d < ndim; d++)
        turn = (turn + lattice->multipliers[d] * (cell[d] % turn_count)) % turn_count;
    return (int)turn;
}
