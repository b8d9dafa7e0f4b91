/* copy.h - what the files of this module that copy arrays share: the changes that are asked for, the document of the
 * target, and the problem that the planner is given. */
#ifndef PARAPET_COPY_COPY_H
#define PARAPET_COPY_COPY_H

#include "copy/pass.h"

/* changes.c: the texts of parapet_copy_changes, told of one array. */

typedef enum pp_extents_kind {
    PP_EXTENTS_SAME,      /* nothing is asked for, or nothing that this array has */
    PP_EXTENTS_CHOSEN,    /* "auto" */
    PP_EXTENTS_UNSHARDED, /* "none" alone, for shards */
    PP_EXTENTS_LISTED
} pp_extents_kind;

#define PP_EXTENT_SAME (-1)
#define PP_EXTENT_WHOLE 0

typedef struct pp_extents {
    pp_extents_kind kind;
    int64_t extent[PARAPET_MAX_NDIM]; /* LISTED: elements by target dimension, or one of the two above */
} pp_extents;

typedef struct pp_copy_wishes {
    pp_copy_view view; /* order and region */
    pp_extents chunks, shards;
    bool is_touched; /* some text says something about this array: in a hierarchy, that need not be so */
} pp_copy_wishes;

/* In a hierarchy, lists that do not fit an array leave it as it is; for a single array they are errors. */
parapet_status pp_copy_changes_parse(pp_copy_wishes *wishes, const parapet_copy_changes *changes,
                                     const pp_array_document *source, bool is_in_tree);

/* document.c: the document of the target, always Zarr v3, and where its elements are in the source. Clear target
 * also after a failure. */
parapet_status pp_copy_document(const parapet_copy_changes *changes, const pp_array_document *source, bool is_in_tree,
                                int64_t expected_servers, pp_array_document *target, pp_copy_view *view);

/* unit_bytes as given, or, for 0, what is not worth doing again: 1 GiB, or what a rank can hold if that is more. */
int64_t pp_copy_unit_bytes(int64_t given, int64_t memory_bytes);

/* What the ranks of a copy may use, and what they are told to do. */
typedef struct pp_copy_means {
    int64_t memory_bytes, unit_bytes, cooperation_bytes; /* as in pp_rechunk_problem */
    int threads, ranks;
    int passes, reading, cooperation; /* 0: chosen; as in parapet_copy_request */
    pp_rechunk_machine machine;
} pp_copy_means;

/* problem.c */

/* Takes over passes, reading and cooperation of a request; refuses what they cannot be. */
parapet_status pp_copy_means_force(pp_copy_means *means, int64_t passes, int64_t reading, int64_t cooperation);

/* Messages of ranks that read together: one size whatever the limit is, or the least limit would depend on it. */
#define PP_COPY_MESSAGE_BYTES ((size_t)128 << 10)

/* What a collective read takes on every rank beside the template; 0: there is only one rank. */
int64_t pp_copy_cooperation_bytes(const pp_layout *source, int ranks);

/* What the planner has to know of two layouts. */
void pp_copy_problem_init(pp_rechunk_problem *problem, const pp_layout *source, const pp_layout *target,
                          const pp_copy_view *view, const pp_copy_means *means);

/* plan.c: a plan, and what it is about. */
typedef struct pp_copy_planned {
    const pp_array_document *source, *target;
    const pp_copy_view *view;
    const pp_rechunk_plan *plan;
} pp_copy_planned;

parapet_status pp_copy_planned_print(const pp_copy_planned *planned, bool is_json, pp_text *text);
parapet_status pp_copy_planned_draw(const pp_copy_planned *planned, pp_text *svg);

/* finished.c: arrays of a hierarchy that are copied already, in a log beside the target's root; on rank 0. */
typedef struct pp_copy_finished {
    pp_store *store;
    char *key;
    char *lines; /* of the log, that were there when it was opened */
    pp_log *log; /* NULL on the other ranks */
    bool is_new; /* begun by this run, and not by one before it */
} pp_copy_finished;

/* Takes up or begins the log of a copy to target, on rank 0; store and key are set. Clear it also after a failure. */
parapet_status pp_copy_finished_open(pp_copy_finished *log, const parapet_copy_request *request, const char *target);
void pp_copy_finished_clear(pp_copy_finished *log);

/* Refuses an array whose source is not what it was when it was copied, or that no copy is known to have made. */
parapet_status pp_copy_finished_check(const pp_copy_finished *log, const char *path, int64_t source_version);
parapet_status pp_copy_finished_note(pp_copy_finished *log, const char *path, int64_t source_version);

/* state.c: what lies beside the target of a copy until it is complete. */

/* One array of a copy, on this rank. */
typedef struct pp_copy_task {
    const parapet_copy_request *request;
    parapet_store *source_store, *target_store, *temporary_store;
    parapet_array *source;
    parapet_array *target; /* its document is stored last */
    pp_copy_view view;
    pp_budget budget; /* of everything that this copy keeps in memory */
    char *state;      /* "<path>/__parapet/copy" */
    pp_rechunk_plan *plan;
    pp_copy_finished *tree; /* NULL: one array alone */
    int64_t source_version; /* of all its objects */
    bool is_noted;          /* the tree's log has it */
    bool is_new;            /* rank 0: begun by this run, and not by one before it */
    int first_pass;         /* passes before it are done */
    bool is_complete;       /* a run before this one has done all but cleaning up */
    bool has_holes;         /* some chunk of the source is not stored, as far as is known */
} pp_copy_task;

