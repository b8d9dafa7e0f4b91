#include "file_target.h"
#include "arguments.h"
#include "base/clock.h"
#include "display.h"
#include "document.h"
#include "interrupt.h"
#include "memory.h"
#include "memory_limit.h"
#include "place.h"
#include "progress.h"
#include "quantity.h"
#include "ranks.h"
#include "report.h"
#include "store.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes > end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A path in a store, or a directory, may be named like a file. */
bool file_target_is(const tool_request *request)
{
    const char *target = request->operands[1];
    bool is_file = request_value(request, "to") != NULL;
    if (request->rank == 0 && !is_file)
        is_file = (ends_with(target, ".nc") || ends_with(target, ".npy")) && !is_directory(target) &&
                  !place_is_in_hierarchy(target);
    ranks_share(request, &is_file, sizeof is_file);
    return is_file;
}

/* A flat file has none of what these say. */
static bool check_options(const tool_request *request)
{
    const char *to = request_value(request, "to");
    static const char *const values[] = {"chunks", "shards", "order",  "codec",  "region",
                                         "unit",   "temp",   "passes", "reading"};
    size_t i;
    for (i = 0; i < sizeof values / sizeof values[0]; i++)
        if (request_value(request, values[i]) != NULL) {
            report_error(request->operands[1], "--%s is for Zarr; copy to Zarr first, and that to the file",
                         values[i]);
            return false;
        }
    if (to != NULL && strcmp(to, "netcdf") != 0 && strcmp(to, "npy") != 0 && strcmp(to, "raw") != 0)
        return value_refuse("to", to, "netcdf, npy or raw");
    if (request->flags & TOOL_RESUME)
        report_error(request->operands[1], "a file is written in one go; --resume is for Zarr");
    return !(request->flags & TOOL_RESUME);
}

/* What is in a store is written by the store alone. */
static bool check_place(const tool_request *request)
{
    const char *target = request->operands[1];
    bool is_fine = true;
    if (request->rank == 0) {
        is_fine = !place_refuse_overlap(request->operands[0], target);
        if (is_fine && place_is_in_hierarchy(target)) {
            report_error(target, "it is inside a Zarr store; choose another target, or leave out --to");
            is_fine = false;
        }
    }
    ranks_share(request, &is_fine, sizeof is_fine);
    return is_fine;
}

static void print_left_out(const tool_request *request, const char *lines)
{
    char *target = text_visible(request->operands[1]);
    if (lines[0] != '\0')
        printf("%s cannot say, and will not have:\n", target);
    while (lines[0] != '\0') {
        char *line = text_format("%.*s", (int)strcspn(lines, "\n"), lines), *visible = text_visible(line);
        printf("  %s\n", visible);
        lines += strcspn(lines, "\n");
        lines += lines[0] == '\n';
        free(visible);
        free(line);
    }
    (void)fflush(stdout);
    free(target);
}

static void print_document(const tool_request *request, const char *lines, const char *result, double seconds)
{
    tool_document document = {.out = stdout};
    document_open_object(&document, NULL);
    document_text(&document, "source", request->operands[0]);
    document_text(&document, "target", request->operands[1]);
    document_integer(&document, "ranks", request->rank_count);
    document_truth(&document, "dry_run", request->flags & TOOL_DRY_RUN);
    document_open_list(&document, "left_out");
    while (lines[0] != '\0') {
        char *line = text_format("%.*s", (int)strcspn(lines, "\n"), lines);
        document_text(&document, NULL, line);
        lines += strcspn(lines, "\n");
        lines += lines[0] == '\n';
        free(line);
    }
    document_close(&document);
    document_number(&document, "seconds", seconds);
    document_text(&document, "result", result);
    document_close(&document);
}

static void print_result(const tool_request *request, double seconds)
{
    char *target = text_visible(request->operands[1]), *time = text_of_seconds(seconds), *size;
    struct stat status;
    size = text_of_size(stat(request->operands[1], &status) == 0 ? (int64_t)status.st_size : 0);
    printf("%s: %s in %s%s\n", target, size, time, request->flags & TOOL_VERIFY ? ", verified" : "");
    free(target);
    free(time);
    free(size);
}

/* One run; whoever opens the source tells it of progress. */
typedef struct writing {
    const tool_request *request;
    parapet_file_request file;
    tool_progress progress;
    int signal; /* which ended it; 0: none */
} writing;

static char *words_of_interruption(const tool_request *request)
{
    return text_format("parapet: copy: interrupted; %s was not written\n", request->operands[1]);
}

