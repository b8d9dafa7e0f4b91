#include "transfer/supply.h"

#include "base/checked.h"
#include "base/clock.h"
#include "plan/surplus.h"

void pp_supply_init(pp_supply *supply)
{
    *supply = (pp_supply){0};
    pthread_mutex_init(&supply->lock, NULL);
}

void pp_supply_clear(pp_supply *supply)
{
    pthread_mutex_destroy(&supply->lock);
}

void pp_supply_begin(pp_supply *supply, const pp_worklist *list)
{
    pthread_mutex_lock(&supply->lock);
    supply->list = list;
    supply->first = 0;
    supply->end = list->count;
    supply->kept_count = 0;
    supply->left = (int64_t)pp_worklist_group_count(list);
    supply->began_at = pp_clock_seconds();
    pthread_mutex_unlock(&supply->lock);
}

void pp_supply_end(pp_supply *supply)
{
    pthread_mutex_lock(&supply->lock);
    supply->busy_seconds += pp_clock_seconds() - supply->began_at;
    supply->list = NULL;
    supply->first = supply->end = 0;
    supply->kept_count = 0;
    supply->left = 0;
    pthread_mutex_unlock(&supply->lock);
}

static void take_next(pp_supply *supply, size_t *first, size_t *end)
{
    if (supply->kept_count > 0) {
        supply->kept_count--;
        *first = supply->kept[supply->kept_count][0];
        *end = supply->kept[supply->kept_count][1];
    } else {
        *first = supply->first;
        *end = supply->first = pp_worklist_group_end(supply->list, supply->first);
    }
}

bool pp_supply_next(pp_supply *supply, size_t *first, size_t *end)
{
    bool is_any;
    pthread_mutex_lock(&supply->lock);
    is_any = supply->left > 0;
    if (is_any) {
        take_next(supply, first, end);
        supply->left--;
        supply->opened++;
    }
    pthread_mutex_unlock(&supply->lock);
    return is_any;
}

int64_t pp_supply_left(pp_supply *supply)
{
    int64_t left;
    pthread_mutex_lock(&supply->lock);
    left = supply->left - supply->kept_count;
    pthread_mutex_unlock(&supply->lock);
    return left;
}

void pp_supply_note_begun(pp_supply *supply)
{
    atomic_fetch_add(&supply->begun, 1);
}

void pp_supply_note_stored(pp_supply *supply)
{
    atomic_fetch_add(&supply->stored, 1);
}

/* How many windows a shard has, as seen so far; at least one. */
static double windows_per_shard(const pp_supply *supply)
{
    long long begun = atomic_load(&supply->begun);
    return supply->opened > 0 && begun > supply->opened ? (double)begun / (double)supply->opened : 1;
}

static double speed_of(const pp_supply *supply)
{
    double seconds = supply->busy_seconds;
    if (supply->list != NULL)
        seconds += pp_clock_seconds() - supply->began_at;
    return seconds > 0 ? (double)atomic_load(&supply->stored) / windows_per_shard(supply) / seconds : 0;
}

double pp_supply_speed(pp_supply *supply)
{
    double speed;
    pthread_mutex_lock(&supply->lock);
    speed = speed_of(supply);
    pthread_mutex_unlock(&supply->lock);
    return speed;
}

/* What is begun and not stored, in shards; of the last one, half is not even begun. */
static double count_open(const pp_supply *supply)
{
    long long windows = atomic_load(&supply->begun) - atomic_load(&supply->stored);
    return windows > 0 ? (double)windows / windows_per_shard(supply) + 0.5 : 0;
}

/* Of every list one shard is begun here, so that none goes round for ever. */
static int64_t count_free(const pp_supply *supply)
{
    return supply->left - supply->kept_count - (supply->first == 0 && supply->kept_count == 0);
}

/* The last shard is too large to be given; false: no more can be kept. */
static bool keep_last(pp_supply *supply)
{
    size_t start = pp_worklist_group_start(supply->list, supply->end);
    if (supply->kept_count == PP_SUPPLY_KEPT)
        return false;
    supply->kept[supply->kept_count][0] = start;
    supply->kept[supply->kept_count++][1] = supply->end;
    supply->end = start;
    return true;
}

/* Shards at the end, as many as there are to give and fit, behind those that have to stay. */
static int64_t cut_off(pp_supply *supply, int64_t most, pp_supply_fits fits, void *context, size_t *first)
{
    int64_t count = 0;
    *first = supply->end;
    while (count < pp_min_i64(most, count_free(supply))) {
        size_t start = pp_worklist_group_start(supply->list, *first);
        bool is_given = fits(context, start, *first);
        if (!is_given && (count > 0 || !keep_last(supply)))
            break;
        *first = start;
        count += is_given;
    }
    return count;
}

bool pp_supply_give(pp_supply *supply, double speed, pp_supply_fits fits, void *context, size_t *first, size_t *end)
{
    int64_t count = 0;
    pthread_mutex_lock(&supply->lock);
    if (supply->left > 0) {
        int64_t most = pp_surplus_to_give(&(pp_surplus){
            .left = supply->left, .open = count_open(supply), .giver_speed = speed_of(supply), .thief_speed = speed});
        count = cut_off(supply, most, fits, context, first);
        *end = supply->end;
        supply->end = *first;
        supply->left -= count;
    }
    pthread_mutex_unlock(&supply->lock);
    return count > 0;
}
