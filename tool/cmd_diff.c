#include "attributes.h"
#include "display.h"
#include "document.h"
#include "element.h"
#include "hierarchy.h"
#include "memory.h"
#include "memory_limit.h"
#include "node.h"
#include "report.h"
#include "screen.h"
#include "store.h"
#include "texts.h"
#include "values.h"
#include "verbs.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {TOOL_LAYOUT, 0, "layout", "count differences in chunks, shards, codecs and seals"},
    {TOOL_QUIET, 'q', "quiet", "print nothing; the exit code tells the result"},
    {0, 0, NULL, NULL},
};

/* Two stores and what was found to differ between them. */
typedef struct tool_comparing {
    const tool_request *request;
    parapet_store *stores[2];
    size_t buffer_bytes;
    tool_document *document; /* NULL: for people */
    const char *path;        /* of what is being compared */
    tool_node nodes[2];
    tool_verdict_counts counts;
} tool_comparing;

static bool is_quiet(const tool_comparing *comparing)
{
    return comparing->request->flags & TOOL_QUIET;
}

static char *shown_path(const tool_comparing *comparing)
{
    return text_visible(comparing->path[0] == '\0' ? "." : comparing->path);
}

/* The first byte in which two texts differ; 0: one is not there. */
static size_t first_difference(const char *a, const char *b)
{
    size_t at = 0;
    while (a != NULL && b != NULL && a[at] != '\0' && a[at] == b[at])
        at++;
    return at;
}

/* One line, which is as long as it must be only with -v. */
static void print_difference(const tool_comparing *comparing, const char *what, const char *a, const char *b,
                             const char *remark)
{
    bool is_whole = comparing->request->flags & TOOL_VERBOSE;
    size_t least = screen_columns() / 4, first = first_difference(a, b), used;
    char *path = shown_path(comparing), *name = text_shortened(what, 0, is_whole ? SIZE_MAX : 2 * least);
    used = strlen(path) + strlen(name) + strlen(":  | ") + 2;
    size_t room = is_whole ? SIZE_MAX : used + 2 * least < screen_columns() ? (screen_columns() - used) / 2 : least;
    char *text_a = text_shortened(a == NULL ? "none" : a, first, room);
    char *text_b = text_shortened(b == NULL ? "none" : b, first, room);
    printf("%s: %s: %s | %s%s\n", path, name, text_a, text_b, remark);
    free(text_b);
    free(text_a);
    free(name);
    free(path);
}

/* Reports one difference as two texts, NULL for what is not there. */
static void differ(tool_comparing *comparing, tool_difference kind, const char *what, const char *a, const char *b)
{
    comparing->counts.differing[kind]++;
    if (comparing->document != NULL) {
        document_open_object(comparing->document, NULL);
        document_text(comparing->document, "path", comparing->path);
        document_text(comparing->document, "what", what);
        document_text(comparing->document, "a", a);
        document_text(comparing->document, "b", b);
        document_close(comparing->document);
    } else if (!is_quiet(comparing)) {
        print_difference(comparing, what, a, b, "");
    }
}

/* Takes both texts over; reports them if they differ. */
static void compare_texts(tool_comparing *comparing, tool_difference kind, const char *what, char *a, char *b)
{
    if (strcmp(a, b) != 0)
        differ(comparing, kind, what, a, b);
    free(a);
    free(b);
}

/* Without --layout only counted, because it explains different sizes, but the arrays hold the same. */
static void compare_layout_texts(tool_comparing *comparing, const char *what, char *a, char *b)
{
    bool is_verbose = comparing->request->flags & TOOL_VERBOSE;
    if (comparing->request->flags & TOOL_LAYOUT) {
        compare_texts(comparing, DIFFERENCE_LAYOUT, what, a, b);
        return;
    }
    if (strcmp(a, b) != 0) {
        comparing->counts.uncounted++;
        if (is_verbose && comparing->document == NULL && !is_quiet(comparing))
            print_difference(comparing, what, a, b, " (layout, not counted)");
    }
    free(a);
    free(b);
}

static char *text_of_shards(const parapet_array_info *info)
{
    return info->is_sharded ? text_of_shape(info->shards, info->ndim) : text_format("none");
}

