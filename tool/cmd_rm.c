#include "display.h"
#include "document.h"
#include "hierarchy.h"
#include "memory.h"
#include "place.h"
#include "report.h"
#include "store.h"
#include "verbs.h"

#include <stdio.h>
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
} tool_removing;

/* Below the operand as it was given. */
static void print_removal(const tool_removing *removing, const char *path, const char *kind)
{
    size_t above = strlen(removing->place->path);
    const char *below = path + above + (above > 0 && path[above] == '/' ? 1 : 0);
    char *label = tree_label(removing->request->operands[0], below);
    char *visible = text_visible(label);
    printf("%s %s (%s)\n", removing->request->flags & TOOL_DRY_RUN ? "would remove" : "removed", visible, kind);
    free(visible);
    free(label);
}

static int take_removal(void *context, const char *path, const char *kind)
{
    tool_removing *removing = context;
    removing->count++;
    if (removing->document != NULL) {
        document_open_object(removing->document, NULL);
        document_text(removing->document, "path", path);
        document_text(removing->document, "kind", kind);
        document_close(removing->document);
    } else if (!(removing->request->flags & TOOL_QUIET)) {
        print_removal(removing, path, kind);
    }
    return 0;
}

static parapet_status call(tool_removing *removing, parapet_store *store)
{
    unsigned asked = removing->request->flags;
    return parapet_store_remove(store, removing->place->path, (asked & TOOL_RECURSIVE) != 0,
                                (asked & TOOL_DRY_RUN) != 0, take_removal, removing);
}

static parapet_status call_for_programs(tool_removing *removing, parapet_store *store)
{
    tool_document document = {.out = stdout};
    parapet_status status;
    removing->document = &document;
    document_open_object(&document, NULL);
    document_text(&document, "path", removing->request->operands[0]);
    document_truth(&document, "dry_run", removing->request->flags & TOOL_DRY_RUN);
    document_open_list(&document, "removals");
    status = call(removing, store);
    document_close(&document);
    document_integer(&document, "count", removing->count);
    document_text(&document, "error", status == PARAPET_OK ? NULL : parapet_error_message());
    document_close(&document);
    return status;
}

static int remove_in(const tool_request *request, const tool_place *place, parapet_store *store)
{
    tool_removing removing = {.request = request, .place = place};
    parapet_status status = request->flags & TOOL_JSON ? call_for_programs(&removing, store) : call(&removing, store);
    if (status != PARAPET_OK)
        report_status(status, request->operands[0]);
    return status == PARAPET_OK ? TOOL_OK : TOOL_FAILED;
}

/* The operand without "/" and "/." at its end, which would follow a link; free with free(). */
static char *name_itself(const char *operand)
{
    char *name = text_format("%s", operand);
    size_t length = strlen(name);
    while (length > 1 && (name[length - 1] == '/' || (name[length - 1] == '.' && name[length - 2] == '/')))
        name[--length] = '\0';
    return name;
}

/* Whoever removes a link wants to keep what it leads to. */
static bool refuse_link(const char *operand)
{
    char *name = name_itself(operand), target[TOOL_PLACE_BYTES];
    ssize_t length = readlink(name, target, sizeof target - 1);
    free(name);
    if (length < 0)
        return false;
    target[length] = '\0';
    report_error(operand, "it is a link to %s, and links are not followed here; name %s itself", target, target);
    return true;
}

/* With the whole store its directory goes, if nothing else is in it: rmdir refuses anything else. */
static int run(const tool_request *request)
{
    tool_place place;
    parapet_mode mode = request->flags & TOOL_DRY_RUN ? PARAPET_READ : PARAPET_UPDATE;
    parapet_store *store = NULL;
    int answer;
    if (refuse_link(request->operands[0]) || !place_init_source(&place, request, request->operands[0]) ||
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
