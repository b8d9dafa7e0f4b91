#include "threads.h"
#include "ranks.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A thread has chunks of its own in work: with less memory, fewer threads leave more room for the plan. */
static const int64_t bytes_of_thread = (int64_t)32 << 20;

/* The processors that this process may use. */
static int64_t allowed_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
}

/* The processors' time that the control group of the job allows; INT64_MAX: all. */
static int64_t quota_cores(void)
{
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    int64_t quota, period, cores = INT64_MAX;
    if (file != NULL && fscanf(file, "%" SCNd64 " %" SCNd64, &quota, &period) == 2 && quota > 0 && period > 0)
        cores = quota / period > 0 ? quota / period : 1;
    if (file != NULL)
        (void)fclose(file);
    return cores;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Some launchers bind each rank to its cores, others let all ranks of a node use all of them. */
static int64_t cores_of_rank(const tool_request *request)
{
    int64_t shared = smaller(sysconf(_SC_NPROCESSORS_ONLN), quota_cores()) / ranks_on_node(request);
    int64_t cores = smaller(allowed_cores(), shared);
    return ranks_least(request, cores > 1 ? cores : 1);
}

bool threads_choose(const tool_request *request, parapet_store_options *options)
{
    int64_t fitting = options->memory_bytes / bytes_of_thread;
    if (options->threads != 0 || getenv("PARAPET_THREADS") != NULL)
        return false;
    options->threads = smaller(cores_of_rank(request), fitting > 1 ? fitting : 1);
    return true;
}
