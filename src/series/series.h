/* series.h - arrays that grow together along their first dimension: what the files of series share.
 *
 *     <path>/<dimension>/__parapet/intent    what is about to change (intent.c); gone when the series is closed
 *     <path>/zarr.json                the group: {"_parapet": {"series": {...}}} and consolidated metadata
 *     <path>/<name>/, <path>/time/    the arrays and the coordinate, which nobody but the series changes
 *     <path>/__parapet/open/<rank>    steps of the row that is open, where memory is too small for them, each piece
 *                                     with a checksum
 *
 * Replacing the group's document is the commit of a step.
 *
 * A row is what one layer of shards covers: steps_per_row steps. Its steps are kept, packed and cut at the bounds of
 * shards, until it is full; then every shard is written once. After a flush in mid-row they stay, so that the full
 * row is written without reading anything back. */
#ifndef PARAPET_SERIES_SERIES_H
#define PARAPET_SERIES_SERIES_H

#include "array/node_lock.h"
#include "array/rank0.h"
#include "base/list.h"
#include "base/sha256.h"
#include "store/store.h"
#include "transfer/parts.h"
#include "zarr/document.h"

/* What the group's consolidated metadata say about an array, without its steps and attributes. */
typedef struct pp_series_consolidated_copy {
    bool is_sound; /* it is the document of an array */
    unsigned char structure[PP_SHA256_BYTES];
} pp_series_consolidated_copy;

/* The same box of one shard in one or more consecutive steps. */
typedef struct pp_series_piece {
    int array;
    uint64_t shard;        /* numbered over the shards of one row of all arrays */
    pp_box box;            /* in the array; dimension 0 is that of the steps */
    size_t bytes;          /* of one step */
    uint64_t offset;       /* of its first step in the arena, */
    uint64_t stride_bytes; /* and from there to the next */
} pp_series_piece;

/* Pieces as rows of 64-bit words, all of one length, taken from the budget. */
typedef struct pp_series_pieces {
    pp_list list;
    int ndim_most;
    size_t last; /* pieces from here on belong to the step that was appended last */
} pp_series_pieces;

/* Where the steps of the open row are kept on this rank: in memory, or in a log. */
typedef struct pp_series_arena {
    bool is_staged;      /* in a log; the same on all ranks */
    pp_buffer memory;    /* of the steps; staged: a buffer that they pass through */
    char *key;           /* of the log */
    pp_log *log;         /* NULL: not open now */
    uint64_t used_bytes; /* by steps that are kept */
    int64_t step_count;  /* how many those are */
    pp_series_pieces pieces;
} pp_series_arena;

struct parapet_series {
    parapet_store *store;
    pp_comm *alone; /* this rank alone: for what rank 0 writes without the others */
    char *path, *dimension;
    int count;              /* arrays, the coordinate not counted */
    char **names;           /* count of them */
    parapet_array **arrays; /* count of them, then the coordinate */
    int64_t steps, steps_committed, steps_per_row;
    int64_t shards_written;
    double *coordinates; /* of the steps that are not committed */
    size_t coordinate_capacity;
    int64_t steps_shown[2]; /* rank 0: the smallest and largest number of steps of an array in the group's
                               consolidated metadata */
    pp_series_consolidated_copy
        *shown; /* rank 0: what those say about each array and the coordinate; NULL: there are none */
    unsigned char group_digest[PP_SHA256_BYTES]; /* rank 0: of the document that contained them */
    pp_log *intents;                             /* rank 0: NULL: not open now */
    uint64_t intent_bytes;                       /* of its whole records */
    bool has_open_intent;                        /* rank 0: the last of them has not been carried out */
    bool is_uncertain; /* shards of the open row may hold more than was committed, and the stored group says so */
    bool is_in_doubt;  /* a commit failed, perhaps after it became visible */
    bool was_staged;   /* some row was staged */
    bool is_broken;    /* ranks may know different things: it can only be closed */
    int request_count; /* steps that were started, and not waited for */
    bool has_failed_request; /* the program does not know yet: nothing takes that step's place */
    pp_series_arena arena;
    pp_node_lock group_hold;    /* as long as the series is open, nobody else changes the group's steps */
    pp_node_lock *member_holds; /* nor any of its arrays */
    int member_count;
};

/* ---- series_handle.c ---- */

/* An empty handle. Free it even after a failure. */
parapet_status pp_series_build(parapet_series **series, parapet_store *store, const char *path);

/* [collective] Closes the arrays; takes NULL. */
parapet_status pp_series_free(parapet_series *series);

/* The step that the open row begins with. */
int64_t pp_series_row_start(const parapet_series *series);

/* Gives the arrays and the coordinate that many steps, in memory only. */
parapet_status pp_series_set_steps(parapet_series *series, int64_t steps);

/* [collective] Frees the series and sets it to NULL unless status is PARAPET_OK; returns status. */
parapet_status pp_series_finish(parapet_series **series, parapet_status status);

