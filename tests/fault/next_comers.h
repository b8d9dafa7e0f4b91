/* next_comers.h - changes that are interrupted, and whoever comes next: what each does to the node "g/n" of a small
 * store, beside which there are "g/b" and "keep/k". */
#ifndef PARAPET_TESTS_NEXT_COMERS_H
#define PARAPET_TESTS_NEXT_COMERS_H

#include "support.h"

#include <parapet.h>

#include "array/open.h"
#include "base/status.h"

enum { NEXT_VALUES_MOST = 128, NEXT_SENTENCES = 8 };

#define NEXT_NODE "g/n"

/* A change, and what is known of it. */
typedef struct client {
    const char *name;
    void (*prepare)(parapet_store *store);
    parapet_status (*run)(parapet_store *store, bool again); /* again: as whoever continues it would call it */
    const char *array;                                       /* what next comers write to, grow, seal and replace */
    const char *decider;                   /* the line of what readers see that becomes new last; NULL: none */
    bool may_vanish;                       /* an array is old, new or, in between, absent */
    bool is_in_parts;                      /* arrays come or go one after the other */
    bool is_resumed;                       /* what was done before a crash is not done again */
    bool has_generations;                  /* whose folders have any names */
    int stride;                            /* of crashes in the quick form */
    const char *explained[NEXT_SENTENCES]; /* how sentences tell next comers what to do; each of them is met */
} client;

extern const client clients[];
extern const int client_count;

/* Whoever comes next. */
typedef struct comer {
    const char *name;
    parapet_status (*run)(parapet_store *store, const client *of);
    bool reads;     /* in a store that is open for reading, and nothing changes */
    bool is_beside; /* does not concern the node, so that its copy is resumed where it was */
} comer;

/* The first places of the table, for those that are used by name. */
enum { NOBODY, GC, COPY_IT, COMERS = 25 };
extern const comer comers[COMERS];

/* What is copied and appended is in a store of its own, which never changes, so that its versions stay. */
void next_source_build(void);
void next_source_free(void);

parapet_status next_store_open(pp_store *backend, parapet_store **store, parapet_mode mode);

/* What is there before a change: the groups around the node are consolidated. */
void next_prepare(parapet_store *store, const client *of);
parapet_status next_consolidate(parapet_store *store, const char *path);
parapet_status next_remove(parapet_store *store);

/* How much of the last copy an earlier one had done. */
int64_t next_templates_resumed(void);

#endif
