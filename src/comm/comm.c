#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comm/internal.h"

static bool is_mpi_running(void)
{
    int is_initialized = 0, is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    return is_initialized && !is_finalized;
}

static void wait_for(MPI_Request *request)
{
    pp_wait wait = {0};
    int is_done = 0;
    while (MPI_Test(request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        pp_wait_briefly(&wait);
}

bool pp_comm_wait(pp_comm *comm, MPI_Request *request)
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
    if (error != MPI_SUCCESS && comm->wire != NULL)
        comm->wire->has_failed = true;
    return true;
}

static uint64_t make_nonce(const pp_comm *comm)
{
    struct timespec now;
    uint64_t nonce;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    nonce = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30) ^ (uint64_t)(uintptr_t)comm ^
            ((uint64_t)comm->rank << 48);
    nonce = (nonce ^ (nonce >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    return nonce ^ (nonce >> 29);
}

static parapet_status build_parts(pp_comm **comm, MPI_Comm duplicate)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    parapet_status status = pp_allocate(comm, sizeof **comm);
    if (status != PARAPET_OK)
        return status;
    (*comm)->mpi_comm = duplicate;
    MPI_Comm_rank(duplicate, &(*comm)->rank);
    MPI_Comm_size(duplicate, &(*comm)->size);
    MPI_Get_processor_name(host, &length);
    (void)snprintf((*comm)->host, sizeof(*comm)->host, "%.63s", host);
    (*comm)->nonce = make_nonce(*comm);
    (*comm)->node = pp_comm_digest_node(*comm);
    if ((*comm)->size == 1)
        return PARAPET_OK;
    if ((status = pp_mpi_wire_build(&(*comm)->wire, duplicate)) == PARAPET_OK)
        pp_station_init(&(*comm)->station, (*comm)->wire);
    return status;
}

static void free_parts(pp_comm *comm)
{
    if (comm == NULL)
        return;
    pp_mpi_wire_free(comm->wire);
    pp_station_clear(&comm->station);
    pp_free(comm);
}

static parapet_status build_alone(pp_comm **comm)
{
    parapet_status status = pp_allocate(comm, sizeof **comm);
    if (status != PARAPET_OK)
        return status;
    (*comm)->mpi_comm = MPI_COMM_NULL;
    (*comm)->size = 1;
    (void)snprintf((*comm)->host, sizeof(*comm)->host, "this host");
    return PARAPET_OK;
}

/* Before there is anything to agree with: the lowest rank that failed, or how many ranks there are. */
static int find_failed(MPI_Comm duplicate, bool has_failed)
{
    MPI_Request request;
    int rank, size, mine, least = 0;
    MPI_Comm_rank(duplicate, &rank);
    MPI_Comm_size(duplicate, &size);
    mine = has_failed ? rank : size;
    if (MPI_Iallreduce(&mine, &least, 1, MPI_INT, MPI_MIN, duplicate, &request) == MPI_SUCCESS)
        wait_for(&request);
    return least;
}

/* The same sentence on every rank, with the name of the host of the rank that failed. */
static parapet_status refuse_build(MPI_Comm duplicate, int failed)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Request request;
    int length = 0;
    MPI_Get_processor_name(host, &length);
    if (MPI_Ibcast(host, (int)sizeof host, MPI_CHAR, failed, duplicate, &request) == MPI_SUCCESS)
        wait_for(&request);
    return pp_fail(PARAPET_ERR_MEMORY, "rank %d on %s: the machine has no memory left for the communicator", failed,
                   host);
}

