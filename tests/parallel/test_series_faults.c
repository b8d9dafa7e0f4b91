/* A series while the storage or the memory of one rank fails: every call returns the same on all ranks, nothing
 * hangs, and afterwards all ranks find whole steps, none lost that was acknowledged. Runs under the launcher:
 *
 *     parallel_series_faults STRIDE       takes one of so many operations and allocations
 *
 * Operations of the last rank that fail once are taken closely, the first append to a log among them: what the other
 * ranks did at the same time, in logs and shards, must not be taken for more than it is. */
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "launch.h"
#include "stores/faulty.h"
#include "thinning.h"
#include "tree.h"

#define STEPS 6
#define WIDTH 14
#define CLOSE_STRIDE (7 * TEST_THINNING)

static const char *const names[2] = {"a", "b"};

/* What goes wrong on one rank. */
typedef struct fault {
    int victim;
    long at;          /* operation or allocation, counted from the first append */
    bool is_memory;   /* an allocation is refused; else an operation fails */
    bool is_for_ever; /* and all after it */
} fault;

typedef struct bed {
    launch *run;
    pp_store *directory, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
    parapet_series *series;
    char folder[640];
    int64_t steps_per_row, memory_bytes;
    int64_t acknowledged, kept, next; /* steps: a failure leaves one of these */
    int attempts[STEPS];              /* to append each of them: every one has other values */
    bool is_taken[STEPS];             /* the last attempt; else nobody knows which one is seen, if any */
    long allocations;
    fault planned;
    bool is_reached;
} bed;

static int refuse(void *context, size_t bytes)
{
    bed *used = context;
    long number = used->allocations++;
    (void)bytes;
    if (number != used->planned.at && !(used->planned.is_for_ever && number > used->planned.at))
        return 0;
    used->is_reached = true;
    return 1;
}

static void start_fault(bed *used)
{
    const fault *planned = &used->planned;
    if (used->run->rank != planned->victim || planned->at < 0)
        return;
    used->allocations = 0;
    if (planned->is_memory)
        pp_memory_hook_set(refuse, used);
    else
        used->plan = (pp_fault_plan){.fail_at = planned->at, .fail_forever = planned->is_for_ever};
}

static void end_fault(bed *used)
{
    pp_memory_hook_set(NULL, NULL);
    used->is_reached = used->is_reached || used->plan.failures > 0;
    used->plan = (pp_fault_plan){.fail_at = -1};
}

static void bed_open(bed *used)
{
    pp_posix_options posix = {.create = true, .not_durable = true};
    parapet_store_options options = {.memory_bytes = used->memory_bytes, .io_thread = PARAPET_IO_THREAD_NONE};
    if (used->run->rank != 0)
        launch_barrier();
    launch_expect(used->run, pp_store_posix_build(&used->directory, used->folder, &posix) == PARAPET_OK, "a store");
    if (used->run->rank == 0)
        launch_barrier();
    used->plan = (pp_fault_plan){.fail_at = -1};
    launch_expect(used->run, pp_store_faulty_build(&used->faulty, used->directory, &used->plan) == PARAPET_OK,
                  "faults");
    (void)LAUNCH_OK(used->run,
                    pp_store_open_over(&used->store, MPI_COMM_WORLD, used->faulty, PARAPET_CREATE, &options));
}

static void bed_close(bed *used)
{
    (void)LAUNCH_OK(used->run, parapet_store_close(&used->store));
    pp_store_free(used->faulty);
    pp_store_free(used->directory);
}

static parapet_status create(bed *used)
{
    int64_t rows = used->steps_per_row, shape[2] = {0, WIDTH}, chunks[2] = {rows > 64 ? 64 : rows, 2};
    int64_t shards[2] = {rows, 4};
    parapet_array_spec one = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_array_spec specs[2] = {one, one};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs};
    return parapet_series_create(&used->series, used->store, "s", &spec);
}

static int32_t value_of(int array, int64_t step, int attempt, int64_t i)
{
    return (int32_t)(100000 * attempt + 10000 * array + 100 * step + i);
}

static int attempt_of(int32_t value)
{
    return value / 100000;
}

/* Element i of a belongs to rank i modulo ranks, so that shards are of all ranks; b is cut into blocks. */
static parapet_status append(bed *used, int64_t step)
{
    static const int64_t one = 1;
    int32_t values[2][WIDTH];
    int64_t starts[WIDTH], count, i;
    parapet_part single[WIDTH], block = {0};
    int rank = used->run->rank, ranks = used->run->ranks, k = 0;
    int64_t start = WIDTH * rank / ranks;
    parapet_step steps[2] = {{.parts = single}, {.parts = &block, .part_count = 1}};
    count = WIDTH * (rank + 1) / ranks - start;
    used->attempts[step]++;
    for (i = 0; i < WIDTH; i++) {
        values[0][i] = value_of(0, step, used->attempts[step], i);
        values[1][i] = value_of(1, step, used->attempts[step], i);
        starts[i] = i;
        if (i % ranks == rank)
            single[k++] = (parapet_part){.ndim = 1, .start = &starts[i], .count = &one, .data = &values[0][i]};
    }
    steps[0].part_count = k;
    block = (parapet_part){.ndim = 1, .start = &start, .count = &count, .data = &values[1][start]};
    return parapet_series_append(used->series, (double)step, steps);
}

/* Also notes what a flush would commit. */
static int64_t committed(bed *used)
{
    parapet_series_info info = {0};
    launch_expect(used->run, parapet_series_get_info(used->series, &info) == PARAPET_OK, "an answer");
    launch_expect(used->run, launch_largest(info.steps) == info.steps, "the same steps on all ranks");
    launch_expect(used->run, launch_largest(info.steps_committed) == info.steps_committed,
                  "the same committed steps on all ranks");
    used->kept = info.steps;
    return info.steps_committed;
}

