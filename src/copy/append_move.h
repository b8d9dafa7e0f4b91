/* append_move.h - the elements that are appended, from source to target. */
#ifndef PARAPET_COPY_APPEND_MOVE_H
#define PARAPET_COPY_APPEND_MOVE_H

#include "copy/append_task.h"

/* [collective] Writes the elements of all arrays, whose handles have their new extent. */
parapet_status pp_append_move(pp_append *append);

#endif
