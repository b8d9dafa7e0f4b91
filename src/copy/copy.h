/* copy.h - what the files of this module that copy arrays share: the requested changes, the document of the target,
 * and the problem for the planner. */
#ifndef PARAPET_COPY_COPY_H
#define PARAPET_COPY_COPY_H

#include "array/node_lock.h"
#include "change/registry.h"
#include "copy/pass.h"

/* Whether a text of a request says something: NULL and "" leave things as they are. */
static inline bool pp_copy_is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* changes.c: the texts of parapet_copy_changes, applied to one array. */

typedef enum pp_extents_kind {
    PP_EXTENTS_SAME,      /* nothing is requested, or nothing that concerns this array */
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
    bool is_touched; /* some text concerns this array, which in a hierarchy need not be so */
} pp_copy_wishes;

/* In a hierarchy, lists that do not fit an array leave it as it is; for a single array they are errors. */
parapet_status pp_copy_changes_parse(pp_copy_wishes *wishes, const parapet_copy_changes *changes,
                                     const pp_array_document *source, bool is_in_tree);

/* What of the changes is meant for the array at a path. In a hierarchy, a coordinate (an array of one dimension that
 * has its name) keeps its chunks and shards: people read it whole, and mean the arrays over it. */
parapet_copy_changes pp_copy_changes_for(const parapet_copy_changes *changes, const pp_array_document *source,
                                         const char *path, bool is_in_tree);

/* target_document.c: the document of the target, always Zarr v3, and where its elements are in the source. Clear
 * target even after a failure. */
parapet_status pp_copy_document(const parapet_copy_changes *changes, const pp_array_document *source, bool is_in_tree,
                                int64_t expected_servers, pp_array_document *target, pp_copy_view *view);

/* unit_bytes as given or, for 0, the default: 1 GiB, or memory_bytes if that is more. */
int64_t pp_copy_unit_bytes(int64_t given, int64_t memory_bytes);

/* What the ranks of a copy may use, and what the request prescribes. */
typedef struct pp_copy_means {
    int64_t memory_bytes, unit_bytes, cooperation_bytes; /* as in pp_rechunk_problem */
    int threads, ranks;
    bool is_source_sealed;
    int passes; /* 0: chosen */
    parapet_reading reading;
    parapet_cooperation cooperation;
    pp_rechunk_machine machine;
} pp_copy_means;

/* [collective] What lies at a path of the source; comm: of those who ask. */
parapet_status pp_copy_find_kind(parapet_store *store, const char *source_path, pp_comm *comm,
                                 parapet_node_kind *kind);

/* copy_request.c */

/* Refuses invalid values of fields, in a sentence that says what is accepted; does not check paths and stores. */
parapet_status pp_copy_request_check(const parapet_copy_request *request);
parapet_status pp_copy_changes_check(const parapet_copy_changes *changes);

/* problem.c */

/* Bytes of a message between ranks that read together. The size is fixed, because otherwise the smallest limit would
 * depend on it. */
#define PP_COPY_MESSAGE_BYTES ((size_t)128 << 10)

/* What a collective read takes on every rank in addition to the template; 0: there is only one rank. */
int64_t pp_copy_cooperation_bytes(const pp_layout *source, int ranks);

/* What the planner has to know about two layouts. */
void pp_copy_problem_init(pp_rechunk_problem *problem, const pp_layout *source, const pp_layout *target,
                          const pp_copy_view *view, const pp_copy_means *means);

/* Everything that the planner is told besides the two layouts, in whole numbers, so that writing it down and reading
 * it again gives the same plan. */
typedef struct pp_copy_inputs {
    int64_t ranks, threads, memory_bytes, unit_bytes;
    int64_t passes, reading, cooperation; /* as in parapet_copy_request */
    /* Measured; 0: not known. Rates are bytes per second, ratios billionths. */
    int64_t cores, read_rate, read_limit, write_rate, write_limit, copy_rate, exchange_rate;
    int64_t request_nanoseconds, run_nanoseconds, flush_nanoseconds;
    int64_t decode_rate, source_ratio, encode_rate, target_ratio;
} pp_copy_inputs;

/* plan_text.c: a plan, and the documents it is about. */
typedef struct pp_copy_planned {
    const pp_array_document *source, *target;
    const pp_copy_view *view;
    const pp_rechunk_plan *plan;
} pp_copy_planned;

parapet_status pp_copy_planned_print(const pp_copy_planned *planned, bool is_json, pp_text *text);
parapet_status pp_copy_planned_draw(const pp_copy_planned *planned, pp_text *svg);

/* tree_log.c: the arrays of a hierarchy that are already copied, in a log beside the target's root; on rank 0. */
typedef struct pp_copy_tree_log {
    pp_store *store;
    char *key;
    char *lines;   /* lines of the log when it was opened */
    pp_text old;   /* lines about arrays that a copy with overwrite will replace */
    pp_log *log;   /* NULL on the other ranks */
    bool is_new;   /* begun by this run, not by an earlier one */
    bool is_empty; /* begun by an earlier run, but it tells of no array, neither an old one nor one that is copied */
} pp_copy_tree_log;

