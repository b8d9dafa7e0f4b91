/* count_open_chunks.c - how many target chunks are open at once.
 *
 * Chunk J of a template is open while source chunk a is visited if lo(J) <= a <= hi(J), where lo and hi are the
 * positions of the first and the last source chunk that has some of it, and <= is the order of the visit. None is
 * before lo and behind hi at the same time, so of N chunks
 *
 *     open(a) = #{lo(J) <= a} + #{hi(J) >= a} - N
 *
 * and both counts follow from those of the single dimensions, slowest first: with b the position along the slowest,
 *
 *     #{lo <= a} = #(lo < b) * N of the rest + #(lo = b) * #{lo <= a of the rest}
 *
 * and likewise for hi. The maximum over a is searched from the slowest dimension on, with the factors that the
 * dimensions before it leave for the two counts. Along one dimension a position enters with four numbers, a "place".
 * The sum is linear in each of them: of places on one line only the ends matter, and all places of all templates
 * along a dimension lie on a few lines. */
#include "rechunk/count.h"

#include <assert.h>

#include "base/memory.h"

/* A first or last position, or the only one, lies on one of two lines each; one between them on one of eight: starts
 * and ends of chunks in it are s / t, rounded down or up, and a start may coincide with an end of it. */
#define LINES_MOST 16
/* Templates are whole, or the last of a work unit, or the last of the array. */
#define LENGTHS_MOST 3
#define COMBINATIONS_MOST 4096
#define SEARCH_MOST (1 << 20)

/* Chunks along a dimension by where they begin and end, relative to one position of the source's grid. */
typedef struct place {
    int64_t begun, beginning; /* before it, in it */
    int64_t ending, later;    /* in it, behind it */
} place;

typedef enum place_kind { PLACE_ONLY, PLACE_FIRST, PLACE_BETWEEN, PLACE_LAST } place_kind;

typedef struct place_line {
    place_kind kind;
    int64_t key[3];
    int64_t low, high; /* along the line */
    place ends[2];     /* there */
} place_line;

/* All places of templates with the same number of chunks along a dimension. */
typedef struct place_set {
    int64_t chunks;
    bool has_only; /* templates in a single position */
    int line_count;
    place_line lines[LINES_MOST];
} place_set;

typedef struct axis_places {
    pp_rechunk_axis axis;
    int64_t chunk;  /* of the target */
    int64_t period; /* positions after which starts and ends of chunks lie in them as before */
    int set_count;
    place_set sets[LENGTHS_MOST];
} axis_places;

static bool is_on_line(const place_line *a, const place_line *b)
{
    return a->kind == b->kind && a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->key[2] == b->key[2];
}

/* Which line a place is on, and where: first positions differ in the chunks that end there, last ones in those begun
 * before, and on a line between them what has begun grows by as much as what comes later shrinks. */
static place_line line_of(place_kind kind, const place *here)
{
    place_line line = {.kind = kind, .ends = {*here, *here}};
    if (kind == PLACE_FIRST || kind == PLACE_LAST) {
        line.key[0] = here->beginning - here->ending;
        line.low = line.high = kind == PLACE_FIRST ? here->ending : here->begun;
    } else if (kind == PLACE_BETWEEN) {
        line.key[0] = here->beginning;
        line.key[1] = here->ending;
        line.key[2] = here->begun + here->later;
        line.low = line.high = here->begun;
    }
    return line;
}

static void add_place(place_set *set, place_kind kind, place here)
{
    place_line added = line_of(kind, &here);
    int i = 0;
    while (i < set->line_count && !is_on_line(&set->lines[i], &added))
        i++;
    if (i == set->line_count) {
        assert(set->line_count < LINES_MOST);
        set->lines[set->line_count++] = added;
    } else if (added.low < set->lines[i].low) {
        set->lines[i].low = added.low;
        set->lines[i].ends[0] = here;
    } else if (added.high > set->lines[i].high) {
        set->lines[i].high = added.high;
        set->lines[i].ends[1] = here;
    }
}

