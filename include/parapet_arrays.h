/* parapet_arrays.h - what is in a store: groups and arrays, how they are read and written, copied, kept as
 * checkpoints, extended as series, and checked. A part of parapet.h, which programs include. */
#ifndef PARAPET_ARRAYS_H
#define PARAPET_ARRAYS_H

#include <parapet_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups ------------------------------------------------------------------------------------------- */

/* Paths are relative to the store: "a/b"; "" or "/" is the root. Names follow the Zarr rules: a name is not empty,
 * does not consist of dots only, does not start with "__", is not "zarr.json", contains no control characters and has
 * at most 255 bytes. */

/* [collective] Creates a group, and every missing group above it. The attributes are a JSON object or NULL. */
PARAPET_API parapet_status parapet_group_create(parapet_group **group, parapet_store *store, const char *path,
                                                const char *attributes);

/* [collective] Opens a group of Zarr v3, or of Zarr v2 for reading. */
PARAPET_API parapet_status parapet_group_open(parapet_group **group, parapet_store *store, const char *path);

/* [collective] Closes the group. Arrays and groups in it may stay open. */
PARAPET_API parapet_status parapet_group_close(parapet_group **group);

/* Called for each child. Returning anything but 0 ends the listing. */
typedef int (*parapet_child_visitor)(void *context, const char *name, parapet_node_kind kind);

/* [collective] Lists the direct children of a group, sorted by name, including Zarr v2 nodes. An invalid child does
 * not hide the others. */
PARAPET_API parapet_status parapet_group_list(parapet_group *group, parapet_child_visitor visitor, void *context);

/* [collective] Writes the metadata of everything below this group into its zarr.json, as consolidated metadata, so
 * that readers open it with one request. When Parapet later changes metadata below, it removes the consolidated
 * metadata. */
PARAPET_API parapet_status parapet_group_consolidate(parapet_group *group);

/* [collective] Sets an attribute to a JSON value ("\"m/s\"", "3", "[1, 2]"). A json of NULL removes the attribute. */
PARAPET_API parapet_status parapet_group_attribute_set(parapet_group *group, const char *name, const char *json);

/* [local] Returns the JSON text of an attribute. If name is NULL, returns all attributes except "_parapet", which is
 * reserved for the library. Free the text with parapet_free. */
PARAPET_API parapet_status parapet_group_attribute_get(parapet_group *group, const char *name, char **json);

/* ---- Arrays ------------------------------------------------------------------------------------------- */

/* Describes an array to be created. Only ndim, type and shape are required. */
typedef struct parapet_array_spec {
    int ndim;
    parapet_type type;
    const int64_t *shape;
    const int64_t *chunks;  /* NULL: about 1 MiB each; an entry of 0 is the whole dimension */
    const int64_t *shards;  /* NULL: chosen; an entry of 0 is the whole dimension, rounded up to whole chunks */
    int unsharded;          /* 1: every chunk is stored as a separate object */
    const char *codec;      /* "none", "zstd:3", "gzip:6", "blosc:lz4:5:shuffle"; NULL: "zstd:3" */
    int no_checksum;        /* 1: no CRC-32C on chunks */
    const void *fill_value; /* one element; NULL: zero */
    const char *const *dimension_names; /* ndim entries; NULL: dim_0, dim_1, ... */
    const char *attributes;             /* a JSON object; NULL: {} */
    size_t element_bytes;               /* for PARAPET_RAW only */
    const char *time_unit; /* for DATETIME64 and TIMEDELTA64: "s", "ms", "us", "ns", "D", ...; NULL: "ns" */
    int overwrite;         /* 1: replace an existing array of this name */
    int64_t reserved[16];
} parapet_array_spec;

/* [collective] Creates an array, and every missing group above it. */
PARAPET_API parapet_status parapet_array_create(parapet_array **array, parapet_store *store, const char *path,
                                                const parapet_array_spec *spec);

/* [collective] Opens an array of Zarr v3, or of Zarr v2 for reading. */
PARAPET_API parapet_status parapet_array_open(parapet_array **array, parapet_store *store, const char *path);

/* [collective] Closes the array. Everything written to it is already stored. */
PARAPET_API parapet_status parapet_array_close(parapet_array **array);

/* [collective] Creates many arrays at once. The servers share the work, except that one rank replaces old arrays, and
 * the number of agreements between the ranks does not depend on the number of arrays. All or none are opened: after a
 * failure every handle is NULL, although some of the arrays, not always the first ones, may already exist in the
 * store. */
PARAPET_API parapet_status parapet_arrays_create(parapet_array **arrays, parapet_store *store,
                                                 const char *const *paths, const parapet_array_spec *specs,
                                                 int count);

/* [collective] Opens many arrays at once, all or none: after a failure every handle is NULL. */
PARAPET_API parapet_status parapet_arrays_open(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                               int count);

/* [collective] Closes many arrays at once and sets their handles to NULL. */
PARAPET_API parapet_status parapet_arrays_close(parapet_array **arrays, int count);

/* Describes an open array. Pointers stay valid until the array is resized, sealed, given an attribute or closed. */
typedef struct parapet_array_info {
    const char *path;
    parapet_type type;
    const char *type_name; /* as in the metadata: "float64", "numpy.datetime64[ns]" */
    size_t element_bytes;
    int ndim;
    int zarr_format; /* 3, or 2 for an array that can only be read */
    int is_sharded;
    int is_sealed;
    const int64_t *shape;
    const int64_t *chunks;
    const int64_t *shards;              /* equal to chunks if not sharded */
    const char *const *dimension_names; /* an entry may be NULL; NULL: the array has none */
    const char *codecs;                 /* in words: "zstd:3 crc32c" */
    const void *fill_value;             /* one element */
    int fill_is_defined;                /* 0: the metadata defines none, and zero is used */
    int64_t reserved[16];
} parapet_array_info;

