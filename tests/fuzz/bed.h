/* bed.h - what targets share: bytes that are read as an object is, a store in memory, objects put into it, and a
 * series that is open. */
#ifndef PARAPET_TESTS_FUZZ_BED_H
#define PARAPET_TESTS_FUZZ_BED_H

#include <parapet_arrays.h>

#include "store/store.h"

void require(bool is_true);

/* Bytes in memory, read as an object of a store is, without one. Nothing has to be freed. */
typedef struct bed_object {
    pp_reader reader;
    const unsigned char *data;
} bed_object;
pp_reader *bed_open(bed_object *object, const void *data, size_t bytes);

/* Whether an input is one of the few, about one of so many, on which also that is tried which takes long; its bytes
 * decide. */
bool bed_is_chosen(const void *data, size_t bytes, uint32_t one_of);

/* The same for the whole run; made by the first call. */
parapet_store *bed_store(void);

/* Writes or replaces an object. */
void bed_put(const char *key, const void *data, size_t bytes);
void bed_put_text(const char *key, const pp_text *text);

/* "run" with the arrays "u" and "v" and BED_STEPS steps; made by the first call. */
enum { BED_STEPS = 3 };
parapet_series *bed_series(void);

#endif
