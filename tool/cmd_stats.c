#include "tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'r', "region", "--region LIST", "a part: \"time=0:10,lat=5\" or \"0:10,5,:\""},
    {0, NULL, NULL, NULL},
};

enum { BUFFER_BYTES = 32 << 20 };

/* Of all values so far; those of two sets can be put together in any order. */
typedef struct tool_moments {
    double count, missing;
    double least, most;
    double mean, squares; /* sum of the squared deviations from the mean */
} tool_moments;

/* Statistics in the making. */
typedef struct tool_counting {
    const tool_request *request;
    tool_node node;
    tool_region region;
    int64_t block[PARAPET_MAX_NDIM];
    tool_missing missing;
    tool_moments moments;
} tool_counting;

static void add_value(tool_moments *moments, double value)
{
    double delta = value - moments->mean;
    moments->count += 1;
    moments->mean += delta / moments->count;
    moments->squares += delta * (value - moments->mean);
    if (moments->count == 1 || value < moments->least)
        moments->least = value;
    if (moments->count == 1 || value > moments->most)
        moments->most = value;
}

static void add_moments(tool_moments *sum, const tool_moments *more)
{
    double count = sum->count + more->count, delta = more->mean - sum->mean;
    sum->missing += more->missing;
    if (more->count == 0)
        return;
    if (sum->count == 0 || more->least < sum->least)
        sum->least = more->least;
    if (sum->count == 0 || more->most > sum->most)
        sum->most = more->most;
    sum->mean += delta * more->count / count;
    sum->squares += more->squares + delta * delta * sum->count * more->count / count;
    sum->count = count;
}

static void add_elements(tool_counting *counting, const unsigned char *data, int64_t elements)
{
    const parapet_array_info *info = &counting->node.info;
    tool_moments block = {0};
    double value = 0;
    for (int64_t i = 0; i < elements; i++) {
        const unsigned char *element = data + (size_t)i * info->element_bytes;
        (void)element_number(info, element, &value);
        if (missing_is(&counting->missing, element, value))
            block.missing += 1;
        else
            add_value(&block, value);
    }
    add_moments(&counting->moments, &block);
}

/* Whole chunks, so that none is decoded twice, as long as one fits. The region is not empty. */
static void choose_block(tool_counting *counting)
{
    const parapet_array_info *info = &counting->node.info;
    int64_t limit = BUFFER_BYTES / (int64_t)info->element_bytes, elements = 1;
    int64_t share = region_elements(&counting->region) / counting->request->rank_count + 1;
    limit = share < limit ? share : limit;
    for (int d = info->ndim - 1; d >= 0; d--) {
        int64_t fitting = limit / elements > 1 ? limit / elements : 1, length = counting->region.count[d];
        int64_t wanted = info->chunks[d] < fitting ? fitting / info->chunks[d] * info->chunks[d] : fitting;
        int64_t rest = info->chunks[d] < length ? info->chunks[d] : length;
        /* The other dimensions need room for one chunk, too. */
        counting->block[d] = d > 0 && wanted > rest ? rest : wanted < length ? wanted : length;
        elements *= counting->block[d];
    }
}

static int64_t blocks_along(const tool_counting *counting, int d)
{
    /* Blocks begin where chunks begin: the first may be cut. */
    int64_t first = counting->region.start[d] / counting->block[d];
    return (counting->region.start[d] + counting->region.count[d] - 1) / counting->block[d] - first + 1;
}

static void block_of(const tool_counting *counting, int64_t number, tool_region *box)
{
    const tool_region *region = &counting->region;
    *box = (tool_region){.ndim = region->ndim};
    for (int d = region->ndim - 1; d >= 0; d--) {
        int64_t along = blocks_along(counting, d), end = region->start[d] + region->count[d];
        int64_t start = (region->start[d] / counting->block[d] + number % along) * counting->block[d];
        int64_t stop = start + counting->block[d] < end ? start + counting->block[d] : end;
        box->start[d] = start > region->start[d] ? start : region->start[d];
        box->count[d] = stop - box->start[d];
        number /= along;
    }
}

/* [collective] Ranks take blocks in turn; who has none left still takes part in the call. */
static parapet_status count_all(tool_counting *counting)
{
    const tool_request *request = counting->request;
    const parapet_array_info *info = &counting->node.info;
    int64_t count = region_elements(&counting->region) > 0 ? 1 : 0, block = 1;
    parapet_status status = PARAPET_OK;
    unsigned char *data;
    if (count > 0)
        choose_block(counting);
    for (int d = 0; d < info->ndim && count > 0; d++) {
        count *= blocks_along(counting, d);
        block *= counting->block[d];
    }
    data = memory_get((size_t)block * info->element_bytes + 1);
    for (int64_t first = 0; first < count && status == PARAPET_OK; first += request->rank_count) {
        bool has_one = first + request->rank < count;
        tool_region box = {.ndim = info->ndim};
        parapet_part part = {.ndim = info->ndim, .start = box.start, .count = box.count, .data = data};
        block_of(counting, has_one ? first + request->rank : 0, &box);
        status = parapet_array_read(counting->node.array, &part, has_one ? 1 : 0);
        if (status == PARAPET_OK && has_one)
            add_elements(counting, data, region_elements(&box));
    }
    free(data);
    return status;
}

