#include "places.h"

#include <execinfo.h>

#include "base/memory.h"
#include "stores/wrapper.h"
#include "support.h"

/* Those of this file and of what calls it; then as many as tell one failure from another: more where none is inlined.
 */
#ifdef __OPTIMIZE__
enum { SKIPPED = 3, TOLD_APART = 6 };
#else
enum { SKIPPED = 3, TOLD_APART = 10 };
#endif

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

/* Returns whether it was not known yet. */
static bool add_place(place_set *set, uint64_t place)
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

long place_set_add_next(place_set *set, const place_record *record, long from)
{
    long count = atomic_load(&record->count), number;
    for (number = from; number < count && number < PLACES_MOST; number++)
        if (add_place(set, record->places[number]))
            return number;
    return -1;
}

/* ---- a store whose operations are recorded ---- */

typedef struct place_store {
    pp_wrapper wrapper;
    place_record *record;
} place_store;

static parapet_status record_operation(pp_wrapper *wrapper, pp_operation *operation)
{
    (void)operation;
    place_record_add(((place_store *)wrapper)->record);
    return PARAPET_OK;
}

static parapet_status keep_status(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void free_place_store(pp_wrapper *wrapper)
{
    pp_free(wrapper);
}

pp_store *place_store_build(pp_store *inner, place_record *record)
{
    static const pp_wrapper_hooks hooks = {
        .name = "recorded", .begin = record_operation, .end = keep_status, .free = free_place_store};
    place_store *made;
    assert_ok(pp_allocate(&made, sizeof *made));
    made->record = record;
    pp_wrapper_init(&made->wrapper, inner, &hooks);
    return &made->wrapper.store;
}
