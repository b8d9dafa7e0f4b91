/* Copying much more than memory_bytes: on every rank buffers take what was planned, at most the limit, and the
 * process grows by no more than that and a fixed overhead, MPI's own buffers included. Every layout goes into every
 * other one, planes into pencils above all, in several orders of dimensions and within several limits.
 *
 *     parallel_copy_memory PLANES CASES [FIRST]          the array has so many planes of 256 KiB
 *     parallel_copy_memory PLANES make FOLDER            writes one source there, in planes
 *     parallel_copy_memory PLANES copy FOLDER MiB        copies it into pencils within that limit, and nothing else
 */
#include <parapet_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw.h"
#include "figures.h"
#include "launch.h"
#include "ramp.h"
#include "resident.h"
#include "tree.h"

/* What a rank may grow beyond memory_bytes: MPI's buffers, stacks of threads, tables of codecs, lists, and buffers
 * that were given back but are kept by the C library. */
#if defined(__SANITIZE_ADDRESS__) /* which keeps what is freed */
#define OVERHEAD_BYTES ((int64_t)1 << 40)
#else
#define OVERHEAD_BYTES ((int64_t)48 << 20)
#endif
#define PATIENCE_SECONDS 3600
#define PROBES 12

typedef struct layout {
    const char *name, *codec;
    int64_t chunks[RAMP_NDIM], shards[RAMP_NDIM]; /* 0: the whole dimension; shards[0] -1: none */
} layout;

static const layout layouts[] = {
    {"planes", "none", {1, 128, 256}, {64, 128, 256}}, {"pencils", "none", {0, 4, 8}, {0, 64, 64}},
    {"cubes", "zstd:1", {32, 32, 32}, {128, 64, 128}}, {"bricks", "zstd:1", {67, 53, 71}, {-1, 0, 0}},
    {"slabs", "none", {8, 128, 256}, {-1, 0, 0}},      {"odd", "none", {61, 29, 37}, {183, 58, 148}},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const int64_t limits_mib[] = {8, 16, 64, 32};
static const char *const orders[] = {"dim_0,dim_1,dim_2", "dim_2,dim_1,dim_0", "dim_1,dim_2,dim_0",
                                     "dim_2,-dim_0,dim_1"};
static const int axes[][RAMP_NDIM] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
enum { REVERSING = 3 /* the order that reverses a dimension of the source, */, REVERSED = 0 /* this one */ };

typedef struct memory_case {
    const layout *source, *target;
    int order;
    int64_t limit;
    int64_t threads;
} memory_case;

static launch run;
static ramp values;
static int64_t baseline;

/* These calls take longer than the watch allows. */
#define PATIENT_OK(call) (launch_phase(&run, #call), alarm(PATIENCE_SECONDS), launch_ok(&run, (call), #call))

/* ---- The source ---- */

static ramp_box own_box(void)
{
    int64_t first = values.shape[0] * run.rank / run.ranks, next = values.shape[0] * (run.rank + 1) / run.ranks;
    return (ramp_box){.start = {first, 0, 0}, .count = {next - first, values.shape[1], values.shape[2]}};
}

static void write_source(const char *path, const layout *by)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64,
                               .ndim = RAMP_NDIM,
                               .shape = values.shape,
                               .chunks = by->chunks,
                               .shards = by->shards[0] < 0 ? NULL : by->shards,
                               .unsharded = by->shards[0] < 0,
                               .codec = by->codec};
    ramp_box box = own_box();
    parapet_part part = ramp_part(&values, &box);
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    if (LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options)) &&
        LAUNCH_OK(&run, parapet_array_create(&array, store, "ramp", &spec)))
        (void)PATIENT_OK(parapet_array_write(array, &part, 1));
    (void)LAUNCH_OK(&run, parapet_array_close(&array));
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
}

/* ---- The target ---- */

