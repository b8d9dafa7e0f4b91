/* internal.h - the handles behind the public API, and what the files of this module share. */
#ifndef PARAPET_ARRAY_INTERNAL_H
#define PARAPET_ARRAY_INTERNAL_H

#include "base/cursor.h"
#include "comm/comm.h"
#include "transfer/transfer.h"

#define PP_RESERVED_ATTRIBUTE "_parapet"

struct parapet_store {
    pp_comm *comm;
    pp_store *backend;
    bool is_backend_borrowed;
    parapet_mode mode;
    parapet_store_options options; /* every field resolved */
    parapet_store_options given;   /* as they came from the caller: tells the source of a value */
    pp_budget budget;
    pp_counters counters;
    int handle_count; /* arrays and groups not closed yet */
    int *servers;     /* the ranks that touch the storage of shards, ascending; equal on all ranks */
    int server_count;
    int64_t least_memory_bytes; /* the smallest memory_bytes of all ranks */
};

struct parapet_group {
    parapet_store *store;
    char *path;
    pp_group_document document;
    pp_json *zgroup, *zattrs; /* of a Zarr v2 group, as stored; else NULL */
    bool is_broken;           /* ranks may know different things: only close is left */
};

struct parapet_array {
    parapet_store *store;
    char *path;
    pp_array_document document;
    pp_json *zarray, *zattrs;                       /* of a Zarr v2 array, as stored; else NULL */
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
    pp_shard_notes notes;
    bool is_apart;  /* the groups above are left alone: whoever has this handle takes care of them */
    bool is_broken; /* a publish failed, or ranks may know different things: only close is left */
};

/* task.c: rank 0 alone touches storage for metadata; the others learn what came of it. */

/* Something that rank 0 does to the subject, of which every rank has one. */
typedef struct pp_rank0_task {
    void *subject;
    const void *argument;
    parapet_status (*work)(void *subject, const void *argument); /* on rank 0 only */
    /* What the other ranks need to know then; NULL: nothing. After a failure of work too, if there is a mark_broken.
     */
    parapet_status (*print)(void *subject, pp_text *bytes);
    parapet_status (*adopt)(void *subject, pp_cursor *bytes);
    /* Ranks may know different things now. NULL: nobody uses the subject after a failure. */
    void (*mark_broken)(void *subject);
} pp_rank0_task;

/* [collective] Same status on every rank. */
parapet_status pp_rank0_do(pp_comm *comm, const char *phase, const pp_rank0_task *task);

/* [collective] Changes a node that is open. Whether it fails or not, all ranks know the same of it afterwards. */
typedef parapet_status (*pp_node_work)(void *node, const void *argument);
parapet_status pp_array_rank0_do(parapet_array *array, const char *phase, pp_node_work work, const void *argument);
parapet_status pp_group_rank0_do(parapet_group *group, const char *phase, pp_node_work work, const void *argument);

/* state.c: all that a handle knows of its node, as bytes. What adopt cannot do leaves the handle as it was. */
parapet_status pp_array_state_print(const parapet_array *array, pp_text *bytes);
parapet_status pp_array_state_adopt(parapet_array *array, pp_cursor *bytes);
parapet_status pp_group_state_print(const parapet_group *group, pp_text *bytes);
parapet_status pp_group_state_adopt(parapet_group *group, pp_cursor *bytes);

/* The codecs of a chunk: inside the shards, if there are any. */
const pp_chain_spec *pp_document_chunk_codecs(const pp_array_document *document);

/* What follows from a document. */
typedef struct pp_derived {
    pp_layout layout;
    pp_failure layout_failure;
    char *codec_words;
} pp_derived;

parapet_status pp_derived_init(pp_derived *derived, const parapet_store *store, const pp_array_document *document);
void pp_derived_clear(pp_derived *derived);

/* Replaces what the handle has; takes over the contents of derived. */
void pp_derived_adopt(pp_derived *derived, parapet_array *array);

/* options.c: the options given, filled up from the environment and the defaults. */
parapet_status pp_options_resolve(parapet_store_options *resolved, const parapet_store_options *given);

/* node.c: documents in the store. */

/* "a/b" from "/a/b/"; checked. Free with pp_free. */
parapet_status pp_path_normalize(const char *path, char **normal);

/* "path/name", or "name" at the root. Free with pp_free. */
parapet_status pp_path_join(const char *path, const char *name, char **joined);

/* A list of paths, and each of them; takes NULL. */
void pp_paths_free(char **paths, size_t count);

/* Whether a path is another one or lies below it; both normal. */
bool pp_path_is_within(const char *inner, const char *outer);

