/* array_handle.h - the struct of a parapet_array. Private to array/: other folders use array.h. */
#ifndef PARAPET_ARRAY_ARRAY_HANDLE_H
#define PARAPET_ARRAY_ARRAY_HANDLE_H

#include <stdatomic.h>

#include "array/guards.h"
#include "array/node_lock.h"
#include "array/store_handle.h"

/* Homes on servers with weights; see epochs.h. */
typedef struct pp_weighted_homes {
    pp_lattice lattice;
    int64_t epoch; /* for which it was chosen; 0: none */
} pp_weighted_homes;

/* Pages of the manifest that are kept after they were read, each at its number modulo this: reading again from the
 * same shards asks storage for no page. A page takes some 256 KiB where shards have many chunks, so all arrays of a
 * store together keep a limited number of bytes, beside one page each. */
#define PP_SESSION_CACHE_PAGES 8

typedef struct pp_cached_page {
    bool is_kept;
    int64_t number;
    size_t bytes;          /* that it takes */
    size_t reserved_bytes; /* of these, from the budget: where one shard has very many chunks */
    pp_manifest_page page;
} pp_cached_page;

struct parapet_array {
    parapet_store *store;
    char *path;
    pp_array_document document;
    pp_json *zarray, *zattrs;                       /* as stored, of Zarr v2, or on rank 0 of text; else NULL */
    unsigned char document_digest[PP_SHA256_BYTES]; /* of zarr.json as stored */
    _Atomic(uint64_t) document_version;             /* of the same; 0: not known */
    char incarnation[PP_INCARNATION_BYTES];
    pp_layout layout;
    pp_lattice lattice; /* where the homes of its shards are, as long as the handle is open; see has_lattice */
    bool has_lattice;   /* false: nobody has to know, because no rank but this one uses the handle */
    int64_t first_cells[PARAPET_MAX_NDIM]; /* shards per dimension when the lattice was chosen */
    pp_weighted_homes weighted[2];         /* by the direction that has the weights */
    struct pp_failure *layout_failure;     /* why there is no layout, and so no reading; NULL: there is one */
    char *codec_words;
    bool is_sealed;
    bool has_head;        /* there is a seal in the store, in force or left over */
    bool is_mark_ignored; /* zarr.json says that the array is sealed; the document in this handle does not */
    pp_manifest_head head;
    pp_cached_page pages[PP_SESSION_CACHE_PAGES];
    pp_shard_notes notes;
    int64_t cache_number;  /* by which the cache knows it, and what is dirty of it; 0: neither has any of it */
    bool is_cut;           /* another job has made it smaller, and what was delayed of the rest is lost */
    bool is_detached;      /* the groups above are not changed: the owner of this handle takes care of them */
    atomic_bool is_broken; /* publishing failed, or ranks may know different things: it can only be closed */
    pp_guard *guard;
};

#endif
