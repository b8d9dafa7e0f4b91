#include "display.h"
#include "document.h"
#include "hierarchy.h"
#include "holding.h"
#include "memory.h"
#include "node.h"
#include "quantity.h"
#include "report.h"
#include "store.h"
#include "unfinished.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'L', "level", "--level N", "show only N levels below PATH"},
    {0, NULL, NULL, NULL},
};

/* A drawing of a tree in the making. */
typedef struct tool_drawing {
    const tool_request *request;
    parapet_store *store;
    const tool_tree *tree;
    int64_t levels; /* to be shown */
    int64_t groups, arrays, failures;
    bool *lines; /* at which depths a branch goes on below the entry that is being printed */
} tool_drawing;

static size_t depth_of(const char *path)
{
    size_t depth = path[0] != '\0' ? 1 : 0;
    for (; *path != '\0'; path++)
        depth += *path == '/' ? 1 : 0;
    return depth;
}

/* For each entry whether another with the same parent follows; found from the last to the first. Free with free(). */
static bool *find_followed(const tool_tree *tree, size_t depth_most)
{
    bool *is_followed = memory_get(tree->count * sizeof *is_followed);
    bool *has_later = memory_get((depth_most + 2) * sizeof *has_later); /* at this depth, below the same parent */
    memset(has_later, 0, (depth_most + 2) * sizeof *has_later);
    for (size_t i = tree->count; i-- > 0;) {
        size_t depth = depth_of(tree->entries[i].path);
        is_followed[i] = has_later[depth];
        has_later[depth] = true;
        has_later[depth + 1] = false;
    }
    free(has_later);
    return is_followed;
}

static size_t depth_most_of(const tool_tree *tree)
{
    size_t most = 0;
    for (size_t i = 0; i < tree->count; i++) {
        size_t depth = depth_of(tree->entries[i].path);
        most = depth > most ? depth : most;
    }
    return most;
}

/* lines: at which depths a branch goes on, of the ancestors of this entry. */
static void print_branches(const bool *lines, size_t depth)
{
    for (size_t above = 1; above < depth; above++)
        fputs(lines[above] ? "│   " : "    ", stdout);
    fputs(lines[depth] ? "├── " : "└── ", stdout);
}

/* "float32 (time: 200, lat: 60)", "float32 (4, 6)" */
static char *text_of_array(const parapet_array_info *info)
{
    char *type = text_visible(info->type_name), *text = text_format("%s (", type);
    free(type);
    for (int d = 0; d < info->ndim; d++) {
        const char *name = info->dimension_names != NULL ? info->dimension_names[d] : NULL;
        char *visible = text_visible(name != NULL ? name : "");
        char *longer = text_format("%s%s%s%s%" PRId64, text, d > 0 ? ", " : "", visible, name != NULL ? ": " : "",
                                   info->shape[d]);
        free(visible);
        free(text);
        text = longer;
    }
    char *whole = text_format("%s)", text);
    free(text);
    return whole;
}

/* What stands behind the name of a node. */
static char *text_of_details(tool_drawing *drawing, const tool_tree_entry *entry)
{
    tool_holding holding = {0};
    tool_node node = {0};
    char *text = NULL;
    if (entry->kind == PARAPET_NODE_GROUP && holding_init(&holding, drawing->store, entry->path) == PARAPET_OK)
        text = text_of_holding(&holding);
    else if (entry->kind == PARAPET_NODE_ARRAY && node_open(&node, drawing->store, entry->path) == PARAPET_OK)
        text = text_of_array(&node.info);
    else
        text = text_format("%s", entry->kind == PARAPET_NODE_INVALID ? "invalid" : "unreadable");
    holding_free(&holding);
    node_close(&node);
    return text;
}

static void print_entry(tool_drawing *drawing, size_t index)
{
    const tool_tree_entry *entry = &drawing->tree->entries[index];
    const char *slash = strrchr(entry->path, '/');
    char *name = text_visible(slash != NULL ? slash + 1 : entry->path), *details = text_of_details(drawing, entry);
    print_branches(drawing->lines, depth_of(entry->path));
    printf("%s%s%s%s\n", name, entry->kind == PARAPET_NODE_GROUP ? "/" : "", details != NULL ? "  " : "",
           details != NULL ? details : "");
    free(details);
    free(name);
}

