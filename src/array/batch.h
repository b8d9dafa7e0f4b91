/* batch.h - one call that reads, writes or flushes parts of one array or many, as one transfer: what its arrays have
 * become for the transfer, and what the steps of such a call have in common.
 *
 *     part_read.c      begin, transfer
 *     part_write.c     begin, hold, stage, publish
 *     part_new.c       begin_new, stage and show: no other job knows of the arrays
 *     batch_flush.c    hold, stage, publish, of what write_back has left in memory */
#ifndef PARAPET_ARRAY_BATCH_H
#define PARAPET_ARRAY_BATCH_H

#include "array/array_handle.h"
#include "array/index_list.h"
#include "array/rank0.h"

typedef struct pp_batch pp_batch;

/* What a write does beside staging and publishing, which depends on write_back: batch_stage.c without,
 * batch_flush.c with it. */
typedef struct pp_write_steps {
    /* [local] Before the agreement of the beginning. *has_room: for what may stay in memory. */
    parapet_status (*prepare)(pp_batch *all, bool *has_room);
    /* [collective] */
    parapet_status (*stage)(pp_batch *all, pp_staged *staged);
    parapet_status (*publish)(pp_batch *all, pp_staged *staged);
} pp_write_steps;

struct pp_batch {
    parapet_store *store;
    const parapet_array_parts *list;
    int count;
    const int64_t *step; /* NULL: the parts have all dimensions; else their index in the first, which they lack */
    const pp_index_list *listed; /* NULL: parts; else what the one array has instead */
    pp_indices indices;          /* the same, when it has been checked */
    pp_parts *parts;
    pp_transfer_context *contexts;
    pp_transfer_array *arrays;
    pp_direction direction;
    pp_team team;
    bool flushes;        /* what is dirty is written, and nothing else */
    bool is_flushed;     /* all of it but what is left out */
    pp_failure left_out; /* why some of that is not */
    const char **paths;  /* of those arrays that others know of, which are held while they are written */
    int path_count;
    pp_node_lock *holds;
    bool leads_alone;            /* no rank but 0 publishes anything */
    pp_turn turn;                /* of a public function */
    uint64_t described;          /* the descriptions of earlier calls that fit the parts of this rank, as bits */
    const pp_write_steps *steps; /* of a write */
};

/* Memory for the arrays. Clear it even after a failure. */
parapet_status pp_batch_build(pp_batch *all);
void pp_batch_clear(pp_batch *all);

/* [local] How many arrays of the call are sealed; the same on all ranks. */
int pp_batch_count_sealed(const pp_batch *all);

/* [local] The ranks of the store, as they work together now. */
void pp_batch_choose_team(pp_batch *all);

/* [local] Everything about the call that this rank can find wrong by itself. */
parapet_status pp_batch_check(pp_batch *all);
void pp_batch_name_call(const pp_batch *all, pp_call *call);

/* [local] What the transfer is to know of the arrays, as their handles are now. */
parapet_status pp_batch_list_arrays(pp_batch *all);

/* [local] The paths that are held; two handles of one array would replace each other's shards. */
void pp_batch_list_paths(pp_batch *all);
parapet_status pp_batch_check_distinct(const pp_batch *all);

/* [local] Refuses an array that another job has made smaller than what was written to it and not flushed. */
parapet_status pp_batch_check_uncut(const pp_batch *all);

/* [collective] Rank 0 does something with the handles, and the others adopt what they have become. */
parapet_status pp_batch_do(pp_batch *all, const char *phase, pp_rank0_work work);

/* [local] Local reads are kept out of the handles meanwhile. */
void pp_batch_close_guards(const pp_batch *all);
void pp_batch_open_guards(const pp_batch *all);

/* [local] The description of an earlier call that was chosen for this one is not used, or not any more. */
void pp_batch_forget_description(pp_batch *all);

/* [local] After a failure of any kind, nothing of these arrays is answered from the cache. */
void pp_batch_forget(const pp_batch *all);

#endif
