/* append_list.h - which arrays an append is about, and how they are held. */
#ifndef PARAPET_COPY_APPEND_LIST_H
#define PARAPET_COPY_APPEND_LIST_H

#include "copy/append_task.h"
#include "copy/selection.h"

/* [collective] Which arrays there are in source and target, and which become longer. */
parapet_status pp_append_list(pp_append *append, pp_selection *selection);
void pp_append_pairs_clear(pp_append_pairs *pairs);

/* [collective] Holds those of the target that become longer, and opens them anew. */
parapet_status pp_append_hold(pp_append *append);

/* [collective] Holds the group. */
parapet_status pp_append_hold_group(pp_append *append);

#endif