static void count_entry(tool_drawing *drawing, const tool_tree_entry *entry)
{
    drawing->groups += entry->kind == PARAPET_NODE_GROUP ? 1 : 0;
    drawing->arrays += entry->kind == PARAPET_NODE_ARRAY ? 1 : 0;
}

static void print_tree(tool_drawing *drawing)
{
    char *visible = text_visible(drawing->request->operands[0]);
    size_t depth_most = depth_most_of(drawing->tree);
    bool *is_followed = find_followed(drawing->tree, depth_most);
    printf("%s\n", visible);
    free(visible);
    drawing->lines = memory_get((depth_most + 1) * sizeof *drawing->lines);
    for (size_t i = 1; i < drawing->tree->count; i++) {
        const tool_tree_entry *entry = &drawing->tree->entries[i];
        drawing->lines[depth_of(entry->path)] = is_followed[i];
        count_entry(drawing, entry);
        if ((int64_t)depth_of(entry->path) <= drawing->levels)
            print_entry(drawing, i);
    }
    printf("%" PRId64 " group%s, %" PRId64 " array%s\n", drawing->groups, drawing->groups == 1 ? "" : "s",
           drawing->arrays, drawing->arrays == 1 ? "" : "s");
    free(drawing->lines);
    drawing->lines = NULL;
    free(is_followed);
}

/* The nodes below entry *index, which is moved behind them. */
static void write_children(tool_drawing *drawing, tool_document *document, size_t *index)
{
    const tool_tree *tree = drawing->tree;
    size_t depth = depth_of(tree->entries[*index].path);
    (*index)++;
    document_open_list(document, "nodes");
    while (*index < tree->count && depth_of(tree->entries[*index].path) > depth) {
        const tool_tree_entry *entry = &tree->entries[*index];
        char *details = text_of_details(drawing, entry);
        document_open_object(document, NULL);
        document_text(document, "path", entry->path);
        document_text(document, "kind", node_kind_name(entry->kind));
        document_text(document, "details", details);
        free(details);
        write_children(drawing, document, index);
        document_close(document);
    }
    document_close(document);
}

static void write_tree(tool_drawing *drawing)
{
    tool_document document = {.out = stdout};
    size_t index = 0;
    document_open_object(&document, NULL);
    document_text(&document, "path", drawing->request->operands[0]);
    write_children(drawing, &document, &index);
    document_close(&document);
}

static int run_opened(tool_drawing *drawing)
{
    const char *url = drawing->request->operands[0];
    tool_tree tree;
    tool_node node;
    parapet_status status = node_open(&node, drawing->store, "");
    bool is_group = node.group != NULL;
    node_close(&node);
    if (status != PARAPET_OK || !is_group) {
        if (status != PARAPET_OK)
            report_status(status, url);
        else
            report_error(url, "it is an array, and has nothing below it; parapet info tells about it");
        return TOOL_FAILED;
    }
    tree_init(&tree, drawing->store, url, true);
    drawing->tree = &tree;
    if (drawing->request->flags & TOOL_JSON)
        write_tree(drawing);
    else
        print_tree(drawing);
    appends_report(drawing->request, &tree);
    drawing->failures += tree.failures;
    tree_free(&tree);
    drawing->tree = NULL;
    return drawing->failures > 0 ? TOOL_FAILED : TOOL_OK;
}

static int run(const tool_request *request)
{
    tool_drawing drawing = {.request = request, .levels = INT64_MAX};
    int exit_code;
    if (!integer_parse(request, "level", 1, &drawing.levels))
        return TOOL_USAGE;
    drawing.store = store_open(request, request->operands[0], PARAPET_READ);
    if (drawing.store == NULL)
        return TOOL_FAILED;
    exit_code = run_opened(&drawing);
    (void)parapet_store_close(&drawing.store);
    return exit_code;
}

const tool_verb verb_tree = {
    .name = "tree",
    .operands = "PATH",
    .summary = "Draws the groups and arrays of a store as a tree.",
    .details = "Arrays have their type, dimensions and shape beside their name.\n",
    .exit_codes = "0 drawn, 1 failed, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
