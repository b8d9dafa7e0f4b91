/* mpi_exchange.c - the sparse exchange over MPI: see exchange.h. The protocol is the non-blocking consensus of
 * T. Hoefler, C. Siebert and A. Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange
 * (PPoPP 2010). That lists go only to the ranks which they concern is ROMIO's idea (docs/design/papers.md, 2).
 *
 *     sending --move_barrier: all sends have ended--> in the barrier --it is over, and all is handed on--> over
 *
 * Invariants:
 *
 *  1. A synchronous send ends only when its receiver has begun to take the parcel (send_next).
 *  2. A rank enters the barrier when all of its sends have ended, and receives until the barrier is over. So
 *     when it is over, every parcel of every rank is being taken by its receiver, and no message is needed to
 *     say so.
 *  3. A rank that finds the barrier over may begin the next exchange while another one still tests it.
 *     Exchanges alternate between two tags, so that parcels of the next are not taken here. Two are enough: the
 *     exchange after the next begins only when all ranks have entered the next barrier.
 *  4. A rank without memory goes on with one parcel each way and fails at the next agreement: the others wait
 *     for what it sends. */
#include <assert.h>

#include "base/clock.h"
#include "base/memory.h"
#include "comm/mpi_internal.h"

/* Each way. With one at a time, a rank that shares its core with others would take only one in each time slice. */
#define PARCEL_COUNT 8

/* For a rank that has no memory (4). */
static unsigned char spare_parcels[2][PP_PARCEL_BYTES];

/* A parcel on its way. */
typedef struct shipment {
    unsigned char *parcel;
    MPI_Request request; /* MPI_REQUEST_NULL: free */
} shipment;

typedef struct state {
    pp_comm *comm;
    MPI_Comm mpi_comm;
    const pp_exchange *exchange;
    bool is_filling; /* next may have more */
    shipment outgoing[PARCEL_COUNT], incoming[PARCEL_COUNT];
    int parcel_count; /* of each that have memory */
    int first_incoming,
        incoming_count; /* those that are being received, around; handed over in the order of arrival */
    MPI_Request barrier;
    bool has_entered; /* the barrier */
    bool is_over;
    int tag;
    int error; /* of MPI */
} state;

static void note_error(state *now, int error)
{
    if (now->error == MPI_SUCCESS)
        now->error = error;
}

/* Tests a request; true: there is none, or it has just ended. */
static bool is_free(state *now, MPI_Request *request, MPI_Status *status)
{
    int is_done = 0;
    if (*request == MPI_REQUEST_NULL)
        return true;
    note_error(now, MPI_Test(request, &is_done, status));
    return is_done != 0;
}

static void send_next(state *now, shipment *to_fill)
{
    int rank = -1;
    size_t bytes = 0;
    now->is_filling = now->exchange->next(now->exchange->context, &rank, to_fill->parcel, &bytes);
    if (!now->is_filling)
        return;
    assert(rank >= 0 && rank < now->comm->size && bytes <= PP_PARCEL_BYTES);
    if (rank == now->comm->rank)
        now->exchange->receive(now->exchange->context, rank, to_fill->parcel, bytes);
    else
        note_error(
            now, MPI_Issend(to_fill->parcel, (int)bytes, MPI_BYTE, rank, now->tag, now->mpi_comm, &to_fill->request));
}

/* Returns whether anything moved, as the functions below do. */
static bool move_outgoing(state *now, bool *is_empty)
{
    bool has_moved = false;
    int i;
    *is_empty = true;
    for (i = 0; i < now->parcel_count; i++) {
        shipment *each = &now->outgoing[i];
        bool was_free = each->request == MPI_REQUEST_NULL;
        if (!is_free(now, &each->request, MPI_STATUS_IGNORE)) {
            *is_empty = false;
            continue;
        }
        has_moved |= !was_free;
        if (now->is_filling) {
            send_next(now, each);
            *is_empty = false;
            has_moved = true;
        }
    }
    return has_moved;
}

static bool finish_first(state *now)
{
    shipment *first = &now->incoming[now->first_incoming];
    MPI_Status status;
    int bytes = 0;
    if (now->incoming_count == 0 || !is_free(now, &first->request, &status) || now->error != MPI_SUCCESS)
        return false;
    note_error(now, MPI_Get_count(&status, MPI_BYTE, &bytes));
    now->first_incoming = (now->first_incoming + 1) % now->parcel_count;
    now->incoming_count--;
    now->exchange->receive(now->exchange->context, status.MPI_SOURCE, first->parcel, (size_t)bytes);
    return true;
}

