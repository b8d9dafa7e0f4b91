/* parapet_store.h - stores: their options, opening and closing them, and what they have done. A part of parapet.h,
 * which programs include. */
#ifndef PARAPET_STORE_H
#define PARAPET_STORE_H

#include <parapet_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stores ------------------------------------------------------------------------------------------- */

/* Whether the library uses threads besides the program's own. */
typedef enum parapet_io_thread {
    PARAPET_IO_THREAD_CHOOSE = 0, /* OWN */
    PARAPET_IO_THREAD_OWN = 1,    /* storage calls run on a separate thread */
    PARAPET_IO_THREAD_NONE = 2    /* no threads */
} parapet_io_thread;

/* Which reads and writes bypass the system's page cache, where the file system allows it. */
typedef enum parapet_direct_io {
    PARAPET_DIRECT_IO_CHOOSE = 0, /* large writes, and large reads that are not in the page cache */
    PARAPET_DIRECT_IO_ALWAYS = 1,
    PARAPET_DIRECT_IO_NEVER = 2
} parapet_direct_io;

/* Which data survives a failure of the machine once a call has returned. */
typedef enum parapet_durability {
    PARAPET_DURABILITY_CHOOSE = 0, /* FLUSH */
    PARAPET_DURABILITY_FLUSH = 1,  /* all that the call wrote: it is flushed to the device before the call returns */
    PARAPET_DURABILITY_LEAVE = 2   /* whatever the system has flushed on its own */
} parapet_durability;

/* Which server reads or writes a shard; the servers are the ranks that access the storage. */
typedef enum parapet_owners {
    PARAPET_OWNERS_CHOOSE = 0,  /* IN_TURN for SHARING_WEIGHTS and keep_descriptions, else NEAREST */
    PARAPET_OWNERS_NEAREST = 1, /* the server that holds most of the shard, up to 1.10 of its share */
    PARAPET_OWNERS_IN_TURN = 2  /* the servers take turns, whoever holds the shard */
} parapet_owners;

/* How the servers share the work if they are not equally fast. */
typedef enum parapet_sharing {
    PARAPET_SHARING_CHOOSE = 0,  /* EQUAL */
    PARAPET_SHARING_EQUAL = 1,   /* all have the same share; the others wait for a slow one */
    PARAPET_SHARING_WEIGHTS = 2, /* fast ones have more turns, as measured in earlier calls; for OWNERS_IN_TURN */
    PARAPET_SHARING_STEALING = 3 /* one that has nothing left takes shards of others; for OWNERS_NEAREST */
} parapet_sharing;

/* How data gets from rank to rank. */
typedef enum parapet_transport {
    PARAPET_TRANSPORT_CHOOSE = 0,  /* DIRECT */
    PARAPET_TRANSPORT_DIRECT = 1,  /* ranks on a node copy from each other's memory where allowed, else messages */
    PARAPET_TRANSPORT_MESSAGES = 2 /* messages only */
} parapet_transport;

/* What keeps other jobs out while this one makes a change. */
typedef enum parapet_locks {
    PARAPET_LOCKS_CHOOSE = 0,  /* TRUSTED if its locks are known to hold on every node, else RECORD */
    PARAPET_LOCKS_TRUSTED = 1, /* the locks of the file system */
    PARAPET_LOCKS_RECORD = 2   /* owner records, which are files; every job on the store must then use them */
} parapet_locks;

/* What becomes of bytes between wanted ones when a chunk is stored as it is in memory, without checksum, and only
 * parts of it are wanted. */
typedef enum parapet_holes {
    PARAPET_HOLES_CHOOSE = 0, /* READ if that takes less time than another request, which is measured once */
    PARAPET_HOLES_READ = 1,   /* read all from the first wanted byte of a request to the last */
    PARAPET_HOLES_SKIP = 2    /* read only what is wanted, in units of 512 bytes, or more in long requests */
} parapet_holes;

/* The options of a store. Zero in any field means "choose for me". Every field except progress can also be set by an
 * environment variable PARAPET_<NAME> (sizes take K, M, G and KiB, MiB, GiB; choices and booleans take words). A
 * value other than 0 given here overrides the variable. */
