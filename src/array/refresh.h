/* refresh.h - handles that have aged: another job has changed the document since; on rank 0 alone. */
#ifndef PARAPET_ARRAY_REFRESH_H
#define PARAPET_ARRAY_REFRESH_H

#include <parapet_types.h>
#include <stdbool.h>

/* Reads the array's document and seal into the handle. Reads again if they change meanwhile. */
parapet_status pp_array_load(parapet_array *array);

/* Whether the stored document differs from the handle's. Costs one access to the storage if it does not. */
parapet_status pp_array_look(parapet_array *array, bool *is_aged);

/* Takes over what other jobs changed: attributes, shape, seal. PARAPET_ERR_STALE: it is another array now. */
parapet_status pp_array_refresh(parapet_array *array);

/* The same for the document alone, without the seal. */
parapet_status pp_array_refresh_document(parapet_array *array);

/* PARAPET_ERR_STALE if the stored array is not the one that the handle reads and writes, but another one, or has
 * become smaller. */
parapet_status pp_array_check_fresh(parapet_array *array);

/* The same if something is damaged or missing. Also PARAPET_ERR_STALE if the seal that says so is no longer the
 * stored one. */
parapet_status pp_array_check_damage(parapet_array *array);

/* Whether a change by another job can explain this result of reading. */
bool pp_array_is_worth_looking(parapet_status status);

#endif
