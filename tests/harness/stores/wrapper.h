/* wrapper.h - a store around another one, which does something before and after each operation of that one: it fails
 * some of them (faulty.c), or makes all of them slow (throttled.c). What such stores have in common is here: the
 * readers, writers, logs and locks around those of the inner store. */
#ifndef PARAPET_TESTS_STORES_WRAPPER_H
#define PARAPET_TESTS_STORES_WRAPPER_H

#include "store/store.h"

typedef struct pp_wrapper pp_wrapper;

/* One operation of the inner store. Freeing readers and writers, suspending, closing and releasing locks cannot fail,
 * and are no operations in this sense. */
typedef struct pp_operation {
    const char *name; /* as in pp_store_ops: "append" */
    const char *key;
    size_t bytes; /* that it reads or appends; begin may make fewer of those that it appends */
    int64_t note; /* for end, from begin */
} pp_operation;

typedef struct pp_wrapper_hooks {
    const char *name; /* of the store */
    /* Before an operation. Anything but PARAPET_OK: it is not carried out, and this is its status. */
    parapet_status (*begin)(pp_wrapper *wrapper, pp_operation *operation);
    /* After an operation that was carried out with this status; returns what the caller gets. */
    parapet_status (*end)(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status);
    void (*free)(pp_wrapper *wrapper);
} pp_wrapper_hooks;

/* How a store that is such a wrapper begins its own struct. */
struct pp_wrapper {
    pp_store store;
    pp_store_ops ops;
    pp_store *inner; /* not freed with the wrapper */
    const pp_wrapper_hooks *hooks;
};

/* Fills the caller's struct; from then on its store works. */
void pp_wrapper_init(pp_wrapper *wrapper, pp_store *inner, const pp_wrapper_hooks *hooks);

#endif
