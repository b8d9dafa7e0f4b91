/* cmd_append.c - joins files and stores along a dimension: the first is copied, if there is no target yet, and each
 * of the others is appended whole or not at all. */
#include "arguments.h"
#include "display.h"
#include "document.h"
#include "interrupt.h"
#include "memory.h"
#include "memory_limit.h"
#include "node.h"
#include "place.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "store.h"
#include "threads.h"
#include "unfinished.h"
#include "verbs.h"

#include <inttypes.h>
#include <limits.h>
#include <parapet_plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const tool_flag flags[] = {
    {TOOL_DRY_RUN, 0, "dry-run", "only check all sources and say what would be done"},
    {TOOL_NO_CHECKSUM, 0, "no-checksum", "no CRC-32C on chunks, if the first SRC is copied"},
    {TOOL_QUIET, 'q', "quiet", "print only errors"},
    {TOOL_TAKEOVER, 0, "takeover", "declare that the jobs on other machines are gone"},
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'d', "along", "--along DIM", "the dimension; default: time, or else valid_time"},
    {'c', "chunks", "--chunks LIST", "if the first SRC is copied: as for copy"},
    {'s', "shards", "--shards LIST", "the same"},
    {0, "codec", "--codec C", "the same"},
    {0, "include", "--include LIST", "only these arrays and groups, \"t2m,*_bnds\""},
    {0, "exclude", "--exclude LIST", "all but these"},
    {0, NULL, NULL, NULL},
};

/* What was done with one source. */
typedef struct tool_appended {
    const char *source;
    const char *words; /* "copied", "appended", "already there"; of a dry run "would be ..." */
    int64_t before, after;
    int64_t arrays, bytes; /* -1: not known */
    parapet_repair repaired;
} tool_appended;

typedef struct tool_appending {
    const tool_request *request;
    const char *target;
    int source_count;
    const char *along;
    tool_place place; /* of the target */
    bool is_begun;    /* a copy to the target was not completed */
    bool is_made;     /* there is a target */
    parapet_store_options options;
    char *memory_origin;
    parapet_store *store; /* the target */
    tool_progress progress;
    tool_appended *done;
    size_t done_count;
    int signal;
} tool_appending;

/* ---- What is told ---- */

static bool is_talkative(const tool_appending *appending)
{
    const tool_request *request = appending->request;
    return request->rank == 0 && !(request->flags & (TOOL_QUIET | TOOL_JSON));
}

static void print_appended(const tool_appending *appending, const tool_appended *one)
{
    char *source = text_visible(one->source), *along = text_visible(appending->along);
    char *size = text_of_size(one->bytes);
    if (one->after == one->before)
        printf("%s: %s in %s, %s %" PRId64 "\n", source, one->words, appending->target, along, one->after);
    else if (one->arrays > 0)
        printf("%s: %s, %s %" PRId64 " -> %" PRId64 "; %" PRId64 " array%s, %s\n", source, one->words, along,
               one->before, one->after, one->arrays, one->arrays == 1 ? "" : "s", size);
    else
        printf("%s: %s\n", source, one->words);
    (void)fflush(stdout);
    free(source);
    free(along);
    free(size);
}

static void note(tool_appending *appending, const tool_appended *one)
{
    appending->done = memory_grow(appending->done, appending->done_count, sizeof *appending->done);
    appending->done[appending->done_count++] = *one;
    if (is_talkative(appending))
        print_appended(appending, one);
}

static void write_number(tool_document *document, const char *key, int64_t number)
{
    if (number < 0)
        document_null(document, key);
    else
        document_integer(document, key, number);
}

/* Also when a source has failed: those before it are in the target. */
static void print_document(const tool_appending *appending)
{
    static const char *const repairs[] = {NULL, "completed", "undone"};
    tool_document document = {.out = stdout};
    document_open_object(&document, NULL);
    document_text(&document, "target", appending->target);
    document_text(&document, "along", appending->along);
    document_integer(&document, "ranks", appending->request->rank_count);
    document_open_list(&document, "sources");
    for (size_t i = 0; i < appending->done_count; i++) {
        const tool_appended *one = &appending->done[i];
        document_open_object(&document, NULL);
        document_text(&document, "source", one->source);
        document_text(&document, "result", one->words);
        document_integer(&document, "before", one->before);
        document_integer(&document, "after", one->after);
        write_number(&document, "arrays", one->arrays);
        write_number(&document, "bytes", one->bytes);
        document_text(&document, "repaired", repairs[one->repaired]);
        document_close(&document);
    }
    document_close(&document);
    report_add_error(&document);
    document_close(&document);
}

