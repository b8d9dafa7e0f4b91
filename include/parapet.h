/* parapet.h - large multidimensional arrays on storage, for MPI programs. This header is the manual.
 *
 * A store is a Zarr v3 hierarchy: a directory of groups and arrays that xarray, zarr-python, TensorStore and
 * GDAL open with no plug-in. An array is cut into chunks (the unit of compression and of reading); many chunks
 * share one stored object, a shard. Reading and writing name a box of the index space and the memory that
 * holds it; the chunk and shard shapes never have to match how the program keeps its data.
 *
 *     parapet_store *store = NULL;
 *     parapet_array *density = NULL;
 *     int64_t shape[2] = {1000, 2000}, start[2] = {0, 0};
 *     parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape};
 *     parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
 *
 *     parapet_store_open(&store, MPI_COMM_WORLD, "run.zarr", PARAPET_CREATE, NULL);
 *     parapet_array_create(&density, store, "density", &spec);
 *     parapet_array_write(density, &part, 1);
 *     parapet_array_close(&density);
 *     parapet_store_close(&store);
 *
 * The contract of every function
 *  - It returns a parapet_status: PARAPET_OK (0) or an error. parapet_error_message() then holds one sentence
 *    that says what failed, where and why.
 *  - It is [collective]: every rank of the store's communicator calls it, in the same order, and every rank
 *    returns the same status; or [local]: it concerns this process only.
 *  - Handles are opaque. open and create pair with close, which sets the handle to NULL and frees it even when
 *    it reports an error; only if the ranks called different things does nobody close. Passing a handle that is
 *    NULL to close is not an error.
 *  - The library duplicates the communicator, never prints, never aborts, and sends nothing over
 *    MPI_COMM_WORLD.
 *  - All public structs may be initialised with {0}, in C and in C++: zero means "choose for me", but for ndim, which
 *    is always needed. The reserved words must stay zero; they let the structs grow without breaking programs
 *    compiled earlier.
 *  - A boolean is an int, in structs and parameters alike: 0 is no, 1 is yes, and any other value is
 *    PARAPET_ERR_ARGUMENT. A choice is an enum whose 0 is PARAPET_<NAME>_CHOOSE. In text both are words: "yes", "no",
 *    "true" and "false"; the last part of the enum's name in lower case; or the number.
 *
 * What is promised about the data
 *  - A shard is written under a temporary name, checked, flushed to the device and renamed into place: a crash
 *    at any instant leaves every shard whole, old or new. The default is durable.
 *  - Every chunk and every shard index carries a CRC-32C, verified before the data is used.
 *  - A chunk that was never written reads as the fill value. After parapet_array_seal, a shard that goes
 *    missing, is swapped or is stale is an error, never fill value.
 *
 * A store works on any communicator; MPI_COMM_NULL is this process alone, for a program that has not started MPI.
 * MPI_THREAD_SINGLE is enough; with MPI_THREAD_FUNNELED or more, storage and encoding run on threads of their own. */
#ifndef PARAPET_H
#define PARAPET_H

#include <stddef.h>
#include <stdint.h>

/* The flavour: which MPI the program is compiled with. A library belongs to one (libparapet-mpich,
 * libparapet-openmpi, libparapet-serial without MPI), and is asked for parapet_store_open under the flavour's name:
 * what is compiled with one and linked with another does not link. The CMake package and the .pc files define
 * PARAPET_<FLAVOUR>, so that a mixture does not even compile. MPICH stands for all that share its ABI: Intel MPI,
 * Cray MPICH, MVAPICH. */
#if defined(PARAPET_SERIAL)
#if defined(MPI_VERSION)
#error                                                                                                               \
    "PARAPET_SERIAL is for programs without MPI, and this one has included mpi.h: use parapet-mpich or parapet-openmpi"
#endif
typedef struct parapet_no_mpi *MPI_Comm; /* there is this process alone, MPI_COMM_NULL */
#define MPI_COMM_NULL ((MPI_Comm)0)
#define PARAPET_FLAVOUR "serial"
#define parapet_store_open parapet_store_open_serial
#else
#include <mpi.h>
#if defined(OPEN_MPI)
#if defined(PARAPET_MPICH)
#error "the flags are of parapet-mpich, but mpi.h is of Open MPI: use parapet-openmpi, or MPICH's compiler"
#endif
#define PARAPET_FLAVOUR "openmpi"
#define parapet_store_open parapet_store_open_openmpi
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
#if defined(PARAPET_OPENMPI)
#error                                                                                                               \
    "the flags are of parapet-openmpi, but mpi.h is of MPICH or its like: use parapet-mpich, or Open MPI's compiler"
#endif
#define PARAPET_FLAVOUR "mpich"
#define parapet_store_open parapet_store_open_mpich
#else
#error "mpi.h is of an MPI that is neither MPICH or its like nor Open MPI; without MPI, define PARAPET_SERIAL"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PARAPET_VERSION_MAJOR 0
#define PARAPET_VERSION_MINOR 1
#define PARAPET_VERSION_PATCH 0
/* One number that grows with the version: 10203 for 1.2.3. Of this header; parapet_version_number() of the library.
 */
#define PARAPET_VERSION_NUMBER (10000 * PARAPET_VERSION_MAJOR + 100 * PARAPET_VERSION_MINOR + PARAPET_VERSION_PATCH)

/* Shapes may have up to this many dimensions; 0 dimensions is a scalar. */
#define PARAPET_MAX_NDIM 32

#if defined(__GNUC__)
#define PARAPET_API __attribute__((visibility("default")))
#else
#define PARAPET_API
#endif

/* ---- Status ------------------------------------------------------------------------------------------- */