/* What lies at a path. */
typedef struct pp_node {
    parapet_node_kind kind;
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
parapet_status pp_node_write(parapet_store *store, const char *path, parapet_node_kind kind, const char *text,
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
parapet_status pp_group_check_usable(const parapet_group *group);
parapet_status pp_group_write(parapet_group *group, const pp_group_document *document, pp_publish_mode mode);
parapet_status pp_group_check_changeable(const parapet_group *group);
/* Takes what Parapet keeps in the attributes from the store: a series may have gone on since the group was opened. */
parapet_status pp_group_refresh_reserved(parapet_group *group);

/* consolidate.c: the documents of everything below a group, as its zarr.json holds them; flat: of its own arrays.
 * Free it also after a failure. */
parapet_status pp_metadata_gather(parapet_store *store, const char *path, bool is_flat, pp_json **consolidated);

/* attributes.c: those a new node is to have, from the text of a JSON object; NULL is {}. Free them also after a
 * failure. */
parapet_status pp_attributes_parse(const char *text, pp_json **attributes);

/* What an attribute is to become; json NULL removes it. */
typedef struct pp_attribute {
    const char *name, *json;
} pp_attribute;

void pp_attribute_add(const pp_attribute *attribute, pp_call *call);

/* A copy of attributes with one changed. Reserved names are refused. */
parapet_status pp_attributes_changed(pp_json *attributes, const pp_attribute *attribute, pp_json **changed);
parapet_status pp_attributes_get(pp_json *attributes, const char *name, char **json);

/* defaults.c: fills in the shapes that a spec leaves open. */
parapet_status pp_shapes_choose(const parapet_array_spec *spec, size_t element_bytes, int64_t expected_servers,
                                int64_t *chunks, int64_t *shards);

/* spec.c: whether a spec can be looked at; and everything in it that must be equal on all ranks. */
parapet_status pp_spec_check(const parapet_array_spec *spec);
void pp_spec_add(const parapet_array_spec *spec, pp_call *call);

/* create.c: as parapet_arrays_create; is_apart as in parapet_array. */
parapet_status pp_arrays_create(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                const parapet_array_spec *specs, int count, bool is_apart);

/* create.c: the document of a new array; clear it also after a failure. */
parapet_status pp_document_from_spec(pp_array_document *document, const parapet_array_spec *spec,
                                     int64_t expected_servers);

/* Puts shards of grid_shape around the chunks that the document's codecs are of. */
parapet_status pp_document_wrap_in_shards(pp_array_document *document, const int64_t *chunks);

/* create.c: makes sure that nothing is at the path of a new array, or refuses. */
parapet_status pp_array_make_room(parapet_array *array, const pp_array_document *document, bool overwrites);

/* Removes shards and everything else below an array that has no document. */
parapet_status pp_array_remove_remains(parapet_array *array, const pp_array_document *document);

/* array.c */

/* Handles without a document yet. Finish them also after a failure. */
parapet_status pp_arrays_build(parapet_array **arrays, parapet_store *store, const char *const *paths, int count);
/* [collective] Begins the call verb(path), then rank 0 does work on {arrays, count}; the handles are counted on
 * success, freed on failure. mine is what this rank has to say beforehand, call what it has to compare. */
typedef struct pp_arrays {
    parapet_store *store;
    parapet_array **arrays;
    int count;
} pp_arrays;
parapet_status pp_arrays_rank0_do(const pp_arrays *arrays, const pp_call *call, parapet_status mine,
                                  pp_node_work work, const void *argument);
/* The words "verb(path)" and a digest of all paths. */
void pp_arrays_call(pp_call *call, const char *verb, const char *const *paths, int count);

parapet_status pp_array_check_usable(const parapet_array *array);
parapet_status pp_array_check_writable(const parapet_array *array);

/* Handles that were built and never counted as open; takes NULL. */
void pp_array_free(parapet_array *array);

/* How the ranks of a store work together in a transfer. */
pp_team pp_store_team(const parapet_store *store, pp_direction direction);

/* Everything a transfer of this array needs; fails when the array cannot be read. */
parapet_status pp_array_transfer_context(parapet_array *array, pp_transfer_context *context);

/* Replaces the array's document in the store and in the handle; takes over the contents of document, also on
 * failure. Keeps a seal that is in force. */
parapet_status pp_array_replace_document(parapet_array *array, pp_array_document *document);

/* A copy of the document that may be changed. */
parapet_status pp_array_document_duplicate(const pp_array_document *document, pp_array_document *copy);

/* resize.c: completes a shrinking that was interrupted. */
parapet_status pp_resize_finish(parapet_array *array);

/* Changes the shape of an array that is not sealed; where it shrinks, removes and trims shards. */
parapet_status pp_resize_apply(parapet_array *array, const int64_t *shape);

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
/* The steps of sealing. First what an earlier seal or a shrinking has left is done away with; then the pages of the
 * head, which takes in their digests; last the head and the document, which is what seals. */
parapet_status pp_seal_remove_stale(parapet_array *array);
uint32_t pp_seal_page_records(const pp_manifest_head *head, int64_t page);
parapet_status pp_seal_write_page(parapet_array *array, int64_t page, const pp_shard_record *records);
parapet_status pp_seal_mark(parapet_array *array);
/* seal_many.c
 * [collective] Seals arrays of one store that are not sealed; part of a call that has begun, same status on every
 * rank. The number of agreements does not depend on the number of arrays; shards are described and pages written by
 * all ranks. */
parapet_status pp_arrays_seal(parapet_array *const *arrays, int count);
/* seal_verify.c
 * [collective] Compares every shard of sealed arrays with the manifest: existence, length and the checksum of its
 * index, each rank some of them; part of a call that has begun, same status on every rank. */
parapet_status pp_arrays_verify(parapet_array *const *arrays, int count);
/* Shards of many arrays are dealt to the servers in turn: the first of an array that is this rank's, with so many
 * shards in the arrays before it; INT64_MAX: none, this rank is no server. */
int64_t pp_seal_first_own(const parapet_store *store, int64_t before);

#endif
