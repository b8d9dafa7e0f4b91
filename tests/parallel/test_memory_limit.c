/* Writing and reading much more than memory_bytes: on every rank buffers take what was planned, at most the limit,
 * and the process grows by no more than that and a fixed overhead, MPI's own buffers included.
 *
 * Four ranks hold a quarter of the rows of every plane each, so that every chunk lies half on one rank and half on
 * another. The caller's memory is small (ramp.h): written through the view of a table, read through the same view in
 * one call, then read again in slabs into a dense buffer and compared. Table and slab are there before the baseline.
 *
 *     test_memory_limit planes [MiB]     the array has so many planes of 256 KiB; only with this memory_bytes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "ramp.h"
#include "resident.h"
#include "tree.h"

/* What a rank may grow beyond memory_bytes: MPI's buffers, stacks of threads, tables of codecs, lists, and buffers
 * that were given back but are kept by the C library. Measured with 8 GiB: at most 29 MiB; with 512 MiB 10 MiB. */
#if defined(__SANITIZE_ADDRESS__) /* which keeps what is freed */
#define OVERHEAD_BYTES ((int64_t)1 << 40)
#else
#define OVERHEAD_BYTES ((int64_t)48 << 20)
#endif
#define SLAB_PLANES 256
#define PATIENCE_SECONDS 800

typedef struct limit_case {
    int64_t memory_bytes;
    parapet_transport transport;
    const char *codec;
    parapet_ownership ownership;
} limit_case;

static launch run;
static ramp values;
static double *slab;
static int64_t baseline;

/* These calls take longer than the watch allows. */
#define PATIENT_OK(call) (launch_phase(&run, #call), alarm(PATIENCE_SECONDS), launch_ok(&run, (call), #call))

static ramp_box own_box(int64_t first_plane, int64_t planes)
{
    int64_t rows = values.shape[1] / run.ranks;
    return (ramp_box){.start = {first_plane, run.rank * rows, 0}, .count = {planes, rows, values.shape[2]}};
}

