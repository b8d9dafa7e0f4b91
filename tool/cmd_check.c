#include "display.h"
#include "document.h"
#include "finding.h"
#include "hierarchy.h"
#include "holding.h"
#include "memory.h"
#include "node.h"
#include "report.h"
#include "restore_test.h"
#include "store.h"
#include "unfinished.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const tool_flag flags[] = {
    {TOOL_SURVEY, 0, "survey", "only list objects and their sizes"},
    {TOOL_INDEX, 0, "index", "also read shard indexes and seals, but no chunks"},
    {TOOL_RESTORE_TEST, 0, "restore-test", "read what a restart from this checkpoint would read"},
    {TOOL_STRICT, 0, "strict", "count a shard that was never written as missing"},
    {TOOL_QUIET, 'q', "quiet", "print findings only, no summary"},
    {0, 0, NULL, NULL},
};

/* A check under way: one array, and the sum of all of them. */
typedef struct tool_checking {
    const tool_request *request;
    parapet_store *store;
    tool_document *document; /* NULL: for people */
    parapet_check_depth depth;
    tool_tree tree; /* what is below; empty for an array */
    parapet_check_summary total;
    int64_t absent;
    int64_t arrays;
    int64_t failures;
    int64_t generations, generations_sound;
    int worst_generation; /* exit code; 0: all verify */
} tool_checking;

static const char *name_of_kind(parapet_finding_kind kind)
{
    switch (kind) {
    case PARAPET_FINDING_MISSING:
        return "missing";
    case PARAPET_FINDING_TORN:
        return "torn";
    case PARAPET_FINDING_STRAY:
        return "stray";
    case PARAPET_FINDING_ABSENT:
        return "absent";
    }
    return "unknown";
}

static const char *name_of_depth(parapet_check_depth depth)
{
    return depth == PARAPET_CHECK_SURVEY ? "survey" : depth == PARAPET_CHECK_INDEX ? "index" : "data";
}

static void print_finding(const tool_checking *checking, const char *kind, const parapet_finding *finding)
{
    char *label = tree_label(checking->request->operands[0], finding->key);
    char *visible = text_visible(label);
    char *problem = text_visible(finding->problem == NULL ? "" : finding->problem);
    printf("%s: %s: %s\n", kind, visible, problem);
    free(problem);
    free(visible);
    free(label);
}

static void write_finding(tool_document *document, const char *kind, const parapet_finding *finding)
{
    document_open_object(document, NULL);
    document_text(document, "kind", kind);
    document_text(document, "key", finding->key);
    document_text(document, "problem", finding->problem);
    document_close(document);
}

static int take_finding(void *context, const parapet_finding *finding)
{
    tool_checking *checking = context;
    bool is_absent = finding->kind == PARAPET_FINDING_ABSENT;
    bool is_strict = checking->request->flags & TOOL_STRICT;
    const char *kind = is_absent && is_strict ? "missing" : name_of_kind(finding->kind);
    checking->absent += is_absent;
    if (is_absent && !is_strict && !(checking->request->flags & TOOL_VERBOSE))
        return 0;
    if (checking->document != NULL)
        write_finding(checking->document, kind, finding);
    else
        print_finding(checking, kind, finding);
    return 0;
}

static void write_counts(tool_document *document, const parapet_check_summary *summary, int64_t absent)
{
    document_integer(document, "shards_expected", summary->shards_expected);
    document_integer(document, "shards_present", summary->shards_present);
    document_integer(document, "chunks_present", summary->chunks_present);
    document_integer(document, "stored_bytes", summary->stored_bytes);
    document_integer(document, "torn", summary->torn);
    document_integer(document, "missing", summary->missing);
    document_integer(document, "stray", summary->stray);
    document_integer(document, "absent", absent);
}

static void add_to_total(parapet_check_summary *total, const parapet_check_summary *summary)
{
    total->shards_expected += summary->shards_expected;
    total->shards_present += summary->shards_present;
    total->chunks_present += summary->chunks_present;
    total->stored_bytes += summary->stored_bytes;
    total->missing += summary->missing;
    total->torn += summary->torn;
    total->stray += summary->stray;
}

static void report_array(tool_checking *checking, const char *path)
{
    char *label = tree_label(checking->request->operands[0], path);
    report_failure(label);
    free(label);
    checking->failures++;
}

