#include "base/budget.h"

#include <assert.h>
#include <stdint.h>

#include "base/checked.h"
#include "base/status.h"

#ifdef __SANITIZE_ADDRESS__ /* a spare is as good as freed */
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#endif

#define LEAST_SPARE_BYTES ((size_t)64 << 10) /* smaller ones come cheap, and would push out the dear ones */

void pp_budget_init(pp_budget *budget, size_t limit_bytes)
{
    *budget = (pp_budget){.limit_bytes = limit_bytes, .mutex = PTHREAD_MUTEX_INITIALIZER};
}

void pp_budget_keep_spares(pp_budget *budget, size_t bytes)
{
    budget->spare_limit_bytes = bytes;
}

/* ---- Spares: the mutex is held ---- */

static pp_spare take_out(pp_budget *budget, int index)
{
    pp_spare spare = budget->spares[index];
    budget->spare_bytes -= spare.bytes;
    budget->spare_count--;
    for (; index < budget->spare_count; index++)
        budget->spares[index] = budget->spares[index + 1];
    ASAN_UNPOISON_MEMORY_REGION(spare.data, spare.bytes);
    return spare;
}

static void drop_oldest(pp_budget *budget)
{
    pp_spare spare = take_out(budget, 0);
    pp_free_pages(spare.data, spare.bytes);
}

/* A spare of exactly this size, or NULL. */
static unsigned char *take_spare(pp_budget *budget, size_t bytes)
{
    int i;
    for (i = budget->spare_count - 1; i >= 0; i--)
        if (budget->spares[i].bytes == bytes)
            return take_out(budget, i).data;
    return NULL;
}

static void keep_spare(pp_budget *budget, unsigned char *data, size_t bytes)
{
    if (bytes < LEAST_SPARE_BYTES || bytes > budget->spare_limit_bytes) {
        pp_free_pages(data, bytes);
        return;
    }
    while (budget->spare_count == PP_SPARE_COUNT || budget->spare_bytes + bytes > budget->spare_limit_bytes)
        drop_oldest(budget);
    budget->spares[budget->spare_count++] = (pp_spare){data, bytes};
    budget->spare_bytes += bytes;
    ASAN_POISON_MEMORY_REGION(data, bytes);
}

/* ---- Loans: the mutex is held ---- */

static void unlink_loan(pp_budget *budget, pp_loan *loan)
{
    *(loan->older != NULL ? &loan->older->newer : &budget->oldest) = loan->newer;
    *(loan->newer != NULL ? &loan->newer->older : &budget->newest) = loan->older;
    loan->older = loan->newer = NULL;
    loan->is_lent = false;
    budget->lent_bytes -= loan->bytes;
}

static void link_loan(pp_budget *budget, pp_loan *loan)
{
    loan->older = budget->newest;
    loan->newer = NULL;
    *(budget->newest != NULL ? &budget->newest->newer : &budget->oldest) = loan;
    budget->newest = loan;
    loan->is_lent = true;
    budget->lent_bytes += loan->bytes;
}

static void give_back_oldest(pp_budget *budget)
{
    pp_loan *loan = budget->oldest;
    unlink_loan(budget, loan);
    loan->give_back(loan);
}

void pp_budget_clear(pp_budget *budget)
{
    while (budget->spare_count > 0)
        drop_oldest(budget);
    while (budget->oldest != NULL)
        give_back_oldest(budget);
}

/* ---- Reserving ---- */

static parapet_status refuse_reservation(const pp_budget *budget, size_t bytes, size_t free_bytes,
                                         const char *purpose)
{
    size_t wanted;
    if (!pp_add_size_fits(budget->limit_bytes - free_bytes, bytes, &wanted) ||
        !pp_add_size_fits(wanted, atomic_load(&budget->expected_bytes), &wanted) || wanted > INT64_MAX)
        return pp_fail(PARAPET_ERR_MEMORY, "%s need %zu bytes, more than any machine has", purpose, bytes);
    return pp_refuse_memory(
        wanted, "%s need %zu bytes, but the memory limit of %zu has only %zu left; set memory_bytes to at least %zu",
        purpose, bytes, budget->limit_bytes, free_bytes, wanted);
}

/* The mutex is held. For this much in use there is room, once spares and loans give way. */
static void make_room(pp_budget *budget, size_t wanted)
{
    while (wanted > budget->limit_bytes - budget->spare_bytes - budget->lent_bytes)
        (budget->spare_count > 0 ? drop_oldest : give_back_oldest)(budget);
}

