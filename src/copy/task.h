/* task.h - one array of a copy: what is copied to where, and what is known of it. */
#ifndef PARAPET_COPY_TASK_H
#define PARAPET_COPY_TASK_H

#include "array/node_lock.h"
#include "base/ranges.h"
#include "comm/comm.h"
#include "copy/inputs.h"
#include "copy/progress.h"
#include "copy/tree_log.h"
#include "copy/view.h"

/* How far the replacement of an array has come. */
typedef enum pp_copy_phase {
    PP_COPY_MAKING,   /* the old array is still in place */
    PP_COPY_COMPLETE, /* the whole new array is durable beside it */
    PP_COPY_DECIDED,  /* there is no array */
    PP_COPY_CLEARED   /* and nothing of the old one is left: shards of the new one get their keys */
} pp_copy_phase;

/* One array of a copy, on this rank. */
typedef struct pp_copy_task {
    const parapet_copy_request *request;
    parapet_store *source_store, *target_store, *temporary_store;
    parapet_array *source;
    parapet_array *target; /* its document is stored last */
    pp_copy_view view;
    pp_budget budget; /* for everything that this copy keeps in memory */
    char *state;      /* "<path>/__parapet/copy" */
    char *staging;    /* "<path>/__parapet/tmp", where temporary objects are looked for after a crash */
    pp_rechunk_plan *plan;
    pp_copy_inputs inputs;            /* from which the plan was made */
    bool is_in_tree;                  /* it is one of a hierarchy */
    pp_copy_tree_log *tree;           /* what is known of that: NULL of one array alone, and while it is planned */
    pp_ranges stored;                 /* shards of the source, if it is sparse */
    bool is_verbatim;                 /* it is copied as it is stored (verbatim.c), and its plan has no passes */
    pp_text stored_document;          /* rank 0: of an opaque array, as it is stored */
    bool is_sparse;                   /* so few of its possible shards are stored that only those are visited */
    int64_t source_version;           /* of all its objects */
    bool is_noted;                    /* the tree's log has it */
    bool is_new;                      /* rank 0: begun by this run, not by an earlier one */
    int first_pass;                   /* earlier passes are done */
    bool overwrites;                  /* rank 0: whatever is at the target may be replaced */
    bool is_complete;                 /* an earlier run did everything except cleaning up */
    bool replaces;                    /* it replaces an array that stays until this one is complete (replace.c) */
    pp_copy_phase phase;              /* rank 0: of that replacement */
    bool has_holes;                   /* some chunk of the source may not be stored */
    const pp_copy_progress *progress; /* NULL: nobody is informed */
    pp_node_lock hold;                /* of the target, so that nobody else changes it */
} pp_copy_task;

pp_comm *pp_copy_task_comm(const pp_copy_task *task);
bool pp_copy_task_leads(const pp_copy_task *task);

/* [collective] Opens the source and builds the target's handle; request is set. Close it if it has a source, even
 * after a failure. */
parapet_status pp_copy_task_open(pp_copy_task *task, const char *source_path, const char *target_path,
                                 bool is_in_tree);
void pp_copy_task_close(pp_copy_task *task);

/* Reports the progress of the copy, with so many bytes more than it notes; PARAPET_ERR_CANCELLED if it should end.
 * For long work between passes. */
parapet_status pp_copy_task_tick(const pp_copy_task *task, int64_t more_bytes);

/* The bytes of its progress when it is done: those of all its passes and, to verify, of both arrays once more. */
int64_t pp_copy_task_bytes(const pp_copy_task *task, int passes);

/* [collective] Finds out whether the source is sparse, and if so which shards are stored. */
parapet_status pp_copy_task_look(pp_copy_task *task);

/* Rank 0: the document that the target gets, as it will be stored. */
parapet_status pp_copy_task_document(const pp_copy_task *task, pp_text *text);

#endif
