/* Any copy: a random array is copied into other chunks, shards, codecs and orders of dimensions, twice: by all ranks
 * and by some of them, within other limits and by other ways. Element by element it must be what a loop over the
 * elements makes of the source; chunks of which nothing is stored stay so; chunk by chunk both copies must have the
 * same bytes; a limit that is one byte too small is refused and leaves no trace. Runs under the launcher on any
 * number of ranks:
 *
 *     parallel_copy FIRST CASES
 *
 * runs the seeds from FIRST; CASES 1 repeats one. */
#include <parapet_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy_stored.h"
#include "figures.h"
#include "launch.h"
#include "settings.h"
#include "tree.h"

#define FAILED_CASES_MOST 5
#define MEMORY_MOST ((int64_t)64 << 20)
#define MANY_CASES 200 /* so many have something of everything */

enum { STREAM_FORM = 400, STREAM_ATTEMPT };
enum { ATTEMPTS = 2 };

/* What the cases of a run have come to. */
typedef struct tally {
    int64_t cases, copies, refusals;
    int64_t partial, permuted, reversed, regions, same_store, least, verified;
    int64_t passes[4], runs, together; /* copies by how they were made */
} tally;

typedef struct trial {
    launch *run;
    tally *counts;
    copy_case of;
    const char *path; /* of the targets, below their stores */
    bool is_same_store;
    int elide_fill; /* the one option that shows in what is stored */
    unsigned char *contents;
    char place[600], source[640];
    uint64_t source_digest;     /* rank 0 */
    copy_stored made[ATTEMPTS]; /* rank 0 */
    int64_t passes[ATTEMPTS];
} trial;

/* One copy of the trial: by whom, with which settings, how. */
typedef struct attempt {
    trial *test;
    int number;
    draw from;
    MPI_Comm comm;
    int rank, ranks;
    char target[640], array[700];
    parapet_store_options options;
    parapet_store *source, *target_store, *temporary;
    char temporary_path[640]; /* empty: intermediate passes are kept in the target's store */
    parapet_copy_request request;
    parapet_copy_result result;
    char *plan; /* JSON */
    int64_t least, limit;
} attempt;

/* ---- Calls of the ranks that copy ---- */

static void wait_for(MPI_Request *request)
{
    int is_done = 0;
    for (MPI_Test(request, &is_done, MPI_STATUS_IGNORE); !is_done; MPI_Test(request, &is_done, MPI_STATUS_IGNORE))
        usleep(100);
}

/* What all ranks of the attempt returned, which must be the same. */
static parapet_status agreed(attempt *by, parapet_status status, const char *call)
{
    int64_t own[2] = {(int64_t)status, -(int64_t)status}, all[2] = {own[0], own[1]};
    MPI_Request request;
    if (by->comm != MPI_COMM_NULL) {
        MPI_Iallreduce(own, all, 2, MPI_INT64_T, MPI_MAX, by->comm, &request);
        wait_for(&request);
    }
    launch_expect(by->test->run, all[0] == -all[1], "the same status on all ranks");
    launch_phase(by->test->run, call);
    return (parapet_status)all[0];
}

static bool expect_ok(attempt *by, parapet_status status, const char *call)
{
    if (agreed(by, status, call) == PARAPET_OK)
        return true;
    by->test->run->failures++;
    if (by->rank == 0)
        fprintf(stderr, "seed %llu, copy %d: %s: %s: %s\n", (unsigned long long)by->test->of.seed, by->number, call,
                parapet_status_name(status), parapet_error_message());
    return false;
}

#define EXPECT_OK(by, call) (launch_phase((by)->test->run, #call), expect_ok((by), (call), #call))

/* ---- The target: by rank 0 alone ---- */

static uint64_t digest_of(const char *path)
{
    tree seen;
    uint64_t digest;
    tree_take(&seen, path);
    digest = tree_digest(&seen);
    tree_clear(&seen);
    return digest;
}

static void source_path(const trial *test, char *path, size_t bytes)
{
    (void)snprintf(path, bytes, "%s/source", test->source);
}

static void take_layout(copy_layout *layout, const parapet_array_info *info)
{
    size_t bytes = (size_t)info->ndim * sizeof info->chunks[0];
    layout->is_sharded = info->is_sharded != 0;
    if (bytes == 0)
        return;
    memcpy(layout->chunks, info->chunks, bytes);
    memcpy(layout->shards, info->shards, bytes);
}