/* The mutex is held. */
static void note_peak(pp_budget *budget)
{
    size_t used = atomic_load(&budget->used_bytes);
    if (used > atomic_load(&budget->peak_bytes))
        atomic_store(&budget->peak_bytes, used);
}

/* The mutex is held. */
static parapet_status reserve(pp_budget *budget, size_t bytes, const char *purpose)
{
    size_t used = atomic_load(&budget->used_bytes), wanted;
    if (!pp_add_size_fits(used, bytes, &wanted) || wanted > budget->limit_bytes)
        return refuse_reservation(budget, bytes, budget->limit_bytes - used, purpose);
    make_room(budget, wanted);
    atomic_store(&budget->used_bytes, wanted);
    note_peak(budget);
    return PARAPET_OK;
}

parapet_status pp_budget_reserve(pp_budget *budget, size_t bytes, const char *purpose)
{
    parapet_status status;
    (void)pthread_mutex_lock(&budget->mutex);
    status = reserve(budget, bytes, purpose);
    (void)pthread_mutex_unlock(&budget->mutex);
    return status;
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
    (void)pthread_mutex_lock(&budget->mutex);
    atomic_fetch_sub(&budget->used_bytes, bytes);
    (void)pthread_mutex_unlock(&budget->mutex);
}

void pp_budget_lend(pp_budget *budget, pp_loan *loan)
{
    (void)pthread_mutex_lock(&budget->mutex);
    link_loan(budget, loan);
    atomic_fetch_sub(&budget->used_bytes, loan->bytes);
    (void)pthread_mutex_unlock(&budget->mutex);
}

bool pp_budget_reclaim(pp_budget *budget, pp_loan *loan)
{
    bool is_there;
    (void)pthread_mutex_lock(&budget->mutex);
    if ((is_there = loan->is_lent)) {
        unlink_loan(budget, loan);
        atomic_fetch_add(&budget->used_bytes, loan->bytes);
        note_peak(budget);
    }
    (void)pthread_mutex_unlock(&budget->mutex);
    return is_there;
}

void pp_budget_lock(pp_budget *budget)
{
    (void)pthread_mutex_lock(&budget->mutex);
}

void pp_budget_unlock(pp_budget *budget)
{
    (void)pthread_mutex_unlock(&budget->mutex);
}

bool pp_budget_has_room(const pp_budget *budget, size_t bytes, size_t withdrawn_bytes)
{
    size_t taken = atomic_load(&budget->used_bytes) + budget->spare_bytes + budget->lent_bytes - withdrawn_bytes;
    return bytes <= budget->limit_bytes - taken;
}

void pp_budget_offer(pp_budget *budget, pp_loan *loan)
{
    assert(pp_budget_has_room(budget, loan->bytes, 0));
    link_loan(budget, loan);
}

void pp_budget_withdraw(pp_budget *budget, pp_loan *loan)
{
    unlink_loan(budget, loan);
}

void pp_budget_expect(pp_budget *budget, size_t bytes)
{
    atomic_store(&budget->expected_bytes, bytes);
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

/* ---- Buffers ---- */

/* Reserves, and gives a spare if there is one of this size. */
static parapet_status reserve_buffer(pp_buffer *buffer, pp_budget *budget, size_t bytes, const char *purpose)
{
    parapet_status status;
    (void)pthread_mutex_lock(&budget->mutex);
    buffer->data = take_spare(budget, bytes);
    status = reserve(budget, bytes, purpose);
    if (status != PARAPET_OK && buffer->data != NULL) {
        keep_spare(budget, buffer->data, bytes);
        buffer->data = NULL;
    }
    (void)pthread_mutex_unlock(&budget->mutex);
    return status;
}

parapet_status pp_buffer_init(pp_buffer *buffer, pp_budget *budget, size_t bytes, const char *purpose)
{
    size_t rounded = pp_align_up(pp_max_size(bytes, 1), PP_PAGE_BYTES);
    parapet_status status;
    buffer->data = NULL;
    if (rounded < bytes)
        return pp_fail(PARAPET_ERR_MEMORY, "%s need %zu bytes, more than any machine has", purpose, bytes);
    if ((status = reserve_buffer(buffer, budget, rounded, purpose)) != PARAPET_OK)
        return status;
    if (buffer->data == NULL)
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
    (void)pthread_mutex_lock(&buffer->budget->mutex);
    atomic_fetch_sub(&buffer->budget->used_bytes, buffer->capacity);
    keep_spare(buffer->budget, buffer->data, buffer->capacity);
    (void)pthread_mutex_unlock(&buffer->budget->mutex);
    buffer->data = NULL;
    buffer->capacity = 0;
}
