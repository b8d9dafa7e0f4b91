/* direct.c - copies between the memories of two processes with process_vm_readv and process_vm_writev: see
 * direct.h.
 *
 * Invariants:
 *
 *  1. A copy is tried, not assumed. pp_direct_works reads the nonce of the other rank first: a process number
 *     is not enough, since it may be that of another process in another container. Nor is the name of a host
 *     (add_boot).
 *  2. The system may refuse any copy later on. Then part of it may have been made, which does no harm: the
 *     caller moves the whole window once more, with messages, and each element has the same value both times.
 *  3. Both sides list the same bytes in the same order (move), as runs that may be cut differently (add_run,
 *     advance).
 *  4. The memory of a rank that may have returned is never written to. So with a deadline nothing is written
 *     into other ranks at all (pp_store_team in array/store_queries.c).
 *
 * The option transport=direct, which is the default: docs/guide/many-ranks.md, "Options". The system charges
 * some 0.6 us for every row, which is why neighbouring pieces are fetched as whole rows (transfer/sieve.c);
 * docs/design/collective.md, "How a piece travels". */
#include "comm/direct.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/loops.h"
#include "comm/internal.h"

/* The most that one system call takes, on each side. */
#define RUNS_PER_CALL 1024

typedef struct side {
    struct iovec runs[RUNS_PER_CALL];
    size_t count;
    size_t first; /* runs before it have been moved */
} side;

typedef struct batch {
    int64_t process;
    bool is_write;
    size_t bytes;
    side local, remote;
} batch;

static atomic_long copies_until_failure = -1;
static atomic_bool fails_for_ever;

void pp_direct_fail_at(long n, bool is_forever)
{
    atomic_store(&fails_for_ever, is_forever);
    atomic_store(&copies_until_failure, n);
}

static bool is_made_to_fail(void)
{
    long left = atomic_load(&copies_until_failure);
    while (left > 0)
        if (atomic_compare_exchange_weak(&copies_until_failure, &left, left - 1))
            return false;
    /* -1 before the failing copy goes on: of several threads only one fails. */
    return left == 0 &&
           (atomic_load(&fails_for_ever) || atomic_compare_exchange_strong(&copies_until_failure, &left, -1));
}

/* Names of hosts are not always different; what the kernel draws when it starts is. */
static void add_boot(pp_call *name)
{
    char boot[64];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL)
        return;
    pp_call_add(name, boot, fread(boot, 1, sizeof boot, file));
    (void)fclose(file);
}

uint64_t pp_comm_digest_node(const pp_comm *comm)
{
    pp_call name;
    pp_call_init(&name, "%s", comm->host);
    add_boot(&name);
    if (comm->ranks_per_node > 0) {
        int pretended = comm->rank / comm->ranks_per_node;
        pp_call_add(&name, &pretended, sizeof pretended);
    }
    return name.digest;
}

pp_identity_proof pp_identity_proof_of(const pp_comm *comm)
{
    return (pp_identity_proof){
        .node = comm->node, .process = getpid(), .nonce_address = (uintptr_t)&comm->nonce, .nonce = comm->nonce};
}

bool pp_direct_works(const pp_comm *comm, const pp_identity_proof *proof)
{
    uint64_t found = ~proof->nonce;
    pp_direct_copy probe = {
        .process = proof->process, .element_bytes = sizeof found, .local = &found, .remote = proof->nonce_address};
    return proof->node == comm->node && pp_direct_read(&probe) && found == proof->nonce;
}

/* Runs that are as long as both sides allow. Returns false when there is nothing to copy. */
static bool build_loops(pp_loops *loops, const pp_direct_copy *copy)
{
    pp_loop_box box = {
        .ndim = copy->ndim,
        .element_bytes = copy->element_bytes,
        .count = copy->count,
        .origin = {.to = (uintptr_t)copy->local, .from = copy->remote},
        .to_strides = copy->local_strides,
        .from_strides = copy->remote_strides,
    };
    if (!pp_loops_init(loops, &box))
        return false;
    pp_loops_lengthen_run(loops);
    return true;
}

/* Runs may be neighbours on one side only: there they count once. */
static void add_run(side *where, uint64_t address, size_t bytes)
{
    struct iovec *last = where->count > 0 ? &where->runs[where->count - 1] : NULL;
    if (last != NULL && (uint64_t)(uintptr_t)last->iov_base + last->iov_len == address)
        last->iov_len += bytes;
    else
        where->runs[where->count++] = (struct iovec){(void *)(uintptr_t)address, bytes};
}

/* Leaves out what has been moved. */
static void advance(side *where, size_t bytes)
{
    while (bytes > 0) {
        struct iovec *run = &where->runs[where->first];
        if (run->iov_len > bytes) {
            run->iov_base = (void *)((uintptr_t)run->iov_base + bytes);
            run->iov_len -= bytes;
            return;
        }
        bytes -= run->iov_len;
        where->first++;
    }
}

static bool move_batch(batch *moves)
{
    side *local = &moves->local, *remote = &moves->remote;
    while (moves->bytes > 0) {
        ssize_t moved = (moves->is_write ? process_vm_writev : process_vm_readv)(
            (pid_t)moves->process, local->runs + local->first, local->count - local->first,
            remote->runs + remote->first, remote->count - remote->first, 0);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        /* It may have moved less: both lists go on behind what was moved, wherever that ends in them. */
        advance(local, (size_t)moved);
        advance(remote, (size_t)moved);
        moves->bytes -= (size_t)moved;
    }
    local->count = local->first = 0;
    remote->count = remote->first = 0;
    return true;
}

static bool is_full(const batch *moves)
{
    return moves->local.count == RUNS_PER_CALL || moves->remote.count == RUNS_PER_CALL;
}

static bool move(const pp_direct_copy *copy, bool is_write)
{
    int64_t position[PARAPET_MAX_NDIM] = {0};
    pp_loops loops;
    pp_place at;
    batch moves;
    if (is_made_to_fail())
        return false;
    if (!build_loops(&loops, copy))
        return true;
    at = loops.origin;
    moves.process = copy->process;
    moves.is_write = is_write;
    moves.bytes = moves.local.count = moves.local.first = moves.remote.count = moves.remote.first = 0;
    do {
        add_run(&moves.local, at.to, loops.run_bytes);
        add_run(&moves.remote, at.from, loops.run_bytes);
        moves.bytes += loops.run_bytes;
        if (is_full(&moves) && !move_batch(&moves))
            return false;
    } while (pp_loops_next(&loops, loops.ndim, position, &at));
    return move_batch(&moves);
}

bool pp_direct_read(const pp_direct_copy *copy)
{
    return move(copy, false);
}

bool pp_direct_write(const pp_direct_copy *copy)
{
    return move(copy, true);
}
