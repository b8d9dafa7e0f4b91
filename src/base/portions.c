#include "base/portions.h"

#include <assert.h>

#include "base/checked.h"

void pp_portions_init(pp_portions *portions, size_t total_bytes)
{
    *portions = (pp_portions){.mutex = PTHREAD_MUTEX_INITIALIZER,
                              .has_changed = PTHREAD_COND_INITIALIZER,
                              .total_bytes = total_bytes,
                              .free_bytes = total_bytes};
}

void pp_portions_destroy(pp_portions *portions)
{
    (void)pthread_cond_destroy(&portions->has_changed);
    (void)pthread_mutex_destroy(&portions->mutex);
}

size_t pp_portions_take(pp_portions *portions, size_t least_bytes, size_t wanted_bytes)
{
    uint64_t number;
    size_t taken;
    assert(least_bytes <= portions->total_bytes);
    (void)pthread_mutex_lock(&portions->mutex);
    number = portions->next_number++;
    while (portions->served_number != number || portions->free_bytes < least_bytes)
        (void)pthread_cond_wait(&portions->has_changed, &portions->mutex);
    taken = pp_min_size(pp_max_size(wanted_bytes, least_bytes), portions->free_bytes);
    portions->free_bytes -= taken;
    portions->served_number++;
    (void)pthread_cond_broadcast(&portions->has_changed);
    (void)pthread_mutex_unlock(&portions->mutex);
    return taken;
}

void pp_portions_give_back(pp_portions *portions, size_t bytes)
{
    (void)pthread_mutex_lock(&portions->mutex);
    portions->free_bytes += bytes;
    (void)pthread_cond_broadcast(&portions->has_changed);
    (void)pthread_mutex_unlock(&portions->mutex);
}
