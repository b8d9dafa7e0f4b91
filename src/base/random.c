#include "base/random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/status.h"

parapet_status pp_random_number(uint64_t *number)
{
    while (getrandom(number, sizeof *number, 0) != (ssize_t)sizeof *number)
        if (errno != EINTR)
            return pp_fail_errno(errno, "the system provides no random numbers");
    return PARAPET_OK;
}

parapet_status pp_random_id(char id[PP_RANDOM_ID_BYTES])
{
    uint64_t number;
    parapet_status status = pp_random_number(&number);
    if (status == PARAPET_OK)
        (void)snprintf(id, PP_RANDOM_ID_BYTES, "%016" PRIx64, number);
    return status;
}
