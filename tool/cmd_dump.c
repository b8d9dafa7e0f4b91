#include "arguments.h"
#include "display.h"
#include "document.h"
#include "element.h"
#include "memory.h"
#include "memory_limit.h"
#include "node.h"
#include "quantity.h"
#include "region.h"
#include "region_read.h"
#include "report.h"
#include "screen.h"
#include "store.h"
#include "texts.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'r', "region", "--region LIST", "a part: \"time=0:10,lat=5\" or \"0:10,5,:\""},
    {'f', "format", "--format F", "text, csv, json or binary (as in memory, C order)"},
    {0, NULL, NULL, NULL},
};

/* Values that are being printed. */
typedef struct tool_dumping {
    const tool_request *request;
    tool_node node;
    tool_region region;
    size_t buffer_bytes;
    size_t used; /* columns of the line */
    bool has_failed;
} tool_dumping;

typedef void (*element_visitor)(tool_dumping *dumping, const int64_t *at, const void *element);

/* Calls for each element of a piece, in the order of the elements. */
static void each_element(tool_dumping *dumping, const tool_region *piece, const unsigned char *data,
                         element_visitor visit)
{
    int64_t at[PARAPET_MAX_NDIM], elements = region_elements(piece);
    memcpy(at, piece->start, sizeof at);
    for (int64_t i = 0; i < elements; i++) {
        visit(dumping, at, data + (size_t)i * dumping->node.info.element_bytes);
        for (int d = piece->ndim - 1; d >= 0; d--) {
            if (++at[d] < piece->start[d] + piece->count[d])
                break;
            at[d] = piece->start[d];
        }
    }
}

/* Whether the element is the first of a row of the last dimension. */
static bool begins_row(const tool_dumping *dumping, const int64_t *at)
{
    int last = dumping->region.ndim - 1;
    return last < 0 || at[last] == dumping->region.start[last];
}

/* ---- Text ---- */

/* "[3, 0, :]" before each row of an array of several dimensions. */
static void print_row_head(tool_dumping *dumping, const int64_t *at)
{
    int last = dumping->region.ndim - 1;
    if (dumping->used > 0)
        putchar('\n');
    dumping->used = 0;
    if (last < 1)
        return;
    putchar('[');
    for (int d = 0; d < last; d++)
        printf("%" PRId64 ", ", at[d]);
    printf("%" PRId64 ":%" PRId64 "]\n", dumping->region.start[last],
           dumping->region.start[last] + dumping->region.count[last]);
}

static void print_words(tool_dumping *dumping, const int64_t *at, const void *element)
{
    char *text = text_of_element(&dumping->node.info, element);
    size_t length = strlen(text);
    if (begins_row(dumping, at))
        print_row_head(dumping, at);
    if (dumping->used > 0 && dumping->used + 1 + length > screen_columns()) {
        putchar('\n');
        dumping->used = 0;
    }
    dumping->used += (size_t)printf("%s%s", dumping->used > 0 ? " " : dumping->region.ndim > 1 ? "  " : "", text);
    free(text);
}

static void take_text(void *context, const tool_region *piece, const void *data)
{
    each_element(context, piece, data, print_words);
}

/* ---- CSV ---- */

/* One part of a complex number; of others, the element. */
static void init_field(const parapet_array_info *info, parapet_array_info *field, int *fields)
{
    bool is_complex = info->type == PARAPET_COMPLEX64 || info->type == PARAPET_COMPLEX128;
    *field = *info;
    *fields = is_complex ? 2 : 1;
    if (is_complex) {
        field->type = info->type == PARAPET_COMPLEX64 ? PARAPET_FLOAT32 : PARAPET_FLOAT64;
        field->element_bytes = info->element_bytes / 2;
    }
}

/* A name, in quotes if it has characters that end a field; takes it over. */
static void print_csv_name(char *name, const char *behind)
{
    bool is_quoted = strpbrk(name, ",\"\r\n") != NULL;
    fputs(is_quoted ? "\"" : "", stdout);
    for (const char *at = name; *at != '\0'; at++)
        printf("%s%c", *at == '"' ? "\"" : "", *at);
    printf("%s%s", is_quoted ? "\"" : "", behind);
    free(name);
}

