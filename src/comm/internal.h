/* internal.h - the communicator as the files of this module see it. */
#ifndef PARAPET_COMM_INTERNAL_H
#define PARAPET_COMM_INTERNAL_H

#include <stdatomic.h>

#include "comm/comm.h"
#include "comm/endpoint.h"
#include "comm/exchange.h"
#include "comm/turn.h"
#include "comm/wait.h"

/* Bytes of one step of pp_comm_share. */
#define PP_SHARE_BYTES ((size_t)64 << 10)

/* Values of one pp_comm_agree_sums. */
#define PP_SUMS_MOST 16

/* Operations of all ranks together that do not use the wire; over MPI (mpi_comm.c). A failure of MPI is noted in the
 * wire. */
typedef struct pp_comm_ops {
    /* Gives every rank that many bytes of rank 0 in comm->shared; false: the deadline has passed. */
    bool (*spread)(pp_comm *comm, size_t bytes);
    /* Sums of comm->sums over all ranks. */
    void (*add_up)(pp_comm *comm, int count);
    /* numbers[rank] is given, the others are filled in. After PARAPET_ERR_TIMEOUT, which the caller explains, they
     * may still be written to. */
    parapet_status (*gather)(pp_comm *comm, uint64_t *numbers);
    parapet_status (*exchange)(pp_comm *comm, const pp_exchange *exchange);
    /* Whether MPI can be called: it has not been finalised since. */
    bool (*is_running)(void);
    /* Whether MPI knows of no other process: its world is this one, which no other has spawned. */
    bool (*is_single)(void);
    void (*free)(pp_comm *comm);
} pp_comm_ops;

struct pp_comm {
    const pp_comm_ops *ops; /* NULL: this process alone */
    int rank, size;
    char host[64];
    int ranks_per_node; /* 0: the real nodes */
    uint64_t node;      /* digest of what identifies the node */
    int node_ranks;     /* on it, this one too; 0: not known yet */
    int *near;          /* servers that reach the storage as this rank does */
    int near_count;
    uint64_t nonce; /* lives here, where other processes look for it */
    double deadline_seconds;
    pp_call_turns turns;
    bool has_any_thread; /* each of them may call MPI */
    atomic_bool is_lost; /* threads that read locally ask for it */
    bool is_late;        /* an exchange of this call was given up; the next agreement finds out who is missing */
    pp_call call;        /* the one that began last */
    pp_comm_first first; /* what every call does first; NULL: nothing */
    void *first_context;
    double joined_at; /* the agreement under way, by pp_clock_seconds */
    pp_wire *wire;    /* NULL for one rank */
    pp_endpoint endpoint;
    unsigned char shared[PP_SHARE_BYTES]; /* in transit in pp_comm_share */
    int64_t sums[PP_SUMS_MOST];           /* in pp_comm_agree_sums */
    pp_stranded *stranded;                /* the newest */
};

/* direct.c: identifies the node of this rank. */
uint64_t pp_comm_digest_node(const pp_comm *comm);

#endif
