/* Servers of different speeds: each measures its own, in writing and in reading, and a change of it in the next call.
 * Each process goes by a clock of its own, which only its throttled store moves: what is measured is exact.
 *
 *     test_speeds */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/open.h"
#include "hand_clock.h"
#include "launch.h"
#include "stores/throttled.h"
#include "tree.h"

enum { SHARD_ELEMENTS = 1 << 15, SHARDS_PER_RANK = 8 };

#define MEGABYTE 1e6
#define CLOSE 0.005 /* the disk also has documents to write, which are not counted */

static launch run;
static float *values;
static pp_store *inner, *slow;
static parapet_store *store;
static parapet_array *array;

static int64_t own_elements(void)
{
    return (int64_t)SHARDS_PER_RANK * SHARD_ELEMENTS;
}

static double own_rate(void)
{
    return MEGABYTE * 8 * (1 + run.rank);
}

static bool open_array(void)
{
    int64_t shape = run.ranks * own_elements(), chunks = SHARD_ELEMENTS / 4, shards = SHARD_ELEMENTS;
    parapet_store_options options = {.servers = run.ranks, .owners = PARAPET_OWNERS_IN_TURN};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 1, .shape = &shape, .chunks = &chunks, .shards = &shards, .codec = "none"};
    pp_posix_options posix = {.not_durable = true, .create = true};
    char path[600];
    (void)snprintf(path, sizeof path, "%s/speeds", run.folder);
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

typedef parapet_status (*transfer)(parapet_array *array, const parapet_part *parts, int part_count);

/* What this server's disk did in one call, in bytes a second. */
static double speed_of_call(transfer call)
{
    int64_t count = own_elements(), start = run.rank * count;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = values};
    parapet_statistics before = {0}, after = {0};
    int64_t bytes;
    (void)parapet_store_get_statistics(store, &before);
    (void)LAUNCH_OK(&run, call(array, &part, 1));
    (void)parapet_store_get_statistics(store, &after);
    bytes = after.read_bytes + after.written_bytes - before.read_bytes - before.written_bytes;
    launch_expect(&run, 2 * bytes >= own_elements() * (int64_t)sizeof values[0], "at least half of an even share");
    return (double)bytes / (after.storage_seconds - before.storage_seconds);
}

static void expect_speed(transfer call, double rate)
{
    double speed = speed_of_call(call);
    char text[128];
    (void)snprintf(text, sizeof text, "%.3f MB/s measured as such, not as %.3f", rate / MEGABYTE, speed / MEGABYTE);
    launch_expect(&run, speed >= (1 - CLOSE) * rate && speed <= (1 + CLOSE) * rate, text);
    hand_clock_move(PP_SECOND_NS); /* between calls, which nobody measures */
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    hand_clock_take(false);
    values = calloc((size_t)own_elements(), sizeof values[0]);
    launch_case_begin(&run, 1);
    if (values != NULL && open_array()) {
        pp_store_throttled_set(slow, &(pp_throttle){.bytes_per_second = own_rate()});
        expect_speed(parapet_array_write, own_rate());
        expect_speed(parapet_array_read, own_rate());
        pp_store_throttled_set(slow, &(pp_throttle){.bytes_per_second = own_rate() / 2});
        expect_speed(parapet_array_write, own_rate() / 2);
        close_array();
    }
    (void)launch_case_end(&run, "every server measures its own speed");
    free(values);
    return launch_finish(&run);
}
