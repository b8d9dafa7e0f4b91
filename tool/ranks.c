#include "ranks.h"

/* On a login node MPI_Init may hang or be forbidden: it is called only under a launcher. A program that a rank has
 * started is not itself a rank, whatever it has inherited. */
const parapet_launch *ranks_launch(void)
{
    static parapet_launch launch;
    static bool is_known;
    if (!is_known)
        is_known = parapet_launch_get(&launch) == PARAPET_OK;
    if (launch.is_inherited)
        launch = (parapet_launch){.rank = -1, .flavour = ""};
    return &launch;
}

int ranks_launched(void)
{
    return ranks_launch()->rank;
}
