#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "comm/flavour.h"
#include "comm/mpi_internal.h"

bool pp_mpi_is_running(void)
{
    int is_initialized = 0, is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    return is_initialized && !is_finalized;
}

bool pp_mpi_wait(pp_comm *comm, MPI_Request *request)
{
    double start = pp_clock_seconds();
    pp_wait wait = {0};
    int is_done = 0, error;
    while ((error = MPI_Test(request, &is_done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !is_done) {
        if (comm->deadline_seconds > 0 && pp_clock_seconds() - start > 2 * comm->deadline_seconds) {
            comm->is_lost = true;
            return false;
        }
        pp_wait_briefly(&wait);
    }
    if (error != MPI_SUCCESS)
        comm->wire->has_failed = true;
    return true;
}

static bool spread(pp_comm *comm, size_t bytes)
{
    MPI_Request request;
    if (MPI_Ibcast(comm->shared, (int)bytes, MPI_BYTE, 0, pp_mpi_comm_of(comm), &request) == MPI_SUCCESS)
        return pp_mpi_wait(comm, &request);
    comm->wire->has_failed = true;
    return true;
}

static void add_up(pp_comm *comm, int count)
{
    MPI_Request request;
    if (MPI_Iallreduce(MPI_IN_PLACE, comm->sums, count, MPI_INT64_T, MPI_SUM, pp_mpi_comm_of(comm), &request) ==
        MPI_SUCCESS)
        (void)pp_mpi_wait(comm, &request);
    else
        comm->wire->has_failed = true;
}

static parapet_status gather(pp_comm *comm, uint64_t *numbers)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers, 1, MPI_UINT64_T, pp_mpi_comm_of(comm),
                       &request) != MPI_SUCCESS)
        return pp_fail(PARAPET_ERR_MPI, "MPI cannot gather a number of each rank");
    return pp_mpi_wait(comm, &request) ? PARAPET_OK : PARAPET_ERR_TIMEOUT;
}

static bool is_single(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    return size == 1 && parent == MPI_COMM_NULL;
}

/* Everything of ours that is still on its way has been received: what is left is to let MPI know. */
static void leave(pp_comm *comm)
{
    pp_wait wait = {0};
    int i, tries;
    for (tries = 0; tries < 1000; tries++) {
        bool is_quiet = true;
        for (i = 0; i <= PP_TREE_WIDTH; i++)
            is_quiet = comm->wire->ops->is_over(comm->wire, &comm->endpoint.neighbours[i].verdict.request) &&
                       comm->wire->ops->is_over(comm->wire, &comm->endpoint.neighbours[i].abort.request) && is_quiet;
        if (is_quiet)
            return;
        pp_wait_briefly(&wait);
    }
}

static void free_parts(pp_comm *comm)
{
    if (comm == NULL)
        return;
    pp_mpi_wire_free(comm->wire);
    pp_endpoint_clear(&comm->endpoint);
    pp_free(comm);
}

/* The last one whose memory stays, and by it all others. */
static _Atomic(pp_mpi_comm *) newest_lost;

/* What this rank has sent may still be on its way: its memory, and the duplicate, stay. */
static void keep_lost(pp_comm *comm)
{
    pp_mpi_comm *self = (pp_mpi_comm *)comm;
    pp_mpi_wire_free(comm->wire);
    pp_endpoint_clear(&comm->endpoint);
    self->lost_before = atomic_exchange(&newest_lost, self);
}

static void free_over_mpi(pp_comm *comm)
{
    bool is_running = pp_mpi_is_running();
    MPI_Comm duplicate = pp_mpi_comm_of(comm);
    if (!is_running) {
        pp_free(comm->wire); /* its receives went with MPI */
        comm->wire = NULL;
    }
    if (comm->is_lost && comm->wire != NULL) {
        keep_lost(comm);
        return;
    }
    if (comm->wire != NULL)
        leave(comm);
    free_parts(comm);
    if (is_running)
        MPI_Comm_free(&duplicate);
}

