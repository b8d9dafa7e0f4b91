/* supply.h - the shards that a server has still to open. Its pipeline takes them from the front; servers that have
 * run out of work get some from the back. Also how fast the server is, in shards. Any thread may call any function.
 */
#ifndef PARAPET_TRANSFER_SUPPLY_H
#define PARAPET_TRANSFER_SUPPLY_H

#include <pthread.h>
#include <stdatomic.h>

#include "plan/worklist.h"

/* Shards at the end of a list that are put aside, because they cannot be given, for others that can. */
#define PP_SUPPLY_KEPT 16

typedef struct pp_supply {
    pthread_mutex_t lock; /* held to use the fields up to began_at */
    const pp_worklist *list;
    size_t first, end;              /* records of shards that are not opened */
    size_t kept[PP_SUPPLY_KEPT][2]; /* and of those that stay here: they are opened next */
    int kept_count;
    int64_t left;   /* all those shards */
    int64_t opened; /* shards, of all lists so far */
    double busy_seconds, began_at;
    atomic_llong begun,
        stored; /* windows of opened shards: those begun, and of them those that storage is done with */
} pp_supply;

void pp_supply_init(pp_supply *supply);
void pp_supply_clear(pp_supply *supply);

/* A list of shards to serve, when the one before is finished; and when it is finished itself. */
void pp_supply_begin(pp_supply *supply, const pp_worklist *list);
void pp_supply_end(pp_supply *supply);

/* The records of the next shard to open; false: none is left. */
bool pp_supply_next(pp_supply *supply, size_t *first, size_t *end);

/* Shards that may be given away. */
int64_t pp_supply_left(pp_supply *supply);

/* A window of an opened shard is begun; storage is done with one. */
void pp_supply_note_begun(pp_supply *supply);
void pp_supply_note_stored(pp_supply *supply);

/* Shards per second, while there was something to do; 0: nothing is stored yet. */
double pp_supply_speed(pp_supply *supply);

/* The records of the shards at the end of the list that a server of this speed is to have, if `fits` says so of each;
 * they belong to the supply no longer. false: none. */
typedef bool (*pp_supply_fits)(void *context, size_t first, size_t end);
bool pp_supply_give(pp_supply *supply, double speed, pp_supply_fits fits, void *context, size_t *first, size_t *end);

#endif
