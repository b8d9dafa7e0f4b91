/* Functions of MPI that fail or do not end, on all ranks at once: whatever the ranks do together then fails on every
 * one of them with a sentence, within the deadline, and gives no values; another communicator works. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "comm/exchange.h"
#include "comm/flavour.h"
#include "comm/launcher.h"
#include "comm/topology.h"
#include "launch.h"
#include "one_clock.h"
#include "watch.h"

#define DEADLINE_SECONDS 1

static launch run;

/* ---- what stands between the library and MPI ---- */

typedef enum mpi_function {
    NONE,
    COMM_IDUP,
    IALLREDUCE,
    IBCAST,
    IALLGATHER,
    IBARRIER,
    ISEND,
    ISSEND,
    IRECV,
    IRECV_ONCE,
    RECEIVE_ONCE,
    IMPROBE,
    IMRECV,
    TEST,
    END_OF_COLLECTIVE, /* MPI_Test of what all ranks do together */
    NO_END_OF_COLLECTIVE,
    QUERY_THREAD,
    LIBRARY_VERSION
} mpi_function;

static mpi_function failing;
static const MPI_Request *collective; /* the last that all ranks have begun together */
static void *kept[16];                /* where MPI may write while that does not end */
static int kept_count;
static int slow_tests;      /* so many tests of sends find that they are not over */
static MPI_Request *victim; /* with RECEIVE_ONCE: the receive of words that will end in an error */

static bool fails(mpi_function function)
{
    return failing == function;
}

static bool fails_once(mpi_function function)
{
    bool is_it = fails(function);
    failing = is_it ? NONE : failing;
    return is_it;
}

static void note_collective(const MPI_Request *request, void *result)
{
    collective = request;
    if (fails(NO_END_OF_COLLECTIVE) && kept_count < (int)(sizeof kept / sizeof kept[0]))
        kept[kept_count++] = result;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    note_collective(request, made);
    return fails(COMM_IDUP) ? MPI_ERR_OTHER : PMPI_Comm_idup(comm, made, request);
}

int MPI_Iallreduce(const void *data, void *result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    note_collective(request, result);
    return fails(IALLREDUCE) ? MPI_ERR_OTHER : PMPI_Iallreduce(data, result, count, type, op, comm, request);
}

int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    note_collective(request, data);
    return fails(IBCAST) ? MPI_ERR_OTHER : PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Iallgather(const void *data, int count, MPI_Datatype type, void *result, int result_count,
                   MPI_Datatype result_type, MPI_Comm comm, MPI_Request *request)
{
    note_collective(request, result);
    return fails(IALLGATHER) ? MPI_ERR_OTHER
                             : PMPI_Iallgather(data, count, type, result, result_count, result_type, comm, request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return fails(IBARRIER) ? MPI_ERR_OTHER : PMPI_Ibarrier(comm, request);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    collective = NULL; /* nobody waits for it any more, and its place may be taken */
    return fails(ISEND) ? MPI_ERR_OTHER : PMPI_Isend(data, count, type, rank, tag, comm, request);
}

int MPI_Issend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fails(ISSEND) ? MPI_ERR_OTHER : PMPI_Issend(data, count, type, rank, tag, comm, request);
}

static const MPI_Request *receives[4096]; /* of words, on all communicators */
static size_t receive_count;

int MPI_Irecv(void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (rank == MPI_ANY_SOURCE && receive_count < sizeof receives / sizeof receives[0])
        receives[receive_count++] = request;
    if (fails(IRECV) || (rank == MPI_ANY_SOURCE && fails_once(IRECV_ONCE)))
        return MPI_ERR_OTHER;
    if (fails(RECEIVE_ONCE) && rank == MPI_ANY_SOURCE && victim == NULL)
        victim = request;
    return PMPI_Irecv(data, count, type, rank, tag, comm, request);
}

int MPI_Improbe(int rank, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    return fails(IMPROBE) ? MPI_ERR_OTHER : PMPI_Improbe(rank, tag, comm, flag, message, status);
}

int MPI_Imrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    return fails(IMRECV) ? MPI_ERR_OTHER : PMPI_Imrecv(data, count, type, message, request);
}

