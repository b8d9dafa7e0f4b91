#include "forecast/reach.h"

#include <math.h>

#include "base/checked.h"

/* Steps that halve the time in question: enough for the digits that a double has. */
#define HALVINGS 60
/* A server that is done with a piece at that very instant counts. */
#define ROUNDING 1e-9

static double sum_of_speeds(const pp_server_load *servers, int server_count)
{
    double sum = 0;
    int i;
    for (i = 0; i < server_count; i++)
        sum += (double)servers[i].speed;
    return sum;
}

/* Whole pieces that are done until then. */
static double count_done(const pp_server_load *servers, int server_count, double seconds, double piece_bytes)
{
    double count = 0;
    int i;
    for (i = 0; i < server_count; i++)
        count += floor(seconds * (double)servers[i].speed / piece_bytes + ROUNDING);
    return count;
}

/* Any server leaves less than one piece undone. */
double pp_reach_least_seconds(const pp_server_load *servers, int server_count, int64_t pieces, double piece_bytes)
{
    double sum = sum_of_speeds(servers, server_count);
    double low = (double)pieces * piece_bytes / sum, high = ((double)pieces + server_count) * piece_bytes / sum;
    int i;
    for (i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (count_done(servers, server_count, middle, piece_bytes) >= (double)pieces)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static parapet_status add_held(pp_reach *reach, pp_schedule *schedule)
{
    parapet_status status = PARAPET_OK;
    pp_server_share share;
    int i;
    for (i = 0; i < reach->server_count && status == PARAPET_OK; i++)
        if ((status = pp_schedule_held(schedule, i, &share)) == PARAPET_OK) {
            reach->loads[i].shards = share.shards;
            reach->loads[i].bytes = share.own.bytes;
        }
    return status;
}

static void add_shards(pp_reach *reach, const pp_schedule *schedule, const pp_schedule_case *by)
{
    int64_t shard;
    for (shard = 0; shard < by->tiling->shards.cell_count; shard++) {
        pp_server_load *load = &reach->loads[pp_schedule_owner(schedule, shard)];
        pp_box box;
        pp_tiling_shard_box(by->tiling, shard, &box);
        load->shards++;
        load->bytes += pp_box_element_count(&box) * (int64_t)by->tiling->element_bytes;
    }
}

/* As for even servers (print.h), shards that are cut off at an edge count only by their bytes. */
static double least_seconds(const pp_reach *reach, const pp_schedule_case *by, double bytes)
{
    const pp_grid *shards = &by->tiling->shards;
    double shard = (double)by->tiling->element_bytes, least = bytes / reach->sum, whole_least;
    int64_t whole = 1;
    int d;
    for (d = 0; d < shards->ndim; d++) {
        whole *= pp_max_i64(shards->shape[d] / shards->cell_shape[d], 1);
        shard *= (double)pp_min_i64(shards->shape[d], shards->cell_shape[d]);
    }
    whole_least = pp_reach_least_seconds(reach->loads, reach->server_count, whole, shard);
    return whole_least > least ? whole_least : least;
}

static void judge(pp_reach *reach, const pp_schedule_case *by, bool is_self_service)
{
    double bytes = 0, last = 0;
    int i;
    for (i = 0; i < reach->server_count; i++) {
        pp_server_load *load = &reach->loads[i];
        load->seconds = (double)load->bytes / (double)load->speed;
        last = load->seconds > last ? load->seconds : last;
        bytes += (double)load->bytes;
    }
    reach->reached = reach->best = 1;
    if (bytes == 0)
        return;
    reach->reached = bytes / reach->sum / last;
    if (!is_self_service)
        reach->best = bytes / reach->sum / least_seconds(reach, by, bytes);
}

parapet_status pp_reach_init(pp_reach *reach, pp_schedule *schedule, const pp_schedule_case *by,
                             const int64_t *speeds)
{
    parapet_status status;
    int i;
    *reach = (pp_reach){.server_count = by->server_count};
    if ((status = pp_allocate_array(&reach->loads, (size_t)by->server_count, sizeof reach->loads[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < by->server_count; i++)
        reach->loads[i].speed = speeds[i];
    reach->sum = sum_of_speeds(reach->loads, by->server_count);
    if (pp_schedule_is_self_service(schedule))
        status = add_held(reach, schedule);
    else
        add_shards(reach, schedule, by);
    judge(reach, by, pp_schedule_is_self_service(schedule));
    return status;
}

void pp_reach_clear(pp_reach *reach)
{
    pp_free(reach->loads);
    *reach = (pp_reach){0};
}