parapet_status pp_comm_build(pp_comm **comm, MPI_Comm mpi_comm)
{
    MPI_Comm duplicate;
    MPI_Request request;
    int size, failed;
    parapet_status status;
    *comm = NULL;
    if (mpi_comm == MPI_COMM_NULL)
        return build_alone(comm);
    if (!is_mpi_running())
        return pp_fail(PARAPET_ERR_MPI, "the communicator cannot be used: MPI is not initialised, or is finalised");
    if (MPI_Comm_idup(mpi_comm, &duplicate, &request) != MPI_SUCCESS)
        return pp_fail(PARAPET_ERR_MPI, "MPI cannot duplicate the communicator");
    wait_for(&request);
    MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN);
    status = build_parts(comm, duplicate);
    MPI_Comm_size(duplicate, &size);
    if ((failed = find_failed(duplicate, status != PARAPET_OK)) == size)
        return PARAPET_OK;
    free_parts(*comm);
    *comm = NULL;
    status = refuse_build(duplicate, failed);
    MPI_Comm_free(&duplicate);
    return status;
}

/* Everything of ours that is still on its way has been received: what is left is to let MPI know. */
static void leave(pp_comm *comm)
{
    pp_wait wait = {0};
    int i, tries;
    for (tries = 0; tries < 1000; tries++) {
        bool is_quiet = true;
        for (i = 0; i <= PP_TREE_WIDTH; i++)
            is_quiet = comm->wire->ops->is_over(comm->wire, &comm->station.neighbours[i].verdict.request) &&
                       comm->wire->ops->is_over(comm->wire, &comm->station.neighbours[i].abort.request) && is_quiet;
        if (is_quiet)
            return;
        pp_wait_briefly(&wait);
    }
}

void pp_comm_free(pp_comm *comm)
{
    bool is_running = is_mpi_running();
    MPI_Comm duplicate;
    if (comm == NULL)
        return;
    duplicate = comm->mpi_comm;
    if (!is_running)
        comm->wire = NULL; /* its receives went with MPI */
    if (comm->is_lost && comm->wire != NULL) {
        /* What this rank has sent may still be on its way: its memory, and the duplicate, stay. */
        pp_mpi_wire_free(comm->wire);
        pp_station_clear(&comm->station);
        return;
    }
    if (comm->wire != NULL)
        leave(comm);
    free_parts(comm);
    if (duplicate != MPI_COMM_NULL && is_running)
        MPI_Comm_free(&duplicate);
}

int pp_comm_rank(const pp_comm *comm)
{
    return comm->rank;
}

int pp_comm_size(const pp_comm *comm)
{
    return comm->size;
}

pp_station *pp_comm_station(pp_comm *comm)
{
    return &comm->station;
}

void pp_comm_set_deadline(pp_comm *comm, double seconds)
{
    comm->deadline_seconds = seconds;
}

bool pp_comm_is_lost(const pp_comm *comm)
{
    return comm->is_lost;
}

bool pp_comm_is_overdue(const pp_comm *comm, double since)
{
    return comm->deadline_seconds > 0 && pp_clock_seconds() - since > comm->deadline_seconds;
}

parapet_status pp_comm_lose(pp_comm *comm, int rank, const char *phase)
{
    comm->is_lost = true;
    return pp_fail(PARAPET_ERR_TIMEOUT, "rank %d did not answer while %s (%s) within %g s (deadline_seconds)", rank,
                   phase, comm->call.words, comm->deadline_seconds);
}

/* What this rank says in an agreement. */
static pp_verdict make_verdict(const pp_comm *comm, const char *phase, parapet_status mine, int64_t least)
{
    pp_call call = comm->call;
    parapet_status said = mine == PARAPET_OK && comm->wire->has_failed
                              ? pp_fail(PARAPET_ERR_MPI, "MPI reported an error, or a message of the wrong length")
                              : mine;
    pp_verdict verdict = {.least = least, .failed_rank = -1, .differing_rank = -1, .call_rank = comm->rank};
    pp_call_add_text(&call, phase);
    verdict.digest = call.digest;
    if (phase != NULL)
        (void)snprintf(verdict.call, sizeof verdict.call, "%.70s (%.20s)", call.words, phase);
    else
        (void)snprintf(verdict.call, sizeof verdict.call, "%s", call.words);
    if (said != PARAPET_OK) {
        verdict.failed_rank = said == PARAPET_ERR_TIMEOUT ? PP_RANK_UNKNOWN : comm->rank;
        verdict.status = (int32_t)said;
        (void)snprintf(verdict.sentence, sizeof verdict.sentence, "rank %d on %s: %.900s", comm->rank, comm->host,
                       pp_failure_message());
    }
    return verdict;
}