static void tell_repair(const tool_appending *appending, parapet_repair repaired)
{
    char *target = text_visible(appending->target);
    if (appending->request->rank == 0 && repaired == PARAPET_REPAIR_COMPLETED)
        (void)fprintf(stderr, "parapet: %s: an append that was interrupted is complete now\n", target);
    if (appending->request->rank == 0 && repaired == PARAPET_REPAIR_UNDONE)
        (void)fprintf(stderr, "parapet: %s: what an interrupted append had left is removed\n", target);
    free(target);
}

/* ---- The copy of the first source, if there is no target yet ---- */

typedef struct tool_words {
    char **words;
    size_t count;
} tool_words;

static void add_word(tool_words *list, const char *word)
{
    list->words = memory_grow(list->words, list->count, sizeof *list->words);
    list->words[list->count++] = text_format("%s", word);
}

static void add_option(tool_words *list, const char *name, const char *value)
{
    char *flag = text_format("--%s", name);
    if (value != NULL) {
        add_word(list, flag);
        add_word(list, value);
    }
    free(flag);
}

/* The command line of a copy. */
static void list_words(const tool_appending *appending, tool_words *list)
{
    static const char *const names[] = {"chunks", "shards", "codec", "include", "exclude"};
    unsigned asked = appending->request->flags;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_option(list, names[i], request_value(appending->request, names[i]));
    if (asked & TOOL_NO_CHECKSUM)
        add_word(list, "--no-checksum");
    if (asked & (TOOL_QUIET | TOOL_JSON))
        add_word(list, "--quiet");
    if (asked & TOOL_VERBOSE)
        add_word(list, "--verbose");
    if (appending->is_begun)
        add_word(list, "--resume");
    add_word(list, "--");
    add_word(list, appending->request->operands[0]);
    add_word(list, appending->target);
}

/* [collective] */
static int run_copy(tool_appending *appending)
{
    tool_words list = {0};
    tool_request copy = *appending->request;
    int exit_code = TOOL_USAGE;
    list_words(appending, &list);
    copy.verb = &verb_copy;
    copy.words = list.words;
    copy.word_count = (int)list.count;
    copy.flags = 0;
    copy.operand_count = 0;
    memset(copy.values, 0, sizeof copy.values);
    if (arguments_parse(&copy)) {
        copy.options = appending->request->options;
        exit_code = verb_copy.run(&copy);
    }
    arguments_clear(&copy);
    for (size_t i = 0; i < list.count; i++)
        free(list.words[i]);
    free(list.words);
    return exit_code;
}

/* ---- Sources ---- */

/* One source that is open. */
typedef struct tool_source {
    tool_place place;
    parapet_store *store;
} tool_source;

/* [collective] Source and target have half of the memory each. */
static bool open_source(const tool_appending *appending, tool_source *source, const char *operand)
{
    tool_request with_limit = *appending->request;
    with_limit.options = appending->options;
    source->store = NULL;
    if (place_init_source(&source->place, appending->request, operand))
        source->store = store_open(&with_limit, source->place.store, PARAPET_READ);
    return source->store != NULL;
}

/* [collective] The length of an array of that name, which has one dimension; -1: there is none. */
static int64_t length_of(const tool_source *source, const char *name)
{
    char *path = text_join_path(source->place.path, name);
    tool_node node;
    bool is_array = node_open(&node, source->store, path) == PARAPET_OK && node.array != NULL;
    int64_t length = is_array && node.info.ndim == 1 ? node.info.shape[0] : -1;
    node_close(&node);
    free(path);
    return length;
}

static bool has_array(const tool_source *source, const char *name)
{
    return length_of(source, name) >= 0;
}

static const char *choose_dimension(const tool_appending *appending, const tool_source *source)
{
    const char *given = request_value(appending->request, "along");
    if (given != NULL)
        return given;
    return has_array(source, "time") || !has_array(source, "valid_time") ? "time" : "valid_time";
}