static bool is_same_list(int ndim, const int64_t *left, const int64_t *right)
{
    return ndim == 0 || memcmp(left, right, (size_t)ndim * sizeof left[0]) == 0;
}

static void check_info(trial *test, parapet_array *array)
{
    const copy_case *of = &test->of;
    parapet_array_info info;
    int d;
    if (parapet_array_get_info(array, &info) != PARAPET_OK || info.ndim != of->ndim) {
        launch_expect(test->run, false, "the number of dimensions");
        return;
    }
    launch_expect(test->run, is_same_list(of->ndim, info.shape, of->target.shape), "the shape");
    launch_expect(test->run, info.type == of->spec.type && info.element_bytes == of->element_bytes, "the type");
    launch_expect(test->run, memcmp(info.fill_value, of->fill, of->element_bytes) == 0, "the fill value");
    for (d = 0; d < of->ndim; d++)
        launch_expect(test->run,
                      info.dimension_names != NULL && info.dimension_names[d] != NULL &&
                          strcmp(info.dimension_names[d], of->names[of->axis[d]]) == 0,
                      "the dimension names");
    if (!of->chooses_cut) {
        launch_expect(test->run, is_same_list(of->ndim, info.chunks, of->target.chunks), "the chunks");
        launch_expect(test->run, is_same_list(of->ndim, info.shards, of->target.shards), "the shards");
        launch_expect(test->run, (info.is_sharded != 0) == of->target.is_sharded, "shards or none");
    }
    take_layout(&test->of.target, &info);
}

static void check_attributes(trial *test, parapet_array *array)
{
    parapet_store *store = NULL;
    parapet_array *source = NULL;
    char *expected = NULL, *seen = NULL;
    launch_expect(test->run,
                  parapet_store_open(&store, MPI_COMM_SELF, test->source, PARAPET_READ, NULL) == PARAPET_OK &&
                      parapet_array_open(&source, store, "source") == PARAPET_OK &&
                      parapet_array_attribute_get(source, NULL, &expected) == PARAPET_OK &&
                      parapet_array_attribute_get(array, NULL, &seen) == PARAPET_OK && strcmp(expected, seen) == 0,
                  "the attributes");
    parapet_free(expected);
    parapet_free(seen);
    (void)parapet_array_close(&source);
    (void)parapet_store_close(&store);
}

static void check_elements(trial *test, parapet_array *array)
{
    const copy_case *of = &test->of;
    int64_t start[COPY_NDIM_MOST] = {0}, count = copy_element_count(of->ndim, of->target.shape), i = 0;
    unsigned char *expected = copy_case_expected(of, test->contents),
                  *seen = calloc((size_t)count + 1, of->element_bytes);
    parapet_part part = {.ndim = of->ndim, .start = start, .count = of->target.shape, .data = seen};
    launch_expect(test->run, parapet_array_read(array, &part, 1) == PARAPET_OK, "a target that can be read");
    while (i < count && memcmp(seen + (size_t)i * of->element_bytes, expected + (size_t)i * of->element_bytes,
                               of->element_bytes) == 0)
        i++;
    if (i < count)
        fprintf(stderr, "element %lld of %lld differs\n", (long long)i, (long long)count);
    launch_expect(test->run, i == count, "the elements of the source in their new places");
    free(expected);
    free(seen);
}

static int say_finding(void *context, const parapet_finding *finding)
{
    (void)context;
    if (finding->kind != PARAPET_FINDING_ABSENT)
        fprintf(stderr, "finding: %s: %s\n", finding->key, finding->problem);
    return 0;
}

static void check_array(trial *test, const char *store_path)
{
    parapet_check_summary summary = {0};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    launch_phase(test->run, "reading the target");
    if (parapet_store_open(&store, MPI_COMM_SELF, store_path, PARAPET_READ, NULL) == PARAPET_OK &&
        parapet_array_open(&array, store, test->path) == PARAPET_OK) {
        check_info(test, array);
        check_attributes(test, array);
        check_elements(test, array);
        launch_expect(test->run,
                      parapet_array_check(array, PARAPET_CHECK_DATA, say_finding, NULL, &summary) == PARAPET_OK &&
                          summary.missing == 0 && summary.torn == 0 && summary.stray == 0,
                      "no findings");
    } else
        launch_expect(test->run, false, "a target that can be opened");
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
}