typedef enum parapet_status {
    PARAPET_OK = 0,
    PARAPET_ERR_ARGUMENT = 1,    /* the call itself is wrong: a NULL, a box outside the array, a bad option */
    PARAPET_ERR_NOT_FOUND = 2,   /* no such store, group, array or attribute */
    PARAPET_ERR_EXISTS = 3,      /* would overwrite something, and was not told to */
    PARAPET_ERR_IO = 4,          /* the storage failed */
    PARAPET_ERR_NO_SPACE = 5,    /* the storage or the quota is full */
    PARAPET_ERR_MEMORY = 6,      /* the memory limit or the machine's memory is too small */
    PARAPET_ERR_FORMAT = 7,      /* what is stored is not valid Zarr, or lies about itself */
    PARAPET_ERR_UNSUPPORTED = 8, /* valid, but not implemented here; the sentence names the field */
    PARAPET_ERR_CORRUPT = 9,     /* a checksum, length or digest does not match: the stored bytes changed */
    PARAPET_ERR_MISSING = 10,    /* a sealed array lacks a shard that its manifest lists */
    PARAPET_ERR_CANCELLED = 11,  /* the progress callback asked to stop */
    PARAPET_ERR_MPI = 12,        /* MPI reported an error, was finalised, or has not started this process */
    PARAPET_ERR_INTERNAL = 13,   /* a bug in Parapet; please report it */
    PARAPET_ERR_TIMEOUT = 14,    /* a rank did not arrive within deadline_seconds; only close is left */
    PARAPET_ERR_BUSY = 15,       /* another job is changing it; the sentence says who, where and since when */
    PARAPET_ERR_STALE = 16       /* another job has changed it since this one looked; open it again, or repeat */
} parapet_status;

/* [local] "PARAPET_ERR_IO" and so on; never NULL. */
PARAPET_API const char *parapet_status_name(parapet_status status);

/* [local] The sentence of the last call on this thread if that failed, "" if it succeeded. Valid until the next call;
 * only closing or aborting leaves it as it is, so that a program may clean up before it prints. */
PARAPET_API const char *parapet_error_message(void);

/* [local] Text of a store as it may be shown to people: writes it into room bytes, with \uXXXX, as in JSON, for what
 * moves the cursor, what turns the order of reading around, what cannot be seen, and U+FFFD for what is not UTF-8.
 * Sentences are made so already; names and attributes are handed out as they are stored. What does not fit is left
 * out; returns the bytes of the whole without its NUL, as snprintf does. */
PARAPET_API size_t parapet_text_visible(char *visible, size_t room, const char *text);

/* [local] One line per component: this library, the MPI it was built with, every codec library. */
PARAPET_API const char *parapet_version(void);

/* [local] PARAPET_VERSION_NUMBER of the library that is running, which may be newer than the header. */
PARAPET_API int parapet_version_number(void);

/* What the launcher of an MPI (mpiexec, srun) says of this process, by the variables that it sets. */
typedef struct parapet_launch {
    int rank;         /* -1: there is no launcher */
    int count;        /* the processes that it has started, or at least so many; 0: it does not say */
    int is_inherited; /* 1: a rank has started this process, and the variables are those of the rank */
    const char
        *flavour; /* of the MPI whose launcher it is, "mpich" or "openmpi"; "": it serves either, or there is none */
    int64_t reserved[4];
} parapet_launch;

/* [local] Tells under which launcher this process runs. MPI need not have been started. */
PARAPET_API parapet_status parapet_launch_get(parapet_launch *launch);

/* [local] Frees text that a function of this library returned through a pointer; takes NULL. */
PARAPET_API void parapet_free(void *text);

/* ---- Types -------------------------------------------------------------------------------------------- */

typedef enum parapet_type {
    PARAPET_TYPE_OF_ARRAY = 0, /* in a part: whatever the array has */
    PARAPET_BOOL = 1,
    PARAPET_INT8 = 2,
    PARAPET_INT16 = 3,
    PARAPET_INT32 = 4,
    PARAPET_INT64 = 5,
    PARAPET_UINT8 = 6,
    PARAPET_UINT16 = 7,
    PARAPET_UINT32 = 8,
    PARAPET_UINT64 = 9,
    PARAPET_FLOAT16 = 10,
    PARAPET_FLOAT32 = 11,
    PARAPET_FLOAT64 = 12,
    PARAPET_COMPLEX64 = 13,
    PARAPET_COMPLEX128 = 14,
    PARAPET_BFLOAT16 = 15,
    PARAPET_DATETIME64 = 16,  /* int64 ticks; the unit is in parapet_array_info.type_name */
    PARAPET_TIMEDELTA64 = 17, /* int64 ticks */
    PARAPET_RAW = 18,         /* opaque elements of a fixed number of bytes */
    PARAPET_UTF32 = 19,       /* fixed-length text, 4 bytes a character */
    PARAPET_STRUCT = 20,      /* packed records of a fixed number of bytes */
    PARAPET_VARIABLE = 21     /* variable-length text or bytes: opens and lists, cannot be read */
} parapet_type;

/* [local] The Zarr name of a type ("float64"), or NULL if it has no fixed name. */
PARAPET_API const char *parapet_type_name(parapet_type type);

/* [local] Bytes of one element, or 0 where the type alone does not say. */
PARAPET_API size_t parapet_type_bytes(parapet_type type);

/* [local] The type with that Zarr name, or PARAPET_TYPE_OF_ARRAY if there is none. */
PARAPET_API parapet_type parapet_type_from_name(const char *name);

/* ---- Stores ------------------------------------------------------------------------------------------- */

typedef struct parapet_store parapet_store;
typedef struct parapet_group parapet_group;
typedef struct parapet_array parapet_array;

typedef enum parapet_mode {
    PARAPET_READ = 0,   /* must exist; nothing is changed */
    PARAPET_UPDATE = 1, /* must exist; may be changed */
    PARAPET_CREATE = 2  /* made if it does not exist (with a root group), opened for update if it does */
} parapet_mode;

/* Reports progress of a long call: bytes done of bytes total. A return other than 0 cancels the call. */
typedef int (*parapet_progress_callback)(void *context, int64_t done_bytes, int64_t total_bytes);

