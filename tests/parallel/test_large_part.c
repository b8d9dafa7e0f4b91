/* A part of more than 2 GiB, dense in memory, in one call: rank 0 writes it, and the last rank reads as much of the
 * array, shifted by a shard. By direct copies and by messages, with the default memory_bytes. */
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "ramp.h"
#include "tree.h"

/* A plane is 256 KiB: 2.25 GiB are in one part, of an array of 2.375 GiB. */
#define PLANES 9728
#define PART_PLANES 9216
#define SHIFT_PLANES 256
#define PATIENCE_SECONDS 400

static launch run;
static ramp values;

#define PATIENT_OK(call) (launch_phase(&run, #call), alarm(PATIENCE_SECONDS), launch_ok(&run, (call), #call))

static ramp_box planes_of(int64_t first, int64_t count)
{
    return (ramp_box){.start = {first, 0, 0}, .count = {count, values.shape[1], values.shape[2]}};
}

static void write_large(parapet_store *store)
{
    static const int64_t chunks[] = {64, 64, 64}, shards[] = {256, 128, 256};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = RAMP_NDIM,
                               .shape = values.shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = "none"};
    ramp_box box = run.rank == 0 ? planes_of(0, PART_PLANES) : planes_of(PART_PLANES, PLANES - PART_PLANES);
    parapet_part part = {.ndim = RAMP_NDIM, .start = box.start, .count = box.count};
    parapet_array *array = NULL;
    bool is_holder = run.rank == 0 || run.rank == run.ranks - 1;
    part.data = is_holder ? malloc(ramp_box_bytes(&box)) : NULL;
    if (is_holder && part.data != NULL)
        ramp_put(&values, &box, part.data);
    launch_expect(&run, !is_holder || part.data != NULL, "memory");
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, "large", &spec)))
        (void)PATIENT_OK(parapet_array_write(array, &part, is_holder ? 1 : 0));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    free(part.data);
}

static void read_large(parapet_store *store)
{
    ramp_box box = planes_of(SHIFT_PLANES, PART_PLANES);
    parapet_part part = {.ndim = RAMP_NDIM, .start = box.start, .count = box.count};
    parapet_array *array = NULL;
    bool is_reader = run.rank == run.ranks - 1;
    part.data = is_reader ? malloc(ramp_box_bytes(&box)) : NULL;
    launch_expect(&run, !is_reader || part.data != NULL, "memory");
    if (LAUNCH_OK(&run, parapet_array_open(&array, store, "large")))
        (void)PATIENT_OK(parapet_array_read(array, &part, is_reader ? 1 : 0));
    launch_expect(&run, !is_reader || ramp_holds(&values, &box, part.data), "what was written");
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    free(part.data);
}

static void run_case(parapet_transport transport)
{
    parapet_store_options options = {.transport = transport,
                                     .servers = run.ranks,
                                     .owners = PARAPET_OWNERS_IN_TURN,
                                     .durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    parapet_statistics own = {0};
    char path[600];
    int64_t moved[2];
    launch_case_begin(&run, (uint64_t)transport);
    (void)snprintf(path, sizeof path, "%s/large", run.folder);
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options))) {
        write_large(store);
        read_large(store);
        launch_expect(&run, parapet_store_get_statistics(store, &own) == PARAPET_OK, "statistics");
    }
    moved[0] = own.direct_bytes;
    moved[1] = own.message_bytes;
    launch_sum(moved, 2);
    launch_expect(&run, moved[0] + moved[1] > INT32_MAX && (transport == 1 || moved[0] == 0), "bytes between ranks");
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    launch_barrier();
    if (run.rank == 0) {
        printf("transport %d: %.2f GiB direct, %.2f GiB by messages\n", (int)transport, (double)moved[0] / (1 << 30),
               (double)moved[1] / (1 << 30));
        tree_remove(path);
    }
    (void)launch_case_end(&run, transport == 1 ? "direct" : "messages");
}

int main(int argc, char **argv)
{
    static const int64_t shape[] = {PLANES, 128, 256};
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    ramp_build(&values, shape);
    run_case(1);
    run_case(2);
    ramp_clear(&values);
    return launch_finish(&run);
}
