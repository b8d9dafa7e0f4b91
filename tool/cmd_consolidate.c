#include "display.h"
#include "document.h"
#include "place.h"
#include "report.h"
#include "store.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>

static const tool_flag flags[] = {
    {TOOL_QUIET, 'q', "quiet", "print only errors"},
    {TOOL_TAKEOVER, 0, "takeover", "declare that the jobs on other machines are gone"},
    {0, 0, NULL, NULL},
};

static parapet_status consolidate(parapet_store *store, const char *path)
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, path);
    if (status == PARAPET_OK)
        status = parapet_group_consolidate(group);
    (void)parapet_group_close(&group);
    return status;
}

static void print_outcome(const tool_request *request)
{
    tool_document document = {.out = stdout};
    if (request->flags & TOOL_JSON) {
        document_open_object(&document, NULL);
        document_text(&document, "path", request->operands[0]);
        document_truth(&document, "consolidated", true);
        document_close(&document);
    } else if (!(request->flags & TOOL_QUIET)) {
        char *visible = text_visible(request->operands[0]);
        printf("%s: consolidated\n", visible);
        free(visible);
    }
}

static int run(const tool_request *request)
{
    tool_place place;
    parapet_store *store = store_open_around(&place, request, request->operands[0]);
    parapet_status status;
    if (store == NULL)
        return TOOL_FAILED;
    status = consolidate(store, place.path);
    if (status == PARAPET_OK)
        print_outcome(request);
    else
        report_status(status, request->operands[0]);
    (void)parapet_store_close(&store);
    return status == PARAPET_OK ? TOOL_OK : TOOL_FAILED;
}

const tool_verb verb_consolidate = {
    .name = "consolidate",
    .operands = "GROUP",
    .summary = "Collects all metadata below a group in its own zarr.json.",
    .details = "Readers such as xarray then open the group with one read. Any later change below\n"
               "it through Parapet removes the collection again, so that it is never stale.\n",
    .exit_codes = "0 consolidated, 1 failed, 2 wrong usage.",
    .flags = flags,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
