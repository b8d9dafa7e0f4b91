/* internal.h - the handles behind the public API, and what the files of this module share. */
#ifndef PARAPET_ARRAY_INTERNAL_H
#define PARAPET_ARRAY_INTERNAL_H

#include "comm/comm.h"
#include "transfer/transfer.h"

#define PP_RESERVED_ATTRIBUTE "_parapet"

struct parapet_store {
    pp_comm *comm;
    pp_store *backend;
    bool is_backend_borrowed;
    parapet_mode mode;
    parapet_options options; /* every field resolved */
    parapet_options given;   /* as they came from the caller: tells the source of a value */
    pp_budget budget;
    pp_counters counters;
    int handle_count; /* arrays and groups not closed yet */
};

struct parapet_group {
    parapet_store *store;
    char *path;
    pp_group_document document;
};

struct parapet_array {
    parapet_store *store;
    char *path;
    pp_array_document document;
    unsigned char document_digest[PP_SHA256_BYTES]; /* of zarr.json as stored */
    pp_layout layout;
    pp_failure layout_failure; /* why there is no layout, and so no reading */
    char *codec_words;
    bool is_sealed;
    bool has_head;        /* a seal lies in the store, in force or left over */
    bool is_mark_ignored; /* zarr.json says sealed; the document in this handle does not */
    pp_manifest_head head;
    pp_shard_record *page; /* the page of the manifest read last */
    int64_t page_number;   /* -1: none */
    bool is_broken;        /* a publish failed: only close is left */
};

/* Opens a store over a backend that the caller keeps: for tests. */
parapet_status pp_store_open_over(parapet_store **store, pp_store *backend, parapet_mode mode,
                                  const parapet_options *options);

/* options.c: the options given, filled up from the environment and the defaults. */
parapet_status pp_options_resolve(parapet_options *resolved, const parapet_options *given);

/* node.c: documents in the store. */

/* "a/b" from "/a/b/"; checked. Free with pp_free. */
parapet_status pp_path_normalize(const char *path, char **normal);

/* "path/name", or "name" at the root. Free with pp_free. */
parapet_status pp_path_join(const char *path, const char *name, char **joined);

/* What lies at a path. */
typedef struct pp_node {
    parapet_node kind;
    int zarr_format;
    bool is_implicit;                      /* a group that is only a directory */
    pp_json *json;                         /* zarr.json, .zarray or .zgroup; owned */
    pp_json *zattrs;                       /* v2 only; owned */
    unsigned char digest[PP_SHA256_BYTES]; /* of zarr.json */
} pp_node;

/* PARAPET_ERR_NOT_FOUND when there is nothing. Clear it also after a failure. */
parapet_status pp_node_load(parapet_store *store, const char *path, pp_node *node);
void pp_node_clear(pp_node *node);

/* Writes a document and makes it durable. */
parapet_status pp_node_write(parapet_store *store, const char *path, parapet_node kind, const char *text,
                             size_t bytes, pp_publish_mode mode);

/* Makes the groups above path that do not exist, and takes stale consolidated metadata off those that do. */
parapet_status pp_node_prepare_ancestors(parapet_store *store, const char *path);

/* Takes consolidated metadata off the groups above path, and off path itself if it is a group. */
parapet_status pp_node_drop_consolidated(parapet_store *store, const char *path);

/* Makes a group at path unless one is there; takes stale consolidated metadata off one that is. */
parapet_status pp_node_ensure_group(parapet_store *store, const char *path);

parapet_status pp_store_check_writable(const parapet_store *store);

/* children.c: names below a path that may be nodes, gathered before any is opened. */
typedef struct pp_children {
    char **names;
    size_t count, capacity;
} pp_children;

parapet_status pp_children_list(pp_children *list, parapet_store *store, const char *path);
void pp_children_clear(pp_children *list);

/* group.c */
parapet_status pp_group_write(parapet_group *group, const pp_group_document *document, pp_publish_mode mode);
parapet_status pp_group_check_changeable(const parapet_group *group);

/* attributes.c: those a new node is to have, from the text of a JSON object; NULL is {}. Free them also after a
 * failure. */
parapet_status pp_attributes_parse(const char *text, pp_json **attributes);

/* A copy of attributes with one changed; json NULL removes it. Reserved names are refused. */
parapet_status pp_attributes_changed(pp_json *attributes, const char *name, const char *json, pp_json **changed);
parapet_status pp_attributes_get(pp_json *attributes, const char *name, char **json);

/* defaults.c: fills in the shapes that a spec leaves open. */
parapet_status pp_shapes_choose(const parapet_array_spec *spec, size_t element_bytes, int64_t expected_servers,
                                int64_t *chunks, int64_t *shards);

/* array.c */

/* A handle without a document yet; and its end: counted on success, freed on failure. */
parapet_status pp_array_handle_build(parapet_array **array, parapet_store *store, const char *path);
parapet_status pp_array_handle_finish(parapet_array **array, parapet_status status);

parapet_status pp_array_check_usable(const parapet_array *array);
parapet_status pp_array_check_writable(const parapet_array *array);

/* Everything a transfer of this array needs; fails when the array cannot be read. */
parapet_status pp_array_transfer_context(parapet_array *array, pp_transfer_context *context);

/* Replaces the array's document in the store and in the handle; takes over the contents of document, also on
 * failure. Keeps a seal that is in force. */
parapet_status pp_array_replace_document(parapet_array *array, pp_array_document *document);

/* A copy of the document that may be changed. */
parapet_status pp_array_document_copy(const pp_array_document *document, pp_array_document *copy);

/* resize.c: completes a shrinking that was interrupted. */
parapet_status pp_resize_finish(parapet_array *array);

/* walk.c: calls visit for every object below a path, __parapet left out; key is relative to path. */
typedef parapet_status (*pp_walk_visitor)(void *context, const char *key, uint64_t bytes);
parapet_status pp_walk_objects(parapet_store *store, const char *path, pp_walk_visitor visit, void *context);

/* Removes an object that a walk has shown; one that is gone already is fine. */
parapet_status pp_walk_remove(parapet_store *store, const char *path, const char *key);

/* seal.c */
parapet_status pp_seal_open(parapet_array *array);
parapet_status pp_seal_lookup_record(void *array, int64_t shard, pp_shard_record *record);
parapet_status pp_seal_write_head(parapet_array *array, const unsigned char before[PP_SHA256_BYTES],
                                  const unsigned char after[PP_SHA256_BYTES]);
/* The document is stored: from now on the head goes with it alone, and an older one is found out. */
parapet_status pp_seal_confirm(parapet_array *array, const pp_array_document *document);
/* Removes a head that is not in force any more. */
parapet_status pp_seal_remove_head(parapet_array *array);
/* Unseals if sealed: the first step of every write. */
parapet_status pp_seal_break(parapet_array *array);

#endif
