/* refresh.h - handles that have aged: another job has changed the document since; on rank 0 alone. */
#ifndef PARAPET_ARRAY_REFRESH_H
#define PARAPET_ARRAY_REFRESH_H

#include <stdbool.h>

#include "base/status.h"

/* Reads the array's document and seal into the handle. Looks again if they change under the reading. */
parapet_status pp_array_load(parapet_array *array);

/* Whether the stored document is another one than the handle's. Costs one look at the storage if it is not. */
parapet_status pp_array_look(parapet_array *array, bool *is_aged);

/* Takes up what others have changed: attributes, shape, seal. PARAPET_ERR_STALE: it is another array now. */
parapet_status pp_array_refresh(parapet_array *array);

/* The same for the document alone: the seal is this handle's own business. */
parapet_status pp_array_refresh_document(parapet_array *array);

/* PARAPET_ERR_STALE if what is stored is not what the handle reads and writes: another array, or a smaller one. */
parapet_status pp_array_check_fresh(parapet_array *array);

/* The same where something is damaged or missing. PARAPET_ERR_STALE, too, if the seal by which it is so is not the
 * stored one any more. */
parapet_status pp_array_check_damage(parapet_array *array);

/* Whether what reading came to can be explained by what another job did meanwhile. */
bool pp_array_is_worth_looking(parapet_status status);

#endif