/* [local] Reports the type, shape, chunks, shards, codecs and fill value of an array. */
PARAPET_API parapet_status parapet_array_get_info(parapet_array *array, parapet_array_info *info);

/* Called with the box of a stored shard, in elements of the array. Returning anything but 0 ends the listing with
 * PARAPET_ERR_CANCELLED. */
typedef int (*parapet_box_visitor)(void *context, const int64_t *start, const int64_t *count);

/* [local] Lists the boxes of the array that are stored, shard by shard in ascending order. The time it takes depends
 * on the number of stored objects, not on the number of shards that the array has room for. */
PARAPET_API parapet_status parapet_array_list(parapet_array *array, parapet_box_visitor visitor, void *context);

/* [local] Explains in sentences how the array is divided into chunks and shards. Says how large they are, how many
 * files there are, and why the defaults are what they are. Free the text with parapet_free. */
PARAPET_API parapet_status parapet_array_layout_print(parapet_array *array, char **text);

/* A box of the index space and the memory that holds it. Element [i, j, ...] of the box is at
 * data + i * strides_bytes[0] + j * strides_bytes[1] + ...; strides may be negative. */
typedef struct parapet_part {
    int ndim;             /* required: that of the array; in a step of a series, one less */
    const int64_t *start; /* start and count have ndim entries each */
    const int64_t *count;
    void *data;                   /* parapet_array_write only reads from it */
    const int64_t *strides_bytes; /* NULL: C order, densely packed */
    parapet_type type;            /* 0: the array's; any type that differs from the array's is refused */
    int64_t reserved[4];
} parapet_part;

/* [collective] Writes any number of parts, including none. The parts of all ranks together must not overlap. All
 * shards are staged, that is, written completely but not visible, before the first becomes visible; so a failure
 * before that point leaves the array unchanged. A sealed array is unsealed at that point; what is kept of its shards
 * must be what was sealed. */
PARAPET_API parapet_status parapet_array_write(parapet_array *array, const parapet_part *parts, int part_count);

/* [collective] Reads any number of parts, including none. Parts may overlap. */
PARAPET_API parapet_status parapet_array_read(parapet_array *array, const parapet_part *parts, int part_count);

/* [local] Reads parts as parapet_array_read does, on this rank alone: no other rank takes part, and MPI is not
 * called. Any thread may call it, several at once, beside a collective call of another thread, whatever thread level
 * MPI has. Status and sentence are those of this rank, and there is no progress callback.
 *
 * A write that is under way at the same time shows in each shard either wholly or not at all. Resizing, sealing,
 * changing an attribute and closing wait until the local reads of the array have ended. A read that begins while the
 * array is being closed is PARAPET_ERR_ARGUMENT; begin none after that. In a callback of a call on this store it is
 * PARAPET_ERR_ARGUMENT, too. The buffers of all local reads of a store share local_bytes: a read waits for others if
 * it must, and is PARAPET_ERR_MEMORY only if it is too large for all of local_bytes.
 *
 * There is no local write: a shard has one owner, who collects what all ranks have of it. */
PARAPET_API parapet_status parapet_array_read_local(parapet_array *array, const parapet_part *parts, int part_count);

/* Elements of an array, listed one by one in any order, and the memory that holds them: the cells of an unstructured
 * grid, for example. Millions of them are meant. A rank needs 16 bytes of memory_bytes for each of its own, and in
 * addition what it holds for others; if that is too much at once, they are worked off in several passes. */
typedef struct parapet_points {
    int ndim;                   /* required: that of the array */
    int64_t count;              /* of points */
    const int64_t *coordinates; /* ndim for each point, one point after the other */
    void *data;                 /* one element for each point, in the same order; writing only reads from it */
    parapet_type type;          /* 0: the array's; any type that differs from the array's is refused */
    int64_t reserved[4];
} parapet_points;

/* The same for runs of elements that follow each other in the array's flat index, which counts its elements in C
 * order. A run may reach from one row into the next. */
typedef struct parapet_runs {
    int64_t count;          /* of runs */
    const int64_t *starts;  /* flat index of the first element of each */
    const int64_t *lengths; /* elements of each; NULL: 1 */
    void *data;             /* the elements of one run after the other; writing only reads from it */
    parapet_type type;      /* 0: the array's; any type that differs from the array's is refused */
    int64_t reserved[4];
} parapet_runs;

/* [collective] Writes the points of all ranks, as parapet_array_write writes parts; NULL: this rank has none. An
 * element that is listed twice, by one rank or by two, is PARAPET_ERR_ARGUMENT, and nothing is written. */
PARAPET_API parapet_status parapet_array_write_points(parapet_array *array, const parapet_points *points);

/* [collective] Reads the points of all ranks; NULL: this rank has none. An element may be listed any number of times.
 */
PARAPET_API parapet_status parapet_array_read_points(parapet_array *array, const parapet_points *points);

/* [local] Reads points on this rank alone, as parapet_array_read_local reads parts. */
PARAPET_API parapet_status parapet_array_read_points_local(parapet_array *array, const parapet_points *points);

/* [collective] Writes the runs of all ranks, as parapet_array_write_points writes points. */
PARAPET_API parapet_status parapet_array_write_runs(parapet_array *array, const parapet_runs *runs);

/* [collective] Reads the runs of all ranks; NULL: this rank has none. Runs may overlap. */
PARAPET_API parapet_status parapet_array_read_runs(parapet_array *array, const parapet_runs *runs);

/* [local] Reads runs on this rank alone, as parapet_array_read_local reads parts. */
PARAPET_API parapet_status parapet_array_read_runs_local(parapet_array *array, const parapet_runs *runs);