/* As MPI ends a receive in an error: the request is gone, and the status says nothing. Not if a message is there,
 * which would be lost: then another receive will. */
static int end_receive(MPI_Request *request, int *flag, MPI_Status *status)
{
    int is_cancelled;
    victim = NULL;
    PMPI_Cancel(request);
    PMPI_Wait(request, status);
    *flag = 1;
    PMPI_Test_cancelled(status, &is_cancelled);
    if (!is_cancelled)
        return MPI_SUCCESS;
    failing = NONE;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    return MPI_ERR_OTHER;
}

/* Receives of words stay where they were posted; the request of a send is only passed on. */
static bool is_receive(const MPI_Request *request)
{
    size_t i;
    for (i = 0; i < receive_count; i++)
        if (receives[i] == request)
            return true;
    return false;
}

/* It ends, as on the other ranks, and then in an error; or it does not end. */
static int test_collective(MPI_Request *request, int *flag, MPI_Status *status)
{
    int error = PMPI_Test(request, flag, status);
    if (error == MPI_SUCCESS && fails(END_OF_COLLECTIVE) && *flag)
        return MPI_ERR_OTHER;
    *flag = *flag && !fails(NO_END_OF_COLLECTIVE);
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (request == victim)
        return end_receive(request, flag, status);
    if (request == collective)
        return fails(TEST) ? MPI_ERR_OTHER : test_collective(request, flag, status);
    if (slow_tests > 0 && !is_receive(request)) {
        slow_tests--;
        *flag = 0;
        return MPI_SUCCESS;
    }
    return fails(TEST) ? MPI_ERR_OTHER : PMPI_Test(request, flag, status);
}

int MPI_Query_thread(int *provided)
{
    return fails(QUERY_THREAD) ? MPI_ERR_OTHER : PMPI_Query_thread(provided);
}

int MPI_Get_library_version(char *version, int *length)
{
    return fails(LIBRARY_VERSION) ? MPI_ERR_OTHER : PMPI_Get_library_version(version, length);
}

/* ---- what the ranks do together ---- */

static parapet_status add(pp_comm *comm)
{
    int64_t values[2] = {1, run.rank};
    parapet_status status = pp_comm_agree_sums(comm, "adding", PARAPET_OK, values, 2);
    if (status == PARAPET_OK)
        launch_expect(&run, values[0] == run.ranks, "the sum of all ranks");
    return status;
}

static parapet_status share(pp_comm *comm)
{
    char text[] = "of rank 0";
    void *data = run.rank == 0 ? text : NULL;
    size_t bytes = sizeof text;
    parapet_status status = pp_comm_share(comm, "sharing", PARAPET_OK, &data, &bytes);
    launch_expect(&run, run.rank == 0 || (data != NULL) == (status == PARAPET_OK), "memory only with a success");
    if (status == PARAPET_OK)
        launch_expect(&run, bytes == sizeof text && strcmp(data, text) == 0, "the bytes of rank 0");
    if (run.rank != 0)
        pp_free(data);
    return status;
}

static parapet_status choose(pp_comm *comm)
{
    int *servers = NULL, count = -1;
    parapet_status status = pp_comm_choose_servers(comm, run.ranks, &servers, &count);
    launch_expect(&run, count == (status == PARAPET_OK ? run.ranks : 0), "every rank a server, or none");
    launch_expect(&run, (servers != NULL) == (status == PARAPET_OK), "a list only with a success");
    pp_free(servers);
    return status;
}

static parapet_status find_near(pp_comm *comm)
{
    const uint64_t place[2] = {0};
    const int servers[2] = {0, 1};
    int count;
    parapet_status status = pp_comm_find_near(comm, place, servers, 2);
    (void)pp_comm_near_servers(comm, &count);
    launch_expect(&run, count == (status == PARAPET_OK ? 2 : 0), "both ranks are near, or none is known to be");
    return status;
}

static parapet_status gather(pp_comm *comm)
{
    int64_t numbers[2] = {-1, -1};
    parapet_status status = pp_comm_agree_numbers(comm, "gathering", PARAPET_OK, 10 + run.rank, numbers);
    if (status == PARAPET_OK)
        launch_expect(&run, numbers[0] == 10 && numbers[1] == 11, "the numbers of both ranks");
    return status;
}

