#include "places.h"

#include <execinfo.h>

/* Those of this file and of what calls it; then as many as tell one failure from another. */
enum { SKIPPED = 3, TOLD_APART = 6 };

static uint64_t digest_calls(void)
{
    void *calls[SKIPPED + TOLD_APART];
    int count = backtrace(calls, SKIPPED + TOLD_APART), i;
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (i = SKIPPED; i < count; i++)
        digest = (digest ^ (uint64_t)(uintptr_t)calls[i]) * UINT64_C(0x9E3779B97F4A7C15);
    digest ^= digest >> 31;
    return digest != 0 ? digest : 1;
}

void place_record_add(place_record *record)
{
    long number;
    if (!record->is_on)
        return;
    number = atomic_fetch_add(&record->count, 1);
    if (number < PLACES_MOST)
        record->places[number] = digest_calls();
}

bool place_set_add(place_set *set, uint64_t place)
{
    const uint64_t slots = sizeof set->slots / sizeof set->slots[0];
    uint64_t i = place % slots;
    for (; set->slots[i] != 0; i = (i + 1) % slots)
        if (set->slots[i] == place)
            return false;
    if (set->count >= (long)slots / 2)
        return false;
    set->slots[i] = place;
    set->count++;
    return true;
}