/* Below the target are its metadata and its objects, and nothing else in its store is left over. */
static void check_files(attempt *by)
{
    trial *test = by->test;
    tree all;
    size_t i;
    tree_take(&all, by->array);
    for (i = 0; i < all.count; i++) {
        const char *name = all.files[i].name;
        bool is_known = strcmp(name, "zarr.json") == 0 || strcmp(name, "c") == 0 || strncmp(name, "c/", 2) == 0;
        if (!is_known)
            fprintf(stderr, "left over: %s/%s\n", by->array, name);
        launch_expect(test->run, is_known, "no other files");
    }
    tree_clear(&all);
    tree_take(&all, by->target);
    for (i = 0; i < all.count; i++)
        if (strstr(all.files[i].name, "__parapet") != NULL) {
            fprintf(stderr, "left over: %s/%s\n", by->target, all.files[i].name);
            launch_expect(test->run, false, "nothing left over in the store");
        }
    tree_clear(&all);
    if (by->temporary_path[0] == '\0')
        return;
    tree_take(&all, by->temporary_path);
    launch_expect(test->run, all.count == 1, "nothing left over in the store for intermediate passes");
    tree_clear(&all);
}

/* Chunks with nothing but fill value are not stored where that is asked for. */
static void forget_fill(const trial *test, int64_t chunk_count, bool *stored)
{
    const copy_case *of = &test->of;
    unsigned char *expected = copy_case_expected(of, test->contents);
    int64_t position[COPY_NDIM_MOST] = {0}, count = copy_element_count(of->ndim, of->target.shape), i, chunk;
    bool *differs = calloc((size_t)chunk_count + 1, sizeof *differs);
    int d;
    for (i = 0; i < count; i++) {
        for (d = 0, chunk = 0; d < of->ndim; d++)
            chunk = chunk * ((of->target.shape[d] + of->target.chunks[d] - 1) / of->target.chunks[d]) +
                    position[d] / of->target.chunks[d];
        if (memcmp(expected + (size_t)i * of->element_bytes, of->fill, of->element_bytes) != 0)
            differs[chunk] = true;
        (void)copy_step(of->ndim, of->target.shape, position);
    }
    for (i = 0; i < chunk_count; i++)
        stored[i] = stored[i] && differs[i];
    free(differs);
    free(expected);
}

static void check_stored(attempt *by)
{
    trial *test = by->test;
    copy_stored *made = &test->made[by->number];
    bool *stored;
    int64_t i, wrong = 0;
    launch_expect(test->run, copy_stored_take(made, by->array, test->of.ndim, &test->of.target), "sound objects");
    stored = copy_case_stored(&test->of);
    if (test->elide_fill == 1)
        forget_fill(test, made->chunk_count, stored);
    for (i = 0; i < made->chunk_count; i++)
        wrong += stored[i] != (made->digests[i] != 0);
    if (wrong > 0)
        fprintf(stderr, "%lld of %lld chunks are stored and should not be, or the other way round\n",
                (long long)wrong, (long long)made->chunk_count);
    launch_expect(test->run, wrong == 0, "chunks of which nothing was stored stay absent, others do not");
    free(stored);
}

static void check_target(attempt *by)
{
    trial *test = by->test;
    char path[700];
    check_array(test, by->target);
    check_files(by);
    check_stored(by);
    source_path(test, path, sizeof path);
    launch_expect(test->run, digest_of(path) == test->source_digest, "a source that stays as it was");
}

/* ---- One copy ---- */

static void draw_way(attempt *by)
{
    const copy_case *of = &by->test->of;
    parapet_copy_request *request = &by->request;
    int64_t bytes = copy_element_count(of->ndim, of->target.shape) * (int64_t)of->element_bytes;
    bool is_plain = strcmp(of->spec.codec, "none") == 0 && of->spec.no_checksum;
    request->passes = draw_chance(&by->from, 50) ? 0 : draw_between(&by->from, 1, 3);
    if (!draw_chance(&by->from, is_plain ? 40 : 80))
        request->reading = is_plain ? (parapet_reading)draw_between(&by->from, 1, 2) : PARAPET_READING_CHUNKS;
    if (!draw_chance(&by->from, 50))
        request->cooperation = (parapet_cooperation)draw_between(&by->from, 1, by->ranks > 1 ? 2 : 1);
    if (request->reading == PARAPET_READING_RUNS && request->cooperation == PARAPET_COOPERATION_TOGETHER)
        request->cooperation = PARAPET_COOPERATION_ALONE;
    request->unit_bytes = draw_chance(&by->from, 40) ? 0 : draw_scale(&by->from, bytes + 1);
    request->verify = draw_chance(&by->from, 15);
    request->no_probe = draw_chance(&by->from, 97);
}

