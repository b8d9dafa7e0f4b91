/* A state that N ranks put is got by M ranks, on other meshes and with other distributions: all values are the same.
 *
 *     test_restart quick             all pairs of N and M, one pair of distributions each
 *     test_restart full              all pairs of distributions
 *     test_restart keep FOLDER       leaves a store with two generations there, for other readers
 *
 * One program of 8 ranks: the first N of them open the store, the others wait. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

#define GROUP "restart"

enum { COUNTS = 6, SPREADS = 4, ARRAYS = 2, MOST_NDIM = 3, MOST_RANKS = 8 };

static const int rank_counts[COUNTS] = {1, 2, 3, 4, 6, 8};

/* One array of the state. */
typedef struct kind {
    const char *name;
    parapet_array_spec spec;
    size_t element_bytes;
} kind;

static const int64_t plane_shape[] = {21, 34}, plane_chunks[] = {4, 5}, plane_shards[] = {8, 15};
static const int64_t cube_shape[] = {9, 10, 11}, cube_chunks[] = {3, 4, 5}, cube_shards[] = {6, 8, 5};
static const char *const plane_names[] = {"y", "x"}, *const cube_names[] = {"level", "row", "column"};

static const kind kinds[ARRAYS] = {
    {"plane",
     {.type = PARAPET_FLOAT64,
      .ndim = 2,
      .shape = plane_shape,
      .chunks = plane_chunks,
      .shards = plane_shards,
      .dimension_names = plane_names},
     sizeof(double)},
    {"cube",
     {.type = PARAPET_INT32,
      .ndim = 3,
      .shape = cube_shape,
      .chunks = cube_chunks,
      .shards = cube_shards,
      .codec = "blosc:lz4:5:shuffle",
      .dimension_names = cube_names},
     sizeof(int32_t)},
};

/* ---- Distributions ---- */

/* Factors of ranks, the two as near to each other as can be. */
static int64_t larger_factor(int ranks)
{
    int64_t factor = 1, i;
    for (i = 1; i * i <= ranks; i++)
        if (ranks % i == 0)
            factor = ranks / i;
    return factor;
}

typedef struct layout {
    int64_t mesh[MOST_NDIM], block[MOST_NDIM];
    parapet_spread spread[MOST_NDIM];
} layout;

static void spread_over(layout *made, int dimension, int64_t ranks, parapet_spread spread, int64_t block)
{
    made->mesh[dimension] = ranks;
    made->spread[dimension] = spread;
    made->block[dimension] = block;
}

/* 0: blocks on a mesh; 1: cyclic on the mesh turned over; 2: slabs of the last dimension; 3: rows dealt out. */
static parapet_distribution distribute(layout *made, const kind *array, int spread, int ranks)
{
    int last = array->spec.ndim - 1, d;
    int64_t larger = larger_factor(ranks), smaller = ranks / larger;
    for (d = 0; d <= last; d++)
        spread_over(made, d, 1, PARAPET_WHOLE, 1);
    if (spread == 0) {
        spread_over(made, 0, larger, PARAPET_BLOCK, 1);
        spread_over(made, 1, smaller, PARAPET_BLOCK, 1);
    } else if (spread == 1) {
        spread_over(made, last - 1, smaller, PARAPET_CYCLIC, 2);
        spread_over(made, last, larger, PARAPET_CYCLIC, 3);
    } else if (spread == 2) {
        spread_over(made, last, ranks, PARAPET_BLOCK, 1);
    } else {
        spread_over(made, 0, ranks, PARAPET_CYCLIC, 1);
    }
    return (parapet_distribution){.ndim = array->spec.ndim,
                                  .shape = array->spec.shape,
                                  .mesh = made->mesh,
                                  .spread = made->spread,
                                  .block = made->block};
}

/* ---- What one rank has of the state ---- */

typedef struct piece {
    int64_t start[MOST_NDIM], count[MOST_NDIM];
} piece;

typedef struct share {
    const kind *array;
    int64_t count;
    piece *pieces;
    parapet_part *parts;
    unsigned char *memory;
} share;

static int64_t elements_of(const share *own, const piece *of)
{
    int64_t elements = 1;
    int d;
    for (d = 0; d < own->array->spec.ndim; d++)
        elements *= of->count[d];
    return elements;
}

/* Other generations have other values. */
static int64_t value_at(const share *own, const int64_t *position, int64_t generation)
{
    int64_t value = 0;
    int d;
    for (d = 0; d < own->array->spec.ndim; d++)
        value = value * own->array->spec.shape[d] + position[d];
    return value * 7 + generation * 10000;
}