static void join(pp_comm *comm, const char *phase, parapet_status mine, int64_t least)
{
    pp_verdict verdict = make_verdict(comm, phase, mine, least);
    pp_station_join(&comm->station, &verdict);
    comm->joined_at = pp_clock_seconds();
}

static parapet_status status_of(pp_comm *comm)
{
    const pp_verdict *verdict = &comm->station.verdict;
    /* A rank that refuses its own arguments may have been unable to tell which they are. */
    bool explains = verdict->failed_rank >= 0 && strcmp(verdict->call, verdict->differing_call) == 0;
    if (verdict->failed_rank >= 0 && verdict->status == PARAPET_ERR_TIMEOUT)
        comm->is_lost = true;
    if (verdict->differing_rank >= 0 && !explains)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "rank %d called %s, rank %d called %s: all ranks must make the same call "
                       "with the same arguments",
                       verdict->differing_rank, verdict->differing_call, verdict->call_rank, verdict->call);
    if (verdict->failed_rank >= 0)
        return pp_fail((parapet_status)verdict->status, "%s", verdict->sentence);
    return PARAPET_OK;
}

/* Ranks further down give up first, so that what they know reaches everybody; the one above is given the longest. */
static void check_deadline(pp_comm *comm)
{
    double waited = pp_clock_seconds() - comm->joined_at, allowed = comm->deadline_seconds;
    const pp_station *station = &comm->station;
    int whom = pp_station_waits_for(station);
    char sentence[PP_MESSAGE_BYTES];
    if (allowed <= 0 || whom < 0)
        return;
    allowed *= whom > comm->rank ? 1 + 0.2 * (pp_station_height(station, comm->rank) - 1)
                                 : 1.6 + 0.2 * pp_station_height(station, 0);
    if (waited <= allowed)
        return;
    (void)snprintf(sentence, sizeof sentence, "rank %d did not arrive at %s within %g s (deadline_seconds)", whom,
                   comm->station.verdict.call, comm->deadline_seconds);
    pp_station_give_up(&comm->station, PARAPET_ERR_TIMEOUT, sentence);
}

static parapet_status refuse_lost(void)
{
    return pp_fail(PARAPET_ERR_TIMEOUT,
                   "a deadline has passed, and the ranks of this store are not together any more; close it");
}

void pp_comm_join(pp_comm *comm, const char *phase, parapet_status mine)
{
    if (comm->size > 1 && !comm->is_lost)
        join(comm, phase, mine, 0);
    else
        comm->station.verdict.status = (int32_t)mine;
}

bool pp_comm_is_agreed(pp_comm *comm, parapet_status *status)
{
    if (comm->size == 1 || comm->is_lost) {
        *status = comm->is_lost ? refuse_lost() : (parapet_status)comm->station.verdict.status;
        return true;
    }
    (void)pp_station_progress(&comm->station);
    if (!pp_station_is_agreed(&comm->station)) {
        check_deadline(comm);
        return false;
    }
    *status = status_of(comm);
    return true;
}

static parapet_status agree(pp_comm *comm, const char *phase, parapet_status mine, int64_t *least)
{
    pp_wait wait = {0};
    parapet_status status;
    if (comm->size == 1)
        return mine;
    if (comm->is_lost)
        return refuse_lost();
    join(comm, phase, mine, least != NULL ? *least : 0);
    while (!pp_comm_is_agreed(comm, &status))
        pp_wait_briefly(&wait);
    if (least != NULL)
        *least = comm->station.verdict.least;
    return status;
}

parapet_status pp_comm_begin(pp_comm *comm, const pp_call *call, parapet_status mine)
{
    comm->call = *call;
    comm->is_late = false;
    return agree(comm, NULL, mine, NULL);
}

