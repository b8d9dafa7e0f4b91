#include "display.h"
#include "document.h"
#include "element.h"
#include "memory.h"
#include "memory_limit.h"
#include "missing.h"
#include "node.h"
#include "packing.h"
#include "ranks.h"
#include "region.h"
#include "report.h"
#include "store.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'r', "region", "--region LIST", "a part: \"time=0:10,lat=5\" or \"0:10,5,:\""},
    {0, NULL, NULL, NULL},
};

/* Of an array of more blocks only those are read that have something stored. */
enum { BLOCKS_UNLISTED = 1024 };

/* Stored objects in a block: where chunks are small, looking whether they are there takes longer than reading them.
 * So of 2^31 chunks of one element, too, only those are looked for that are listed. */
enum { OBJECTS_IN_BLOCK = 4096 };

/* The list of them takes that part of the buffer at most; of an array with more, all blocks are read. */
enum { LIST_PART = 8 };

enum { ELEMENT_BYTES_MOST = 8 }; /* of an element that is a number */

/* The least or the most value; its element, as a double may round an integer. */
typedef struct tool_extreme {
    double number;
    unsigned char element[ELEMENT_BYTES_MOST];
} tool_extreme;

/* Of all values so far; those of two sets can be put together in any order. */
typedef struct tool_moments {
    double count, missing;
    tool_extreme least, most;
    double finite;        /* values that are */
    double mean, squares; /* of those; sum of the squared deviations from the mean */
    double infinite;      /* sum of the others: infinity, or NaN if there are both; 0: there are none */
} tool_moments;

/* Statistics in the making. */
typedef struct tool_counting {
    const tool_request *request;
    tool_node node;
    tool_region region;
    size_t buffer_bytes;
    int64_t block[PARAPET_MAX_NDIM];
    bool is_listed;
    int64_t *stored; /* if so, the numbers of the blocks that have something stored */
    size_t stored_count;
    tool_missing missing;
    tool_packing packing;
    tool_moments moments;
} tool_counting;

static bool is_less(const parapet_array_info *info, const tool_extreme *a, const tool_extreme *b)
{
    uint64_t integers[2];
    if (a->number != b->number || !element_is_integer(info))
        return a->number < b->number;
    integers[0] = element_integer(info, a->element);
    integers[1] = element_integer(info, b->element);
    /* Of the same sign, as they are about the same: the order is that of the bits. */
    return integers[0] < integers[1];
}

static void add_extremes(const parapet_array_info *info, tool_moments *sum, const tool_extreme *least,
                         const tool_extreme *most)
{
    if (sum->count == 0 || is_less(info, least, &sum->least))
        sum->least = *least;
    if (sum->count == 0 || is_less(info, &sum->most, most))
        sum->most = *most;
}

/* Adds so many finite values. A difference of means may be too large for a number, unlike a part of it. */
static void add_mean(tool_moments *sum, double count, double mean, double squares)
{
    double all = sum->finite + count, delta = mean - sum->mean;
    if (count == 0)
        return;
    if (sum->finite == 0) {
        sum->mean = mean;
        sum->squares = squares;
    } else {
        sum->mean += isfinite(delta * count) ? delta * count / all : mean / all * count - sum->mean / all * count;
        sum->squares += squares + delta * delta * sum->finite * count / all;
    }
    sum->finite = all;
}

static void add_value(const parapet_array_info *info, tool_moments *moments, double number, const void *element)
{
    tool_extreme value = {.number = number};
    memcpy(value.element, element, info->element_bytes);
    add_extremes(info, moments, &value, &value);
    moments->count += 1;
    if (isfinite(number))
        add_mean(moments, 1, number, 0);
    else
        moments->infinite += number;
}

static void add_moments(const parapet_array_info *info, tool_moments *sum, const tool_moments *more)
{
    sum->missing += more->missing;
    if (more->count == 0)
        return;
    add_extremes(info, sum, &more->least, &more->most);
    add_mean(sum, more->finite, more->mean, more->squares);
    sum->infinite += more->infinite;
    sum->count += more->count;
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
            add_value(info, &block, value, element);
    }
    add_moments(info, &counting->moments, &block);
}

