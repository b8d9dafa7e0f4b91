#include "transfer/context.h"

parapet_status pp_transfer_report(const pp_transfer_context *context, const char *doing, int64_t done_elements,
                                  int64_t total_elements)
{
    int64_t element_bytes = (int64_t)context->layout->element_bytes;
    if (context->progress != NULL && context->progress(context->progress_context, done_elements * element_bytes,
                                                       total_elements * element_bytes) != 0)
        return pp_fail(PARAPET_ERR_CANCELLED, "%s was cancelled by the progress callback", doing);
    return PARAPET_OK;
}
