#include "decomposition.h"

#include <stdlib.h>
#include <string.h>

/* How one dimension is cut: block number i goes to place i % places along the mesh. */
typedef struct cut {
    int64_t block, places;
} cut;

int64_t box_element_count(const box *of, int ndim)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count *= of->count[d];
    return count;
}

bool box_step(const box *of, int ndim, int64_t *position)
{
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        if (++position[d] < of->start[d] + of->count[d])
            return true;
        position[d] = of->start[d];
    }
    return false;
}

bool box_intersect(const box *left, const box *right, int ndim, box *common)
{
    int d;
    memset(common, 0, sizeof *common);
    for (d = 0; d < ndim; d++) {
        int64_t left_end = left->start[d] + left->count[d], right_end = right->start[d] + right->count[d];
        int64_t start = left->start[d] > right->start[d] ? left->start[d] : right->start[d];
        int64_t end = left_end < right_end ? left_end : right_end;
        if (start >= end)
            return false;
        common->start[d] = start;
        common->count[d] = end - start;
    }
    return true;
}

void decomposition_add(decomposition *made, int rank, const box *held)
{
    if (made->count == made->capacity) {
        made->capacity = 2 * made->capacity + 16;
        made->holdings = realloc(made->holdings, (size_t)made->capacity * sizeof made->holdings[0]);
        if (made->holdings == NULL)
            abort();
    }
    made->holdings[made->count++] = (holding){.rank = rank, .box = *held};
}

void decomposition_clear(decomposition *made)
{
    free(made->holdings);
    *made = (decomposition){0};
}

static box whole_of(const decomposition *of)
{
    box whole = {{0}, {0}};
    if (of->ndim > 0)
        memcpy(whole.count, of->shape, (size_t)of->ndim * sizeof whole.count[0]);
    return whole;
}

bool decomposition_is_whole(const decomposition *of)
{
    box whole = whole_of(of);
    int64_t held = 0;
    int i;
    for (i = 0; i < of->count; i++)
        held += box_element_count(&of->holdings[i].box, of->ndim);
    return held == box_element_count(&whole, of->ndim);
}

static int64_t block_count(int64_t extent, int64_t block)
{
    return (extent + block - 1) / block;
}

/* BLOCK, CYCLIC(k) or the whole dimension, over at most `places` places. */
static void draw_cut(cut *made, draw *from, int64_t extent, int64_t places)
{
    made->places = places;
    made->block = extent > 0 ? block_count(extent, places) : 1;
    if (places > 1 && extent > 0 && draw_chance(from, 60))
        made->block = draw_scale(from, made->block);
}

/* Without this CYCLIC(1) in three dimensions would make a part of every element. */
static void coarsen(cut *cuts, draw *from, int ndim, const int64_t *shape)
{
    while (ndim > 0) {
        int64_t boxes = 1, widened = draw_between(from, 0, ndim - 1);
        int d;
        for (d = 0; d < ndim; d++)
            boxes *= block_count(shape[d], cuts[d].block);
        if (boxes <= MOST_HOLDINGS / 4)
            return;
        if (cuts[widened].block < shape[widened])
            cuts[widened].block *= 2;
    }
}

/* The ranks in another order, so that neighbours in the mesh are not neighbours in the communicator. */
static void draw_order(int *order, draw *from, int ranks)
{
    bool is_shuffled = draw_chance(from, 50);
    int i;
    for (i = 0; i < ranks; i++) {
        int other = is_shuffled ? (int)draw_between(from, 0, i) : i;
        order[i] = order[other];
        order[other] = i;
    }
}

/* Mostly all ranks have a place: the longest dimension takes those that the others leave. */
static void draw_mesh(cut *cuts, draw *from, const decomposition *of)
{
    int64_t left = of->ranks;
    int d, longest = 0;
    for (d = 0; d < of->ndim; d++)
        longest = of->shape[d] > of->shape[longest] ? d : longest;
    for (d = 0; d < of->ndim; d++) {
        int64_t places = draw_chance(from, 50) ? 1 : draw_between(from, 1, left);
        if (d == longest)
            continue;
        draw_cut(&cuts[d], from, of->shape[d], places);
        left /= places;
    }
    if (of->ndim > 0)
        draw_cut(&cuts[longest], from, of->shape[longest],
                 draw_chance(from, 80) ? left : draw_between(from, 1, left));
    coarsen(cuts, from, of->ndim, of->shape);
}

