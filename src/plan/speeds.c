#include "plan/speeds.h"

#include <string.h>

#include "base/checked.h"

/* Less than this measures how long a call takes rather than how fast a disk is. */
#define LEAST_BYTES (INT64_C(1) << 20)

static parapet_status weighting_init(pp_weighting *weighting, int server_count)
{
    *weighting = (pp_weighting){.server_count = server_count};
    return pp_allocate_array(&weighting->weights, (size_t)server_count, sizeof weighting->weights[0]);
}

void pp_weighting_clear(pp_weighting *weighting)
{
    pp_free(weighting->weights);
    pp_turns_clear(&weighting->turns);
    *weighting = (pp_weighting){0};
}

bool pp_weighting_is_even(const pp_weighting *weighting)
{
    return weighting->turns.count == weighting->server_count;
}

parapet_status pp_speeds_init(pp_speeds *speeds, int server_count)
{
    parapet_status status;
    int i;
    *speeds = (pp_speeds){.epoch = 1};
    if ((status = weighting_init(&speeds->now, server_count)) != PARAPET_OK)
        return status;
    for (i = 0; i < server_count; i++)
        speeds->now.weights[i] = PP_WEIGHT_MOST;
    return pp_turns_init(&speeds->now.turns, speeds->now.weights, server_count);
}

void pp_speeds_clear(pp_speeds *speeds)
{
    pp_weighting_clear(&speeds->now);
    *speeds = (pp_speeds){0};
}

static int64_t whole_speed(double speed)
{
    return speed < (double)PP_SPEED_MOST ? pp_max_i64(1, (int64_t)speed) : PP_SPEED_MOST;
}

void pp_speeds_note(pp_speeds *speeds, int64_t bytes, double seconds)
{
    speeds->bytes += bytes;
    speeds->seconds += seconds;
    if (speeds->bytes < LEAST_BYTES || speeds->seconds <= 0)
        return;
    speeds->own = whole_speed((double)speeds->bytes / speeds->seconds);
    speeds->bytes = 0;
    speeds->seconds = 0;
}

bool pp_speeds_has_left(const pp_speeds *speeds, int server)
{
    if (server < 0 || speeds->own == 0 || speeds->now.server_count == 1)
        return false;
    return speeds->now.fastest == 0 ||
           !pp_weight_holds(speeds->now.weights[server], speeds->own, speeds->now.fastest);
}

parapet_status pp_weighting_renew(const pp_weighting *now, const int64_t *all, pp_weighting *next)
{
    parapet_status status = weighting_init(next, now->server_count);
    if (status != PARAPET_OK)
        return status;
    memcpy(next->weights, now->weights, (size_t)now->server_count * sizeof next->weights[0]);
    next->fastest = now->fastest;
    (void)pp_weights_renew(next->weights, all, now->server_count, &next->fastest);
    return pp_turns_init(&next->turns, next->weights, now->server_count);
}

static bool are_turns_equal(const pp_turns *a, const pp_turns *b)
{
    return a->count == b->count && memcmp(a->servers, b->servers, (size_t)a->count * sizeof a->servers[0]) == 0;
}

void pp_speeds_adopt(pp_speeds *speeds, pp_weighting *next)
{
    speeds->epoch += !are_turns_equal(&speeds->now.turns, &next->turns);
    pp_weighting_clear(&speeds->now);
    speeds->now = *next;
    *next = (pp_weighting){0};
}