static void compare_layouts(tool_comparing *comparing, const parapet_array_info *a, const parapet_array_info *b)
{
    compare_layout_texts(comparing, "chunks", text_of_shape(a->chunks, a->ndim), text_of_shape(b->chunks, b->ndim));
    compare_layout_texts(comparing, "shards", text_of_shards(a), text_of_shards(b));
    compare_layout_texts(comparing, "codecs", text_visible(a->codecs), text_visible(b->codecs));
    compare_layout_texts(comparing, "sealed", text_format(a->is_sealed ? "yes" : "no"),
                         text_format(b->is_sealed ? "yes" : "no"));
    compare_layout_texts(comparing, "Zarr format", text_format("%d", a->zarr_format),
                         text_format("%d", b->zarr_format));
}

/* Bitwise, as values are: two spellings of the same NaN are one fill value. */
static void compare_fill_values(tool_comparing *comparing, const parapet_array_info *a, const parapet_array_info *b)
{
    bool is_comparable = a->type == b->type && a->element_bytes == b->element_bytes;
    if (a->fill_value == NULL || b->fill_value == NULL || !is_comparable)
        return;
    if (memcmp(a->fill_value, b->fill_value, a->element_bytes) != 0)
        compare_texts(comparing, DIFFERENCE_FILL_VALUE, "fill value", text_of_element(a, a->fill_value),
                      text_of_element(b, b->fill_value));
}

static void compare_attribute(tool_comparing *comparing, const char *name, const char *a, const char *b)
{
    char *what;
    if (a != NULL && b != NULL && strcmp(a, b) == 0)
        return;
    what = text_format("attribute %s", name);
    differ(comparing, DIFFERENCE_ATTRIBUTE, what, a, b);
    free(what);
}

/* Merges two lists that are in the order of the names. */
static void compare_attribute_lists(tool_comparing *comparing, const tool_attribute_list *a,
                                    const tool_attribute_list *b)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->entries[i].name, b->entries[j].name);
        const char *name = order <= 0 ? a->entries[i].name : b->entries[j].name;
        const char *value_a = order <= 0 ? a->entries[i].value : NULL;
        const char *value_b = order >= 0 ? b->entries[j].value : NULL;
        compare_attribute(comparing, name, value_a, value_b);
        i += order <= 0;
        j += order >= 0;
    }
}

static void fail_at(tool_comparing *comparing, int side)
{
    char *label = tree_label(comparing->request->operands[side], comparing->path);
    report_failure(label);
    free(label);
    comparing->counts.failures++;
}

static void compare_attributes(tool_comparing *comparing)
{
    char *json[2] = {NULL, NULL};
    tool_attribute_list lists[2] = {{0}, {0}};
    bool is_readable = true;
    for (int side = 0; side < 2 && is_readable; side++) {
        is_readable = node_attributes(&comparing->nodes[side], &json[side]) == PARAPET_OK;
        if (is_readable)
            attributes_init(&lists[side], json[side]);
        else
            fail_at(comparing, side);
    }
    if (is_readable)
        compare_attribute_lists(comparing, &lists[0], &lists[1]);
    for (int side = 0; side < 2; side++) {
        attributes_free(&lists[side]);
        parapet_free(json[side]);
    }
}

static void write_values(tool_comparing *comparing, const tool_values_difference *difference)
{
    tool_document *document = comparing->document;
    const parapet_array_info *info = &comparing->nodes[0].info;
    document_open_object(document, NULL);
    document_text(document, "path", comparing->path);
    document_text(document, "what", "values");
    document_key(document, "a");
    element_print_json(document->out, info, difference->first_a);
    document_key(document, "b");
    element_print_json(document->out, info, difference->first_b);
    document_integers(document, "index", difference->first, info->ndim);
    document_integer(document, "differing", difference->differing);
    document_integer(document, "elements", difference->compared);
    document_close(document);
}

static void print_values(const tool_comparing *comparing, const tool_values_difference *difference)
{
    const parapet_array_info *info = &comparing->nodes[0].info;
    char *path = shown_path(comparing);
    char *index = text_of_index(difference->first, info->ndim);
    printf("%s: values: %" PRId64 " of %" PRId64 " elements differ, the first at %s: ", path, difference->differing,
           difference->compared, index);
    element_print(stdout, info, difference->first_a);
    fputs(" | ", stdout);
    element_print(stdout, info, difference->first_b);
    putchar('\n');
    free(index);
    free(path);
}

