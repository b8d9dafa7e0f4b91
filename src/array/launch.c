#include "comm/launcher.h"

#include "base/status.h"

parapet_status parapet_launch_get(parapet_launch *launch)
{
    pp_launch found;
    if (launch == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_launch_get needs a pointer for the result");
    found = pp_launch_find(pp_comm_flavour());
    *launch = (parapet_launch){
        .rank = found.rank, .count = found.count, .is_inherited = found.is_inherited, .flavour = found.flavour};
    return pp_outcome(PARAPET_OK);
}
