/* ranks.c - the processes that a launcher started: the only file of the tool that calls MPI. */
#include "tool.h"

#include <stdlib.h>
#include <time.h>

/* The first of the variables that is set, as a number; -1: none is. */
static int first_number(const char *const *variables)
{
    for (; *variables != NULL; variables++)
        if (getenv(*variables) != NULL)
            return atoi(getenv(*variables));
    return -1;
}

static int launched_count(void)
{
    static const char *const variables[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", NULL};
    return first_number(variables);
}

/* On a login node MPI_Init may hang or be forbidden: it is called only under a launcher. A batch job without
 * a launcher must not count as one, so the variables are those of the process managers, not of the queue. */
int ranks_launched(void)
{
    static const char *const variables[] = {"PMI_RANK",    "PMIX_RANK",           "OMPI_COMM_WORLD_RANK",
                                            "PALS_RANKID", "MV2_COMM_WORLD_RANK", NULL};
    int rank = first_number(variables);
    return rank < 0 && launched_count() > 0 ? 0 : rank;
}

/* Waits for rank 0 without burning a core, which MPI_Barrier would. */
static void wait_for_all(void)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        (void)nanosleep(&pause, NULL);
}

static int run_on_rank_0(tool_request *request)
{
    int exit_code = TOOL_OK;
    report_mute(request->rank > 0);
    if (request->rank == 0 && request->rank_count > 1)
        report_error("mpi", "%s works on one process: rank 0 works, the other %d wait", request->verb->name,
                     request->rank_count - 1);
    if (request->rank == 0) {
        request->comm = MPI_COMM_SELF;
        exit_code = request->verb->run(request);
    }
    wait_for_all();
    return exit_code;
}

/* With the launcher of another MPI every process is alone, and all of them would write the same target. */
static int run_on_all(tool_request *request)
{
    if (request->rank_count == 1 && launched_count() > 1) {
        report_error("mpi",
                     "the launcher started %d processes, but each finds only itself: use the launcher of the MPI "
                     "that parapet --version names",
                     launched_count());
        return TOOL_FAILED;
    }
    report_mute(request->rank > 0);
    request->comm = MPI_COMM_WORLD;
    return request->verb->run(request);
}

int ranks_run(tool_request *request)
{
    bool is_parallel = request->verb->is_parallel || (request->flags & request->verb->parallel_flags) != 0;
    int level, exit_code;
    request->rank = 0;
    request->rank_count = 1;
    if (ranks_launched() < 0)
        return request->verb->run(request);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &request->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &request->rank_count);
    exit_code = is_parallel ? run_on_all(request) : run_on_rank_0(request);
    MPI_Finalize();
    return exit_code;
}

void ranks_share(const tool_request *request, void *memory, size_t bytes)
{
    if (request->comm != MPI_COMM_NULL)
        MPI_Bcast(memory, (int)bytes, MPI_BYTE, 0, request->comm);
}

int64_t ranks_least(const tool_request *request, int64_t number)
{
    if (request->comm != MPI_COMM_NULL)
        MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MIN, request->comm);
    return number;
}

int64_t ranks_most(const tool_request *request, int64_t number)
{
    if (request->comm != MPI_COMM_NULL)
        MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MAX, request->comm);
    return number;
}

int ranks_on_node(const tool_request *request)
{
    MPI_Comm node;
    int count = 1;
    if (request->comm == MPI_COMM_NULL)
        return count;
    MPI_Comm_split_type(request->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &count);
    MPI_Comm_free(&node);
    return count;
}
