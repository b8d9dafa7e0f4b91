/* direct.h - copies between processes on one node: the system copies directly between the memories of two processes
 * (process_vm_readv, process_vm_writev), if it allows that.
 *
 * A rank sends the others its identity proof. A rank that receives one tries it once: the nonce in it must be the one
 * found at its address, because the same process number may mean another process in another container. The system may
 * still refuse any later call; the caller then sends messages instead. Safe to use from several threads. */
#ifndef PARAPET_COMM_DIRECT_H
#define PARAPET_COMM_DIRECT_H

#include "comm/comm.h"

typedef struct pp_identity_proof {
    uint64_t node; /* digest of what identifies the node; ranks on different nodes never try */
    int64_t process;
    uint64_t nonce_address;
    uint64_t nonce;
} pp_identity_proof;

/* [local] The identity proof of this rank. Its nonce lives as long as the communicator. */
pp_identity_proof pp_identity_proof_of(const pp_comm *comm);

/* [local] Whether this rank can copy from and to the process of an identity proof. */
bool pp_direct_works(const pp_comm *comm, const pp_identity_proof *proof);

/* A box in this process and the same box in another one; strides in bytes, any sign. */
typedef struct pp_direct_copy {
    int64_t process;
    int ndim;
    size_t element_bytes;
    const int64_t *count;
    void *local;
    const int64_t *local_strides;
    uint64_t remote; /* address there */
    const int64_t *remote_strides;
} pp_direct_copy;

/* Copies from the other process, or to it. false: the system refuses; nothing, or only a part, was copied. */
bool pp_direct_read(const pp_direct_copy *copy);
bool pp_direct_write(const pp_direct_copy *copy);

/* For tests: makes the n-th copy from now on fail, and all after it when is_forever; negative: none. */
void pp_direct_fail_at(long n, bool is_forever);

#endif
