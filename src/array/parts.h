/* parts.h - writing parts of arrays in other ways than the public functions do. */
#ifndef PARAPET_ARRAY_PARTS_H
#define PARAPET_ARRAY_PARTS_H

#include "comm/comm.h"

/* [collective] As parapet_arrays_write, for a caller that keeps the data until it is written, and writes it again
 * after a failure: the arrays stay usable, unless the ranks are out of step. No notes are kept for a seal. step, if
 * not NULL: the parts leave out the first dimension, and are at this index in it. *shards_written grows by the shards
 * that this rank wrote. */
parapet_status pp_arrays_write_repeatable(const parapet_array_parts *list, int count, const int64_t *step,
                                          int64_t *shards_written);

/* The memory for writing this many parts into this many shards of an array, so that the limit that a refusal names is
 * enough; each part meets one shard. */
size_t pp_array_write_bytes(const parapet_array *array, size_t part_count, int64_t shards);

/* One rank writes a part without the others; alone is a communicator of this rank. */
parapet_status pp_array_write_alone(parapet_array *array, pp_comm *alone, const parapet_part *part);

#endif