/* Whoever has waited in vain once does not wait again. */
static parapet_status add_in_vain(pp_comm *comm)
{
    int64_t value = 1;
    parapet_status status = pp_comm_add_up(comm, &value, 1);
    double start = pp_clock_seconds();
    launch_expect(&run, status == PARAPET_ERR_TIMEOUT && !pp_comm_is_lost(comm), "a sum that is late");
    launch_expect(&run, pp_comm_add_up(comm, &value, 1) == PARAPET_ERR_TIMEOUT, "another that is not waited for");
    launch_expect(&run, pp_clock_seconds() - start < 0.5 * DEADLINE_SECONDS, "no second wait");
    return pp_comm_agree(comm, "adding", status);
}

typedef struct ring {
    bool has_sent;
    int taken;
} ring;

static bool send_to_next(void *context, int *rank, void *parcel, size_t *bytes)
{
    ring *now = context;
    if (now->has_sent)
        return false;
    now->has_sent = true;
    *rank = (run.rank + 1) % run.ranks;
    *bytes = 1;
    *(char *)parcel = (char)run.rank;
    return true;
}

static void take_from_last(void *context, int source, const void *parcel, size_t bytes)
{
    launch_expect(&run, bytes == 1 && *(const char *)parcel == source, "what the rank before has sent");
    ((ring *)context)->taken++;
}

static parapet_status exchange(pp_comm *comm)
{
    ring now = {0};
    const pp_exchange around = {&now, send_to_next, take_from_last};
    parapet_status status = pp_comm_exchange(comm, &around);
    launch_expect(&run, status != PARAPET_OK || now.taken == 1, "one parcel");
    return status;
}

static parapet_status agree(pp_comm *comm)
{
    return pp_comm_agree(comm, "agreeing", PARAPET_OK);
}

/* So often that every posted receive has been used more than once, and a failure stays one. */
static parapet_status agree_often(pp_comm *comm)
{
    parapet_status status = PARAPET_OK, before;
    int i;
    for (i = 0; i < 200; i++) {
        before = status;
        status = agree(comm);
        launch_expect(&run, before == PARAPET_OK || status == before, "a failure that stays");
    }
    return status;
}

/* ---- the tests ---- */

typedef struct failure_case {
    const char *name;
    mpi_function function;
    parapet_status (*act)(pp_comm *comm);
    const char *sentence;
} failure_case;

static const failure_case acts[] = {
    {"a sum that does not begin", IALLREDUCE, add, "MPI failed to add numbers"},
    {"bytes that are not spread", IBCAST, share, "MPI reported an error"},
    {"nodes that are not gathered", IALLGATHER, choose, "MPI cannot gather"},
    {"places that are not gathered", IALLGATHER, find_near, "MPI cannot gather"},
    {"numbers that are not gathered", IALLGATHER, gather, "MPI cannot gather"},
    {"a sum that ends in an error", END_OF_COLLECTIVE, add, "MPI failed to add numbers"},
    {"bytes that end in an error", END_OF_COLLECTIVE, share, "MPI reported an error"},
    {"a sum that does not end", NO_END_OF_COLLECTIVE, add, "deadline"},
    {"a sum that is given up", NO_END_OF_COLLECTIVE, add_in_vain, "deadline"},
    {"bytes that do not end", NO_END_OF_COLLECTIVE, share, "deadline"},
    {"nodes that do not end", NO_END_OF_COLLECTIVE, choose, "deadline"},
    {"places that do not end", NO_END_OF_COLLECTIVE, find_near, "deadline"},
    {"numbers that do not end", NO_END_OF_COLLECTIVE, gather, "deadline"},
    {"a barrier that does not begin", IBARRIER, exchange, "MPI failed with error"},
    {"parcels that do not leave", ISSEND, exchange, "MPI failed with error"},
    {"parcels that are not looked for", IMPROBE, exchange, "MPI failed with error"},
    {"parcels that do not arrive", IMRECV, exchange, "MPI failed with error"},
    {"parcels that are not waited for", TEST, exchange, "MPI failed with error"},
    {"words that do not leave", ISEND, agree, "deadline_seconds"},
    {"words that do not arrive", TEST, agree, "deadline_seconds"},
    {"words that are expected once only", IRECV, agree, "MPI reported an error"},
    {"words of which one is not received", RECEIVE_ONCE, agree_often, "MPI reported an error"},
    {"words that are expected at one place less", IRECV_ONCE, agree_often, "MPI reported an error"},
};