static void report_values(tool_comparing *comparing, const tool_values_difference *difference)
{
    comparing->counts.elements += difference->compared;
    if (difference->differing == 0)
        return;
    comparing->counts.differing[DIFFERENCE_VALUES]++;
    if (comparing->document != NULL)
        write_values(comparing, difference);
    else if (!is_quiet(comparing))
        print_values(comparing, difference);
}

/* Whether elements can be compared; if not, that is reported with the path of the array as it was given. */
static bool is_comparable(tool_comparing *comparing)
{
    char *label = tree_label(comparing->request->operands[0], comparing->path);
    bool is_readable;
    texts_take(&comparing->nodes[0]);
    texts_take(&comparing->nodes[1]);
    is_readable = node_is_readable(&comparing->nodes[0], label);
    free(label);
    comparing->counts.failures += is_readable ? 0 : 1;
    return is_readable;
}

static void compare_values(tool_comparing *comparing)
{
    tool_values_difference difference = {0};
    parapet_status status;
    char *path = shown_path(comparing);
    status = values_compare(&difference, &comparing->nodes[0], &comparing->nodes[1], comparing->buffer_bytes);
    if (status == PARAPET_OK) {
        report_values(comparing, &difference);
    } else {
        report_error(path, "%s%s", difference.refusal != NULL ? difference.refusal : parapet_error_message(),
                     status == PARAPET_ERR_MEMORY ? " (diff gives each of its two stores 3/8 of --max-mem)" : "");
        comparing->counts.failures++;
    }
    values_difference_free(&difference);
    free(path);
}

static bool has_same_shape(const parapet_array_info *a, const parapet_array_info *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

static void compare_arrays(tool_comparing *comparing)
{
    const parapet_array_info *a = &comparing->nodes[0].info;
    const parapet_array_info *b = &comparing->nodes[1].info;
    comparing->counts.arrays++;
    compare_texts(comparing, DIFFERENCE_TYPE, "type", text_visible(a->type_name), text_visible(b->type_name));
    compare_texts(comparing, DIFFERENCE_SHAPE, "shape", text_of_shape(a->shape, a->ndim),
                  text_of_shape(b->shape, b->ndim));
    compare_texts(comparing, DIFFERENCE_NAMES, "dimensions", text_of_names(a), text_of_names(b));
    compare_fill_values(comparing, a, b);
    compare_attributes(comparing);
    compare_layouts(comparing, a, b);
    /* The same type can carry two names, one per Zarr format. */
    if (a->type == b->type && a->element_bytes == b->element_bytes && has_same_shape(a, b) &&
        is_comparable(comparing))
        compare_values(comparing);
}

static const char *kind_of(const tool_node *node)
{
    return node->array != NULL ? "array" : "group";
}

static void compare_nodes(tool_comparing *comparing, const char *path)
{
    bool are_open = true;
    comparing->path = path;
    for (int side = 0; side < 2 && are_open; side++) {
        are_open = node_open(&comparing->nodes[side], comparing->stores[side], path) == PARAPET_OK;
        if (!are_open)
            fail_at(comparing, side);
    }
    if (are_open && strcmp(kind_of(&comparing->nodes[0]), kind_of(&comparing->nodes[1])) != 0)
        differ(comparing, DIFFERENCE_KIND, "kind", kind_of(&comparing->nodes[0]), kind_of(&comparing->nodes[1]));
    else if (are_open && comparing->nodes[0].array != NULL)
        compare_arrays(comparing);
    else if (are_open)
        compare_attributes(comparing);
    node_close(&comparing->nodes[0]);
    node_close(&comparing->nodes[1]);
}

static void report_lonely(tool_comparing *comparing, const tool_tree_entry *entry, bool is_in_a)
{
    const char *kind = node_kind_name(entry->kind);
    bool is_a_group = entry->kind == PARAPET_NODE_GROUP;
    comparing->path = entry->path;
    differ(comparing,
           is_a_group ? (is_in_a ? DIFFERENCE_GROUP_ONLY_A : DIFFERENCE_GROUP_ONLY_B)
                      : (is_in_a ? DIFFERENCE_ARRAY_ONLY_A : DIFFERENCE_ARRAY_ONLY_B),
           "exists", is_in_a ? kind : NULL, is_in_a ? NULL : kind);
}

/* What is invalid has been reported, and cannot be compared. */
static bool is_valid(const tool_tree_entry *entry)
{
    return entry->kind != PARAPET_NODE_INVALID;
}

/* Merges two trees that are in the order of their paths. */
static void compare_trees(tool_comparing *comparing, const tool_tree *a, const tool_tree *b)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : tree_compare_paths(a->entries[i].path, b->entries[j].path);
        if (order == 0 && is_valid(&a->entries[i]) && is_valid(&b->entries[j]))
            compare_nodes(comparing, a->entries[i].path);
        else if (order != 0)
            report_lonely(comparing, order < 0 ? &a->entries[i] : &b->entries[j], order < 0);
        i += order <= 0;
        j += order >= 0;
    }
}

