#include "transfer/context.h"

#include "base/status.h"

void pp_counters_plan(pp_counters *counters, size_t bytes)
{
    if ((int64_t)bytes > atomic_load(&counters->memory_planned))
        atomic_store(&counters->memory_planned, (int64_t)bytes);
}

parapet_status pp_transfer_report(const pp_transfer_context *context, const char *doing, int64_t done_bytes,
                                  int64_t total_bytes)
{
    if (context->progress != NULL && context->progress(context->progress_context, done_bytes, total_bytes) != 0)
        return pp_fail(PARAPET_ERR_CANCELLED, "%s was cancelled by the progress callback", doing);
    return PARAPET_OK;
}
