/* How evenly real servers share real transfers: every rank counts the shards that it served, for whole arrays,
 * planes, slabs, lines and pencils in every direction. All shards are alike, and every rank is a server.
 *
 *     in_turn       1.20 of the mean from 16 shards to a server on, else twice what cannot be avoided
 *     nearest       1.10 of the mean, or what cannot be avoided, if one rank holds seven eighths too
 *
 * Homes are the same in every call, whatever else the call moves and however the array has grown. What is stored is
 * what one process alone stores. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "tree.h"

enum { NDIM_MOST = 4, RANKS_MOST = 64, CELL = 2, CELL_BYTES_MOST = CELL * CELL * CELL * CELL };

typedef struct spread_case {
    int ndim;
    int64_t cells[NDIM_MOST]; /* shards */
} spread_case;

static const spread_case cases[] = {{3, {8, 8, 8}}, {2, {12, 20}}, {4, {4, 6, 5, 3}}, {1, {100}}};

enum { CASES = sizeof cases / sizeof cases[0] };

/* A box of shards, and how the ranks hold it. */
typedef struct box_of {
    int ndim;
    int64_t start[NDIM_MOST], count[NDIM_MOST];
    bool is_lopsided; /* rank 0 holds seven eighths, the last rank the rest; else all hold the same */
} box_of;

static launch run;

static int64_t shards_of(const box_of *box)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < box->ndim; d++)
        count *= box->count[d];
    return count;
}

/* ---- The parts of a rank ---- */

static int longest_of(const box_of *box)
{
    int d, longest = 0;
    for (d = 1; d < box->ndim; d++)
        if (box->count[d] > box->count[longest])
            longest = d;
    return longest;
}

/* Where the part of a rank starts, in elements along the longest side. */
static int64_t start_of(const box_of *box, int64_t elements, int rank)
{
    if (!box->is_lopsided)
        return elements * rank / run.ranks;
    return rank == 0 ? 0 : rank == run.ranks ? elements : elements * 7 / 8;
}

typedef struct own_part {
    int64_t start[NDIM_MOST], count[NDIM_MOST];
    unsigned char *data;
    parapet_part part;
    int part_count; /* 0: the rank holds nothing */
} own_part;

static int64_t elements_of(const own_part *own)
{
    int64_t elements = 1;
    int d;
    for (d = 0; d < own->part.ndim; d++)
        elements *= own->count[d];
    return elements;
}

/* With one value for every element, which depends on where it is. */
static void fill(own_part *own)
{
    int64_t e, rest, value;
    int d;
    for (e = 0; e < elements_of(own); e++) {
        for (d = own->part.ndim, rest = e, value = 0; d-- > 0; rest /= own->count[d])
            value = value * 31 + own->start[d] + rest % own->count[d];
        own->data[e] = (unsigned char)(value % 251);
    }
}

static void make_part(own_part *own, const box_of *box, int rank)
{
    int d, longest = longest_of(box), last = rank == run.ranks - 1;
    *own = (own_part){.part = {.ndim = box->ndim}};
    for (d = 0; d < box->ndim; d++) {
        own->start[d] = CELL * box->start[d];
        own->count[d] = CELL * box->count[d];
    }
    if (box->is_lopsided && rank != 0 && !last)
        own->count[longest] = 0;
    else {
        int64_t all = own->count[longest], first = start_of(box, all, box->is_lopsided && last ? 1 : rank);
        own->count[longest] = start_of(box, all, last ? run.ranks : rank + 1) - first;
        own->start[longest] += first;
    }
    own->data = calloc((size_t)elements_of(own) + 1, 1);
    own->part.start = own->start;
    own->part.count = own->count;
    own->part.data = own->data;
    own->part_count = elements_of(own) > 0;
    fill(own);
}

/* ---- Counting ---- */

typedef struct counts {
    int64_t served[RANKS_MOST];
} counts;

static int64_t served_so_far(parapet_store *store)
{
    parapet_statistics statistics;
    launch_expect(&run, parapet_store_get_statistics(store, &statistics) == PARAPET_OK, "statistics");
    return statistics.shards_owned;
}

