/* opening.h - how a store is opened over ranks that are known already. What the caller's communicator has to do with
 * it is in open.h. */
#ifndef PARAPET_ARRAY_OPENING_H
#define PARAPET_ARRAY_OPENING_H

#include "comm/comm.h"
#include "store/store.h"

/* What a store is to be opened over: a url, or a backend that the caller keeps. */
typedef struct pp_opening {
    const char *url;
    pp_store *backend;
    parapet_mode mode;
    const parapet_store_options *options; /* as given; may be NULL */
} pp_opening;

/* deadline_seconds as given or from the environment; 0 where that cannot be told: opening then fails for that reason.
 */
double pp_opening_deadline(const pp_opening *how);

/* [collective] comm becomes the store's, or is freed. */
parapet_status pp_store_open_on(parapet_store **store, pp_comm *comm, const pp_opening *asked);

/* [local] In this process alone. */
parapet_status pp_store_open_alone(parapet_store **store, const pp_opening *how);

#endif
