#include "plan_transfer.h"
#include "arguments.h"
#include "quantity.h"
#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <parapet_plan.h>
#include <stdio.h>
#include <string.h>

const tool_flag plan_transfer_flags[] = {{0, 0, NULL, NULL}};

const tool_value plan_transfer_values[] = {
    {0, "shape", "--shape N,N", "of the array; required"},
    {0, "type", "--type T", "of its elements: float64 (default), int32, ..."},
    {0, "chunks", "--chunks N,N", "default: about 1 MiB each; 0 is the whole dimension"},
    {0, "shards", "--shards N,N", "default: about 256 MiB each; \"none\": one file per chunk"},
    {0, "codec", "--codec C", "none, zstd:3 (default), gzip:6, blosc:lz4:5:shuffle, ..."},
    {0, "ranks", "--ranks N", "number of ranks; default: the product of the mesh"},
    {0, "mesh", "--mesh N,N", "ranks along each dimension; default: chosen, printed"},
    {0, "spread", "--spread S,S", "per dimension: block, cyclic:K or *; default: block"},
    {0, "servers", "--servers N", "ranks that access storage; default: one in 4"},
    {0, "memory", "--memory SIZE", "the same as --max-mem"},
    {0, "owners", "--owners O", "which server owns a shard"},
    {0, "sharing", "--sharing S", "how servers of different speed share the work"},
    {0, "weights", "--weights FILE", "speeds of the servers, as bench disks writes them"},
    {0, "server", "--server K", "print what this server would do, shard by shard"},
    {0, "svg", "--svg FILE", "also draw the array, ranks, shards and owners"},
    {0, NULL, NULL, NULL},
};

typedef struct plan_arguments {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM], chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    int64_t mesh[PARAPET_MAX_NDIM], block[PARAPET_MAX_NDIM];
    parapet_spread spread[PARAPET_MAX_NDIM];
    int64_t ranks; /* 0: not given */
    parapet_store_options options;
    parapet_transfer_plan_request request;
} plan_arguments;

static bool parse_spread_word(plan_arguments *arguments, int d, const char *word, size_t length)
{
    static const char cyclic[] = "cyclic";
    const char *end = word;
    arguments->block[d] = 1;
    if (length == 1 && (word[0] == '*' || word[0] == '.')) {
        arguments->spread[d] = PARAPET_WHOLE;
        return true;
    }
    if (length == 5 && strncmp(word, "block", length) == 0) {
        arguments->spread[d] = PARAPET_BLOCK;
        return true;
    }
    arguments->spread[d] = PARAPET_CYCLIC;
    if (length < strlen(cyclic) || strncmp(word, cyclic, strlen(cyclic)) != 0)
        return false;
    word += strlen(cyclic);
    length -= strlen(cyclic);
    return length == 0 || (word[0] == ':' && number_parse(word + 1, &end, &arguments->block[d]) &&
                           end == word + length && arguments->block[d] > 0);
}

static bool parse_spread(const tool_request *request, plan_arguments *arguments)
{
    const char *text = request_value(request, "spread"), *at = text;
    if (text == NULL)
        return true;
    for (int d = 0; d < arguments->ndim; d++) {
        size_t length = strcspn(at, ",");
        bool is_last = d == arguments->ndim - 1;
        if (!parse_spread_word(arguments, d, at, length) || (at[length] == '\0') != is_last)
            return value_refuse("spread", text, "one of block, cyclic, cyclic:K or * for each dimension");
        at += length + 1;
    }
    arguments->request.distribution.spread = arguments->spread;
    arguments->request.distribution.block = arguments->block;
    return true;
}

/* ---- A mesh for a number of ranks ---- */

static int64_t largest_factor(int64_t number)
{
    int64_t largest = 1;
    for (int64_t factor = 2; factor <= number / factor; factor++)
        for (; number % factor == 0; number /= factor)
            largest = factor;
    return number > 1 && number > largest ? number : largest;
}

/* The dimension whose blocks are longest, and that may be spread; -1: none may. */
static int longest_side(const plan_arguments *arguments)
{
    int longest = -1;
    double most = -1;
    for (int d = 0; d < arguments->ndim; d++) {
        double length = (double)arguments->shape[d] / (double)arguments->mesh[d];
        bool is_whole = arguments->request.distribution.spread != NULL && arguments->spread[d] == PARAPET_WHOLE;
        if (!is_whole && length > most) {
            most = length;
            longest = d;
        }
    }
    return longest;
}

/* Gives the prime factors of the number of ranks, largest first, each to the side that is longest then: blocks come
 * out near cubic. */
static bool choose_mesh(plan_arguments *arguments)
{
    int64_t left = arguments->ranks;
    for (int d = 0; d < arguments->ndim; d++)
        arguments->mesh[d] = 1;
    while (left > 1) {
        int64_t factor = largest_factor(left);
        int side = longest_side(arguments);
        if (side < 0) {
            report_error("--ranks", "%" PRId64 " ranks cannot share an array with no dimension that is distributed",
                         arguments->ranks);
            return false;
        }
        arguments->mesh[side] *= factor;
        left /= factor;
    }
    return true;
}