static parapet_copy_request request_of(const tool_appending *appending, const tool_source *source)
{
    return (parapet_copy_request){.source = source->store,
                                  .source_path = source->place.path,
                                  .target = appending->store,
                                  .target_path = appending->place.path,
                                  .include = request_value(appending->request, "include"),
                                  .exclude = request_value(appending->request, "exclude"),
                                  .append = appending->along};
}

/* [collective] Whether anything could be appended to a source: the library compares it with itself. */
static bool is_appendable(const tool_appending *appending, const tool_source *source, const char *operand)
{
    parapet_copy_request alone = request_of(appending, source);
    char *text = NULL;
    parapet_status status;
    alone.target = source->store;
    alone.target_path = source->place.path;
    status = parapet_copy_request_plan_print(&alone, 1, &text, NULL);
    parapet_free(text);
    if (status != PARAPET_OK)
        report_status(status, operand);
    return status == PARAPET_OK;
}

/* [collective] Chooses the dimension; a source that nothing could be appended to is refused, before it is copied. */
static bool look_at_first(tool_appending *appending, const tool_source *source, tool_appended *one)
{
    appending->along = choose_dimension(appending, source);
    one->after = length_of(source, appending->along);
    if (one->after < 0)
        report_error(one->source,
                     "it has no coordinate \"%s\", an array of that dimension alone; --along names the dimension",
                     appending->along);
    return one->after >= 0 && is_appendable(appending, source, one->source);
}

/* The coordinate is read whole whenever a store is opened, and grows by short files: it gets few chunks. */
enum { COORDINATE_CHUNK = 4096 };

/* [collective] */
static parapet_status widen_chunks(const tool_appending *appending, const tool_source *source)
{
    char *from = text_join_path(source->place.path, appending->along);
    char *to = text_join_path(appending->place.path, appending->along);
    char *chunks = text_format("%d", COORDINATE_CHUNK);
    parapet_copy_request copy = {.source = source->store,
                                 .source_path = from,
                                 .target = appending->store,
                                 .target_path = to,
                                 .overwrite = 1,
                                 .changes = {.chunks = chunks,
                                             .shards = "none",
                                             .codec = request_value(appending->request, "codec"),
                                             .no_checksum = (appending->request->flags & TOOL_NO_CHECKSUM) != 0}};
    parapet_status status = parapet_copy(&copy, NULL);
    free(from);
    free(to);
    free(chunks);
    return status;
}

/* [collective] When the first source was copied. */
static bool widen_coordinate(const tool_appending *appending, const tool_source *source)
{
    char *path = text_join_path(appending->place.path, appending->along);
    tool_node node;
    parapet_status status = node_open(&node, appending->store, path);
    bool is_narrow =
        status == PARAPET_OK && node.array != NULL && node.info.ndim == 1 && node.info.chunks[0] < COORDINATE_CHUNK;
    node_close(&node);
    free(path);
    if (is_narrow && (status = widen_chunks(appending, source)) != PARAPET_OK)
        report_status(status, appending->target);
    return status == PARAPET_OK;
}

/* [collective] */
static bool open_target(tool_appending *appending)
{
    parapet_store_options options = appending->options;
    options.progress = progress_report;
    options.progress_context = &appending->progress;
    if (appending->store == NULL &&
        place_init(&appending->place, appending->request, appending->request->operands[0], appending->target))
        appending->store = place_open(&appending->place, appending->request, &options, false);
    return appending->store != NULL;
}

/* [collective] */
static int copy_first(tool_appending *appending)
{
    tool_appended one = {.source = appending->request->operands[0], .words = "copied", .arrays = -1, .bytes = -1};
    tool_source source;
    int exit_code = TOOL_FAILED;
    bool is_fine;
    if (!open_source(appending, &source, one.source))
        return TOOL_FAILED;
    is_fine = look_at_first(appending, &source, &one);
    if (is_fine && (exit_code = run_copy(appending)) == TOOL_OK) {
        if (open_target(appending) && widen_coordinate(appending, &source))
            note(appending, &one);
        else
            exit_code = TOOL_FAILED;
    }
    (void)parapet_store_close(&source.store);
    return exit_code;
}