/* Whether there are threads beside the program's own. */
typedef enum parapet_io_thread {
    PARAPET_IO_THREAD_CHOOSE = 0, /* OWN */
    PARAPET_IO_THREAD_OWN = 1,    /* storage calls on a thread of their own */
    PARAPET_IO_THREAD_NONE = 2    /* no threads at all */
} parapet_io_thread;

/* Which reads and writes go round the page cache of the system, where the file system allows it. */
typedef enum parapet_direct_io {
    PARAPET_DIRECT_IO_CHOOSE = 0, /* large writes, and large reads that are not in the page cache */
    PARAPET_DIRECT_IO_ALWAYS = 1,
    PARAPET_DIRECT_IO_NEVER = 2
} parapet_direct_io;

/* What outlives a failure of the machine when a call has returned. */
typedef enum parapet_durability {
    PARAPET_DURABILITY_CHOOSE = 0, /* FLUSH */
    PARAPET_DURABILITY_FLUSH = 1,  /* what was written: it is flushed to the device before */
    PARAPET_DURABILITY_LEAVE = 2   /* what the system has flushed by itself */
} parapet_durability;

/* Which of the servers writes or reads a shard. */
typedef enum parapet_ownership {
    PARAPET_OWNERSHIP_CHOOSE = 0,      /* LOCALITY */
    PARAPET_OWNERSHIP_ROUND_ROBIN = 1, /* shards go round the servers */
    PARAPET_OWNERSHIP_LOCALITY = 2     /* the server that holds most of the shard */
} parapet_ownership;

/* How data gets from rank to rank. */
typedef enum parapet_transport {
    PARAPET_TRANSPORT_CHOOSE = 0,  /* DIRECT */
    PARAPET_TRANSPORT_DIRECT = 1,  /* ranks of a node copy from each other's memory where allowed; else messages */
    PARAPET_TRANSPORT_MESSAGES = 2 /* messages only */
} parapet_transport;

/* What keeps other jobs out while this one changes something. */
typedef enum parapet_locks {
    PARAPET_LOCKS_CHOOSE = 0,  /* TRUSTED where the file system is known to have locks that hold on every node */
    PARAPET_LOCKS_TRUSTED = 1, /* locks of the file system */
    PARAPET_LOCKS_RECORD = 2   /* owner records, which are files; every job on the store must use them then */
} parapet_locks;

/* What a store may be told. Zero in any field means "choose for me". Every field but progress can also be set by an
 * environment variable PARAPET_<NAME> (sizes take K, M, G and KiB, MiB, GiB; choices and booleans take words); a
 * value given here that is not 0 wins. */
typedef struct parapet_store_options {
    int64_t memory_bytes; /* limit on all buffers of this store on this rank; default 256 MiB */
    int64_t threads;      /* threads that encode and decode, this one included; default 1 */
    parapet_io_thread io_thread;
    parapet_direct_io direct_io;
    parapet_durability durability;
    int elide_fill;           /* 1: chunks of shards that equal the fill value are not stored; default: they are */
    int ignore_checksums;     /* 1: deliver data whose CRC-32C does not match; default: refuse it */
    int require_sealed;       /* 1: opening an array that is not sealed is an error */
    int ignore_seal;          /* 1: open a sealed array whose metadata others changed, as one that is not sealed */
    int ignore_launcher;      /* 1: open for change although the launcher is that of another MPI, see below */
    int64_t expected_servers; /* default shard shapes give at least this many shards, where chunks allow */
    int64_t servers;          /* how many ranks touch storage; default 16 per node, where there are as many ranks */
    parapet_ownership ownership;
    parapet_transport transport;
    int64_t deadline_seconds; /* wait at most so long for another rank, then PARAPET_ERR_TIMEOUT; default: for ever */
    int64_t wait_seconds; /* wait at most so long for another job, then PARAPET_ERR_BUSY; default: 30 for one that is
                             publishing, else 0 */
    parapet_progress_callback progress;
    void *progress_context;
    parapet_locks locks;
    int takeover; /* 1: owner records of other machines, from before this, are of jobs that are gone; default: only
                     you can know, so PARAPET_ERR_BUSY */
    int64_t reserved[14];
} parapet_store_options;

/* [collective] Opens the Zarr hierarchy at url: a directory, or "memory:NAME" for one that lives in this
 * process. comm may be MPI_COMM_NULL: this process alone, MPI not needed; an intercommunicator is refused. options
 * may be NULL.
 *
 * With the launcher of another MPI every process finds itself alone, and all of them would write the same store: so
 * with PARAPET_UPDATE or PARAPET_CREATE on a communicator it is PARAPET_ERR_MPI if a launcher has started several
 * processes (PMI_SIZE, OMPI_COMM_WORLD_SIZE and the like; never variables of a queue such as SLURM_NTASKS) but MPI
 * finds only this one. A child that a rank has started, and one that MPI has spawned, are not refused. */
PARAPET_API parapet_status parapet_store_open(parapet_store **store, MPI_Comm comm, const char *url,
                                              parapet_mode mode, const parapet_store_options *options);

/* [collective] Closes the store. While an array or group of it is open, it refuses and changes nothing. */
PARAPET_API parapet_status parapet_store_close(parapet_store **store);

/* [local] The options in force, one "name = value (source)" per line; free with parapet_free. */
PARAPET_API parapet_status parapet_store_options_print(parapet_store *store, char **text);

/* [local] Sets one option by name from text, as the environment variables and the tool's flags do: "64MiB", "never",
 * "yes". A name that does not exist or a value out of range is an error that lists what is accepted. */
PARAPET_API parapet_status parapet_store_options_set(parapet_store_options *options, const char *name,
                                                     const char *value);

/* [local] The words of a choice by its name, of a store's options or of a copy: "choose (0), flush (1) or leave (2)"
 * for "durability"; NULL if there is no such choice. Valid until the next call on this thread. */
PARAPET_API const char *parapet_option_words(const char *name);

