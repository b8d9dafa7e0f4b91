#include "tool.h"

#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {TOOL_LONG, 'l', "long", "also type, shape and chunks of arrays"},
    {TOOL_RECURSIVE, 'R', "recursive", "everything below, with its path"},
    {0, 0, NULL, NULL},
};

/* A listing in the making; in a document it goes out at once, for people at the end, in columns. */
typedef struct tool_listing {
    const tool_request *request;
    parapet_store *store;
    tool_document *document; /* NULL: for people */
    tool_table *table;
    int64_t failures;
} tool_listing;

static void show_for_people(tool_listing *listing, const char *name, parapet_node kind, const tool_node *node)
{
    char *visible = text_visible(name);
    table_add(listing->table, text_format("%s%s", visible, kind == PARAPET_NODE_GROUP ? "/" : ""));
    free(visible);
    if (!(listing->request->flags & TOOL_LONG))
        return;
    if (node->array == NULL) {
        table_add(listing->table, text_format("%s", kind == PARAPET_NODE_GROUP ? "group" : "unreadable"));
        table_add(listing->table, text_format("%s", ""));
        table_add(listing->table, text_format("%s", ""));
        return;
    }
    table_add(listing->table, text_visible(node->info.type_name));
    table_add(listing->table, text_of_shape(node->info.shape, node->info.ndim));
    table_add(listing->table, text_of_shape(node->info.chunks, node->info.ndim));
}

static void show_for_programs(tool_listing *listing, const char *name, parapet_node kind, const tool_node *node)
{
    tool_document *document = listing->document;
    document_open_object(document, NULL);
    document_text(document, "path", name);
    document_text(document, "kind", kind == PARAPET_NODE_GROUP ? "group" : "array");
    if (node->array != NULL) {
        document_text(document, "type", node->info.type_name);
        document_integers(document, "shape", node->info.shape, node->info.ndim);
        document_integers(document, "chunks", node->info.chunks, node->info.ndim);
    }
    document_close(document);
}

static void show(tool_listing *listing, const char *path, const char *name, parapet_node kind)
{
    tool_node node = {0};
    bool is_detailed = listing->request->flags & TOOL_LONG;
    if (is_detailed && kind == PARAPET_NODE_ARRAY && node_open(&node, listing->store, path) != PARAPET_OK) {
        char *label = tree_label(listing->request->operands[0], path);
        report_failure(label);
        free(label);
        listing->failures++;
    }
    if (listing->document != NULL)
        show_for_programs(listing, name, kind, &node);
    else
        show_for_people(listing, name, kind, &node);
    node_close(&node);
}

static void show_tree(tool_listing *listing)
{
    bool is_recursive = listing->request->flags & TOOL_RECURSIVE;
    tool_tree tree;
    tree_init(&tree, listing->store, listing->request->operands[0], is_recursive);
    for (size_t i = 1; i < tree.count; i++)
        show(listing, tree.entries[i].path, tree.entries[i].path, tree.entries[i].kind);
    listing->failures += tree.failures;
    tree_free(&tree);
}

/* An array lists itself, as a file does with ls. */
static int list_node(tool_listing *listing)
{
    const char *url = listing->request->operands[0];
    tool_node node;
    if (node_open(&node, listing->store, "") != PARAPET_OK) {
        report_failure(url);
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
    tool_table table = {.columns = request->flags & TOOL_LONG ? 4 : 1};
    tool_listing listing = {.request = request, .table = &table};
    int exit_code;
    if (request->flags & TOOL_JSON)
        listing.document = &document;
    listing.store = store_open(request, request->operands[0]);
    if (listing.store == NULL)
        return TOOL_FAILED;
    exit_code = list_node(&listing);
    table_print(&table, "");
    table_free(&table);
    (void)parapet_store_close(&listing.store);
    return exit_code;
}

const tool_verb verb_ls = {
    .name = "ls",
    .operands = "PATH",
    .summary = "Lists the groups and arrays of a store.",
    .details = "",
    .exit_codes = "0 listed, 1 failed, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