static bool open_stores(attempt *by)
{
    trial *test = by->test;
    if (test->is_same_store) {
        if (!EXPECT_OK(by, parapet_store_open(&by->source, by->comm, test->source, PARAPET_UPDATE, &by->options)))
            return false;
        by->target_store = by->source;
    } else if (!EXPECT_OK(by, parapet_store_open(&by->source, by->comm, test->source, PARAPET_READ, &by->options)) ||
               !EXPECT_OK(by,
                          parapet_store_open(&by->target_store, by->comm, by->target, PARAPET_CREATE, &by->options)))
        return false;
    if (by->temporary_path[0] != '\0' &&
        !EXPECT_OK(by,
                   parapet_store_open(&by->temporary, by->comm, by->temporary_path, PARAPET_CREATE, &by->options)))
        return false;
    by->request.temporary = by->temporary;
    by->request.source = by->source;
    by->request.source_path = "source";
    by->request.target = by->target_store;
    by->request.target_path = test->path;
    by->request.changes = test->of.changes;
    return true;
}

static void close_stores(attempt *by)
{
    if (by->target_store != NULL && by->target_store != by->source)
        (void)EXPECT_OK(by, parapet_store_close(&by->target_store));
    if (by->source != NULL)
        (void)EXPECT_OK(by, parapet_store_close(&by->source));
    if (by->temporary != NULL)
        (void)EXPECT_OK(by, parapet_store_close(&by->temporary));
    parapet_free(by->plan);
    by->plan = NULL;
}

/* A limit that does not do is refused, with the one that would, and nothing is made. */
static void expect_refusal(attempt *by, int64_t limit)
{
    trial *test = by->test;
    uint64_t before = by->rank == 0 ? digest_of(by->target) : 0;
    parapet_status status;
    char number[32];
    if (limit < 1)
        return;
    by->request.memory_bytes = limit;
    (void)snprintf(number, sizeof number, " %lld ", (long long)by->least);
    status = parapet_copy(&by->request, &by->result);
    launch_expect(test->run, strstr(parapet_error_message(), number) != NULL, "a refusal with the least limit");
    status = agreed(by, status, "a copy that is refused");
    launch_expect(test->run, status == PARAPET_ERR_MEMORY, "a refusal for want of memory");
    test->counts->refusals++;
    if (by->rank != 0)
        return;
    launch_expect(test->run, digest_of(by->target) == before, "a refusal that changes nothing");
    launch_expect(test->run, access(by->array, F_OK) != 0, "a refusal that makes no directory");
}

static bool plan_copy(attempt *by)
{
    char *drawing = NULL;
    bool is_drawn = draw_chance(&by->from, 10);
    by->request.memory_bytes = MEMORY_MOST;
    if (!EXPECT_OK(by, parapet_copy_request_plan_print(&by->request, 1, &by->plan, is_drawn ? &drawing : NULL)))
        return false;
    launch_expect(by->test->run, !is_drawn || (drawing != NULL && strstr(drawing, "</svg>") != NULL), "a drawing");
    parapet_free(drawing);
    by->least = figures_sum(by->plan, "memory_least_bytes");
    launch_expect(by->test->run, by->least > 0, "the least limit in the plan");
    return by->least > 0;
}

static int64_t draw_limit(attempt *by)
{
    switch (draw_between(&by->from, 0, 3)) {
    case 0:
        by->test->counts->least++;
        return by->least;
    case 1:
        return by->least + draw_between(&by->from, 1, by->least / 4 + 1);
    case 2:
        return by->least * draw_between(&by->from, 2, 6);
    default:
        return MEMORY_MOST > by->least ? MEMORY_MOST : by->least;
    }
}

static void check_result(attempt *by)
{
    const copy_case *of = &by->test->of;
    const parapet_copy_result *result = &by->result;
    const parapet_copy_request *request = &by->request;
    launch *run = by->test->run;
    int64_t bytes = copy_element_count(of->ndim, of->target.shape) * (int64_t)of->element_bytes;
    launch_expect(run, result->arrays == 1 && result->groups == 0, "one array");
    launch_expect(run, result->array_bytes == bytes, "all of its elements");
    launch_expect(run, bytes == 0 || request->passes == 0 || result->passes == request->passes,
                  "as many passes as asked for");
    launch_expect(run, result->memory_peak_bytes <= result->memory_planned_bytes, "peak <= planned");
    launch_expect(run, result->memory_planned_bytes <= by->limit, "planned <= limit");
    launch_expect(run, result->templates_resumed == 0, "nothing resumed");
    launch_expect(run, result->verified_bytes == (request->verify ? bytes : 0), "verified if asked for");
    if (result->memory_peak_bytes > result->memory_planned_bytes && by->rank == 0)
        fprintf(stderr, "peak %lld, planned %lld, limit %lld\n", (long long)result->memory_peak_bytes,
                (long long)result->memory_planned_bytes, (long long)by->limit);
}

