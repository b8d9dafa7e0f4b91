#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {{0, 0, NULL, NULL}};

enum value_index {
    VALUE_SHAPE,
    VALUE_TYPE,
    VALUE_CHUNKS,
    VALUE_SHARDS,
    VALUE_CODEC,
    VALUE_RANKS,
    VALUE_MESH,
    VALUE_SPREAD,
    VALUE_SERVERS,
    VALUE_MEMORY,
    VALUE_OWNERSHIP,
    VALUE_SERVER,
    VALUE_SVG
};

static const tool_value values[] = {
    {"shape", "--shape N,N", "of the array; needed"},
    {"type", "--type T", "of its elements: float64 (default), int32, ..."},
    {"chunks", "--chunks N,N", "default: about 1 MiB each; 0 is the whole dimension"},
    {"shards", "--shards N,N", "default: about 256 MiB each; \"none\": every chunk a file"},
    {"codec", "--codec C", "none, zstd:3 (default), gzip:6, blosc:lz4:5:shuffle, ..."},
    {"ranks", "--ranks N", "how many; default: the product of the mesh"},
    {"mesh", "--mesh N,N", "ranks along each dimension; default: chosen, printed"},
    {"spread", "--spread S,S", "per dimension block, cyclic:K or *; default: block"},
    {"servers", "--servers N", "ranks that touch storage; default: one in 4"},
    {"memory", "--memory SIZE", "the same as --max-mem"},
    {"ownership", "--ownership O", "locality (default) or round_robin"},
    {"server", "--server K", "what this server would do, shard by shard"},
    {"svg", "--svg FILE", "also draw the array, ranks, shards and owners"},
    {NULL, NULL, NULL},
};

typedef struct plan_arguments {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM], chunks[PARAPET_MAX_NDIM], shards[PARAPET_MAX_NDIM];
    int64_t mesh[PARAPET_MAX_NDIM], block[PARAPET_MAX_NDIM];
    parapet_spread spread[PARAPET_MAX_NDIM];
    int64_t ranks; /* 0: not given */
    parapet_options options;
    parapet_plan_request request;
} plan_arguments;

static bool refuse_value(int value, const char *text, const char *expected)
{
    char *what = text_format("--%s", values[value].name);
    report_error(what, "\"%s\" is not %s", text, expected);
    free(what);
    return false;
}

/* A number from 0 on that ends where end says. */
static bool parse_number(const char *text, const char **end, int64_t *number)
{
    char *stop;
    errno = 0;
    *number = strtoll(text, &stop, 10);
    *end = stop;
    return stop != text && errno == 0 && *number >= 0;
}

/* Numbers with commas between them; returns how many, -1: a usage error, already reported. */
static int parse_list(const tool_request *request, int value, int64_t *numbers)
{
    const char *text = request->values[value], *at = text;
    int count = 0;
    if (text[0] == '\0')
        return 0;
    for (;; at++) {
        if (count == PARAPET_MAX_NDIM || !parse_number(at, &at, &numbers[count]) || (*at != ',' && *at != '\0')) {
            (void)refuse_value(value, text, "a list of up to 32 numbers with commas between them");
            return -1;
        }
        count++;
        if (*at == '\0')
            return count;
    }
}

/* A list of one number per dimension. */
static bool parse_extents(const tool_request *request, const plan_arguments *arguments, int value, int64_t *numbers)
{
    int count = parse_list(request, value, numbers);
    char *what;
    if (count < 0 || count == arguments->ndim)
        return count >= 0;
    what = text_format("--%s", values[value].name);
    report_error(what, "it has %d numbers, but the shape has %d", count, arguments->ndim);
    free(what);
    return false;
}

static bool parse_one(const tool_request *request, int value, int64_t low, int64_t *number)
{
    const char *text = request->values[value], *end;
    if (text == NULL)
        return true;
    if (parse_number(text, &end, number) && *end == '\0' && *number >= low)
        return true;
    return refuse_value(value, text, low == 0 ? "a number from 0 on" : "a number from 1 on");
}

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
    return length == 0 || (word[0] == ':' && parse_number(word + 1, &end, &arguments->block[d]) &&
                           end == word + length && arguments->block[d] > 0);
}