static void say_interrupted(const tool_request *request)
{
    char *words = words_of_interruption(request);
    (void)fflush(stdout);
    (void)fputs(words, stderr);
    free(words);
}

static parapet_status write_interruptibly(writing *work)
{
    char *words = words_of_interruption(work->request);
    parapet_status status;
    interrupt_watch(work->request, words);
    free(words);
    status = parapet_file_write(&work->file, NULL);
    interrupt_end_orderly();
    progress_end(&work->progress);
    /* The signal may have reached another rank only. */
    work->signal = (int)ranks_most(work->request, interrupt_signal());
    return status;
}

static bool is_interrupted(const writing *work, parapet_status status)
{
    return status == PARAPET_ERR_CANCELLED && work->signal != 0;
}

/* Of what has failed otherwise there is a document of its own. */
static void print_end(const writing *work, parapet_status status, const char *left_out, double seconds)
{
    const tool_request *request = work->request;
    bool is_dry = request->flags & TOOL_DRY_RUN;
    if (request->rank != 0 || (status != PARAPET_OK && !is_interrupted(work, status)))
        return;
    if (request->flags & TOOL_JSON)
        print_document(request, left_out,
                       status != PARAPET_OK ? "interrupted"
                       : is_dry             ? "planned"
                                            : "copied",
                       seconds);
    else if (status == PARAPET_OK && !is_dry && !(request->flags & TOOL_QUIET))
        print_result(request, seconds);
}

/* What the file cannot say is told before anything is written. */
static parapet_status write_file(writing *work)
{
    const tool_request *request = work->request;
    bool is_talkative = request->rank == 0 && !(request->flags & (TOOL_JSON | TOOL_QUIET));
    double begin = pp_clock_seconds();
    char *left_out = NULL;
    parapet_status status;
    work->file.dry_run = 1;
    if ((status = parapet_file_write(&work->file, &left_out)) == PARAPET_OK && is_talkative)
        print_left_out(request, left_out);
    work->file.dry_run = 0;
    if (status == PARAPET_OK && !(request->flags & TOOL_DRY_RUN))
        status = write_interruptibly(work);
    print_end(work, status, left_out, pp_clock_seconds() - begin);
    parapet_free(left_out);
    return status;
}

static parapet_store *open_source(writing *work, tool_place *source)
{
    tool_request with_limit = *work->request;
    char *origin = NULL;
    parapet_store *store = NULL;
    if (memory_limit_choose(work->request, &with_limit.options, &origin) &&
        place_init_source(source, work->request, work->request->operands[0])) {
        (void)threads_choose(work->request, &with_limit.options);
        with_limit.options.progress = progress_report;
        with_limit.options.progress_context = &work->progress;
        store = store_open(&with_limit, source->store, PARAPET_READ);
    }
    free(origin);
    return store;
}

static int exit_code_of(const writing *work, parapet_status status)
{
    if (status == PARAPET_OK)
        return TOOL_OK;
    if (is_interrupted(work, status))
        return TOOL_SIGNALLED + work->signal;
    return status == PARAPET_ERR_CORRUPT && work->file.verify ? TOOL_DIFFERS : TOOL_FAILED;
}

static void report(const writing *work, parapet_status status)
{
    if (!is_interrupted(work, status) && status != PARAPET_OK)
        report_status(status, work->request->operands[1]);
    else if (status != PARAPET_OK && work->request->rank == 0)
        say_interrupted(work->request);
}

/* name: with the format before it, if that was given. */
static int write_named(const tool_request *request, const char *name)
{
    writing work = {.request = request,
                    .file = {.file = name,
                             .include = request_value(request, "include"),
                             .exclude = request_value(request, "exclude"),
                             .overwrite = (request->flags & TOOL_OVERWRITE) != 0,
                             .verify = (request->flags & TOOL_VERIFY) != 0}};
    tool_place source;
    parapet_status status = PARAPET_ERR_ARGUMENT;
    progress_init(&work.progress, request->verb->name, request->rank == 0 && !(request->flags & TOOL_QUIET));
    if ((work.file.source = open_source(&work, &source)) != NULL) {
        work.file.source_path = source.path;
        status = write_file(&work);
        report(&work, status);
    }
    (void)parapet_store_close(&work.file.source);
    return exit_code_of(&work, status);
}

int file_target_write(const tool_request *request)
{
    const char *to = request_value(request, "to");
    char *name;
    int exit_code;
    if (!check_options(request) || !check_place(request))
        return TOOL_USAGE;
    name = text_format("%s%s%s", to != NULL ? to : "", to != NULL ? ":" : "", request->operands[1]);
    exit_code = write_named(request, name);
    free(name);
    return exit_code;
}