static void count_copy(attempt *by)
{
    tally *counts = by->test->counts;
    counts->copies++;
    counts->passes[by->result.passes < 3 ? by->result.passes : 3]++;
    counts->runs += strstr(by->plan, "\"reads_runs\": true") != NULL;
    counts->together += strstr(by->plan, "\"cooperates\": true") != NULL;
    counts->verified += by->request.verify;
}

static void print_way(const attempt *by)
{
    char settings[512];
    settings_print(&by->options, settings, sizeof settings);
    fprintf(stderr,
            "seed %llu, copy %d on %d ranks: memory %lld, least %lld, unit %lld, passes %lld (took %lld), reading "
            "%lld, cooperation "
            "%lld, verify %d; %s\n",
            (unsigned long long)by->test->of.seed, by->number, by->ranks, (long long)by->limit, (long long)by->least,
            (long long)by->request.unit_bytes, (long long)by->request.passes, (long long)by->result.passes,
            (long long)by->request.reading, (long long)by->request.cooperation, by->request.verify, settings);
}

static void run_attempt(attempt *by)
{
    if (open_stores(by)) {
        draw_way(by);
        if (plan_copy(by)) {
            by->limit = draw_limit(by);
            if (by->number == 0) {
                expect_refusal(by, 1);
                expect_refusal(by, by->least - 1);
            }
            by->request.memory_bytes = by->limit == MEMORY_MOST && draw_chance(&by->from, 50) ? 0 : by->limit;
            if (EXPECT_OK(by, parapet_copy(&by->request, &by->result))) {
                check_result(by);
                count_copy(by);
                by->test->passes[by->number] = by->result.passes;
            }
        }
    }
    close_stores(by);
}

/* ---- Cases ---- */

/* The second copy is made by some of the ranks. */
static void attempt_copy(trial *test, int number)
{
    attempt by = {
        .test = test, .number = number, .from = draw_start(test->of.seed, STREAM_ATTEMPT + (uint64_t)number)};
    launch *run = test->run;
    int failures = run->failures;
    by.ranks = number == 0 ? run->ranks : (int)draw_between(&by.from, 1, run->ranks);
    by.rank = run->rank;
    MPI_Comm_split(MPI_COMM_WORLD, run->rank < by.ranks ? 0 : MPI_UNDEFINED, run->rank, &by.comm);
    by.options = settings_draw(&by.from, by.ranks);
    by.options.memory_bytes = MEMORY_MOST;
    by.options.elide_fill = test->elide_fill;
    (void)snprintf(by.target, sizeof by.target, test->is_same_store ? "%s/source" : "%s/target-%d", test->place,
                   number);
    (void)snprintf(by.array, sizeof by.array, "%s/%s", by.target, test->path);
    if (draw_chance(&by.from, 20))
        (void)snprintf(by.temporary_path, sizeof by.temporary_path, "%s/temporary-%d", test->place, number);
    if (by.comm != MPI_COMM_NULL)
        run_attempt(&by);
    launch_barrier();
    if (run->rank == 0 && run->failures == failures)
        check_target(&by);
    if (run->rank == 0 && run->failures > failures)
        print_way(&by);
    if (by.comm != MPI_COMM_NULL)
        MPI_Comm_free(&by.comm);
    launch_barrier();
    if (run->rank == 0 && number == 0 && test->is_same_store)
        tree_remove(by.array);
    launch_barrier();
}

static void draw_form(trial *test)
{
    draw form = draw_start(test->of.seed, STREAM_FORM);
    test->is_same_store = draw_chance(&form, 25);
    test->path = draw_chance(&form, 30) ? "groups/above/copy" : "copy";
    if (test->is_same_store)
        test->path = "copy";
    test->elide_fill = test->of.target.is_sharded && !test->of.chooses_cut && draw_chance(&form, 15) ? 1 : 0;
    (void)snprintf(test->place, sizeof test->place, "%s/%llu", test->run->folder, (unsigned long long)test->of.seed);
    (void)snprintf(test->source, sizeof test->source, "%s/source", test->place);
}

