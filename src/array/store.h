/* store.h - what the handle of a store answers. */
#ifndef PARAPET_ARRAY_STORE_H
#define PARAPET_ARRAY_STORE_H

#include "transfer/transfer.h"

parapet_status pp_store_check_writable(const parapet_store *store);

/* How the ranks of a store work together in a transfer. */
pp_team pp_store_team(const parapet_store *store, pp_direction direction);

#endif