/* What a store has done since it was opened, on this rank. */
typedef struct parapet_statistics {
    int64_t read_bytes;      /* stored bytes read, metadata included */
    int64_t written_bytes;   /* stored bytes written, metadata included */
    int64_t read_requests;   /* ranged reads */
    int64_t objects_written; /* objects published */
    int64_t chunks_decoded;
    int64_t chunks_encoded;
    int64_t chunks_copied;        /* moved into a new shard in encoded form */
    int64_t chunks_missing;       /* read as fill value because they are not stored */
    int64_t memory_peak_bytes;    /* the most the buffers ever took of memory_bytes */
    int64_t memory_planned_bytes; /* the most that a transfer planned to take */
    int64_t messages_sent;        /* data and requests of transfers; not agreements */
    int64_t message_bytes;        /* of their data */
    int64_t direct_bytes;         /* copied from or to the memory of other ranks without a message */
    int64_t shards_owned;         /* shards that this rank was the owner of, over all transfers */
    int64_t reserved[11];
} parapet_statistics;

/* [local] Fills in what the store has done on this rank so far. */
PARAPET_API parapet_status parapet_store_get_statistics(parapet_store *store, parapet_statistics *statistics);

/* ---- Groups ------------------------------------------------------------------------------------------- */

/* Paths are relative to the store: "a/b"; "" or "/" is the root. Names follow the Zarr rules: not empty, not
 * only dots, not starting with "__", not "zarr.json", no control characters, at most 255 bytes. */

/* [collective] Makes a group, and every group above it that does not exist. attributes is a JSON object or NULL. */
PARAPET_API parapet_status parapet_group_create(parapet_group **group, parapet_store *store, const char *path,
                                                const char *attributes);

/* [collective] Opens a group: of Zarr v3, or of Zarr v2 for reading. */
PARAPET_API parapet_status parapet_group_open(parapet_group **group, parapet_store *store, const char *path);

/* [collective] Closes the group; what lies in it may stay open. */
PARAPET_API parapet_status parapet_group_close(parapet_group **group);

typedef enum parapet_node_kind {
    PARAPET_NODE_GROUP = 1,
    PARAPET_NODE_ARRAY = 2,
    PARAPET_NODE_INVALID = 3 /* its metadata cannot be understood; opening it says why */
} parapet_node_kind;

/* Called for each child; a return other than 0 ends the listing. */
typedef int (*parapet_child_visitor)(void *context, const char *name, parapet_node_kind kind);

/* [collective] Lists the direct children of a group in the order of their names, Zarr v2 nodes included. One that is
 * invalid does not hide the others. */
PARAPET_API parapet_status parapet_group_list(parapet_group *group, parapet_child_visitor visitor, void *context);

/* [collective] Writes consolidated metadata of everything below into this group's zarr.json, so that readers
 * open it with one request. Any later change of metadata below through Parapet removes it again. */
PARAPET_API parapet_status parapet_group_consolidate(parapet_group *group);

/* [collective] Sets an attribute to a JSON value ("\"m/s\"", "3", "[1, 2]"); json NULL removes it. */
PARAPET_API parapet_status parapet_group_attribute_set(parapet_group *group, const char *name, const char *json);

/* [local] The JSON text of an attribute, or of all attributes when name is NULL (without "_parapet", which Parapet
 * keeps for itself); free with parapet_free. */
PARAPET_API parapet_status parapet_group_attribute_get(parapet_group *group, const char *name, char **json);

/* ---- Arrays ------------------------------------------------------------------------------------------- */

/* What an array is to be. Only ndim, type and shape are needed. */
typedef struct parapet_array_spec {
    int ndim;
    parapet_type type;
    const int64_t *shape;
    const int64_t *chunks;              /* NULL: about 1 MiB each; an entry of 0 is the whole dimension */
    const int64_t *shards;              /* NULL: chosen; an entry of 0 is the whole dimension, rounded up to chunks */
    int unsharded;                      /* 1: every chunk is an object of its own */
    const char *codec;                  /* "none", "zstd:3", "gzip:6", "blosc:lz4:5:shuffle"; NULL: "zstd:3" */
    int no_checksum;                    /* 1: no CRC-32C on chunks */
    const void *fill_value;             /* one element; NULL: zero */
    const char *const *dimension_names; /* ndim of them; NULL: dim_0, dim_1, ... */
    const char *attributes;             /* a JSON object; NULL: {} */
    size_t element_bytes;               /* for PARAPET_RAW only */
    const char *time_unit; /* for DATETIME64 and TIMEDELTA64: "s", "ms", "us", "ns", "D", ...; NULL: "ns" */
    int overwrite;         /* 1: an array that exists under this name is replaced */
    int64_t reserved[16];
} parapet_array_spec;

/* [collective] Makes an array, and every group above it that does not exist. */
PARAPET_API parapet_status parapet_array_create(parapet_array **array, parapet_store *store, const char *path,
                                                const parapet_array_spec *spec);

/* [collective] Opens an array: Zarr v3, or Zarr v2 for reading. */
PARAPET_API parapet_status parapet_array_open(parapet_array **array, parapet_store *store, const char *path);

/* [collective] Closes the array. Everything that was written is already stored. */
PARAPET_API parapet_status parapet_array_close(parapet_array **array);

/* [collective] Makes many arrays at once: one rank touches the storage, and the number of agreements does
 * not depend on the number of arrays. All or none: after a failure every handle is NULL (of a creation that failed,
 * some arrays may exist). */
PARAPET_API parapet_status parapet_arrays_create(parapet_array **arrays, parapet_store *store,
                                                 const char *const *paths, const parapet_array_spec *specs,
                                                 int count);

/* [collective] Opens many arrays at once, likewise all or none. */
PARAPET_API parapet_status parapet_arrays_open(parapet_array **arrays, parapet_store *store, const char *const *paths,
                                               int count);

/* [collective] Closes all of them and sets the handles to NULL. */
PARAPET_API parapet_status parapet_arrays_close(parapet_array **arrays, int count);

