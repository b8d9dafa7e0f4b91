#include "plan/lattice_load.h"

#include <string.h>

#include "base/checked.h"

parapet_status pp_lattice_load_init(pp_lattice_load *load, int turn_count)
{
    parapet_status status;
    *load = (pp_lattice_load){.turn_count = turn_count};
    if ((status = pp_allocate_array(&load->counts, (size_t)turn_count, sizeof load->counts[0])) != PARAPET_OK)
        return status;
    return pp_allocate_array(&load->spread, (size_t)turn_count, sizeof load->spread[0]);
}

void pp_lattice_load_clear(pp_lattice_load *load)
{
    pp_free(load->counts);
    pp_free(load->spread);
    *load = (pp_lattice_load){0};
}

static int64_t later(int64_t turn, int64_t by, int64_t turns)
{
    return turn + by < turns ? turn + by : turn + by - turns;
}

static int64_t sum_of_cycle(const pp_lattice_load *load, int64_t first, int64_t step, int64_t length)
{
    int64_t sum = 0, turn = first, i;
    for (i = 0; i < length; i++, turn = later(turn, step, load->turn_count))
        sum += load->counts[turn];
    return sum;
}

/* Turns that are `step` apart form a cycle. Each gets what the last `extent` turns before it had, itself included:
 * whole cycles, and a window that moves along. */
static void spread_cycle(pp_lattice_load *load, int64_t first, int64_t step, int64_t length, int64_t extent)
{
    const int64_t turns = load->turn_count, width = extent % length;
    int64_t base = extent / length * sum_of_cycle(load, first, step, length), window = 0, entering = first;
    int64_t leaving = first, i;
    for (i = 0; i < width; i++, entering = later(entering, step, turns))
        window += load->counts[entering];
    /* The window now ends at the turn before `entering`. */
    for (i = 0; i < length; i++) {
        int64_t end = later(entering, turns - step, turns);
        load->spread[end] = base + window;
        window += width > 0 ? load->counts[entering] - load->counts[leaving] : 0;
        entering = later(entering, step, turns);
        leaving = later(leaving, step, turns);
    }
}

static void spread_along(pp_lattice_load *load, int64_t extent, int64_t multiplier)
{
    int64_t step = multiplier % load->turn_count, cycles = pp_greatest_common_divisor(load->turn_count, step), first;
    int64_t *counts = load->counts;
    for (first = 0; first < cycles; first++)
        spread_cycle(load, first, step, load->turn_count / cycles, extent);
    load->counts = load->spread;
    load->spread = counts;
}

int64_t pp_lattice_load_count(pp_lattice_load *load, int ndim, const int64_t *extents, const int64_t *multipliers)
{
    int64_t most = 0;
    int d, turn;
    memset(load->counts, 0, (size_t)load->turn_count * sizeof load->counts[0]);
    load->counts[0] = 1;
    for (d = 0; d < ndim; d++)
        if (extents[d] != 1)
            spread_along(load, extents[d], multipliers[d]);
    for (turn = 0; turn < load->turn_count; turn++)
        most = pp_max_i64(most, load->counts[turn]);
    return most;
}

/* Rounded up; the parts of a product that would not fit are divided first. */
static int64_t share_of(int64_t cells, int64_t own_turns, int64_t turns)
{
    return cells / turns * own_turns + pp_divide_up(cells % turns * own_turns, turns);
}

pp_server_load pp_lattice_load_of_servers(pp_lattice_load *load, const pp_turns *turns, int phase)
{
    pp_server_load found = {.is_least = true};
    int64_t cells = 0;
    int turn, taker = phase % turns->count, server;
    memset(load->spread, 0, (size_t)load->turn_count * sizeof load->spread[0]);
    for (turn = 0; turn < turns->count; turn++) {
        load->spread[turns->servers[taker]] += load->counts[turn];
        cells += load->counts[turn];
        taker = taker + 1 < turns->count ? taker + 1 : 0;
    }
    for (server = 0; server < turns->server_count; server++) {
        double own = (double)load->spread[server] / turns->turns_of[server];
        found.worst = own > found.worst ? own : found.worst;
        found.is_least =
            found.is_least && load->spread[server] <= share_of(cells, turns->turns_of[server], turns->count);
    }
    return found;
}
