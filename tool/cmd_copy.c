#include "arguments.h"
#include "changes.h"
#include "copy_report.h"
#include "file_target.h"
#include "interrupt.h"
#include "memory.h"
#include "memory_limit.h"
#include "node.h"
#include "place.h"
#include "plan_text.h"
#include "progress.h"
#include "quantity.h"
#include "ranks.h"
#include "report.h"
#include "space.h"
#include "store.h"
#include "threads.h"
#include "verbs.h"

#include <parapet_plan.h>
#include <stdio.h>
#include <stdlib.h>

static const tool_flag flags[] = {
    {TOOL_NO_CHECKSUM, 0, "no-checksum", "no CRC-32C on chunks, if they or the codec change"},
    {TOOL_DRY_RUN, 0, "dry-run", "only print the plan: passes, files, memory and time"},
    {TOOL_RESUME, 0, "resume", "continue a copy that was interrupted"},
    {TOOL_VERIFY, 0, "verify", "read source and target again and compare them"},
    {TOOL_OVERWRITE, 0, "overwrite", "replace an existing array; discard a copy begun earlier"},
    {TOOL_NO_PROBE, 0, "no-probe", "predict the time for an ordinary disk, do not measure"},
    {TOOL_QUIET, 'q', "quiet", "print only errors"},
    {TOOL_TAKEOVER, 0, "takeover", "declare that the jobs on other machines are gone"},
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'c', "chunks", "--chunks LIST", "of the target: \"100,200\", \"time/1000,lat/0\" (0 is all)"},
    {'s', "shards", "--shards LIST", "of the target; \"none\" stores every chunk as a file"},
    {'a', "order", "--order LIST", "dimensions of the target: \"lat,lon,-time\", \"1,2,-0\""},
    {0, "codec", "--codec C", "none, zstd:3, gzip:6, blosc:lz4:5:shuffle, ..."},
    {0, "region", "--region LIST", "copy a part: \"time=0:100,lat=10:20\" or \"0:100,:\""},
    {0, "include", "--include LIST", "of a group: only these, \"t2m,*_bnds,ocean/salt\""},
    {0, "exclude", "--exclude LIST", "of a group: all but these, names or paths"},
    {0, "unit", "--unit SIZE", "limit on what a rank repeats after a kill; default 1 GiB"},
    {0, "temp", "--temp DIR", "for intermediate arrays; default: beside DST"},
    {0, "passes", "--passes N", "make exactly N passes; default: chosen"},
    {0, "reading", "--reading HOW", "what to read"},
    {0, "to", "--to FORMAT", "write a file: netcdf, npy, raw; default: as DST ends"},
    {0, "memory-target", NULL, "a size: the same as --max-mem"},
    {0, NULL, NULL, NULL},
};

static bool parse(tool_copying *copying)
{
    const tool_request *request = copying->request;
    parapet_copy_request *copy = &copying->copy;
    double unit = 0;
    copy->overwrite = (request->flags & TOOL_OVERWRITE) != 0;
    copy->resume = (request->flags & TOOL_RESUME) != 0;
    copy->verify = (request->flags & TOOL_VERIFY) != 0;
    copy->no_probe = (request->flags & TOOL_NO_PROBE) != 0;
    copy->include = request_value(request, "include");
    copy->exclude = request_value(request, "exclude");
    changes_init(&copy->changes, request);
    if (!size_parse(request, "unit", &unit) || !integer_parse(request, "passes", 1, &copy->passes) ||
        !reading_parse(request, &copy->reading))
        return false;
    copy->unit_bytes = (int64_t)unit;
    return true;
}

static bool open_source(tool_copying *copying)
{
    tool_request with_limit = *copying->request;
    parapet_status status;
    with_limit.options = copying->options;
    copying->copy.source = store_open(&with_limit, copying->source.store, PARAPET_READ);
    if (copying->copy.source == NULL)
        return false;
    copying->copy.source_path = copying->source.path;
    status = node_open(&copying->node, copying->copy.source, copying->source.path);
    if (status != PARAPET_OK)
        report_status(status, copying->request->operands[0]);
    return status == PARAPET_OK;
}

static bool open_target(tool_copying *copying, tool_progress *progress)
{
    const tool_request *request = copying->request;
    const char *directory = request_value(request, "temp");
    parapet_store_options options = copying->options;
    options.progress = progress_report;
    options.progress_context = progress;
    copying->copy.target = place_open(&copying->target, request, &options, copying->node.array != NULL);
    copying->copy.target_path = copying->target.path;
    if (copying->copy.target == NULL || directory == NULL)
        return copying->copy.target != NULL;
    if (!place_init_temporary(&copying->temporary, request, directory, request->operands[1]))
        return false;
    copying->copy.temporary = place_open(&copying->temporary, request, &copying->options, false);
    return copying->copy.temporary != NULL;
}

static bool explain(tool_copying *copying)
{
    const tool_request *request = copying->request;
    bool as_json = request->flags & TOOL_JSON;
    char *text = NULL;
    parapet_status status = parapet_copy_request_plan_print(&copying->copy, as_json, &text, NULL);
    if (status != PARAPET_OK)
        report_status(status, "copy");
    else if (request->rank == 0)
        plan_print(request, text, copying->node.group != NULL);
    (void)fflush(stdout);
    parapet_free(text);
    return status == PARAPET_OK;
}

