/* stored.h - what lies in a store, for tests of arrays and groups: every object as plain bytes, and changing them
 * behind the library's back. */
#ifndef PARAPET_TESTS_STORED_H
#define PARAPET_TESTS_STORED_H

#include <parapet_store.h>

#include "array/array_handle.h"
#include "array/node_path.h"
#include "array/open.h"

/* A fresh store in memory. */
static inline void stored_open(parapet_store **store, const parapet_store_options *options)
{
    pp_store_memory_drop("test");
    assert_ok(parapet_store_open(store, MPI_COMM_NULL, "memory:test", PARAPET_CREATE, options));
}

/* The same store again, with other options. */
static inline void stored_reopen(parapet_store **store, parapet_mode mode, const parapet_store_options *options)
{
    assert_ok(parapet_store_close(store));
    assert_ok(parapet_store_open(store, MPI_COMM_NULL, "memory:test", mode, options));
}

static inline void stored_close(parapet_store **store)
{
    assert_ok(parapet_store_close(store));
    pp_store_memory_drop("test");
}

static inline void stored_put(parapet_store *store, const char *key, const void *data, size_t bytes)
{
    assert_ok(pp_store_write_all(
        store->backend,
        &(pp_write_request){.key = key, .staging = "__foreign", .budget = &store->budget, .is_small = true}, data,
        bytes, PP_PUBLISH_REPLACE));
}

static inline void stored_put_text(parapet_store *store, const char *key, const char *text)
{
    stored_put(store, key, text, strlen(text));
}

/* The whole object as text; free with pp_free. NULL when it is not there. Not inline: gcc 12 takes what strstr finds
 * in the text for a pointer into this function. */
static char *__attribute__((noinline, unused)) stored_get(parapet_store *store, const char *key, size_t *bytes)
{
    char *data = NULL;
    parapet_status status = pp_store_read_all(store->backend, key, (size_t)1 << 30, &data, bytes);
    if (status != PARAPET_ERR_NOT_FOUND)
        assert_ok(status);
    return data;
}

static inline bool stored_has(parapet_store *store, const char *key)
{
    size_t bytes;
    char *data = stored_get(store, key, &bytes);
    pp_free(data);
    return data != NULL;
}

static inline bool stored_contains(parapet_store *store, const char *key, const char *word)
{
    size_t bytes;
    char *data = stored_get(store, key, &bytes);
    bool is_there = data != NULL && strstr(data, word) != NULL;
    pp_free(data);
    return is_there;
}

/* Every object below a prefix, in the order of keys. */
typedef struct stored_image {
    struct stored_object {
        char *key, *data;
        size_t bytes;
    } objects[512];
    size_t count;
} stored_image;

typedef struct stored_walk {
    stored_image *image;
    parapet_store *store;
    const char *prefix;
} stored_walk;

static parapet_status stored_visit(void *context, const pp_listed *listed)
{
    const stored_walk *walk = context;
    stored_image *image = walk->image;
    char *key = NULL;
    assert_ok(pp_path_join(walk->prefix, listed->name, &key));
    if (listed->is_prefix) {
        assert_ok(pp_store_list(walk->store->backend, key, stored_visit, &(stored_walk){image, walk->store, key}));
        pp_free(key);
        return PARAPET_OK;
    }
    if (strcmp(listed->name, "lock") == 0) { /* says who came last */
        pp_free(key);
        return PARAPET_OK;
    }
    assert_true(image->count < sizeof image->objects / sizeof image->objects[0]);
    image->objects[image->count].key = key;
    image->objects[image->count].data = stored_get(walk->store, key, &image->objects[image->count].bytes);
    image->count++;
    return PARAPET_OK;
}

static inline void stored_image_take(stored_image *image, parapet_store *store, const char *prefix)
{
    image->count = 0;
    assert_ok(pp_store_list(store->backend, prefix, stored_visit, &(stored_walk){image, store, prefix}));
}

static inline void stored_image_free(stored_image *image)
{
    size_t i;
    for (i = 0; i < image->count; i++) {
        pp_free(image->objects[i].key);
        pp_free(image->objects[i].data);
    }
    image->count = 0;
}

/* Keys are compared without the first skip bytes of each. */
static inline void stored_image_assert_equal(const stored_image *a, size_t skip_a, const stored_image *b,
                                             size_t skip_b)
{
    size_t i;
    assert_int_equal(a->count, b->count);
    for (i = 0; i < a->count; i++) {
        assert_string_equal(a->objects[i].key + skip_a, b->objects[i].key + skip_b);
        assert_int_equal(a->objects[i].bytes, b->objects[i].bytes);
        assert_memory_equal(a->objects[i].data, b->objects[i].data, a->objects[i].bytes);
    }
}

static inline parapet_statistics stored_statistics(parapet_store *store)
{
    parapet_statistics statistics;
    assert_ok(parapet_store_get_statistics(store, &statistics));
    return statistics;
}

#endif