static place_set *set_of(axis_places *places, int64_t chunks)
{
    int i = 0;
    while (i < places->set_count && places->sets[i].chunks != chunks)
        i++;
    if (i == places->set_count) {
        assert(places->set_count < LENGTHS_MOST);
        places->sets[places->set_count++] = (place_set){.chunks = chunks};
    }
    return &places->sets[i];
}

/* Positions whose first element is `low` elements into the template, from the first to the last of them. */
static void add_places_between(const axis_places *places, place_set *set, int64_t low, int64_t positions)
{
    int64_t chunk = places->chunk, cell = places->axis.cell;
    for (; positions > 0; positions--, low += cell) {
        int64_t begun = pp_divide_up(low, chunk), ended = (low + cell) / chunk;
        add_place(set, PLACE_BETWEEN,
                  (place){.begun = begun,
                          .beginning = pp_divide_up(low + cell, chunk) - begun,
                          .ending = ended - low / chunk,
                          .later = set->chunks - ended});
    }
}

static void add_slice(void *context, const pp_rechunk_slice *slice)
{
    axis_places *places = context;
    int64_t chunk = places->chunk, cell = places->axis.cell, first = cell - slice->phase;
    int64_t chunks = pp_divide_up(slice->count, chunk);
    int64_t between = pp_rechunk_slice_cells(&places->axis, slice) - 2, some, last;
    place_set *set = set_of(places, chunks);
    if (between < 0) {
        /* The most frequent one by far where there are many templates. */
        if (!set->has_only)
            add_place(set, PLACE_ONLY, (place){0, chunks, chunks, 0});
        set->has_only = true;
        return;
    }
    last = first + between * cell;
    add_place(set, PLACE_FIRST, (place){0, pp_divide_up(first, chunk), first / chunk, chunks - first / chunk});
    add_place(set, PLACE_LAST,
              (place){pp_divide_up(last, chunk), chunks - pp_divide_up(last, chunk), chunks - last / chunk, 0});
    /* What lies a period further is on the same line: its ends are in the first and the last period. */
    some = pp_min_i64(between, places->period);
    add_places_between(places, set, first, some);
    add_places_between(places, set, last - some * cell, some);
}

/* Whether the places of an axis are few enough to look at: chunks of very many source chunks do not fit anyhow. */
static bool is_searchable(const int64_t *shape, const pp_rechunk_pass *pass, int d)
{
    int64_t chunk = pass->target.chunk[d];
    pp_rechunk_axis axis = pp_rechunk_axis_of_chunks(shape, pass, d);
    int64_t positions = pp_divide_up(pp_min_i64(axis.template_extent, shape[d]), axis.cell);
    return pp_min_i64(positions, chunk / pp_greatest_common_divisor(chunk, axis.cell)) <= SEARCH_MOST;
}

static void find_places(axis_places *places, const int64_t *shape, const pp_rechunk_pass *pass, int d)
{
    int64_t chunk = pass->target.chunk[d];
    places->axis = pp_rechunk_axis_of_chunks(shape, pass, d);
    places->chunk = chunk;
    places->period = chunk / pp_greatest_common_divisor(chunk, places->axis.cell);
    places->set_count = 0;
    pp_rechunk_axis_walk(&places->axis, add_slice, places);
}

/* Templates with a certain number of chunks along each dimension, slowest first. */
typedef struct place_search {
    int ndim;
    const place_set *sets[PARAPET_MAX_NDIM];
    int64_t chunks[PARAPET_MAX_NDIM + 1]; /* of this dimension and the faster ones */
    int64_t open[PARAPET_MAX_NDIM + 1];   /* the most, of those chunks alone */
    int steps;
} place_search;

static int64_t absolute(int64_t value)
{
    return value < 0 ? -value : value;
}

