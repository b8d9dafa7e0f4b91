/* What a copy does is what its plan counts, to the last request and byte: random arrays that are stored in full are
 * copied, and what was read, decoded and written is compared with the plan, and with what the stores count for
 * themselves. Ranks that read together share their requests otherwise than one alone: of these only elements are
 * compared. Runs under the launcher on any number of ranks:
 *
 *     parallel_copy_counts FIRST CASES */
#include <parapet_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "copy_case.h"
#include "figures.h"
#include "launch.h"
#include "settings.h"
#include "tree.h"

#define FAILED_CASES_MOST 5
#define MEMORY_MOST ((int64_t)64 << 20)

enum { STREAM_COUNTS = 500 };

typedef struct tally {
    int64_t cases, one_pass, more_passes, together, runs;
} tally;

typedef struct trial {
    launch *run;
    copy_case of;
    char source[600], target[600];
    parapet_store *from, *to;
    parapet_copy_request request;
    parapet_copy_result result;
    char *plan;                       /* JSON */
    int64_t metadata;                 /* requests to the source's store for metadata */
    parapet_statistics before, after; /* of the source, all ranks together */
} trial;

static void expect_figure(trial *test, const char *key, int64_t done)
{
    int64_t planned = figures_sum(test->plan, key);
    if (planned != done && test->run->rank == 0)
        fprintf(stderr, "%s: planned %lld, done %lld\n", key, (long long)planned, (long long)done);
    launch_expect(test->run, planned == done, "as many as planned");
}

static bool has_true(const trial *test, const char *key)
{
    char text[64];
    (void)snprintf(text, sizeof text, "\"%s\": true", key);
    return strstr(test->plan, text) != NULL;
}

static void take_statistics(trial *test, parapet_statistics *all)
{
    int64_t sums[3];
    launch_expect(test->run, parapet_store_get_statistics(test->from, all) == PARAPET_OK, "statistics");
    sums[0] = all->read_requests;
    sums[1] = all->chunks_decoded;
    sums[2] = all->chunks_missing;
    launch_sum(sums, 3);
    *all = (parapet_statistics){.read_requests = sums[0], .chunks_decoded = sums[1], .chunks_missing = sums[2]};
}

/* What the store of the source has counted; it is read from in the first pass only. */
static void check_store(trial *test)
{
    int64_t requests = test->after.read_requests - test->before.read_requests;
    int64_t decoded = test->after.chunks_decoded - test->before.chunks_decoded;
    int64_t metadata = test->metadata;
    if (requests != figures_sum(test->plan, "read_requests") + figures_sum(test->plan, "index_reads") + metadata &&
        test->run->rank == 0)
        fprintf(stderr, "the store was asked %lld times, planned %lld + %lld + %lld\n", (long long)requests,
                (long long)figures_sum(test->plan, "read_requests"),
                (long long)figures_sum(test->plan, "index_reads"), (long long)metadata);
    launch_expect(test->run,
                  requests ==
                      figures_sum(test->plan, "read_requests") + figures_sum(test->plan, "index_reads") + metadata,
                  "as many requests to the store as planned");
    if (!has_true(test, "reads_runs"))
        launch_expect(test->run, decoded == figures_sum(test->plan, "chunk_reads"), "as many chunks decoded");
    launch_expect(test->run, test->after.chunks_missing == test->before.chunks_missing, "no chunk missing");
}

static void check_counts(trial *test)
{
    const parapet_copy_result *result = &test->result;
    expect_figure(test, "decoded_bytes", result->decoded_bytes);
    expect_figure(test, "chunks_written", result->chunks_written);
    expect_figure(test, "shards_written", result->shards_written);
    if (has_true(test, "cooperates"))
        return;
    expect_figure(test, "read_requests", result->read_requests);
    expect_figure(test, "index_reads", result->index_reads);
    if (result->passes == 1)
        check_store(test);
}

static void draw_request(trial *test, draw *from)
{
    const copy_case *of = &test->of;
    int64_t bytes = copy_element_count(of->ndim, of->target.shape) * (int64_t)of->element_bytes;
    test->request = (parapet_copy_request){
        .source = test->from,
        .source_path = "source",
        .target = test->to,
        .target_path = "copy",
        .changes = of->changes,
        .memory_bytes = MEMORY_MOST,
        .unit_bytes = draw_chance(from, 50) ? 0 : draw_scale(from, bytes + 1),
        .passes = draw_chance(from, 70) ? 0 : draw_between(from, 1, 3),
        .cooperation = draw_chance(from, 80) ? PARAPET_COOPERATION_ALONE : PARAPET_COOPERATION_CHOOSE,
        .no_probe = 1,
    };
}