static void print_csv_head(const tool_dumping *dumping)
{
    const parapet_array_info *info = &dumping->node.info;
    const char *slash = strrchr(dumping->request->operands[0], '/');
    char *name = text_visible(slash != NULL && slash[1] != '\0' ? slash + 1 : "value");
    parapet_array_info field;
    int fields;
    init_field(info, &field, &fields);
    for (int d = 0; d < info->ndim; d++) {
        const char *own = info->dimension_names != NULL ? info->dimension_names[d] : NULL;
        print_csv_name(own != NULL ? text_visible(own) : text_format("dim_%d", d), ",");
    }
    if (fields == 2) {
        print_csv_name(text_format("%s.real", name), ",");
        print_csv_name(text_format("%s.imag", name), "\n");
        free(name);
    } else {
        print_csv_name(name, "\n");
    }
}

/* Text has its quotes doubled, as CSV wants it. */
static void print_csv_field(const parapet_array_info *field, const void *element, const char *behind)
{
    char *text = element_text(field, element);
    if (text != NULL) {
        print_csv_name(text_visible(text), behind);
    } else {
        element_print(stdout, field, element);
        fputs(behind, stdout);
    }
    free(text);
}

static void print_csv(tool_dumping *dumping, const int64_t *at, const void *element)
{
    parapet_array_info field;
    int fields;
    init_field(&dumping->node.info, &field, &fields);
    for (int d = 0; d < dumping->region.ndim; d++)
        printf("%" PRId64 ",", at[d]);
    for (int i = 0; i < fields; i++)
        print_csv_field(&field, (const char *)element + (size_t)i * field.element_bytes, i + 1 < fields ? "," : "\n");
}

static void take_csv(void *context, const tool_region *piece, const void *data)
{
    each_element(context, piece, data, print_csv);
}

/* ---- JSON ---- */

/* Opens the lists that begin with this element. */
static void open_lists(const tool_dumping *dumping, const int64_t *at)
{
    int first = dumping->region.ndim - 1;
    while (first >= 0 && at[first] == dumping->region.start[first])
        first--;
    if (first >= 0 && first < dumping->region.ndim - 1)
        fputs(",\n    ", stdout);
    else if (first == dumping->region.ndim - 1 && first >= 0)
        fputs(", ", stdout);
    for (int d = first + 1; d < dumping->region.ndim; d++)
        putchar('[');
}

static void print_json(tool_dumping *dumping, const int64_t *at, const void *element)
{
    open_lists(dumping, at);
    element_print_json(stdout, &dumping->node.info, element);
    for (int d = dumping->region.ndim - 1; d >= 0 && at[d] == dumping->region.start[d] + dumping->region.count[d] - 1;
         d--)
        putchar(']');
}

static void take_json(void *context, const tool_region *piece, const void *data)
{
    each_element(context, piece, data, print_json);
}

static parapet_status dump_json(tool_dumping *dumping)
{
    tool_document document = {.out = stdout};
    const parapet_array_info *info = &dumping->node.info;
    parapet_status status;
    document_open_object(&document, NULL);
    document_text(&document, "path", dumping->request->operands[0]);
    document_text(&document, "type", info->type_name);
    document_integers(&document, "start", dumping->region.start, info->ndim);
    document_integers(&document, "shape", dumping->region.count, info->ndim);
    document_key(&document, "values");
    if (region_elements(&dumping->region) == 0)
        fputs("[]", stdout);
    status = region_visit(&dumping->node, &dumping->region, dumping->buffer_bytes, take_json, dumping);
    document_close(&document);
    return status;
}

/* ---- Binary ---- */

