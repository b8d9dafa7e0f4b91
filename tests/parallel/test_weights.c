/* Owners by speed (sharing by weights) on throttled stores: a slow server owns fewer shards from the second call on,
 * in writing and in reading; one that becomes slow loses shards two calls later, and gets them back when it recovers.
 * All ranks know the same weights, and what is stored is the same as with owners in turn. Weights from a file are in
 * force in the first call; a file that does not fit is refused by all ranks alike. Each process goes by a clock of
 * its own, which only its throttled store moves: what is measured is exact, and so is what follows from it.
 *
 *     test_weights */
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "array/store_handle.h"
#include "hand_clock.h"
#include "launch.h"
#include "stores/throttled.h"
#include "tree.h"

enum { SHARD_ELEMENTS = 1 << 14, SHARDS_PER_RANK = 32 };

#define MEGABYTE 1e6
#define RATE (8 * MEGABYTE)

static launch run;
static float *values;
static pp_store *inner, *slow;
static parapet_store *store;
static parapet_array *array;
static char weights_path[600]; /* empty: none is given */

static int64_t own_elements(void)
{
    return (int64_t)SHARDS_PER_RANK * SHARD_ELEMENTS;
}

static bool open_array(parapet_sharing sharing, const char *name)
{
    int64_t shape = run.ranks * own_elements(), chunks = SHARD_ELEMENTS / 4, shards = SHARD_ELEMENTS;
    parapet_store_options options = {
        .servers = run.ranks,
        .owners = PARAPET_OWNERS_IN_TURN,
        .sharing = sharing,
        .weights = weights_path[0] != '\0' ? weights_path : NULL,
    };
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    pp_posix_options posix = {.not_durable = true, .create = true};
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    if (run.rank == 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run.rank != 0)
        launch_expect(&run, pp_store_posix_build(&inner, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(&run, pp_store_throttled_build(&slow, inner, &(pp_throttle){0}) == PARAPET_OK, "a store");
    return LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, slow, PARAPET_CREATE, &options)) &&
           LAUNCH_OK(&run, parapet_array_create(&array, store, "a", &spec));
}

static void close_array(void)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    pp_store_free(slow);
    pp_store_free(inner);
}

/* The last server has this part of the speed of the others. */
static void set_last(double part)
{
    double rate = run.rank == run.ranks - 1 ? part * RATE : RATE;
    pp_store_throttled_set(slow, &(pp_throttle){.bytes_per_second = rate});
}

typedef parapet_status (*transfer)(parapet_array *array, const parapet_part *parts, int part_count);

/* How many shards the last server owns in a call. */
static int64_t shards_of_last(transfer call)
{
    int64_t count = own_elements(), start = run.rank * count;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    parapet_statistics before = {0}, after = {0};
    (void)parapet_store_get_statistics(store, &before);
    (void)LAUNCH_OK(&run, call(array, &part, 1));
    (void)parapet_store_get_statistics(store, &after);
    return launch_largest(run.rank == run.ranks - 1 ? after.shards_owned - before.shards_owned : 0);
}

static void expect_agreement(pp_direction direction)
{
    const pp_weighting *weighting = &store->epochs[direction].speeds.now;
    int i;
    for (i = 0; i < weighting->server_count; i++) {
        int64_t most = launch_largest(weighting->weights[i]), least = 9 - launch_largest(9 - weighting->weights[i]);
        launch_expect(&run, most == least, "the same weight on every rank");
    }
}

/* What is measured in one call is in force two calls later. */
static void expect_shards(transfer call, int64_t least, int64_t most, const char *what)
{
    int64_t owned;
    char text[160];
    (void)shards_of_last(call);
    (void)shards_of_last(call);
    owned = shards_of_last(call);
    (void)snprintf(text, sizeof text, "%s: %lld shards on the last server, %lld to %lld expected", what,
                   (long long)owned, (long long)least, (long long)most);
    launch_expect(&run, owned >= least && owned <= most, text);
}

/* With a weight that is half of the others', of all shards. */
static int64_t half_share(void)
{
    return (int64_t)run.ranks * SHARDS_PER_RANK / (2 * run.ranks - 1);
}

static void follow_speeds(void)
{
    int64_t share = half_share();
    set_last(0.5);
    launch_expect(&run, shards_of_last(parapet_array_write) == SHARDS_PER_RANK, "nothing is known in the first call");
    expect_shards(parapet_array_write, share - 4, share + 4, "half as fast");
    expect_shards(parapet_array_read, share - 4, share + 4, "half as fast, reading");
    expect_agreement(PP_WRITING);
    set_last(1);
    expect_shards(parapet_array_write, SHARDS_PER_RANK - 5, SHARDS_PER_RANK + 5, "as fast as the others again");
    set_last(0.25);
    expect_shards(parapet_array_write, 1, share - 4, "a quarter as fast");
    expect_shards(parapet_array_read, 1, share - 4, "a quarter as fast, reading");
    expect_agreement(PP_WRITING);
    expect_agreement(PP_READING);
}

