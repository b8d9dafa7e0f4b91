/* node.h - what lies at a path of a store, and documents as they are stored; on rank 0 alone. */
#ifndef PARAPET_ARRAY_NODE_H
#define PARAPET_ARRAY_NODE_H

#include "base/sha256.h"
#include "store/store.h"
#include "zarr/document.h"

/* What lies at a path. */
typedef struct pp_node {
    parapet_node_kind kind;
    int zarr_format;
    bool is_implicit;                      /* a group that is only a directory */
    bool is_unfinished;                    /* not even that: an array that is being made, copied or replaced */
    pp_json *json;                         /* zarr.json, .zarray or .zgroup; owned */
    pp_json *zattrs;                       /* v2 only; owned */
    unsigned char digest[PP_SHA256_BYTES]; /* of zarr.json */
    uint64_t version;                      /* of zarr.json */
} pp_node;

/* PARAPET_ERR_NOT_FOUND when there is nothing. Clear it also after a failure. */
parapet_status pp_node_load(parapet_store *store, const char *path, pp_node *node);
/* The same for who reads: there is nothing, too, where something is not finished. */
parapet_status pp_node_load_finished(parapet_store *store, const char *path, pp_node *node);
void pp_node_clear(pp_node *node);

/* Writes a document and makes it durable. */
parapet_status pp_node_write(parapet_store *store, const char *path, parapet_node_kind kind, const char *text,
                             size_t bytes, pp_publish_mode mode);

/* The same for the document of a group. */
parapet_status pp_node_write_group(parapet_store *store, const char *path, const pp_group_document *document,
                                   pp_publish_mode mode);

/* The following change groups above a path: for whoever holds them for an edit (hold.h).
 *
 * Makes the groups above path that do not exist, and takes stale consolidated metadata off those that do. */
parapet_status pp_node_prepare_ancestors(parapet_store *store, const char *path);

/* Takes consolidated metadata off the groups above path, and off path itself if it is a group. */
parapet_status pp_node_drop_consolidated(parapet_store *store, const char *path);

/* Removes everything that Parapet keeps beside a node, but its lock. */
parapet_status pp_node_remove_own(parapet_store *store, const char *path);

/* Makes a group at path unless one is there; takes stale consolidated metadata off one that is. */
parapet_status pp_node_ensure_group(parapet_store *store, const char *path);

#endif
