/* ranks_mpi.c - the ranks of the tool over MPI: the only file of the tool that calls it. */
#include <mpi.h>
#include <time.h>

#include "tool.h"

bool ranks_start(tool_request *request)
{
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &request->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &request->rank_count);
    return true;
}

void ranks_stop(void)
{
    MPI_Finalize();
}

void ranks_wait(void)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
        (void)nanosleep(&pause, NULL);
}

static MPI_Comm comm_of(const tool_request *request)
{
    if (request->working == RANKS_ALL)
        return MPI_COMM_WORLD;
    return request->working == RANKS_FIRST ? MPI_COMM_SELF : MPI_COMM_NULL;
}

parapet_status ranks_open_store(const tool_request *request, parapet_store **store, const char *url,
                                parapet_mode mode, const parapet_options *options)
{
    return parapet_store_open(store, comm_of(request), url, mode, options);
}

void ranks_share(const tool_request *request, void *memory, size_t bytes)
{
    if (request->working != RANKS_NONE)
        MPI_Bcast(memory, (int)bytes, MPI_BYTE, 0, comm_of(request));
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
