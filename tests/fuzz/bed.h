/* bed.h - what targets that need a store share: one in memory, objects put into it, and a series that is open. */
#ifndef PARAPET_TESTS_FUZZ_BED_H
#define PARAPET_TESTS_FUZZ_BED_H

#include "series/series.h"

void require(bool is_true);

/* The same for the whole run; made by the first call. */
parapet_store *bed_store(void);

/* Writes or replaces an object. */
void bed_put(const char *key, const void *data, size_t bytes);
void bed_put_text(const char *key, const pp_text *text);

/* "run" with the arrays "u" and "v" and BED_STEPS steps; made by the first call. */
enum { BED_STEPS = 3 };
parapet_series *bed_series(void);

#endif
