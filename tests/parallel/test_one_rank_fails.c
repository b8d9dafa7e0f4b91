/* One rank's storage or memory fails, at each place in turn: every rank returns the same status and the same sentence
 * and none hangs, what is stored is old or new, the next call works, nothing is left behind. With every strategy; the
 * other ways in which ranks work together come in turn, and all of them with one strategy alone.
 *
 * parallel_one_rank_fails quick|places|full [call [rank kind manner at settings]]: quick takes a sample of what can
 * fail, the same in every run (PARAPET_TEST_SEED gives another); places lets it fail once at each place in the code
 * that no earlier call has led to; full lets everything fail in every manner. With a call only that one is run; with
 * all of the rest only that one failure, as a violation names it. */
#include "support.h"

#include <stdatomic.h>
#include <unistd.h>

#include "calls.h"
#include "draw.h"
#include "places.h"
#include "strategy.h"
#include "watch.h"

enum { SAMPLES = TEST_THINNING > 1 ? 2 : 5, SHOWN_VIOLATIONS = 8 /* of a call, by each rank */ };

typedef enum fault_kind { FAULT_STORAGE, FAULT_MEMORY } fault_kind;

/* How something fails. */
typedef struct manner {
    fault_kind kind;
    const char *name;
    parapet_status status;
    bool forever; /* and all after it */
    bool after;   /* it takes effect, and only the answer is lost */
} manner;

static const manner manners[] = {
    {FAULT_STORAGE, "once", PARAPET_ERR_IO, .forever = false},
    {FAULT_STORAGE, "forever", PARAPET_ERR_IO, .forever = true},
    {FAULT_STORAGE, "after", PARAPET_ERR_NO_SPACE, .after = true},
    {FAULT_MEMORY, "once", PARAPET_ERR_MEMORY, .forever = false},
    {FAULT_MEMORY, "forever", PARAPET_ERR_MEMORY, .forever = true},
};
enum { MANNERS = sizeof manners / sizeof manners[0] };

typedef struct site {
    const parallel_call *call;
    int settings; /* number: a strategy, and how else the ranks work together */
    int rank;     /* that fails */
    const manner *how;
    long at; /* operation or allocation of the call on that rank, from 0; -1: none, count */
} site;

/* How else the ranks work together. */
static const struct way {
    const char *name;
    parapet_transport transport;
    parapet_io_thread io_thread;
    int64_t threads;
} ways[] = {
    {"direct, no threads", PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_NONE, 1},
    {"messages, storage thread", PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_OWN, 1},
    {"messages, no threads", PARAPET_TRANSPORT_MESSAGES, PARAPET_IO_THREAD_NONE, 1},
    {"direct, three threads", PARAPET_TRANSPORT_DIRECT, PARAPET_IO_THREAD_OWN, 3},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static const strategy *strategy_in(int settings)
{
    return strategy_of(settings / WAYS);
}

static const struct way *way_in(int settings)
{
    return &ways[settings % WAYS];
}

/* What a call was seen to do, over all ranks. */
typedef struct outcome {
    parapet_status status;
    bool is_same; /* status and sentence */
    bool is_reached;
    double seconds; /* of the slowest rank */
    char sentence[PP_MESSAGE_BYTES];
} outcome;

typedef struct figures {
    long operations, allocations; /* of all ranks, with the settings tried first */
    long runs, failures, absorbed, reopened, violations;
    double slowest;
} figures;

/* Refuses allocations, from any thread. */
typedef struct refusal {
    long at; /* negative: none */
    bool forever;
    atomic_long count, refused;
} refusal;

static launch run;
static place_record passed[2]; /* by kind: where this rank was while a call was counted */
static char site_name[400];
static long violations; /* of this rank, in this run */
static int shown;       /* of the call */
static int64_t taken;   /* shards by this rank, in uneven runs */
static bool is_uneven;  /* some run was */

static void name_site(const site *at)
{
    bool is_storage = at->how->kind == FAULT_STORAGE;
    (void)snprintf(site_name, sizeof site_name, "\"%s\" %d %s %s %ld %d (%s %ld of rank %d fails; %s, %s)",
                   at->call->of.name, at->rank, is_storage ? "storage" : "memory", at->how->name, at->at,
                   at->settings, is_storage ? "operation" : "allocation", at->at, at->rank,
                   strategy_in(at->settings)->name, way_in(at->settings)->name);
}

static void violate(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void violate(const char *format, ...)
{
    char text[1500];
    va_list arguments;
    violations++;
    if (shown++ >= SHOWN_VIOLATIONS)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "VIOLATION on rank %d: %s: %s\n", run.rank, site_name, text);
}

/* ---- what all ranks say ---- */

static void reduce(int64_t *values, int count, MPI_Op operation)
{
    MPI_Request request;
    int is_done = 0;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, operation, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        (void)usleep(50);
}

static int64_t digest_text(const char *text)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (int64_t)(digest >> 2);
}