/* [local] Reads the texts of a box of an array of type "string" on this rank alone, as parapet_array_read_local reads
 * parts. start and count have ndim entries each. *text has all texts of the box behind each other, in C order, and a
 * NUL; free it with parapet_free. ends, which has room for as many numbers as the box has elements, tells where each
 * ends. Texts are UTF-8, and may contain NULs. The codec must be vlen-utf8, alone or with others that turn bytes into
 * bytes, and without shards: anything else is PARAPET_ERR_UNSUPPORTED. Takes up to local_bytes, beside *text. */
PARAPET_API parapet_status parapet_array_read_texts_local(parapet_array *array, const int64_t *start,
                                                          const int64_t *count, char **text, int64_t *ends);

/* [collective] Writes what write_back has left for later of this array, as parapet_array_write writes: staged first,
 * then made visible, durable when it returns. Without write_back there is nothing to do.
 *
 * With write_back, storage that fails is mostly told by the flush, on all ranks; by a write only where that has to
 * read, lock, or make room. What could not be written then stays, and can be flushed again. PARAPET_ERR_STALE:
 * another job has written a shard since this one wrote a part of it; all other shards are written. That shard can be
 * given up by closing the array, or be written in whole. A crash loses what was not flushed; each shard is then as it
 * was after some write since the last flush, or after that flush. Where cache_bytes is too small, shards are written
 * earlier.
 *
 * Reads and writes of parts, points and runs see what is left for later. All other collective calls of the store
 * flush first, but those that fill or end a checkpoint and those that close something; closing arrays flushes these:
 * the status is then that of the flush, and what could not be written is lost. Local reads are PARAPET_ERR_ARGUMENT
 * until the array is flushed. */
PARAPET_API parapet_status parapet_array_flush(parapet_array *array);

/* [collective] The same for all arrays of the store. */
PARAPET_API parapet_status parapet_store_flush(parapet_store *store);

/* The parts of one array in a transfer of many arrays. */
typedef struct parapet_array_parts {
    parapet_array *array; /* all arrays belong to one store; each is listed once, by one handle */
    const parapet_part *parts;
    int part_count;
    int64_t reserved[4];
} parapet_array_parts;

/* [local] Builds the parts of this rank from what a program that uses MPI-IO gives to MPI_File_set_view: the type of
 * its file view, and the displacement in bytes from the first element of the array. The array takes the place of the
 * file: its elements in C order. data is the first of the elements, packed in the order of the datatype, as
 * MPI_File_write_all and MPI_File_read_all have them; each part refers to its elements there by strides.
 *
 * Every datatype is accepted that is made of predefined ones that fit the elements of the array; MPI_BYTE fits any. A
 * subarray becomes one part, and an MPI_Type_create_darray as few as its distribution has boxes. As in MPI-IO, the
 * datatype must select elements in ascending order and none twice. Sets list to the array and its parts, for
 * parapet_array_write and all others that take parts; free them with parapet_array_parts_free. The list does not
 * count towards memory_bytes, but if it would exceed it, this is PARAPET_ERR_MEMORY. Calls MPI, on this thread. */
PARAPET_API parapet_status parapet_array_parts_build(parapet_array_parts *list, parapet_array *array,
                                                     int64_t displacement_bytes, MPI_Datatype filetype, void *data);

/* [local] Frees what parapet_array_parts_build made, and sets list to no parts. NULL is allowed. */
PARAPET_API void parapet_array_parts_free(parapet_array_parts *list);

/* [collective] Writes many arrays as one transfer, which shares buffers, threads and agreements. Every rank lists the
 * same arrays in the same order. All shards of all arrays are staged before the first becomes visible. */
PARAPET_API parapet_status parapet_arrays_write(const parapet_array_parts *list, int count);

/* [collective] Reads many arrays as one transfer, with the same rules as parapet_arrays_write; parts may overlap. */
PARAPET_API parapet_status parapet_arrays_read(const parapet_array_parts *list, int count);

/* [collective] Changes the shape. Elements outside the new shape are lost: if the array grows again, they read as
 * fill value. */
PARAPET_API parapet_status parapet_array_resize(parapet_array *array, const int64_t *shape);

/* [collective] Records the length, checksums and digest of every shard, so that from now on a missing, swapped or
 * stale shard is an error. Other Zarr readers see an ordinary array. The records of shards that were written through
 * this handle are taken from memory; a shard that another handle has overwritten since then reads as damaged. */
PARAPET_API parapet_status parapet_array_seal(parapet_array *array);

/* [collective] Removes the seal. Writing and resizing do this implicitly. */
PARAPET_API parapet_status parapet_array_unseal(parapet_array *array);

/* [collective] Sets an attribute, as parapet_group_attribute_set does. A sealed array stays sealed. */
PARAPET_API parapet_status parapet_array_attribute_set(parapet_array *array, const char *name, const char *json);

/* [local] Returns the JSON text of one attribute or of all, as parapet_group_attribute_get does. */
PARAPET_API parapet_status parapet_array_attribute_get(parapet_array *array, const char *name, char **json);

/* ---- Requests ----------------------------------------------------------------------------------------- */

/* A call that was started: it runs while the program computes.
 *
 *     parapet_array_start_write(&request, density, &part, 1, PARAPET_BUFFERING_BORROW);
 *     compute(...);
 *     parapet_request_wait(&request);
 *
 * A separate thread makes the call, with its messages and its calls of the progress callback, if MPI was started with
 * MPI_THREAD_MULTIPLE; in a store of one rank, MPI_THREAD_FUNNELED is enough. With any lower level, or if io_thread
 * is PARAPET_IO_THREAD_NONE, start makes the whole call before it returns.
 *
 * A store runs one request at a time: any other call on it, another start too, first completes the one that runs,
 * except parapet_request_test and local reads. Requests of different stores do not wait for each other, and ranks may
 * wait for them in any order. Start fails, the same on all ranks, and there is no request, if the ranks made
 * different calls, if an argument is wrong, or if there is no memory for what is copied; wait returns what the call
 * itself does. Every request must be waited for before its store is closed. */
