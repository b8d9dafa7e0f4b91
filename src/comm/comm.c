#include "comm/comm.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "comm/internal.h"

parapet_status pp_comm_build_alone(pp_comm **comm)
{
    parapet_status status = pp_allocate(comm, sizeof **comm);
    if (status != PARAPET_OK)
        return status;
    (*comm)->size = 1;
    pp_call_turns_init(&(*comm)->turns);
    (void)snprintf((*comm)->host, sizeof(*comm)->host, "this host");
    return PARAPET_OK;
}

void pp_comm_free(pp_comm *comm)
{
    if (comm == NULL)
        return;
    pp_call_turns_clear(&comm->turns);
    pp_free(comm->near);
    if (comm->ops != NULL)
        comm->ops->free(comm);
    else
        pp_free(comm);
}

int pp_comm_rank(const pp_comm *comm)
{
    return comm->rank;
}

int pp_comm_size(const pp_comm *comm)
{
    return comm->size;
}

pp_endpoint *pp_comm_endpoint(pp_comm *comm)
{
    return &comm->endpoint;
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

void pp_comm_strand(pp_comm *comm, pp_stranded *memory)
{
    memory->before = comm->stranded;
    comm->stranded = memory;
}

/* What all ranks learn in an agreement, beside how it went. */
typedef struct news {
    int64_t least;
    uint64_t common;
    int64_t told[2]; /* of this rank, then of rank 0 */
} news;

/* What this rank says in an agreement. */
static pp_verdict make_verdict(const pp_comm *comm, const char *phase, parapet_status mine, const news *told)
{
    pp_call call = comm->call;
    parapet_status said = mine == PARAPET_OK && comm->wire->has_failed
                              ? pp_fail(PARAPET_ERR_MPI, "MPI reported an error, or a message of the wrong length")
                              : mine;
    pp_verdict verdict = {.least = told->least,
                          .common = told->common,
                          .told = {told->told[0], told->told[1]},
                          .failed_rank = -1,
                          .differing_rank = -1,
                          .call_rank = comm->rank,
                          .is_late = comm->is_late || mine == PARAPET_ERR_TIMEOUT,
                          .missing_rank = -1};
    pp_call_add_text(&call, "phase", phase);
    verdict.digest = call.digest;
    if (phase != NULL)
        (void)snprintf(verdict.call, sizeof verdict.call, "%.70s (%.20s)", call.words, phase);
    else
        (void)snprintf(verdict.call, sizeof verdict.call, "%s", call.words);
    if (said != PARAPET_OK) {
        verdict.failed_rank = said == PARAPET_ERR_TIMEOUT ? PP_RANK_UNKNOWN : comm->rank;
        verdict.status = (int32_t)said;
        verdict.enough = said == PARAPET_ERR_MEMORY ? pp_failure_enough_bytes() : 0;
        (void)snprintf(verdict.sentence, sizeof verdict.sentence, "rank %d on %s: %.900s", comm->rank, comm->host,
                       pp_failure_message());
    }
    return verdict;
}

static void join(pp_comm *comm, const char *phase, parapet_status mine, const news *told)
{
    pp_verdict verdict = make_verdict(comm, phase, mine, told);
    pp_endpoint_join(&comm->endpoint, &verdict);
    comm->joined_at = pp_clock_seconds();
}

/* Whoever waits for data gives up first, then ranks further down, so that what they know reaches everybody. The one
 * above is given the longest, and longer still if it may itself be waiting in an exchange that was given up here. */
static double allowed_deadlines(const pp_comm *comm, int whom)
{
    const pp_endpoint *endpoint = &comm->endpoint;
    if (whom > comm->rank)
        return 1 + 0.2 * pp_endpoint_height(endpoint, comm->rank);
    return 1.6 + 0.2 * pp_endpoint_height(endpoint, 0) + (comm->is_late ? 0.5 : 0);
}

static void check_deadline(pp_comm *comm)
{
    double waited = pp_clock_seconds() - comm->joined_at;
    int whom = pp_endpoint_waits_for(&comm->endpoint);
    char sentence[PP_MESSAGE_BYTES];
    if (comm->deadline_seconds <= 0 || whom < 0 || waited <= allowed_deadlines(comm, whom) * comm->deadline_seconds)
        return;
    (void)snprintf(sentence, sizeof sentence, "rank %d did not arrive at %s within %g s (deadline_seconds)", whom,
                   comm->endpoint.verdict.call, comm->deadline_seconds);
    pp_endpoint_give_up(&comm->endpoint, PARAPET_ERR_TIMEOUT, sentence);
}

parapet_status pp_comm_check_together(const pp_comm *comm)
{
    if (!comm->is_lost)
        return PARAPET_OK;
    return comm->ops->is_running()
               ? pp_fail(PARAPET_ERR_TIMEOUT, "a deadline has passed, and the store can only be closed")
               : pp_fail(PARAPET_ERR_MPI, "MPI was finalised while the store was open, and it can only be closed");
}

static parapet_status refuse_finalized(pp_comm *comm)
{
    comm->is_lost = true;
    return pp_fail(PARAPET_ERR_MPI, "%s: MPI was finalised while the store was open; close it before MPI_Finalize",
                   comm->call.words);
}

/* [collective] An agreement in which at most one rank has something to tell; all know it then. */
static const char *tell(pp_comm *comm, const char *sentence)
{
    pp_verdict verdict = {.failed_rank = -1, .differing_rank = -1, .call_rank = comm->rank, .missing_rank = -1};
    pp_wait wait = {0};
    (void)snprintf(verdict.call, sizeof verdict.call, "comparing arguments");
    if (sentence != NULL) {
        verdict.failed_rank = comm->rank;
        verdict.status = PARAPET_ERR_ARGUMENT;
        (void)snprintf(verdict.sentence, sizeof verdict.sentence, "%s", sentence);
    }
    pp_endpoint_join(&comm->endpoint, &verdict);
    comm->joined_at = pp_clock_seconds();
    for (; (void)pp_endpoint_progress(&comm->endpoint), !pp_endpoint_is_agreed(&comm->endpoint);
         pp_wait_briefly(&wait))
        check_deadline(comm);
    comm->is_lost = comm->is_lost || comm->endpoint.verdict.is_late;
    return comm->endpoint.verdict.sentence;
}

/* What the rank that differs has to say when it knows the arguments of the other one. */
static void describe_difference(const pp_comm *comm, const pp_verdict *found, const char *there, char *sentence)
{
    pp_difference difference;
    if (pp_call_find_difference(comm->call.arguments, there, &difference))
        (void)snprintf(sentence, PP_MESSAGE_BYTES,
                       "%s of %s is %s on rank %d and %s on rank %d: all ranks must make the same call "
                       "with the same arguments",
                       difference.name, found->call, difference.here, comm->rank, difference.there, found->call_rank);
    else
        (void)snprintf(sentence, PP_MESSAGE_BYTES,
                       "an argument of %s on rank %d differs from that on rank %d, but there are too many arguments "
                       "to name it: all ranks must make the same call with the same arguments",
                       found->call, comm->rank, found->call_rank);
}

/* [collective] Two ranks made the same call with different arguments: names the argument and both values. Every rank
 * takes part, whatever it called. */
static parapet_status name_argument(pp_comm *comm)
{
    const pp_verdict found = comm->endpoint.verdict;
    char there[PP_MESSAGE_BYTES], sentence[PP_MESSAGE_BYTES];
    const char *own = comm->rank == found.call_rank ? comm->call.arguments : NULL;
    (void)snprintf(there, sizeof there, "%s", tell(comm, own));
    if (!comm->is_lost) {
        if (comm->rank == found.differing_rank)
            describe_difference(comm, &found, there, sentence);
        (void)tell(comm, comm->rank == found.differing_rank ? sentence : NULL);
    }
    return pp_fail((parapet_status)comm->endpoint.verdict.status, "%s", comm->endpoint.verdict.sentence);
}

static parapet_status status_of(pp_comm *comm)
{
    const pp_verdict *verdict = &comm->endpoint.verdict;
    bool is_same_call = strcmp(verdict->call, verdict->differing_call) == 0;
    if (verdict->is_late) /* messages of this call may still come, also where another rank's failure is told */
        comm->is_lost = true;
    /* A rank that refuses its own arguments may have been unable to tell which they are. */
    if (verdict->differing_rank >= 0 && is_same_call && verdict->failed_rank < 0)
        return name_argument(comm);
    if (verdict->differing_rank >= 0 && !is_same_call)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "rank %d called %s, rank %d called %s: all ranks must make the same call "
                       "with the same arguments",
                       verdict->differing_rank, verdict->differing_call, verdict->call_rank, verdict->call);
    if (verdict->failed_rank >= 0)
        return pp_fail((parapet_status)verdict->status, "%s", verdict->sentence);
    return PARAPET_OK;
}