static bool build(pp_comm **comm)
{
    pp_call call;
    pp_call_init(&call, "test");
    return LAUNCH_OK(&run, pp_comm_build(comm, MPI_COMM_WORLD, DEADLINE_SECONDS)) &&
           LAUNCH_OK(&run, (pp_comm_set_deadline(*comm, DEADLINE_SECONDS), pp_comm_begin(*comm, &call, PARAPET_OK)));
}

static void expect_sentence(parapet_status status, const char *sentence)
{
    char text[PP_MESSAGE_BYTES + 100];
    (void)snprintf(text, sizeof text, "\"%s\", not %s: %s", sentence, parapet_status_name(status),
                   parapet_error_message());
    launch_expect(&run, status == PARAPET_ERR_MPI || status == PARAPET_ERR_TIMEOUT, text);
    launch_expect(&run, strstr(parapet_error_message(), sentence) != NULL, text);
}

/* Where ranks are no longer in step, nobody waits for anybody. */
static void expect_refusals(pp_comm *comm)
{
    parapet_status status = PARAPET_OK;
    int64_t value = 1;
    pp_comm_join(comm, "joining", PARAPET_OK);
    launch_expect(&run, pp_comm_is_agreed(comm, &status) && status == PARAPET_ERR_TIMEOUT, "no agreement");
    launch_expect(&run, pp_comm_add_up(comm, &value, 1) == PARAPET_ERR_TIMEOUT, "no sum");
}

/* A rank that has failed before brings no number, and all are told so. */
static void test_numbers_of_a_rank_that_failed(void)
{
    int64_t numbers[2];
    pp_comm *comm = NULL;
    launch_case_begin(&run, IALLGATHER);
    if (build(&comm)) {
        parapet_status mine = run.rank == 1 ? pp_fail(PARAPET_ERR_IO, "the disk is gone") : PARAPET_OK;
        launch_expect(&run, pp_comm_agree_numbers(comm, "gathering", mine, 1, numbers) == PARAPET_ERR_IO,
                      "a failure");
        launch_expect(&run, strstr(parapet_error_message(), "the disk is gone") != NULL, "its sentence");
        launch_expect(&run, gather(comm) == PARAPET_OK, "numbers");
    }
    pp_comm_free(comm);
    (void)launch_case_end(&run, "a rank that has failed before");
}

static void test_act(uint64_t number, const failure_case *each)
{
    pp_comm *comm = NULL;
    parapet_status status;
    launch_case_begin(&run, number);
    if (build(&comm)) {
        one_clock_start(DEADLINE_SECONDS);
        failing = each->function;
        watch_begin(each->name, "something that fails");
        status = each->act(comm);
        /* A receive is posted anew only after one has ended: the agreement after that tells. */
        if (each->function == IRECV)
            status = each->act(comm);
        watch_end();
        failing = NONE;
        victim = NULL;
        expect_sentence(status, each->sentence);
        if (pp_comm_is_lost(comm))
            expect_refusals(comm);
        one_clock_stop();
    }
    pp_comm_free(comm);
    launch_expect(&run, build(&comm) && add(comm) == PARAPET_OK, "another communicator");
    pp_comm_free(comm);
    (void)launch_case_end(&run, each->name);
}

static void test_build(mpi_function function, const char *name, const char *sentence)
{
    pp_comm *comm = NULL;
    double start;
    launch_case_begin(&run, (uint64_t)function);
    one_clock_start(DEADLINE_SECONDS);
    failing = function;
    start = pp_clock_seconds();
    expect_sentence(pp_comm_build(&comm, MPI_COMM_WORLD, DEADLINE_SECONDS), sentence);
    launch_expect(&run, pp_clock_seconds() - start <= 1.3 * DEADLINE_SECONDS, "an end within the deadline");
    failing = NONE;
    launch_expect(&run, comm == NULL, "no communicator");
    one_clock_stop();
    (void)launch_case_end(&run, name);
}

