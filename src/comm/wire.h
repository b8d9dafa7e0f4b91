/* wire.h - what the protocols need from a network, and nothing else: small control messages from any rank, and data
 * that arrives where the receiver asked for it. MPI is one implementation (mpi_wire.c) and the simulator of the tests
 * another, so that the code that the tests drive through random interleavings is the code that runs on MPI.
 *
 * Control messages between two ranks arrive in the order sent; so do data of one tag. All calls return at once, and
 * are made by one thread. */
#ifndef PARAPET_COMM_WIRE_H
#define PARAPET_COMM_WIRE_H

#include "base/status.h"
#include "comm/comm.h"

#define PP_REQUEST_WORDS 72
#define PP_STEALING_WORDS 3 /* of a message of stealing.h */

/* As the failing rank: somebody did not arrive or answer. Any other failure takes precedence over it. */
#define PP_RANK_UNKNOWN INT32_MAX

typedef enum pp_control_kind {
    PP_CONTROL_REPORT = 1, /* agreement: of a rank and all below it in the tree, to the one above */
    PP_CONTROL_RESULT = 2, /* agreement: what all ranks have said, from above */
    PP_CONTROL_ABORT = 3,
    PP_CONTROL_REQUEST = 4,
    PP_CONTROL_OFFER = 5,
    PP_CONTROL_GRANT = 6,
    PP_CONTROL_TAKE = 7, /* stealing: has the other one work to spare? */
    PP_CONTROL_NONE = 8,
    PP_CONTROL_GIVE = 9,
    PP_CONTROL_ACCEPT = 10
} pp_control_kind;

/* What an agreement collects and distributes. */
typedef struct pp_verdict {
    int64_t least;       /* the smallest value that a rank gave */
    uint64_t common;     /* the bits that every rank gave */
    int64_t told[2];     /* of this rank, then of rank 0 */
    uint64_t digest;     /* of the call, of the lowest rank seen */
    uint64_t enough;     /* the memory limit that the failure names; 0: it names none */
    int32_t failed_rank; /* -1: none */
    int32_t status;
    int32_t differing_rank; /* -1: all calls are equal */
    int32_t call_rank;      /* whose call and digest these are */
    int32_t is_late;        /* somebody was not waited for any longer, whatever else has failed */
    int32_t missing_rank;   /* who did not answer whom: -1, or why failed_rank is PP_RANK_UNKNOWN */
    int32_t missed_by;
    char call[96];
    char differing_call[96];
    char sentence[PP_MESSAGE_BYTES];
} pp_verdict;

typedef struct pp_control {
    int32_t kind;
    int32_t tag;   /* of the data: REQUEST, OFFER, GRANT */
    int64_t round; /* of agreements, so that late messages are known as such */
    union {
        pp_verdict verdict; /* REPORT, RESULT */
        int64_t words[PP_REQUEST_WORDS];
    } of;
} pp_control;

/* An operation in progress; opaque, with room for what an implementation needs. */
typedef struct pp_wire_request {
    uintptr_t handle;
    size_t bytes; /* that must come, of a receive */
    bool is_active, is_receive;
} pp_wire_request;

/* A control message in transit; must not be changed or freed before it has left. */
typedef struct pp_wire_message {
    pp_control control;
    pp_wire_request request;
} pp_wire_message;

typedef struct pp_wire pp_wire;

typedef struct pp_wire_ops {
    /* Sends only as many bytes of the control message as its kind needs. */
    void (*send_control)(pp_wire *wire, int rank, pp_wire_message *message);
    /* Takes the next control message that has arrived; false: none. */
    bool (*next_control)(pp_wire *wire, pp_control *control, int *source);
    void (*send)(pp_wire *wire, int rank, int tag, const void *data, size_t bytes, pp_wire_request *request);
    void (*receive)(pp_wire *wire, int rank, int tag, void *data, size_t bytes, pp_wire_request *request);
    /* Whether it is over; also true for one that was never started. */
    bool (*is_over)(pp_wire *wire, pp_wire_request *request);
} pp_wire_ops;

struct pp_wire {
    const pp_wire_ops *ops;
    int rank, size;
    bool has_failed; /* what arrived may not be what was sent: nothing that used this wire may succeed */
};

#endif
