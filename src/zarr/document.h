/* document.h - zarr.json and its Zarr v2 predecessors, parsed and printed.
 *
 * Turns documents into structs and back; knows nothing of storage or MPI. Depends on base, geometry (limits), codec
 * (specs). Everything in a document is kept, so that parts that Parapet does not use are written back unchanged. */
#ifndef PARAPET_ZARR_DOCUMENT_H
#define PARAPET_ZARR_DOCUMENT_H

#include "codec/codec.h"
#include "zarr/types.h"

/* How chunk positions become keys below the array. */
typedef struct pp_key_encoding {
    bool is_v2;     /* "0.1" and "0" for a scalar, instead of "c/0/1" and "c" */
    char separator; /* '/' or '.' */
} pp_key_encoding;

typedef struct pp_array_document {
    int zarr_format; /* 3 or 2 */
    bool is_foreign; /* not from a document, but made from the header of a file of another format */
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    int64_t grid_shape[PARAPET_MAX_NDIM]; /* the stored object: a shard, or a chunk when not sharded */
    pp_type type;
    pp_chain_spec codecs; /* of the stored object; a sole sharding codec when sharded */
    bool has_texts;  /* elements are texts, stored as zarr/texts.h says; codecs has bytes in place of vlen-utf8 */
    char *fill_text; /* of texts; owned */
    pp_key_encoding keys;
    void *fill_value; /* element_bytes long; owned */
    bool is_fill_defined;
    bool has_dimension_names;
    char *dimension_names[PARAPET_MAX_NDIM]; /* owned; an entry may be NULL */
    pp_json *attributes;                     /* an object; owned */
    pp_json *extra;                          /* unknown top-level members with must_understand false; owned */
} pp_array_document;

void pp_array_document_clear(pp_array_document *document);

/* From zarr.json. Refuses what is not valid Zarr, with the name of the field in the sentence. */
parapet_status pp_array_document_parse(pp_array_document *document, pp_json *json);

/* From .zarray and .zattrs (NULL: none). */
parapet_status pp_array_document_parse_v2(pp_array_document *document, pp_json *zarray, pp_json *zattrs);

/* The zarr.json of a v3 document, indented, ending in a newline. Arrays that Parapet made use only the safe subset of
 * Zarr; an array made by another program keeps its codecs. PARAPET_OK: the text is whole. */
parapet_status pp_array_document_print(const pp_array_document *document, pp_text *text);

typedef struct pp_group_document {
    int zarr_format;
    pp_json *attributes;            /* an object; owned */
    pp_json *consolidated_metadata; /* or NULL; owned */
    pp_json *extra;                 /* as above */
} pp_group_document;

void pp_group_document_clear(pp_group_document *document);
parapet_status pp_group_document_parse(pp_group_document *document, pp_json *json);
parapet_status pp_group_document_parse_v2(pp_group_document *document, pp_json *zgroup, pp_json *zattrs);
parapet_status pp_group_document_print(const pp_group_document *document, pp_text *text);

/* Consolidated metadata on their way into a text: together they are too large to be kept as JSON. */
typedef struct pp_documents {
    pp_text *text;
    size_t count;
} pp_documents;

/* Adds a document; name is its path below the group. */
parapet_status pp_documents_add(pp_documents *documents, const char *name, pp_json *json);

/* Prints a group with consolidated metadata, which print adds one document at a time. The text is empty before. */
typedef parapet_status (*pp_documents_printer)(void *context, pp_documents *documents);
parapet_status pp_group_document_print_with(const pp_group_document *document, pp_documents_printer print,
                                            void *context, pp_text *text);

/* "array", "group" or an error for a zarr.json that is neither, or a draft of Zarr v3 from before 2023. */
parapet_status pp_document_node_type(pp_json *json, parapet_node_kind *kind);

/* The key of a stored object below its array: "c/1/2". cell has ndim positions. */
void pp_key_print(const pp_key_encoding *keys, int ndim, const int64_t *cell, pp_text *text);

/* Reads such a key back; false when it is not one of this encoding in canonical form. */
bool pp_key_parse(const pp_key_encoding *keys, int ndim, const char *key, int64_t *cell);

/* A codec chain from words: "none", "zstd:3", "gzip:6", "blosc:lz4:5:shuffle", followed by a CRC-32C if asked for.
 * Always starts with little-endian bytes. */
parapet_status pp_codecs_from_words(pp_chain_spec *spec, const char *words, size_t element_bytes, bool has_crc32c);

/* The Zarr rules for names of nodes: see parapet.h. Sentences name the offending part. "" is the root. */
parapet_status pp_path_check(const char *path);

#endif
