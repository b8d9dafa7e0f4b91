#include "transfer/alone.h"

#include "base/checked.h"
#include "transfer/memory.h"
#include "transfer/read_planned.h"
#include "transfer/session.h"

/* The part of the memory that is kept in freed buffers between reads, so that a small one does not pay for pages. */
#define SPARE_PART 4

void pp_alone_init(pp_alone *alone, size_t bytes)
{
    pp_budget_init(&alone->budget, bytes);
    pp_budget_keep_spares(&alone->budget, bytes / SPARE_PART);
    pp_portions_init(&alone->portions, bytes);
}

void pp_alone_clear(pp_alone *alone)
{
    pp_budget_clear(&alone->budget);
    pp_portions_destroy(&alone->portions);
}

static parapet_status plan_read(const pp_layout *layout, pp_memory_case *memory, size_t bytes, pp_memory_plan *plan)
{
    memory->available_bytes = bytes;
    return pp_memory_plan_read(&layout, 1, memory, plan);
}

static parapet_status read_portion(pp_alone *alone, const pp_transfer_array *array, pp_memory_case *memory,
                                   size_t beside, size_t least_bytes)
{
    const pp_layout *layout = array->context->layout;
    size_t wanted, taken;
    pp_memory_plan plan;
    parapet_status status = plan_read(layout, memory, alone->budget.limit_bytes - beside, &plan);
    if (status != PARAPET_OK)
        return status;
    wanted = beside + plan.planned_bytes;
    taken = pp_portions_take(&alone->portions, least_bytes, wanted);
    if (taken < wanted)
        status = plan_read(layout, memory, taken - beside, &plan);
    if (status == PARAPET_OK)
        status = pp_transfer_read_planned(array, &plan);
    pp_portions_give_back(&alone->portions, taken);
    return status;
}

parapet_status pp_transfer_read_alone(pp_alone *alone, const pp_transfer_array *array)
{
    pp_memory_case memory = {.threads = 1, .is_sealed = array->context->seal != NULL};
    size_t beside = pp_session_list_bytes(array, &memory.shard_count), least; /* of the lists */
    if (memory.shard_count == 0)
        return PARAPET_OK;
    least = pp_memory_least_read_bytes(array->context->layout, &memory);
    if (!pp_add_size_fits(least, beside, &least) || least > alone->budget.limit_bytes)
        return pp_fail(
            PARAPET_ERR_MEMORY,
            "reading this on one rank takes %zu bytes, but local_bytes is only %zu; set it to at least %zu", least,
            alone->budget.limit_bytes, least);
    return read_portion(alone, array, &memory, beside, least);
}