static const pp_comm_ops mpi_ops = {
    .spread = spread,
    .add_up = add_up,
    .gather = gather,
    .exchange = pp_mpi_exchange,
    .is_running = pp_mpi_is_running,
    .is_single = is_single,
    .free = free_over_mpi,
};

static uint64_t make_nonce(const pp_comm *comm)
{
    uint64_t nonce = (uint64_t)pp_clock_wall_ns() ^ (uint64_t)(uintptr_t)comm ^ ((uint64_t)comm->rank << 48);
    nonce = (nonce ^ (nonce >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    return nonce ^ (nonce >> 29);
}

static parapet_status build_parts(pp_comm **made, MPI_Comm duplicate)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    pp_mpi_comm *self;
    pp_comm *comm;
    parapet_status status = pp_allocate(&self, sizeof *self);
    if (status != PARAPET_OK)
        return status;
    self->mpi_comm = duplicate;
    *made = comm = &self->base;
    comm->ops = &mpi_ops;
    pp_call_turns_init(&comm->turns);
    comm->has_any_thread = pp_comm_allows_any_thread();
    MPI_Comm_rank(duplicate, &comm->rank);
    MPI_Comm_size(duplicate, &comm->size);
    MPI_Get_processor_name(host, &length);
    (void)snprintf(comm->host, sizeof comm->host, "%.63s", host);
    comm->nonce = make_nonce(comm);
    comm->node = pp_comm_digest_node(comm);
    if (comm->size == 1)
        return PARAPET_OK;
    if ((status = pp_mpi_wire_build(&comm->wire, duplicate)) == PARAPET_OK)
        pp_endpoint_init(&comm->endpoint, comm->wire);
    return status;
}

/* What MPI writes to while a communicator is made. When a deadline passes, or MPI fails, it may do so later: the
 * place then stays taken. Not from the allocator, so that no rank is missing because it has no memory. */
typedef struct making {
    atomic_bool is_taken;
    MPI_Comm duplicate;
    int mine, least;
    char host[MPI_MAX_PROCESSOR_NAME];
} making;

static making *take_making(void)
{
    static making places[16];
    size_t i;
    for (i = 0; i < sizeof places / sizeof places[0]; i++)
        if (!atomic_exchange(&places[i].is_taken, true))
            return &places[i];
    return NULL;
}

static parapet_status refuse_late(double deadline_seconds)
{
    return pp_fail(PARAPET_ERR_TIMEOUT,
                   "not every rank of the communicator arrived within %g s (deadline_seconds): one of them hangs, or "
                   "did not make this call",
                   deadline_seconds);
}

static parapet_status refuse_mpi(int error)
{
    return pp_fail(PARAPET_ERR_MPI, "MPI failed with error %d while it duplicated the communicator", error);
}

/* For that many deadlines; a deadline of 0 never passes. */
static parapet_status wait_for(MPI_Request *request, double deadline_seconds, int deadlines)
{
    double start = pp_clock_seconds();
    pp_wait wait = {0};
    int is_done = 0, error;
    while ((error = MPI_Test(request, &is_done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !is_done) {
        if (deadline_seconds > 0 && pp_clock_seconds() - start > deadlines * deadline_seconds)
            return refuse_late(deadline_seconds);
        pp_wait_briefly(&wait);
    }
    return error == MPI_SUCCESS ? PARAPET_OK : refuse_mpi(error);
}

/* Before there is anything to agree with: least becomes the lowest rank that failed, or how many ranks there are. */
static parapet_status find_failed(making *place, bool has_failed, double deadline_seconds)
{
    MPI_Request request;
    int rank, size, error;
    MPI_Comm_rank(place->duplicate, &rank);
    MPI_Comm_size(place->duplicate, &size);
    place->mine = has_failed ? rank : size;
    error = MPI_Iallreduce(&place->mine, &place->least, 1, MPI_INT, MPI_MIN, place->duplicate, &request);
    return error == MPI_SUCCESS ? wait_for(&request, deadline_seconds, 2) : refuse_mpi(error);
}

/* The same sentence on every rank, with the name of the host of the rank that failed. */
static parapet_status refuse_build(making *place, double deadline_seconds)
{
    MPI_Request request;
    int length = 0, error;
    parapet_status status;
    MPI_Get_processor_name(place->host, &length);
    error = MPI_Ibcast(place->host, (int)sizeof place->host, MPI_CHAR, place->least, place->duplicate, &request);
    status = error == MPI_SUCCESS ? wait_for(&request, deadline_seconds, 2) : refuse_mpi(error);
    if (status != PARAPET_OK)
        return status;
    return pp_fail(PARAPET_ERR_MEMORY, "rank %d on %s: the machine has no memory left for the communicator",
                   place->least, place->host);
}

static parapet_status duplicate(making *place, MPI_Comm mpi_comm, double deadline_seconds)
{
    MPI_Request request;
    int error = MPI_Comm_idup(mpi_comm, &place->duplicate, &request);
    parapet_status status = error == MPI_SUCCESS ? wait_for(&request, deadline_seconds, 1) : refuse_mpi(error);
    if (status == PARAPET_OK)
        MPI_Comm_set_errhandler(place->duplicate, MPI_ERRORS_RETURN);
    return status;
}

/* Whoever came late has given up by then: others are given twice as long to say so. Only when every rank knows that
 * one has no memory do all of them give the duplicate back. */
static parapet_status build_over(making *place, pp_comm **comm, double deadline_seconds)
{
    int size;
    parapet_status built = build_parts(comm, place->duplicate),
                   status = find_failed(place, built != PARAPET_OK, deadline_seconds);
    MPI_Comm_size(place->duplicate, &size);
    if (status == PARAPET_OK && place->least == size)
        return PARAPET_OK;
    if (status == PARAPET_OK)
        status = refuse_build(place, deadline_seconds);
    free_parts(*comm);
    *comm = NULL;
    if (status == PARAPET_ERR_MEMORY)
        MPI_Comm_free(&place->duplicate);
    return status;
}

static parapet_status check_communicator(MPI_Comm mpi_comm)
{
    int is_inter = 0;
    if (!pp_mpi_is_running())
        return pp_fail(PARAPET_ERR_MPI, "the communicator cannot be used: MPI is not initialised, or is finalised");
    MPI_Comm_test_inter(mpi_comm, &is_inter);
    if (is_inter)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the communicator is an intercommunicator, which connects two groups of ranks, but a store "
                       "needs a single group; MPI_Intercomm_merge makes one of them");
    return PARAPET_OK;
}

parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm, double deadline_seconds)
{
    making *place;
    parapet_status status;
    *comm = NULL;
    if (mpi_comm == MPI_COMM_NULL)
        return pp_comm_build_alone(comm);
    if ((status = check_communicator(mpi_comm)) != PARAPET_OK)
        return status;
    if ((place = take_making()) == NULL)
        return pp_fail(
            PARAPET_ERR_TIMEOUT,
            "deadlines have passed, or MPI has failed, too often while stores were opened in this process; "
            "restart it");
    if ((status = duplicate(place, mpi_comm, deadline_seconds)) == PARAPET_OK)
        status = build_over(place, comm, deadline_seconds);
    if (status == PARAPET_OK || status == PARAPET_ERR_MEMORY)
        atomic_store(&place->is_taken, false);
    return status;
}

const char *pp_comm_flavour(void)
{
    return PARAPET_FLAVOUR;
}

/* A program that has not started MPI may do as it likes. */
static bool has_thread_level(int least)
{
    int provided = MPI_THREAD_SINGLE;
    return !pp_mpi_is_running() || (MPI_Query_thread(&provided) == MPI_SUCCESS && provided >= least);
}

bool pp_comm_allows_threads(void)
{
    return has_thread_level(MPI_THREAD_FUNNELED);
}

bool pp_comm_allows_any_thread(void)
{
    return has_thread_level(MPI_THREAD_MULTIPLE);
}

void pp_comm_print_library(pp_text *text)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int i, length = 0;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS)
        return;
    version[strcspn(version, "\n")] = '\0';
    for (i = 0; version[i] != '\0'; i++)
        if (version[i] == '\t')
            version[i] = ' ';
    pp_text_add(text, "%s", version);
}
