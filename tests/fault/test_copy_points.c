/* A copy that crashes at each of its storage operations, is resumed, and ends as if nothing had happened; one that
 * fails leaves nothing; one that finds no memory says so.
 *
 * fault_copy_points quick|full: quick takes memory as storage, fewer pairs of crashes, and one failure at each place
 * in the code. */
#include "support.h"

#include "copy_bed.h"
#include "places.h"

static bool is_full;

/* What the runs have shown. */
typedef struct figures {
    long points, resumed, complete, kept, absorbed, templates_resumed;
} figures;

static copy_reference reference;
static figures seen;
static char point_name[256];

static void name_point(const copy_subject *of, copy_storage storage, const char *what, long at)
{
    (void)snprintf(point_name, sizeof point_name, "%s, in %s: %s %ld", of->name,
                   storage == COPY_IN_MEMORY ? "memory" : "a directory", what, at);
}

static void check_complete(copy_bed *work)
{
    char problem[256];
    if (!copy_bed_is_complete(work, &reference, problem))
        fail_msg("%s: %s", point_name, problem);
}

/* ---- Crashes ---- */

/* Copies until the operation with that number, at which everything stops; false: it was not reached. */
static bool crash(copy_bed *work, copy_manner manner, long at, bool is_torn, int64_t *chunks)
{
    parapet_copy_result result;
    parapet_status status;
    bool is_reached;
    work->plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .is_torn = is_torn};
    status = copy_bed_run(work, manner, &result);
    is_reached = work->plan.failures > 0;
    work->plan = (pp_fault_plan){.fail_at = -1};
    *chunks += result.chunks_written;
    if (!is_reached && status != PARAPET_OK)
        fail_msg("%s: without any fault it returned %s: %s", point_name, parapet_status_name(status),
                 parapet_error_message());
    if (is_reached && status == PARAPET_OK)
        fail_msg("%s: storage was gone, and it returned success", point_name);
    return is_reached;
}

