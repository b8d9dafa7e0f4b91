/* items.h - the lists of arrays that are put and got. */
#ifndef PARAPET_CHECKPOINT_ITEMS_H
#define PARAPET_CHECKPOINT_ITEMS_H

#include <parapet_arrays.h>

/* Checks what lists of items to put and to get have in common. */
parapet_status pp_checkpoint_check_list(const parapet_checkpoint_item *items, int count);

#endif
