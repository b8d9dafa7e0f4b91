/* opening.h - how a store is opened once its ranks are known. open.h starts from the caller's communicator. */
#ifndef PARAPET_ARRAY_OPENING_H
#define PARAPET_ARRAY_OPENING_H

#include <parapet_types.h>

#include "comm/comm.h"
#include "store/store.h"

struct parapet_store_options;

/* What to open: a url, or a backend that the caller keeps. */
typedef struct pp_opening {
    const char *url;
    pp_store *backend;
    parapet_mode mode;
    const struct parapet_store_options *options; /* as given; may be NULL */
} pp_opening;

/* deadline_seconds as given or from the environment; 0 if that cannot be determined: opening then fails for that
 * reason. */
double pp_opening_deadline(const pp_opening *how);

/* [collective] Takes over comm, or frees it. */
parapet_status pp_store_open_on(parapet_store **store, pp_comm *comm, const pp_opening *asked);

/* [local] In this process alone. */
parapet_status pp_store_open_alone(parapet_store **store, const pp_opening *how);

#endif
