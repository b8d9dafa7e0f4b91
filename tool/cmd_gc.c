#include "display.h"
#include "document.h"
#include "hierarchy.h"
#include "place.h"
#include "report.h"
#include "store.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_flag flags[] = {
    {TOOL_DRY_RUN, 'n', "dry-run", "only print what would be removed"},
    {TOOL_QUIET, 'q', "quiet", "print only errors"},
    {TOOL_TAKEOVER, 0, "takeover", "declare that the jobs on other machines are gone"},
    {0, 0, NULL, NULL},
};

typedef struct tool_collecting {
    const tool_request *request;
    tool_place place;        /* of what is looked at */
    tool_document *document; /* NULL: for people */
    int64_t count;
} tool_collecting;

static const char *verb_of(const tool_request *request)
{
    return request->flags & TOOL_DRY_RUN ? "would remove" : "removed";
}

static void print_removal(const tool_request *request, const char *key, const char *reason)
{
    char *label = tree_label(request->operands[0], key);
    char *visible = text_visible(label);
    printf("%s %s (%s)\n", verb_of(request), visible, reason);
    free(visible);
    free(label);
}

static int take_removal(void *context, const char *key, const char *reason)
{
    tool_collecting *collecting = context;
    size_t outer = strlen(collecting->place.path);
    key += outer > 0 ? outer + 1 : 0;
    collecting->count++;
    if (collecting->document != NULL) {
        document_open_object(collecting->document, NULL);
        document_text(collecting->document, "key", key);
        document_text(collecting->document, "reason", reason);
        document_close(collecting->document);
    } else if (!(collecting->request->flags & TOOL_QUIET)) {
        print_removal(collecting->request, key, reason);
    }
    return 0;
}

static parapet_status collect(tool_collecting *collecting, parapet_store *store)
{
    bool is_dry = collecting->request->flags & TOOL_DRY_RUN;
    return parapet_store_collect(store, collecting->place.path, is_dry, take_removal, collecting);
}

static parapet_status collect_for_programs(tool_collecting *collecting, parapet_store *store)
{
    tool_document document = {.out = stdout};
    parapet_status status;
    collecting->document = &document;
    document_open_object(&document, NULL);
    document_text(&document, "path", collecting->request->operands[0]);
    document_truth(&document, "dry_run", collecting->request->flags & TOOL_DRY_RUN);
    document_open_list(&document, "removals");
    status = collect(collecting, store);
    document_close(&document);
    document_integer(&document, "count", collecting->count);
    document_text(&document, "error", status == PARAPET_OK ? NULL : parapet_error_message());
    document_close(&document);
    return status;
}

static parapet_status collect_for_people(tool_collecting *collecting, parapet_store *store)
{
    const tool_request *request = collecting->request;
    char *visible = text_visible(request->operands[0]);
    parapet_status status = collect(collecting, store);
    if (!(request->flags & TOOL_QUIET))
        printf("%s: %s %" PRId64 "\n", visible, verb_of(request), collecting->count);
    free(visible);
    return status;
}

/* Groups around learn of an append that becomes complete: their metadata tells of it. */
static parapet_store *open_place(tool_collecting *collecting)
{
    const tool_request *request = collecting->request;
    if (place_is_in_hierarchy(request->operands[0]) && !(request->flags & TOOL_DRY_RUN))
        return store_open_around(&collecting->place, request, request->operands[0]);
    return store_open(request, request->operands[0], request->flags & TOOL_DRY_RUN ? PARAPET_READ : PARAPET_UPDATE);
}

static int run(const tool_request *request)
{
    tool_collecting collecting = {.request = request};
    parapet_store *store = open_place(&collecting);
    parapet_status status;
    if (store == NULL)
        return TOOL_FAILED;
    if (request->flags & TOOL_JSON)
        status = collect_for_programs(&collecting, store);
    else
        status = collect_for_people(&collecting, store);
    if (status != PARAPET_OK)
        report_failure(request->operands[0]);
    (void)parapet_store_close(&store);
    return status == PARAPET_OK ? TOOL_OK : TOOL_FAILED;
}

const tool_verb verb_gc = {
    .name = "gc",
    .operands = "PATH",
    .summary = "Removes what crashes have left in a store.",
    .details = "These are temporary objects, generations that were never committed, steps that\n"
               "were not flushed, shards that an unfinished resize has cut off, and remains of\n"
               "copies that cannot be resumed. An append that was interrupted is completed, if\n"
               "all its elements are stored, or else undone. Leaves alone what another job is\n"
               "changing, and copies that can be resumed.\n",
    .exit_codes =
        "0 removed, or nothing to remove, 1 something could not be removed,\nor PATH is not a store, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
