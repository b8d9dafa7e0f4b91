/* text_reads.h - texts of an array, which one rank reads by itself: those of a box, in C order. */
#ifndef PARAPET_ARRAY_TEXT_READS_H
#define PARAPET_ARRAY_TEXT_READS_H

#include "array/array.h"

typedef struct pp_text_wish {
    const int64_t *start, *count;
    char **text;   /* all texts behind each other, and a NUL; freed with pp_free */
    int64_t *ends; /* where each ends */
} pp_text_wish;

/* The buffers take at most local_bytes. */
parapet_status pp_array_read_texts(parapet_array *array, const pp_text_wish *wish);

#endif
