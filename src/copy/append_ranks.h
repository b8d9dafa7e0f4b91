/* append_ranks.h - the ranks that append together, and what they tell of their progress. */
#ifndef PARAPET_COPY_APPEND_RANKS_H
#define PARAPET_COPY_APPEND_RANKS_H

#include "comm/comm.h"
#include "copy/append_task.h"

pp_comm *pp_append_comm(const pp_append *append);
bool pp_append_leads(const pp_append *append);

/* Whether the target is, or could be, made longer. One that is open for reading only stands for another: a source
 * that would be appended before. */
bool pp_append_may_change(const pp_append *append);

/* [collective] Reports progress, and whether it should end. */
parapet_status pp_append_tick(const pp_append *append);

#endif
