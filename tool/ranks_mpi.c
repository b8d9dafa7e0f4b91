/* ranks_mpi.c - the ranks of the tool over MPI: the only file of the tool that calls it. */
#include <mpi.h>

#include "base/clock.h"
#include "ranks.h"
#include "report.h"

#include <string.h>

int ranks_hand_over(char **words)
{
    (void)words;
    return TOOL_OK;
}

#define PAUSE_NS 10000000

/* Waits for rank 0 without burning a core, which MPI_Barrier would. */
static void wait_for_all(void)
{
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        pp_clock_pause_ns(PAUSE_NS);
}

static int run_on_rank_0(tool_request *request)
{
    int exit_code = TOOL_OK;
    report_mute(request->rank > 0);
    if (request->rank == 0 && request->rank_count > 1)
        report_error("mpi", "%s uses one process: rank 0 works, the other %d wait", request->verb->name,
                     request->rank_count - 1);
    request->working = RANKS_FIRST;
    if (request->rank == 0)
        exit_code = request->verb->run(request);
    wait_for_all();
    return exit_code;
}

static int run_on_all(tool_request *request)
{
    report_mute(request->rank > 0);
    request->working = RANKS_ALL;
    return request->verb->run(request);
}

/* With the launcher of another MPI every process is alone, and all of them would do the same. */
static int refuse_launcher(void)
{
    report_error("mpi",
                 "the launcher started %d processes, but each finds only itself: use the launcher of the MPI that "
                 "parapet-%s --version names, or start parapet, which finds the tool of the launcher",
                 ranks_launch()->count, PARAPET_FLAVOUR);
    return TOOL_FAILED;
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
    if (request->rank_count == 1 && ranks_launch()->count > 1)
        exit_code = refuse_launcher();
    else
        exit_code = is_parallel ? run_on_all(request) : run_on_rank_0(request);
    MPI_Finalize();
    return exit_code;
}

static MPI_Comm comm_of(const tool_request *request)
{
    if (request->working == RANKS_ALL)
        return MPI_COMM_WORLD;
    return request->working == RANKS_FIRST ? MPI_COMM_SELF : MPI_COMM_NULL;
}

parapet_status ranks_open_store(const tool_request *request, parapet_store **store, const char *url,
                                parapet_mode mode, const parapet_store_options *options)
{
    return parapet_store_open(store, comm_of(request), url, mode, options);
}

void ranks_share(const tool_request *request, void *memory, size_t bytes)
{
    if (request->working != RANKS_NONE)
        MPI_Bcast(memory, (int)bytes, MPI_BYTE, 0, comm_of(request));
}

void ranks_gather(const tool_request *request, const void *mine, void *all, size_t bytes)
{
    if (request->working == RANKS_NONE)
        memcpy(all, mine, bytes);
    else
        MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(request));
}

int64_t ranks_least(const tool_request *request, int64_t number)
{
    if (request->working != RANKS_NONE)
        MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MIN, comm_of(request));
    return number;
}

int64_t ranks_most(const tool_request *request, int64_t number)
{
    if (request->working != RANKS_NONE)
        MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MAX, comm_of(request));
    return number;
}

int ranks_on_node(const tool_request *request)
{
    MPI_Comm node;
    int count = 1;
    if (request->working == RANKS_NONE)
        return count;
    MPI_Comm_split_type(comm_of(request), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &count);
    MPI_Comm_free(&node);
    return count;
}
