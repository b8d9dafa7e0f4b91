#include "arguments.h"
#include "changes.h"
#include "memory.h"
#include "node.h"
#include "plan_text.h"
#include "quantity.h"
#include "report.h"
#include "store.h"
#include "verbs.h"

#include <parapet_plan.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {TOOL_NO_CHECKSUM, 0, "no-checksum", "no CRC-32C on chunks, if they or the codec change"},
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'c', "chunks", "--chunks LIST", "of the target: \"100,200\", \"time/1000,lat/0\" (0 is all)"},
    {'s', "shards", "--shards LIST", "of the target; \"none\" stores every chunk as a file"},
    {'a', "order", "--order LIST", "dimensions of the target: \"lat,lon,-time\", \"1,2,-0\""},
    {0, "codec", "--codec C", "none, zstd:3, gzip:6, blosc:lz4:5:shuffle, ..."},
    {0, "region", "--region LIST", "copy a part: \"time=0:100,lat=10:20\" or \"0:100,:\""},
    {0, "shape", "--shape N,N", "of an array that does not exist, instead of SRC"},
    {0, "type", "--type T", "of its elements: float64 (default), int32, ..."},
    {0, "dims", "--dims A,B", "names of its dimensions; default: dim_0, dim_1, ..."},
    {0, "from-chunks", "--from-chunks N", "its chunks; default: about 1 MiB each"},
    {0, "from-shards", "--from-shards N", "its shards; \"none\" stores every chunk as a file"},
    {0, "from-codec", "--from-codec C", "its codec; default: zstd:3"},
    {0, "ranks", "--ranks N", "how many ranks share the work; default: 1"},
    {0, "unit", "--unit SIZE", "limit on what a rank repeats after a kill; default 1 GiB"},
    {0, "passes", "--passes N", "make exactly N passes; default: chosen"},
    {0, "reading", "--reading HOW", "what to read"},
    {0, "read-rate", "--read-rate R", "bytes per second, all ranks together: 2G; default: disk"},
    {0, "write-rate", "--write-rate R", "the same for writing"},
    {0, "svg", "--svg FILE", "also draw chunks, templates and the order of visits"},
    {0, "memory-target", NULL, "a size: the same as --max-mem"},
    {0, NULL, NULL, NULL},
};

typedef struct plan_copy {
    const tool_request *request;
    parapet_copy_plan_request plan;
    int64_t shape[PARAPET_MAX_NDIM], chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    const char *names[PARAPET_MAX_NDIM];
    char *text; /* that names and codec point into */
    char *codec;
    parapet_store *store; /* of an array that exists */
    tool_node node;
} plan_copy;

/* ---- An array that does not exist ---- */

static bool parse_names(plan_copy *job)
{
    const char *given = request_value(job->request, "dims");
    int count = 0;
    if (given == NULL)
        return true;
    job->text = text_format("%s", given);
    for (char *at = job->text; at != NULL && count <= job->plan.source.ndim; count++) {
        char *comma = strchr(at, ',');
        if (count < job->plan.source.ndim)
            job->names[count] = at;
        if (comma != NULL)
            *comma++ = '\0';
        at = comma;
    }
    job->plan.source.dimension_names = job->names;
    if (count == job->plan.source.ndim)
        return true;
    report_error("--dims", "it must list %d names separated by commas, one for each dimension of the shape",
                 job->plan.source.ndim);
    return false;
}

static bool parse_layout(plan_copy *job)
{
    const tool_request *request = job->request;
    const char *shards = request_value(request, "from-shards");
    parapet_array_spec *spec = &job->plan.source;
    spec->codec = request_value(request, "from-codec");
    if (request_value(request, "from-chunks") != NULL) {
        spec->chunks = job->chunks;
        if (!extents_parse(request, "from-chunks", spec->ndim, job->chunks))
            return false;
    }
    if (shards == NULL)
        return true;
    if (strcmp(shards, "none") == 0) {
        spec->unsharded = 1;
        return true;
    }
    spec->shards = job->shards;
    return extents_parse(request, "from-shards", spec->ndim, job->shards);
}

static bool parse_array(plan_copy *job)
{
    const char *type = request_value(job->request, "type");
    parapet_array_spec *spec = &job->plan.source;
    if (request_value(job->request, "shape") == NULL) {
        report_error("plan copy", "name an array, or describe one with --shape; parapet help plan copy shows both");
        return false;
    }
    if ((spec->ndim = list_parse(job->request, "shape", job->shape)) < 0)
        return false;
    spec->shape = job->shape;
    spec->type = parapet_type_from_name(type == NULL ? "float64" : type);
    if (spec->type == PARAPET_TYPE_OF_ARRAY)
        return value_refuse("type", type, "a type of fixed size, such as float64, int32 or complex64");
    return parse_names(job) && parse_layout(job);
}

/* ---- An array that exists ---- */