/* The limit with which the copy is made. */
static bool draw_limit(trial *test, draw *from)
{
    int64_t least;
    if (!LAUNCH_OK(test->run, parapet_copy_request_plan_print(&test->request, 1, &test->plan, NULL)))
        return false;
    least = figures_sum(test->plan, "memory_least_bytes");
    if (draw_chance(from, 70))
        test->request.memory_bytes = least + (draw_chance(from, 40) ? 0 : draw_scale(from, 2 * least + 1));
    return true;
}

static void run_trial(trial *test, draw *from, tally *counts)
{
    parapet_store_options options = settings_draw(from, test->run->ranks);
    options.memory_bytes = 0;
    if (!LAUNCH_OK(test->run,
                   parapet_store_open(&test->from, MPI_COMM_WORLD, test->source, PARAPET_READ, &options)) ||
        !LAUNCH_OK(test->run, parapet_store_open(&test->to, MPI_COMM_WORLD, test->target, PARAPET_CREATE, &options)))
        return;
    draw_request(test, from);
    if (!draw_limit(test, from))
        return;
    take_statistics(test, &test->before);
    parapet_free(test->plan);
    if (!LAUNCH_OK(test->run, parapet_copy_request_plan_print(&test->request, 1, &test->plan, NULL)))
        return;
    take_statistics(test, &test->after); /* a plan reads what a copy reads before its first chunk */
    test->metadata = test->after.read_requests - test->before.read_requests;
    test->before = test->after;
    if (!LAUNCH_OK(test->run, parapet_copy(&test->request, &test->result)))
        return;
    take_statistics(test, &test->after);
    check_counts(test);
    counts->one_pass += test->result.passes == 1;
    counts->more_passes += test->result.passes > 1;
    counts->together += has_true(test, "cooperates");
    counts->runs += has_true(test, "reads_runs");
}

static void describe(const trial *test, char *text, size_t bytes)
{
    size_t used;
    copy_case_print(&test->of, text, bytes);
    used = strlen(text);
    (void)snprintf(text + used, bytes - used, "; memory %lld unit %lld passes %lld cooperation %lld",
                   (long long)test->request.memory_bytes, (long long)test->request.unit_bytes,
                   (long long)test->request.passes, (long long)test->request.cooperation);
}

static void run_case(launch *run, uint64_t seed, tally *counts)
{
    static const copy_limits limits = {
        .elements = 20000, .chunks = 200, .objects = 24, .ndim_least = 1, .is_whole = true};
    draw from = draw_start(seed, STREAM_COUNTS);
    trial test = {.run = run};
    char description[2048] = "";
    launch_case_begin(run, seed);
    copy_case_build(&test.of, seed, &limits);
    (void)snprintf(test.source, sizeof test.source, "%s/source", run->folder);
    (void)snprintf(test.target, sizeof test.target, "%s/target", run->folder);
    if (run->rank == 0)
        launch_expect(run, copy_case_write(&test.of, test.source), "a source");
    launch_barrier();
    run_trial(&test, &from, counts);
    (void)LAUNCH_OK(run, parapet_store_close(&test.to));
    (void)LAUNCH_OK(run, parapet_store_close(&test.from));
    describe(&test, description, sizeof description);
    (void)launch_case_end(run, description);
    parapet_free(test.plan);
    counts->cases++;
    if (run->rank == 0) {
        tree_remove(test.source);
        tree_remove(test.target);
    }
    launch_barrier();
}

int main(int argc, char **argv)
{
    launch run;
    tally counts = {0};
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int64_t cases = argc > 2 ? strtoll(argv[2], NULL, 0) : 20, i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < cases && run.failed_cases < FAILED_CASES_MOST; i++)
        run_case(&run, first + (uint64_t)i, &counts);
    if (run.rank == 0)
        printf("%lld cases on %d ranks, %lld failed: %lld of one pass, %lld of more, %lld together, %lld by runs\n",
               (long long)counts.cases, run.ranks, (long long)run.failed_cases, (long long)counts.one_pass,
               (long long)counts.more_passes, (long long)counts.together, (long long)counts.runs);
    return launch_finish(&run);
}
