#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_flag flags[] = {
    {TOOL_RECURSIVE, 'r', "recursive", "remove a group, with everything below it"},
    {TOOL_DRY_RUN, 'n', "dry-run", "only print what would be removed"},
    {TOOL_QUIET, 'q', "quiet", "print only errors"},
    {TOOL_TAKEOVER, 0, "takeover", "declare that the jobs on other machines are gone"},
    {0, 0, NULL, NULL},
};

typedef struct tool_removing {
    const tool_request *request;
    const tool_place *place;
    tool_document *document; /* NULL: for people */
    int64_t count;
    bool has_group;
} tool_removing;

static int look_at_node(void *context, const char *path, const char *what)
{
    tool_removing *removing = context;
    (void)path;
    removing->count++;
    removing->has_group = removing->has_group || strncmp(what, "a ", 2) == 0; /* not "an array", nor its remains */
    return 0;
}

/* Below the operand as it was given. */
static void print_removal(const tool_removing *removing, const char *path, const char *what)
{
    size_t above = strlen(removing->place->path);
    const char *below = path + above + (above > 0 && path[above] == '/' ? 1 : 0);
    char *label = tree_label(removing->request->operands[0], below);
    char *visible = text_visible(label);
    printf("%s %s (%s)\n", removing->request->flags & TOOL_DRY_RUN ? "would remove" : "removed", visible, what);
    free(visible);
    free(label);
}

static int take_removal(void *context, const char *path, const char *what)
{
    tool_removing *removing = context;
    removing->count++;
    if (removing->document != NULL) {
        document_open_object(removing->document, NULL);
        document_text(removing->document, "key", path);
        document_text(removing->document, "reason", what);
        document_close(removing->document);
    } else if (!(removing->request->flags & TOOL_QUIET)) {
        print_removal(removing, path, what);
    }
    return 0;
}

/* A group goes only if that is what was asked for. */
static bool is_asked_for(const tool_removing *looked)
{
    const tool_request *request = looked->request;
    if (!looked->has_group || request->flags & TOOL_RECURSIVE)
        return true;
    if (looked->count > 1)
        report_error(request->operands[0],
                     "it is a group with %" PRId64 " arrays and groups below it; give --recursive to remove them all",
                     looked->count - 1);
    else
        report_error(request->operands[0], "it is a group; give --recursive to remove it");
    return false;
}

static parapet_status remove_all(tool_removing *removing, parapet_store *store)
{
    tool_document document = {.out = stdout};
    const tool_request *request = removing->request;
    bool is_dry = request->flags & TOOL_DRY_RUN;
    parapet_status status;
    if (!(request->flags & TOOL_JSON))
        return parapet_store_remove(store, removing->place->path, is_dry, take_removal, removing);
    removing->document = &document;
    document_open_object(&document, NULL);
    document_text(&document, "path", request->operands[0]);
    document_truth(&document, "dry_run", is_dry);
    document_open_list(&document, "removals");
    status = parapet_store_remove(store, removing->place->path, is_dry, take_removal, removing);
    document_close(&document);
    document_integer(&document, "count", removing->count);
    document_text(&document, "error", status == PARAPET_OK ? NULL : parapet_error_message());
    document_close(&document);
    return status;
}

static int remove_in(const tool_request *request, const tool_place *place, parapet_store *store)
{
    tool_removing looked = {.request = request, .place = place}, removing = looked;
    parapet_status status = parapet_store_remove(store, place->path, 1, look_at_node, &looked);
    if (status == PARAPET_OK && !is_asked_for(&looked))
        return TOOL_FAILED;
    if (status == PARAPET_OK)
        status = remove_all(&removing, store);
    if (status != PARAPET_OK)
        report_status(status, request->operands[0]);
    return status == PARAPET_OK ? TOOL_OK : TOOL_FAILED;
}

/* With the whole store its directory goes, if nothing else is in it: rmdir refuses anything else. */
static int run(const tool_request *request)
{
    tool_place place;
    parapet_mode mode = request->flags & TOOL_DRY_RUN ? PARAPET_READ : PARAPET_UPDATE;
    parapet_store *store = NULL;
    int answer;
    if (!place_init_source(&place, request, request->operands[0]) ||
        (store = store_open(request, place.store, mode)) == NULL)
        return TOOL_FAILED;
    answer = remove_in(request, &place, store);
    (void)parapet_store_close(&store);
    if (answer == TOOL_OK && place.path[0] == '\0' && !(request->flags & TOOL_DRY_RUN))
        (void)rmdir(place.store);
    return answer;
}

const tool_verb verb_rm = {
    .name = "rm",
    .operands = "PATH",
    .summary = "Removes an array, or a group with everything below it.",
    .details = "Removes only what is proved to belong to the store. If anything else is there,\n"
               "such as a file of yours, or another job is changing a part of it, removes\n"
               "nothing and says what it is. After a crash, the same command removes the rest.\n",
    .exit_codes = "0 removed, 1 not removed, or only a part of it, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