/* Some boxes of the target, by rank 0: each element is where the order puts it. */
static void check_elements(const char *path, const memory_case *by)
{
    static const int64_t count[RAMP_NDIM] = {3, 5, 7};
    draw from = draw_start(run.seed, 1);
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    bool is_right = parapet_store_open(&store, MPI_COMM_SELF, path, PARAPET_READ, NULL) == PARAPET_OK &&
                    parapet_array_open(&array, store, "copy") == PARAPET_OK;
    int probe, d, e;
    for (probe = 0; probe < PROBES && is_right; probe++) {
        double seen[3 * 5 * 7];
        int64_t start[RAMP_NDIM], at[RAMP_NDIM];
        parapet_part part = {.ndim = RAMP_NDIM, .start = start, .count = count, .data = seen};
        for (d = 0; d < RAMP_NDIM; d++)
            start[d] = draw_between(&from, 0, values.shape[axes[by->order][d]] - count[d]);
        is_right = parapet_array_read(array, &part, 1) == PARAPET_OK;
        for (e = 0; e < 3 * 5 * 7 && is_right; e++) {
            int64_t inside[RAMP_NDIM] = {e / 35, e / 7 % 5, e % 7};
            for (d = 0; d < RAMP_NDIM; d++)
                at[axes[by->order][d]] = start[d] + inside[d];
            if (by->order == REVERSING)
                at[REVERSED] = values.shape[REVERSED] - 1 - at[REVERSED];
            is_right = seen[e] == ramp_value(7 * at[0] + 1031 * at[1] + at[2]);
        }
    }
    launch_expect(&run, is_right, "the elements of the source in their new places");
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
}

static void check_memory(const memory_case *by, const parapet_copy_result *result)
{
    int64_t growth = resident_bytes("VmHWM") - baseline;
    launch_expect(&run, result->memory_peak_bytes > 0, "buffers were counted");
    launch_expect(&run, result->memory_peak_bytes <= result->memory_planned_bytes, "peak <= planned");
    launch_expect(&run, result->memory_planned_bytes <= by->limit, "planned <= limit");
    launch_expect(&run, growth <= by->limit + OVERHEAD_BYTES, "resident growth <= limit + overhead");
    growth = launch_largest(growth);
    if (run.rank == 0)
        printf("%-7s to %-7s %-18s %lld threads: %lld pass%s, limit %6.2f planned %6.2f peak %6.2f resident %+7.2f "
               "(%+.2f of the limit) MiB, %.2f s, predicted %.2f s\n",
               by->source->name, by->target->name, orders[by->order], (long long)by->threads,
               (long long)result->passes, result->passes == 1 ? "  " : "es", (double)by->limit / 1048576,
               (double)result->memory_planned_bytes / 1048576, (double)result->memory_peak_bytes / 1048576,
               (double)growth / 1048576, (double)(growth - by->limit) / 1048576, result->seconds,
               result->planned_seconds);
}

/* ---- A case ---- */

static void print_extents(char text[64], const memory_case *by, const int64_t *of_source)
{
    (void)snprintf(text, 64, "%lld,%lld,%lld", (long long)of_source[axes[by->order][0]],
                   (long long)of_source[axes[by->order][1]], (long long)of_source[axes[by->order][2]]);
}

/* The limit of the case, or more if nothing can be done with that. */
static int64_t raise_limit(const parapet_copy_request *request, int64_t limit)
{
    parapet_copy_request asked = *request;
    char *plan = NULL;
    int64_t least;
    asked.memory_bytes = (int64_t)1 << 40;
    (void)LAUNCH_OK(&run, parapet_copy_request_plan_print(&asked, 1, &plan, NULL));
    least = figures_sum(plan, "memory_least_bytes");
    parapet_free(plan);
    return least > limit ? least : limit;
}

