/* holding.h - what a group is beside a group: the generations of a checkpoint, or a series. */
#ifndef PARAPET_TOOL_HOLDING_H
#define PARAPET_TOOL_HOLDING_H

#include <parapet_types.h>

#include "document.h"

typedef struct tool_generation {
    int64_t number;
    char *path; /* of its group, in the store; "": its commit record cannot be read */
} tool_generation;

typedef struct tool_holding {
    tool_generation *generations; /* of a checkpoint, the newest first */
    size_t generation_count;
    char *dimension; /* of a series, as JSON text; NULL: it is none */
    char *arrays;    /* the same */
    int64_t steps;   /* -1: its creation did not come to its end */
} tool_holding;

/* Free it also after a failure. */
parapet_status holding_init(tool_holding *holding, parapet_store *store, const char *path);
void holding_free(tool_holding *holding);

/* "checkpoint, generations 7 6, newest 7", "series along time: 120 steps, arrays u v"; NULL: neither. */
char *text_of_holding(const tool_holding *holding);

/* The members "checkpoint" and "series", where it is one. */
void holding_write(tool_document *document, const tool_holding *holding);

#endif
