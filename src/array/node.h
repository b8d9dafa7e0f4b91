/* node.h - what is at a path of a store, and documents as they are stored; on rank 0 alone. */
#ifndef PARAPET_ARRAY_NODE_H
#define PARAPET_ARRAY_NODE_H

#include "base/sha256.h"
#include "change/registry.h"
#include "store/store.h"
#include "zarr/document.h"

/* What is at a path. */
typedef struct pp_node {
    parapet_node_kind kind;
    int zarr_format;
    bool is_implicit;                      /* a group that is only a directory */
    bool is_unfinished;                    /* not even that: an array that is being created, copied or replaced */
    pp_json *json;                         /* zarr.json, .zarray or .zgroup; owned */
    pp_json *zattrs;                       /* v2 only; owned */
    unsigned char digest[PP_SHA256_BYTES]; /* of zarr.json */
    uint64_t version;                      /* of zarr.json */
} pp_node;

/* PARAPET_ERR_NOT_FOUND if there is nothing. Clear it even after a failure. */
parapet_status pp_node_load(parapet_store *store, const char *path, pp_node *node);
/* The same for readers, to whom something unfinished does not exist. */
parapet_status pp_node_load_finished(parapet_store *store, const char *path, pp_node *node);
void pp_node_clear(pp_node *node);

/* At the root: what a copy that is only planned measures with. */
#define PP_PROBE_PREFIX "__parapet-probe-"
bool pp_node_is_probe(const char *path, const char *name);

/* Writes a document and makes it durable. */
parapet_status pp_node_write(parapet_store *store, const char *path, parapet_node_kind kind, const char *text,
                             size_t bytes, pp_publish_mode mode);

/* Writes a document, which is durable only after the next sync of directories. */
parapet_status pp_node_publish(parapet_store *store, const char *path, parapet_node_kind kind, const char *text,
                               size_t bytes, pp_publish_mode mode);

/* The same for the document of a group. */
parapet_status pp_node_write_group(parapet_store *store, const char *path, const pp_group_document *document,
                                   pp_publish_mode mode);

/* Whether there is an object of that name below a path. */
parapet_status pp_node_has_object(parapet_store *store, const char *path, const char *name, bool *has);

/* The same of a name below __parapet. */
parapet_status pp_node_has_own(parapet_store *store, const char *path, pp_own own, bool *has);

/* From now on nobody can resume it: what it has made can be removed in any order, and a crash in between is harmless.
 * It is fine if there is none. */
parapet_status pp_node_drop_copy(parapet_store *store, const char *path);

/* Removes everything that Parapet keeps below __parapet of a node, except its lock. What says how to resume a copy
 * goes first. */
parapet_status pp_node_remove_own(parapet_store *store, const char *path);

/* The same before the node's document goes: what keeps others away until then stays (change/registry.h). */
parapet_status pp_node_forget_own(parapet_store *store, const char *path);

#endif