/* Fills in the rest; the sentence stays this rank's. */
static void agree_on(outcome *result)
{
    int64_t digest = digest_text(result->sentence), mine = (int64_t)result->status;
    int64_t all[6] = {mine, -mine, digest, -digest, result->is_reached, (int64_t)(1e6 * result->seconds)};
    reduce(all, 6, MPI_MAX);
    result->is_same = all[0] == -all[1] && all[2] == -all[3];
    result->is_reached = all[4] != 0;
    result->seconds = 1e-6 * (double)all[5];
    if (!result->is_same)
        violate("here it returned %s: \"%s\"; another rank returned something else",
                parapet_status_name(result->status), result->sentence);
    result->status = (parapet_status)all[0]; /* from here on all ranks go the same way */
}

/* ---- the run of one site ---- */

static int decide(void *context, size_t bytes)
{
    refusal *plan = context;
    long number = atomic_fetch_add(&plan->count, 1);
    (void)bytes;
    place_record_add(&passed[FAULT_MEMORY]);
    if (plan->at < 0 || number < plan->at || (number > plan->at && !plan->forever))
        return 0;
    (void)atomic_fetch_add(&plan->refused, 1);
    return 1;
}

/* Until end, this rank notes where it is. */
static void begin_record(void)
{
    int kind;
    for (kind = 0; kind < 2; kind++) {
        passed[kind].is_on = true;
        atomic_store(&passed[kind].count, 0);
    }
}

static void end_record(void)
{
    passed[FAULT_STORAGE].is_on = passed[FAULT_MEMORY].is_on = false;
}

static void make_call(const parallel_call *call, shared_bed *work, const char *doing, outcome *result)
{
    double start = watch_clock();
    parallel_has_wrong_values = false;
    watch_begin(site_name, doing);
    result->status = call->of.run(&work->bed);
    result->seconds = watch_clock() - start;
    (void)snprintf(result->sentence, sizeof result->sentence, "%s",
                   result->status != PARAPET_OK ? parapet_error_message() : "");
    if (parallel_has_wrong_values)
        violate("%s: it returned PARAPET_OK and wrong values", doing);
}

/* counts: operations and allocations of this rank. */
static void make_call_with_fault(const site *at, shared_bed *work, outcome *result, long counts[2])
{
    bool is_mine = at->rank == run.rank && at->at >= 0;
    refusal plan = {.at = is_mine && at->how->kind == FAULT_MEMORY ? at->at : -1, .forever = at->how->forever};
    work->bed.plan = (pp_fault_plan){.fail_at = is_mine && at->how->kind == FAULT_STORAGE ? at->at : -1,
                                     .fail_forever = at->how->forever,
                                     .fail_after = at->how->after,
                                     .status = at->how->status};
    pp_memory_hook_set(decide, &plan);
    if (at->at < 0)
        begin_record();
    make_call(at->call, work, "in the call", result);
    end_record();
    pp_memory_hook_set(NULL, NULL);
    counts[0] = work->bed.plan.operations;
    counts[1] = atomic_load(&plan.count);
    result->is_reached = work->bed.plan.failures > 0 || atomic_load(&plan.refused) > 0;
    work->bed.plan = (pp_fault_plan){.fail_at = -1};
    watch_begin(site_name, "waiting for the others after the call returned here");
    agree_on(result);
    watch_end();
}

/* The right status, and a sentence that names the rank, what was injected and where. */
static void check_report(const site *at, const outcome *result)
{
    const char *cause = at->how->kind == FAULT_MEMORY ? "memory" : "injected failure of ";
    char who[32];
    (void)snprintf(who, sizeof who, "rank %d on ", at->rank);
    if (run.rank != 0)
        return;
    if (result->status != at->how->status)
        violate("returned %s: \"%s\"", parapet_status_name(result->status), result->sentence);
    if (strstr(result->sentence, who) == NULL || strstr(result->sentence, cause) == NULL)
        violate("the sentence \"%s\" does not name rank %d and \"%s\"", result->sentence, at->rank, cause);
}