static void write_array(parapet_store *store, const char *codec)
{
    static const int64_t chunks[] = {64, 64, 64}, shards[] = {256, 128, 256};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = RAMP_NDIM,
                               .shape = values.shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = codec};
    ramp_box box = own_box(0, values.shape[0]);
    parapet_part part = ramp_part(&values, &box);
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, parapet_array_create(&array, store, "ramp", &spec)))
        (void)PATIENT_OK(parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

static void read_array(parapet_store *store)
{
    ramp_box box = own_box(0, values.shape[0]);
    parapet_part part = ramp_part(&values, &box);
    parapet_array *array = NULL;
    int64_t plane;
    if (!LAUNCH_OK(&run, parapet_array_open(&array, store, "ramp")))
        return;
    ramp_spoil(&values);
    (void)PATIENT_OK(parapet_array_read(array, &part, 1));
    launch_expect(&run, ramp_is_right(&values, &box), "what was written, read in one call");
    ramp_fill(&values);
    for (plane = 0; plane < values.shape[0] && launch_largest(run.failures) == 0; plane += SLAB_PLANES) {
        box = own_box(plane, SLAB_PLANES);
        part = (parapet_part){.ndim = RAMP_NDIM, .start = box.start, .count = box.count, .data = slab};
        memset(slab, 0xff, ramp_box_bytes(&box));
        (void)PATIENT_OK(parapet_array_read(array, &part, 1));
        launch_expect(&run, ramp_holds(&values, &box, slab), "what was written, read in slabs");
    }
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
}

/* The figures of all ranks, and of the worst what they are. */
static void check_memory(parapet_store *store, const limit_case *by, const char *doing)
{
    parapet_statistics statistics;
    int64_t growth = resident_bytes("VmHWM") - baseline, peak, planned, shared, direct, messages;
    launch_expect(&run, parapet_store_get_statistics(store, &statistics) == PARAPET_OK, "statistics");
    launch_expect(&run, statistics.memory_peak_bytes > 0, "buffers were counted");
    launch_expect(&run, statistics.memory_peak_bytes <= statistics.memory_planned_bytes, "peak <= planned");
    launch_expect(&run, statistics.memory_planned_bytes <= by->memory_bytes, "planned <= limit");
    launch_expect(&run, growth <= by->memory_bytes + OVERHEAD_BYTES, "resident growth <= limit + overhead");
    peak = launch_largest(statistics.memory_peak_bytes);
    planned = launch_largest(statistics.memory_planned_bytes);
    growth = launch_largest(growth);
    shared = launch_largest(resident_bytes("RssShmem"));
    direct = launch_largest(statistics.direct_bytes);
    messages = launch_largest(statistics.message_bytes);
    launch_expect(&run,
                  by->transport == PARAPET_TRANSPORT_MESSAGES ? direct == 0 && messages > 0 : direct + messages > 0,
                  "the transport");
    if (run.rank == 0)
        printf("%3lld MiB, %-6s, %-8s %-5s peak %6.2f planned %6.2f resident %+7.2f (%+.2f of the limit; shared %.2f)"
               " MiB\n",
               (long long)(by->memory_bytes >> 20), by->codec,
               by->transport == PARAPET_TRANSPORT_MESSAGES ? "messages" : "direct", doing, (double)peak / 1048576,
               (double)planned / 1048576, (double)growth / 1048576, (double)(growth - by->memory_bytes) / 1048576,
               (double)shared / 1048576);
}

static void run_case(const limit_case *by)
{
    static uint64_t number;
    parapet_store_options options = {.memory_bytes = by->memory_bytes,
                                     .transport = by->transport,
                                     .ownership = by->ownership,
                                     .cache_bytes =
                                         by->ownership == PARAPET_OWNERSHIP_LASTING ? by->memory_bytes / 2 : 0,
                                     .durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    char path[600], description[96];
    launch_case_begin(&run, number);
    (void)snprintf(path, sizeof path, "%s/limit-%d", run.folder, (int)number++);
    (void)snprintf(description, sizeof description, "%lld bytes, transport %lld, %s, ownership %d",
                   (long long)by->memory_bytes, (long long)by->transport, by->codec, (int)by->ownership);
    launch_expect(&run, resident_forget_most(), "the system forgets the peak of earlier cases");
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options))) {
        write_array(store, by->codec);
        check_memory(store, by, "write");
    }
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    launch_expect(&run, resident_forget_most(), "the system forgets the peak of earlier cases");
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_READ, &options))) {
        read_array(store);
        check_memory(store, by, "read");
    }
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    launch_barrier();
    if (run.rank == 0)
        tree_remove(path);
    (void)launch_case_end(&run, description);
}

static void prepare(int64_t planes)
{
    int64_t shape[RAMP_NDIM] = {planes, 128, 256};
    ramp_box box;
    ramp_build(&values, shape);
    box = own_box(0, SLAB_PLANES);
    slab = malloc(ramp_box_bytes(&box));
    memset(slab, 0, ramp_box_bytes(&box));
    (void)launch_largest(0); /* MPI has made its first connections */
    baseline = resident_bytes("VmRSS");
    if (run.rank == 0)
        printf("%.0f MiB on %d ranks, baseline %.1f MiB\n", (double)planes / 4, run.ranks,
               (double)baseline / 1048576);
}

int main(int argc, char **argv)
{
    /* Every ownership with both limits. */
    static const limit_case cases[] = {{(int64_t)16 << 20, 1, "none", 2},   {(int64_t)16 << 20, 2, "none", 3},
                                       {(int64_t)16 << 20, 1, "zstd:1", 4}, {(int64_t)16 << 20, 2, "zstd:1", 1},
                                       {(int64_t)64 << 20, 1, "none", 4},   {(int64_t)64 << 20, 2, "none", 1},
                                       {(int64_t)64 << 20, 1, "zstd:1", 3}, {(int64_t)64 << 20, 2, "zstd:1", 2},
                                       {(int64_t)16 << 20, 1, "none", 5},   {(int64_t)64 << 20, 2, "zstd:1", 5}};
    int64_t only;
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    prepare(argc > 1 ? strtoll(argv[1], NULL, 10) : 2048);
    only = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (only == 0 || cases[i].memory_bytes == only << 20)
            run_case(&cases[i]);
    free(slab);
    ramp_clear(&values);
    return launch_finish(&run);
}