parapet_status pp_comm_agree(pp_comm *comm, const char *phase, parapet_status mine)
{
    return agree(comm, phase, mine, NULL);
}

parapet_status pp_comm_agree_least(pp_comm *comm, const char *phase, parapet_status mine, int64_t *value)
{
    return agree(comm, phase, mine, value);
}

void pp_comm_abort(pp_comm *comm)
{
    if (comm->size > 1)
        pp_station_abort(&comm->station);
}

bool pp_comm_is_aborted(pp_comm *comm)
{
    if (comm->size == 1)
        return false;
    (void)pp_station_progress(&comm->station);
    return pp_station_is_aborted(&comm->station);
}

/* The values pass through a buffer of the communicator: if a deadline passes, MPI may still use it. */
parapet_status pp_comm_agree_sums(pp_comm *comm, const char *phase, parapet_status mine, int64_t *values, int count)
{
    size_t bytes = (size_t)count * sizeof values[0];
    MPI_Request request;
    parapet_status status = agree(comm, phase, mine, NULL);
    if (status != PARAPET_OK || comm->size == 1)
        return status;
    memcpy(comm->sums, values, bytes);
    if (MPI_Iallreduce(MPI_IN_PLACE, comm->sums, count, MPI_INT64_T, MPI_SUM, comm->mpi_comm, &request) !=
        MPI_SUCCESS)
        comm->wire->has_failed = true;
    else
        (void)pp_comm_wait(comm, &request);
    memcpy(values, comm->sums, bytes);
    return agree(comm, phase,
                 comm->wire->has_failed ? pp_fail(PARAPET_ERR_MPI, "MPI failed to add up numbers") : PARAPET_OK,
                 NULL);
}

/* A rank without memory takes part all the same, and lets the bytes go. They pass through a buffer of the
 * communicator: if a deadline passes, MPI may still use it. */
static bool spread(pp_comm *comm, unsigned char *data, size_t bytes)
{
    MPI_Request request;
    size_t done;
    for (done = 0; done < bytes; done += PP_SHARE_BYTES) {
        size_t piece = bytes - done < PP_SHARE_BYTES ? bytes - done : PP_SHARE_BYTES;
        if (comm->rank == 0)
            memcpy(comm->shared, data + done, piece);
        if (MPI_Ibcast(comm->shared, (int)piece, MPI_BYTE, 0, comm->mpi_comm, &request) != MPI_SUCCESS)
            comm->wire->has_failed = true;
        else if (!pp_comm_wait(comm, &request))
            return false;
        if (comm->rank != 0 && data != NULL)
            memcpy(data + done, comm->shared, piece);
    }
    return true;
}

parapet_status pp_comm_share(pp_comm *comm, const char *phase, parapet_status mine, void **data, size_t *bytes)
{
    int64_t shared = comm->rank == 0 && mine == PARAPET_OK ? (int64_t)*bytes : INT64_MAX;
    parapet_status status;
    if (comm->size == 1)
        return mine;
    if (comm->rank != 0) {
        *data = NULL;
        *bytes = 0;
    }
    if ((status = agree(comm, phase, mine, &shared)) != PARAPET_OK)
        return status;
    if (comm->rank != 0) {
        *bytes = (size_t)shared;
        status = pp_allocate(data, *bytes);
    }
    if (!spread(comm, *data, *bytes)) {
        if (comm->rank != 0) {
            pp_free(*data);
            *data = NULL;
        }
        return refuse_lost();
    }
    if ((status = agree(comm, phase, status, NULL)) != PARAPET_OK && comm->rank != 0) {
        pp_free(*data);
        *data = NULL;
    }
    return status;
}

/* A program that has not started MPI may do as it likes. */
static bool has_thread_level(int least)
{
    int provided = MPI_THREAD_SINGLE;
    return !is_mpi_running() || (MPI_Query_thread(&provided) == MPI_SUCCESS && provided >= least);
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