static bool parse_spread(const tool_request *request, plan_arguments *arguments)
{
    const char *text = request->values[VALUE_SPREAD], *at = text;
    if (text == NULL)
        return true;
    for (int d = 0; d < arguments->ndim; d++) {
        size_t length = strcspn(at, ",");
        bool is_last = d == arguments->ndim - 1;
        if (!parse_spread_word(arguments, d, at, length) || (at[length] == '\0') != is_last)
            return refuse_value(VALUE_SPREAD, text, "one of block, cyclic, cyclic:K or * for each dimension");
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
            report_error("--ranks", "%" PRId64 " ranks cannot share an array of which no dimension is spread",
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
    if (!parse_one(request, VALUE_RANKS, 1, &arguments->ranks))
        return false;
    if (arguments->ranks > INT32_MAX)
        return refuse_value(VALUE_RANKS, request->values[VALUE_RANKS], "a number of ranks that MPI can count");
    arguments->request.distribution.mesh = arguments->mesh;
    if (request->values[VALUE_MESH] != NULL)
        return parse_extents(request, arguments, VALUE_MESH, arguments->mesh) && check_mesh(arguments);
    if (arguments->ranks == 0) {
        report_error("plan", "say how many ranks there are, with --ranks or --mesh");
        return false;
    }
    return choose_mesh(arguments);
}

/* ---- The array ---- */

static bool parse_shards(const tool_request *request, plan_arguments *arguments)
{
    const char *text = request->values[VALUE_SHARDS];
    if (text == NULL)
        return true;
    if (strcmp(text, "none") == 0) {
        arguments->request.spec.unsharded = 1;
        return true;
    }
    arguments->request.spec.shards = arguments->shards;
    return parse_extents(request, arguments, VALUE_SHARDS, arguments->shards);
}

static bool parse_array(const tool_request *request, plan_arguments *arguments)
{
    parapet_array_spec *spec = &arguments->request.spec;
    const char *type = request->values[VALUE_TYPE];
    if (request->values[VALUE_SHAPE] == NULL) {
        report_error("plan", "--shape is missing; parapet help plan shows an example");
        return false;
    }
    if ((arguments->ndim = parse_list(request, VALUE_SHAPE, arguments->shape)) < 0)
        return false;
    spec->ndim = arguments->request.distribution.ndim = arguments->ndim;
    spec->shape = arguments->shape;
    spec->type = parapet_type_from_name(type == NULL ? "float64" : type);
    if (spec->type == PARAPET_TYPE_OF_ARRAY)
        return refuse_value(VALUE_TYPE, type, "a type of fixed size, such as float64, int32 or complex64");
    spec->codec = request->values[VALUE_CODEC];
    if (request->values[VALUE_CHUNKS] != NULL) {
        spec->chunks = arguments->chunks;
        if (!parse_extents(request, arguments, VALUE_CHUNKS, arguments->chunks))
            return false;
    }
    return parse_shards(request, arguments);
}

/* ---- The transfer ---- */

static bool parse_ownership(const tool_request *request, plan_arguments *arguments)
{
    const char *text = request->values[VALUE_OWNERSHIP];
    arguments->request.ownership = arguments->options.ownership;
    if (text == NULL)
        return true;
    if (strcmp(text, "round_robin") != 0 && strcmp(text, "locality") != 0)
        return refuse_value(VALUE_OWNERSHIP, text, "round_robin or locality");
    arguments->request.ownership = text[0] == 'r' ? 1 : 2;
    return true;
}

static bool parse_memory(const tool_request *request, plan_arguments *arguments)
{
    const char *text = request->values[VALUE_MEMORY];
    if (text != NULL && parapet_options_set(&arguments->options, "memory_bytes", text) != PARAPET_OK) {
        report_failure("--memory");
        return false;
    }
    arguments->request.memory_bytes = arguments->options.memory_bytes;
    arguments->request.threads = arguments->options.threads;
    return true;
}

static bool parse_direction(const tool_request *request, plan_arguments *arguments)
{
    const char *word = request->operands[0];
    arguments->request.is_read = strcmp(word, "read") == 0;
    if (arguments->request.is_read || strcmp(word, "write") == 0)
        return true;
    report_error("plan", "\"%s\" is neither write nor read", word);
    return false;
}

static bool parse(const tool_request *request, plan_arguments *arguments)
{
    *arguments = (plan_arguments){.options = request->options};
    arguments->request.server = -1;
    arguments->request.servers = request->options.servers;
    arguments->request.as_json = (request->flags & TOOL_JSON) != 0;
    return parse_direction(request, arguments) && parse_array(request, arguments) &&
           parse_spread(request, arguments) && parse_ranks(request, arguments) &&
           parse_one(request, VALUE_SERVERS, 1, &arguments->request.servers) &&
           parse_one(request, VALUE_SERVER, 0, &arguments->request.server) && parse_memory(request, arguments) &&
           parse_ownership(request, arguments);
}

static bool write_drawing(const char *path, const char *svg)
{
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fputs(svg, file) >= 0;
    int problem = errno;
    if (file != NULL && fclose(file) != 0 && is_written) {
        is_written = false;
        problem = errno;
    }
    if (!is_written)
        report_error(path, "cannot be written: %s", strerror(problem));
    return is_written;
}

static int run(const tool_request *request)
{
    const char *path = request->values[VALUE_SVG];
    plan_arguments arguments;
    char *text = NULL, *svg = NULL;
    int exit_code = TOOL_FAILED;
    if (!parse(request, &arguments))
        return TOOL_USAGE;
    if (parapet_plan_print(&arguments.request, &text, path != NULL ? &svg : NULL) != PARAPET_OK)
        report_failure("plan");
    else if (path == NULL || write_drawing(path, svg))
        exit_code = TOOL_OK;
    if (text != NULL)
        fputs(text, stdout);
    parapet_free(text);
    parapet_free(svg);
    return exit_code;
}

const tool_verb verb_plan = {
    .name = "plan",
    .operands = "write|read",
    .summary = "Says what every server and rank would do in a transfer, without doing it.",
    .details = "No MPI, no storage. Example:\n"
               "  parapet plan write --shape 4096,4096,4096 --ranks 512 --servers 32 --svg plan.svg\n",
    .exit_codes = "0 planned, 1 cannot be planned, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