static void check_array(tool_checking *checking, const char *path)
{
    tool_document *document = checking->document;
    parapet_check_summary summary = {0};
    tool_node node = {0};
    int64_t absent_before = checking->absent;
    bool has_failed;
    checking->arrays++;
    if (document != NULL) {
        document_open_object(document, NULL);
        document_text(document, "path", path);
        document_open_list(document, "findings");
    }
    has_failed = node_open(&node, checking->store, path) != PARAPET_OK ||
                 parapet_array_check(node.array, checking->depth, take_finding, checking, &summary) != PARAPET_OK;
    if (document != NULL) {
        document_close(document);
        document_text(document, "error", has_failed ? parapet_error_message() : NULL);
        write_counts(document, &summary, checking->absent - absent_before);
        document_close(document);
    }
    if (has_failed)
        report_array(checking, path);
    add_to_total(&checking->total, &summary);
    node_close(&node);
}

static void check_tree(tool_checking *checking)
{
    const tool_tree *tree = &checking->tree;
    for (size_t i = 1; i < tree->count; i++)
        if (tree->entries[i].kind == PARAPET_NODE_ARRAY)
            check_array(checking, tree->entries[i].path);
    checking->failures += tree->failures;
}

/* ---- Generations of checkpoints ---- */

/* Failed, torn, missing, stray, sound: the first of two in this order. */
static int worse_of(int a, int b)
{
    static const int order[] = {TOOL_FAILED, TOOL_TORN, TOOL_MISSING, TOOL_STRAY};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return TOOL_OK;
}

/* One generation and what came of verifying it. */
typedef struct tool_verdict {
    const tool_generation *generation;
    const char *group; /* that holds the generations */
    bool is_restored;  /* a restart takes this one */
    int exit_code;
    char *problem;
} tool_verdict;

static void print_verdict(const tool_checking *checking, const tool_verdict *verdict)
{
    char *label = tree_label(checking->request->operands[0], verdict->group);
    char *visible = text_visible(label), *problem = text_visible(verdict->problem);
    int64_t number = verdict->generation->number;
    if (verdict->exit_code != TOOL_OK)
        printf("%s: %s: generation %" PRId64 " does not verify: %s\n", name_of_exit_code(verdict->exit_code), visible,
               number, problem);
    else if (!(checking->request->flags & TOOL_QUIET))
        printf("ok: %s: generation %" PRId64 " verifies%s\n", visible, number,
               verdict->is_restored ? "; a restart takes this one" : "");
    free(problem);
    free(visible);
    free(label);
}

static void write_verdict(tool_document *document, const tool_verdict *verdict)
{
    const char *path = verdict->generation->path;
    document_open_object(document, NULL);
    document_text(document, "checkpoint", verdict->group);
    document_integer(document, "generation", verdict->generation->number);
    document_text(document, "path", path[0] != '\0' ? path : NULL);
    document_truth(document, "verifies", verdict->exit_code == TOOL_OK);
    document_truth(document, "restored_from", verdict->is_restored);
    document_text(document, "problem", verdict->exit_code == TOOL_OK ? NULL : verdict->problem);
    document_close(document);
}

/* Returns whether it verifies. */
static bool verify_generation(tool_checking *checking, tool_verdict *verdict, bool has_restored)
{
    parapet_restore *restore = NULL;
    parapet_status status =
        parapet_restore_open(&restore, checking->store, verdict->group, verdict->generation->number);
    verdict->exit_code = exit_code_of_finding(status);
    verdict->problem = text_format("%s", status != PARAPET_OK ? parapet_error_message() : "");
    verdict->is_restored = status == PARAPET_OK && !has_restored;
    checking->generations++;
    checking->generations_sound += status == PARAPET_OK;
    checking->worst_generation = worse_of(checking->worst_generation, verdict->exit_code);
    if (checking->document != NULL)
        write_verdict(checking->document, verdict);
    else
        print_verdict(checking, verdict);
    free(verdict->problem);
    (void)parapet_restore_close(&restore);
    return status == PARAPET_OK;
}

static void check_generations_of(tool_checking *checking, const char *path)
{
    tool_holding holding;
    bool has_restored = false;
    if (holding_init(&holding, checking->store, path) != PARAPET_OK)
        report_array(checking, path);
    for (size_t i = 0; i < holding.generation_count; i++) {
        tool_verdict verdict = {.generation = &holding.generations[i], .group = path};
        has_restored = verify_generation(checking, &verdict, has_restored) || has_restored;
    }
    holding_free(&holding);
}

