/* places.h - the arrays of a foreign file: the zarr.json of each, and where in the file each of its chunks is.
 *
 * A flat array is cut into slabs: chunks that take whole fast dimensions and a few indices of one slow dimension. The
 * bytes of a slab are then one run of the file, or, in a record variable of netCDF, runs at equal distances. At the
 * edge a slab has fewer indices than a chunk; what is missing reads as zeros and is never looked at.
 *
 * An array that is stored chunk by chunk keeps its chunks, and a list of their places. */
#ifndef PARAPET_FOREIGN_PLACES_H
#define PARAPET_FOREIGN_PLACES_H

#include "foreign/chunks.h"

/* A slab has at most this many bytes, or one element: large enough to read at the rate of the storage, small enough
 * for a few at once in little memory. */
#define PP_SLAB_BYTES ((size_t)4 << 20)

/* More arrays in a file, or more bytes of their documents, are refused. */
#define PP_MAX_FOREIGN_ARRAYS 32768
#define PP_MAX_FOREIGN_DOCUMENTS ((size_t)32 << 20)

/* The bytes of a chunk: runs of equal length at equal distances. */
typedef struct pp_place {
    uint64_t start;
    uint64_t run_bytes;
    uint64_t distance; /* from one run to the next; equal to run_bytes: they are one */
    uint64_t run_count;
} pp_place;

typedef enum pp_foreign_kind {
    PP_FOREIGN_FLAT,    /* an array in slabs */
    PP_FOREIGN_CHUNKED, /* an array whose chunks have a place each */
    PP_FOREIGN_GROUP,
    PP_FOREIGN_REFUSED /* an array that cannot be read; its document is a sentence that says why */
} pp_foreign_kind;

/* A node of the file, which is an array unless its kind says otherwise. Dimensions are in the order of the file, the
 * slowest first. */
typedef struct pp_foreign_array {
    pp_foreign_kind kind;
    char *name;     /* its path; "": it is all there is in the file */
    char *document; /* its zarr.json */
    size_t document_bytes;
    int ndim;
    int64_t *extent;  /* ndim of them, and then those of a slab or chunk */
    bool is_reversed; /* Fortran: readers see the dimensions in the opposite order */
    size_t element_bytes;
    uint64_t start;
    uint64_t distance; /* between two indices of dimension 0 */
    pp_foreign_chunks chunks;
} pp_foreign_array;

typedef struct pp_places {
    uint64_t file_bytes;
    pp_foreign_array *arrays; /* by name, once finished */
    size_t count, capacity;
    char *group; /* the zarr.json above them; NULL: there is only one array, named "" */
    size_t document_bytes;
    uint64_t array_bytes; /* of all elements together, as they are stored */
    bool is_tree;         /* there may be groups inside it: names are paths */
} pp_places;

/* How the elements of an array are in the file. */
typedef struct pp_flat {
    uint64_t start;
    uint64_t end;      /* elements are before it; 0: before the end of the file */
    uint64_t distance; /* between two indices of the slowest dimension; 0: they lie side by side */
    bool is_big_endian;
    bool is_reversed;
} pp_flat;

/* Adds an array. Its document has type, shape, fill value, names and attributes; grid and codecs are chosen here.
 * Refuses elements beyond the end, and arrays that together are larger than the file: some would share their bytes,
 * and a small file could stand for any amount of work. The document stays the caller's. */
parapet_status pp_places_add(pp_places *places, const char *name, pp_array_document *document, const pp_flat *flat);

/* Adds an array that is stored chunk by chunk, with the grid and the codecs of its document. It takes over what
 * chunks holds, also if it fails. Refuses places outside the file, and what a flat array would be refused for. Texts
 * are one chunk, which chunks has in memory. */
parapet_status pp_places_add_chunked(pp_places *places, const char *name, pp_array_document *document,
                                     pp_foreign_chunks *chunks);

/* Adds a node that is no array: a group with its zarr.json, or an array that cannot be read, with the reason. */
typedef struct pp_foreign_text {
    const char *data;
    size_t bytes;
} pp_foreign_text;
parapet_status pp_places_add_node(pp_places *places, const char *name, pp_foreign_kind kind, pp_foreign_text text);

/* Makes it a group with these attributes: a JSON object, or NULL. */
parapet_status pp_places_set_group(pp_places *places, const char *attributes, size_t bytes);

/* Sorts the nodes; refuses two of the same name, one without a name in a group, and one in a group that is not there.
 */
parapet_status pp_places_finish(pp_places *places);
void pp_places_free(pp_places *places);

/* Makes one array, or one group with what is below it, all there is. */
parapet_status pp_places_keep_only(pp_places *places, const char *name);

/* The node of that name; NULL: there is none. */
const pp_foreign_array *pp_places_find(const pp_places *places, const char *name, size_t name_bytes);

/* How many slabs there are along a dimension, as readers see it. */
int64_t pp_foreign_array_slabs(const pp_foreign_array *array, int dimension);

/* The bytes of a whole slab. */
uint64_t pp_foreign_array_slab_bytes(const pp_foreign_array *array);

/* Where the slab at a position is, as readers see it; inside the grid. */
void pp_foreign_array_locate(const pp_foreign_array *array, const int64_t *position, pp_place *place);

/* The extents of a slab of elements of that size. */
void pp_slab_choose(int ndim, const int64_t *extent, size_t element_bytes, int64_t *slab);

#endif