static bool refuse_description(const tool_request *request)
{
    static const char *const names[] = {"shape", "type", "dims", "from-chunks", "from-shards", "from-codec"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (request_value(request, names[i]) != NULL) {
            report_error("plan copy", "--%s describes an array that does not exist, but %s is one that does",
                         names[i], request->operands[0]);
            return true;
        }
    return false;
}

/* A plan is not told in which order a chunk stores its elements and their bytes. */
static bool is_about_order(const char *word)
{
    return strncmp(word, "transpose", strlen("transpose")) == 0 || strncmp(word, "bytes:", strlen("bytes:")) == 0;
}

/* The words of a chain are what an array is made with, but for the checksum, which is said apart, and orders. */
static void take_codecs(plan_copy *job, const char *codecs)
{
    parapet_array_spec *spec = &job->plan.source;
    char *rest = NULL;
    job->codec = text_format("%s", codecs);
    spec->codec = "none";
    spec->no_checksum = 1;
    for (char *word = strtok_r(job->codec, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "crc32c") == 0)
            spec->no_checksum = 0;
        else if (!is_about_order(word))
            spec->codec = word;
    }
}

static void take_names(plan_copy *job, const parapet_array_info *info)
{
    for (int d = 0; info->dimension_names != NULL && d < info->ndim; d++)
        if (info->dimension_names[d] == NULL)
            return;
    job->plan.source.dimension_names = info->dimension_names;
}

static bool take_array(plan_copy *job)
{
    const parapet_array_info *info = &job->node.info;
    parapet_array_spec *spec = &job->plan.source;
    bool has_name = info->type != PARAPET_STRUCT && info->type != PARAPET_UTF32;
    if (job->node.array == NULL) {
        report_error(job->request->operands[0], "it is a group; name one array in it");
        return false;
    }
    if (info->element_bytes == 0) {
        report_error(job->request->operands[0], "elements of type %s have no fixed length and cannot be copied",
                     info->type_name);
        return false;
    }
    spec->type = has_name ? info->type : PARAPET_RAW;
    spec->element_bytes = spec->type == PARAPET_RAW ? info->element_bytes : 0;
    spec->ndim = info->ndim;
    spec->shape = info->shape;
    spec->chunks = info->chunks;
    spec->shards = info->is_sharded ? info->shards : NULL;
    spec->unsharded = !info->is_sharded;
    take_codecs(job, info->codecs);
    take_names(job, info);
    return true;
}

static int open_array(plan_copy *job)
{
    const char *path = job->request->operands[0];
    parapet_status status;
    if (refuse_description(job->request))
        return TOOL_USAGE;
    if ((job->store = store_open(job->request, path, PARAPET_READ)) == NULL)
        return TOOL_FAILED;
    if ((status = node_open(&job->node, job->store, "")) != PARAPET_OK) {
        report_status(status, path);
        return TOOL_FAILED;
    }
    return take_array(job) ? TOOL_OK : TOOL_FAILED;
}

/* ---- The plan ---- */

static bool parse_means(plan_copy *job)
{
    const tool_request *request = job->request;
    const char *memory = request_value(request, "memory-target");
    parapet_copy_plan_request *plan = &job->plan;
    parapet_store_options options = request->options;
    double unit = 0;
    if (memory != NULL && parapet_store_options_set(&options, "memory_bytes", memory) != PARAPET_OK) {
        report_failure("--memory-target");
        return false;
    }
    plan->memory_bytes = options.memory_bytes;
    plan->threads = options.threads;
    plan->as_json = (request->flags & TOOL_JSON) != 0;
    changes_init(&plan->changes, request);
    if (!size_parse(request, "unit", &unit) || !integer_parse(request, "ranks", 1, &plan->ranks) ||
        !integer_parse(request, "passes", 1, &plan->passes) || !reading_parse(request, &plan->reading) ||
        !size_parse(request, "read-rate", &plan->read_rate) || !size_parse(request, "write-rate", &plan->write_rate))
        return false;
    plan->unit_bytes = (int64_t)unit;
    return true;
}

static int print_plan(plan_copy *job)
{
    const char *path = request_value(job->request, "svg");
    char *text = NULL, *svg = NULL;
    int exit_code = TOOL_FAILED;
    parapet_status status = parapet_copy_plan_print(&job->plan, &text, path != NULL ? &svg : NULL);
    if (status != PARAPET_OK)
        report_status(status, "plan copy");
    else if (path == NULL || file_write(path, svg))
        exit_code = TOOL_OK;
    if (text != NULL)
        plan_print(job->request, text, false);
    parapet_free(text);
    parapet_free(svg);
    return exit_code;
}

static int run(const tool_request *request)
{
    plan_copy job = {.request = request};
    int exit_code = TOOL_USAGE;
    if (parse_means(&job))
        exit_code = request->operand_count > 0 ? open_array(&job) : parse_array(&job) ? TOOL_OK : TOOL_USAGE;
    if (exit_code == TOOL_OK)
        exit_code = print_plan(&job);
    node_close(&job.node);
    (void)parapet_store_close(&job.store);
    free(job.text);
    free(job.codec);
    return exit_code;
}

const tool_verb verb_plan_copy = {
    .name = "plan copy",
    .operands = "[SRC]",
    .summary = "Shows how an array would be copied, without copying it.",
    .details = "Prints passes, reads, files, memory and time. Needs no MPI, and no storage\n"
               "except the metadata of SRC. Examples:\n"
               "  parapet plan copy --shape 350640,721,1440 --type float32 --dims time,lat,lon \\\n"
               "      --from-chunks 1,721,1440 --chunks time/8760,lat/72,lon/144 \\\n"
               "      --ranks 8 --max-mem 1GiB\n"
               "  parapet plan copy run.zarr/density --order 2,1,0 --svg plan.svg\n",
    .exit_codes = "0 planned, 1 cannot be planned, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 0,
    .operands_max = 1,
    .run = run,
};
