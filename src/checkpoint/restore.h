/* restore.h - the newest generation that verifies, found and read. */
#ifndef PARAPET_CHECKPOINT_RESTORE_H
#define PARAPET_CHECKPOINT_RESTORE_H

#include <parapet_types.h>

/* [collective] Verifies a generation as if to restore from it, and remembers the result on rank 0. */
void pp_generation_verify(parapet_store *store, const char *path, int64_t number);

#endif
