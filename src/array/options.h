/* options.h - the options of a store. */
#ifndef PARAPET_ARRAY_OPTIONS_H
#define PARAPET_ARRAY_OPTIONS_H

#include "base/status.h"

/* The options given, filled up from the environment and the defaults. */
parapet_status pp_options_resolve(parapet_store_options *resolved, const parapet_store_options *given);

/* For tests of several nodes on one machine: so many ranks in a row are taken for a node, by the environment variable
 * PARAPET_RANKS_PER_NODE; 0: as it is. */
parapet_status pp_options_ranks_per_node(int *ranks);

#endif