/* What an array is. Pointers stay valid until the array is resized, sealed, given an attribute or closed. */
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
    const int64_t *shards;              /* equal to chunks when not sharded */
    const char *const *dimension_names; /* an entry may be NULL; NULL when the array has none */
    const char *codecs;                 /* in words: "zstd:3 crc32c" */
    const void *fill_value;             /* one element */
    int fill_is_defined;                /* 0: the metadata had none, zero is used */
    int64_t reserved[16];
} parapet_array_info;

/* [local] Tells what an array is: type, shape, chunks, shards, codecs, fill value. */
PARAPET_API parapet_status parapet_array_get_info(parapet_array *array, parapet_array_info *info);

/* Called with the box of a shard, in elements of the array. Anything but 0 ends the list with PARAPET_ERR_CANCELLED.
 */
typedef int (*parapet_box_visitor)(void *context, const int64_t *start, const int64_t *count);

/* [local] Tells which boxes of the array are stored, shard by shard in their order. It lists what there is, and takes
 * as long as that: an array may have room for far more shards than could be asked for one by one. */
PARAPET_API parapet_status parapet_array_list(parapet_array *array, parapet_box_visitor visitor, void *context);

/* [local] How the array is cut into chunks and shards, in sentences: how large, how many files, and why the
 * default is what it is. Free with parapet_free. */
PARAPET_API parapet_status parapet_array_layout_print(parapet_array *array, char **text);

/* A box of the index space and the memory that holds it. Element [i, j, ...] of the box is at
 * data + i * strides_bytes[0] + j * strides_bytes[1] + ...; strides may be negative. */
typedef struct parapet_part {
    int ndim;             /* of the array; in a step of a series one less. The one number that is never chosen */
    const int64_t *start; /* ndim of them each */
    const int64_t *count;
    void *data;                   /* only read by parapet_array_write */
    const int64_t *strides_bytes; /* NULL: C order, densely packed */
    parapet_type type;            /* 0: the array's; any other type than the array's is refused */
    int64_t reserved[4];
} parapet_part;

/* [collective] Writes any number of parts, none included; they must not overlap. All shards are staged before
 * the first becomes visible: a failure before that leaves the array as it was. A sealed array is unsealed. */
PARAPET_API parapet_status parapet_array_write(parapet_array *array, const parapet_part *parts, int part_count);

/* [collective] Reads any number of parts; they may overlap. */
PARAPET_API parapet_status parapet_array_read(parapet_array *array, const parapet_part *parts, int part_count);

/* What one of many arrays brings to a transfer. */
typedef struct parapet_array_parts {
    parapet_array *array; /* all of one store; none twice */
    const parapet_part *parts;
    int part_count;
    int64_t reserved[4];
} parapet_array_parts;

/* [collective] Writes many arrays as one transfer that shares buffers, threads and agreements. The same arrays in the
 * same order on every rank. All shards of all arrays are staged before one is visible. */
PARAPET_API parapet_status parapet_arrays_write(const parapet_array_parts *list, int count);

/* [collective] Reads many arrays as one transfer, as parapet_arrays_write writes them. */
PARAPET_API parapet_status parapet_arrays_read(const parapet_array_parts *list, int count);

/* [collective] Changes the shape. What is cut off is gone for good: growing again shows the fill value. */
PARAPET_API parapet_status parapet_array_resize(parapet_array *array, const int64_t *shape);

/* [collective] Records length, checksums and digest of every shard, so that from now on a missing, swapped or
 * stale shard is an error. Other Zarr readers see an ordinary array. What was written through this handle is taken
 * from memory: what another handle wrote over it meanwhile then reads as damage. */
PARAPET_API parapet_status parapet_array_seal(parapet_array *array);

/* [collective] Takes the seal off; parapet_array_write and parapet_array_resize do so by themselves. */
PARAPET_API parapet_status parapet_array_unseal(parapet_array *array);

/* [collective] Sets an attribute, as parapet_group_attribute_set. On a sealed array the seal is kept. */
PARAPET_API parapet_status parapet_array_attribute_set(parapet_array *array, const char *name, const char *json);

/* [local] The JSON text of an attribute or of all, as parapet_group_attribute_get. */
PARAPET_API parapet_status parapet_array_attribute_get(parapet_array *array, const char *name, char **json);

/* ---- Distributions ------------------------------------------------------------------------------------ */

/* How one dimension is spread over the ranks along it. */
typedef enum parapet_spread {
    PARAPET_WHOLE = 0, /* "*": every rank along this dimension has all of it; the mesh has 1 there */
    PARAPET_BLOCK = 1, /* equal blocks, the last ones smaller or empty */
    PARAPET_CYCLIC = 2 /* blocks of block[d] elements dealt out in turn */
} parapet_spread;

/* A regular distribution of an array over a mesh of ranks, in C order: rank = (p0 * mesh[1] + p1) * mesh[2] + p2 ...
 */
typedef struct parapet_distribution {
    int ndim;
    const int64_t *shape;
    const int64_t *mesh;          /* ranks along each dimension */
    const parapet_spread *spread; /* NULL: BLOCK wherever mesh[d] > 1 */
    const int64_t *block;         /* for CYCLIC; NULL: 1 */
    int64_t reserved[4];
} parapet_distribution;

/* [local] How many boxes a rank has: none, one, or for CYCLIC many. */
PARAPET_API parapet_status parapet_distribution_count(const parapet_distribution *distribution, int64_t rank,
                                                      int64_t *count);

/* [local] Box number index of a rank, in C order; start and count have ndim entries. */
PARAPET_API parapet_status parapet_distribution_box(const parapet_distribution *distribution, int64_t rank,
                                                    int64_t index, int64_t *start, int64_t *count);

/* ---- Copying ------------------------------------------------------------------------------------------ */

/* How the copy of an array is to differ from it. NULL or "" in any field: as the source has it.
 *  - A list of extents is "100,200,50" in the order of the target's dimensions, or by name "time/1000,lat/40"
 *    (also "time=1000"): a dimension that is not named keeps what it has. 0, -1 and "time/" are the whole dimension,
 *    "none" an extent that does not change, "auto" chooses all of them. "100x200x50" is accepted too.
 *  - In a hierarchy, lists by name apply to every array that has such dimensions; an array that has none of them, or
 *    another number of dimensions than a list without names, is copied unchanged. */
