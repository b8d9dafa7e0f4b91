#include "base/reserved.h"

#include "base/status.h"

parapet_status pp_reserved_check(const char *type, const int64_t *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (words[i] != 0)
            return pp_fail(PARAPET_ERR_ARGUMENT, "the reserved words of %s must be 0; initialise the struct with {0}",
                           type);
    return PARAPET_OK;
}
