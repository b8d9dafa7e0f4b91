#include "attributes.h"
#include "display.h"
#include "document.h"
#include "element.h"
#include "hierarchy.h"
#include "holding.h"
#include "memory.h"
#include "node.h"
#include "report.h"
#include "screen.h"
#include "store.h"
#include "table.h"
#include "unfinished.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {{0, 0, NULL, NULL}};

/* What is shown of an array beside its metadata. */
typedef struct tool_facts {
    const parapet_array_info *info;
    char *attributes; /* JSON */
    char *locks;      /* of the store; NULL: not told */
    bool has_survey;  /* false: the array can be opened, but not looked through, */
    char *reason;     /* and why */
    parapet_check_summary survey;
    int64_t logical_bytes;
} tool_facts;

static parapet_status facts_init(tool_facts *facts, tool_node *node)
{
    parapet_status status;
    *facts = (tool_facts){.info = &node->info, .logical_bytes = logical_bytes(&node->info)};
    status = node_attributes(node, &facts->attributes);
    if (status == PARAPET_OK)
        status = parapet_array_check(node->array, PARAPET_CHECK_SURVEY, NULL, NULL, &facts->survey);
    facts->has_survey = status == PARAPET_OK;
    facts->reason = text_format("%s", parapet_error_message());
    return status == PARAPET_ERR_UNSUPPORTED ? PARAPET_OK : status;
}

static void facts_free(tool_facts *facts)
{
    parapet_free(facts->attributes);
    facts->attributes = NULL;
    free(facts->locks);
    facts->locks = NULL;
    free(facts->reason);
    facts->reason = NULL;
}

static double ratio_of(int64_t logical, int64_t stored)
{
    return stored > 0 ? (double)logical / (double)stored : 0;
}

/* "100 %", but never when something is absent. */
static char *text_of_completeness(const parapet_check_summary *survey)
{
    int64_t expected = survey->shards_expected;
    int64_t present = survey->shards_present;
    double percent = expected > 0 ? 100.0 * (double)present / (double)expected : 100;
    if (present < expected && percent > 99.9)
        percent = 99.9;
    return text_format("%" PRId64 " of %" PRId64 " shards (%.4g %%)", present, expected, percent);
}

static char *text_of_bytes(int64_t bytes)
{
    char *size = text_of_size(bytes);
    char *text = bytes < 1024 ? text_format("%s", size) : text_format("%s (%" PRId64 " bytes)", size, bytes);
    free(size);
    return text;
}

static char *text_of_ratio(int64_t logical, int64_t stored)
{
    return stored > 0 && logical > 0 ? text_format("%.2f", ratio_of(logical, stored)) : text_format("-");
}

static void add_fact(tool_table *table, const char *name, char *value)
{
    table_add(table, text_format("%s", name));
    table_add(table, value);
}

static void add_metadata(tool_table *table, const parapet_array_info *info)
{
    add_fact(table, "type", text_visible(info->type_name));
    add_fact(table, "shape", text_of_shape(info->shape, info->ndim));
    add_fact(table, "dimensions", text_of_names(info));
    add_fact(table, "chunks", text_of_shape(info->chunks, info->ndim));
    add_fact(table, "shards", info->is_sharded ? text_of_shape(info->shards, info->ndim) : text_format("none"));
    add_fact(table, "codecs", text_visible(info->codecs));
    add_fact(table, "fill value", text_of_element(info, info->fill_value));
    add_fact(table, "Zarr format", text_format("%d", info->zarr_format));
    add_fact(table, "sealed", text_format(info->is_sealed ? "yes" : "no"));
}

static void add_survey(tool_table *table, const tool_facts *facts)
{
    const parapet_check_summary *survey = &facts->survey;
    if (!facts->has_survey) {
        add_fact(table, "stored", text_format("unknown: %s", facts->reason));
        return;
    }
    add_fact(table, "data files", text_format("%" PRId64, survey->shards_present));
    add_fact(table, "stored", text_of_bytes(survey->stored_bytes));
    add_fact(table, "logical", text_of_bytes(facts->logical_bytes));
    add_fact(table, "ratio", text_of_ratio(facts->logical_bytes, survey->stored_bytes));
    add_fact(table, "complete", text_of_completeness(survey));
}

