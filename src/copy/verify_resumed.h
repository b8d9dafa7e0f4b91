/* verify_resumed.h - whether what an earlier run wrote of a shard is still what its journal tells of. */
#ifndef PARAPET_COPY_VERIFY_RESUMED_H
#define PARAPET_COPY_VERIFY_RESUMED_H

#include "copy/target.h"

/* Reads again what an earlier run wrote of an unfinished shard, and compares it with the checksums in the journal. */
parapet_status pp_copy_shard_verify_resumed(const pp_copy_target *target, const pp_copy_shard *shard);

#endif