typedef struct parapet_copy_changes {
    const char *chunks;
    const char *shards; /* also "none" alone: every chunk is an object of its own; NULL: like the source if its chunks
                         * stay as they are, else chosen */
    const char *order;  /* "lat,lon,-time" or "1,2,-0": the target's dimensions; a leading "-" reverses one */
    const char *region; /* "time=0:100,lat=10:20" or "0:100,10:20,:": start and end in the source, before order */
    const char *codec;  /* as in parapet_array_spec; "none" with "zstd:3" and so on */
    int no_checksum;    /* 1: no CRC-32C on chunks, when codec or chunks are given; 0: there is one */
    int64_t reserved[8];
} parapet_copy_changes;

/* What is read of a source chunk of which not all is needed at once. */
typedef enum parapet_reading {
    PARAPET_READING_CHOOSE = 0, /* what is predicted to be faster */
    PARAPET_READING_CHUNKS = 1, /* the whole chunk */
    PARAPET_READING_RUNS = 2    /* runs of it; only where chunks are stored as they are */
} parapet_reading;

/* Whether ranks that need the same source chunk read it once. */
typedef enum parapet_cooperation {
    PARAPET_COOPERATION_CHOOSE = 0,  /* what is predicted to be faster */
    PARAPET_COOPERATION_ALONE = 1,   /* every rank for itself */
    PARAPET_COOPERATION_TOGETHER = 2 /* all ranks read together */
} parapet_cooperation;

typedef struct parapet_copy_request {
    parapet_store *source; /* opened on the same ranks as target; may be the same store */
    const char *source_path;
    parapet_store *target;
    const char *target_path;
    parapet_copy_changes changes;
    int64_t memory_bytes; /* limit of all buffers of the copy on this rank; 0: memory_bytes of the target store */
    int64_t unit_bytes; /* most elements, in bytes, that a rank does again after a kill; 0: 1 GiB, or memory_bytes if
                           more */
    parapet_store *temporary; /* where intermediate passes are kept; NULL: beside the target, in __parapet */
    int overwrite;  /* 1: an array at the target's path is replaced, when all is copied; a copy begun is forgotten */
    int resume;     /* 1: goes on with a copy that was interrupted; arguments and source must be the same */
    int verify;     /* 1: reads source and target again and compares them */
    int no_probe;   /* 1: the time is predicted for an ordinary disk, not for one that was measured */
    int64_t passes; /* 0: chosen; else exactly so many */
    parapet_reading reading;
    parapet_cooperation cooperation;
    int64_t reserved[14];
} parapet_copy_request;

/* [local] Sets a number, choice or boolean of a request by name from text, as parapet_store_options_set does. */
PARAPET_API parapet_status parapet_copy_request_set(parapet_copy_request *request, const char *name,
                                                    const char *value);

/* What a copy has done, on all ranks together unless said otherwise. */
typedef struct parapet_copy_result {
    int64_t arrays, groups;
    int64_t passes;        /* the most of all arrays */
    int64_t array_bytes;   /* elements copied */
    int64_t read_requests; /* ranged reads of chunks; all of these counts: planned and done are equal */
    int64_t index_reads;
    int64_t decoded_bytes; /* elements of the chunks or runs that were read */
    int64_t chunks_written, shards_written;
    int64_t memory_peak_bytes;    /* of the rank that took most */
    int64_t memory_planned_bytes; /* the same, planned */
    int64_t templates_resumed;    /* that an earlier run had done */
    double planned_seconds;       /* of the whole copy, with what an earlier run had done */
    double seconds;               /* of its passes in this run; planning and verifying left out */
    int64_t verified_bytes;
    int64_t reserved[12];
} parapet_copy_result;

/* [collective] Copies an array, or a group with everything below it: into other chunks, shards, codecs, or another
 * order of dimensions, within memory_bytes. The target is visible when it is complete: its zarr.json is written last.
 * An interrupted copy (a kill, or the progress callback of the target store, which returns PARAPET_ERR_CANCELLED) can
 * be resumed on any number of ranks; any other failure removes the array that was being copied, while those of a
 * group that were complete stay. result may be NULL. */
PARAPET_API parapet_status parapet_copy(const parapet_copy_request *request, parapet_copy_result *result);

/* ---- Checkpoints -------------------------------------------------------------------------------------- */

/* State that survives: generations under one group of a store, numbered upward, each a complete Zarr group of sealed
 * arrays. A generation exists from the moment its commit record is durable, whole, and not before; older ones are
 * removed after that. A crash at any instant leaves the generations that were committed.
 *
 *     parapet_checkpoint_begin(&checkpoint, store, "restart", NULL);
 *     parapet_checkpoint_put(checkpoint, items, 2);
 *     parapet_checkpoint_attribute_set(checkpoint, "step", "4711");
 *     parapet_checkpoint_commit(&checkpoint, &generation);
 *
 *     parapet_restore_open(&restore, store, "restart", 0);                 the newest that verifies, on any ranks
 *     parapet_restore_get(restore, items, 2);
 *     parapet_restore_close(&restore);
 *
 * A parapet_checkpoint is a generation that is being written, a parapet_restore one that is being read. */
typedef struct parapet_checkpoint parapet_checkpoint;
typedef struct parapet_restore parapet_restore;

typedef struct parapet_checkpoint_options {
    int64_t generation; /* its number, larger than any before; 0: the newest and 1 */
    int64_t keep;       /* generations that stay, the new one included; 0: 2; -1: all */
    int64_t reserved[8];
} parapet_checkpoint_options;

/* One array of a generation. */
typedef struct parapet_checkpoint_item {
    const char *name;               /* one component of a path */
    const parapet_array_spec *spec; /* to put; not looked at to get */
    const parapet_part *parts;      /* what this rank has of it, or wants of it; in any decomposition */
    int part_count;
    int64_t reserved[4];
} parapet_checkpoint_item;

