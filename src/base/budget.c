#include "base/budget.h"

#include "base/checked.h"

void pp_budget_init(pp_budget *budget, size_t limit_bytes)
{
    budget->limit_bytes = limit_bytes;
    atomic_init(&budget->used_bytes, 0);
    atomic_init(&budget->peak_bytes, 0);
}

static void raise_peak(pp_budget *budget, size_t used)
{
    size_t peak = atomic_load(&budget->peak_bytes);
    while (used > peak && !atomic_compare_exchange_weak(&budget->peak_bytes, &peak, used))
        continue;
}

static parapet_status refuse_reservation(const pp_budget *budget, size_t bytes, size_t free_bytes,
                                         const char *purpose)
{
    size_t wanted;
    if (!pp_add_size_fits(budget->limit_bytes - free_bytes, bytes, &wanted))
        return pp_fail(PARAPET_ERR_MEMORY, "%s need %zu bytes, more than any memory", purpose, bytes);
    return pp_fail(PARAPET_ERR_MEMORY,
                   "%s need %zu bytes, but of the memory limit of %zu only %zu are free; "
                   "a limit (memory_bytes) of at least %zu would do",
                   purpose, bytes, budget->limit_bytes, free_bytes, wanted);
}

parapet_status pp_budget_reserve(pp_budget *budget, size_t bytes, const char *purpose)
{
    size_t used = atomic_load(&budget->used_bytes);
    size_t wanted;
    do {
        if (!pp_add_size_fits(used, bytes, &wanted) || wanted > budget->limit_bytes)
            return refuse_reservation(budget, bytes, budget->limit_bytes - used, purpose);
    } while (!atomic_compare_exchange_weak(&budget->used_bytes, &used, wanted));
    raise_peak(budget, wanted);
    return PARAPET_OK;
}

parapet_status pp_budget_check(const pp_budget *budget, size_t bytes, const char *purpose)
{
    size_t free_bytes = pp_budget_available(budget);
    if (bytes <= free_bytes)
        return PARAPET_OK;
    return refuse_reservation(budget, bytes, free_bytes, purpose);
}

void pp_budget_release(pp_budget *budget, size_t bytes)
{
    atomic_fetch_sub(&budget->used_bytes, bytes);
}

size_t pp_budget_available(const pp_budget *budget)
{
    return budget->limit_bytes - atomic_load(&budget->used_bytes);
}

size_t pp_budget_used(const pp_budget *budget)
{
    return atomic_load(&budget->used_bytes);
}

size_t pp_budget_peak(const pp_budget *budget)
{
    return atomic_load(&budget->peak_bytes);
}

parapet_status pp_buffer_init(pp_buffer *buffer, pp_budget *budget, size_t bytes, const char *purpose)
{
    size_t rounded = pp_align_up(pp_max_size(bytes, 1), PP_PAGE_BYTES);
    parapet_status status;
    buffer->data = NULL;
    if (rounded < bytes)
        return pp_fail(PARAPET_ERR_MEMORY, "%s need %zu bytes, more than any memory", purpose, bytes);
    if ((status = pp_budget_reserve(budget, rounded, purpose)) != PARAPET_OK)
        return status;
    status = buffer->wants_huge_pages ? pp_allocate_huge_pages(&buffer->data, rounded)
                                      : pp_allocate_pages(&buffer->data, rounded);
    if (status != PARAPET_OK) {
        pp_budget_release(budget, rounded);
        return status;
    }
    buffer->capacity = rounded;
    buffer->budget = budget;
    return PARAPET_OK;
}

parapet_status pp_buffer_ensure(pp_buffer *buffer, size_t bytes, const char *purpose)
{
    pp_budget *budget = buffer->budget;
    if (buffer->data != NULL && buffer->capacity >= bytes)
        return PARAPET_OK;
    pp_buffer_free(buffer);
    buffer->budget = budget;
    return pp_buffer_init(buffer, budget, bytes, purpose);
}

void pp_buffer_free(pp_buffer *buffer)
{
    if (buffer->data == NULL)
        return;
    pp_free_pages(buffer->data, buffer->capacity);
    pp_budget_release(buffer->budget, buffer->capacity);
    buffer->data = NULL;
    buffer->capacity = 0;
}