/* A failure that came before anything was published, by what the sentence says. */
static bool is_before_publish(const site *at, const outcome *result)
{
    return at->how->kind == FAULT_STORAGE && strstr(result->sentence, "injected failure of publish") == NULL &&
           strstr(result->sentence, "injected failure of sync_dirs") == NULL;
}

static void check_stored(const site *at, const outcome *result, const shared_bed *work, const shared_state bounds[2])
{
    state_rule rule = {.whole = at->call->of.kind == SCENARIO_REPLACES,
                       .may_vanish = at->call->of.kind == SCENARIO_REPLACES,
                       .values_old = at->call->of.kind == SCENARIO_WRITES && is_before_publish(at, result)};
    bool is_done = result->status == PARAPET_OK;
    char problem[256];
    shared_state seen;
    if (run.rank == 0) {
        shared_state_take(&seen, work->bed.inner);
        if (!shared_state_is_between(&seen, is_done ? &bounds[1] : &bounds[0], &bounds[1],
                                     is_done ? (state_rule){0} : rule, problem))
            violate("%s (it had returned %s: \"%s\")", problem, parapet_status_name(result->status),
                    result->sentence);
    }
    watch_meet();
}

/* What is written waits in cache_bytes, which the store takes for good with write_back. */
static void check_budget(const shared_bed *work)
{
    const parapet_store *store = work->bed.store;
    size_t kept = store != NULL && store->options->write_back ? (size_t)store->options->cache_bytes : 0;
    if (store != NULL && pp_budget_used(&store->budget) != kept)
        violate("%zu bytes of the budget were not given back", pp_budget_used(&store->budget) - kept);
}

/* All have the same handles, or they can neither go on nor close. */
static bool check_handles(shared_bed *work)
{
    int64_t bits = shared_bed_handles(work), all[2] = {bits, -bits};
    reduce(all, 2, MPI_MAX);
    if (all[0] == -all[1])
        return true;
    violate("the ranks differ in which handles are open (here %lld)", (long long)bits);
    shared_bed_abandon(work);
    return false;
}

static bool must_be_reopened(const outcome *result)
{
    return result->status == PARAPET_ERR_ARGUMENT && strstr(result->sentence, "open it again") != NULL;
}

/* Of a creation, which had its effect before it failed. */
static bool is_there_already(const outcome *result)
{
    return result->status == PARAPET_ERR_EXISTS && strstr(result->sentence, "already") != NULL;
}

/* Errors of reading, and those of writing before something was published, must leave the handle as it was; but where
 * the document could not be replaced it is not certain which one is there. */
static bool may_ask_to_reopen(const site *at, const outcome *failed)
{
    if (at->call->of.kind == SCENARIO_READS)
        return false;
    return at->call->of.kind != SCENARIO_WRITES || !is_before_publish(at, failed) ||
           strstr(failed->sentence, "zarr.json") != NULL;
}

/* With the trouble gone the call works: on the same handles, or on new ones where the sentence asks for that. */
static void repeat_call(const site *at, shared_bed *work, const outcome *failed, const shared_state bounds[2],
                        figures *counted)
{
    outcome again = {0};
    make_call(at->call, work, "in the call, repeated", &again);
    agree_on(&again);
    if (must_be_reopened(&again)) {
        counted->reopened++;
        if (!may_ask_to_reopen(at, failed))
            violate("after \"%s\" the handle cannot be used any more", failed->sentence);
        shared_bed_close_handles(work);
        shared_bed_open_handles(work, at->call);
        again = (outcome){0};
        make_call(at->call, work, "in the call, repeated on new handles", &again);
        agree_on(&again);
    }
    watch_end();
    if (again.status != PARAPET_OK && !is_there_already(&again) && run.rank == 0)
        violate("repeated, it returned %s: \"%s\"", parapet_status_name(again.status), again.sentence);
    check_stored(at, &again, work, bounds);
}

