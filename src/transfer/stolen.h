/* stolen.h - shards that pass from one server to another in the middle of a transfer, with all claims on them: as
 * words in a description (comm/stealing.h), and from there into what the other server serves. */
#ifndef PARAPET_TRANSFER_STOLEN_H
#define PARAPET_TRANSFER_STOLEN_H

#include "transfer/session.h"

/* What a description takes for the shard that these records of the served list are about. */
size_t pp_stolen_bytes(const pp_session *session, size_t first, size_t end);

/* Describes the shards of these records. words has room for the sum of their pp_stolen_bytes. */
void pp_stolen_write(const pp_session *session, size_t first, size_t end, int64_t *words);

/* The session serves what is described, and no longer what it served before, which is finished. */
parapet_status pp_stolen_read(pp_session *session, const int64_t *words, size_t bytes);

#endif