static bool has_same_values(void)
{
    int64_t count = own_elements(), start = run.rank * count, i;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    memset(values, 0xff, (size_t)count * sizeof values[0]);
    if (!LAUNCH_OK(&run, parapet_array_read(array, &part, 1)))
        return false;
    for (i = 0; i < count; i++)
        if (values[i] != (float)((start + i) % 65536))
            return false;
    return true;
}

static void fill(void)
{
    int64_t count = own_elements(), i;
    for (i = 0; i < count; i++)
        values[i] = (float)((run.rank * count + i) % 65536);
}

/* The last of them is half as fast as the others. */
static void write_weights(const char *name, int servers)
{
    FILE *file;
    int i;
    (void)snprintf(weights_path, sizeof weights_path, "%s/%s", run.folder, name);
    launch_barrier();
    if (run.rank == 0 && (file = fopen(weights_path, "w")) != NULL) {
        (void)fprintf(file, "parapet weights 1\nservers %d\n", servers);
        for (i = 0; i < servers; i++)
            (void)fprintf(file, "server %d writing %d reading %d\n", i, i < servers - 1 ? 8000000 : 4000000,
                          i < servers - 1 ? 16000000 : 8000000);
        (void)fputs("end\n", file);
        (void)fclose(file);
    }
    launch_barrier();
}

static void begin_with_weights(void)
{
    int64_t share = half_share(), owned;
    write_weights("disks.txt", run.ranks);
    if (!open_array(PARAPET_SHARING_WEIGHTS, "given"))
        return;
    fill();
    expect_agreement(PP_WRITING);
    expect_agreement(PP_READING);
    owned = shards_of_last(parapet_array_write);
    launch_expect(&run, owned >= share - 4 && owned <= share + 4, "given weights count in the first call");
    launch_expect(&run, has_same_values(), "the values that were written");
    close_array();
}

static void expect_refusal(parapet_status expected, const char *words)
{
    parapet_store_options options = {.sharing = PARAPET_SHARING_WEIGHTS, .weights = weights_path};
    parapet_store *refused = NULL;
    char path[600];
    parapet_status status;
    options.servers = run.ranks;
    (void)snprintf(path, sizeof path, "%s/given", run.folder);
    status = LAUNCH_AGREED(&run, parapet_store_open(&refused, MPI_COMM_WORLD, path, PARAPET_UPDATE, &options));
    launch_expect(&run, status == expected && strstr(parapet_error_message(), words) != NULL,
                  parapet_error_message());
    launch_expect(&run, refused == NULL, "no store");
}

static void refuse_weights(void)
{
    write_weights("other.txt", run.ranks + 1);
    expect_refusal(PARAPET_ERR_ARGUMENT, "servers, but there are");
    (void)snprintf(weights_path, sizeof weights_path, "%s/none.txt", run.folder);
    expect_refusal(PARAPET_ERR_NOT_FOUND, "none.txt");
    weights_path[0] = '\0';
}

static void take_shards(tree *taken, const char *name)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s/a/c", run.folder, name);
    tree_take(taken, path);
}

static void compare_shards(const char *name)
{
    tree first, second;
    if (run.rank == 0) {
        take_shards(&first, name);
        take_shards(&second, "turns");
        launch_expect(&run, tree_equals(&first, &second), "the same shards as with owners in turn");
        tree_clear(&first);
        tree_clear(&second);
    }
    launch_barrier();
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    hand_clock_take(false);
    values = calloc((size_t)own_elements(), sizeof values[0]);
    launch_case_begin(&run, 1);
    if (values != NULL && open_array(PARAPET_SHARING_WEIGHTS, "weights")) {
        fill();
        follow_speeds();
        launch_expect(&run, has_same_values(), "the values that were written");
        close_array();
        fill();
        if (open_array(PARAPET_SHARING_EQUAL, "turns")) {
            (void)shards_of_last(parapet_array_write);
            close_array();
        }
        compare_shards("weights");
    }
    (void)launch_case_end(&run, "owners follow the speeds of servers");
    launch_case_begin(&run, 2);
    if (values != NULL) {
        begin_with_weights();
        compare_shards("given");
        refuse_weights();
    }
    (void)launch_case_end(&run, "owners begin with given weights");
    free(values);
    return launch_finish(&run);
}