/* Before the log is opened: notes the array at a path, if there is one, so that a resumed copy recognises it. */
parapet_status pp_copy_tree_log_add_old(pp_copy_tree_log *log, parapet_store *store, const char *path);

/* Continues or begins the log of a copy to target, on rank 0; store and key are set. Clear it even after a
 * failure. */
parapet_status pp_copy_tree_log_open(pp_copy_tree_log *log, const parapet_copy_request *request, const char *target);

/* Takes up lines that an earlier run left, which become the log's; *bytes: of those that are whole. */
parapet_status pp_copy_tree_log_take(pp_copy_tree_log *log, const parapet_copy_request *request, char *lines,
                                     size_t *bytes);
void pp_copy_tree_log_clear(pp_copy_tree_log *log);

/* Whether a resumed copy may replace an array with this document: it was not copied by this copy, and either existed
 * before the copy began or may be replaced whatever it is. */
bool pp_copy_tree_log_is_old(const pp_copy_tree_log *log, const char *path,
                             const unsigned char document[PP_SHA256_BYTES], bool overwrites);

/* Refuses an array whose source has changed since it was copied, or that no copy is known to have made. */
parapet_status pp_copy_tree_log_check(const pp_copy_tree_log *log, const char *path, int64_t source_version);
parapet_status pp_copy_tree_log_note(pp_copy_tree_log *log, const char *path, int64_t source_version);

/* job_state.c: what is kept beside the target of a copy until it is complete. */

typedef struct pp_copy_progress {
    int64_t done_bytes, total_bytes; /* of all arrays and passes; done before the current pass */
} pp_copy_progress;