static parapet_status refuse_lost(void)
{
    return pp_fail(PARAPET_ERR_TIMEOUT,
                   "a deadline has passed, and the ranks of this store are no longer in step; close the store");
}

void pp_comm_join(pp_comm *comm, const char *phase, parapet_status mine)
{
    if (comm->size > 1 && !comm->is_lost)
        join(comm, phase, mine, &(news){0});
    else
        comm->endpoint.verdict.status = (int32_t)mine;
}

void pp_comm_join_without(pp_comm *comm, int missing, const char *phase, double since)
{
    parapet_status status =
        pp_fail(PARAPET_ERR_TIMEOUT, "rank %d did not answer in %s (%s) within %g s (deadline_seconds)", missing,
                comm->call.words, phase, comm->deadline_seconds);
    pp_comm_join(comm, phase, status);
    comm->endpoint.verdict.missing_rank = missing;
    comm->endpoint.verdict.missed_by = comm->rank;
    comm->joined_at = since;
}

bool pp_comm_is_agreed(pp_comm *comm, parapet_status *status)
{
    if (comm->size == 1 || comm->is_lost) {
        *status = comm->is_lost ? refuse_lost() : (parapet_status)comm->endpoint.verdict.status;
        return true;
    }
    (void)pp_endpoint_progress(&comm->endpoint);
    if (!pp_endpoint_is_agreed(&comm->endpoint)) {
        check_deadline(comm);
        return false;
    }
    *status = status_of(comm);
    return true;
}