typedef struct parapet_request parapet_request;

/* What becomes of the caller's memory when something is written beside the program. */
typedef enum parapet_buffering {
    PARAPET_BUFFERING_COPY = 0,  /* the caller may reuse the memory of the parts when start returns; the copy counts
                                    towards memory_bytes */
    PARAPET_BUFFERING_BORROW = 1 /* the caller must not change that memory before wait returns */
} parapet_buffering;

/* [collective] Starts parapet_array_write. The list of parts may be reused when start returns. */
PARAPET_API parapet_status parapet_array_start_write(parapet_request **request, parapet_array *array,
                                                     const parapet_part *parts, int part_count,
                                                     parapet_buffering buffering);

/* [collective] Starts parapet_array_read. The memory of the parts belongs to the request until wait returns. */
PARAPET_API parapet_status parapet_array_start_read(parapet_request **request, parapet_array *array,
                                                    const parapet_part *parts, int part_count);

/* [collective] Starts parapet_arrays_write, of one array or more. */
PARAPET_API parapet_status parapet_arrays_start_write(parapet_request **request, const parapet_array_parts *list,
                                                      int count, parapet_buffering buffering);

/* [collective] Starts parapet_arrays_read, of one array or more. */
PARAPET_API parapet_status parapet_arrays_start_read(parapet_request **request, const parapet_array_parts *list,
                                                     int count);

/* [local] Sets *is_done to 1 if parapet_request_wait would return immediately, else to 0. Any thread may call it. */
PARAPET_API parapet_status parapet_request_test(parapet_request *request, int *is_done);

/* [collective] Completes the request, returns the status of the call that was started, and frees the request. As with
 * any collective call, one thread at a time for each store. */
PARAPET_API parapet_status parapet_request_wait(parapet_request **request);

/* ---- Distributions ------------------------------------------------------------------------------------ */

/* How one dimension is distributed over the ranks along it. */
typedef enum parapet_spread {
    PARAPET_WHOLE = 0, /* "*": every rank has the whole dimension, along which the mesh has 1 rank */
    PARAPET_BLOCK = 1, /* equal blocks; the last ones may be smaller or empty */
    PARAPET_CYCLIC = 2 /* blocks of block[d] elements, dealt out in turn */
} parapet_spread;

/* A regular distribution of an array over a mesh of ranks. The ranks are in C order:
 * rank = (p0 * mesh[1] + p1) * mesh[2] + p2 ... */
typedef struct parapet_distribution {
    int ndim;
    const int64_t *shape;
    const int64_t *mesh;          /* ranks along each dimension */
    const parapet_spread *spread; /* NULL: BLOCK wherever mesh[d] > 1 */
    const int64_t *block;         /* for CYCLIC; NULL: 1 */
    int64_t reserved[4];
} parapet_distribution;

/* [local] Counts the boxes of a rank: none, one, or for CYCLIC many. */
PARAPET_API parapet_status parapet_distribution_count(const parapet_distribution *distribution, int64_t rank,
                                                      int64_t *count);

/* [local] Computes box number index of a rank. Boxes are in C order; start and count have ndim entries. */
PARAPET_API parapet_status parapet_distribution_box(const parapet_distribution *distribution, int64_t rank,
                                                    int64_t index, int64_t *start, int64_t *count);

/* ---- Copying ------------------------------------------------------------------------------------------ */

/* How a copy differs from its source. A field that is NULL or "" stays as in the source.
 *  - A list of extents is "100,200,50", or "100x200x50", in the order of the target's dimensions, or by name
 *    "time/1000,lat/40" (also "time=1000"). A dimension that is not named keeps its extent. 0, -1 and "time/" mean
 *    the whole dimension, "none" keeps an extent, and "auto" alone chooses all of them.
 *  - When a group is copied, a list by name applies to every array that has these dimensions. An array with none of
 *    them is copied unchanged, and so is one whose number of dimensions differs from that of a list without names. */
typedef struct parapet_copy_changes {
    const char *chunks;
    const char *shards; /* also "none" alone: every chunk is stored as a separate object; NULL: as in the source if
                         * its chunks do not change, else chosen */
    const char *order;  /* "lat,lon,-time" or "1,2,-0": the target's dimensions; a leading "-" reverses one */
    const char *region; /* "time=0:100,lat=10:20" or "0:100,10:20,:": start and end in the source, before order */
    const char *codec;  /* as in parapet_array_spec: "none", "zstd:3" and so on */
    int no_checksum;    /* 1: no CRC-32C on chunks, if codec or chunks are given */
    int64_t reserved[8];
} parapet_copy_changes;

/* What is read of a source chunk if only a part of it is needed at a time. */
typedef enum parapet_reading {
    PARAPET_READING_CHOOSE = 0, /* whichever is predicted to be faster */
    PARAPET_READING_CHUNKS = 1, /* the whole chunk */
    PARAPET_READING_RUNS = 2    /* only runs of it; for chunks that are stored as they are in memory */
} parapet_reading;

/* Whether ranks that need the same source chunk read it once for all of them. */
typedef enum parapet_cooperation {
    PARAPET_COOPERATION_CHOOSE = 0,  /* whichever is predicted to be faster */
    PARAPET_COOPERATION_ALONE = 1,   /* every rank reads for itself */
    PARAPET_COOPERATION_TOGETHER = 2 /* all ranks read together */
} parapet_cooperation;