/* How far the replacement of an array has come. */
typedef enum pp_copy_phase {
    PP_COPY_MAKING,        /* the old array is still in place */
    PP_COPY_COMPLETE,      /* the whole new array is durable beside it */
    PP_COPY_DOCUMENT_GONE, /* there is no array */
    PP_COPY_SHARDS_GONE    /* and nothing of the old one is left: shards of the new one get their keys */
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

/* inputs.c */

/* Takes over what was measured for this problem. */
void pp_copy_inputs_measured(pp_copy_inputs *inputs, const pp_rechunk_problem *problem);

/* The problem that results from them and the layouts of the task, and its plan. */
void pp_copy_inputs_problem(const pp_copy_inputs *inputs, const pp_copy_task *task, pp_rechunk_problem *problem);
parapet_status pp_copy_inputs_plan(const pp_copy_inputs *inputs, const pp_copy_task *task, pp_rechunk_plan *plan);

/* Lines "name: number". Parsing takes them from the front of the text; false: there is another line, or an impossible
 * number. */
void pp_copy_inputs_print(const pp_copy_inputs *inputs, pp_text *text);
bool pp_copy_inputs_parse(pp_copy_inputs *inputs, const char **lines);

/* Writes an object that tells of this copy, durably. */
parapet_status pp_copy_state_put(const pp_copy_task *task, pp_store *store, const char *key, const void *data,
                                 size_t bytes);

/* Writes what this copy is and how it is done. */
parapet_status pp_copy_state_write(const pp_copy_task *task);

/* What the text of a job says of the plan, if it describes this copy; nothing is planned. It has a NUL behind its
 * bytes, and loses its checksum. */
parapet_status pp_copy_job_parse(const pp_copy_task *task, const pp_text *described, char *data, size_t bytes,
                                 pp_copy_inputs *inputs);

/* Continues an unfinished copy: plans it again from what was written down, and finds out how far it has come. Refuses
 * a copy that was begun with other arguments or from another source, and says what differs; also refuses one whose
 * plan has changed. Nothing is removed then. */
parapet_status pp_copy_state_read(pp_copy_task *task);

/* A pass is done on all ranks. */
parapet_status pp_copy_state_finish_pass(const pp_copy_task *task, int pass);

/* Where a pass keeps its journals, and where an intermediate array is. Free with pp_free. */
parapet_status pp_copy_state_path(const pp_copy_task *task, pp_own kind, int pass, char **path);

/* task.c */

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

/* source_version.c: [collective] Finds a number that changes when any stored object of the source does, its document
 * included. */
parapet_status pp_copy_task_version(pp_copy_task *task);

/* cleanup.c: on rank 0. */

/* Whether an array that does not belong to this copy has appeared in its place. */
bool pp_copy_cleanup_is_foreign(const pp_copy_task *task);

/* Removes what an earlier copy may have left in the store for intermediate arrays. */
parapet_status pp_copy_cleanup_clear_between(const pp_copy_task *task);

/* Removes what was only needed until the copy was complete. */
parapet_status pp_copy_cleanup_tidy(const pp_copy_task *task);

/* After a failure that is not an interruption: as if nothing had been begun. */
void pp_copy_cleanup_forget(pp_copy_task *task);

/* replace.c: on rank 0, except for the path. */

/* Where the shards of an array are kept that replaces another; free with pp_free. */
parapet_status pp_copy_replace_path(const pp_copy_task *task, char **path);

/* Notes that the array at the target will be replaced; removes what an earlier copy left beside it. */
parapet_status pp_copy_replace_begin(pp_copy_task *task);

/* Finds out whether a resumed copy replaces an array, how far it has come, and whether the old array still exists. */
parapet_status pp_copy_replace_read(pp_copy_task *task, bool *is_old);

/* Removes the old array, and gives the shards of the new one, which is complete, their keys. Only the document then
 * remains to be published. What was done before a crash is not repeated. */
parapet_status pp_copy_replace_run(pp_copy_task *task);

/* decision.c */

/* [collective] Plans without measuring: a copy that is impossible is refused before anything is changed. */
parapet_status pp_copy_task_plan(pp_copy_task *task);

/* [collective] After that: measures, and finds out how far an earlier run has come. begins: makes room for the
 * target. */
parapet_status pp_copy_decide(pp_copy_task *task, bool begins);

/* pass_ends.c */

/* One end of a pass: an array and how to reach it. */
typedef struct pp_copy_end {
    pp_array_document document; /* of an intermediate array: shares type and fill value with the target's */
    pp_layout layout;
    pp_lattice lattice; /* likewise */
    char *path;
    pp_transfer_context context;
} pp_copy_end;

/* Close it even after a failure. */
parapet_status pp_copy_end_open(pp_copy_task *task, int pass, bool is_source, pp_copy_end *end);
void pp_copy_end_close(pp_copy_end *end);

/* probe.c: [collective] Measures storage, codecs and memory; the result is the same on every rank. */
parapet_status pp_copy_probe(pp_copy_task *task, pp_rechunk_problem *problem);

/* array_copy.c */
/* What a copy has done so far, as in parapet_copy_result: on this rank, until all ranks are added up (copy.c). */
typedef struct pp_copy_totals {
    pp_rechunk_counts done; /* of all passes of all arrays */
    int64_t arrays, groups, passes;
    int64_t array_bytes, verified_bytes;
    int64_t memory_peak_bytes, memory_planned_bytes;
    double planned_seconds, seconds;
    int64_t extent_before, extent_after, repaired; /* of an append */
    uint32_t shape;                                /* of the last array: as in pp_copy_surveyed */
} pp_copy_totals;

/* [collective] Copies one array; adds what this rank has done to totals. tree NULL: a single array. */
parapet_status pp_copy_array(const parapet_copy_request *request, const char *source_path, const char *target_path,
                             pp_copy_tree_log *tree, pp_copy_progress *progress, pp_copy_totals *totals);

typedef struct pp_copy_surveyed {
    bool is_touched; /* the changes concern it */
    int64_t bytes;
    uint32_t shape; /* stands for the lengths of the source */
} pp_copy_surveyed;

/* [collective] Whether one array of a hierarchy can be copied, and what of it. */
parapet_status pp_copy_array_survey(const parapet_copy_request *request, const char *source_path,
                                    const char *target_path, pp_copy_surveyed *surveyed);

/* [collective] Prints the plan for one array. */
parapet_status pp_copy_array_explain(const parapet_copy_request *request, const char *source_path,
                                     const char *target_path, bool is_in_tree, int as_json, pp_text *text,
                                     char **svg);

/* tree.c: [collective] Copies a group and everything below it. */
parapet_status pp_copy_group(const parapet_copy_request *request, pp_copy_progress *progress, pp_copy_totals *totals);
parapet_status pp_copy_group_explain(const parapet_copy_request *request, int as_json, pp_text *text, char **svg);

/* verbatim_check.c */

/* Whether the source, which is open, can only be copied so. */
bool pp_copy_verbatim_suit(const pp_copy_task *task);

/* Refuses changes that concern it. */
parapet_status pp_copy_verbatim_check(const pp_copy_task *task, bool is_in_tree);

/* Whether a key is one of a stored object of the source, and not of something that somebody else put there. */
bool pp_copy_is_object(const pp_copy_task *task, const char *key);

/* Rank 0: gives the target the source's document. */
parapet_status pp_copy_verbatim_build(pp_copy_task *task);

/* verbatim.c: arrays that are copied as they are stored, without being decoded. */

/* What that takes on rank 0. */
#define PP_COPY_OBJECTS_BYTES ((size_t)1 << 20)

/* [collective] Copies the stored objects, and compares them; counts their bytes. */
parapet_status pp_copy_verbatim(pp_copy_task *task, pp_copy_totals *totals);
parapet_status pp_copy_verbatim_verify(pp_copy_task *task, int64_t *verified_bytes);

/* Tells what would be done. */
parapet_status pp_copy_verbatim_explain(const pp_copy_task *task, bool is_json, pp_text *text);

/* consolidated.c */

/* Rank 0: whether a group, open on all ranks, has consolidated metadata. */
parapet_status pp_copy_consolidated_is_there(parapet_store *store, const parapet_group *group, const char *path,
                                             bool *is_there);

/* verify_copy.c: [collective] Reads source and target again, each once, and compares their digests. */
parapet_status pp_copy_verify(pp_copy_task *task, int64_t *verified_bytes);

#endif
