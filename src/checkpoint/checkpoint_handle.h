/* checkpoint_handle.h - what is behind a checkpoint that is open. Private to checkpoint/. */
#ifndef PARAPET_CHECKPOINT_CHECKPOINT_HANDLE_H
#define PARAPET_CHECKPOINT_CHECKPOINT_HANDLE_H

#include "array/node_lock.h"
#include "plan/homes.h"
#include "zarr/commit_record.h"
#include "zarr/json.h"

/* A generation that is being written. */
struct parapet_checkpoint {
    parapet_store *store;
    char *path;       /* of the group that holds the generations */
    char *group_path; /* of this one; there is room for any before it is chosen, and so for the name in the record */
    pp_commit commit;
    pp_json *attributes; /* of its group */
    int64_t keep;        /* how many generations to keep; -1: all */
    bool is_failed;      /* a put failed */
    pp_homes homes;      /* of the arrays that were put so far; the same on all ranks */
    pp_node_lock hold;   /* of the group, so that no other job makes a generation in it */
    bool is_lent;        /* this rank is a delegate, if it has to be */
};

#endif