/* [collective] */
static void put_together(tool_counting *counting)
{
    const tool_request *request = counting->request;
    tool_moments *all = memory_get((size_t)request->rank_count * sizeof *all), sum = {0};
    ranks_gather(request, &counting->moments, all, sizeof *all);
    for (int rank = 0; rank < request->rank_count; rank++)
        add_moments(&sum, &all[rank]);
    counting->moments = sum;
    free(all);
}

static double deviation_of(const tool_moments *moments)
{
    return moments->count > 0 ? sqrt(moments->squares / moments->count) : 0;
}

static void print_for_people(const tool_counting *counting)
{
    const tool_moments *moments = &counting->moments;
    char *path = text_visible(counting->request->operands[0]), *type = text_visible(counting->node.info.type_name);
    char *shape = text_of_shape(counting->region.count, counting->region.ndim), *units = NULL;
    (void)parapet_array_attribute_get(counting->node.array, "units", &units);
    printf("%s: %s, %s", path, type, shape);
    if (units != NULL) {
        fputs(", in ", stdout);
        json_print_line(stdout, units, false);
    }
    printf("\n  values     %.0f\n  missing    %.0f\n", moments->count, moments->missing);
    if (moments->count > 0)
        printf("  least      %.10g\n  most       %.10g\n  mean       %.10g\n  deviation  %.10g\n", moments->least,
               moments->most, moments->mean, deviation_of(moments));
    parapet_free(units);
    free(path);
    free(type);
    free(shape);
}

static void number_or_null(tool_document *document, const char *key, double value, bool is_known)
{
    document_key(document, key);
    if (is_known && isfinite(value))
        fprintf(document->out, "%.17g", value);
    else if (is_known)
        fprintf(document->out, "\"%s\"", isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    else
        fputs("null", document->out);
}

static void print_for_programs(const tool_counting *counting)
{
    const tool_moments *moments = &counting->moments;
    tool_document document = {.out = stdout};
    bool is_known = moments->count > 0;
    document_open_object(&document, NULL);
    document_text(&document, "path", counting->request->operands[0]);
    document_integers(&document, "start", counting->region.start, counting->region.ndim);
    document_integers(&document, "shape", counting->region.count, counting->region.ndim);
    document_integer(&document, "values", (int64_t)moments->count);
    document_integer(&document, "missing", (int64_t)moments->missing);
    number_or_null(&document, "min", moments->least, is_known);
    number_or_null(&document, "max", moments->most, is_known);
    number_or_null(&document, "mean", moments->mean, is_known);
    number_or_null(&document, "deviation", deviation_of(moments), is_known);
    document_close(&document);
}

static bool is_numeric(const tool_counting *counting)
{
    double value;
    if (element_number(&counting->node.info, counting->node.info.fill_value, &value))
        return true;
    report_error(counting->request->operands[0],
                 "elements of type %s are no numbers: there are no statistics of them",
                 counting->node.info.type_name);
    return false;
}

/* [collective] */
static int run_opened(tool_counting *counting)
{
    const tool_request *request = counting->request;
    parapet_status status;
    if (!node_is_readable(&counting->node, request->operands[0]) || !is_numeric(counting))
        return TOOL_FAILED;
    if (!region_parse(request, &counting->node.info, &counting->region))
        return TOOL_USAGE;
    missing_init(&counting->missing, &counting->node);
    status = count_all(counting);
    missing_free(&counting->missing);
    if (status != PARAPET_OK) {
        report_status(status, request->operands[0]);
        return TOOL_FAILED;
    }
    put_together(counting);
    if (request->rank == 0 && request->flags & TOOL_JSON)
        print_for_programs(counting);
    else if (request->rank == 0)
        print_for_people(counting);
    return TOOL_OK;
}

static int run(const tool_request *request)
{
    tool_counting counting = {.request = request};
    parapet_store *store = store_open(request, request->operands[0], PARAPET_READ);
    parapet_status status;
    int exit_code = TOOL_FAILED;
    if (store == NULL)
        return TOOL_FAILED;
    if ((status = node_open(&counting.node, store, "")) == PARAPET_OK)
        exit_code = run_opened(&counting);
    else
        report_status(status, request->operands[0]);
    node_close(&counting.node);
    (void)parapet_store_close(&store);
    return exit_code;
}

const tool_verb verb_stats = {
    .name = "stats",
    .operands = "ARRAY",
    .summary = "Computes minimum, maximum, mean and deviation of an array.",
    .details = "Missing are NaN and what the attributes _FillValue and missing_value declare, in\n"
               "Zarr v2 with named dimensions also the fill value, as xarray has it.\n"
               "Values are as stored: scale_factor and add_offset are not applied. All ranks of\n"
               "a launcher share the work. Example:\n"
               "  mpiexec -n 4 parapet stats --region time=0:24 run.zarr/t2m\n",
    .exit_codes = "0 computed, 1 failed, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .is_parallel = true,
    .run = run,
};
