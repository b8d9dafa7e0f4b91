/* append_ranks.c - the ranks that append together, and what they tell of their progress. */
#include "copy/append_ranks.h"

#include <parapet_store.h>

#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "copy/append_task.h"

pp_comm *pp_append_comm(const pp_append *append)
{
    return pp_store_comm(append->request->target);
}

bool pp_append_leads(const pp_append *append)
{
    return pp_comm_rank(pp_append_comm(append)) == 0;
}

bool pp_append_may_change(const pp_append *append)
{
    return append->changes || !pp_store_is_read_only(append->request->target);
}

parapet_status pp_append_tick(const pp_append *append)
{
    const parapet_store_options *options = pp_store_options(append->request->target);
    parapet_status status = PARAPET_OK;
    if (append->progress != NULL &&
        append->progress(options->progress_context, pp_min_i64(append->done_bytes, append->total_bytes),
                         append->total_bytes) != 0)
        status = pp_fail(PARAPET_ERR_CANCELLED, "appending was cancelled by the progress callback");
    return pp_comm_agree(pp_append_comm(append), "appending", status);
}
