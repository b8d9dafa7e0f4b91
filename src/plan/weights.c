#include "plan/weights.h"

#include "base/checked.h"

/* Speeds are compared in thousandths of the weight that they deserve, so that all ranks find the same. */
#define THOUSANDTHS 1000
#define PERCENT_BEYOND 7

static int64_t deserved(int64_t speed, int64_t fastest)
{
    int64_t known = pp_min_i64(speed, PP_SPEED_MOST), most = pp_max_i64(pp_min_i64(fastest, PP_SPEED_MOST), 1);
    return known * PP_WEIGHT_MOST * THOUSANDTHS / most;
}

int pp_weight_nearest(int64_t speed, int64_t fastest)
{
    int64_t nearest = (deserved(speed, fastest) + THOUSANDTHS / 2) / THOUSANDTHS;
    return (int)pp_max_i64(1, pp_min_i64(nearest, PP_WEIGHT_MOST));
}

/* There is no weight below 1 that a slower server could get. A faster one than 8 changes what 8 stands for. */
bool pp_weight_holds(int weight, int64_t speed, int64_t fastest)
{
    int64_t low = ((int64_t)weight * THOUSANDTHS - THOUSANDTHS / 2) * (100 - PERCENT_BEYOND) / 100;
    int64_t high = ((int64_t)weight * THOUSANDTHS + THOUSANDTHS / 2) * (100 + PERCENT_BEYOND) / 100;
    int64_t found = deserved(speed, fastest);
    return (weight == 1 || found >= low) && found <= high;
}

static int64_t speed_of(int weight, int64_t speed, int64_t fastest)
{
    return speed > 0 ? speed : fastest / PP_WEIGHT_MOST * weight;
}

bool pp_weights_renew(int *weights, const int64_t *speeds, int count, int64_t *fastest)
{
    int64_t most = 0;
    bool has_changed = false;
    int i;
    for (i = 0; i < count; i++)
        most = pp_max_i64(most, speed_of(weights[i], speeds[i], *fastest));
    for (i = 0; i < count && most > 0; i++) {
        int64_t speed = speed_of(weights[i], speeds[i], *fastest);
        if (speed > 0 && !pp_weight_holds(weights[i], speed, most)) {
            weights[i] = pp_weight_nearest(speed, most);
            has_changed = true;
        }
    }
    *fastest = most > 0 ? most : *fastest;
    return has_changed;
}
