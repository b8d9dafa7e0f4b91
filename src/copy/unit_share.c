#include "copy/unit_share.h"

bool pp_copy_share_next(const pp_copy_share *share, int64_t count, int64_t *number)
{
    pp_range found = {*number, count - 1};
    while (found.first < count) {
        if (share->some != NULL && !pp_ranges_next(share->some, found.first, &found))
            return false;
        *number =
            found.first + (share->rank - found.first % share->rank_count + share->rank_count) % share->rank_count;
        if (*number <= found.last)
            return *number < count;
        found.first = found.last + 1;
    }
    return false;
}