/* [collective] From now on until the series is freed, nobody else can open it or change its arrays. */
parapet_status pp_series_hold_group(parapet_series *series);
parapet_status pp_series_hold_members(parapet_series *series, const char *const *paths, int count);

/* [collective] A task after whose failure the series can only be closed. */
parapet_status pp_series_rank0_do(parapet_series *series, const char *phase, pp_rank0_work work,
                                  const void *argument);

/* "path/name" of the arrays, then of the coordinate; free with pp_paths_free. */
parapet_status pp_series_paths_build(const char *path, const char *const *names, int count, const char *dimension,
                                     char ***paths);

/* Removes the open steps that ranks of an earlier run have kept. */
parapet_status pp_series_remove_logs(const parapet_series *series);

/* ---- series_spec.c: what is created ---- */

/* Paths and specs of the arrays, then of the coordinate. */
typedef struct pp_series_making {
    const parapet_series_spec *spec;
    const char *dimension;
    char **paths;
    parapet_array_spec *specs;
    const char *(*dimension_names)[PARAPET_MAX_NDIM];
    char fallbacks[PARAPET_MAX_NDIM][16]; /* "dim_1", ... */
    int64_t steps_per_row;
    bool replaces; /* replaces what an interrupted creation left */
} pp_series_making;

/* Checks the spec. Clear it even after a failure. */
parapet_status pp_series_making_init(pp_series_making *making, const parapet_store *store, const char *path,
                                     const parapet_series_spec *spec);
void pp_series_making_clear(pp_series_making *making);

/* Adds everything that must be equal on all ranks to a call; the spec need not be valid. */
void pp_series_spec_add(const parapet_series_spec *spec, pp_call *call);

/* ---- group_document.c: the group's document; on rank 0 alone ---- */

/* Writes the group's document with this number of committed steps and consolidated metadata, and makes everything
 * before it durable. steps < 0: the series is not complete yet. attributes are added to those it has; NULL: none. */
parapet_status pp_series_write_group(parapet_series *series, int64_t steps, pp_json *attributes);

/* Reads dimension, names, steps_committed, is_uncertain and what is shown. steps_committed is -1 if creating the
 * series was interrupted. PARAPET_ERR_NOT_FOUND: it is not a series. */
parapet_status pp_series_read_group(parapet_series *series);

/* The part of it that is in the document itself, consolidated metadata aside. */
parapet_status pp_series_take_mark(parapet_series *series, const pp_group_document *document);

/* ---- consolidated_copy.c: on rank 0 alone ---- */

/* Reads steps_shown and shown. */
parapet_status pp_series_read_consolidated_copy(parapet_series *series);

/* The same from the text of the group's document. */
parapet_status pp_series_take_consolidated_copy(parapet_series *series, const char *text, size_t bytes);

/* Refuses a series if the document of an array differs from its copy in the group's document. */
parapet_status pp_series_check_consolidated_copy(const parapet_series *series);

/* Whether somebody has written the group's document since it was read. */
bool pp_series_has_moved(const parapet_series *series);

/* ---- commit.c ---- */

/* [collective] Makes the steps whose shards are durable visible. */
parapet_status pp_series_commit(parapet_series *series);

/* [collective] Announces in the store that the arrays are about to get the steps that their handles have. is_row:
 * shards with committed steps may be replaced by shards with more. */
parapet_status pp_series_announce(parapet_series *series, int64_t steps, bool is_row);

/* ---- intent.c: on rank 0 alone ---- */

/* Notes that the arrays are about to get the steps that their handles have. */
parapet_status pp_series_intent_note(parapet_series *series, int64_t steps);

/* Removes the notes, when nothing that they describe is under way. */
parapet_status pp_series_intent_forget(parapet_series *series);

/* The notes of an earlier run. */
typedef struct pp_series_intents {
    pp_buffer memory;
    size_t record_bytes, count;
} pp_series_intents;

/* The arrays must be open. If there are no notes, count is 0. Clear it even after a failure. */
parapet_status pp_series_intents_load(pp_series_intents *intents, const parapet_series *series);

/* The same for a log of them that is open; intents is all zero. */
parapet_status pp_series_intents_take(pp_series_intents *intents, const parapet_series *series, pp_reader *log);
void pp_series_intents_clear(pp_series_intents *intents);

/* Whether the series was about to go from the committed steps to this number; steps < 0: to any number. */
bool pp_series_intents_lead_to(const pp_series_intents *intents, const parapet_series *series, int64_t steps);

/* Whether the document of an array whose steps differ from the committed ones is one that the series was about to
 * write or to replace. */
bool pp_series_intents_explain(const pp_series_intents *intents, const parapet_series *series, int index);

/* ---- uncommitted.c: on rank 0 alone ---- */

/* Refuses a series whose number of steps was changed by anything but the series itself. cuts: an earlier run was
 * about to add steps, and the remains are to be cut off. */
parapet_status pp_series_check_uncommitted(const parapet_series *series, bool *cuts);