static void count_case(tally *counts, const trial *test)
{
    bool is_permuted = false, is_reversed = false;
    int d;
    for (d = 0; d < test->of.ndim; d++) {
        is_permuted = is_permuted || test->of.axis[d] != d;
        is_reversed = is_reversed || test->of.is_reversed[d];
    }
    counts->cases++;
    counts->partial += !test->of.is_whole;
    counts->permuted += is_permuted;
    counts->reversed += is_reversed;
    counts->regions += test->of.changes.region != NULL;
    counts->same_store += test->is_same_store;
}

static void run_trial(trial *test)
{
    char path[700];
    int number;
    if (test->run->rank == 0) {
        (void)mkdir(test->place, 0777);
        launch_phase(test->run, "writing the source");
        launch_expect(test->run, copy_case_write(&test->of, test->source), "a source");
        source_path(test, path, sizeof path);
        test->source_digest = digest_of(path);
        test->contents = copy_case_contents(&test->of);
    }
    launch_barrier();
    for (number = 0; number < ATTEMPTS && launch_largest(test->run->failures) == 0; number++)
        attempt_copy(test, number);
    if (test->run->rank == 0 && test->run->failures == 0)
        launch_expect(test->run, copy_stored_equals(&test->made[0], &test->made[1]),
                      "the same bytes on other ranks and within another limit");
}

static void run_case(launch *run, tally *counts, uint64_t seed)
{
    draw form = draw_start(seed, STREAM_FORM);
    copy_limits limits = {.chunks = 250, .objects = 30};
    trial test = {.run = run, .counts = counts};
    char description[2048] = "";
    int number;
    limits.elements = draw_chance(&form, 6) ? 200000 : draw_chance(&form, 25) ? draw_scale(&form, 3000) : 30000;
    launch_case_begin(run, seed);
    copy_case_build(&test.of, seed, &limits);
    draw_form(&test);
    run_trial(&test);
    copy_case_print(&test.of, description, sizeof description);
    (void)launch_case_end(run, description);
    if (run->rank == 0)
        tree_remove(test.place);
    count_case(counts, &test);
    for (number = 0; number < ATTEMPTS; number++)
        copy_stored_clear(&test.made[number]);
    free(test.contents);
}

/* A run of many cases that had none of some kind has not tested it. */
static void expect_variety(launch *run, const tally *counts)
{
    bool has_all = counts->partial > 0 && counts->permuted > 0 && counts->reversed > 0 && counts->regions > 0 &&
                   counts->refusals > 0 && counts->least > 0 && counts->passes[1] > 0 && counts->passes[2] > 0 &&
                   counts->passes[3] > 0 && counts->runs > 0 && (run->ranks == 1 || counts->together > 0);
    if (run->rank != 0 || counts->cases < MANY_CASES || has_all)
        return;
    fprintf(stderr, "some kind of copy was never made\n");
    run->failed_cases++;
}

static void print_tally(const launch *run, const tally *counts)
{
    if (run->rank != 0)
        return;
    printf("%lld cases on %d ranks, %lld failed: %lld copies (%lld, %lld, %lld of 1, 2, 3 passes; %lld by runs, %lld "
           "together, %lld with the least memory, %lld verified), %lld refusals; %lld sources stored in part, %lld "
           "permuted, %lld reversed, %lld regions, %lld within one store\n",
           (long long)counts->cases, run->ranks, (long long)run->failed_cases, (long long)counts->copies,
           (long long)counts->passes[1], (long long)counts->passes[2], (long long)counts->passes[3],
           (long long)counts->runs, (long long)counts->together, (long long)counts->least,
           (long long)counts->verified, (long long)counts->refusals, (long long)counts->partial,
           (long long)counts->permuted, (long long)counts->reversed, (long long)counts->regions,
           (long long)counts->same_store);
}

int main(int argc, char **argv)
{
    launch run;
    tally counts = {0};
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int64_t cases = argc > 2 ? strtoll(argv[2], NULL, 0) : 10, i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < cases && run.failed_cases < FAILED_CASES_MOST; i++)
        run_case(&run, &counts, first + (uint64_t)i);
    expect_variety(&run, &counts);
    print_tally(&run, &counts);
    return launch_finish(&run);
}
