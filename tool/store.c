#include "store.h"
#include "foreign.h"
#include "memory.h"
#include "ranks.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

static void print_options(parapet_store *store)
{
    char *text = NULL;
    if (parapet_store_options_print(store, &text) == PARAPET_OK)
        (void)fprintf(stderr, "%s", text);
    parapet_free(text);
}

/* The library tells it with its options, behind the value and its source. */
char *text_of_locks(parapet_store *store)
{
    char *text = NULL, *found = NULL, *locks;
    if (parapet_store_options_print(store, &text) == PARAPET_OK && (found = strstr(text, "\nlocks = ")) != NULL)
        found = strstr(found, ": ");
    locks = found != NULL ? text_format("%.*s", (int)strcspn(found + 2, "\n"), found + 2) : text_format("unknown");
    parapet_free(text);
    return locks;
}

static parapet_store *open_directory(const tool_request *request, const char *url, parapet_mode mode)
{
    parapet_store *store = NULL;
    parapet_status status = ranks_open_store(request, &store, url, mode, &request->options);
    if (status != PARAPET_OK) {
        if (!foreign_report_file(url))
            report_status(status, url);
        return NULL;
    }
    if (request->flags & TOOL_VERBOSE && request->rank == 0)
        print_options(store);
    return store;
}

/* Where all ranks work, each would have to find the same: there, what follows says that nothing is there. */
parapet_store *store_open(const tool_request *request, const char *url, parapet_mode mode)
{
    parapet_store *store = open_directory(request, url, mode);
    if (store != NULL && request->working != RANKS_ALL && foreign_refuse_directory(url))
        (void)parapet_store_close(&store);
    return store;
}

parapet_store *store_open_around(tool_place *place, const tool_request *request, const char *node)
{
    parapet_store *store = NULL;
    if (place_init_source(place, request, node))
        store = store_open(request, place->store, PARAPET_UPDATE);
    return store;
}