/* Whole chunks, so that none is decoded twice, as long as one fits. The region is not empty. */
static void choose_block(tool_counting *counting)
{
    const parapet_array_info *info = &counting->node.info;
    int64_t limit = (int64_t)(counting->buffer_bytes / info->element_bytes), elements = 1;
    int64_t share = region_elements(&counting->region) / counting->request->rank_count + 1;
    int64_t object = 1;
    limit = share < limit ? share : limit;
    for (int d = 0; d < info->ndim && object < limit; d++)
        object = info->shards[d] < limit / object ? object * info->shards[d] : limit;
    limit = object < limit / OBJECTS_IN_BLOCK ? object * OBJECTS_IN_BLOCK : limit;
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

/* ---- Large arrays, of which little may be stored ---- */

/* Adds the blocks of the region that a stored box touches. */
static int add_stored(void *context, const int64_t *start, const int64_t *count)
{
    tool_counting *counting = context;
    const tool_region *region = &counting->region;
    int64_t first[PARAPET_MAX_NDIM], last[PARAPET_MAX_NDIM], at[PARAPET_MAX_NDIM];
    int d;
    for (d = 0; d < region->ndim; d++) {
        int64_t begin = start[d] > region->start[d] ? start[d] : region->start[d];
        int64_t end = region->start[d] + region->count[d];
        end = start[d] + count[d] < end ? start[d] + count[d] : end;
        if (begin >= end)
            return 0;
        first[d] = at[d] = begin / counting->block[d] - region->start[d] / counting->block[d];
        last[d] = (end - 1) / counting->block[d] - region->start[d] / counting->block[d];
    }
    do {
        int64_t number = 0;
        if (counting->stored_count == counting->buffer_bytes / LIST_PART / sizeof number)
            return 1;
        for (d = 0; d < region->ndim; d++)
            number = number * blocks_along(counting, d) + at[d];
        counting->stored = memory_grow(counting->stored, counting->stored_count, sizeof *counting->stored);
        counting->stored[counting->stored_count++] = number;
        for (d = region->ndim - 1; d >= 0 && ++at[d] > last[d]; d--)
            at[d] = first[d];
    } while (d >= 0);
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* A block may be touched by several boxes. */
static void drop_repeated(tool_counting *counting)
{
    size_t used = 0;
    if (counting->stored_count > 0)
        qsort(counting->stored, counting->stored_count, sizeof *counting->stored, compare_numbers);
    for (size_t i = 0; i < counting->stored_count; i++)
        if (i == 0 || counting->stored[i] != counting->stored[used - 1])
            counting->stored[used++] = counting->stored[i];
    counting->stored_count = used;
}

/* [collective] Rank 0 lists: another job that writes may show every rank another list. */
static parapet_status list_stored(tool_counting *counting)
{
    const tool_request *request = counting->request;
    parapet_status status = PARAPET_OK;
    if (request->rank == 0 && (status = parapet_array_list(counting->node.array, add_stored, counting)) == PARAPET_OK)
        drop_repeated(counting);
    ranks_share(request, &status, sizeof status);
    counting->is_listed = status != PARAPET_ERR_CANCELLED;
    if (!counting->is_listed)
        return PARAPET_OK;
    ranks_share(request, &counting->stored_count, sizeof counting->stored_count);
    if (status != PARAPET_OK || counting->stored_count == 0)
        return status;
    if (request->rank != 0)
        counting->stored = memory_get(counting->stored_count * sizeof *counting->stored);
    ranks_share(request, counting->stored, counting->stored_count * sizeof *counting->stored);
    return status;
}

/* All other elements have the fill value. */
static void add_fill(tool_counting *counting)
{
    const parapet_array_info *info = &counting->node.info;
    tool_moments *moments = &counting->moments, fill = {0};
    double value = 0, rest = (double)region_elements(&counting->region) - moments->count - moments->missing;
    (void)element_number(info, info->fill_value, &value);
    if (rest <= 0)
        return;
    if (missing_is(&counting->missing, info->fill_value, value)) {
        fill.missing = rest;
    } else {
        add_value(info, &fill, value, info->fill_value);
        fill.count = rest;
        fill.finite = isfinite(value) ? rest : 0;
    }
    add_moments(info, moments, &fill);
}

/* ---- All of it ---- */

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
    if (count > BLOCKS_UNLISTED)
        status = list_stored(counting);
    if (counting->is_listed)
        count = (int64_t)counting->stored_count;
    data = memory_get((size_t)block * info->element_bytes + 1);
    for (int64_t first = 0; first < count && status == PARAPET_OK; first += request->rank_count) {
        int64_t number = first + request->rank < count ? first + request->rank : 0;
        bool has_one = first + request->rank < count;
        tool_region box = {.ndim = info->ndim};
        parapet_part part = {.ndim = info->ndim, .start = box.start, .count = box.count, .data = data};
        block_of(counting, counting->is_listed ? counting->stored[number] : number, &box);
        status = parapet_array_read(counting->node.array, &part, has_one ? 1 : 0);
        if (status == PARAPET_OK && has_one)
            add_elements(counting, data, region_elements(&box));
    }
    free(counting->stored);
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
        add_moments(&counting->node.info, &sum, &all[rank]);
    counting->moments = sum;
    if (counting->is_listed)
        add_fill(counting);
    free(all);
}

/* With an infinity among the values, as NumPy has it. */
static double mean_of(const tool_moments *moments)
{
    return moments->infinite == 0 ? moments->mean : moments->infinite;
}

static double deviation_of(const tool_moments *moments)
{
    return moments->infinite == 0 ? sqrt(moments->squares / moments->finite) : NAN;
}

/* What is not finite is spelled as elements are. */
static void print_number(const char *name, double number)
{
    if (isfinite(number))
        printf("  %-9s  %.10g\n", name, number);
    else
        printf("  %-9s  %s\n", name, isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
}

static void print_extreme(const tool_counting *counting, const char *name, const tool_extreme *extreme)
{
    printf("  %-9s  ", name);
    element_print(stdout, &counting->node.info, extreme->element);
    putchar('\n');
}

/* What the values of a packed array stand for. */
typedef struct tool_unpacked {
    double least, most, mean, deviation;
} tool_unpacked;

static tool_unpacked unpacked_of(const tool_counting *counting)
{
    const tool_moments *moments = &counting->moments;
    const tool_packing *packing = &counting->packing;
    double least = packing_undo(packing, moments->least.number), most = packing_undo(packing, moments->most.number);
    bool is_turned = packing->scale < 0;
    return (tool_unpacked){.least = is_turned ? most : least,
                           .most = is_turned ? least : most,
                           .mean = packing_undo(packing, mean_of(moments)),
                           .deviation = fabs(packing->scale) * deviation_of(moments)};
}

static void print_units(const tool_counting *counting)
{
    char *units = NULL;
    if (parapet_array_attribute_get(counting->node.array, "units", &units) == PARAPET_OK) {
        fputs(", in ", stdout);
        json_print_line(stdout, units, false);
    }
    parapet_free(units);
}

static void print_unpacked(const tool_counting *counting)
{
    tool_unpacked unpacked = unpacked_of(counting);
    fputs("unpacked", stdout);
    print_units(counting);
    putchar('\n');
    print_number("least", unpacked.least);
    print_number("most", unpacked.most);
    print_number("mean", unpacked.mean);
    print_number("deviation", unpacked.deviation);
}

static void print_moments(const tool_counting *counting)
{
    const tool_moments *moments = &counting->moments;
    printf("  values     %.0f\n  missing    %.0f\n", moments->count, moments->missing);
    if (moments->count == 0)
        return;
    print_extreme(counting, "least", &moments->least);
    print_extreme(counting, "most", &moments->most);
    print_number("mean", mean_of(moments));
    print_number("deviation", deviation_of(moments));
    if (counting->packing.is_packed)
        print_unpacked(counting);
}

/* The units of a packed array are not those of what is stored. */
static void print_for_people(const tool_counting *counting)
{
    char *path = text_visible(counting->request->operands[0]), *type = text_visible(counting->node.info.type_name);
    char *shape = text_of_shape(counting->region.count, counting->region.ndim);
    printf("%s: %s, %s", path, type, shape);
    if (counting->packing.is_packed)
        fputs(", packed", stdout);
    else
        print_units(counting);
    putchar('\n');
    print_moments(counting);
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

static void element_or_null(tool_document *document, const tool_counting *counting, const char *key,
                            const tool_extreme *extreme)
{
    document_key(document, key);
    element_print_json(document->out, &counting->node.info, counting->moments.count > 0 ? extreme->element : NULL);
}

static void document_unpacked(tool_document *document, const tool_counting *counting)
{
    bool is_known = counting->moments.count > 0;
    tool_unpacked unpacked = unpacked_of(counting);
    document_open_object(document, "unpacked");
    number_or_null(document, "min", unpacked.least, is_known);
    number_or_null(document, "max", unpacked.most, is_known);
    number_or_null(document, "mean", unpacked.mean, is_known);
    number_or_null(document, "deviation", unpacked.deviation, is_known);
    document_close(document);
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
    element_or_null(&document, counting, "min", &moments->least);
    element_or_null(&document, counting, "max", &moments->most);
    number_or_null(&document, "mean", mean_of(moments), is_known);
    number_or_null(&document, "deviation", deviation_of(moments), is_known);
    if (counting->packing.is_packed)
        document_unpacked(&document, counting);
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
    counting->packing = packing_of(&counting->node);
    if ((status = count_all(counting)) == PARAPET_OK)
        put_together(counting);
    missing_free(&counting->missing);
    if (status != PARAPET_OK) {
        report_status(status, request->operands[0]);
        return TOOL_FAILED;
    }
    if (request->rank == 0 && request->flags & TOOL_JSON)
        print_for_programs(counting);
    else if (request->rank == 0)
        print_for_people(counting);
    return TOOL_OK;
}

static int run(const tool_request *request)
{
    tool_request shared = *request;
    tool_counting counting = {.request = request};
    parapet_store *store;
    parapet_status status;
    int exit_code = TOOL_FAILED;
    if (!memory_share(&shared, 1, &counting.buffer_bytes))
        return TOOL_USAGE;
    if ((store = store_open(&shared, request->operands[0], PARAPET_READ)) == NULL)
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
               "Values are as stored; of packed ones, with scale_factor or add_offset, there\n"
               "is also what they stand for. All ranks of a launcher share the work. Example:\n"
               "  mpiexec -n 4 parapet stats --region time=0:24 run.zarr/t2m\n",
    .exit_codes = "0 computed, 1 failed, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .is_parallel = true,
    .run = run,
};