static void run_on_bed(const site *at, shared_bed *work, const shared_state bounds[2], figures *counted,
                       outcome *result)
{
    check_budget(work);
    if (at->at < 0 || !result->is_reached || result->status == PARAPET_OK) {
        if (result->is_reached && at->how->kind == FAULT_STORAGE && result->status == PARAPET_OK &&
            !at->call->absorbs && run.rank == 0)
            violate("the failure went unnoticed");
        if (!result->is_reached && result->status != PARAPET_OK && run.rank == 0)
            violate("nothing failed, but it returned %s: \"%s\"", parapet_status_name(result->status),
                    result->sentence);
        counted->absorbed += result->is_reached;
        if (bounds != NULL)
            check_stored(at, result, work, bounds);
        return;
    }
    counted->failures++;
    check_report(at, result);
    check_stored(at, result, work, bounds);
    repeat_call(at, work, result, bounds, counted);
}

static void note_taken(const site *at, const shared_bed *work)
{
    if (!strategy_in(at->settings)->is_uneven)
        return;
    is_uneven = true;
    if (work->bed.store != NULL)
        taken += strategy_taken(work->bed.store);
}

/* bounds NULL: learn them, in seen. Returns whether the place was reached. */
static bool run_site(const site *at, const image *before, const shared_state bounds[2], shared_state *seen,
                     figures *counted, long counts[2])
{
    const struct way *by = way_in(at->settings);
    parapet_store_options options = {.transport = by->transport, .io_thread = by->io_thread, .threads = by->threads};
    outcome result = {0};
    strategy_pace pace;
    char weights_path[600];
    bool has_leftover, has_handles;
    int64_t violated;
    shared_bed work;
    violations = 0;
    name_site(at);
    watch_begin(site_name, "preparing");
    (void)snprintf(weights_path, sizeof weights_path, "%s/weights", run.folder);
    strategy_set(strategy_in(at->settings), &options, &pace, weights_path, run.rank, run.ranks);
    options.write_back = options.cache_bytes > 0 && strncmp(at->call->of.name, "array_flush", 11) == 0;
    shared_bed_build(&work, &run, before, &options);
    shared_bed_open_handles(&work, at->call);
    make_call_with_fault(at, &work, &result, counts);
    has_handles = check_handles(&work);
    if (has_handles)
        run_on_bed(at, &work, bounds, counted, &result);
    note_taken(at, &work);
    if (seen != NULL && run.rank == 0)
        shared_state_take(seen, work.bed.inner);
    watch_begin(site_name, "closing");
    shared_bed_free(&work, &run, &has_leftover);
    watch_end();
    if (has_leftover)
        violate("something was left under a temporary name");
    if (has_handles && pp_memory_live_count() != work.live)
        violate("%ld allocations were not given back", pp_memory_live_count() - work.live);
    violated = violations;
    reduce(&violated, 1, MPI_SUM);
    counted->violations += violated > 0;
    counted->runs++;
    counted->slowest = result.seconds > counted->slowest ? result.seconds : counted->slowest;
    return result.is_reached;
}

/* ---- all sites of a call ---- */

/* A call, what is stored before it, what may be seen, how many places there are. */
typedef struct subject {
    const parallel_call *call;
    image before;
    shared_state bounds[2];
    int64_t *counts; /* operations and allocations of each rank, with the settings counted last */
    bool is_counted;
    figures figures;
} subject;

/* What the ranks do together is what one process does. */
static void compare_with_one_process(const subject *of)
{
    char problem[256];
    state old, new;
    if (run.rank != 0 || of->call->alone == NULL)
        return;
    scenario_bounds(of->call->alone, &of->before, &old, &new);
    if (!state_equals(&of->bounds[1].main, &new, problem))
        fail_msg("%s: %s, unlike after the call of one process", of->call->of.name, problem);
}

static void subject_build(subject *made, const parallel_call *call)
{
    site none = {.call = call, .how = &manners[0], .at = -1};
    bool has_leftover;
    long counts[2];
    shared_bed work;
    shown = 0;
    *made = (subject){.call = call, .counts = calloc(2 * (size_t)run.ranks, sizeof made->counts[0])};
    name_site(&none);
    scenario_prepare(&call->of, &made->before);
    shared_bed_build(&work, &run, &made->before, &(parapet_store_options){.io_thread = PARAPET_IO_THREAD_NONE});
    if (run.rank == 0)
        shared_state_take(&made->bounds[0], work.bed.inner);
    shared_bed_free(&work, &run, &has_leftover);
    (void)run_site(&none, &made->before, NULL, &made->bounds[1], &made->figures, counts);
    compare_with_one_process(made);
}

