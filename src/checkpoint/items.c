/* items.c - lists of items, as far as they are the same to who puts and to who gets. */
#include "checkpoint/items.h"

#include "base/reserved.h"
#include "base/status.h"

parapet_status pp_checkpoint_check_list(const parapet_checkpoint_item *items, int count)
{
    parapet_status status;
    int i;
    if (count < 0 || (count > 0 && items == NULL))
        return pp_fail(PARAPET_ERR_ARGUMENT, "count is %d, but %s", count,
                       count > 0 ? "there are no items" : "must be 0 or more");
    for (i = 0; i < count; i++)
        if ((status = PP_RESERVED_CHECK(parapet_checkpoint_item, &items[i])) != PARAPET_OK)
            return pp_fail_within(status, "item %d", i);
    return PARAPET_OK;
}
