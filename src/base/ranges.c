#include "base/ranges.h"

#include <stdlib.h>

enum { RANGES_LEAST = 64 };

static int compare_ranges(const void *a, const void *b)
{
    const pp_range *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Whether the second, which does not begin earlier, overlaps the first or follows it at once. */
static bool is_joined(const pp_range *a, const pp_range *b)
{
    return b->first <= a->last || b->first == a->last + 1;
}

void pp_ranges_sort(pp_ranges *ranges)
{
    size_t i, used = 0;
    if (ranges->sorted_count == ranges->count)
        return;
    qsort(ranges->list, ranges->count, sizeof ranges->list[0], compare_ranges);
    for (i = 0; i < ranges->count; i++) {
        pp_range *last = used > 0 ? &ranges->list[used - 1] : NULL;
        if (last == NULL || !is_joined(last, &ranges->list[i]))
            ranges->list[used++] = ranges->list[i];
        else if (ranges->list[i].last > last->last)
            last->last = ranges->list[i].last;
    }
    ranges->count = ranges->sorted_count = used;
}

/* Sorting may make the room; only a set that stays half full gets more. */
static parapet_status make_room(pp_ranges *ranges)
{
    size_t more = ranges->capacity == 0 ? RANGES_LEAST : ranges->capacity;
    parapet_status status = PARAPET_OK;
    if (ranges->count < ranges->capacity)
        return PARAPET_OK;
    pp_ranges_sort(ranges);
    if (ranges->count < ranges->capacity / 2)
        return PARAPET_OK;
    if (ranges->budget != NULL)
        status = pp_budget_reserve(ranges->budget, more * sizeof ranges->list[0], "lists of what is stored");
    if (status != PARAPET_OK)
        return status;
    status = pp_reallocate(&ranges->list, (ranges->capacity + more) * sizeof ranges->list[0]);
    if (status == PARAPET_OK)
        ranges->capacity += more;
    else if (ranges->budget != NULL)
        pp_budget_release(ranges->budget, more * sizeof ranges->list[0]);
    return status;
}

parapet_status pp_ranges_add(pp_ranges *ranges, int64_t first, int64_t last)
{
    pp_range added = {first, last};
    pp_range *before = ranges->count > 0 ? &ranges->list[ranges->count - 1] : NULL;
    parapet_status status;
    if (before != NULL && before->first <= first && is_joined(before, &added)) {
        before->last = last > before->last ? last : before->last;
        return PARAPET_OK;
    }
    if ((status = make_room(ranges)) != PARAPET_OK)
        return status;
    before = ranges->count > 0 ? &ranges->list[ranges->count - 1] : NULL;
    if (ranges->sorted_count == ranges->count && (before == NULL || before->last < first))
        ranges->sorted_count++;
    ranges->list[ranges->count++] = added;
    return PARAPET_OK;
}

bool pp_ranges_next(const pp_ranges *ranges, int64_t from, pp_range *found)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->list[middle].last < from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ranges->count)
        return false;
    *found = ranges->list[low];
    found->first = found->first < from ? from : found->first;
    return true;
}

bool pp_ranges_has(const pp_ranges *ranges, int64_t number)
{
    pp_range found;
    return pp_ranges_next(ranges, number, &found) && found.first == number;
}

int64_t pp_ranges_number_count(const pp_ranges *ranges)
{
    int64_t count = 0;
    for (size_t i = 0; i < ranges->count; i++)
        count += ranges->list[i].last - ranges->list[i].first + 1;
    return count;
}

void pp_ranges_clear(pp_ranges *ranges)
{
    if (ranges->budget != NULL)
        pp_budget_release(ranges->budget, ranges->capacity * sizeof ranges->list[0]);
    pp_free(ranges->list);
    *ranges = (pp_ranges){.budget = ranges->budget};
}