typedef struct parapet_copy_request {
    parapet_store *source; /* open on the same ranks as target; may be the same store */
    const char *source_path;
    parapet_store *target;
    const char *target_path;
    parapet_copy_changes changes;
    int64_t memory_bytes;     /* limit on all buffers of the copy on this rank; 0: memory_bytes of the target store */
    int64_t unit_bytes;       /* upper limit, in bytes of elements, on what a rank repeats after a kill; 0: 1 GiB, or
                                 memory_bytes if that is more */
    parapet_store *temporary; /* the store for intermediate arrays; NULL: beside the target, in __parapet */
    int overwrite; /* 1: replace an array at the target's path when the copy is complete; discard one begun earlier */
    int resume;    /* 1: continue an interrupted copy; arguments and source must be the same */
    int verify;    /* 1: read source and target again and compare them */
    int no_probe;  /* 1: predict the time for an ordinary disk instead of measuring this one */
    int64_t passes; /* 0: chosen; else exactly this many */
    parapet_reading reading;
    parapet_cooperation cooperation;
    /* Of a group: which arrays and groups below it are copied. "t2m,*_bnds" are names at any level, "ocean/salt" is a
     * path from source_path, and a group stands for everything below it; patterns are those of a shell. NULL: all. */
    const char *include;
    const char *exclude; /* and which of those are not; NULL: none */
    /* A dimension, such as "time": the source is a group whose arrays are appended along it, which must be their
     * first, to those of the group at target_path, instead of being copied. NULL: not. See parapet_copy. */
    const char *append;
    int64_t reserved[11];
} parapet_copy_request;

/* [local] Sets a number, choice or boolean of a request by name from text, as parapet_store_options_set does. */
PARAPET_API parapet_status parapet_copy_request_set(parapet_copy_request *request, const char *name,
                                                    const char *value);

/* What was put right before an append, because an earlier one had been interrupted. */
typedef enum parapet_repair {
    PARAPET_REPAIR_NONE = 0,      /* nothing: none had been */
    PARAPET_REPAIR_COMPLETED = 1, /* all arrays were longer, and metadata says so now */
    PARAPET_REPAIR_UNDONE = 2     /* what was stored of it is gone now */
} parapet_repair;

/* What a copy has done, summed over all ranks unless stated otherwise. */
typedef struct parapet_copy_result {
    int64_t arrays, groups;
    int64_t passes;        /* of the array that took the largest number */
    int64_t array_bytes;   /* elements copied */
    int64_t read_requests; /* ranged reads of chunks; for all these counts, planned and done are equal */
    int64_t index_reads;
    int64_t decoded_bytes; /* of elements, in the chunks or runs that were read */
    int64_t chunks_written, shards_written;
    int64_t memory_peak_bytes;    /* of the rank that used the largest amount */
    int64_t memory_planned_bytes; /* the same, as planned */
    int64_t templates_resumed;    /* boxes of the target (templates) that an earlier run completed */
    double planned_seconds;       /* of the whole copy, including the part done by an earlier run */
    double seconds;               /* of the passes in this run, without planning and verifying */
    int64_t verified_bytes;
    int64_t extent_before, extent_after; /* with append, of the target; equal: the source was already there */
    parapet_repair repaired;             /* with append */
    int64_t reserved[9];
} parapet_copy_result;

/* [collective] Copies an array, or a group with everything below it. The copy may have other chunks, shards or
 * codecs, a region of the source, or another order of dimensions; it stays within memory_bytes. The target becomes
 * visible when it is complete: its zarr.json is written last. A copy that was interrupted, by a kill or by the
 * progress callback of the target store (PARAPET_ERR_CANCELLED), can be resumed on any number of ranks. Any other
 * failure removes the array that was being copied; complete arrays of a group stay. result may be NULL.
 *
 * With append, all arrays of the target that have the dimension become longer by those of the source, or none does,
 * whatever fails or is killed: after a kill, the next append puts right what is left of it, and says so in repaired;
 * parapet_store_collect does it without a source. Until then, copying from and to the group, consolidating it,
 * resizing or sealing its arrays and creating or removing some returns PARAPET_ERR_EXISTS; what is written beyond the
 * old length goes when the append is undone. Arrays lose their seals, also if the append fails when
 * it had begun. The group needs a coordinate of that name, whose numbers ascend. A source whose coordinate is already
 * in the target, with the same values, is left out. Before anything is changed, the call refuses a source with other
 * arrays, types, shapes, or attributes that give numbers their meaning; arrays without the dimension must be equal in
 * both. Readers of consolidated metadata see the old or the new length. Changes cannot be combined with append. The
 * buffers of both stores are used. */
PARAPET_API parapet_status parapet_copy(const parapet_copy_request *request, parapet_copy_result *result);

/* ---- Files of other formats ------------------------------------------------------------------------------ */

/* A file that is made from an array, or from the arrays of a group. */
typedef struct parapet_file_request {
    parapet_store *source;
    const char *source_path;
    const char *file; /* "out.nc" or "out.npy"; with any name "netcdf:PATH", "npy:PATH", or "raw:PATH": no header */
    const char *include; /* of a group: which arrays, as in parapet_copy_request; NULL: all */
    const char *exclude;
    int overwrite; /* 1: replace a file that exists */
    int verify;    /* 1: read source and file again and compare them, before the file gets its name */
    int dry_run;   /* 1: only tell what the file cannot say */
    int64_t reserved[12];
} parapet_file_request;

