/* Writing and reading much more than memory_bytes: on every rank buffers take what was planned, at most the limit,
 * and the process grows by no more than that and a fixed overhead, MPI's own buffers included.
 *
 * Four ranks hold a quarter of the rows of every plane each, so that every chunk lies half on one rank and half on
 * another. The caller's memory is small (ramp.h): written through the view of a table, read through the same view in
 * one call, then read again in slabs into a dense buffer and compared. Table and slab are there before the baseline.
 * With every strategy.
 *
 *     test_memory_limit planes [MiB]     the array has so many planes of 256 KiB; memory_bytes is as given, and
 *                                        otherwise 16 or 64 MiB in turn, or both with one strategy alone */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "ramp.h"
#include "resident.h"
#include "strategy.h"
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
    const strategy *with;
} limit_case;

static launch run;
static ramp values;
static double *slab;
static int64_t baseline, taken; /* shards, by all ranks so far */

/* These calls take longer than the watch allows. */
#define PATIENT_OK(call) (launch_phase(&run, #call), alarm(PATIENCE_SECONDS), launch_ok(&run, (call), #call))

static ramp_box own_box(int64_t first_plane, int64_t planes)
{
    int64_t rows = values.shape[1] / run.ranks;
    return (ramp_box){.start = {first_plane, run.rank * rows, 0}, .count = {planes, rows, values.shape[2]}};
}

/* All ranks have a part of each chunk, so that they do not read them alone. */
static void write_array(parapet_store *store, const char *codec)
{
    static const int64_t chunks[] = {32, 128, 64}, shards[] = {256, 128, 256};
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
        printf("%-11s %3lld MiB, %-6s, %-8s %-5s peak %6.2f planned %6.2f resident %+7.2f (%+.2f of the limit; "
               "shared %.2f)"
               " MiB\n",
               by->with->name, (long long)(by->memory_bytes >> 20), by->codec,
               by->transport == PARAPET_TRANSPORT_MESSAGES ? "messages" : "direct", doing, (double)peak / 1048576,
               (double)planned / 1048576, (double)growth / 1048576, (double)(growth - by->memory_bytes) / 1048576,
               (double)shared / 1048576);
}

static void run_case(const limit_case *by)
{
    static uint64_t number;
    parapet_store_options options = {
        .memory_bytes = by->memory_bytes, .transport = by->transport, .durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    strategy_pace pace;
    char path[600], weights_path[600], description[96];
    int64_t sum = 0;
    launch_case_begin(&run, number);
    (void)snprintf(path, sizeof path, "%s/limit-%d", run.folder, (int)number++);
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights", run.folder);
    (void)snprintf(description, sizeof description, "%lld bytes, transport %lld, %s, %s", (long long)by->memory_bytes,
                   (long long)by->transport, by->codec, by->with->name);
    strategy_set(by->with, &options, &pace, weights_path, run.rank, run.ranks);
    launch_expect(&run, resident_forget_most(), "the system forgets the peak of earlier cases");
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options))) {
        write_array(store, by->codec);
        check_memory(store, by, "write");
        sum += strategy_taken(store);
    }
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    launch_expect(&run, resident_forget_most(), "the system forgets the peak of earlier cases");
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_READ, &options))) {
        read_array(store);
        check_memory(store, by, "read");
        sum += strategy_taken(store);
    }
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    launch_sum(&sum, 1);
    taken += sum;
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

/* Transports and codecs come in turn. A rank that rests answers no message: with direct transport, others need not
 * wait for it, and take something. */
static limit_case case_of(const strategy *with, int64_t limit, int turn)
{
    int number = strategy_number(with);
    return (limit_case){.memory_bytes = limit << 20,
                        .transport = (parapet_transport)(1 + (number / 4 + turn) % 2),
                        .codec = number / 2 % 2 == 0 ? "none" : "zstd:1",
                        .with = with};
}

/* With one limit; or with both, if nothing else is to be done. */
static void run_strategy(const strategy *with, int64_t given)
{
    int64_t limits[2] = {16, 64}, before = taken;
    int turn, first = strategy_number(with) % 2, count = given == 0 && strategy_is_alone() ? 2 : 1;
    for (turn = 0; turn < count; turn++) {
        limit_case by = case_of(with, given > 0 ? given : limits[(first + turn) % 2], turn);
        run_case(&by);
    }
    launch_case_begin(&run, (uint64_t)strategy_number(with));
    launch_expect(&run, (taken > before) >= with->is_uneven, "shards that were taken");
    (void)launch_case_end(&run, with->name);
}

int main(int argc, char **argv)
{
    const strategy *with;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    prepare(argc > 1 ? strtoll(argv[1], NULL, 10) : 2048);
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        run_strategy(with, argc > 2 ? strtoll(argv[2], NULL, 10) : 0);
    free(slab);
    ramp_clear(&values);
    return launch_finish(&run);
}