/* To verify one, indexes are read: a survey does not. */
static void check_generations(tool_checking *checking)
{
    const tool_tree *tree = &checking->tree;
    if (checking->depth == PARAPET_CHECK_SURVEY)
        return;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->entries[i].kind == PARAPET_NODE_GROUP)
            check_generations_of(checking, tree->entries[i].path);
}

/* ---- Series ---- */

static void report_series(tool_checking *checking, const char *path, const char *problem)
{
    parapet_finding finding = {.kind = PARAPET_FINDING_TORN, .key = path, .problem = problem};
    checking->total.torn++;
    if (checking->document != NULL)
        write_finding(checking->document, "torn", &finding);
    else
        print_finding(checking, "torn", &finding);
}

/* Whether a job could go on with it. A group that says nothing of a series is none. */
static void check_series_of(tool_checking *checking, const char *path)
{
    parapet_status status = parapet_series_repair(checking->store, path, PARAPET_BEYOND_REFUSE);
    char *problem = text_format("%s", parapet_error_message());
    tool_holding holding;
    bool is_series = holding_init(&holding, checking->store, path) == PARAPET_OK && holding.dimension != NULL &&
                     holding.steps >= 0;
    holding_free(&holding);
    if (status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_CORRUPT ||
        (status == PARAPET_ERR_NOT_FOUND && is_series))
        report_series(checking, path, problem);
    else if (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND && is_series) {
        report_error(path, "%s", problem);
        checking->failures++;
    }
    free(problem);
}

static void check_series(tool_checking *checking)
{
    const tool_tree *tree = &checking->tree;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->entries[i].kind == PARAPET_NODE_GROUP)
            check_series_of(checking, tree->entries[i].path);
}

/* ---- Appends ---- */

static void report_interrupted(tool_checking *checking, const char *path)
{
    char *visible = text_visible(path);
    if (checking->document != NULL)
        document_text(checking->document, NULL, path);
    else
        printf("missing: %s: an append was interrupted; parapet gc completes or undoes it\n", visible);
    free(visible);
    checking->total.missing++;
}

/* Elements that are stored, or were to be, and that nobody sees yet: all is well as long as somebody is at work. */
static void check_appends(tool_checking *checking)
{
    tool_appends appends;
    appends_find(&appends, checking->request, &checking->tree);
    for (size_t i = 0; i < appends.count; i++)
        if (appends.list[i].is_under_way)
            append_report(&appends.list[i]);
        else
            report_interrupted(checking, appends.list[i].path);
    appends_free(&appends);
}

/* A wrong path must not look like a sound store. */
static void refuse_nothing(tool_checking *checking)
{
    if (checking->arrays > 0 || checking->generations > 0)
        return;
    report_error(checking->request->operands[0], "there is no array here or below: nothing was checked");
    checking->failures++;
}

/* ---- The result ---- */

static int exit_code_of(const tool_checking *checking)
{
    bool is_strict = checking->request->flags & TOOL_STRICT;
    int exit_code = checking->worst_generation;
    if (checking->failures > 0)
        exit_code = worse_of(exit_code, TOOL_FAILED);
    if (checking->total.torn > 0)
        exit_code = worse_of(exit_code, TOOL_TORN);
    if (checking->total.missing > 0 || (is_strict && checking->absent > 0))
        exit_code = worse_of(exit_code, TOOL_MISSING);
    return worse_of(exit_code, checking->total.stray > 0 ? TOOL_STRAY : TOOL_OK);
}

static void print_summary(const tool_checking *checking)
{
    const parapet_check_summary *total = &checking->total;
    bool is_strict = checking->request->flags & TOOL_STRICT;
    char *size = text_of_size(total->stored_bytes);
    printf("%s: arrays %" PRId64 ", shards %" PRId64 " of %" PRId64 ", %s; torn %" PRId64 ", missing %" PRId64
           ", stray %" PRId64,
           name_of_exit_code(exit_code_of(checking)), checking->arrays, total->shards_present, total->shards_expected,
           size, total->torn, total->missing + (is_strict ? checking->absent : 0), total->stray);
    if (!is_strict && checking->absent > 0)
        printf(", never written %" PRId64, checking->absent);
    if (checking->generations > 0)
        printf("; generations that verify %" PRId64 " of %" PRId64, checking->generations_sound,
               checking->generations);
    if (checking->failures > 0)
        printf(", not checked %" PRId64, checking->failures);
    putchar('\n');
    free(size);
}

