/* health.c - what this process knows of generations: that they verify, or that they are damaged.
 *
 * That one verifies counts for the open store in which that was seen. Damage counts for every store of this process
 * at the same place: a program may restore with one handle and make checkpoints with another. What falls out of the
 * table is unknown again, and looked at once more. */
#include "checkpoint/health.h"

#include <pthread.h>
#include <string.h>

#include "array/store_queries.h"
#include "base/sha256.h"

#define ENTRIES 256

typedef struct entry {
    uint64_t place[2];
    uint64_t serial;                     /* of the store that it was seen in */
    unsigned char path[PP_SHA256_BYTES]; /* of the group that holds the generations */
    int64_t number;
    pp_generation_health health; /* UNKNOWN: a free entry */
} entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static entry entries[ENTRIES];
static int next_entry;

static entry entry_of(const parapet_store *store, const char *path, int64_t number)
{
    const pp_store *backend = pp_store_backend(store);
    entry made = {.place = {backend->place[0], backend->place[1]}, .serial = pp_store_serial(store)};
    made.number = number;
    pp_sha256_of(path, strlen(path), made.path);
    return made;
}

/* NULL: there is none. */
static entry *find(const entry *about)
{
    int i;
    for (i = 0; i < ENTRIES; i++)
        if (entries[i].health != PP_GENERATION_UNKNOWN && entries[i].number == about->number &&
            entries[i].place[0] == about->place[0] && entries[i].place[1] == about->place[1] &&
            memcmp(entries[i].path, about->path, sizeof about->path) == 0)
            return &entries[i];
    return NULL;
}

pp_generation_health pp_generation_get_health(const parapet_store *store, const char *path, int64_t number)
{
    entry about = entry_of(store, path, number);
    pp_generation_health health = PP_GENERATION_UNKNOWN;
    const entry *found;
    (void)pthread_mutex_lock(&mutex);
    found = find(&about);
    if (found != NULL && (found->health == PP_GENERATION_DAMAGED || found->serial == about.serial))
        health = found->health;
    (void)pthread_mutex_unlock(&mutex);
    return health;
}

void pp_generation_set_health(const parapet_store *store, const char *path, int64_t number,
                              pp_generation_health health)
{
    entry about = entry_of(store, path, number), *found;
    about.health = health;
    (void)pthread_mutex_lock(&mutex);
    if ((found = find(&about)) == NULL) {
        found = &entries[next_entry];
        next_entry = (next_entry + 1) % ENTRIES;
    }
    *found = about;
    (void)pthread_mutex_unlock(&mutex);
}
