/* options.h - the options of a store. */
#ifndef PARAPET_ARRAY_OPTIONS_H
#define PARAPET_ARRAY_OPTIONS_H

#include "base/status.h"

/* The options given, filled up from the environment and the defaults. */
parapet_status pp_options_resolve(parapet_store_options *resolved, const parapet_store_options *given);

#endif
