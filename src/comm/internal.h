/* internal.h - the communicator as the files of this module see it. */
#ifndef PARAPET_COMM_INTERNAL_H
#define PARAPET_COMM_INTERNAL_H

#include "comm/comm.h"
#include "comm/station.h"
#include "comm/wait.h"

/* Bytes of one step of pp_comm_share. */
#define PP_SHARE_BYTES ((size_t)64 << 10)

/* Values of one pp_comm_agree_sums. */
#define PP_SUMS_MOST 16

struct pp_comm {
    MPI_Comm mpi_comm; /* MPI_COMM_NULL when MPI is not used */
    int rank, size;
    char host[64];
    int ranks_per_node; /* 0: as it is */
    uint64_t node;      /* digest of what names the node */
    uint64_t nonce;     /* lives here, where other processes look for it */
    double deadline_seconds;
    bool is_lost;
    bool is_late;       /* an exchange of this call was given up; the agreement after it finds out who is missing */
    pp_call call;       /* that began last */
    double joined_at;   /* the agreement under way, by pp_clock_seconds */
    unsigned exchanges; /* begun so far */
    pp_wire *wire;      /* NULL for one rank */
    pp_station station;
    unsigned char shared[PP_SHARE_BYTES]; /* on its way in pp_comm_share */
    int64_t sums[PP_SUMS_MOST];           /* in pp_comm_agree_sums */
};

/* mpi_wire.c: a wire over mpi_comm, which stays the caller's. */
parapet_status pp_mpi_wire_build(pp_wire **wire, MPI_Comm mpi_comm);
void pp_mpi_wire_free(pp_wire *wire); /* takes NULL; cancels the receives that are posted */

/* Tags of what is not a wire's. Data of a wire has tags from PP_TAG_DATA on. */
enum { PP_TAG_CONTROL = 1, PP_TAG_EXCHANGE = 2 /* and 3 */, PP_TAG_DATA = 16 };

/* direct.c: what names the node of this rank. */
uint64_t pp_comm_digest_node(const pp_comm *comm);

/* Waits for one MPI request without taking the core from others; false: the deadline has passed. */
bool pp_comm_wait(pp_comm *comm, MPI_Request *request);

#endif
