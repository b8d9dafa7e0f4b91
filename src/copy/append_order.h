/* append_order.h - where the values of the coordinate that are appended belong. */
#ifndef PARAPET_COPY_APPEND_ORDER_H
#define PARAPET_COPY_APPEND_ORDER_H

#include "copy/append_task.h"

/* [collective] Whether the source follows the target or is already there. */
parapet_status pp_append_check_order(pp_append *append);

#endif