/* Counts the steps that the arrays have as committed. */
parapet_status pp_series_adopt_uncommitted(parapet_series *series);

/* ---- step.c: the parts of one step ---- */

/* The caller's parts, which leave out the first dimension. */
typedef struct pp_series_step {
    int count;       /* arrays */
    pp_parts *parts; /* of each */
} pp_series_step;

/* Checks the parts and refers to their memory. Clear it even after a failure. */
parapet_status pp_series_step_init(pp_series_step *step, const parapet_series *series, const parapet_step *steps);
void pp_series_step_clear(pp_series_step *step);

/* ---- series.c ---- */

/* [local] Checks a step, and makes room for it. Clear it even after a failure. */
parapet_status pp_series_prepare(parapet_series *series, const parapet_step *steps, pp_series_step *step);

/* [collective] Begins the call, with the status of this rank so far, and appends the step. */
parapet_status pp_series_append_step(parapet_series *series, double coordinate, const pp_series_step *step,
                                     parapet_status mine);

/* Which call this is, and for which step. */
void pp_series_append_call(pp_call *call, const char *verb, const parapet_series *series, double coordinate);

/* ---- cutter.c ---- */

/* Cuts a step at the bounds of shards, one piece after the other, because there may be more pieces than fit in
 * memory. */
typedef struct pp_series_cutter {
    const parapet_series *series;
    const pp_series_step *step;
    int array, part;      /* that is being cut */
    pp_grid shards;       /* of the array, with a row for the step */
    uint64_t first_shard; /* of the array, among those of all arrays */
    uint64_t offset;      /* of the next piece */
    bool is_cutting;
    pp_part whole; /* the part, and the shards that it touches */
    pp_box cells;
    int64_t cell[PARAPET_MAX_NDIM];
    pp_series_piece piece; /* what was cut last */
} pp_series_cutter;

/* The step begins at offset in the arena. */
void pp_series_cutter_init(pp_series_cutter *cutter, const parapet_series *series, const pp_series_step *step,
                           uint64_t offset);

/* The next piece; false: there is none. */
bool pp_series_cutter_next(pp_series_cutter *cutter);

/* Packs the piece. */
void pp_series_cutter_copy(const pp_series_cutter *cutter, unsigned char *target);

/* ---- step_pieces.c ---- */

void pp_series_pieces_init(pp_series_pieces *pieces, int ndim_most, pp_budget *budget);
void pp_series_pieces_clear(pp_series_pieces *pieces);

void pp_series_pieces_at(const pp_series_pieces *pieces, size_t index, pp_series_piece *piece);
void pp_series_pieces_put(pp_series_pieces *pieces, size_t index, const pp_series_piece *piece);
parapet_status pp_series_pieces_add(pp_series_pieces *pieces, const pp_series_piece *piece);

/* The start and count of a piece, ndim numbers each. */
const int64_t *pp_series_pieces_start(const pp_series_pieces *pieces, size_t index);
const int64_t *pp_series_pieces_count(const pp_series_pieces *pieces, size_t index);

/* The shards of a row, of all arrays. */
uint64_t pp_series_count_shards(const parapet_series *series);

/* What writing this many pieces takes, with the strides of each; and with all lists of the row. */
size_t pp_series_write_bytes(const parapet_series *series, size_t count);
size_t pp_series_row_list_bytes(const parapet_series *series, size_t count);

/* ---- sums.c ---- */

/* What a piece takes in addition to its bytes. */
#define PP_SERIES_SUM_BYTES 8

/* Follows the bytes of a piece that begins at offset in the log. */
void pp_series_sum_put(unsigned char *data, size_t bytes, uint64_t offset);
bool pp_series_sum_fits(const unsigned char *data, size_t bytes, uint64_t offset);

/* ---- arena.c ---- */

/* The memory that open steps may take; the rest is for writing them. */
size_t pp_series_limit_bytes(const parapet_series *series);

/* [collective] Keeps the step; part of a call that has begun. After a failure it is not kept on any rank. */
parapet_status pp_series_keep(parapet_series *series, const pp_series_step *step);

/* [collective] Moves the open row from memory to the logs of all ranks, unless status is a failure on one of them. */
parapet_status pp_series_stage(parapet_series *series, parapet_status status);

/* Forgets the open row. */
void pp_series_arena_reset(parapet_series *series);
void pp_series_arena_clear(parapet_series *series);

/* ---- row.c ---- */

/* Reads the steps of a piece from the log, one after the other, and compares their checksums. target has room for one
 * more step. */
parapet_status pp_series_piece_read(const parapet_series *series, pp_reader *reader, const pp_series_piece *piece,
                                    unsigned char *target);

/* [collective] Writes the steps that are kept, and commits. */
parapet_status pp_series_write_row(parapet_series *series);

/* [collective] Writes a step that is a whole row from the caller's memory, and commits. */
parapet_status pp_series_write_step(parapet_series *series, const pp_series_step *step);

#endif