static void copy_array(const char *from, const char *to, memory_case *by)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .threads = by->threads};
    parapet_copy_request request = {.source_path = "ramp", .target_path = "copy", .no_probe = 1};
    parapet_copy_result result = {0};
    char chunks[64], shards[64];
    print_extents(chunks, by, by->target->chunks);
    print_extents(shards, by, by->target->shards);
    request.changes = (parapet_copy_changes){.chunks = chunks,
                                             .shards = by->target->shards[0] < 0 ? "none" : shards,
                                             .order = orders[by->order],
                                             .codec = by->target->codec};
    if (LAUNCH_OK(&run, parapet_store_open(&request.source, MPI_COMM_WORLD, from, PARAPET_READ, &options)) &&
        LAUNCH_OK(&run, parapet_store_open(&request.target, MPI_COMM_WORLD, to, PARAPET_CREATE, &options))) {
        request.memory_bytes = by->limit = raise_limit(&request, by->limit);
        launch_expect(&run, resident_forget_most(), "the system forgets the peak of earlier cases");
        if (PATIENT_OK(parapet_copy(&request, &result)))
            check_memory(by, &result);
    }
    (void)LAUNCH_OK(&run, parapet_store_close(&request.target));
    (void)LAUNCH_OK(&run, parapet_store_close(&request.source));
    launch_barrier();
    if (run.rank == 0 && run.failures == 0)
        check_elements(to, by);
}

static void run_case(int number, const char *source, memory_case *by)
{
    char target[600], description[128];
    launch_case_begin(&run, (uint64_t)number);
    (void)snprintf(target, sizeof target, "%s/target", run.folder);
    copy_array(source, target, by);
    (void)snprintf(description, sizeof description, "%s to %s, %s, %lld bytes, %lld threads", by->source->name,
                   by->target->name, orders[by->order], (long long)by->limit, (long long)by->threads);
    (void)launch_case_end(&run, description);
    launch_barrier();
    if (run.rank == 0)
        tree_remove(target);
    launch_barrier();
}

/* Cases by source, so that each source is written once. */
static void run_cases(int first, int cases)
{
    char source[600];
    int i, written = -1;
    for (i = first; i < first + cases && run.failed_cases < 5; i++) {
        int from = i / (2 * (LAYOUTS - 1)) % LAYOUTS, step = i % (2 * (LAYOUTS - 1));
        memory_case by = {.source = &layouts[from],
                          .target = &layouts[(from + 1 + step / 2) % LAYOUTS],
                          .order = i % 4,
                          .limit = limits_mib[(i / 2 + i % 2 * 2) % 4] << 20,
                          .threads = 1 + i % 3 / 2};
        if (from != written) {
            if (written >= 0 && run.rank == 0)
                tree_remove(source);
            launch_barrier();
            (void)snprintf(source, sizeof source, "%s/%s", run.folder, by.source->name);
            launch_case_begin(&run, (uint64_t)i);
            write_source(source, by.source);
            (void)launch_case_end(&run, "writing the source");
            written = from;
        }
        run_case(i, source, &by);
    }
}

static void run_large(const char *what, const char *folder, int64_t limit)
{
    memory_case by = {.source = &layouts[0], .target = &layouts[1], .order = 1, .limit = limit, .threads = 1};
    char source[600], target[600];
    (void)snprintf(source, sizeof source, "%s/source", folder);
    (void)snprintf(target, sizeof target, "%s/target", folder);
    launch_case_begin(&run, 0);
    if (strcmp(what, "make") == 0)
        write_source(source, by.source);
    else
        copy_array(source, target, &by);
    (void)launch_case_end(&run, what);
}

int main(int argc, char **argv)
{
    int64_t shape[RAMP_NDIM] = {argc > 1 ? strtoll(argv[1], NULL, 10) : 512, 128, 256};
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    ramp_build(&values, shape);
    (void)launch_largest(0); /* MPI has made its first connections */
    baseline = resident_bytes("VmRSS");
    if (run.rank == 0)
        printf("%.0f MiB on %d ranks, baseline %.1f MiB\n", (double)shape[0] / 4, run.ranks,
               (double)baseline / 1048576);
    if (argc > 3 && (strcmp(argv[2], "make") == 0 || strcmp(argv[2], "copy") == 0))
        run_large(argv[2], argv[3], argc > 4 ? strtoll(argv[4], NULL, 10) << 20 : 0);
    else
        run_cases(argc > 3 ? atoi(argv[3]) : 0, argc > 2 ? atoi(argv[2]) : 4);
    ramp_clear(&values);
    return launch_finish(&run);
}