static parapet_status agree(pp_comm *comm, const char *phase, parapet_status mine, news *told)
{
    pp_wait wait = {0};
    parapet_status status;
    if (comm->size == 1)
        return mine;
    if (!comm->ops->is_running())
        return refuse_finalized(comm);
    if (comm->is_lost)
        return refuse_lost();
    join(comm, phase, mine, told);
    while (!pp_comm_is_agreed(comm, &status))
        pp_wait_briefly(&wait);
    told->least = comm->endpoint.verdict.least;
    told->common = comm->endpoint.verdict.common;
    memcpy(told->told, comm->endpoint.verdict.told, sizeof told->told);
    return status;
}

parapet_status pp_comm_begin_with(pp_comm *comm, const pp_call *call, parapet_status mine, int64_t *least,
                                  uint64_t *common)
{
    news told = {.least = *least, .common = *common};
    parapet_status status;
    comm->call = *call;
    comm->is_late = false;
    if (comm->turns.refusal != NULL)
        mine = pp_fail(PARAPET_ERR_ARGUMENT, "%s: %s", call->words, comm->turns.refusal);
    status = agree(comm, NULL, mine, &told);
    *least = told.least;
    *common = told.common;
    return status;
}

parapet_status pp_comm_begin_at_once(pp_comm *comm, const pp_call *call, parapet_status mine)
{
    int64_t least = 0;
    uint64_t common = 0;
    return pp_comm_begin_with(comm, call, mine, &least, &common);
}

parapet_status pp_comm_begin(pp_comm *comm, const pp_call *call, parapet_status mine)
{
    parapet_status status = pp_comm_begin_at_once(comm, call, mine);
    return status == PARAPET_OK && comm->first != NULL ? comm->first(comm->first_context) : status;
}

void pp_comm_set_first(pp_comm *comm, pp_comm_first first, void *context)
{
    comm->first = first;
    comm->first_context = context;
}

bool pp_comm_is_same_call(const pp_comm *comm)
{
    const pp_verdict *verdict = &comm->endpoint.verdict;
    return comm->size == 1 || verdict->differing_rank < 0 || strcmp(verdict->call, verdict->differing_call) == 0;
}

parapet_status pp_comm_agree(pp_comm *comm, const char *phase, parapet_status mine)
{
    news told = {0};
    return agree(comm, phase, mine, &told);
}

parapet_status pp_comm_agree_min(pp_comm *comm, const char *phase, parapet_status mine, int64_t *value)
{
    news told = {.least = *value};
    parapet_status status = agree(comm, phase, mine, &told);
    *value = told.least;
    return status;
}

parapet_status pp_comm_agree_bcast(pp_comm *comm, const char *phase, parapet_status mine, int64_t told[2])
{
    news all = {.told = {told[0], told[1]}};
    parapet_status status = agree(comm, phase, mine, &all);
    if (status == PARAPET_OK)
        memcpy(told, all.told, sizeof all.told);
    return status;
}

void pp_comm_abort(pp_comm *comm)
{
    if (comm->size > 1)
        pp_endpoint_abort(&comm->endpoint);
}

bool pp_comm_is_aborted(pp_comm *comm)
{
    if (comm->size == 1)
        return false;
    (void)pp_endpoint_progress(&comm->endpoint);
    return pp_endpoint_is_aborted(&comm->endpoint);
}

/* The values pass through a buffer of the communicator: if a deadline passes, MPI may still use it. */
static void add_up(pp_comm *comm, int64_t *values, int count)
{
    size_t bytes = (size_t)count * sizeof values[0];
    memcpy(comm->sums, values, bytes);
    comm->ops->add_up(comm, count);
    memcpy(values, comm->sums, bytes);
}

static parapet_status check_sums(const pp_comm *comm)
{
    return comm->wire->has_failed ? pp_fail(PARAPET_ERR_MPI, "MPI failed to add numbers over the ranks") : PARAPET_OK;
}