/* What MPI may still write to is not used again, and there is not very much of it. */
static void test_build_too_often(void)
{
    pp_comm *comm = NULL;
    int i;
    launch_case_begin(&run, COMM_IDUP);
    failing = COMM_IDUP;
    for (i = 0; i < 16; i++)
        launch_expect(&run, pp_comm_build(&comm, MPI_COMM_WORLD, DEADLINE_SECONDS) != PARAPET_OK, "a failure");
    failing = NONE;
    expect_sentence(pp_comm_build(&comm, MPI_COMM_WORLD, DEADLINE_SECONDS), "restart it");
    launch_expect(&run, comm == NULL, "no communicator");
    (void)launch_case_end(&run, "failures without end");
}

/* Sends that take their time are waited for; in the end not for ever. */
static void test_slow_sends(void)
{
    pp_comm *comm = NULL;
    launch_case_begin(&run, ISEND);
    if (build(&comm)) {
        slow_tests = 50;
        launch_expect(&run, agree(comm) == PARAPET_OK && agree(comm) == PARAPET_OK, "agreements");
        slow_tests = 20;
        pp_comm_free(comm);
        slow_tests = 0;
    }
    if (build(&comm)) {
        watch_meet(); /* they have left in fact */
        slow_tests = INT_MAX;
        pp_comm_free(comm);
        slow_tests = 0;
        watch_meet();
    }
    launch_expect(&run, build(&comm) && add(comm) == PARAPET_OK, "another communicator");
    pp_comm_free(comm);
    (void)launch_case_end(&run, "sends that take their time");
}

/* A rank of many may have a store for itself. */
static void test_alone(void)
{
    pp_comm *comm = NULL;
    launch_case_begin(&run, NONE);
    LAUNCH_OK(&run, pp_comm_build(&comm, MPI_COMM_SELF, DEADLINE_SECONDS));
    LAUNCH_OK(&run, pp_comm_check_launcher(comm));
    pp_comm_free(comm);
    (void)launch_case_end(&run, "a rank alone");
}

static int refuse_memory(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

/* Rank 1 has no memory, and MPI cannot tell the others so. */
static void test_build_untold(void)
{
    pp_comm *comm = NULL;
    launch_case_begin(&run, IBCAST);
    one_clock_start(DEADLINE_SECONDS);
    failing = IBCAST;
    pp_memory_hook_set(run.rank == 1 ? refuse_memory : NULL, NULL);
    expect_sentence(pp_comm_build(&comm, MPI_COMM_WORLD, DEADLINE_SECONDS), "while it duplicated the communicator");
    pp_memory_hook_set(NULL, NULL);
    failing = NONE;
    launch_expect(&run, comm == NULL, "no communicator");
    one_clock_stop();
    (void)launch_case_end(&run, "a rank without memory that is not named");
}

/* Where MPI does not say what it allows, nothing is taken for granted. */
static void test_questions(void)
{
    pp_text text = {0};
    launch_case_begin(&run, QUERY_THREAD);
    failing = QUERY_THREAD;
    launch_expect(&run, !pp_comm_allows_threads() && !pp_comm_allows_any_thread(), "no threads");
    failing = LIBRARY_VERSION;
    pp_comm_print_library(&text);
    launch_expect(&run, text.bytes == 0, "no name");
    failing = NONE;
    launch_expect(&run, pp_comm_allows_threads(), "threads");
    (void)launch_case_end(&run, "questions without an answer");
}

int main(int argc, char **argv)
{
    size_t i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    watch_start(run.rank);
    one_clock_take(&run);
    test_questions();
    test_alone();
    test_slow_sends();
    test_numbers_of_a_rank_that_failed();
    test_build(COMM_IDUP, "a duplicate that does not begin", "while it duplicated the communicator");
    test_build(TEST, "a duplicate that ends in an error", "while it duplicated the communicator");
    test_build(NO_END_OF_COLLECTIVE, "a duplicate that does not end", "not every rank of the communicator arrived");
    test_build(IALLREDUCE, "ranks that cannot compare", "while it duplicated the communicator");
    test_build_untold();
    for (i = 0; i < sizeof acts / sizeof acts[0]; i++)
        test_act(i, &acts[i]);
    test_build_too_often();
    return launch_finish(&run);
}