/* No place of the dimensions from i on gives more for before * #{lo <= a} + after * #{hi >= a}: each of the two is at
 * most all chunks, and together they are at most all chunks and the open ones. */
static int64_t bound(const place_search *search, int i, int64_t before, int64_t after)
{
    return pp_min_i64(before, after) * (search->chunks[i] + search->open[i]) +
           absolute(before - after) * search->chunks[i];
}

/* Whether some place gives as much as the bound says: the last one, the first one, or where most are open. */
static bool is_bound_met(const place_search *search, int i, int64_t before, int64_t after)
{
    return i == search->ndim || before == 0 || after == 0 || before == after;
}

/* The most that a place of the dimensions from i on gives. */
static int64_t search_places(place_search *search, int i, int64_t before, int64_t after)
{
    const place_set *set = search->sets[i];
    int64_t most = 0, rest_chunks = search->chunks[i + 1];
    int j;
    for (j = 0; j < 2 * set->line_count; j++) {
        const place *here = &set->lines[j / 2].ends[j % 2];
        int64_t before_rest = before * here->beginning, after_rest = after * here->ending;
        int64_t gained = (before * here->begun + after * here->later) * rest_chunks;
        int64_t rest = bound(search, i + 1, before_rest, after_rest);
        if (gained + rest <= most)
            continue;
        /* Cut short, the bound stands in: the result is then one, too. */
        if (!is_bound_met(search, i + 1, before_rest, after_rest) && search->steps++ < SEARCH_MOST)
            rest = search_places(search, i + 1, before_rest, after_rest);
        most = pp_max_i64(most, gained + rest);
    }
    return most;
}

static int64_t find_most_open(place_search *search)
{
    int i;
    search->chunks[search->ndim] = search->open[search->ndim] = 1;
    for (i = search->ndim - 1; i >= 0; i--) {
        search->chunks[i] = search->chunks[i + 1] * search->sets[i]->chunks;
        search->open[i] = search_places(search, i, 1, 1) - search->chunks[i];
    }
    return search->open[0];
}

/* Chooses the next combination of sets; false after the last. */
static bool choose_next(const axis_places *places, place_search *search)
{
    int i;
    for (i = search->ndim - 1; i >= 0; i--) {
        if (++search->sets[i] < places[i].sets + places[i].set_count)
            return true;
        search->sets[i] = places[i].sets;
    }
    return false;
}

static int64_t count_chosen(const place_search *search)
{
    int64_t chunks = 1;
    int i;
    for (i = 0; i < search->ndim; i++)
        chunks *= search->sets[i]->chunks;
    return chunks;
}

static int64_t search_combinations(const axis_places *places, int ndim, int64_t bound_chunks)
{
    place_search search = {.ndim = ndim};
    int64_t most = 0, combinations = 1;
    int i;
    for (i = 0; i < ndim; i++) {
        search.sets[i] = places[i].sets;
        combinations *= places[i].set_count;
        if (combinations > COMBINATIONS_MOST)
            return bound_chunks;
    }
    do {
        if (count_chosen(&search) > most)
            most = pp_max_i64(most, find_most_open(&search));
    } while (choose_next(places, &search));
    return most;
}

int64_t pp_rechunk_open_chunks(int ndim, const int64_t *shape, const pp_rechunk_pass *pass)
{
    int64_t most = pp_rechunk_template_chunks(ndim, shape, pass);
    axis_places *places = NULL;
    int i;
    /* Nothing, or more than anybody has memory for and the search can count. */
    if (most == 0 || most > INT64_MAX / 4)
        return most;
    for (i = 0; i < ndim; i++)
        if (!is_searchable(shape, pass, i))
            return most;
    if (pp_allocate_array(&places, (size_t)ndim, sizeof *places) != PARAPET_OK)
        return most;
    for (i = 0; i < ndim; i++)
        find_places(&places[i], shape, pass, pass->order[i]);
    most = search_combinations(places, ndim, most);
    pp_free(places);
    return most;
}
