/* Any decomposition: a random array is written by all ranks and by one process alone; both stores must have the same
 * bytes, and another random decomposition must read what was written. Runs under the launcher on any number of ranks:
 *
 *     parallel_decomposition FIRST CASES [FOLDER COUNT]
 *
 * runs the seeds from FIRST; CASES 1 repeats one. COUNT of the stores are left in FOLDER, for zarr-python to read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launch.h"
#include "memory.h"
#include "settings.h"
#include "tree.h"

#define FAILED_CASES_MOST 5

enum { STREAM_WRITE_SETTINGS = 200, STREAM_READ_SETTINGS, STREAM_FORM };

/* What the cases of a run have come to. */
typedef struct tally {
    int64_t cases, writes, kept;
    int64_t sharded, partial, idle, direct,
        nearest; /* cases with shards, with boxes left out, with empty ranks, ... */
    int64_t retries, messages, direct_bytes;
} tally;

typedef struct trial {
    launch *run;
    tally *counts;
    subject of;
    parapet_store_options options; /* for writing, then for reading */
    const char *path;              /* of the array */
    int elide_fill;                /* the one option that shows in what is stored */
    bool is_reopened;              /* before every write */
    bool is_one_part;              /* the process alone has the whole in one */
    bool is_kept;
    bool was_refused; /* the call that is made again */
    char collective[700], alone[700], place[650];
    parapet_store *store;
    parapet_array *array;
} trial;

/* What the buffers took, what a transfer planned to take, and the limit. */
static void check_statistics(trial *test)
{
    parapet_statistics seen = {0};
    int64_t limit = test->options.memory_bytes;
    if (parapet_store_get_statistics(test->store, &seen) != PARAPET_OK)
        return;
    test->counts->messages += seen.messages_sent;
    test->counts->direct_bytes += seen.direct_bytes;
    launch_expect(test->run, limit == 0 || seen.memory_peak_bytes <= limit, "buffers within memory_bytes");
    launch_expect(test->run, limit == 0 || seen.memory_planned_bytes <= limit, "a plan within memory_bytes");
}

static void close_handles(trial *test)
{
    if (test->store != NULL)
        check_statistics(test);
    if (test->array != NULL)
        (void)LAUNCH_OK(test->run, parapet_array_close(&test->array));
    if (test->store != NULL)
        (void)LAUNCH_OK(test->run, parapet_store_close(&test->store));
}

/* Whether to go on with more memory after a refusal; nothing may have changed by it. */
static bool can_retry(trial *test, parapet_status status)
{
    if (!launch_raise_limit(test->run, status, &test->options.memory_bytes, &test->was_refused))
        return false;
    close_handles(test);
    test->counts->retries++;
    return true;
}

static bool create_array(trial *test)
{
    parapet_status status;
    do {
        if (!LAUNCH_OK(test->run, parapet_store_open(&test->store, MPI_COMM_WORLD, test->collective, PARAPET_CREATE,
                                                     &test->options)))
            return false;
        status =
            LAUNCH_AGREED(test->run, parapet_array_create(&test->array, test->store, test->path, &test->of.spec));
        test->of.spec.overwrite = 1; /* if it has to be made again */
    } while (can_retry(test, status));
    return launch_ok(test->run, status, "parapet_array_create");
}

static bool open_array(trial *test, parapet_mode mode)
{
    return LAUNCH_OK(test->run,
                     parapet_store_open(&test->store, MPI_COMM_WORLD, test->collective, mode, &test->options)) &&
           LAUNCH_OK(test->run, parapet_array_open(&test->array, test->store, test->path));
}

static bool write_once(trial *test, int write)
{
    part_list list;
    parapet_status status;
    bool is_written;
    part_list_build(&list, &test->of, &test->of.writes[write], test->run->rank, false);
    part_list_put(&list, write);
    do {
        if (test->array == NULL && !open_array(test, PARAPET_UPDATE)) {
            part_list_clear(&list);
            return false;
        }
        status = LAUNCH_AGREED(test->run, parapet_array_write(test->array, list.parts, list.count));
    } while (can_retry(test, status));
    is_written = launch_ok(test->run, status, "parapet_array_write");
    launch_expect(test->run, part_list_holds_write(&list, write), "a write changes no memory");
    part_list_clear(&list);
    test->counts->writes++;
    return is_written;
}

static bool write_collectively(trial *test)
{
    int write;
    if (!create_array(test))
        return false;
    for (write = 0; write < test->of.write_count; write++) {
        if (test->is_reopened)
            close_handles(test);
        if (!write_once(test, write))
            return false;
    }
    return true;
}

