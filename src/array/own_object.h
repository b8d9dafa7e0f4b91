/* own_object.h - small objects that the library keeps below __parapet of a node; on rank 0 alone. */
#ifndef PARAPET_ARRAY_OWN_OBJECT_H
#define PARAPET_ARRAY_OWN_OBJECT_H

#include <parapet_types.h>

#include "change/registry.h"
#include "store/store.h"

typedef struct pp_own_object {
    parapet_store *store;
    const char *node;
    pp_own own;
    bool is_of_array; /* whose temporary objects lie below __parapet */
} pp_own_object;

/* Durable when it returns. */
parapet_status pp_own_object_write(const pp_own_object *object, const char *text, size_t bytes, pp_publish_mode mode);

/* *text is NULL if there is no such object; free it with pp_free. There is a NUL behind its bytes. */
parapet_status pp_own_object_read(const pp_own_object *object, size_t bytes_most, char **text, size_t *bytes);

/* Durably; of a group, with the directory that it was in, if that is empty then: readers list it and wonder. It is
 * fine if there is none. */
parapet_status pp_own_object_remove(const pp_own_object *object);

#endif