static bool begin_next(state *now)
{
    shipment *next = &now->incoming[(now->first_incoming + now->incoming_count) % now->parcel_count];
    MPI_Message message = MPI_MESSAGE_NULL;
    int is_there = 0;
    if (now->incoming_count == now->parcel_count)
        return false;
    note_error(now, MPI_Improbe(MPI_ANY_SOURCE, now->tag, now->mpi_comm, &is_there, &message, MPI_STATUS_IGNORE));
    if (!is_there || now->error != MPI_SUCCESS)
        return false;
    note_error(now, MPI_Imrecv(next->parcel, (int)PP_PARCEL_BYTES, MPI_BYTE, &message, &next->request));
    now->incoming_count++;
    return true;
}

static bool repeat(bool (*step)(state *), state *now)
{
    bool has_moved = false;
    while (step(now))
        has_moved = true;
    return has_moved;
}

/* When the barrier is over, this rank still finishes what it has begun to take. */
static bool move_barrier(state *now, bool has_sent_all)
{
    if (!now->has_entered && has_sent_all) {
        note_error(now, MPI_Ibarrier(now->mpi_comm, &now->barrier));
        now->has_entered = true;
        return true;
    }
    if (now->has_entered && is_free(now, &now->barrier, MPI_STATUS_IGNORE))
        now->is_over = now->incoming_count == 0;
    return now->is_over;
}

static bool move(state *now)
{
    bool is_empty, has_moved = move_outgoing(now, &is_empty);
    has_moved |= repeat(finish_first, now);
    /* Not after the end: the next parcel would belong to what another rank does next. */
    if (!now->has_entered || now->barrier != MPI_REQUEST_NULL)
        has_moved |= repeat(begin_next, now);
    return move_barrier(now, is_empty && !now->is_filling) || has_moved;
}

static parapet_status refuse_late(const pp_comm *comm)
{
    return pp_fail(PARAPET_ERR_TIMEOUT, "%s: no message from another rank for %g s (deadline_seconds)",
                   comm->call.words, comm->deadline_seconds);
}

static parapet_status run(state *now)
{
    pp_comm *comm = now->comm;
    pp_wait wait = {0};
    double moved_at = pp_clock_seconds();
    while (!now->is_over && now->error == MPI_SUCCESS) {
        if (move(now)) {
            pp_wait_reset(&wait);
            moved_at = pp_clock_seconds();
        } else if (pp_comm_is_overdue(comm, moved_at)) {
            comm->is_late = true;
            return refuse_late(comm);
        } else {
            pp_wait_briefly(&wait);
        }
    }
    if (now->error == MPI_SUCCESS)
        return PARAPET_OK;
    comm->is_lost = true;
    return pp_fail(PARAPET_ERR_MPI, "%s: MPI failed with error %d while the ranks exchanged what each of them needs",
                   comm->call.words, now->error);
}

static void set_buffers(state *now, unsigned char *memory)
{
    int i;
    now->parcel_count = memory != NULL ? PARCEL_COUNT : 1;
    now->incoming[0] = (shipment){spare_parcels[0], MPI_REQUEST_NULL};
    now->outgoing[0] = (shipment){spare_parcels[1], MPI_REQUEST_NULL};
    for (i = 0; memory != NULL && i < PARCEL_COUNT; i++) {
        now->incoming[i] = (shipment){memory + (size_t)(2 * i) * PP_PARCEL_BYTES, MPI_REQUEST_NULL};
        now->outgoing[i] = (shipment){memory + (size_t)(2 * i + 1) * PP_PARCEL_BYTES, MPI_REQUEST_NULL};
    }
}

typedef struct stranded_parcels {
    pp_stranded head;
    unsigned char *memory;
} stranded_parcels;

/* MPI may still read and write them. */
static void strand_parcels(pp_comm *comm, unsigned char *memory)
{
    stranded_parcels *parcels;
    if (memory == NULL || pp_allocate(&parcels, sizeof *parcels) != PARAPET_OK)
        return;
    parcels->memory = memory;
    pp_comm_strand(comm, &parcels->head);
}

parapet_status pp_mpi_exchange(pp_comm *comm, const pp_exchange *exchange)
{
    state now = {.comm = comm,
                 .mpi_comm = pp_mpi_comm_of(comm),
                 .exchange = exchange,
                 .is_filling = true,
                 .barrier = MPI_REQUEST_NULL};
    unsigned char *memory = NULL;
    parapet_status moved, status;
    /* The next exchange of a rank that already knows that this one is over has the other tag (3). */
    now.tag = PP_TAG_EXCHANGE + (int)(((pp_mpi_comm *)comm)->exchanges++ % 2);
    if (comm->is_late) /* the rank that is missing would be waited for once more */
        return refuse_late(comm);
    status = pp_allocate_pages(&memory, (size_t)2 * PARCEL_COUNT * PP_PARCEL_BYTES);
    set_buffers(&now, memory);
    moved = run(&now);
    if (moved == PARAPET_OK)
        pp_free(memory);
    else
        strand_parcels(comm, memory);
    return moved != PARAPET_OK ? moved : status;
}