/* [collective] Writes an array, or the arrays of a group, to one file: netCDF in the classic format (CDF-5), NumPy's
 * .npy, or the bare elements. All ranks write, each at its offsets, to a temporary file beside it, for which space is
 * taken first, and which gets its name when it is complete. After a failure, or when the progress callback of the
 * source store ends it (PARAPET_ERR_CANCELLED), there is no new file, and one that was to be replaced is still there;
 * only if making the new name durable is what failed, it is the new one.
 * Links, directories and what is in a Zarr store are never replaced. The bytes do not depend on the number of ranks.
 * Buffers stay within memory_bytes of the source store. Everything of attributes and names that the format cannot say
 * is left out, and listed in left_out, a line each; an array that it cannot hold is refused
 * (PARAPET_ERR_UNSUPPORTED). left_out may be NULL; free the text with parapet_free. */
PARAPET_API parapet_status parapet_file_write(const parapet_file_request *request, char **left_out);

/* ---- Checkpoints -------------------------------------------------------------------------------------- */

/* A checkpoint keeps the state of a program as numbered generations in one group of a store. Each generation is a
 * complete Zarr group of sealed arrays. It exists, whole, from the moment its commit record is durable; older
 * generations are removed only after that. A crash at any instant leaves every committed generation intact.
 *
 *     parapet_checkpoint_begin(&checkpoint, store, "restart", NULL);
 *     parapet_checkpoint_put(checkpoint, items, 2);
 *     parapet_checkpoint_attribute_set(checkpoint, "step", "4711");
 *     parapet_checkpoint_commit(&checkpoint, &generation);
 *
 *     parapet_restore_open(&restore, store, "restart", 0);      opens the newest that verifies
 *     parapet_restore_get(restore, items, 2);                   on any number of ranks
 *     parapet_restore_close(&restore);
 *
 * A parapet_checkpoint is a generation that is being written; a parapet_restore is one that is being read. */
typedef struct parapet_checkpoint parapet_checkpoint;
typedef struct parapet_restore parapet_restore;

typedef struct parapet_checkpoint_options {
    int64_t generation; /* its number, larger than any before; 0: one more than the newest */
    int64_t keep;       /* how many generations to keep, including the new one; 0: 2; -1: all */
    int64_t reserved[8];
} parapet_checkpoint_options;

/* One array of a generation. */
typedef struct parapet_checkpoint_item {
    const char *name;               /* one component of a path */
    const parapet_array_spec *spec; /* needed to put, ignored by get */
    const parapet_part *parts;      /* the boxes that this rank puts or gets, in any decomposition */
    int part_count;
    int64_t reserved[4];
} parapet_checkpoint_item;

/* [collective] Begins a generation in the group at path, which is created if it does not exist. The generation is
 * invisible before its commit. While it is open, nothing below path may be changed through any other handle. options
 * may be NULL. */
PARAPET_API parapet_status parapet_checkpoint_begin(parapet_checkpoint **checkpoint, parapet_store *store,
                                                    const char *path, const parapet_checkpoint_options *options);

/* [collective] Creates, writes and seals the arrays, all as one transfer. Each name may be put once. On return, the
 * caller may reuse the memory of the parts. After a failure, only commit (which refuses) and abort may be called. */
PARAPET_API parapet_status parapet_checkpoint_put(parapet_checkpoint *checkpoint,
                                                  const parapet_checkpoint_item *items, int count);

/* [collective] Sets an attribute of the generation's group, for small state, as parapet_group_attribute_set does. */
PARAPET_API parapet_status parapet_checkpoint_attribute_set(parapet_checkpoint *checkpoint, const char *name,
                                                            const char *json);

/* [collective] Makes the generation durable and visible, then removes older ones. A generation is removed when at
 * least keep newer ones verify, in the sense of parapet_restore_open. Frees the handle, even after a failure, unless
 * the ranks made different calls. PARAPET_ERR_EXISTS means that another job has committed this generation or a later
 * one; nothing of this one remains. Failing to remove older generations is not an error: the next commit removes
 * them. After PARAPET_ERR_IO or PARAPET_ERR_TIMEOUT the generation may nevertheless exist, whole; open or list to
 * find out. generation may be NULL. */
PARAPET_API parapet_status parapet_checkpoint_commit(parapet_checkpoint **checkpoint, int64_t *generation);

/* [collective] Discards the generation, as if it had never begun, and frees the handle. NULL is allowed. */
PARAPET_API parapet_status parapet_checkpoint_abort(parapet_checkpoint **checkpoint);

/* [collective] Starts to put the items and to commit, beside the program; parapet_request_wait returns the outcome.
 * From then on the request has the handle, and *checkpoint is NULL. *generation, which may be NULL, is the number
 * that the generation will have if the wait succeeds; if it fails, what remains is as after
 * parapet_checkpoint_commit. If start fails, the handle stays open and must be aborted. */
PARAPET_API parapet_status parapet_checkpoint_start(parapet_request **request, parapet_checkpoint **checkpoint,
                                                    const parapet_checkpoint_item *items, int count,
                                                    parapet_buffering buffering, int64_t *generation);

/* [collective] Opens a generation to restore from: the one with this number, or for 0 the newest that verifies.
 * Verifies its commit record, every zarr.json in it, and for every shard its existence, its length and the checksum
 * of its index; the ranks share this work. The data itself is verified as it is read. For 0, a generation that is
 * proved to be damaged is passed over in favour of the one before it; a failure of the storage is always an error.
 * PARAPET_ERR_NOT_FOUND means that there is no such generation. */
PARAPET_API parapet_status parapet_restore_open(parapet_restore **restore, parapet_store *store, const char *path,
                                                int64_t generation);

/* [collective] Reads parts of the arrays as one transfer. */
PARAPET_API parapet_status parapet_restore_get(parapet_restore *restore, const parapet_checkpoint_item *items,
                                               int count);

