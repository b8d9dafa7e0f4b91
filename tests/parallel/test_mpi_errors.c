/* Functions of MPI that fail, on all ranks at once: whatever the ranks do together then fails on every one of them
 * with a sentence, within the deadline, and gives no values; another communicator works. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "comm/comm.h"
#include "comm/exchange.h"
#include "comm/flavour.h"
#include "comm/topology.h"
#include "watch.h"

#include "launch.h"

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
    QUERY_THREAD,
    LIBRARY_VERSION
} mpi_function;

static mpi_function failing;
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

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    return fails(COMM_IDUP) ? MPI_ERR_OTHER : PMPI_Comm_idup(comm, made, request);
}

int MPI_Iallreduce(const void *data, void *result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    return fails(IALLREDUCE) ? MPI_ERR_OTHER : PMPI_Iallreduce(data, result, count, type, op, comm, request);
}

int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    return fails(IBCAST) ? MPI_ERR_OTHER : PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Iallgather(const void *data, int count, MPI_Datatype type, void *result, int result_count,
                   MPI_Datatype result_type, MPI_Comm comm, MPI_Request *request)
{
    return fails(IALLGATHER) ? MPI_ERR_OTHER
                             : PMPI_Iallgather(data, count, type, result, result_count, result_type, comm, request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return fails(IBARRIER) ? MPI_ERR_OTHER : PMPI_Ibarrier(comm, request);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fails(ISEND) ? MPI_ERR_OTHER : PMPI_Isend(data, count, type, rank, tag, comm, request);
}

int MPI_Issend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fails(ISSEND) ? MPI_ERR_OTHER : PMPI_Issend(data, count, type, rank, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
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

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (request == victim)
        return end_receive(request, flag, status);
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

static void test_act(uint64_t number, const failure_case *each)
{
    pp_comm *comm = NULL;
    parapet_status status;
    launch_case_begin(&run, number);
    if (build(&comm)) {
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
        watch_meet();
    }
    pp_comm_free(comm);
    launch_expect(&run, build(&comm) && add(comm) == PARAPET_OK, "another communicator");
    pp_comm_free(comm);
    (void)launch_case_end(&run, each->name);
}

static void test_build(mpi_function function, const char *name)
{
    pp_comm *comm = NULL;
    launch_case_begin(&run, (uint64_t)function);
    failing = function;
    expect_sentence(pp_comm_build(&comm, MPI_COMM_WORLD, DEADLINE_SECONDS), "while it duplicated the communicator");
    failing = NONE;
    launch_expect(&run, comm == NULL, "no communicator");
    watch_meet();
    (void)launch_case_end(&run, name);
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
    failing = IBCAST;
    pp_memory_hook_set(run.rank == 1 ? refuse_memory : NULL, NULL);
    expect_sentence(pp_comm_build(&comm, MPI_COMM_WORLD, DEADLINE_SECONDS), "while it duplicated the communicator");
    pp_memory_hook_set(NULL, NULL);
    failing = NONE;
    launch_expect(&run, comm == NULL, "no communicator");
    watch_meet();
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
    test_questions();
    test_build(COMM_IDUP, "a duplicate that does not begin");
    test_build(TEST, "a duplicate that does not end");
    test_build(IALLREDUCE, "ranks that cannot compare");
    test_build_untold();
    for (i = 0; i < sizeof acts / sizeof acts[0]; i++)
        test_act(i, &acts[i]);
    return launch_finish(&run);
}
