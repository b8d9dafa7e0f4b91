/* place.h - where a copy goes: a store, and a path in it. */
#ifndef PARAPET_TOOL_PLACE_H
#define PARAPET_TOOL_PLACE_H

#include "tool.h"

enum { TOOL_PLACE_BYTES = 4096 };

/* Where a copy goes: a store, and the path of the node in it. */
typedef struct tool_place {
    char store[TOOL_PLACE_BYTES];
    char path[TOOL_PLACE_BYTES];
    bool exists;  /* there is a directory where the store is to be */
    bool is_zarr; /* and a Zarr hierarchy in it */
    bool is_node; /* and something at the path */
    bool is_made; /* this run has made it */
} tool_place;

/* [collective] Finds the outermost hierarchy around a source, or the file that it is a part of, so that messages
 * tell its path. False: already reported. */
bool place_init_source(tool_place *place, const tool_request *request, const char *source);

/* [collective] Finds the store that a target belongs to: the outermost hierarchy around it, else the first component
 * that ends in .zarr, else the whole. False: it is the source, or inside of it, or around it, or cannot become a
 * store; already reported. */
bool place_init(tool_place *place, const tool_request *request, const char *source, const char *target);

/* [collective] A store for what lies between two passes, in a directory and named after the target. */
bool place_init_temporary(tool_place *place, const tool_request *request, const char *directory, const char *target);

/* [collective] Opens the store, and makes it if there is none: with a group at its root, unless an array is to be
 * there. NULL: it failed, already reported. */
parapet_store *place_open(tool_place *place, const tool_request *request, const parapet_store_options *options,
                          bool is_array);

/* Whether it holds the metadata of a node, or what the library keeps beside nodes. */
bool place_has_metadata(const char *directory);

/* Whether it, or a directory around it, is a group or an array. */
bool place_is_in_hierarchy(const char *path);

/* Complains if a target is the source, inside it, or around it. */
bool place_refuse_overlap(const char *source, const char *target);

/* Removes what this run has made, if nothing is in it. */
void place_remove_bare(const tool_place *place, const tool_request *request);

#endif
