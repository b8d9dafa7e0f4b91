/* commit.h - how steps become visible, and how they are announced before. */
#ifndef PARAPET_SERIES_COMMIT_H
#define PARAPET_SERIES_COMMIT_H

#include <parapet_arrays.h>
#include <stdbool.h>

/* [collective] Makes the steps whose shards are durable visible. */
parapet_status pp_series_commit(parapet_series *series);

/* [collective] Announces in the store that the arrays are about to get the steps that their handles have. is_row:
 * shards with committed steps may be replaced by shards with more. */
parapet_status pp_series_announce(parapet_series *series, int64_t steps, bool is_row);

#endif
