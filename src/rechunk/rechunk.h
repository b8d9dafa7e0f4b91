/* rechunk.h - how an array is brought from one layout into another within a memory limit: the plan of a copy.
 *
 * Pure arithmetic: knows neither MPI nor storage; sizes that depend on codecs and storage are numbers in the problem.
 * Everything is expressed in the target's index space: its dimensions in its order, and element 0 is the first one
 * that is copied. A permutation, a region and a reversed dimension then only change the grid of the source: its chunk
 * extents and its origin.
 *
 *     pass       reads one layout, writes another; one suffices, or intermediate layouts lie between several
 *     template   a box of whole target chunks; nothing is kept from one to the next, so what lies across its
 *                border is read again
 *     work unit  whole target shards and whole templates; one rank does it from its beginning to its end, so every
 *                shard has one writer. Templates start anew in every work unit
 *
 * Inside a template the source chunks are visited one after the other, each read and decoded once; their elements go
 * straight to the target chunks that need them. A target chunk takes memory from its first element to its last. The
 * order of the visits decides how many are open at once, which is counted exactly (count.h). */
#ifndef PARAPET_RECHUNK_RECHUNK_H
#define PARAPET_RECHUNK_RECHUNK_H

#include <parapet_arrays.h>

#include "base/sha256.h"
#include "geometry/box.h"

#define PP_RECHUNK_PASSES_MOST 8
#define PP_RECHUNK_CANDIDATES_MOST 16

/* One layout: of the source, of the target, or between two passes. */
typedef struct pp_rechunk_side {
    int64_t chunk[PARAPET_MAX_NDIM];    /* elements */
    int64_t shard[PARAPET_MAX_NDIM];    /* a multiple of chunk; equal to it when there are no shards */
    int64_t origin[PARAPET_MAX_NDIM];   /* position of element 0 in its shard: 0 <= origin < shard; 0 in targets */
    int stored_order[PARAPET_MAX_NDIM]; /* dimensions as a chunk stores them, slowest first: what runs follow */
    int64_t element_bytes;
    int64_t encoded_bytes;      /* upper limit of a stored chunk */
    int64_t chunk_buffer_bytes; /* an open target chunk: its elements, and what encoding adds in place */
    int64_t scratch_bytes;      /* of one worker, to decode (source) or to encode (target) */
    bool is_sharded;            /* a shard has an index, which is read when it is opened */
    bool is_sealed;             /* each open shard of a source also has the checksums of its chunks */
    bool allows_runs;           /* stored as in memory and without checksum, so that parts of a chunk can be read */
    bool is_held_by_seal;       /* that would be so, but chunks of a sealed source are compared with the seal */
    double codec_rate;          /* bytes of elements per second that one worker decodes or encodes; 0: not known */
    double stored_ratio;        /* stored bytes per byte of elements; 0: 1 */
} pp_rechunk_side;

/* What the machine does; zero in any field means "an ordinary disk". */
typedef struct pp_rechunk_machine {
    double read_rate, write_rate;   /* bytes per second of one rank alone */
    double read_limit, write_limit; /* of all ranks together */
    double request_seconds;         /* each ranged read of a whole chunk, in addition to its bytes */
    double run_seconds;             /* and of a run, one of many that storage is told about in advance */
    double flush_seconds;           /* each object or record made durable */
    double copy_rate;               /* bytes per second that one worker scatters into chunks */
    double exchange_rate;           /* bytes per second between ranks, of one rank */
    int cores;                      /* that all ranks share */
} pp_rechunk_machine;

typedef struct pp_rechunk_problem {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM]; /* of the target */
    pp_rechunk_side source, target;
    pp_rechunk_side between; /* for intermediate layouts: what does not depend on the chunk (element_bytes, rates) */
    int64_t memory_bytes;    /* limit of one rank; INT64_MAX: none */
    int64_t unit_bytes; /* limit of a template, in bytes of elements, unless one target chunk has more; 0: none */
    int64_t cooperation_bytes; /* of a collective read, besides the template; 0: ranks cannot cooperate */
    int threads;               /* workers of a rank, >= 1 */
    int ranks;
    pp_rechunk_machine machine;
    int force_passes; /* 0: chosen; else exactly this many */
    parapet_reading force_reading;
    parapet_cooperation force_cooperation;
} pp_rechunk_problem;

/* What a pass does, counted exactly: in a plan, by all ranks; in a running pass, by the rank that counts. A copy that
 * starts from nothing does, on all ranks together, what was planned. There are only 64-bit numbers, so that ranks can
 * add up the struct as it is. */