parapet_status pp_comm_agree_sums(pp_comm *comm, const char *phase, parapet_status mine, int64_t *values, int count)
{
    parapet_status status = pp_comm_agree(comm, phase, mine);
    if (status != PARAPET_OK || comm->size == 1)
        return status;
    add_up(comm, values, count);
    return pp_comm_agree(comm, phase, check_sums(comm));
}

/* Whoever is missing is not waited for once more; the next agreement finds out who it is. */
parapet_status pp_comm_add_up(pp_comm *comm, int64_t *values, int count)
{
    if (comm->size == 1)
        return PARAPET_OK;
    if (!comm->is_late && !comm->is_lost) {
        add_up(comm, values, count);
        if (!comm->is_lost)
            return check_sums(comm);
        comm->is_lost = false;
        comm->is_late = true;
    }
    return pp_fail(PARAPET_ERR_TIMEOUT, "%s: no message from another rank for %g s (deadline_seconds)",
                   comm->call.words, comm->deadline_seconds);
}

/* If a deadline passes, MPI may still write to the buffer: then it stays. */
static parapet_status gather(pp_comm *comm, uint64_t *buffer, int64_t *numbers)
{
    parapet_status status = comm->ops->gather(comm, buffer);
    if (status == PARAPET_ERR_TIMEOUT)
        return pp_fail(status, "%s: no message from another rank for %g s (deadline_seconds)", comm->call.words,
                       comm->deadline_seconds);
    memcpy(numbers, buffer, (size_t)comm->size * sizeof numbers[0]);
    pp_free(buffer);
    return status;
}

parapet_status pp_comm_agree_numbers(pp_comm *comm, const char *phase, parapet_status mine, int64_t own,
                                     int64_t *numbers)
{
    uint64_t *buffer = NULL;
    parapet_status status = mine;
    if (comm->size == 1) {
        numbers[0] = own;
        return mine;
    }
    if (status == PARAPET_OK)
        status = pp_allocate_array(&buffer, (size_t)comm->size, sizeof buffer[0]);
    if ((status = pp_comm_agree(comm, phase, status)) != PARAPET_OK) {
        pp_free(buffer);
        return status;
    }
    buffer[comm->rank] = (uint64_t)own;
    return pp_comm_agree(comm, phase, gather(comm, buffer, numbers));
}

/* A rank without memory takes part all the same, and lets the bytes go. They pass through a buffer of the
 * communicator: if a deadline passes, MPI may still use it. */
static bool spread(pp_comm *comm, unsigned char *data, size_t bytes)
{
    size_t done;
    for (done = 0; done < bytes; done += PP_SHARE_BYTES) {
        size_t piece = bytes - done < PP_SHARE_BYTES ? bytes - done : PP_SHARE_BYTES;
        if (comm->rank == 0)
            memcpy(comm->shared, data + done, piece);
        if (!comm->ops->spread(comm, piece))
            return false;
        if (comm->rank != 0 && data != NULL)
            memcpy(data + done, comm->shared, piece);
    }
    return true;
}

parapet_status pp_comm_share_size(pp_comm *comm, const char *phase, parapet_status mine, size_t *bytes)
{
    int64_t shared = comm->rank == 0 && mine == PARAPET_OK ? (int64_t)*bytes : INT64_MAX;
    parapet_status status = pp_comm_agree_min(comm, phase, mine, &shared);
    if (comm->rank != 0)
        *bytes = status == PARAPET_OK ? (size_t)shared : 0;
    return status;
}

/* What has arrived is not looked at if MPI has failed; the next agreement says that it has. */
parapet_status pp_comm_share_bytes(pp_comm *comm, void **data, size_t bytes)
{
    parapet_status status = PARAPET_OK;
    if (comm->size == 1)
        return status;
    if (comm->rank != 0)
        status = pp_allocate(data, bytes);
    if (!spread(comm, *data, bytes))
        status = refuse_lost();
    else if (status == PARAPET_OK && comm->wire->has_failed)
        status = pp_fail(PARAPET_ERR_MPI, "MPI reported an error while it brought what rank 0 has");
    if (status != PARAPET_OK && comm->rank != 0) {
        pp_free(*data);
        *data = NULL;
    }
    return status;
}

parapet_status pp_comm_share(pp_comm *comm, const char *phase, parapet_status mine, void **data, size_t *bytes)
{
    parapet_status status;
    if (comm->size == 1)
        return mine;
    if (comm->rank != 0)
        *data = NULL;
    if ((status = pp_comm_share_size(comm, phase, mine, bytes)) != PARAPET_OK)
        return status;
    if ((status = pp_comm_agree(comm, phase, pp_comm_share_bytes(comm, data, *bytes))) != PARAPET_OK &&
        comm->rank != 0) {
        pp_free(*data);
        *data = NULL;
    }
    return status;
}
