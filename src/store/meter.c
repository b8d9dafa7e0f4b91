#include "store/meter.h"

#include "base/clock.h"

void pp_meter_init(pp_meter *meter)
{
    *meter = (pp_meter){0};
    (void)pthread_mutex_init(&meter->mutex, NULL);
}

void pp_meter_destroy(pp_meter *meter)
{
    (void)pthread_mutex_destroy(&meter->mutex);
}

void pp_meter_begin(pp_meter *meter)
{
    if (meter == NULL)
        return;
    (void)pthread_mutex_lock(&meter->mutex);
    if (meter->under_way++ == 0)
        meter->since_ns = pp_clock_now_ns();
    (void)pthread_mutex_unlock(&meter->mutex);
}

parapet_status pp_meter_end(pp_meter *meter, parapet_status status)
{
    if (meter == NULL)
        return status;
    (void)pthread_mutex_lock(&meter->mutex);
    if (--meter->under_way == 0)
        meter->total_ns += pp_clock_now_ns() - meter->since_ns;
    (void)pthread_mutex_unlock(&meter->mutex);
    return status;
}

double pp_meter_seconds(pp_meter *meter)
{
    int64_t total_ns;
    (void)pthread_mutex_lock(&meter->mutex);
    total_ns = meter->total_ns + (meter->under_way > 0 ? pp_clock_now_ns() - meter->since_ns : 0);
    (void)pthread_mutex_unlock(&meter->mutex);
    return 1e-9 * (double)total_ns;
}