/* A name and a value that fit on one line. */
static void print_attribute_shortened(const tool_attribute *attribute)
{
    size_t room = screen_columns() - strlen("    : ");
    char *name = text_shortened(attribute->name, 0, room / 2);
    char *value = text_shortened(attribute->value, 0, room - strlen(name));
    printf("    %s: %s\n", name, value);
    free(name);
    free(value);
}

static void print_attributes(const tool_request *request, const char *json)
{
    tool_attribute_list list;
    attributes_init(&list, json);
    printf("  attributes%s\n", list.count == 0 ? "   none" : "");
    for (size_t i = 0; i < list.count; i++)
        if (request->flags & TOOL_VERBOSE)
            printf("    %s: %s\n", list.entries[i].name, list.entries[i].value);
        else
            print_attribute_shortened(&list.entries[i]);
    attributes_free(&list);
}

static void write_metadata(tool_document *document, const tool_facts *facts)
{
    const parapet_array_info *info = facts->info;
    document_integer(document, "zarr_format", info->zarr_format);
    document_text(document, "type", info->type_name);
    document_integer(document, "element_bytes", (int64_t)info->element_bytes);
    document_integers(document, "shape", info->shape, info->ndim);
    document_integers(document, "chunks", info->chunks, info->ndim);
    if (info->is_sharded)
        document_integers(document, "shards", info->shards, info->ndim);
    else
        document_null(document, "shards");
    document_text(document, "codecs", info->codecs);
    document_key(document, "fill_value");
    element_print_json(document->out, info, info->fill_value);
    if (info->dimension_names == NULL) {
        document_null(document, "dimension_names");
    } else {
        document_open_list(document, "dimension_names");
        for (int d = 0; d < info->ndim; d++)
            document_text(document, NULL, info->dimension_names[d]);
        document_close(document);
    }
    document_truth(document, "sealed", info->is_sealed);
}

static void write_totals(tool_document *document, const parapet_check_summary *survey, int64_t logical)
{
    document_integer(document, "files", survey->shards_present);
    document_integer(document, "stored_bytes", survey->stored_bytes);
    document_integer(document, "logical_bytes", logical);
    if (survey->stored_bytes > 0)
        document_number(document, "ratio", ratio_of(logical, survey->stored_bytes));
    else
        document_null(document, "ratio");
    document_integer(document, "shards_expected", survey->shards_expected);
    document_integer(document, "shards_present", survey->shards_present);
}