/* Not through the stream, which makes visible what is printed. */
static void take_binary(void *context, const tool_region *piece, const void *data)
{
    tool_dumping *dumping = context;
    const char *at = data;
    size_t bytes = (size_t)region_elements(piece) * dumping->node.info.element_bytes;
    while (bytes > 0 && !dumping->has_failed) {
        ssize_t written = write(STDOUT_FILENO, at, bytes);
        dumping->has_failed = written < 0;
        at += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
}

/* ---- Together ---- */

static const char *format_of(const tool_request *request)
{
    const char *format = request_value(request, "format");
    if (format == NULL)
        return request->flags & TOOL_JSON ? "json" : "text";
    return format;
}

static bool check_format(const tool_request *request)
{
    static const char *const known[] = {"text", "csv", "json", "binary"};
    const char *format = format_of(request);
    if (strcmp(format, "binary") == 0 && isatty(STDOUT_FILENO)) {
        report_error("dump", "binary values do not go to a terminal: redirect them to a file, with > values.bin");
        return false;
    }
    if (request->flags & TOOL_JSON && strcmp(format, "json") != 0) {
        report_error("dump", "--json and --format %s contradict each other: give one of them", format);
        return false;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(format, known[i]) == 0)
            return true;
    return value_refuse("format", format, "text, csv, json or binary");
}

static parapet_status dump(tool_dumping *dumping)
{
    const char *format = format_of(dumping->request);
    parapet_status status;
    if (strcmp(format, "json") == 0)
        return dump_json(dumping);
    if (strcmp(format, "binary") == 0)
        return region_visit(&dumping->node, &dumping->region, dumping->buffer_bytes, take_binary, dumping);
    if (strcmp(format, "csv") == 0) {
        print_csv_head(dumping);
        return region_visit(&dumping->node, &dumping->region, dumping->buffer_bytes, take_csv, dumping);
    }
    status = region_visit(&dumping->node, &dumping->region, dumping->buffer_bytes, take_text, dumping);
    if (dumping->used > 0)
        putchar('\n');
    return status;
}

static int run_opened(tool_dumping *dumping)
{
    const char *path = dumping->request->operands[0];
    parapet_status status;
    texts_take(&dumping->node);
    if (!node_is_readable(&dumping->node, path))
        return TOOL_FAILED;
    if (texts_are_in(&dumping->node) && strcmp(format_of(dumping->request), "binary") == 0) {
        report_error(path, "texts have no fixed length: print them as text, csv or json");
        return TOOL_FAILED;
    }
    if (!region_parse(dumping->request, &dumping->node.info, &dumping->region))
        return TOOL_USAGE;
    status = dump(dumping);
    if (status != PARAPET_OK)
        report_status(status, path);
    if (dumping->has_failed)
        report_error("standard output", "cannot be written");
    return status == PARAPET_OK && !dumping->has_failed ? TOOL_OK : TOOL_FAILED;
}

static int run(const tool_request *given)
{
    tool_request allowed = *given;
    const tool_request *request = &allowed;
    tool_dumping dumping = {.request = request};
    parapet_store *store;
    parapet_status status;
    int exit_code = TOOL_FAILED;
    if (!check_format(request) || !memory_share(&allowed, 1, &dumping.buffer_bytes))
        return TOOL_USAGE;
    texts_allow(&allowed);
    if ((store = store_open(request, request->operands[0], PARAPET_READ)) == NULL)
        return TOOL_FAILED;
    if ((status = node_open(&dumping.node, store, "")) == PARAPET_OK)
        exit_code = run_opened(&dumping);
    else
        report_status(status, request->operands[0]);
    node_close(&dumping.node);
    (void)parapet_store_close(&store);
    return exit_code;
}

const tool_verb verb_dump = {
    .name = "dump",
    .operands = "ARRAY",
    .summary = "Prints the values of an array, or of a region of it.",
    .details = "A region is a range or an index for each dimension, in order or by name; the end\n"
               "of a range is not included. CSV has a line for each element, with its indices.\n"
               "Only the chunks of the region are read. Examples:\n"
               "  parapet dump --region time=0,lat=10:12 run.zarr/t2m\n"
               "  parapet dump --format csv run.zarr/t2m > t2m.csv\n",
    .exit_codes = "0 printed, 1 failed, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
