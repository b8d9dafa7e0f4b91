/* options.h - the options of a store. */
#ifndef PARAPET_ARRAY_OPTIONS_H
#define PARAPET_ARRAY_OPTIONS_H

#include <parapet_store.h>

/* The given options, completed from the environment and the defaults. */
parapet_status pp_options_resolve(parapet_store_options *resolved, const parapet_store_options *given);

/* For tests of several nodes on one machine: the environment variable PARAPET_RANKS_PER_NODE, that many consecutive
 * ranks count as a node; 0: the real nodes. */
parapet_status pp_options_ranks_per_node(int *ranks);

#endif