static void subject_free(subject *used)
{
    image_free(&used->before);
    free(used->counts);
}

static void count_sites(subject *of, int settings)
{
    site none = {.call = of->call, .settings = settings, .how = &manners[0], .at = -1};
    long counts[2];
    int i;
    (void)run_site(&none, &of->before, of->bounds, NULL, &of->figures, counts);
    memset(of->counts, 0, 2 * (size_t)run.ranks * sizeof of->counts[0]);
    of->counts[2 * run.rank] = counts[0];
    of->counts[2 * run.rank + 1] = counts[1];
    reduce(of->counts, 2 * run.ranks, MPI_SUM);
    for (i = 0; !of->is_counted && i < run.ranks; i++) {
        of->figures.operations += of->counts[2 * i];
        of->figures.allocations += of->counts[2 * i + 1];
    }
    of->is_counted = true;
}

/* As many of storage as of memory, although there are many more allocations; and often the first of all, when the
 * ranks have not agreed on anything yet. */
static void run_sample(subject *of, int settings, draw *from)
{
    long counts[2];
    int i;
    for (i = 0; i < SAMPLES; i++) {
        int64_t number = draw_between(from, 0, MANNERS);
        site at = {.call = of->call,
                   .settings = settings,
                   .rank = (int)draw_between(from, 0, run.ranks - 1),
                   .how = &manners[number < MANNERS ? number : MANNERS - 1]};
        int64_t sites = of->counts[2 * at.rank + (at.how->kind == FAULT_MEMORY)];
        at.at = draw_chance(from, 20) ? 0 : (long)draw_between(from, 0, sites > 0 ? sites - 1 : 0);
        if (sites > 0)
            (void)run_site(&at, &of->before, of->bounds, NULL, &of->figures, counts);
    }
}

/* Counts vary a little where threads or the order of messages decide: so on until one is not reached. */
static void run_all(subject *of, int settings)
{
    site at = {.call = of->call, .settings = settings};
    long counts[2];
    for (at.rank = 0; at.rank < run.ranks; at.rank++)
        for (at.how = manners; at.how < manners + MANNERS; at.how++) {
            int64_t sites = of->counts[2 * at.rank + (at.how->kind == FAULT_MEMORY)];
            for (at.at = 0; run_site(&at, &of->before, of->bounds, NULL, &of->figures, counts) || at.at < sites;
                 at.at++)
                continue;
        }
}

/* Of what the counted call did on a rank: the next, from there on, at a place that was not known; -1: no more. */
static long next_new_place(int rank, fault_kind kind, long from)
{
    static place_set known[2];
    int64_t found = rank == run.rank ? place_set_add_next(&known[kind], &passed[kind], from) : -1;
    reduce(&found, 1, MPI_MAX);
    return (long)found;
}

/* With the settings that were counted last. */
static void run_places(subject *of, int settings)
{
    site at = {.call = of->call, .settings = settings};
    fault_kind kind;
    long counts[2];
    for (at.rank = 0; at.rank < run.ranks; at.rank++)
        for (kind = FAULT_STORAGE; kind <= FAULT_MEMORY; kind++)
            for (at.at = next_new_place(at.rank, kind, 0); at.at >= 0;
                 at.at = next_new_place(at.rank, kind, at.at + 1))
                for (at.how = manners; at.how < manners + MANNERS; at.how++)
                    if (at.how->kind == kind && !at.how->forever)
                        (void)run_site(&at, &of->before, of->bounds, NULL, &of->figures, counts);
}

static void print_row(const char *name, const figures *of)
{
    if (run.rank == 0)
        printf("%-36s %6ld %7ld %7ld %7ld %5ld %5ld %5ld %7.0f\n", name, of->operations, of->allocations, of->runs,
               of->failures, of->absorbed, of->reopened, of->violations, 1e3 * of->slowest);
}

static void add_figures(figures *total, const figures *more)
{
    total->operations += more->operations;
    total->allocations += more->allocations;
    total->runs += more->runs;
    total->failures += more->failures;
    total->absorbed += more->absorbed;
    total->reopened += more->reopened;
    total->violations += more->violations;
    total->slowest = more->slowest > total->slowest ? more->slowest : total->slowest;
}