/* What the crash left becomes what an uninterrupted copy leaves, with at most crashes templates done twice. */
static void resume(copy_bed *work, int64_t chunks, int crashes)
{
    parapet_copy_result result;
    parapet_status status;
    char problem[256];
    int64_t most = reference.result.chunks_written + crashes * reference.most_chunks;
    bool was_complete = copy_bed_is_complete(work, &reference, problem);
    status = copy_bed_run(work, (copy_manner){.resumes = true}, &result);
    if (was_complete && status == PARAPET_ERR_EXISTS) {
        seen.complete++;
        return;
    }
    if (status != PARAPET_OK)
        fail_msg("%s: resuming it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
    check_complete(work);
    chunks += result.chunks_written;
    if (chunks > most)
        fail_msg("%s: %lld chunks were written, and %lld of %lld would do", point_name, (long long)chunks,
                 (long long)most, (long long)reference.result.chunks_written);
    seen.resumed++;
    seen.templates_resumed += result.templates_resumed;
}

/* A run that goes on behind half a record must not lose what it does: it crashes too. */
static bool run_torn_crash(const copy_subject *of, copy_storage storage, long at, test_random *random)
{
    int64_t chunks = 0;
    copy_bed work;
    char problem[256];
    bool is_reached;
    name_point(of, storage, "crash, torn, and another one, at operation", at);
    copy_bed_build(&work, of, &reference, storage);
    is_reached = crash(&work, (copy_manner){0}, at, true, &chunks);
    if (is_reached && !copy_bed_is_complete(&work, &reference, problem) &&
        crash(&work, (copy_manner){.resumes = true}, (long)test_random_between(random, 20, reference.operations / 2),
              false, &chunks))
        resume(&work, chunks, 2);
    if (is_reached)
        check_complete(&work);
    copy_bed_free(&work);
    seen.points += is_reached;
    return is_reached;
}

static bool run_crash(const copy_subject *of, copy_storage storage, long at)
{
    int64_t chunks = 0;
    copy_bed work;
    bool is_reached;
    name_point(of, storage, "crash at operation", at);
    copy_bed_build(&work, of, &reference, storage);
    is_reached = crash(&work, (copy_manner){0}, at, false, &chunks);
    if (is_reached)
        resume(&work, chunks, 1);
    copy_bed_free(&work);
    seen.points += is_reached;
    return is_reached;
}

/* The quick form takes some of the points, and few where a run takes long: measuring takes its time. */
static long stride_of(const copy_subject *of)
{
    if (of->probes)
        return is_full ? 13 : 101;
    if (is_full)
        return 1;
    return (of->source_path[0] == '\0' ? 23 : 3) * TEST_THINNING;
}

static void crash_everywhere(const copy_subject *of, copy_storage storage, test_random *random)
{
    long at;
    for (at = 0; run_crash(of, storage, at); at += stride_of(of))
        continue;
    for (at = 0; run_torn_crash(of, storage, at, random); at += stride_of(of))
        continue;
    if (reference.templates > 4 && !of->probes)
        assert_true(seen.templates_resumed > 0);
}

/* The run that resumes crashes too, and sometimes the one after that. */
static void crash_again(const copy_subject *of, copy_storage storage, test_random *random)
{
    copy_manner manner = {0};
    int64_t chunks = 0;
    int crashes = 0, i, most = (int)test_random_between(random, 2, 4);
    char problem[256];
    copy_bed work;
    copy_bed_build(&work, of, &reference, storage);
    for (i = 0; i < most; i++) {
        long at = (long)test_random_between(random, 0, reference.operations / (i + 1));
        name_point(of, storage, "crashes one after the other, the last at operation", at);
        if (copy_bed_is_complete(&work, &reference, problem))
            break;
        if (!crash(&work, manner, at, test_random_between(random, 0, 1) == 1, &chunks))
            break;
        manner.resumes = true;
        crashes++;
        seen.points++;
    }
    if (!copy_bed_is_complete(&work, &reference, problem))
        resume(&work, chunks, crashes);
    check_complete(&work);
    copy_bed_free(&work);
}

/* ---- Cancelling ---- */

typedef struct cancelling {
    long at, calls;
} cancelling;

static int cancel(void *context, int64_t done, int64_t total)
{
    cancelling *at = context;
    assert_true(done <= total);
    return at->calls++ == at->at;
}

static bool run_cancelled(const copy_subject *of, long number)
{
    cancelling at = {.at = number};
    parapet_copy_result result;
    parapet_status status;
    copy_bed work;
    name_point(of, COPY_IN_MEMORY, "cancelled at report", number);
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    work.progress = cancel;
    work.progress_context = &at;
    status = copy_bed_run(&work, (copy_manner){0}, &result);
    work.progress = NULL;
    if (at.calls > number) {
        if (status != PARAPET_ERR_CANCELLED)
            fail_msg("%s: it returned %s", point_name, parapet_status_name(status));
        resume(&work, result.chunks_written, 1);
        seen.points++;
    }
    copy_bed_free(&work);
    return at.calls > number;
}

/* ---- Failures ---- */

/* Storage works again: what was begun is gone, or it is complete and only has to be tidied up. */
static void copy_after_failure(copy_bed *work)
{
    bool is_tree = work->of->source_path[0] == '\0', is_visible;
    size_t remains = copy_bed_remains(work, &is_visible);
    copy_manner manner = {.overwrites = is_tree, .resumes = !is_tree && is_visible};
    parapet_copy_result result;
    char problem[256];
    parapet_status status;
    if (copy_bed_is_complete(work, &reference, problem)) {
        seen.complete++;
        return;
    }
    if (!is_tree && remains > 0 && !is_visible)
        fail_msg("%s: %zu objects were left", point_name, remains);
    if (is_tree && copy_bed_has(work, "copies/__parapet/copy/finished")) {
        if (!copy_bed_has(work, "copies/s/zarr.json")) /* the last array */
            fail_msg("%s: the log was left", point_name);
        manner = (copy_manner){.resumes = true};
    }
    seen.kept += manner.resumes;
    status = copy_bed_run(work, manner, &result);
    if (status != PARAPET_OK)
        fail_msg("%s: the next copy returned %s: %s", point_name, parapet_status_name(status),
                 parapet_error_message());
    check_complete(work);
}

static bool run_failure(const copy_subject *of, copy_storage storage, long at, bool is_after)
{
    parapet_copy_result result;
    parapet_status status;
    copy_bed work;
    bool is_reached;
    long live = pp_memory_live_count();
    name_point(of, storage, is_after ? "failure, after taking effect, of operation" : "failure of operation", at);
    copy_bed_build(&work, of, &reference, storage);
    work.plan = (pp_fault_plan){.fail_at = at, .fail_after = is_after, .status = PARAPET_ERR_NO_SPACE};
    status = copy_bed_run(&work, (copy_manner){0}, &result);
    is_reached = work.plan.failures > 0;
    work.plan = (pp_fault_plan){.fail_at = -1};
    if (is_reached && status == PARAPET_OK) {
        seen.absorbed++;
        check_complete(&work);
    } else if (is_reached) {
        if (status != PARAPET_ERR_NO_SPACE || strstr(parapet_error_message(), "injected failure of ") == NULL)
            fail_msg("%s: it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
        copy_after_failure(&work);
    }
    copy_bed_free(&work);
    seen.points += is_reached;
    if (pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations were not given back", point_name, pp_memory_live_count() - live);
    return is_reached;
}

/* ---- Memory ---- */

typedef struct refusal {
    long at, count, refused;
    bool forever;
} refusal;

static int refuse(void *context, size_t bytes)
{
    refusal *plan = context;
    long number = plan->count++;
    (void)bytes;
    if (number < plan->at || (number > plan->at && !plan->forever))
        return 0;
    plan->refused++;
    return 1;
}

static bool run_without_memory(const copy_subject *of, long at, bool forever)
{
    refusal plan = {.at = at, .forever = forever};
    parapet_copy_result result;
    parapet_status status;
    copy_bed work;
    long live = pp_memory_live_count();
    name_point(of, COPY_IN_MEMORY, forever ? "no memory from allocation" : "no memory for allocation", at);
    copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
    pp_memory_hook_set(refuse, &plan);
    status = copy_bed_run(&work, (copy_manner){0}, &result);
    pp_memory_hook_set(NULL, NULL);
    if (plan.refused > 0 && status == PARAPET_OK) {
        seen.absorbed++;
        check_complete(&work);
    } else if (plan.refused > 0) {
        if (status != PARAPET_ERR_MEMORY)
            fail_msg("%s: it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
        if (!forever) /* else not even tidying up was possible */
            copy_after_failure(&work);
    }
    copy_bed_free(&work);
    seen.points += plan.refused > 0;
    if (pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations were not given back", point_name, pp_memory_live_count() - live);
    return plan.refused > 0;
}

/* ---- Each place in the code ---- */

/* What lies at the target's path before the copy that fails. */
typedef enum before { BEFORE_NOTHING, BEFORE_PART, BEFORE_ALL, BEFORES } before;

typedef enum fault_kind { FAULT_STORAGE, FAULT_MEMORY, FAULT_KINDS } fault_kind;

typedef struct place_point {
    fault_kind kind;
    bool is_after; /* the operation takes effect */
    long at;
} place_point;

static place_record passed[FAULT_KINDS];
static place_set known[FAULT_KINDS];

static copy_manner manner_after(before what)
{
    return (copy_manner){.resumes = what == BEFORE_PART, .overwrites = what == BEFORE_ALL, .verifies = true};
}

/* False: there is no such thing, because the copy is too short to be cancelled. */
static bool build_before(copy_bed *work, const copy_subject *of, before what)
{
    cancelling at = {.at = reference.templates / 2 + 1};
    parapet_copy_result result;
    parapet_status status = PARAPET_OK;
    copy_bed_build(work, of, &reference, COPY_IN_MEMORY);
    if (what == BEFORE_PART) {
        work->progress = cancel;
        work->progress_context = &at;
    }
    if (what != BEFORE_NOTHING)
        status = copy_bed_run(work, (copy_manner){0}, &result);
    work->progress = NULL;
    if ((status == PARAPET_ERR_CANCELLED) == (what == BEFORE_PART))
        return true;
    copy_bed_free(work);
    return false;
}

static int record_allocation(void *context, size_t bytes)
{
    (void)bytes;
    place_record_add(context);
    return 0;
}

static void put_around(copy_bed *work, pp_store *inside[COPY_STORES])
{
    int i;
    for (i = 0; i < COPY_STORES; i++) {
        inside[i] = work->faulty[i];
        work->faulty[i] = place_store_build(inside[i], &passed[FAULT_STORAGE]);
    }
}

static void take_away(copy_bed *work, pp_store *inside[COPY_STORES])
{
    int i;
    for (i = 0; i < COPY_STORES; i++) {
        pp_store_free(work->faulty[i]);
        work->faulty[i] = inside[i];
    }
}

/* Notes where operations or allocations of the copy begin: one after the other, as the stores that note operations
 * allocate too. */
static bool record_places(const copy_subject *of, before what, fault_kind kind)
{
    pp_store *inside[COPY_STORES];
    parapet_copy_result result;
    copy_bed work;
    if (!build_before(&work, of, what))
        return false;
    passed[kind].is_on = true;
    atomic_store(&passed[kind].count, 0);
    if (kind == FAULT_STORAGE)
        put_around(&work, inside);
    else
        pp_memory_hook_set(record_allocation, &passed[FAULT_MEMORY]);
    assert_ok(copy_bed_run(&work, manner_after(what), &result));
    pp_memory_hook_set(NULL, NULL);
    if (kind == FAULT_STORAGE)
        take_away(&work, inside);
    copy_bed_free(&work);
    return true;
}

/* Resuming is right or refused; a copy from the beginning is right. */
static void copy_again(copy_bed *work)
{
    parapet_copy_result result;
    char problem[256];
    parapet_status status = copy_bed_run(work, (copy_manner){.resumes = true}, &result);
    if (status == PARAPET_ERR_EXISTS && copy_bed_is_complete(work, &reference, problem))
        return;
    if (status != PARAPET_OK)
        status = copy_bed_run(work, (copy_manner){.overwrites = true}, &result);
    if (status != PARAPET_OK)
        fail_msg("%s: the next copy returned %s: %s", point_name, parapet_status_name(status),
                 parapet_error_message());
    check_complete(work);
}

static void check_place(copy_bed *work, before what, fault_kind kind, parapet_status status)
{
    parapet_status expected = kind == FAULT_MEMORY ? PARAPET_ERR_MEMORY : PARAPET_ERR_NO_SPACE;
    const char *word = kind == FAULT_MEMORY ? "memory" : "injected failure of ";
    if (status == PARAPET_OK) {
        seen.absorbed++;
        check_complete(work);
        return;
    }
    if (status != expected || strstr(parapet_error_message(), word) == NULL)
        fail_msg("%s: it returned %s: %s", point_name, parapet_status_name(status), parapet_error_message());
    if (what == BEFORE_NOTHING)
        copy_after_failure(work);
    else
        copy_again(work);
}

static void run_place(const copy_subject *of, before what, const place_point *point)
{
    static const char *const befores[BEFORES] = {"a new copy", "one that is resumed", "one over another"};
    refusal plan = {.at = point->at};
    parapet_copy_result result;
    parapet_status status;
    copy_bed work;
    long live = pp_memory_live_count();
    (void)snprintf(point_name, sizeof point_name, "%s, %s: %s %ld fails%s", of->name, befores[what],
                   point->kind == FAULT_STORAGE ? "operation" : "allocation", point->at,
                   point->is_after ? " after taking effect" : "");
    assert_true(build_before(&work, of, what));
    work.plan = (pp_fault_plan){.fail_at = point->kind == FAULT_STORAGE ? point->at : -1,
                                .fail_after = point->is_after,
                                .status = PARAPET_ERR_NO_SPACE};
    if (point->kind == FAULT_MEMORY)
        pp_memory_hook_set(refuse, &plan);
    status = copy_bed_run(&work, manner_after(what), &result);
    pp_memory_hook_set(NULL, NULL);
    work.plan = (pp_fault_plan){.fail_at = -1};
    check_place(&work, what, point->kind, status);
    copy_bed_free(&work);
    seen.points++;
    if (pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations were not given back", point_name, pp_memory_live_count() - live);
}

static void run_places(const copy_subject *of, before what)
{
    place_point point = {.kind = FAULT_STORAGE};
    for (; point.kind < FAULT_KINDS && record_places(of, what, point.kind); point.kind++)
        for (point.at = 0; (point.at = place_set_add_next(&known[point.kind], &passed[point.kind], point.at)) >= 0;
             point.at++) {
            run_place(of, what, &point);
            point.is_after = point.kind == FAULT_STORAGE;
            if (point.is_after)
                run_place(of, what, &point);
            point.is_after = false;
        }
}

/* ---- The tests ---- */

static void print_figures(const char *what, const char *name)
{
    printf("%-44s %-12s %6ld points: %ld resumed (%ld templates), %ld complete already, %ld kept, %ld absorbed\n",
           name, what, seen.points, seen.resumed, seen.templates_resumed, seen.complete, seen.kept, seen.absorbed);
}

static void test_crashes(void **context)
{
    const copy_subject *of = *context;
    test_random random = test_random_start();
    int i, pairs = (is_full ? 150 : 30) / (of->probes ? 10 : 1);
    copy_reference_build(&reference, of);
    printf("%s: %ld operations, %lld templates of at most %lld chunks, %lld chunks in %lld shards, %lld passes\n",
           of->name, reference.operations, (long long)reference.templates, (long long)reference.most_chunks,
           (long long)reference.result.chunks_written, (long long)reference.result.shards_written,
           (long long)reference.result.passes);
    seen = (figures){0};
    crash_everywhere(of, COPY_IN_MEMORY, &random);
    if (is_full)
        crash_everywhere(of, COPY_IN_DIRECTORY, &random);
    print_figures("crashes", of->name);
    seen = (figures){0};
    for (i = 0; i < pairs; i++)
        crash_again(of, is_full && i % 2 == 1 ? COPY_IN_DIRECTORY : COPY_IN_MEMORY, &random);
    print_figures("more of them", of->name);
    copy_reference_free(&reference);
}

static void test_cancels(void **context)
{
    const copy_subject *of = *context;
    long at;
    copy_reference_build(&reference, of);
    seen = (figures){0};
    for (at = 0; run_cancelled(of, at); at += stride_of(of))
        continue;
    print_figures("cancels", of->name);
    copy_reference_free(&reference);
}

static void test_failures(void **context)
{
    const copy_subject *of = *context;
    long at;
    int storage, is_after;
    copy_reference_build(&reference, of);
    seen = (figures){0};
    for (storage = COPY_IN_MEMORY; storage <= (is_full ? COPY_IN_DIRECTORY : COPY_IN_MEMORY); storage++)
        for (is_after = 0; is_after < 2; is_after++)
            for (at = 0; run_failure(of, (copy_storage)storage, at, is_after == 1); at += stride_of(of))
                continue;
    print_figures("failures", of->name);
    copy_reference_free(&reference);
}

static void test_allocations(void **context)
{
    const copy_subject *of = *context;
    long at, step = stride_of(of) * 3 - 2;
    copy_reference_build(&reference, of);
    seen = (figures){0};
    if (is_full) /* else once at each place */
        for (at = 0; run_without_memory(of, at, false); at++)
            continue;
    for (at = (of - copy_subjects) % step; run_without_memory(of, at, true); at += step)
        continue;
    print_figures("no memory", of->name);
    copy_reference_free(&reference);
}

static void test_places(void **context)
{
    const copy_subject *of = *context;
    before what;
    copy_reference_build(&reference, of);
    seen = (figures){0};
    for (what = BEFORE_NOTHING; what < BEFORES; what++)
        run_places(of, what);
    print_figures("places", of->name);
    copy_reference_free(&reference);
}

static const struct {
    const char *name;
    CMUnitTestFunction run;
} kinds[] = {{"crashes", test_crashes},
             {"is cancelled", test_cancels},
             {"has no memory", test_allocations},
             {"fails at each place", test_places},
             {"fails", test_failures}};
enum { KINDS_QUICK = 4, KINDS_FULL = sizeof kinds / sizeof kinds[0] };

int main(int argc, char **argv)
{
    size_t all = KINDS_FULL * (size_t)copy_subject_count, count, kind_count, i;
    struct CMUnitTest *list = calloc(all, sizeof list[0]);
    char(*names)[96] = calloc(all, sizeof names[0]);
    int failed;
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    kind_count = is_full ? KINDS_FULL : KINDS_QUICK;
    count = kind_count * (size_t)copy_subject_count;
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    for (i = 0; i < count; i++) {
        const copy_subject *of = &copy_subjects[i / kind_count];
        (void)snprintf(names[i], sizeof names[i], "test_copy__%s: %s", of->name, kinds[i % kind_count].name);
        list[i] = (struct CMUnitTest){
            .name = names[i], .test_func = kinds[i % kind_count].run, .initial_state = (void *)(uintptr_t)of};
    }
    failed = _cmocka_run_group_tests("fault_copy_points", list, count, NULL, NULL);
    free(names);
    free(list);
    return failed;
}
