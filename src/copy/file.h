/* file.h - arrays that are written to one file of another format by all ranks at once. */
#ifndef PARAPET_COPY_FILE_H
#define PARAPET_COPY_FILE_H

#include <parapet_arrays.h>

#include "foreign/outline.h"
#include "store/store.h"

/* Of the whole call, in bytes of the arrays; once more if they are compared. */
typedef struct pp_file_progress {
    parapet_progress_callback callback; /* NULL: nobody is informed */
    void *context;
    int64_t done_bytes, total_bytes;
} pp_file_progress;

/* One array on its way: its box is read by all ranks together, and every rank writes what it has read. */
typedef struct pp_file_array {
    parapet_array *array;
    const pp_outline_array *place;
    bool is_big_endian;
    pp_shared *file;
    bool is_compared; /* with what is in the file, instead of written */
    const pp_file_progress *progress;
} pp_file_array;

/* [collective] Writes all elements of an array. No source chunk is read twice, unless it is larger than a box. */
parapet_status pp_file_array_write(const pp_file_array *job);

/* The extents of a box of at most so many bytes: whole chunks, and as much of the fast dimensions as possible, so
 * that runs in the file are long. Chunks that are larger are cut. */
void pp_file_box_choose(const parapet_array_info *info, size_t most_bytes, int64_t *extent);

#endif