typedef enum form { FORM_QUICK, FORM_PLACES, FORM_FULL } form;

static form form_of(const char *word)
{
    return strcmp(word, "full") == 0 ? FORM_FULL : strcmp(word, "places") == 0 ? FORM_PLACES : FORM_QUICK;
}

static void run_settings(subject *work, int settings, form wanted, draw *from)
{
    count_sites(work, settings);
    if (wanted == FORM_FULL)
        run_all(work, settings);
    else if (wanted == FORM_PLACES)
        run_places(work, settings);
    else
        run_sample(work, settings, from);
}

/* turn: of the way that a strategy meets here. */
static void run_call(const parallel_call *call, int turn, form wanted, draw *from, figures *total)
{
    int way, way_count = strategy_is_alone() ? WAYS : 1;
    const strategy *with;
    subject work;
    subject_build(&work, call);
    for (with = strategy_next(NULL); with != NULL; with = strategy_next(with))
        for (way = 0; way < way_count; way++) {
            int number = strategy_number(with);
            run_settings(&work, number * WAYS + (turn + number + way) % WAYS, wanted, from);
        }
    print_row(call->of.name, &work.figures);
    add_figures(total, &work.figures);
    subject_free(&work);
}

static void run_one(const parallel_call *call, char **words, figures *total)
{
    site at = {.call = call,
               .rank = atoi(words[0]),
               .at = atol(words[3]),
               .settings = atoi(words[4]) % (strategy_count() * WAYS)};
    long counts[2];
    subject work;
    for (at.how = manners; at.how < manners + MANNERS - 1; at.how++)
        if ((strcmp(words[1], "storage") == 0) == (at.how->kind == FAULT_STORAGE) &&
            strcmp(words[2], at.how->name) == 0)
            break;
    subject_build(&work, call);
    (void)run_site(&at, &work.before, work.bounds, NULL, &work.figures, counts);
    print_row(call->of.name, &work.figures);
    add_figures(total, &work.figures);
    subject_free(&work);
}

/* What the program was called with. */
typedef struct wish {
    int argc;
    char **argv;
    figures total;
} wish;

/* As one test, so that whatever asserts within is shown. */
static void run_calls(void **context)
{
    wish *asked = *context;
    form wanted = form_of(asked->argc > 1 ? asked->argv[1] : "");
    const char *seed = getenv("PARAPET_TEST_SEED");
    draw from = draw_start(seed != NULL ? strtoull(seed, NULL, 0) : 20261115, 0);
    const parallel_call *calls;
    int count, i;
    calls = parallel_calls(&count);
    for (i = 0; i < count; i++) {
        if (asked->argc > 2 && strcmp(asked->argv[2], calls[i].of.name) != 0)
            continue;
        if (asked->argc > 7)
            run_one(&calls[i], asked->argv + 3, &asked->total);
        else
            run_call(&calls[i], i + run.ranks, wanted, &from, &asked->total);
        fflush(stdout);
    }
    print_row("total", &asked->total);
    launch_sum(&taken, 1);
    if (run.rank == 0)
        printf("%lld shards taken\n", (long long)taken);
    if (asked->argc <= 2 && is_uneven && taken == 0)
        fail_msg("no shard was ever taken");
}

int main(int argc, char **argv)
{
    wish asked = {.argc = argc, .argv = argv};
    struct CMUnitTest test = {.name = "one rank fails", .test_func = run_calls, .initial_state = &asked};
    double start = watch_clock();
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    watch_start(run.rank);
    parallel_operations = &passed[FAULT_STORAGE];
    if (run.rank == 0)
        printf("%-36s %6s %7s %7s %7s %5s %5s %5s %7s\n", "call", "ops", "allocs", "runs", "failed", "absrb", "reopn",
               "viol", "max ms");
    if (_cmocka_run_group_tests("one_rank_fails", &test, 1, NULL, NULL) != 0) {
        fprintf(stderr, "rank %d ended at: %s\n", run.rank, site_name);
        MPI_Abort(MPI_COMM_WORLD, 97);
    }
    if (run.rank == 0)
        printf("%d ranks, %.1f s, 0 hangs\n", run.ranks, watch_clock() - start);
    run.failed_cases = asked.total.violations;
    return launch_finish(&run);
}