static void check_node(tool_checking *checking, const tool_node *node)
{
    if (node->array != NULL)
        check_array(checking, "");
    else
        check_tree(checking);
}

static void check_for_programs(tool_checking *checking, const tool_node *node)
{
    tool_document document = {.out = stdout};
    checking->document = &document;
    document_open_object(&document, NULL);
    document_text(&document, "path", checking->request->operands[0]);
    document_text(&document, "depth", name_of_depth(checking->depth));
    document_truth(&document, "strict", checking->request->flags & TOOL_STRICT);
    document_open_list(&document, "arrays");
    check_node(checking, node);
    document_close(&document);
    document_open_list(&document, "generations");
    check_generations(checking);
    document_close(&document);
    document_open_list(&document, "series");
    check_series(checking);
    document_close(&document);
    document_open_list(&document, "unfinished_appends");
    check_appends(checking);
    document_close(&document);
    refuse_nothing(checking);
    write_counts(&document, &checking->total, checking->absent);
    document_integer(&document, "failures", checking->failures);
    document_text(&document, "result", name_of_exit_code(exit_code_of(checking)));
    document_close(&document);
}

static void check_for_people(tool_checking *checking, const tool_node *node)
{
    check_node(checking, node);
    check_generations(checking);
    check_series(checking);
    check_appends(checking);
    refuse_nothing(checking);
    if (!(checking->request->flags & TOOL_QUIET))
        print_summary(checking);
}

static int run_checking(tool_checking *checking)
{
    tool_node node = {0};
    parapet_status status = node_open(&node, checking->store, "");
    if (status != PARAPET_OK) {
        report_status(status, checking->request->operands[0]);
        return TOOL_FAILED;
    }
    if (node.array == NULL)
        tree_init(&checking->tree, checking->store, checking->request->operands[0], true);
    if (checking->request->flags & TOOL_JSON)
        check_for_programs(checking, &node);
    else
        check_for_people(checking, &node);
    tree_free(&checking->tree);
    node_close(&node);
    return exit_code_of(checking);
}

static int run(const tool_request *request)
{
    tool_checking checking = {.request = request, .depth = PARAPET_CHECK_DATA};
    int exit_code;
    if ((request->flags & TOOL_INDEX) && (request->flags & TOOL_SURVEY)) {
        report_error("check", "--index and --survey exclude each other; give one");
        return TOOL_USAGE;
    }
    if ((request->flags & TOOL_RESTORE_TEST) && (request->flags & (TOOL_INDEX | TOOL_SURVEY | TOOL_STRICT))) {
        report_error("check",
                     "--restore-test reads everything; it cannot be combined with --survey, --index or --strict");
        return TOOL_USAGE;
    }
    if (request->flags & TOOL_RESTORE_TEST)
        return restore_test_run(request);
    if (request->flags & (TOOL_INDEX | TOOL_SURVEY))
        checking.depth = request->flags & TOOL_INDEX ? PARAPET_CHECK_INDEX : PARAPET_CHECK_SURVEY;
    checking.store = store_open(request, request->operands[0], PARAPET_READ);
    if (checking.store == NULL)
        return TOOL_FAILED;
    exit_code = run_checking(&checking);
    (void)parapet_store_close(&checking.store);
    return exit_code;
}

const tool_verb verb_check = {
    .name = "check",
    .operands = "PATH",
    .summary = "Reads all stored objects; lists torn, missing and stray ones.",
    .details = "For a group, checks every array below it, verifies every generation of a\n"
               "checkpoint, and compares the steps of a series with what its group states.\n"
               "--restore-test instead reads all arrays of the newest generation that verifies,\n"
               "completely, on all ranks.\n",
    .exit_codes = "0 sound, 1 could not be checked, 2 wrong usage, 3 missing, 4 torn,\n"
                  "5 only stray objects. If several apply: 1 before 4 before 3 before 5.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .parallel_flags = TOOL_RESTORE_TEST,
    .run = run,
};
