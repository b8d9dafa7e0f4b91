/* damaged_store.h - a store that can only be read, over objects whose bytes a test changes behind its back.
 *
 * Changing a byte costs nothing, so that millions of changes can be tried. */
#ifndef PARAPET_TESTS_DAMAGED_STORE_H
#define PARAPET_TESTS_DAMAGED_STORE_H

#include "image.h"

/* One object; the test may point data elsewhere, change bytes or set is_gone, as long as it puts that back. */
typedef struct damaged_object {
    const char *key;
    unsigned char *data;
    size_t bytes;
    bool is_gone;
} damaged_object;

/* Takes its objects from the image, which must outlive it and is changed with it. */
pp_store *damaged_store_build(const image *objects);

damaged_object *damaged_store_find(pp_store *store, const char *key);
size_t damaged_store_count(const pp_store *store);
damaged_object *damaged_store_object(pp_store *store, size_t number);

#endif
