/* taken.h - shards that pass from one server to another in the middle of a transfer, with all claims on them: as
 * words in a description (comm/taking.h), and from there into what the other server serves. */
#ifndef PARAPET_TRANSFER_TAKEN_H
#define PARAPET_TRANSFER_TAKEN_H

#include "transfer/session.h"

/* What a description takes for the shard that these records of the served list are about. */
size_t pp_taken_bytes(const pp_session *session, size_t first, size_t end);

/* Describes the shards of these records. words has room for the sum of their pp_taken_bytes. */
void pp_taken_write(const pp_session *session, size_t first, size_t end, int64_t *words);

/* The session serves what is described, and no longer what it served before, which is finished. */
parapet_status pp_taken_read(pp_session *session, const int64_t *words, size_t bytes);

#endif