static void store_value(const share *own, int64_t value, void *element)
{
    double real = (double)value / 4;
    int32_t integer = (int32_t)value;
    if (own->array->spec.type == PARAPET_FLOAT64)
        memcpy(element, &real, sizeof real);
    else
        memcpy(element, &integer, sizeof integer);
}

static void share_build(share *own, const kind *array, int spread, int ranks, int rank)
{
    layout made;
    parapet_distribution distribution = distribute(&made, array, spread, ranks);
    int64_t all = 1, used = 0, i;
    int d;
    *own = (share){.array = array};
    for (d = 0; d < array->spec.ndim; d++)
        all *= array->spec.shape[d];
    if (parapet_distribution_count(&distribution, rank, &own->count) != PARAPET_OK)
        abort();
    own->pieces = calloc((size_t)own->count + 1, sizeof own->pieces[0]);
    own->parts = calloc((size_t)own->count + 1, sizeof own->parts[0]);
    own->memory = calloc((size_t)all, array->element_bytes);
    for (i = 0; i < own->count; i++) {
        piece *one = &own->pieces[i];
        if (parapet_distribution_box(&distribution, rank, i, one->start, one->count) != PARAPET_OK)
            abort();
        own->parts[i] = (parapet_part){.ndim = array->spec.ndim,
                                       .start = one->start,
                                       .count = one->count,
                                       .data = own->memory + (size_t)used * array->element_bytes};
        used += elements_of(own, one);
    }
}

static void share_free(share *own)
{
    free(own->pieces);
    free(own->parts);
    free(own->memory);
}

/* Visits every element of the share; false: one of them is not as it should be, where is_check. */
static bool share_visit(share *own, int64_t generation, bool is_check)
{
    int64_t i, index, position[MOST_NDIM];
    unsigned char *element = own->memory, expected[sizeof(double)];
    int d;
    for (i = 0; i < own->count; i++)
        for (index = 0; index < elements_of(own, &own->pieces[i]); index++, element += own->array->element_bytes) {
            int64_t rest = index;
            for (d = own->array->spec.ndim - 1; d >= 0; d--) {
                position[d] = own->pieces[i].start[d] + rest % own->pieces[i].count[d];
                rest /= own->pieces[i].count[d];
            }
            store_value(own, value_at(own, position, generation), expected);
            if (is_check && memcmp(element, expected, own->array->element_bytes) != 0)
                return false;
            memcpy(element, expected, own->array->element_bytes);
        }
    return true;
}

static void list_items(share shares[ARRAYS], parapet_checkpoint_item items[ARRAYS])
{
    int i;
    for (i = 0; i < ARRAYS; i++)
        items[i] = (parapet_checkpoint_item){.name = kinds[i].name,
                                             .spec = &kinds[i].spec,
                                             .parts = shares[i].parts,
                                             .part_count = (int)shares[i].count};
}

/* ---- Communicators of the first ranks ---- */

typedef struct subset {
    int ranks;
    bool is_in;
    MPI_Comm comm; /* of those that are in */
} subset;

static void subset_build(subset *made, const launch *run, int ranks)
{
    made->ranks = ranks;
    made->is_in = run->rank < ranks;
    MPI_Comm_split(MPI_COMM_WORLD, made->is_in ? 0 : 1, run->rank, &made->comm);
}

static void expect_ok(launch *run, parapet_status status, const char *call)
{
    if (status != PARAPET_OK)
        fprintf(stderr, "rank %d: %s\n", run->rank, parapet_error_message());
    launch_expect(run, status == PARAPET_OK, call);
}

static void put(launch *run, const subset *writers, const char *folder, int spread, int64_t generation)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_checkpoint_options numbered = {.generation = generation, .keep = -1};
    parapet_store *store = NULL;
    parapet_checkpoint *checkpoint = NULL;
    parapet_checkpoint_item items[ARRAYS];
    share shares[ARRAYS];
    char step[32];
    int i;
    for (i = 0; i < ARRAYS; i++) {
        share_build(&shares[i], &kinds[i], spread, writers->ranks, run->rank);
        (void)share_visit(&shares[i], generation, false);
    }
    list_items(shares, items);
    (void)snprintf(step, sizeof step, "%lld", (long long)generation);
    expect_ok(run, parapet_store_open(&store, writers->comm, folder, PARAPET_CREATE, &options), "a store");
    expect_ok(run, parapet_checkpoint_begin(&checkpoint, store, GROUP, &numbered), "begin");
    expect_ok(run, parapet_checkpoint_put(checkpoint, items, ARRAYS), "put");
    expect_ok(run, parapet_checkpoint_attribute_set(checkpoint, "step", step), "a step");
    expect_ok(run, parapet_checkpoint_commit(&checkpoint, NULL), "commit");
    expect_ok(run, parapet_store_close(&store), "close");
    for (i = 0; i < ARRAYS; i++)
        share_free(&shares[i]);
}