/* What fails once on the storage can be tried again, and is then no failure any more. */
static int most_failures(const fault *planned, bool is_sound)
{
    if (is_sound)
        return 0;
    return planned->is_memory || planned->is_for_ever ? 3 : 1;
}

/* Goes on after a failure, behind the steps that were taken; gives up after a second one. */
static void append_and_flush(bed *used, bool is_sound)
{
    parapet_status status;
    int failures = 0;
    used->acknowledged = committed(used);
    while (used->kept < STEPS && failures < 2) {
        int64_t step = used->kept;
        used->next = step + 1;
        status = LAUNCH_AGREED(used->run, append(used, step));
        if (status == PARAPET_OK && step == 1)
            status = LAUNCH_AGREED(used->run, parapet_series_flush(used->series));
        failures += status != PARAPET_OK;
        used->acknowledged = committed(used);
        used->is_taken[step] = used->kept > step;
    }
    status = LAUNCH_AGREED(used->run, parapet_series_close(&used->series));
    failures += status != PARAPET_OK;
    launch_expect(used->run, failures <= most_failures(&used->planned, is_sound), "no failure without a fault");
    if (status == PARAPET_OK)
        used->acknowledged = used->kept;
    launch_expect(used->run, used->series == NULL, "a handle that is gone");
}

static void read_steps(bed *used, int number, int64_t steps, int32_t found[STEPS][WIDTH])
{
    int64_t start[2] = {0, 0}, count[2] = {steps, WIDTH};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found};
    parapet_array *array = NULL;
    parapet_array_info info = {0};
    if (!LAUNCH_OK(used->run, parapet_array_open(&array, used->store, number == 0 ? "s/a" : "s/b")))
        return;
    (void)parapet_array_get_info(array, &info);
    launch_expect(used->run, info.shape[0] == steps, "an array with all steps");
    if (info.shape[0] == steps)
        (void)LAUNCH_OK(used->run, parapet_array_read(array, &part, 1));
    (void)LAUNCH_OK(used->run, parapet_array_close(&array));
}

/* A step is of one attempt, on all ranks and in both arrays. */
static void check_values(bed *used, int64_t steps)
{
    int32_t found[2][STEPS][WIDTH] = {{{0}}};
    int64_t t, i, wrong = 0;
    int k;
    for (k = 0; k < 2; k++)
        read_steps(used, k, steps, found[k]);
    for (t = 0; t < steps; t++) {
        int attempt = attempt_of(found[0][t][0]);
        wrong += attempt < (used->is_taken[t] ? used->attempts[t] : 1) || attempt > used->attempts[t];
        for (i = 0; i < WIDTH; i++)
            for (k = 0; k < 2; k++)
                wrong += found[k][t][i] != value_of(k, t, attempt, i);
    }
    launch_expect(used->run, wrong == 0, "the values that were appended last");
}

/* Without faults, and as another program would. */
static void resume(bed *used)
{
    int64_t steps;
    int64_t kept = used->kept;
    bed_open(used);
    if (LAUNCH_OK(used->run, parapet_series_open(&used->series, used->store, "s"))) {
        steps = committed(used);
        launch_expect(used->run, steps == used->acknowledged || steps == used->next || steps == kept,
                      "what was acknowledged, or what was being committed");
        check_values(used, steps);
        append_and_flush(used, true);
        check_values(used, STEPS);
    }
    bed_close(used);
}

/* False: the run had fewer operations, or allocations, than that. */
static bool run_fault(launch *run, fault planned, int64_t steps_per_row, int64_t memory_bytes)
{
    bed used = {.run = run, .planned = planned, .steps_per_row = steps_per_row, .memory_bytes = memory_bytes};
    char description[128];
    (void)snprintf(used.folder, sizeof used.folder, "%s/store", run->folder);
    (void)snprintf(description, sizeof description, "rank %d, %s %ld%s, %lld steps a row", planned.victim,
                   planned.is_memory ? "allocation" : "operation", planned.at,
                   planned.is_for_ever ? " and all after it" : "", (long long)steps_per_row);
    launch_case_begin(run, (uint64_t)planned.at);
    bed_open(&used);
    if (LAUNCH_OK(run, create(&used))) {
        start_fault(&used);
        append_and_flush(&used, false);
        end_fault(&used);
    }
    bed_close(&used);
    resume(&used);
    (void)launch_case_end(run, description);
    launch_barrier();
    if (run->rank == 0)
        tree_remove(used.folder);
    launch_barrier();
    return launch_largest(used.is_reached) != 0;
}

int main(int argc, char **argv)
{
    /* Rows of one step, rows in memory, and rows that do not fit there. */
    static const int64_t rows[3] = {1, 4, 1 << 15}, memory[3] = {0, 0, 1 << 20};
    long stride = argc > 1 ? strtol(argv[1], NULL, 0) * TEST_THINNING : 7, points = 0;
    launch run;
    int form, i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < 3; i++)
        for (form = 0; form < 6 && run.failed_cases == 0; form++) {
            fault planned = {.victim = form % 2 == 0 ? 0 : run.ranks - 1,
                             .is_memory = form / 2 == 0,
                             .is_for_ever = form / 2 == 2};
            bool is_close = form == 3 && stride > CLOSE_STRIDE;
            for (planned.at = form == 3 ? 1 : form; run_fault(&run, planned, rows[i], memory[i]);
                 planned.at += is_close ? CLOSE_STRIDE : stride)
                points++;
        }
    if (run.rank == 0)
        printf("%ld failures on one of %d ranks, %lld cases failed\n", points, run.ranks,
               (long long)run.failed_cases);
    return launch_finish(&run);
}