/* [local] Returns the JSON text of an attribute of the generation's group, as parapet_group_attribute_get does. */
PARAPET_API parapet_status parapet_restore_attribute_get(parapet_restore *restore, const char *name, char **json);

/* Describes the generation that is open. Pointers are valid until the handle is closed. */
typedef struct parapet_restore_info {
    int64_t generation;
    const char *path;         /* of its group in the store */
    int array_count;          /* arrays committed with it */
    const char *const *names; /* of the arrays */
    int64_t passed_over;      /* newer generations that did not verify */
    const char *problem;      /* what is wrong with the newest of those, in one sentence; "" if there is none */
    int64_t reserved[8];
} parapet_restore_info;

/* [local] Reports which generation was opened, and how many newer ones were passed over. */
PARAPET_API parapet_status parapet_restore_get_info(parapet_restore *restore, parapet_restore_info *info);

/* [local] Reports the type, shape and so on of an array of the generation: number index of
 * parapet_restore_info.names, from 0. Pointers are valid until the handle is closed. */
PARAPET_API parapet_status parapet_restore_get_array_info(parapet_restore *restore, int index,
                                                          parapet_array_info *info);

/* [collective] Closes a generation and its arrays. NULL is allowed. */
PARAPET_API parapet_status parapet_restore_close(parapet_restore **restore);

/* Called for each generation, newest first, with the path of its group. Returning anything but 0 ends the listing. */
typedef int (*parapet_generation_visitor)(void *context, int64_t generation, const char *path);

/* [collective] Lists the committed generations at path without verifying them. A group that never had a checkpoint
 * has none. */
PARAPET_API parapet_status parapet_checkpoint_list(parapet_store *store, const char *path,
                                                   parapet_generation_visitor visitor, void *context);

/* Called for each object or node that was, or would be, removed. Returning anything but 0 ends the calls, not the
 * removal. */
typedef int (*parapet_removal_visitor)(void *context, const char *key, const char *reason);

/* [collective] Removes what crashes have left below path: generations that were never committed, temporary objects,
 * open steps of a series that were not flushed, shards that an unfinished resize has cut off, remains of copies that
 * cannot be resumed. An append that was interrupted is completed if all its arrays are longer, else undone.
 * Consolidated metadata that an interrupted copy or removal took from a group is made again. A copy that can be
 * resumed stays. No array, group, checkpoint or series of this store may be open. Whatever another job is
 * changing, or cannot be removed, stays; the first such failure (PARAPET_ERR_BUSY, for example) is returned when the
 * rest has been removed. With dry_run 1, nothing is removed and handles may be open. visitor may be NULL. */
PARAPET_API parapet_status parapet_store_collect(parapet_store *store, const char *path, int dry_run,
                                                 parapet_removal_visitor visitor, void *context);

/* [collective] Removes the array at path or, with recursive 1, the group at path with everything below it; "" is the
 * whole store, which needs recursive too. Rank 0 first looks at everything, and nothing is removed if there is
 * anything that Parapet did not make, such as somebody's file or a node of Zarr v2, if path is a part of a checkpoint
 * or a series, or if another job is changing a part of it (PARAPET_ERR_BUSY): the sentence names it. Links, and names
 * that no key can have, are not seen: they stay, with their directories. Handles of what is removed become stale. The
 * consolidated metadata of groups around it is renewed.
 *
 * After a crash or a failure in between, every array is whole or gone, and removing again removes the rest; the
 * sentence says if a part was removed. With dry_run 1, for which the store may be open for reading, nothing is
 * removed. The visitor, which may be NULL, is called for each node that was, or would be, removed, also before a
 * failure is returned, what is below a node first; reason is one of these words: "array"; "remains", of an array that
 * was never completed or not removed to its end; "group"; "directory", a group that has no document. */
PARAPET_API parapet_status parapet_store_remove(parapet_store *store, const char *path, int recursive, int dry_run,
                                                parapet_removal_visitor visitor, void *context);

/* ---- Series ------------------------------------------------------------------------------------------- */

/* A series is a group of arrays that grow together, step by step, along their first dimension, with a coordinate. One
 * rename of the group's zarr.json, which contains consolidated metadata, commits a step. Readers that use
 * consolidated metadata, as xarray does by default, see a step in all arrays or in none. A reader of a single array
 * may see its step a moment earlier.
 *
 * A row is the steps that one layer of shards covers. The steps of a row stay open until the row is full or the
 * series is flushed; then every shard is written once. Open steps are kept in memory or, if memory is too small, in
 * one file per rank. A crash loses the open steps, those since the last flush or the last full row, and nothing else.
 */
typedef struct parapet_series parapet_series;

typedef struct parapet_series_spec {
    const char *dimension;             /* name of the first dimension and of the coordinate; NULL: "time" */
    const char *coordinate_attributes; /* a JSON object such as {"units": "hours since 2000-01-01"}; NULL: {} */
    const char *attributes;            /* of the group; NULL: {} */
    int count;                         /* number of arrays */
    const char *const *names;
    const parapet_array_spec *specs; /* shape[0] is 0; chunks[0] and shards[0] count steps and are 1 if neither is
                                        given; shards[0] is the same for all arrays; dimension_names[0] is NULL or
                                        equal to dimension */
    int64_t reserved[8];
} parapet_series_spec;

/* The parts that one rank has of one step of an array; their start and count leave out the first dimension. */
typedef struct parapet_step {
    const parapet_part *parts;
    int part_count;
    int64_t reserved[2];
} parapet_step;

/* [collective] Creates a series without steps: its arrays, and the group unless it exists. If the group is already a
 * series, this is PARAPET_ERR_EXISTS. Other arrays and coordinates may be created in the group with
 * parapet_array_create, before the first step. */