/* Whether an unfinished copy lies at the target. */
parapet_status pp_copy_state_exists(const pp_copy_task *task, bool *exists);

/* Writes what this copy is and how it is done. */
parapet_status pp_copy_state_write(const pp_copy_task *task);

/* Takes up an unfinished copy: its plan, and how far it is. Refuses one that was begun with other arguments or from
 * another source, and says what differs. */
parapet_status pp_copy_state_read(pp_copy_task *task);

/* From now on nobody takes it up: what is left of it can go in any order, and a crash meanwhile is harmless. */
parapet_status pp_copy_state_drop(const pp_copy_task *task);

/* A pass is done on all ranks. */
parapet_status pp_copy_state_finish_pass(const pp_copy_task *task, int pass);

/* Where a pass keeps its journals, and where an intermediate array lies. Free with pp_free. */
parapet_status pp_copy_state_path(const pp_copy_task *task, const char *kind, int pass, char **path);

/* task.c */

pp_comm *pp_copy_task_comm(const pp_copy_task *task);
bool pp_copy_task_leads(const pp_copy_task *task);

/* [collective] Opens the source and builds the target's handle; request is set. Close it if it has a source, also
 * after a failure. */
parapet_status pp_copy_task_open(pp_copy_task *task, const char *source_path, const char *target_path,
                                 bool is_in_tree);
void pp_copy_task_close(pp_copy_task *task);

/* [collective] Finds a number that changes when any stored object of the source does, its document included. */
parapet_status pp_copy_task_version(pp_copy_task *task);

/* remains.c: on rank 0. */

/* Whether an array that is not this copy has appeared at its place. */
bool pp_copy_remains_is_foreign(const pp_copy_task *task);

/* Removes what an earlier copy may have left in the store for what lies between passes. */
parapet_status pp_copy_remains_clear_between(const pp_copy_task *task);

/* Removes what was needed to make a copy that is complete. */
parapet_status pp_copy_remains_tidy(const pp_copy_task *task);

/* After a failure that is not an interruption: as if nothing had been begun. */
void pp_copy_remains_forget(pp_copy_task *task);

/* decision.c */

/* [collective] Plans without measuring: what cannot be done is refused before anything is touched. */
parapet_status pp_copy_task_plan(pp_copy_task *task);

/* [collective] The plan, and how far a run before this one has come. begins: room is made for the target. */
parapet_status pp_copy_decide(pp_copy_task *task, bool begins);

/* pass_ends.c */

/* One end of a pass: an array and how to reach it. */
typedef struct pp_copy_end {
    pp_array_document document; /* of an intermediate array: shares type and fill value with the target's */
    pp_layout layout;
    char *path;
    pp_transfer_context context;
} pp_copy_end;

/* Close it also after a failure. */
parapet_status pp_copy_end_open(pp_copy_task *task, int pass, bool is_source, pp_copy_end *end);
void pp_copy_end_close(pp_copy_end *end);

/* probe.c: [collective] What storage, codecs and memory do here; the same on every rank. */
parapet_status pp_copy_probe(pp_copy_task *task, pp_rechunk_problem *problem);

/* array.c */
typedef struct pp_copy_progress {
    int64_t done_bytes, total_bytes; /* of all arrays and passes; done before the pass under way */
} pp_copy_progress;

/* What a copy has done so far, as parapet_copy_result tells it: on this rank, until all are added up (copy.c). */
typedef struct pp_copy_totals {
    pp_rechunk_counts done; /* of all passes of all arrays */
    int64_t arrays, groups, passes;
    int64_t array_bytes, verified_bytes;
    int64_t memory_peak_bytes, memory_planned_bytes;
    double planned_seconds, seconds;
} pp_copy_totals;

/* [collective] One array; adds to totals what this rank has done. tree NULL: it is alone. */
parapet_status pp_copy_array(const parapet_copy_request *request, const char *source_path, const char *target_path,
                             pp_copy_finished *tree, pp_copy_progress *progress, pp_copy_totals *totals);

/* [collective] Whether one array of a hierarchy can be copied; whether the changes concern it, and its bytes. */
parapet_status pp_copy_array_survey(const parapet_copy_request *request, const char *source_path,
                                    const char *target_path, bool *is_touched, int64_t *bytes);

/* [collective] The plan for one array in words. */
parapet_status pp_copy_array_explain(const parapet_copy_request *request, const char *source_path,
                                     const char *target_path, bool is_in_tree, int as_json, pp_text *text,
                                     char **svg);

/* tree.c: [collective] A group and everything below it. */
parapet_status pp_copy_group(const parapet_copy_request *request, pp_copy_progress *progress, pp_copy_totals *totals);
parapet_status pp_copy_group_explain(const parapet_copy_request *request, int as_json, pp_text *text, char **svg);

/* verify.c: [collective] Reads source and target again, each once, and compares their digests. */
parapet_status pp_copy_verify(pp_copy_task *task, int64_t *verified_bytes);

#endif