static void get(launch *run, const subset *readers, const char *folder, int spread, int64_t generation)
{
    parapet_store *store = NULL;
    parapet_restore *restore = NULL;
    parapet_checkpoint_item items[ARRAYS];
    share shares[ARRAYS];
    int i;
    for (i = 0; i < ARRAYS; i++)
        share_build(&shares[i], &kinds[i], spread, readers->ranks, run->rank);
    list_items(shares, items);
    expect_ok(run, parapet_store_open(&store, readers->comm, folder, PARAPET_READ, NULL), "a store");
    expect_ok(run, parapet_restore_open(&restore, store, GROUP, generation), "open");
    expect_ok(run, parapet_restore_get(restore, items, ARRAYS), "get");
    expect_ok(run, parapet_restore_close(&restore), "close");
    expect_ok(run, parapet_store_close(&store), "close");
    for (i = 0; i < ARRAYS; i++) {
        launch_expect(run, share_visit(&shares[i], generation, true), "the values that were put");
        share_free(&shares[i]);
    }
}

/* ---- The matrix ---- */

typedef struct tally {
    int64_t puts, gets;
    bool has_met[COUNTS][COUNTS];
} tally;

static void read_by(launch *run, const subset *readers, const char *folder, int put_spread, int64_t generation,
                    bool is_full, tally *done)
{
    char description[120];
    int spread;
    for (spread = 0; spread < SPREADS; spread++) {
        if (!is_full && spread != (put_spread + 1 + readers->ranks % (SPREADS - 1)) % SPREADS)
            continue;
        launch_case_begin(run, (uint64_t)generation);
        if (readers->is_in)
            get(run, readers, folder, spread, generation);
        (void)snprintf(description, sizeof description, "spread %d got by %d ranks as spread %d", put_spread,
                       readers->ranks, spread);
        (void)launch_case_end(run, description);
        done->gets++;
    }
}

static void run_matrix(launch *run, const subset subsets[COUNTS], bool is_full, tally *done)
{
    char folder[600], description[80];
    int64_t generation = 0;
    int n, m, spread;
    (void)snprintf(folder, sizeof folder, "%s/matrix", run->folder);
    for (n = 0; n < COUNTS; n++)
        for (spread = 0; spread < SPREADS; spread++) {
            if (!is_full && spread != n % SPREADS)
                continue;
            launch_case_begin(run, (uint64_t)++generation);
            if (subsets[n].is_in)
                put(run, &subsets[n], folder, spread, generation);
            (void)snprintf(description, sizeof description, "put by %d ranks as spread %d", subsets[n].ranks, spread);
            (void)launch_case_end(run, description);
            done->puts++;
            for (m = 0; m < COUNTS; m++) {
                read_by(run, &subsets[m], folder, spread, generation, is_full, done);
                done->has_met[n][m] = true;
            }
        }
}

static void keep_for_others(launch *run, const subset subsets[COUNTS], const char *folder)
{
    launch_case_begin(run, 1);
    if (subsets[4].is_in)
        put(run, &subsets[4], folder, 1, 1);
    launch_barrier();
    if (subsets[2].is_in)
        put(run, &subsets[2], folder, 0, 2);
    (void)launch_case_end(run, "generations for other readers");
}

static void test_all_pairs(launch *run, const subset subsets[COUNTS], bool is_full)
{
    tally done = {0};
    int pairs = 0, n, m;
    run_matrix(run, subsets, is_full, &done);
    for (n = 0; n < COUNTS; n++)
        for (m = 0; m < COUNTS; m++)
            pairs += done.has_met[n][m];
    launch_case_begin(run, 0);
    launch_expect(run, pairs == COUNTS * COUNTS, "every number of ranks after every other");
    (void)launch_case_end(run, "the matrix");
    if (run->rank == 0)
        printf("restart: %d pairs of rank counts, %lld states put, %lld got, %lld failed\n", pairs,
               (long long)done.puts, (long long)done.gets, (long long)run->failed_cases);
}

int main(int argc, char **argv)
{
    subset subsets[COUNTS];
    launch run;
    int n;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    if (run.ranks != MOST_RANKS || argc < 2) {
        fprintf(stderr, "usage: mpiexec -n %d test_restart quick|full|keep [FOLDER]\n", MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (n = 0; n < COUNTS; n++)
        subset_build(&subsets[n], &run, rank_counts[n]);
    if (strcmp(argv[1], "keep") == 0 && argc > 2)
        keep_for_others(&run, subsets, argv[2]);
    else
        test_all_pairs(&run, subsets, strcmp(argv[1], "full") == 0);
    for (n = 0; n < COUNTS; n++)
        MPI_Comm_free(&subsets[n].comm);
    return launch_finish(&run);
}