static bool is_group(parapet_store *store)
{
    parapet_group *group = NULL;
    bool answer = parapet_group_open(&group, store, "") == PARAPET_OK;
    (void)parapet_group_close(&group);
    return answer;
}

static int compare_entry_paths(const void *a, const void *b)
{
    return tree_compare_paths(((const tool_tree_entry *)a)->path, ((const tool_tree_entry *)b)->path);
}

static void compare_stores(tool_comparing *comparing)
{
    tool_tree trees[2];
    if (!is_group(comparing->stores[0]) || !is_group(comparing->stores[1])) {
        compare_nodes(comparing, "");
        return;
    }
    for (int side = 0; side < 2; side++) {
        tree_init(&trees[side], comparing->stores[side], comparing->request->operands[side], true);
        qsort(trees[side].entries, trees[side].count, sizeof(tool_tree_entry), compare_entry_paths);
        comparing->counts.failures += trees[side].failures;
    }
    compare_trees(comparing, &trees[0], &trees[1]);
    tree_free(&trees[0]);
    tree_free(&trees[1]);
}

static int exit_code_of(const tool_comparing *comparing)
{
    if (comparing->counts.failures > 0)
        return TOOL_FAILED;
    return verdict_sum(&comparing->counts) > 0 ? TOOL_DIFFERS : TOOL_OK;
}

static void compare_for_programs(tool_comparing *comparing)
{
    static const char *const results[] = {"same", "failed", "usage", "differs"};
    tool_document document = {.out = stdout};
    comparing->document = &document;
    document_open_object(&document, NULL);
    document_text(&document, "a", comparing->request->operands[0]);
    document_text(&document, "b", comparing->request->operands[1]);
    document_open_list(&document, "differences");
    compare_stores(comparing);
    document_close(&document);
    document_integer(&document, "elements", comparing->counts.elements);
    document_integer(&document, "difference_count", verdict_sum(&comparing->counts));
    document_integer(&document, "layout_not_counted", comparing->counts.uncounted);
    document_integer(&document, "failures", comparing->counts.failures);
    document_text(&document, "result", results[exit_code_of(comparing)]);
    document_close(&document);
    comparing->document = NULL;
}

static int run_comparing(tool_comparing *comparing)
{
    if (comparing->request->flags & TOOL_JSON)
        compare_for_programs(comparing);
    else
        compare_stores(comparing);
    if (!(comparing->request->flags & (TOOL_JSON | TOOL_QUIET)))
        verdict_print(&comparing->counts);
    return exit_code_of(comparing);
}

static int run(const tool_request *request)
{
    tool_request shared = *request;
    tool_comparing comparing = {.request = request};
    int exit_code = TOOL_FAILED;
    if (!memory_share(&shared, 2, &comparing.buffer_bytes))
        return TOOL_USAGE;
    texts_allow(&shared);
    comparing.stores[0] = store_open(&shared, request->operands[0], PARAPET_READ);
    if (comparing.stores[0] != NULL)
        comparing.stores[1] = store_open(&shared, request->operands[1], PARAPET_READ);
    if (comparing.stores[1] != NULL)
        exit_code = run_comparing(&comparing);
    (void)parapet_store_close(&comparing.stores[0]);
    (void)parapet_store_close(&comparing.stores[1]);
    return exit_code;
}

const tool_verb verb_diff = {
    .name = "diff",
    .operands = "A B",
    .summary = "Compares two arrays, or two groups with everything below them.",
    .details = "Compares types, shapes, dimension names, fill values, attributes and values,\n"
               "the values bit by bit.\n",
    .exit_codes = "0 the same, 1 could not be compared, 2 wrong usage, 3 they differ.",
    .flags = flags,
    .operands_min = 2,
    .operands_max = 2,
    .run = run,
};
