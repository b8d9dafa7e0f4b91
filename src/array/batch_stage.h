/* batch_stage.h - new shards are staged, published, and noted for the seal. */
#ifndef PARAPET_ARRAY_BATCH_STAGE_H
#define PARAPET_ARRAY_BATCH_STAGE_H

#include "array/batch.h"

/* [collective] All new shards are complete and durable, and no reader sees them. */
parapet_status pp_batch_stage(pp_batch *all, pp_staged *staged);

/* [collective] They have their names, durably. */
parapet_status pp_batch_publish(pp_batch *all, pp_staged *staged);

/* [local] What was published, for the seal. */
void pp_batch_note(const pp_batch *all, pp_staged *staged);

extern const pp_write_steps pp_writing_at_once;

#endif