typedef struct parapet_store_options {
    int64_t memory_bytes; /* limit on this store's buffers on this rank; default 256 MiB. Not counted: local_bytes,
                             the caller's parts and their list, and what MPI, the codec libraries and threads take */
    int64_t threads;      /* threads that encode and decode, including the calling one; default 1 */
    parapet_io_thread io_thread;
    parapet_direct_io direct_io;
    parapet_durability durability;
    int elide_fill; /* 1: do not store chunks of sharded arrays that equal the fill value; default: store them */
    int ignore_checksums; /* 1: return data whose CRC-32C does not match; default: refuse it */
    int require_sealed;   /* 1: opening an array that is not sealed is an error */
    int ignore_seal;     /* 1: open a sealed array whose metadata another program changed, as if it were not sealed */
    int ignore_launcher; /* 1: open for change although the launcher belongs to another MPI; see parapet_store_open */
    int64_t expected_servers; /* default shard shapes aim at 16 shards for each of these, and at no less than 1 */
    int64_t servers;          /* how many ranks are servers and access the storage; default: up to 16 per node */
    parapet_owners owners;
    parapet_sharing sharing;
    parapet_transport transport;
    int64_t deadline_seconds; /* longest wait for another rank before PARAPET_ERR_TIMEOUT; default: no limit */
    int64_t wait_seconds;     /* longest wait for another job before PARAPET_ERR_BUSY; default: 30 if that job is
                                 making objects visible, else a tenth of a second */
    parapet_progress_callback progress;
    void *progress_context;
    parapet_locks locks;
    int takeover; /* 1: treat owner records that other machines made before this store was opened as left by jobs that
                     are gone; default: PARAPET_ERR_BUSY, because only the user can know */
    parapet_holes holes;
    const char *weights; /* path of a file with the speeds of the servers, which parapet bench disks writes:
                            SHARING_WEIGHTS begins with them, if there are several servers. Default: all are equal at
                            first */
    int no_helper; /* 1: refuse files that another program has to read first, as HDF5; default: rank 0 starts it */
    int64_t local_bytes;   /* limit on all buffers of parapet_array_read_local on this rank, beside memory_bytes;
                              default 32 MiB */
    int64_t cache_bytes;   /* chunks that a server keeps between calls, of memory_bytes; with it, keep_descriptions is
                              1. Default: none */
    int write_back;        /* 1: what is written stays with its server, within cache_bytes, until it is flushed: see
                              parapet_array_flush. Needs cache_bytes. Default: a write has been written when it returns */
    int keep_descriptions; /* 1: all keep who holds what, so that calls with the same boxes again need not tell it.
                              For OWNERS_IN_TURN and SHARING_EQUAL */
    int64_t reserved[7];
} parapet_store_options;

/* [collective] Opens the Zarr hierarchy at url: a directory, or "memory:NAME" for one that exists only in this
 * process. comm may be MPI_COMM_NULL, which means this process alone and needs no MPI; an intercommunicator is
 * refused. options may be NULL.
 *
 * A program started with the launcher of another MPI runs as many processes, each of which believes that it is alone;
 * all of them would write the same store. Therefore PARAPET_UPDATE and PARAPET_CREATE on a communicator return
 * PARAPET_ERR_MPI if a launcher started several processes (PMI_SIZE, OMPI_COMM_WORLD_SIZE and the like; never
 * variables of a queue such as SLURM_NTASKS) but MPI finds only this one. A process that a rank started, or that MPI
 * spawned, is not refused. */
PARAPET_API parapet_status parapet_store_open(parapet_store **store, MPI_Comm comm, const char *url,
                                              parapet_mode mode, const parapet_store_options *options);

/* [collective] Closes the store. Refuses, and changes nothing, while an array, group, checkpoint, series or request
 * of it is open. */
PARAPET_API parapet_status parapet_store_close(parapet_store **store);

/* [local] Prints the options in force, one "name = value (source)" per line. Free the text with parapet_free. */
PARAPET_API parapet_status parapet_store_options_print(parapet_store *store, char **text);

/* [local] Sets one option by name from text ("64MiB", "never", "yes"), as the environment variables and the tool's
 * flags do. For an unknown name or a value out of range, the error sentence lists what is accepted. A text (weights)
 * is not copied: it must exist until the store is open. */
PARAPET_API parapet_status parapet_store_options_set(parapet_store_options *options, const char *name,
                                                     const char *value);

/* [local] Returns the words that a choice accepts: "choose (0), flush (1) or leave (2)" for "durability". The name is
 * that of a field of parapet_store_options or parapet_copy_request; NULL is returned if it names no choice. The text
 * is valid until the next call on this thread. */
PARAPET_API const char *parapet_option_words(const char *name);

/* What a store has done on this rank since it was opened. */
typedef struct parapet_statistics {
    int64_t read_bytes;      /* stored bytes read, metadata included */
    int64_t written_bytes;   /* stored bytes written, metadata included */
    int64_t read_requests;   /* ranged reads */
    int64_t objects_written; /* objects published */
    int64_t chunks_decoded;  /* more than once where many ranks read a large one, and little memory is left */
    int64_t chunks_encoded;
    int64_t chunks_copied;        /* moved into a new shard without decoding */
    int64_t chunks_missing;       /* read as fill value because they are not stored */
    int64_t memory_peak_bytes;    /* largest use of memory_bytes so far */
    int64_t memory_planned_bytes; /* largest use that a transfer planned */
    int64_t messages_sent;        /* data and requests of transfers; agreements between ranks are not counted */
    int64_t message_bytes;        /* bytes of data in those messages */
    int64_t direct_bytes;         /* copied to or from the memory of other ranks without a message */
    int64_t shards_owned;         /* shards that this rank served, summed over all transfers */
    int64_t shards_taken;         /* of those, shards that it took from another server */
    double storage_seconds;       /* time inside storage calls that read, write, flush, publish or remove; time in
                                     which several threads were inside such calls counts once. The speed of this
                                     rank's storage is read_bytes + written_bytes, divided by this */
    int64_t local_peak_bytes;     /* largest use of local_bytes so far */
    int64_t description_messages; /* with which this rank told others who holds what; not in messages_sent */
    int64_t descriptions_reused;  /* calls for which a description was kept: keep_descriptions */
    int64_t cache_hits;           /* stored chunks that were taken from the cache: cache_bytes */
    int64_t cache_misses;         /* stored chunks that it did not have */
    int64_t cache_bytes;          /* stored bytes of the hits */
    int64_t reserved[3];
} parapet_statistics;

/* [local] Reports what the store has done on this rank so far. */
PARAPET_API parapet_status parapet_store_get_statistics(parapet_store *store, parapet_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
