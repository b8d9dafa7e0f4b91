#include "display.h"
#include "document.h"
#include "hierarchy.h"
#include "holding.h"
#include "memory.h"
#include "node.h"
#include "report.h"
#include "store.h"
#include "table.h"
#include "unfinished.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {TOOL_LONG, 'l', "long", "also print the type, shape and chunks of arrays"},
    {TOOL_RECURSIVE, 'R', "recursive", "list everything below, with paths"},
    {0, 0, NULL, NULL},
};

/* A listing in the making; in a document it goes out at once, for people at the end, in columns. */
typedef struct tool_listing {
    const tool_request *request;
    parapet_store *store;
    tool_document *document; /* NULL: for people */
    tool_table *table;
    tool_tree tree;           /* what is listed; empty for an array */
    tool_holding generations; /* of all groups so far */
    int64_t failures;
} tool_listing;

/* One line of it. */
typedef struct tool_line {
    const char *path; /* in the store */
    const char *name; /* as it is shown */
    parapet_node_kind kind;
    tool_node node;       /* of an array, where it is asked for */
    tool_holding holding; /* of a group */
    int64_t generation;   /* that it is; 0: none */
    const char *problem;  /* why it is invalid; NULL: it is not */
} tool_line;

static int64_t find_generation(const tool_listing *listing, const char *path)
{
    const tool_holding *known = &listing->generations;
    for (size_t i = 0; i < known->generation_count; i++)
        if (strcmp(known->generations[i].path, path) == 0)
            return known->generations[i].number;
    return 0;
}

/* Their groups come later, and are to be known then. */
static void remember_generations(tool_listing *listing, const tool_holding *holding)
{
    tool_holding *known = &listing->generations;
    for (size_t i = 0; i < holding->generation_count; i++) {
        known->generations = memory_grow(known->generations, known->generation_count, sizeof *known->generations);
        known->generations[known->generation_count++] = (tool_generation){
            .number = holding->generations[i].number, .path = text_format("%s", holding->generations[i].path)};
    }
}

/* What a node is beside a group or an array; NULL: nothing. */
static char *text_of_role(const tool_line *line, bool is_long)
{
    if (line->kind == PARAPET_NODE_INVALID)
        return is_long ? NULL : text_format("invalid"); /* which another column says */
    if (line->generation > 0)
        return text_format("generation %" PRId64, line->generation);
    return text_of_holding(&line->holding);
}

static void show_for_people(tool_listing *listing, const tool_line *line)
{
    const tool_node *node = &line->node;
    bool is_group = line->kind == PARAPET_NODE_GROUP, is_long = listing->request->flags & TOOL_LONG;
    char *visible = text_visible(line->name), *role = text_of_role(line, is_long);
    table_add(listing->table, text_format("%s%s", visible, is_group ? "/" : ""));
    free(visible);
    if (node->array != NULL) {
        table_add(listing->table, text_visible(node->info.type_name));
        table_add(listing->table, text_of_shape(node->info.shape, node->info.ndim));
        table_add(listing->table, text_of_shape(node->info.chunks, node->info.ndim));
    } else if (is_long) {
        table_add(listing->table,
                  text_format("%s", line->kind == PARAPET_NODE_ARRAY ? "unreadable" : node_kind_name(line->kind)));
        table_add(listing->table, text_format("%s", ""));
        table_add(listing->table, text_format("%s", ""));
    }
    table_add(listing->table, role != NULL ? role : text_format("%s", ""));
}

static void show_for_programs(tool_listing *listing, const tool_line *line)
{
    tool_document *document = listing->document;
    const tool_node *node = &line->node;
    document_open_object(document, NULL);
    document_text(document, "path", line->name);
    document_text(document, "kind", node_kind_name(line->kind));
    if (line->problem != NULL)
        document_text(document, "error", line->problem);
    if (line->generation > 0)
        document_integer(document, "generation", line->generation);
    holding_write(document, &line->holding);
    if (node->array != NULL) {
        document_text(document, "type", node->info.type_name);
        document_integers(document, "shape", node->info.shape, node->info.ndim);
        document_integers(document, "chunks", node->info.chunks, node->info.ndim);
    }
    document_close(document);
}

static void report_line(tool_listing *listing, const char *path)
{
    char *label = tree_label(listing->request->operands[0], path);
    report_failure(label);
    free(label);
    listing->failures++;
}