static void cut_by_mesh(decomposition *made, draw *from)
{
    cut cuts[MOST_NDIM];
    box numbers = {{0}, {0}};
    int64_t number[MOST_NDIM] = {0};
    int *order = calloc((size_t)made->ranks, sizeof order[0]);
    int d;
    if (order == NULL)
        abort();
    draw_order(order, from, made->ranks);
    draw_mesh(cuts, from, made);
    for (d = 0; d < made->ndim; d++)
        numbers.count[d] = block_count(made->shape[d], cuts[d].block);
    do {
        box held = {{0}, {0}};
        int64_t place = 0;
        for (d = 0; d < made->ndim; d++) {
            int64_t rest = made->shape[d] - number[d] * cuts[d].block;
            held.start[d] = number[d] * cuts[d].block;
            held.count[d] = rest < cuts[d].block ? rest : cuts[d].block;
            place = place * cuts[d].places + number[d] % cuts[d].places;
        }
        decomposition_add(made, order[place], &held);
    } while (box_step(&numbers, made->ndim, number));
    free(order);
}

static int draw_rank(draw *from, int ranks_used)
{
    return (int)draw_between(from, 0, ranks_used - 1);
}

static void bisect(decomposition *made, draw *from, const box *of, int depth, int ranks_used)
{
    int d = made->ndim > 0 ? (int)draw_between(from, 0, made->ndim - 1) : 0;
    box left = *of, right = *of;
    if (depth == 0 || made->ndim == 0 || of->count[d] < 2 || draw_chance(from, 5)) {
        decomposition_add(made, draw_rank(from, ranks_used), of);
        return;
    }
    left.count[d] = draw_between(from, 1, of->count[d] - 1);
    right.start[d] += left.count[d];
    right.count[d] -= left.count[d];
    bisect(made, from, &left, depth - 1, ranks_used);
    bisect(made, from, &right, depth - 1, ranks_used);
}

static void cut_by_bisection(decomposition *made, draw *from)
{
    box whole = whole_of(made);
    int ranks_used = draw_chance(from, 30) ? (int)draw_between(from, 1, made->ranks) : made->ranks;
    bisect(made, from, &whole, (int)draw_between(from, 2, 8), ranks_used);
}

static void cut_by_slabs(decomposition *made, draw *from)
{
    int d = made->ndim > 0 ? (int)draw_between(from, 0, made->ndim - 1) : 0;
    bool is_dealt = draw_chance(from, 50);
    box slab = whole_of(made);
    int64_t i;
    if (made->ndim == 0 || made->shape[d] > MOST_HOLDINGS) {
        cut_by_bisection(made, from);
        return;
    }
    slab.count[d] = 1;
    for (i = 0; i < made->shape[d]; i++) {
        slab.start[d] = i;
        decomposition_add(made, is_dealt ? (int)(i % made->ranks) : draw_rank(from, made->ranks), &slab);
    }
}

static void cut_not_at_all(decomposition *made, draw *from)
{
    box whole = whole_of(made);
    decomposition_add(made, draw_rank(from, made->ranks), &whole);
}

static decomposition empty(int ndim, const int64_t *shape, int ranks)
{
    return (decomposition){.ndim = ndim, .shape = shape, .ranks = ranks};
}

void decomposition_cut(decomposition *made, draw *from, int ndim, const int64_t *shape, int ranks)
{
    static const struct {
        int percent;
        const char *kind;
        void (*cut)(decomposition *, draw *);
    } ways[] = {
        {45, "mesh", cut_by_mesh},
        {80, "bisection", cut_by_bisection},
        {95, "slabs", cut_by_slabs},
        {100, "one rank", cut_not_at_all},
    };
    int percent = (int)draw_between(from, 1, 100), way = 0;
    while (ways[way].percent < percent)
        way++;
    *made = empty(ndim, shape, ranks);
    made->kind = ways[way].kind;
    ways[way].cut(made, from);
}

void decomposition_scatter(decomposition *made, draw *from, int ndim, const int64_t *shape, int ranks)
{
    int64_t boxes = draw_between(from, 0, 3 * ranks);
    *made = empty(ndim, shape, ranks);
    made->kind = "scattered";
    while (boxes-- > 0) {
        box held = {{0}, {0}};
        int d;
        for (d = 0; d < ndim; d++) {
            held.start[d] = draw_between(from, 0, shape[d]);
            held.count[d] = draw_between(from, 0, shape[d] - held.start[d]);
        }
        decomposition_add(made, draw_rank(from, ranks), &held);
    }
}

void decomposition_thin(decomposition *made, draw *from)
{
    int percent = (int)draw_between(from, 0, 100), kept = 0, i;
    for (i = 0; i < made->count; i++)
        if (draw_chance(from, percent))
            made->holdings[kept++] = made->holdings[i];
    made->count = kept;
}
