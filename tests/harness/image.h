/* image.h - every object of a store as plain bytes: taken, put back, compared and counted.
 *
 * Its memory comes from the C library and not from base/memory.h, so that it never shows among what the library
 * under test has taken. */
#ifndef PARAPET_TESTS_IMAGE_H
#define PARAPET_TESTS_IMAGE_H

#include "store/store.h"

typedef struct image_object {
    char *key;
    unsigned char *data;
    size_t bytes;
} image_object;

typedef struct image {
    image_object *objects; /* in the order of a walk through the store */
    size_t count;
} image;

/* Asserts that everything can be read. */
void image_take(image *taken, pp_store *store);
void image_free(image *taken);

/* Writes every object of the image into the store; what else is there stays. */
void image_put(const image *taken, pp_store *store);

/* Writes or replaces one object. */
void image_put_object(pp_store *store, const char *key, const void *data, size_t bytes);

/* The object of that key, or NULL. */
const image_object *image_find(const image *taken, const char *key);

/* Whether both hold the same keys with the same bytes. */
bool image_equals(const image *a, const image *b);

#endif