/* [collective] Begins a generation in the group at path, which is made if it does not exist. Nothing of it is visible
 * before the commit. While it is open, no handle of another kind may change what lies below path. options may be
 * NULL. */
PARAPET_API parapet_status parapet_checkpoint_begin(parapet_checkpoint **checkpoint, parapet_store *store,
                                                    const char *path, const parapet_checkpoint_options *options);

/* [collective] Makes the arrays, writes and seals them, all as one transfer; each name once. The memory of the parts
 * is the caller's again on return. After a failure only commit (which refuses) and abort are left. */
PARAPET_API parapet_status parapet_checkpoint_put(parapet_checkpoint *checkpoint,
                                                  const parapet_checkpoint_item *items, int count);

/* [collective] Sets an attribute of the generation's group, for small state, as parapet_group_attribute_set. */
PARAPET_API parapet_status parapet_checkpoint_attribute_set(parapet_checkpoint *checkpoint, const char *name,
                                                            const char *json);

/* [collective] Makes the generation durable and visible, then removes those that are not kept: all with keep newer
 * ones that verify, as restore_open sees it. Frees the handle, also after a failure, unless the ranks called
 * different things. PARAPET_ERR_EXISTS: another job has committed this generation, or a later one; nothing of ours
 * remains. A failure after the commit, to remove older ones, is no failure: the next commit does it. After
 * PARAPET_ERR_IO or PARAPET_ERR_TIMEOUT the generation may be there all the same, and whole: open or list to know.
 * generation may be NULL. */
PARAPET_API parapet_status parapet_checkpoint_commit(parapet_checkpoint **checkpoint, int64_t *generation);

/* [collective] Gives the generation up, as if it had never begun, and frees the handle. Takes NULL. */
PARAPET_API parapet_status parapet_checkpoint_abort(parapet_checkpoint **checkpoint);

typedef enum parapet_buffering {
    PARAPET_BUFFERING_COPY = 0, /* the memory of the parts is the caller's again when start returns; a copy is charged
                           to memory_bytes */
    PARAPET_BUFFERING_BORROW = 1 /* it must not be changed before wait returns */
} parapet_buffering;

/* [collective] Puts the items and commits, beside the computation: wait tells what came of it. Under
 * MPI_THREAD_MULTIPLE a thread of its own does everything, messages included; with less, start does it before it
 * returns. Until wait has returned, no other call may be made on this store; other stores are not concerned. A
 * progress callback is called on that thread. If start fails, the handle stays, to be aborted. */
PARAPET_API parapet_status parapet_checkpoint_start(parapet_checkpoint *checkpoint,
                                                    const parapet_checkpoint_item *items, int count,
                                                    parapet_buffering buffering);

/* [local] Sets *is_done to 1 if parapet_checkpoint_wait would return at once, else to 0. */
PARAPET_API parapet_status parapet_checkpoint_test(parapet_checkpoint *checkpoint, int *is_done);

/* [collective] Waits for what start began, and returns the status of its put and commit; frees the handle. generation
 * may be NULL. */
PARAPET_API parapet_status parapet_checkpoint_wait(parapet_checkpoint **checkpoint, int64_t *generation);

/* [collective] Opens a generation to restore from: of that number, or with 0 the newest that verifies. Verifies its
 * commit record, its documents, and of every shard existence, length and the checksum of its index, all ranks
 * sharing the work; the data itself is verified as it is read. With 0, a generation that is proved to be
 * damaged is passed over for the one before; storage that fails is an error, whatever the generation. NOT_FOUND:
 * there is none. */
PARAPET_API parapet_status parapet_restore_open(parapet_restore **restore, parapet_store *store, const char *path,
                                                int64_t generation);

/* [collective] Reads parts of the arrays, as one transfer. */
PARAPET_API parapet_status parapet_restore_get(parapet_restore *restore, const parapet_checkpoint_item *items,
                                               int count);

/* [local] The JSON text of an attribute of the generation's group, as parapet_group_attribute_get. */
PARAPET_API parapet_status parapet_restore_attribute_get(parapet_restore *restore, const char *name, char **json);

/* Which generation is read. Pointers are valid until the handle is closed. */
typedef struct parapet_restore_info {
    int64_t generation;
    const char *path;         /* of its group, in the store */
    int array_count;          /* committed with it */
    const char *const *names; /* of the arrays */
    int64_t passed_over;      /* newer generations that did not verify */
    const char *problem;      /* of the newest of those, one sentence; "" if there was none */
    int64_t reserved[8];
} parapet_restore_info;

/* [local] Tells which generation was opened, and which newer ones were passed over. */
PARAPET_API parapet_status parapet_restore_get_info(parapet_restore *restore, parapet_restore_info *info);

/* [collective] Closes a generation and its arrays. Takes NULL. */
PARAPET_API parapet_status parapet_restore_close(parapet_restore **restore);

/* Called for each generation, the newest first; a return other than 0 ends the listing. path is that of its group. */
typedef int (*parapet_generation_visitor)(void *context, int64_t generation, const char *path);

/* [collective] Lists the generations that are committed at path; they are not verified. A group that never had a
 * checkpoint has none. */
PARAPET_API parapet_status parapet_checkpoint_list(parapet_store *store, const char *path,
                                                   parapet_generation_visitor visitor, void *context);

/* What was, or would be, removed. */
typedef int (*parapet_removal_visitor)(void *context, const char *key, const char *reason);

/* [collective] Removes what crashes have left below path: generations that were never committed, and temporary
 * objects; not those of a copy that can be resumed. Nobody else may write there meanwhile, and no array, group or
 * checkpoint of this store may be open. dry_run 1: only tells. visitor may be NULL. */
PARAPET_API parapet_status parapet_store_collect(parapet_store *store, const char *path, int dry_run,
                                                 parapet_removal_visitor visitor, void *context);

/* ---- Series ------------------------------------------------------------------------------------------- */

