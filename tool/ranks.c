/* ranks.c - what the variables of launchers say of this process. */
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

int ranks_launched_count(void)
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
    return rank < 0 && ranks_launched_count() > 0 ? 0 : rank;
}

const char *ranks_launcher(void)
{
    static const char *const mpich[] = {"PMI_RANK", "PMI_SIZE", "PALS_RANKID", "MV2_COMM_WORLD_RANK", NULL};
    static const char *const openmpi[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL};
    if (first_number(openmpi) >= 0)
        return "openmpi";
    return first_number(mpich) >= 0 ? "mpich" : "";
}
