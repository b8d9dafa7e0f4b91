/* given_weights.h - the weights of servers that a file gives (plan/weights_file.h), before anything was measured. */
#ifndef PARAPET_ARRAY_GIVEN_WEIGHTS_H
#define PARAPET_ARRAY_GIVEN_WEIGHTS_H

#include <parapet_types.h>

#include "plan/weights_file.h"

/* [local] The speeds that the file has for that many servers. Clear them even after a failure. */
parapet_status pp_given_weights_read(pp_given_speeds *speeds, const char *path, int server_count);

/* [collective] If the store has owners by speed, and several servers, and a file is given, its weights are in force
 * from the first call on. Rank 0 reads it. Same status on every rank. */
parapet_status pp_given_weights_begin(parapet_store *store);

#endif