PARAPET_API parapet_status parapet_series_create(parapet_series **series, parapet_store *store, const char *path,
                                                 const parapet_series_spec *spec);

/* [collective] Opens a series to append after the last committed step, on any number of ranks. Removes what a crash
 * left beyond that step. Anything else beyond it, such as steps that another program appended, stays and is
 * PARAPET_ERR_FORMAT; parapet_series_repair then decides what happens to it. */
PARAPET_API parapet_status parapet_series_open(parapet_series **series, parapet_store *store, const char *path);

/* What to do with steps that the series did not commit and that no crash of it left. */
typedef enum parapet_beyond {
    PARAPET_BEYOND_REFUSE = 0, /* change nothing: only check the series */
    PARAPET_BEYOND_ADOPT = 1,  /* commit them; all arrays must have the same number of steps */
    PARAPET_BEYOND_CUT = 2     /* cut them off; the number of steps that the group states remains */
} parapet_beyond;

/* [collective] Repairs a series that parapet_series_open refuses; the series must not be open. PARAPET_BEYOND_REFUSE
 * only reports whether it would be refused, and works in a store that is open for reading. PARAPET_ERR_NOT_FOUND
 * means that there is no series at path. */
PARAPET_API parapet_status parapet_series_repair(parapet_store *store, const char *path, parapet_beyond beyond);

/* [collective] Appends a step to all arrays. There is one entry of steps per array, in the order of
 * parapet_series_info.names. On return, the caller may reuse the memory of the parts. coordinate must be the same on
 * all ranks. Parts must not overlap; if shards[0] > 1, an overlap between ranks is found only when the row is
 * written, and the row then cannot be written. After a failure, parapet_series_info.steps tells whether the step was
 * taken. A row that could not be written is tried again by flush and before the next step. */
PARAPET_API parapet_status parapet_series_append(parapet_series *series, double coordinate,
                                                 const parapet_step *steps);

/* [collective] Starts parapet_series_append, beside the program, so that a row is written while the next one is
 * computed. After a request that failed, nothing more is appended before that request has been waited for. */
PARAPET_API parapet_status parapet_series_start_append(parapet_request **request, parapet_series *series,
                                                       double coordinate, const parapet_step *steps,
                                                       parapet_buffering buffering);

/* [collective] Writes and commits the open steps. A row that is not full is written again later. */
PARAPET_API parapet_status parapet_series_flush(parapet_series *series);

/* [collective] Flushes and closes. The handle is always freed, and steps that could not be flushed are lost with it;
 * call parapet_series_flush first to be able to try again. */
PARAPET_API parapet_status parapet_series_close(parapet_series **series);

typedef struct parapet_series_info {
    const char *path;
    const char *dimension;
    int count;
    const char *const *names;
    int64_t steps;           /* steps appended so far */
    int64_t steps_committed; /* steps that readers see and that survive a crash */
    int64_t steps_per_row;   /* shards[0] */
    int64_t shards_written;  /* by this rank since the series was opened, without those of the coordinate */
    int is_staged;           /* open steps are kept in files because memory_bytes is too small for them */
    int64_t reserved[8];
} parapet_series_info;

/* [local] Reports how many steps there are and where open steps are kept. Pointers are valid until the series closes.
 */
PARAPET_API parapet_status parapet_series_get_info(parapet_series *series, parapet_series_info *info);

/* [local] Reports the type, shape and so on of an array of the series: number index of parapet_series_info.names,
 * from 0. Pointers are valid until the next call on this series. */
PARAPET_API parapet_status parapet_series_get_array_info(parapet_series *series, int index, parapet_array_info *info);

/* [local] Explains in sentences what a step costs and where open steps are kept. Free the text with parapet_free. */
PARAPET_API parapet_status parapet_series_print(parapet_series *series, char **text);

/* ---- Checking ----------------------------------------------------------------------------------------- */

typedef enum parapet_finding_kind {
    PARAPET_FINDING_MISSING = 1, /* the seal of an array lists a shard that does not exist */
    PARAPET_FINDING_TORN = 2,    /* the length, index, checksum, digest or decoded size is wrong */
    PARAPET_FINDING_STRAY = 3,   /* an object that belongs to nothing: left by a crash, or foreign */
    PARAPET_FINDING_ABSENT = 4   /* a shard that was never written, and reads as fill value */
} parapet_finding_kind;

typedef struct parapet_finding {
    const char *key; /* the object, relative to the store's root */
    parapet_finding_kind kind;
    const char *problem; /* one sentence */
} parapet_finding;

/* Called for each finding. Returning anything but 0 ends the check with PARAPET_ERR_CANCELLED. */
typedef int (*parapet_finding_visitor)(void *context, const parapet_finding *finding);

/* What a check has found. */
typedef struct parapet_check_summary {
    int64_t shards_expected;
    int64_t shards_present;
    int64_t chunks_present;
    int64_t stored_bytes;
    int64_t missing;
    int64_t torn;
    int64_t stray;
    int64_t reserved[8];
} parapet_check_summary;

typedef enum parapet_check_depth {
    PARAPET_CHECK_SURVEY = 0, /* only list objects and their sizes */
    PARAPET_CHECK_INDEX = 1,  /* also read every index, and the seal of a sealed array */
    PARAPET_CHECK_DATA = 2    /* also read and decode every chunk */
} parapet_check_depth;

/* [collective] Examines every stored object of an array, within the memory limit. Findings are passed to visitor (may
 * be NULL) and counted in summary; they are not errors of the call. PARAPET_FINDING_ABSENT is not a problem and not
 * counted. */
PARAPET_API parapet_status parapet_array_check(parapet_array *array, parapet_check_depth depth,
                                               parapet_finding_visitor visitor, void *context,
                                               parapet_check_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