/* [collective] */
static parapet_status append_source(tool_appending *appending, const tool_source *source, const char *operand)
{
    parapet_copy_request copy = request_of(appending, source);
    parapet_copy_result result = {0};
    parapet_status status;
    progress_init(&appending->progress, appending->request->verb->name, is_talkative(appending));
    status = parapet_copy(&copy, &result);
    progress_end(&appending->progress);
    tell_repair(appending, result.repaired);
    if (status == PARAPET_OK)
        note(appending,
             &(tool_appended){.source = operand,
                              .words = result.extent_after > result.extent_before ? "appended" : "already there",
                              .before = result.extent_before,
                              .after = result.extent_after,
                              .arrays = result.arrays,
                              .bytes = result.array_bytes,
                              .repaired = result.repaired});
    return status;
}

/* [collective] */
static int append_one(tool_appending *appending, const char *operand)
{
    tool_source source;
    parapet_status status;
    if (!open_source(appending, &source, operand))
        return TOOL_FAILED;
    appending->along = choose_dimension(appending, &source);
    status = append_source(appending, &source, operand);
    appending->signal = (int)ranks_most(appending->request, interrupt_signal());
    if (status == PARAPET_ERR_CANCELLED && appending->signal != 0)
        report_error("append", "interrupted; nothing of %s was appended; repeat the command to go on", operand);
    else if (status != PARAPET_OK)
        report_status(status, operand);
    (void)parapet_store_close(&source.store);
    return status == PARAPET_OK                                        ? TOOL_OK
           : status == PARAPET_ERR_CANCELLED && appending->signal != 0 ? TOOL_SIGNALLED + appending->signal
                                                                       : TOOL_FAILED;
}

/* [collective] A signal may have come between two sources. */
static int append_unless_ended(tool_appending *appending, const char *operand)
{
    appending->signal = (int)ranks_most(appending->request, interrupt_signal());
    return appending->signal == 0 ? append_one(appending, operand) : TOOL_SIGNALLED + appending->signal;
}

/* [collective] */
static int append_all(tool_appending *appending)
{
    int exit_code = TOOL_OK, first = 0;
    if (!appending->is_made) {
        if ((exit_code = copy_first(appending)) != TOOL_OK)
            return exit_code;
        first = 1;
    }
    interrupt_watch(appending->request, "parapet: append: interrupted; repeat the command to go on\n");
    for (int i = first; i < appending->source_count && exit_code == TOOL_OK; i++)
        exit_code =
            open_target(appending) ? append_unless_ended(appending, appending->request->operands[i]) : TOOL_FAILED;
    interrupt_end_orderly();
    return exit_code;
}

/* ---- A dry run ---- */

/* A number of a plan as a program gets it. */
static int64_t planned_number(const char *json, const char *key)
{
    char *quoted = text_format("\"%s\": ", key);
    const char *found = strstr(json, quoted);
    int64_t number = found != NULL ? strtoll(found + strlen(quoted), NULL, 10) : 0;
    free(quoted);
    return number;
}

/* [collective] *extent: of the target, when all sources before this one have been appended. */
static parapet_status plan_source(tool_appending *appending, const tool_source *source, const char *operand,
                                  int64_t *extent)
{
    parapet_copy_request copy = request_of(appending, source);
    char *text = NULL;
    parapet_status status = parapet_copy_request_plan_print(&copy, 1, &text, NULL);
    if (status == PARAPET_OK) {
        int64_t before = planned_number(text, "before"), added = planned_number(text, "after") - before;
        if (*extent < 0)
            *extent = before;
        note(appending, &(tool_appended){.source = operand,
                                         .words = added > 0 ? "would be appended" : "already there",
                                         .before = *extent,
                                         .after = *extent + added,
                                         .arrays = planned_number(text, "arrays"),
                                         .bytes = planned_number(text, "bytes")});
        *extent += added;
    }
    parapet_free(text);
    return status;
}

/* [collective] */
static parapet_status plan_first(tool_appending *appending, const tool_source *source, const char *operand)
{
    tool_appended one = {.source = operand, .words = "would be copied", .arrays = -1, .bytes = -1};
    if (!look_at_first(appending, source, &one))
        return PARAPET_ERR_ARGUMENT;
    note(appending, &one);
    return PARAPET_OK;
}