static void show(tool_listing *listing, const char *path, const char *name, parapet_node_kind kind)
{
    tool_line line = {.path = path, .name = name, .kind = kind, .generation = find_generation(listing, path)};
    bool is_detailed = listing->request->flags & TOOL_LONG;
    if (kind == PARAPET_NODE_GROUP && holding_init(&line.holding, listing->store, path) != PARAPET_OK)
        report_line(listing, path);
    if (is_detailed && kind == PARAPET_NODE_ARRAY && node_open(&line.node, listing->store, path) != PARAPET_OK)
        report_line(listing, path);
    if (kind == PARAPET_NODE_INVALID && node_open(&line.node, listing->store, path) != PARAPET_OK)
        line.problem = parapet_error_message();
    remember_generations(listing, &line.holding);
    if (listing->document != NULL)
        show_for_programs(listing, &line);
    else
        show_for_people(listing, &line);
    holding_free(&line.holding);
    node_close(&line.node);
}

static bool is_in_tree(const tool_tree *tree, const char *path)
{
    for (size_t i = 1; i < tree->count; i++)
        if (strcmp(tree->entries[i].path, path) == 0)
            return true;
    return false;
}

/* Of a checkpoint, the newest first; the rest in the order of their names. */
static void show_children(tool_listing *listing, const tool_tree *tree)
{
    const tool_holding *known = &listing->generations;
    size_t own = known->generation_count;
    for (size_t i = 0; i < own; i++)
        if (is_in_tree(tree, known->generations[i].path))
            show(listing, known->generations[i].path, known->generations[i].path, PARAPET_NODE_GROUP);
    for (size_t i = 1; i < tree->count; i++)
        if (find_generation(listing, tree->entries[i].path) == 0)
            show(listing, tree->entries[i].path, tree->entries[i].path, tree->entries[i].kind);
}

static void show_tree(tool_listing *listing)
{
    bool is_recursive = listing->request->flags & TOOL_RECURSIVE;
    tool_holding holding;
    const tool_tree *tree = &listing->tree;
    if (holding_init(&holding, listing->store, "") != PARAPET_OK)
        report_line(listing, "");
    remember_generations(listing, &holding);
    holding_free(&holding);
    tree_init(&listing->tree, listing->store, listing->request->operands[0], is_recursive);
    if (is_recursive)
        for (size_t i = 1; i < tree->count; i++)
            show(listing, tree->entries[i].path, tree->entries[i].path, tree->entries[i].kind);
    else
        show_children(listing, tree);
    listing->failures += tree->failures;
}

/* An array lists itself, as a file does with ls. */
static int list_node(tool_listing *listing)
{
    const char *url = listing->request->operands[0];
    tool_node node;
    parapet_status status = node_open(&node, listing->store, "");
    if (status != PARAPET_OK) {
        report_status(status, url);
        return TOOL_FAILED;
    }
    bool is_array = node.array != NULL;
    node_close(&node);
    if (listing->document != NULL) {
        document_open_object(listing->document, NULL);
        document_text(listing->document, "path", url);
        document_open_list(listing->document, "nodes");
    }
    if (is_array)
        show(listing, "", url, PARAPET_NODE_ARRAY);
    else
        show_tree(listing);
    if (listing->document != NULL) {
        document_close(listing->document);
        document_close(listing->document);
    }
    return listing->failures > 0 ? TOOL_FAILED : TOOL_OK;
}

static int run(const tool_request *request)
{
    tool_document document = {.out = stdout};
    tool_table table = {.columns = request->flags & TOOL_LONG ? 5 : 2};
    tool_listing listing = {.request = request, .table = &table};
    int exit_code;
    if (request->flags & TOOL_JSON)
        listing.document = &document;
    listing.store = store_open(request, request->operands[0], PARAPET_READ);
    if (listing.store == NULL)
        return TOOL_FAILED;
    exit_code = list_node(&listing);
    table_print(&table, "");
    table_free(&table);
    (void)fflush(stdout);
    unfinished_report(request->operands[0]);
    appends_report(request, &listing.tree);
    tree_free(&listing.tree);
    holding_free(&listing.generations);
    (void)parapet_store_close(&listing.store);
    return exit_code;
}

const tool_verb verb_ls = {
    .name = "ls",
    .operands = "PATH",
    .summary = "Lists the groups and arrays of a store.",
    .details = "Generations of a checkpoint come newest first; a series shows its steps.\n",
    .exit_codes = "0 listed, 1 failed, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