typedef struct pp_rechunk_counts {
    int64_t work_units, templates;
    int64_t chunk_reads;   /* visits of source chunks: decoded, or read in runs */
    int64_t read_requests; /* ranged reads of chunks: chunk_reads, or the runs */
    int64_t index_reads;   /* shards opened, each with one request for its index; 0 without shards */
    int64_t decoded_bytes; /* elements read: whole chunks, or exactly the runs */
    int64_t chunks_written, shards_written;
    int64_t written_bytes;     /* elements of whole target chunks */
    int64_t templates_resumed; /* done by an earlier run; 0 in a plan */
} pp_rechunk_counts;

#define PP_RECHUNK_COUNTS ((int)(sizeof(pp_rechunk_counts) / sizeof(int64_t)))

void pp_rechunk_counts_add(pp_rechunk_counts *sum, const pp_rechunk_counts *more);

/* What a pass takes from the memory of one rank; the sum is memory_bytes. */
typedef struct pp_rechunk_memory {
    int64_t open_chunks;   /* largest number at a time, exact */
    int64_t chunk_buffers; /* open_chunks and some more, for overlap; cooperating: all chunks of a template */
    int64_t items;         /* in transit from storage to a worker, >= 1 */
    int64_t item_chunks;   /* source chunks of an item, >= 1 */
    int64_t source_indexes, target_indexes; /* bytes */
    int64_t writers, writer_bytes;          /* shards open for writing, and the buffer of each */
    int64_t memory_bytes;
} pp_rechunk_memory;

typedef struct pp_rechunk_pass {
    pp_rechunk_side source, target;
    /* Whole target chunks; per dimension at most a shard, or whole shards. */
    int64_t template_shape[PARAPET_MAX_NDIM];
    int64_t work_unit_shape[PARAPET_MAX_NDIM]; /* the larger of shard and template */
    int order[PARAPET_MAX_NDIM];               /* dimensions in which source chunks are visited, slowest first */
    bool reads_runs;                           /* parts of chunks, as contiguous runs */
    bool cooperates;                           /* all ranks read together, each for its own work unit */
    int64_t group[PARAPET_MAX_NDIM];           /* cooperating: work units done at a time, their product is <= ranks */
    pp_rechunk_counts counts;
    pp_rechunk_memory memory;
    double seconds;
} pp_rechunk_pass;

/* A candidate that was considered, and its result; for people. */
typedef struct pp_rechunk_candidate {
    char name[48]; /* "one pass", "two passes by the geometric mean", ... */
    int pass_count;
    int64_t read_bytes, written_bytes; /* elements, over all passes */
    int64_t memory_bytes;
    double seconds; /* 0 when it does not fit */
    bool is_feasible, is_chosen;
} pp_rechunk_candidate;

typedef struct pp_rechunk_plan {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    int ranks, threads;
    int64_t limit_bytes; /* the problem's */
    int64_t unit_bytes;
    int pass_count;
    pp_rechunk_pass passes[PP_RECHUNK_PASSES_MOST];
    int64_t memory_bytes;                     /* of one rank: that of the largest pass */
    int64_t memory_least_bytes;               /* the smallest limit for which a plan exists */
    int64_t temporary_bytes, temporary_files; /* of all intermediates together */
    double seconds;
    int candidate_count;
    pp_rechunk_candidate candidates[PP_RECHUNK_CANDIDATES_MOST];
} pp_rechunk_plan;

/* Considers one pass with whole chunks, one with runs, several passes, and cooperation, and takes the one with the
 * shortest predicted time that fits. PARAPET_ERR_MEMORY names the smallest limit that would be enough. Deterministic:
 * the same problem gives the same plan. */
parapet_status pp_rechunk_plan_build(const pp_rechunk_problem *problem, pp_rechunk_plan *plan);

/* plan_digest.c: the digest of everything that ranks are told to do. Plans with the same digest do the same. */
parapet_status pp_rechunk_plan_digest(const pp_rechunk_plan *plan, unsigned char digest[PP_SHA256_BYTES]);

/* work_units.c: the work units of a pass and the templates of a work unit are numbered in C order; a template's box,
 * in elements, clipped to the array. */
int64_t pp_rechunk_work_unit_count(int ndim, const int64_t *shape, const pp_rechunk_pass *pass);
int64_t pp_rechunk_work_unit_template_count(int ndim, const int64_t *shape, const pp_rechunk_pass *pass,
                                            int64_t work_unit);
void pp_rechunk_work_unit_box(int ndim, const int64_t *shape, const pp_rechunk_pass *pass, int64_t work_unit,
                              pp_box *box);
void pp_rechunk_template_box(int ndim, const int64_t *shape, const pp_rechunk_pass *pass, int64_t work_unit,
                             int64_t number, pp_box *box);

#endif