/* The reference: one process, default options. */
static parapet_status write_alone(trial *test)
{
    parapet_store_options options = {.elide_fill = test->elide_fill, .durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_status status;
    int write;
    test->of.spec.overwrite = 0;
    if ((status = parapet_store_open(&store, MPI_COMM_SELF, test->alone, PARAPET_CREATE, &options)) == PARAPET_OK)
        status = parapet_array_create(&array, store, test->path, &test->of.spec);
    for (write = 0; write < test->of.write_count && status == PARAPET_OK; write++) {
        const decomposition *written = &test->of.writes[write];
        decomposition whole = {.ndim = written->ndim, .shape = written->shape, .ranks = 1};
        box all = {{0}, {0}};
        part_list list;
        memcpy(all.count, test->of.shape, sizeof all.count);
        decomposition_add(&whole, 0, &all);
        part_list_build(&list, &test->of, test->is_one_part && decomposition_is_whole(written) ? &whole : written,
                        ALL_RANKS, true);
        part_list_put(&list, write);
        status = parapet_array_write(array, list.parts, list.count);
        part_list_clear(&list);
        decomposition_clear(&whole);
    }
    if (status != PARAPET_OK)
        fprintf(stderr, "seed %llu: one process alone: %s\n", (unsigned long long)test->of.seed,
                parapet_error_message());
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return status;
}

static void compare_stores(trial *test)
{
    tree collective, alone;
    tree_take(&collective, test->collective);
    tree_take(&alone, test->alone);
    launch_expect(test->run, !tree_has_leftovers(&collective), "nothing under temporary names");
    launch_expect(test->run, alone.count > 0, "a reference");
    launch_expect(test->run, tree_equals(&collective, &alone), "the bytes that one process writes");
    tree_clear(&collective);
    tree_clear(&alone);
}

static void read_collectively(trial *test, const unsigned char *contents)
{
    part_list list;
    parapet_status status;
    part_list_build(&list, &test->of, &test->of.read, test->run->rank, false);
    do
        if (test->array == NULL && !open_array(test, PARAPET_READ)) {
            part_list_clear(&list);
            return;
        }
    while (
        can_retry(test, status = LAUNCH_AGREED(test->run, parapet_array_read(test->array, list.parts, list.count))));
    if (launch_ok(test->run, status, "parapet_array_read"))
        launch_expect(test->run, part_list_holds(&list, contents), "what was written, and margins as they were");
    part_list_clear(&list);
}

static int say_finding(void *context, const parapet_finding *finding)
{
    (void)context;
    if (finding->kind != PARAPET_FINDING_ABSENT)
        fprintf(stderr, "finding: %s: %s\n", finding->key, finding->problem);
    return 0;
}

static void check_array(trial *test)
{
    parapet_check_summary summary = {0};
    parapet_status status;
    do
        if (test->array == NULL && !open_array(test, PARAPET_READ))
            return;
    while (can_retry(test, status = LAUNCH_AGREED(test->run, parapet_array_check(test->array, PARAPET_CHECK_DATA,
                                                                                 say_finding, NULL, &summary))));
    if (launch_ok(test->run, status, "parapet_array_check"))
        launch_expect(test->run, summary.missing == 0 && summary.torn == 0 && summary.stray == 0, "no findings");
}

static void keep_expected(const trial *test, const unsigned char *contents)
{
    char path[720];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/expected", test->place);
    file = fopen(path, "wb");
    if (file == NULL ||
        fwrite(contents, test->of.element_bytes, (size_t)test->of.element_count, file) !=
            (size_t)test->of.element_count ||
        fclose(file) != 0)
        launch_expect(test->run, false, "room for the expected values");
}

static void run_trial(trial *test)
{
    draw from = draw_start(test->of.seed, STREAM_READ_SETTINGS);
    bool is_same_handle = draw_chance(&from, 30);
    unsigned char *contents = subject_contents(&test->of, test->of.write_count);
    if (write_collectively(test)) {
        if (!is_same_handle) {
            close_handles(test);
            test->options = settings_draw(&from, test->run->ranks);
        }
        read_collectively(test, contents);
        check_array(test);
    }
    close_handles(test);
    launch_phase(test->run, "one process alone");
    if (test->run->rank == 0 && test->run->failures == 0 && write_alone(test) == PARAPET_OK)
        compare_stores(test);
    else if (test->run->rank == 0)
        launch_expect(test->run, false, "a store to compare");
    if (test->run->rank == 0 && test->is_kept)
        keep_expected(test, contents);
    free(contents);
}

static void describe(const trial *test, const parapet_store_options *options, char *text, size_t bytes)
{
    size_t used;
    subject_print(&test->of, text, bytes);
    used = strlen(text);
    used += (size_t)snprintf(text + used, bytes - used, "; ");
    settings_print(options, text + used, bytes - used);
}

/* Kept ones lie in the folder that was named, others where they are fast. */
static void name_stores(trial *test, const char *keep)
{
    (void)snprintf(test->place, sizeof test->place, "%s/%llu", test->is_kept ? keep : test->run->folder,
                   (unsigned long long)test->of.seed);
    (void)snprintf(test->collective, sizeof test->collective, "%s/store", test->place);
    (void)snprintf(test->alone, sizeof test->alone, "%s/alone", test->run->folder);
    if (test->run->rank == 0) {
        tree_remove(test->place);
        (void)mkdir(test->place, 0777);
    }
}

static bool has_idle_rank(const decomposition *of)
{
    int i, rank;
    for (rank = 0; rank < of->ranks; rank++) {
        for (i = 0; i < of->count && of->holdings[i].rank != rank; i++)
            ;
        if (i == of->count)
            return true;
    }
    return false;
}

static void count_case(tally *counts, const trial *test, const parapet_store_options *options)
{
    counts->cases++;
    counts->kept += test->is_kept;
    counts->sharded += !test->of.spec.unsharded;
    counts->partial += !decomposition_is_whole(&test->of.writes[0]);
    counts->idle += has_idle_rank(&test->of.writes[0]);
    counts->direct += options->transport == PARAPET_TRANSPORT_DIRECT;
    counts->nearest += options->owners == PARAPET_OWNERS_NEAREST;
}

static void run_case(launch *run, tally *counts, uint64_t seed, const char *keep)
{
    static const subject_limits limits = {.elements = 60000, .objects = 40, .writes = MOST_WRITES};
    draw settings = draw_start(seed, STREAM_WRITE_SETTINGS), form = draw_start(seed, STREAM_FORM);
    trial test = {.run = run, .counts = counts};
    parapet_store_options options;
    char description[2048] = "";
    launch_case_begin(run, seed);
    subject_build(&test.of, seed, run->ranks, &limits);
    options = test.options = settings_draw(&settings, run->ranks);
    options.elide_fill = test.options.elide_fill = test.elide_fill = draw_chance(&form, 20) ? 1 : 0;
    test.path = draw_chance(&form, 30) ? "groups/above/array" : "array";
    test.is_reopened = draw_chance(&form, 30);
    test.is_one_part = draw_chance(&form, 60);
    test.is_kept = keep != NULL && subject_is_common(&test.of);
    name_stores(&test, keep);
    run_trial(&test);
    describe(&test, &options, description, sizeof description);
    (void)launch_case_end(run, description);
    if (run->rank == 0) {
        tree_remove(test.alone);
        if (!test.is_kept)
            tree_remove(test.place);
    }
    count_case(counts, &test, &options);
    subject_clear(&test.of);
}

static void print_tally(const launch *run, const tally *counts)
{
    int64_t sums[2] = {counts->messages, counts->direct_bytes};
    launch_sum(sums, 2);
    if (run->rank != 0)
        return;
    printf("%lld cases on %d ranks, %lld failed: %lld writes, %lld with shards, %lld not wholly written, %lld with "
           "empty ranks, %lld with direct copies, %lld with the nearest owners, %lld refusals for want of memory\n",
           (long long)counts->cases, run->ranks, (long long)run->failed_cases, (long long)counts->writes,
           (long long)counts->sharded, (long long)counts->partial, (long long)counts->idle, (long long)counts->direct,
           (long long)counts->nearest, (long long)counts->retries);
    printf("%lld messages, %lld bytes copied directly, %lld stores kept for zarr-python\n", (long long)sums[0],
           (long long)sums[1], (long long)counts->kept);
}

int main(int argc, char **argv)
{
    launch run;
    tally counts = {0};
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int64_t cases = argc > 2 ? strtoll(argv[2], NULL, 0) : 10, i;
    const char *keep = argc > 4 ? argv[3] : NULL;
    int64_t keep_most = argc > 4 ? strtoll(argv[4], NULL, 0) : 0;
    const char *level = getenv("PARAPET_TEST_THREAD_SINGLE");
    launch_start(&run, &argc, &argv, level != NULL ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED);
    if (run.rank == 0 && keep != NULL) {
        tree_remove(keep);
        (void)mkdir(keep, 0777);
    }
    for (i = 0; i < cases && run.failed_cases < FAILED_CASES_MOST; i++)
        run_case(&run, &counts, first + (uint64_t)i, counts.kept < keep_most ? keep : NULL);
    print_tally(&run, &counts);
    return launch_finish(&run);
}
