/* memory_plan.h - how a transfer divides its budget, as arithmetic on sizes. A transfer takes exactly this, and
 * `parapet plan` prints it without running one. */
#ifndef PARAPET_TRANSFER_MEMORY_PLAN_H
#define PARAPET_TRANSFER_MEMORY_PLAN_H

#include "plan/turns.h"
#include "transfer/direction.h"
#include "transfer/layout.h"

/* More than any machine has, but small enough to add to. */
#define PP_MEMORY_ENDLESS (SIZE_MAX / 8)

/* What decides how much a server needs. */
typedef struct pp_memory_case {
    size_t available_bytes; /* of the budget, after claims and lists */
    size_t used_bytes;      /* of the budget, by those */
    int threads;
    bool has_threads;      /* storage runs beside encoding: more than one window is under way */
    bool keeps_old;        /* writing: some shard is only partly covered */
    bool is_sealed;        /* some array is: shards that are read have checksums of chunks beside their indexes */
    bool has_remote;       /* some claim belongs to another rank: pieces may arrive as messages */
    bool uses_direct;      /* some of those ranks can be reached without messages */
    size_t fragment_bytes; /* of a message; 0: there are none */
    int64_t shard_count;   /* shards that this server owns */
    int64_t rank_most;     /* largest number of other ranks that hold parts of one shard */
    int64_t copies;        /* reading: how often elements are sent, about; more than one can be staged at a time */
    bool takes;            /* the server may take any shard of the transfer; rank_most is about all of them */
} pp_memory_case;

typedef struct pp_memory_plan {
    int slot_count;
    int window_chunks;    /* chunks per slot */
    size_t slot_bytes;    /* of one slot, with its share of shard lists */
    size_t staging_bytes; /* of one slot, for pieces sent or received as messages; part of slot_bytes */
    size_t staged_bytes;  /* reading: of those, for the pieces themselves; the rest is for lists of them */
    size_t batch_bytes;   /* reading: of one request to storage */
    size_t sieve_bytes;   /* of one worker, for rows of other ranks */
    size_t writer_bytes;  /* writing: of the buffer of the one writer */
    size_t planned_bytes; /* upper limit of what will be taken */
} pp_memory_plan;

/* Whether a thread for storage pays beside one that encodes, where so many ranks of this machine share its
 * processors. What is in memory is copied by whoever reads or writes it, from and into the caches of its processor:
 * another thread pays only if every rank has a processor for it. And where every processor has several ranks, others
 * compute while one waits for what it reads. */
bool pp_memory_thread_pays(const pp_store *store, pp_direction direction, int threads, int ranks);

/* The largest of several layouts counts. PARAPET_ERR_MEMORY names the limit that would be enough. */
parapet_status pp_memory_plan_write(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                    pp_memory_plan *plan);
parapet_status pp_memory_plan_read(const pp_layout *const *layouts, int count, const pp_memory_case *memory,
                                   pp_memory_plan *plan);

/* The smallest amount that a transfer of one layout between this many ranks needs, in either direction; lists are not
 * included. */
size_t pp_memory_least_bytes(const pp_layout *layout, int threads, int ranks, size_t fragment_bytes);

/* The smallest amount that reading needs in this case, whatever is available; lists are not included. */
size_t pp_memory_least_read_bytes(const pp_layout *layout, const pp_memory_case *memory);

/* The memory for the lists of this many claims, which meet this many shards, including what is needed to make and
 * check them, and what the rank receives as a home and as an owner if that is `others` times as much; saturates. */
size_t pp_memory_list_bytes(int ndim, int64_t claims, int64_t shards, int64_t others);

/* How many times as much as it has itself the rank receives that receives the largest amount, if all ranks hold
 * alike; 0 if it is alone. turns: of servers of different weights, of which the largest counts; NULL: all have the
 * same. */
int64_t pp_memory_others(int ranks, int servers, int64_t shards, const pp_turns *turns);

/* What the client side of a rank takes, for its messages. */
size_t pp_memory_client_bytes(size_t fragment_bytes);

/* Where servers take shards from each other: a good length for the description of some shards (stolen.h), if at most
 * this many other ranks hold parts of one, and messages have this size; and what a server needs for all of it, lists
 * included. */
size_t pp_memory_description_bytes(int ndim, int64_t rank_most, size_t fragment_bytes);
size_t pp_memory_stealing_bytes(int ndim, int64_t rank_most, size_t fragment_bytes);

/* Bytes of a message, from the smallest budget of all ranks. */
size_t pp_memory_fragment_bytes(int64_t least_memory_bytes);

/* The limit that is enough where `need` says how much of it is taken if messages have a size, which is at least
 * fragment_bytes: with a larger limit messages are longer, and take more. */
typedef size_t (*pp_memory_need)(const void *context, size_t fragment_bytes);
size_t pp_memory_find_limit(pp_memory_need need, const void *context, size_t fragment_bytes);

#endif