static bool check_mesh(plan_arguments *arguments)
{
    int64_t product = 1;
    for (int d = 0; d < arguments->ndim; d++)
        if (__builtin_mul_overflow(product, arguments->mesh[d], &product))
            product = INT64_MAX;
    if (arguments->ranks == 0 || arguments->ranks == product)
        return true;
    report_error("--mesh", "it has %" PRId64 " ranks, but --ranks says %" PRId64, product, arguments->ranks);
    return false;
}

static bool parse_ranks(const tool_request *request, plan_arguments *arguments)
{
    if (!integer_parse(request, "ranks", 1, &arguments->ranks))
        return false;
    if (arguments->ranks > INT32_MAX)
        return value_refuse("ranks", request_value(request, "ranks"), "a number of ranks that MPI can count");
    arguments->request.distribution.mesh = arguments->mesh;
    if (request_value(request, "mesh") != NULL)
        return extents_parse(request, "mesh", arguments->ndim, arguments->mesh) && check_mesh(arguments);
    if (arguments->ranks == 0) {
        report_error(request->verb->name, "give the number of ranks with --ranks or --mesh");
        return false;
    }
    return choose_mesh(arguments);
}

/* ---- The array ---- */

static bool parse_shards(const tool_request *request, plan_arguments *arguments)
{
    const char *text = request_value(request, "shards");
    if (text == NULL)
        return true;
    if (strcmp(text, "none") == 0) {
        arguments->request.spec.unsharded = 1;
        return true;
    }
    arguments->request.spec.shards = arguments->shards;
    return extents_parse(request, "shards", arguments->ndim, arguments->shards);
}

static bool parse_array(const tool_request *request, plan_arguments *arguments)
{
    parapet_array_spec *spec = &arguments->request.spec;
    const char *type = request_value(request, "type");
    if (request_value(request, "shape") == NULL) {
        report_error(request->verb->name, "--shape is missing; parapet help %s shows an example",
                     request->verb->name);
        return false;
    }
    if ((arguments->ndim = list_parse(request, "shape", arguments->shape)) < 0)
        return false;
    spec->ndim = arguments->request.distribution.ndim = arguments->ndim;
    spec->shape = arguments->shape;
    spec->type = parapet_type_from_name(type == NULL ? "float64" : type);
    if (spec->type == PARAPET_TYPE_OF_ARRAY)
        return value_refuse("type", type, "a type of fixed size, such as float64, int32 or complex64");
    spec->codec = request_value(request, "codec");
    if (request_value(request, "chunks") != NULL) {
        spec->chunks = arguments->chunks;
        if (!extents_parse(request, "chunks", arguments->ndim, arguments->chunks))
            return false;
    }
    return parse_shards(request, arguments);
}

/* ---- The transfer ---- */

/* An option of the store that this verb also has as a value of its own. */
static bool parse_option(const tool_request *request, const char *name, const char *option, plan_arguments *arguments)
{
    const char *text = request_value(request, name);
    char spelled[16];
    if (text == NULL || parapet_store_options_set(&arguments->options, option, text) == PARAPET_OK)
        return true;
    (void)snprintf(spelled, sizeof spelled, "--%s", name);
    report_failure(spelled);
    return false;
}

static bool parse_options(const tool_request *request, plan_arguments *arguments)
{
    if (!parse_option(request, "memory", "memory_bytes", arguments) ||
        !parse_option(request, "owners", "owners", arguments) ||
        !parse_option(request, "sharing", "sharing", arguments))
        return false;
    arguments->request.owners = arguments->options.owners;
    arguments->request.sharing = arguments->options.sharing;
    arguments->request.memory_bytes = arguments->options.memory_bytes;
    arguments->request.threads = arguments->options.threads;
    return true;
}

static bool parse(const tool_request *request, plan_arguments *arguments)
{
    *arguments = (plan_arguments){.options = request->options};
    arguments->request.server = -1;
    arguments->request.servers = request->options.servers;
    arguments->request.weights = request_value(request, "weights");
    if (arguments->request.weights == NULL)
        arguments->request.weights = request->options.weights;
    arguments->request.as_json = (request->flags & TOOL_JSON) != 0;
    return parse_array(request, arguments) && parse_spread(request, arguments) && parse_ranks(request, arguments) &&
           integer_parse(request, "servers", 1, &arguments->request.servers) &&
           integer_parse(request, "server", 0, &arguments->request.server) && parse_options(request, arguments);
}

int plan_transfer_run(const tool_request *request, bool is_read)
{
    const char *path = request_value(request, "svg");
    plan_arguments arguments;
    char *text = NULL, *svg = NULL;
    int exit_code = TOOL_FAILED;
    parapet_status status;
    if (!parse(request, &arguments))
        return TOOL_USAGE;
    arguments.request.is_read = is_read;
    status = parapet_transfer_plan_print(&arguments.request, &text, path != NULL ? &svg : NULL);
    if (status != PARAPET_OK)
        report_status(status, request->verb->name);
    else if (path == NULL || file_write(path, svg))
        exit_code = TOOL_OK;
    if (text != NULL && request->flags & TOOL_JSON)
        fputs(text, stdout);
    else if (text != NULL)
        text_print_folded(text);
    parapet_free(text);
    parapet_free(svg);
    return exit_code;
}
