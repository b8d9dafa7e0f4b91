/* ranks.c - the processes that a launcher started: who runs the verb, and who waits. */
#include "tool.h"

#include <stdlib.h>

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

static int run_on_rank_0(tool_request *request)
{
    int exit_code = TOOL_OK;
    report_mute(request->rank > 0);
    if (request->rank == 0 && request->rank_count > 1)
        report_error("mpi", "%s works on one process: rank 0 works, the other %d wait", request->verb->name,
                     request->rank_count - 1);
    request->working = RANKS_FIRST;
    if (request->rank == 0)
        exit_code = request->verb->run(request);
    ranks_wait();
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
    request->working = RANKS_ALL;
    return request->verb->run(request);
}

int ranks_run(tool_request *request)
{
    bool is_parallel = request->verb->is_parallel || (request->flags & request->verb->parallel_flags) != 0;
    int exit_code;
    request->rank = 0;
    request->rank_count = 1;
    if (ranks_launched() < 0)
        return request->verb->run(request);
    if (!ranks_start(request))
        return TOOL_FAILED;
    exit_code = is_parallel ? run_on_all(request) : run_on_rank_0(request);
    ranks_stop();
    return exit_code;
}
