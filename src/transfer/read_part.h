/* read_part.h - reads parts of chunks whose elements are stored as they are.
 *
 * Without a checksum only what is wanted is read, with such holes as are cheaper to read than to skip. A chunk that
 * exceeds a request is cut into bands. With a checksum, its own or one in a seal, all of it has to be read: band
 * after band, the CRC-32C running along, so that a chunk of any size takes no more memory than a request. The call
 * that reads fails if it does not match in the end. */
#ifndef PARAPET_TRANSFER_READ_PART_H
#define PARAPET_TRANSFER_READ_PART_H

#include "transfer/read_item.h"

/* Whether so little of the chunks is wanted that reading it is all there is to do: handing it out takes next to no
 * time. */
bool pp_read_part_is_sparse(const pp_transfer *transfer);

/* Takes the next band of the next wanted chunk, if that chunk is taken in bands: then item->is_band is set. */
parapet_status pp_read_part_take(const pp_transfer *transfer, pp_read_shard *shard, pp_read_item *item);

/* Sets the item's bytes from its offset to an end in the object: whole pages, as far as there is an object, which is
 * what direct I/O wants. */
void pp_read_part_round(const pp_read_shard *shard, pp_read_item *item, uint64_t end);

/* Reads what the claims want of the item's stretch into its buffer; never called by two threads at once, and in the
 * order in which items were taken. */
parapet_status pp_read_part_fetch(const pp_transfer *transfer, pp_read_item *item);

#endif