/* Time steps that append: a group of arrays that grow together along their first dimension, with a coordinate. A step
 * is committed by one rename of the group's zarr.json with consolidated metadata: readers that use it, as xarray
 * does by default, see steps whole or not at all. A reader of a single array may see its step a moment earlier.
 *
 * Steps that share a shard stay open, in memory or (where that is too small) in one file for each rank, until the
 * shard is full or the series is flushed; then every shard is written once. What a crash can lose is exactly what
 * was neither: steps since the last flush, or since the last full row of shards. */
typedef struct parapet_series parapet_series;

typedef struct parapet_series_spec {
    const char *dimension;             /* of the steps, and the name of the coordinate; NULL: "time" */
    const char *coordinate_attributes; /* a JSON object such as {"units": "hours since 2000-01-01"}; NULL: {} */
    const char *attributes;            /* of the group; NULL: {} */
    int count;                         /* arrays */
    const char *const *names;
    const parapet_array_spec *specs; /* shape[0] is 0; chunks[0] and shards[0] count steps: 1 if neither is given;
                                        shards[0] is the same for all; dimension_names[0] may be NULL or the
                                        dimension above */
    int64_t reserved[8];
} parapet_series_spec;

/* What one rank has of one step of an array: start and count of the parts leave the first dimension out. */
typedef struct parapet_step {
    const parapet_part *parts;
    int part_count;
    int64_t reserved[2];
} parapet_step;

/* [collective] Makes the group, unless there is one that is no series, and its arrays, with no step. Other arrays and
 * coordinates may be made in the group with parapet_array_create, before the first step. */
PARAPET_API parapet_status parapet_series_create(parapet_series **series, parapet_store *store, const char *path,
                                                 const parapet_series_spec *spec);

/* [collective] Goes on behind the last step that was committed, on any number of ranks. What a crash left beyond it
 * is gone. Anything else beyond it, such as steps that another program appended, is PARAPET_ERR_FORMAT, and stays:
 * parapet_series_repair decides what becomes of it. */
PARAPET_API parapet_status parapet_series_open(parapet_series **series, parapet_store *store, const char *path);

/* What becomes of steps that a series has not committed and no crash of it has left. */
typedef enum parapet_beyond {
    PARAPET_BEYOND_REFUSE = 0, /* nothing is changed: the series is only checked */
    PARAPET_BEYOND_ADOPT = 1,  /* they are committed: as many as all its arrays have */
    PARAPET_BEYOND_CUT = 2     /* they are cut off: as many stay as the group says */
} parapet_beyond;

/* [collective] Puts right a series that is not open and that parapet_series_open refuses. PARAPET_BEYOND_REFUSE tells
 * whether it would, also in a store that is open for reading only. PARAPET_ERR_NOT_FOUND: it is no series. */
PARAPET_API parapet_status parapet_series_repair(parapet_store *store, const char *path, parapet_beyond beyond);

/* [collective] Appends a step to all arrays, in the order of info.names. The memory is the caller's again on return.
 * coordinate must be the same on all ranks. Parts must not overlap; where shards[0] > 1, those of different ranks
 * that do are found when the row is written, which then cannot be. After a failure info.steps tells whether the step
 * was taken; a row that could not be written is tried again by flush, and before the next step. */
PARAPET_API parapet_status parapet_series_append(parapet_series *series, double coordinate,
                                                 const parapet_step *steps);

/* [collective] Writes what is open and commits it. A row of shards that is not full is written again later. */
PARAPET_API parapet_status parapet_series_flush(parapet_series *series);

/* [collective] Flushes and closes; the handle is freed in any case, and with it what could not be flushed: flush
 * first if you want to try again. */
PARAPET_API parapet_status parapet_series_close(parapet_series **series);

typedef struct parapet_series_info {
    const char *path;
    const char *dimension;
    int count;
    const char *const *names;
    int64_t steps;           /* appended */
    int64_t steps_committed; /* what readers see, and what a crash leaves */
    int64_t steps_per_row;   /* shards[0] */
    int64_t shards_written;  /* by this rank since the series was opened, of the arrays in names */
    int is_staged;           /* open steps are kept in files, because memory_bytes is too small for them */
    int64_t reserved[8];
} parapet_series_info;

/* [local] Tells how many steps there are and where they are. Pointers are valid until the series is closed. */
PARAPET_API parapet_status parapet_series_get_info(parapet_series *series, parapet_series_info *info);

/* [local] What a step costs and where open steps are kept, in sentences; free with parapet_free. */
PARAPET_API parapet_status parapet_series_print(parapet_series *series, char **text);

/* ---- Checking ----------------------------------------------------------------------------------------- */

typedef enum parapet_finding_kind {
    PARAPET_FINDING_MISSING = 1, /* a shard that the manifest of a sealed array lists is not there */
    PARAPET_FINDING_TORN = 2,    /* length, index, checksum, digest or decoded size is wrong */
    PARAPET_FINDING_STRAY = 3,   /* an object that belongs to nothing: left over by a crash, or foreign */
    PARAPET_FINDING_ABSENT = 4   /* a shard that was never written; reads as fill value */
} parapet_finding_kind;

typedef struct parapet_finding {
    const char *key; /* the object, relative to the store's root */
    parapet_finding_kind kind;
    const char *problem; /* one sentence */
} parapet_finding;

typedef int (*parapet_finding_visitor)(void *context, const parapet_finding *finding);

/* What a check or survey has seen. */
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
    PARAPET_CHECK_SURVEY = 0, /* list objects and sizes only */
    PARAPET_CHECK_INDEX = 1,  /* also read every index, and the manifest of a sealed array */
    PARAPET_CHECK_DATA = 2    /* also read and decode every chunk */
} parapet_check_depth;

/* [collective] Examines every stored object of an array within the memory limit. Findings go to visitor (may be
 * NULL) and are counted in summary; they are not errors of the call. ABSENT is not counted as a problem. */
PARAPET_API parapet_status parapet_array_check(parapet_array *array, parapet_check_depth depth,
                                               parapet_finding_visitor visitor, void *context,
                                               parapet_check_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
