#include "comm/direct.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "comm/internal.h"

/* The most that one system call takes, on each side. */
#define RUNS_PER_CALL 1024

/* One loop: how often, and how many bytes further both sides are each time. */
typedef struct axis {
    int64_t count;
    int64_t local;
    int64_t remote;
} axis;

/* A copy as loops around a move of run_bytes, outermost loop first. Addresses are numbers: they may step outside an
 * object between two runs. */
typedef struct nest {
    int ndim;
    axis axes[PARAPET_MAX_NDIM];
    size_t run_bytes;
    uint64_t local, remote;
} nest;

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

/* The order of elements is free in a copy: loops run forwards here, and the largest steps are outermost. */
static void add_loop(nest *loops, axis loop)
{
    int d = loops->ndim++;
    if (loop.local < 0) {
        loops->local += (uint64_t)loop.local * (uint64_t)(loop.count - 1);
        loops->remote += (uint64_t)loop.remote * (uint64_t)(loop.count - 1);
        loop = (axis){loop.count, -loop.local, -loop.remote};
    }
    for (; d > 0 && loops->axes[d - 1].local < loop.local; d--)
        loops->axes[d] = loops->axes[d - 1];
    loops->axes[d] = loop;
}

/* Two loops are one where a step of the outer one continues just where the inner one ends, on both sides; an
 * innermost loop over neighbours on both sides becomes part of the run. */
static void merge_loops(nest *loops)
{
    int64_t run = (int64_t)loops->run_bytes;
    int kept = 0, d;
    for (d = 1; d < loops->ndim; d++) {
        axis *outer = &loops->axes[kept];
        axis inner = loops->axes[d];
        if (outer->local == inner.local * inner.count && outer->remote == inner.remote * inner.count)
            *outer = (axis){outer->count * inner.count, inner.local, inner.remote};
        else
            loops->axes[++kept] = inner;
    }
    if (loops->ndim > 0)
        loops->ndim = kept + 1;
    if (loops->ndim > 0 && loops->axes[kept].local == run && loops->axes[kept].remote == run) {
        loops->run_bytes *= (size_t)loops->axes[kept].count;
        loops->ndim--;
    }
}

/* Returns false when there is nothing to copy. */
static bool build_nest(nest *loops, const pp_direct_copy *copy)
{
    int d;
    loops->ndim = 0;
    loops->run_bytes = copy->element_bytes;
    loops->local = (uintptr_t)copy->local;
    loops->remote = copy->remote;
    if (copy->element_bytes == 0)
        return false;
    for (d = 0; d < copy->ndim; d++)
        if (copy->count[d] <= 0)
            return false;
    for (d = 0; d < copy->ndim; d++)
        if (copy->count[d] > 1)
            add_loop(loops, (axis){copy->count[d], copy->local_strides[d], copy->remote_strides[d]});
    merge_loops(loops);
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

/* Steps to the next run; false: that was the last. */
static bool next_run(nest *loops, int64_t *index)
{
    int d;
    for (d = loops->ndim - 1; d >= 0; d--) {
        axis loop = loops->axes[d];
        if (++index[d] < loop.count) {
            loops->local += (uint64_t)loop.local;
            loops->remote += (uint64_t)loop.remote;
            return true;
        }
        index[d] = 0;
        loops->local -= (uint64_t)loop.local * (uint64_t)(loop.count - 1);
        loops->remote -= (uint64_t)loop.remote * (uint64_t)(loop.count - 1);
    }
    return false;
}

static bool move(const pp_direct_copy *copy, bool is_write)
{
    int64_t index[PARAPET_MAX_NDIM] = {0};
    nest loops;
    batch moves;
    if (is_made_to_fail())
        return false;
    if (!build_nest(&loops, copy))
        return true;
    moves.process = copy->process;
    moves.is_write = is_write;
    moves.bytes = moves.local.count = moves.local.first = moves.remote.count = moves.remote.first = 0;
    do {
        add_run(&moves.local, loops.local, loops.run_bytes);
        add_run(&moves.remote, loops.remote, loops.run_bytes);
        moves.bytes += loops.run_bytes;
        if (is_full(&moves) && !move_batch(&moves))
            return false;
    } while (next_run(&loops, index));
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