/* [collective] The next one is compared with a source that would be appended, instead of the target. */
static void stand_for_target(tool_appending *appending, tool_source *source)
{
    (void)parapet_store_close(&appending->store);
    appending->store = source->store;
    appending->place = source->place;
    source->store = NULL;
}

/* [collective] */
static bool plan_one(tool_appending *appending, const char *operand, int64_t *extent)
{
    size_t known = appending->done_count;
    parapet_status status;
    tool_source source;
    if (!open_source(appending, &source, operand))
        return false;
    appending->along = choose_dimension(appending, &source);
    if (appending->store == NULL)
        status = plan_first(appending, &source, operand);
    else if ((status = plan_source(appending, &source, operand, extent)) != PARAPET_OK)
        report_status(status, operand);
    if (status == PARAPET_OK && appending->done[known].after != appending->done[known].before)
        stand_for_target(appending, &source);
    (void)parapet_store_close(&source.store);
    return status == PARAPET_OK;
}

/* [collective] Each source is compared with the one that would be appended before it, and the first with the target.
 */
static int plan_all(tool_appending *appending)
{
    const tool_request *request = appending->request;
    int64_t extent = -1;
    bool is_fine = true;
    if (appending->is_made)
        is_fine = (appending->store = store_open(request, appending->place.store, PARAPET_UPDATE)) != NULL;
    for (int i = 0; i < appending->source_count && is_fine; i++)
        is_fine = plan_one(appending, request->operands[i], &extent);
    return is_fine ? TOOL_OK : TOOL_FAILED;
}

/* ---- Together ---- */

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* [collective] What is there, as rank 0 sees it. */
static bool look_at_target(tool_appending *appending)
{
    const tool_request *request = appending->request;
    bool is_fine = true;
    if (request->rank == 0 && is_file(appending->target)) {
        report_error(appending->target,
                     "it is a file; the last operand is the Zarr store that others are appended to");
        is_fine = false;
    }
    for (int i = 0; i < appending->source_count && request->rank == 0 && is_fine; i++)
        is_fine = !place_refuse_overlap(request->operands[i], appending->target);
    ranks_share(request, &is_fine, sizeof is_fine);
    if (!is_fine || !place_init(&appending->place, request, request->operands[0], appending->target))
        return false;
    appending->is_begun = unfinished_is_here(appending->target);
    ranks_share(request, &appending->is_begun, sizeof appending->is_begun);
    appending->is_made = appending->place.exists && appending->place.is_node && !appending->is_begun;
    return true;
}

static int run(const tool_request *request)
{
    tool_appending appending = {.request = request,
                                .target = request->operands[request->operand_count - 1],
                                .source_count = request->operand_count - 1,
                                .options = request->options};
    int exit_code = TOOL_USAGE;
    if (look_at_target(&appending) && memory_limit_choose(request, &appending.options, &appending.memory_origin)) {
        (void)threads_choose(request, &appending.options);
        appending.options.memory_bytes /= 2;
        exit_code = request->flags & TOOL_DRY_RUN ? plan_all(&appending) : append_all(&appending);
        if (request->rank == 0 && request->flags & TOOL_JSON)
            print_document(&appending);
    }
    (void)parapet_store_close(&appending.store);
    free(appending.memory_origin);
    free(appending.done);
    return exit_code;
}

const tool_verb verb_append = {
    .name = "append",
    .operands = "SRC... DST",
    .summary = "Joins files or stores along a dimension, such as time.",
    .details = "Every array of the group DST that has the dimension, which must be its first,\n"
               "gets the elements of the array of the same path in each SRC, one SRC after the\n"
               "other. If there is no DST, the first SRC is copied, which decides about chunks\n"
               "and codec. A SRC that is already there is left out: the command can be repeated\n"
               "after it was ended, and with more files. A SRC is appended whole or not at all,\n"
               "and refused if its numbers mean something else. Example:\n"
               "  mpiexec -n 4 parapet append -c time/48,latitude/0,longitude/0 \\\n"
               "      era5-2020-*.nc era5.zarr\n",
    .exit_codes = "0 all are there, 1 failed, 2 wrong usage,\n"
                  "130 and 143 interrupted by SIGINT and SIGTERM.",
    .flags = flags,
    .values = values,
    .operands_min = 2,
    .operands_max = INT_MAX,
    .is_parallel = true,
    .run = run,
};