static counts share_counts(int64_t own)
{
    counts all = {{0}};
    all.served[run.rank] = own;
    launch_sum(all.served, RANKS_MOST);
    return all;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t limit_of(parapet_owners owners, int64_t shards)
{
    if (owners == PARAPET_OWNERS_NEAREST) {
        int64_t most = (int64_t)(1.10 * (double)shards / run.ranks);
        return most > divide_up(shards, run.ranks) ? most : divide_up(shards, run.ranks);
    }
    if (shards >= 16 * run.ranks)
        return (int64_t)(1.20 * (double)shards / run.ranks);
    return 2 * divide_up(shards, run.ranks);
}

static void check_counts(parapet_owners owners, const box_of *box, const counts *seen)
{
    int64_t sum = 0, most = 0, limit = limit_of(owners, shards_of(box));
    char text[200];
    int i;
    for (i = 0; i < run.ranks; i++) {
        sum += seen->served[i];
        most = seen->served[i] > most ? seen->served[i] : most;
    }
    (void)snprintf(text, sizeof text,
                   "owners %d, %" PRId64 " shards from %" PRId64 ",%" PRId64 ",%" PRId64 "%s: a server has %" PRId64
                   ", at most %" PRId64 " expected",
                   (int)owners, shards_of(box), box->start[0], box->start[1], box->start[2],
                   box->is_lopsided ? ", lopsided" : "", most, limit);
    launch_expect(&run, most <= limit, text);
    launch_expect(&run, sum == shards_of(box), "every shard has one owner");
}

/* ---- Calls ---- */

static counts read_box(parapet_store *store, parapet_array *array, const box_of *box)
{
    int64_t before = served_so_far(store);
    own_part wanted, got;
    make_part(&wanted, box, run.rank);
    make_part(&got, box, run.rank);
    memset(got.data, 255, (size_t)elements_of(&got));
    if (LAUNCH_OK(&run, parapet_array_read(array, &got.part, got.part_count)))
        launch_expect(&run, memcmp(got.data, wanted.data, (size_t)elements_of(&got)) == 0, "what was written");
    free(wanted.data);
    free(got.data);
    return share_counts(served_so_far(store) - before);
}

/* Up to two boxes of one array that have this many shards along a dimension. */
static void check_boxes(parapet_store *store, parapet_array *array, parapet_owners owners, box_of box, int d,
                        int64_t along)
{
    for (box.start[d] = 0; box.start[d] + along <= box.count[d]; box.start[d] += 1 + box.count[d] / 2) {
        box_of part = box;
        counts seen;
        part.count[d] = along;
        seen = read_box(store, array, &part);
        check_counts(owners, &part, &seen);
    }
}

/* Of a pencil (thickness 2) or a line (1) along d. */
static box_of pencil_of(const box_of *whole, int d, int64_t thickness)
{
    box_of pencil = *whole;
    int i;
    for (i = 0; i < whole->ndim; i++)
        if (i != d && pencil.count[i] > thickness)
            pencil.count[i] = thickness;
    return pencil;
}

static void check_array(parapet_store *store, parapet_array *array, parapet_owners owners, const box_of *whole)
{
    counts seen = read_box(store, array, whole);
    int d;
    check_counts(owners, whole, &seen);
    for (d = 0; d < whole->ndim; d++) {
        box_of pencil = pencil_of(whole, d, 2), line = pencil_of(whole, d, 1);
        check_boxes(store, array, owners, *whole, d, 1);
        check_boxes(store, array, owners, *whole, d, whole->count[d] < 3 ? whole->count[d] : 3);
        check_boxes(store, array, owners, pencil, d, whole->count[d]);
        check_boxes(store, array, owners, line, d, whole->count[d]);
    }
}

/* ---- Stores ---- */

static box_of whole_of(int number, bool is_lopsided)
{
    box_of whole = {.ndim = cases[number].ndim, .is_lopsided = is_lopsided};
    memcpy(whole.count, cases[number].cells, sizeof whole.count);
    return whole;
}

static parapet_status create(parapet_array **array, parapet_store *store, int number)
{
    int64_t shape[NDIM_MOST], chunks[NDIM_MOST];
    char path[16];
    int d;
    for (d = 0; d < NDIM_MOST; d++) {
        shape[d] = CELL * cases[number].cells[d];
        chunks[d] = CELL;
    }
    (void)snprintf(path, sizeof path, "a%d", number);
    return parapet_array_create(array, store, path,
                                &(parapet_array_spec){.ndim = cases[number].ndim,
                                                      .type = PARAPET_UINT8,
                                                      .shape = shape,
                                                      .chunks = chunks,
                                                      .unsharded = 1,
                                                      .codec = "none"});
}

static const char *store_path(const char *name)
{
    static char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    return path;
}

static parapet_status open_store(parapet_store **store, MPI_Comm comm, const char *name, parapet_owners owners)
{
    return parapet_store_open(
        store, comm, store_path(name), PARAPET_CREATE,
        &(parapet_store_options){.servers = run.ranks, .owners = owners, .durability = PARAPET_DURABILITY_LEAVE});
}

/* What the others are compared with. */
static void write_alone(void)
{
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int number, ranks = run.ranks;
    run.ranks = 1;
    launch_expect(&run, open_store(&store, MPI_COMM_SELF, "alone", PARAPET_OWNERS_CHOOSE) == PARAPET_OK, "a store");
    for (number = 0; number < CASES; number++) {
        box_of whole = whole_of(number, false);
        own_part own;
        make_part(&own, &whole, 0);
        launch_expect(&run, create(&array, store, number) == PARAPET_OK, "an array");
        launch_expect(&run, parapet_array_write(array, &own.part, 1) == PARAPET_OK, "a write");
        launch_expect(&run, parapet_array_close(&array) == PARAPET_OK, "a close");
        free(own.data);
    }
    launch_expect(&run, parapet_store_close(&store) == PARAPET_OK, "a close");
    run.ranks = ranks;
}

static void compare_with_alone(const char *name)
{
    tree alone, together;
    launch_barrier();
    if (run.rank != 0)
        return;
    tree_take(&alone, store_path("alone"));
    tree_take(&together, store_path(name));
    launch_expect(&run, tree_equals(&alone, &together), "the same bytes as one process alone");
    tree_clear(&alone);
    tree_clear(&together);
}

static void write_whole(parapet_store *store, parapet_array *array, parapet_owners owners, const box_of *whole)
{
    int64_t before = served_so_far(store);
    own_part own;
    counts seen;
    make_part(&own, whole, run.rank);
    (void)LAUNCH_OK(&run, parapet_array_write(array, &own.part, own.part_count));
    free(own.data);
    seen = share_counts(served_so_far(store) - before);
    check_counts(owners, whole, &seen);
}

/* ---- Homes ---- */

static bool are_equal(const counts *left, const counts *right)
{
    return memcmp(left, right, sizeof *left) == 0;
}

/* Reading two arrays in one call loads every server as reading one after the other does. */
static void check_both(parapet_store *store, parapet_array *const *arrays)
{
    box_of boxes[2] = {whole_of(0, false), whole_of(1, false)};
    int64_t before;
    parapet_array_parts list[2];
    own_part own[2];
    counts each[2], both;
    int i;
    for (i = 0; i < 2; i++) {
        each[i] = read_box(store, arrays[i], &boxes[i]);
        make_part(&own[1 - i], &boxes[i], run.rank);
        list[1 - i] =
            (parapet_array_parts){.array = arrays[i], .parts = &own[1 - i].part, .part_count = own[1 - i].part_count};
    }
    before = served_so_far(store);
    (void)LAUNCH_OK(&run, parapet_arrays_read(list, 2));
    both = share_counts(served_so_far(store) - before);
    for (i = 0; i < run.ranks; i++)
        each[0].served[i] += each[1].served[i];
    launch_expect(&run, are_equal(&each[0], &both), "homes that do not depend on what else a call moves");
    free(own[0].data);
    free(own[1].data);
}

/* Growing in every dimension leaves every home where it is. */
static void check_growth(parapet_store *store, parapet_array *array)
{
    box_of whole = whole_of(0, false);
    counts before = read_box(store, array, &whole), after;
    (void)LAUNCH_OK(&run, parapet_array_resize(array, (int64_t[]){CELL * 11, CELL * 9, CELL * 10}));
    after = read_box(store, array, &whole);
    launch_expect(&run, are_equal(&before, &after), "homes that stay while an array grows");
    (void)LAUNCH_OK(&run, parapet_array_resize(array, (int64_t[]){CELL * 8, CELL * 8, CELL * 8}));
    after = read_box(store, array, &whole);
    launch_expect(&run, are_equal(&before, &after), "homes that stay while an array shrinks");
}

static void run_case(parapet_owners owners, bool is_lopsided)
{
    parapet_array *arrays[CASES] = {NULL};
    parapet_store *store = NULL;
    char name[32];
    int number;
    launch_case_begin(&run, (uint64_t)(2 * owners + is_lopsided));
    (void)snprintf(name, sizeof name, "store%d%d", (int)owners, is_lopsided);
    if (!LAUNCH_OK(&run, open_store(&store, MPI_COMM_WORLD, name, owners)))
        return;
    for (number = 0; number < CASES; number++) {
        box_of whole = whole_of(number, is_lopsided);
        if (LAUNCH_OK(&run, create(&arrays[number], store, number))) {
            write_whole(store, arrays[number], owners, &whole);
            check_array(store, arrays[number], owners, &whole);
        }
    }
    compare_with_alone(name);
    if (owners == PARAPET_OWNERS_IN_TURN) {
        check_both(store, arrays);
        check_growth(store, arrays[0]);
    }
    (void)LAUNCH_OK(&run, parapet_arrays_close(arrays, CASES));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    (void)launch_case_end(&run, name);
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    if (run.ranks > RANKS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    launch_case_begin(&run, 0);
    if (run.rank == 0)
        write_alone();
    launch_barrier();
    (void)launch_case_end(&run, "alone");
    run_case(PARAPET_OWNERS_IN_TURN, false);
    run_case(PARAPET_OWNERS_IN_TURN, true);
    run_case(PARAPET_OWNERS_NEAREST, false);
    run_case(PARAPET_OWNERS_NEAREST, true);
    return launch_finish(&run);
}