static int exit_code_of(const tool_copying *copying, parapet_status status)
{
    if (status == PARAPET_OK)
        return TOOL_OK;
    if (status == PARAPET_ERR_CANCELLED && copying->signal != 0)
        return TOOL_SIGNALLED + copying->signal;
    /* Damage that is met while copying is a failure; what has been verified, and still is wrong, differs. */
    if (status == PARAPET_ERR_CORRUPT && copying->result.verified_bytes > 0)
        return TOOL_DIFFERS;
    return TOOL_FAILED;
}

static char *words_of_interruption(const tool_copying *copying)
{
    char *command = copying_resume_command(copying);
    char *words = text_format("parapet: copy: interrupted; resume with:\n  %s\n", command);
    free(command);
    return words;
}

static void report(const tool_copying *copying, parapet_status status)
{
    const tool_request *request = copying->request;
    if (request->rank != 0)
        return;
    if (request->flags & TOOL_JSON)
        copying_print_document(copying, status);
    else if (status == PARAPET_OK && !(request->flags & TOOL_QUIET))
        copying_print_result(copying);
    if (status == PARAPET_ERR_CANCELLED && copying->signal != 0) {
        char *words = words_of_interruption(copying);
        (void)fflush(stdout);
        (void)fputs(words, stderr);
        free(words);
    } else if (status != PARAPET_OK) {
        report_failure("copy");
    }
}

static int copy(tool_copying *copying, tool_progress *progress)
{
    char *words = words_of_interruption(copying);
    parapet_status status;
    interrupt_watch(copying->request, words);
    free(words);
    status = parapet_copy(&copying->copy, &copying->result);
    interrupt_end_orderly();
    progress_end(progress);
    /* The signal may have reached another rank only. */
    copying->signal = (int)ranks_most(copying->request, interrupt_signal());
    report(copying, status);
    return exit_code_of(copying, status);
}

static int run_opened(tool_copying *copying, tool_progress *progress)
{
    unsigned asked = copying->request->flags;
    bool is_talkative = copying->request->rank == 0 && !(asked & (TOOL_JSON | TOOL_QUIET));
    if (is_talkative)
        copying_print_header(copying);
    if (!space_check(copying))
        return TOOL_FAILED;
    if (asked & TOOL_DRY_RUN)
        return explain(copying) ? TOOL_OK : TOOL_FAILED;
    if (asked & TOOL_VERBOSE && !(asked & TOOL_JSON) && !explain(copying))
        return TOOL_FAILED;
    return copy(copying, progress);
}

static void close_all(tool_copying *copying)
{
    node_close(&copying->node);
    (void)parapet_store_close(&copying->copy.source);
    (void)parapet_store_close(&copying->copy.temporary);
    (void)parapet_store_close(&copying->copy.target);
    place_remove_bare(&copying->temporary, copying->request);
    free(copying->memory_origin);
}

static int run(const tool_request *request)
{
    tool_copying copying = {.request = request, .options = request->options};
    tool_progress progress;
    int exit_code = TOOL_USAGE;
    if (file_target_is(request))
        return file_target_write(request);
    if (!parse(&copying) || !memory_limit_choose(request, &copying.options, &copying.memory_origin) ||
        !place_init_source(&copying.source, request, request->operands[0]) ||
        !place_init(&copying.target, request, request->operands[0], request->operands[1]))
        goto done;
    copying.copy.memory_bytes = copying.options.memory_bytes;
    (void)threads_choose(request, &copying.options);
    progress_init(&progress, request->verb->name, request->rank == 0 && !(request->flags & TOOL_QUIET));
    exit_code = TOOL_FAILED;
    if (open_source(&copying) && open_target(&copying, &progress))
        exit_code = run_opened(&copying, &progress);
done:
    close_all(&copying);
    if (exit_code == TOOL_FAILED || request->flags & TOOL_DRY_RUN)
        place_remove_bare(&copying.target, request);
    return exit_code;
}

const tool_verb verb_copy = {
    .name = "copy",
    .operands = "SRC DST",
    .summary = "Copies an array or a group; can change chunks, codec and order.",
    .details = "Can also change shards and copy a region. The array may be far larger than\n"
               "memory. DST is a store or a path in one, such as run.zarr or run.zarr/density,\n"
               "and is created if it does not exist. If DST ends in .nc or .npy, or with --to,\n"
               "it is a file of that format; what that cannot say is listed first. Example:\n"
               "  mpiexec -n 8 parapet copy -c time/8760,lat/72,lon/144 --max-mem 1GiB \\\n"
               "      era5.zarr/t2m out.zarr/t2m\n"
               "--max-mem applies to each rank; by default, the ranks of a node share a quarter\n"
               "of the memory that is free on the machine or that the job may use.\n"
               "After SIGINT or SIGTERM, --resume continues the copy, on any number of ranks.\n",
    .exit_codes = "0 copied, 1 failed, 2 wrong usage, 3 --verify found differences,\n"
                  "130 and 143 interrupted by SIGINT and SIGTERM.",
    .flags = flags,
    .values = values,
    .operands_min = 2,
    .operands_max = 2,
    .is_parallel = true,
    .run = run,
};