static void write_unknown_totals(tool_document *document)
{
    static const char *const keys[] = {"files", "stored_bytes",    "logical_bytes",
                                       "ratio", "shards_expected", "shards_present"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        document_null(document, keys[i]);
}

static void write_array(tool_document *document, const char *path, const tool_facts *facts)
{
    document_open_object(document, NULL);
    document_text(document, "path", path);
    document_text(document, "kind", "array");
    write_metadata(document, facts);
    if (facts->has_survey)
        write_totals(document, &facts->survey, facts->logical_bytes);
    else
        write_unknown_totals(document);
    if (facts->locks != NULL)
        document_text(document, "locks", facts->locks);
    document_json(document, "attributes", facts->attributes);
    document_close(document);
}

static void print_array(const tool_request *request, const tool_facts *facts)
{
    tool_table table = {.columns = 2};
    char *visible = text_visible(request->operands[0]);
    printf("%s: array\n", visible);
    free(visible);
    add_metadata(&table, facts->info);
    add_survey(&table, facts);
    add_fact(&table, "locks", text_format("%s", facts->locks));
    table_print(&table, "  ");
    table_free(&table);
    print_attributes(request, facts->attributes);
}

/* Why the array is cut as it is; nothing for an array that cannot be read. */
static void print_layout(tool_node *node)
{
    char *text = NULL;
    if (parapet_array_layout_print(node->array, &text) == PARAPET_OK)
        printf("%s", text);
    parapet_free(text);
}

static int show_array(const tool_request *request, parapet_store *store, tool_node *node)
{
    tool_document document = {.out = stdout};
    tool_facts facts;
    parapet_status status = facts_init(&facts, node);
    if (status != PARAPET_OK) {
        report_status(status, request->operands[0]);
        facts_free(&facts);
        return TOOL_FAILED;
    }
    facts.locks = text_of_locks(store);
    if (request->flags & TOOL_JSON)
        write_array(&document, request->operands[0], &facts);
    else
        print_array(request, &facts);
    if ((request->flags & TOOL_VERBOSE) && !(request->flags & TOOL_JSON))
        print_layout(node);
    facts_free(&facts);
    return TOOL_OK;
}

/* The arrays below a group, and their sum. */
typedef struct tool_summary {
    const tool_request *request;
    parapet_store *store;
    tool_document *document; /* NULL: for people */
    tool_table *table;
    parapet_check_summary total;
    int64_t logical_bytes;
    int64_t groups;
    int64_t arrays;
    int64_t failures;
    tool_tree tree; /* what is below */
} tool_summary;

static void add_row(tool_table *table, const char *path, const tool_facts *facts)
{
    const parapet_array_info *info = facts->info;
    table_add(table, text_visible(path));
    table_add(table, text_visible(info->type_name));
    table_add(table, text_of_shape(info->shape, info->ndim));
    table_add(table, text_of_shape(info->chunks, info->ndim));
    table_add(table, info->is_sharded ? text_of_shape(info->shards, info->ndim) : text_format("none"));
    table_add(table, facts->has_survey ? text_of_size(facts->survey.stored_bytes) : text_format("unknown"));
    table_add(table, facts->has_survey ? text_of_size(facts->logical_bytes) : text_format("unknown"));
    table_add(table, text_of_ratio(facts->logical_bytes, facts->survey.stored_bytes));
    table_add(table,
              text_format("%" PRId64 "/%" PRId64, facts->survey.shards_present, facts->survey.shards_expected));
    table_add(table, text_format(info->is_sealed ? "yes" : "no"));
}

/* All columns with -v; otherwise those go first that the type, the shape and the sum below tell. */
static void add_headings(tool_table *table, bool is_verbose)
{
    static const char *const headings[] = {"array",  "type",    "shape", "chunks",   "shards",
                                           "stored", "logical", "ratio", "complete", "sealed"};
    static const size_t spare[] = {7, 6};
    table->spare = spare;
    table->spare_count = is_verbose ? 0 : sizeof spare / sizeof spare[0];
    table->columns = sizeof headings / sizeof headings[0];
    for (size_t i = 0; i < table->columns; i++)
        table_add(table, text_format("%s", headings[i]));
}

static void add_to_total(tool_summary *summary, const tool_facts *facts)
{
    summary->total.shards_expected += facts->survey.shards_expected;
    summary->total.shards_present += facts->survey.shards_present;
    summary->total.stored_bytes += facts->survey.stored_bytes;
    if (__builtin_add_overflow(summary->logical_bytes, facts->logical_bytes, &summary->logical_bytes))
        summary->logical_bytes = INT64_MAX;
}

static void write_failure(tool_document *document, const char *path)
{
    document_open_object(document, NULL);
    document_text(document, "path", path);
    document_text(document, "kind", "array");
    document_text(document, "error", parapet_error_message());
    document_close(document);
}

static void report_below(tool_summary *summary, const char *path)
{
    char *label = tree_label(summary->request->operands[0], path);
    report_failure(label);
    if (summary->document != NULL)
        write_failure(summary->document, path);
    free(label);
    summary->failures++;
}

static void add_array(tool_summary *summary, const char *path)
{
    tool_node node = {0};
    tool_facts facts = {0};
    summary->arrays++;
    if (node_open(&node, summary->store, path) != PARAPET_OK || facts_init(&facts, &node) != PARAPET_OK) {
        report_below(summary, path);
    } else {
        add_to_total(summary, &facts);
        if (summary->document != NULL)
            write_array(summary->document, path, &facts);
        else
            add_row(summary->table, path, &facts);
    }
    facts_free(&facts);
    node_close(&node);
}

static void add_tree(tool_summary *summary)
{
    const tool_tree *tree = &summary->tree;
    tree_init(&summary->tree, summary->store, summary->request->operands[0], true);
    for (size_t i = 1; i < tree->count; i++) {
        if (tree->entries[i].kind == PARAPET_NODE_ARRAY)
            add_array(summary, tree->entries[i].path);
        else if (tree->entries[i].kind == PARAPET_NODE_GROUP)
            summary->groups++;
    }
    summary->failures += tree->failures;
}

static void print_sums(const tool_summary *summary)
{
    char *locks = text_of_locks(summary->store);
    char *stored = text_of_bytes(summary->total.stored_bytes), *logical = text_of_bytes(summary->logical_bytes);
    char *text = text_format("\n  arrays %" PRId64 ", groups %" PRId64 ", data files %" PRId64
                             ", stored %s, logical %s\n  locks %s\n",
                             summary->arrays, summary->groups, summary->total.shards_present, stored, logical, locks);
    text_print_folded(text);
    free(text);
    free(logical);
    free(stored);
    free(locks);
}

static void print_group(tool_summary *summary, const tool_holding *holding, const char *attributes)
{
    tool_table table = {0};
    char *held = text_of_holding(holding);
    char *visible = text_visible(summary->request->operands[0]);
    printf("%s: group\n", visible);
    if (held != NULL)
        printf("  %s\n", held);
    print_attributes(summary->request, attributes);
    add_headings(&table, summary->request->flags & TOOL_VERBOSE);
    summary->table = &table;
    add_tree(summary);
    if (table.count > table.columns) {
        putchar('\n');
        table_print(&table, "  ");
    }
    print_sums(summary);
    summary->table = NULL;
    table_free(&table);
    free(visible);
    free(held);
}

static void write_group(tool_summary *summary, const tool_holding *holding, const char *attributes)
{
    tool_document document = {.out = stdout};
    char *locks = text_of_locks(summary->store);
    summary->document = &document;
    document_open_object(&document, NULL);
    document_text(&document, "path", summary->request->operands[0]);
    document_text(&document, "kind", "group");
    holding_write(&document, holding);
    document_json(&document, "attributes", attributes);
    document_open_list(&document, "arrays");
    add_tree(summary);
    document_close(&document);
    document_integer(&document, "array_count", summary->arrays);
    document_integer(&document, "group_count", summary->groups);
    write_totals(&document, &summary->total, summary->logical_bytes);
    document_text(&document, "locks", locks);
    document_close(&document);
    summary->document = NULL;
    free(locks);
}

static int show_group(const tool_request *request, parapet_store *store, tool_node *node)
{
    tool_summary summary = {.request = request, .store = store};
    tool_holding holding = {0};
    char *attributes = NULL;
    if (node_attributes(node, &attributes) != PARAPET_OK || holding_init(&holding, store, "") != PARAPET_OK) {
        report_failure(request->operands[0]);
        summary.failures++;
    } else if (request->flags & TOOL_JSON) {
        write_group(&summary, &holding, attributes);
    } else {
        print_group(&summary, &holding, attributes);
    }
    holding_free(&holding);
    parapet_free(attributes);
    appends_report(request, &summary.tree);
    tree_free(&summary.tree);
    return summary.failures > 0 ? TOOL_FAILED : TOOL_OK;
}

static int run(const tool_request *request)
{
    parapet_store *store = store_open(request, request->operands[0], PARAPET_READ);
    tool_node node = {0};
    int exit_code = TOOL_FAILED;
    parapet_status status;
    if (store == NULL)
        return TOOL_FAILED;
    if (unfinished_refuse(request->operands[0])) {
        (void)parapet_store_close(&store);
        return TOOL_FAILED;
    }
    if ((status = node_open(&node, store, "")) != PARAPET_OK)
        report_status(status, request->operands[0]);
    else
        exit_code = node.array != NULL ? show_array(request, store, &node) : show_group(request, store, &node);
    if (node.array != NULL)
        appends_report(request, NULL);
    node_close(&node);
    (void)parapet_store_close(&store);
    (void)fflush(stdout);
    unfinished_report(request->operands[0]);
    return exit_code;
}

const tool_verb verb_info = {
    .name = "info",
    .operands = "PATH",
    .summary = "Shows what an array is and how it is stored, or a whole group.",
    .details = "For a checkpoint, also shows its generations; for a series, its steps.\n",
    .exit_codes = "0 shown, 1 failed, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
