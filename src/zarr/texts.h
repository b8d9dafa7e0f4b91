/* texts.h - a chunk of texts as the codec vlen-utf8 stores it: how many there are, then each behind its length.
 * Numbers have 4 bytes, the lowest first. */
#ifndef PARAPET_ZARR_TEXTS_H
#define PARAPET_ZARR_TEXTS_H

#include "codec/codec.h"

/* The texts of a chunk that have not been looked at yet. */
typedef struct pp_texts {
    const unsigned char *next;
    size_t left;     /* bytes */
    uint64_t number; /* of the next text */
} pp_texts;

/* Begins with the first; refuses a chunk of another number of texts. */
parapet_status pp_texts_begin(pp_texts *texts, pp_bytes chunk, uint64_t count);

/* The next one, which must be there, and be UTF-8. */
parapet_status pp_texts_next(pp_texts *texts, pp_bytes *text);

/* Looks at all of them, and that nothing follows. */
parapet_status pp_texts_check(pp_bytes chunk, uint64_t count);

#endif
