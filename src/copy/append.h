/* append.h - makes the arrays of a group longer along their first dimension by those of another group.
 *
 * One source is appended whole or not at all, whatever happens in between:
 *
 *     mark      <group>/__parapet/append says what is about to happen, durably
 *     write     the new elements of all arrays, where no document reaches yet: nobody sees them
 *     mark      says that all elements are durable
 *     publish   the documents of all arrays but the coordinate's
 *     decide    the document of the coordinate
 *     renew     the consolidated metadata, which has shown the old length until now
 *     unmark
 *
 * Each step is durable before the next one begins. So after a kill, whoever finds the mark (append_repair.c) looks at
 * the coordinate: if it is longer, everything is there, and only metadata is renewed; if not, what was written goes.
 * No array becomes shorter whose document is not, byte for byte, one that the second mark tells of.
 * Elements that somebody else may have changed since, where no document reached them, never come to light. */
#ifndef PARAPET_COPY_APPEND_H
#define PARAPET_COPY_APPEND_H

#include "copy/copy.h"
#include "copy/selection.h"

/* Arrays of one path below both groups, on every rank. */
typedef struct pp_append_pairs {
    char **names;
    parapet_array **sources, **targets; /* some may be NULL: not open */
    int count;
} pp_append_pairs;

#define PP_APPEND_WORD_BYTES 17 /* 16 hexadecimal digits */

typedef struct pp_append_mark {
    char *dimension;
    int64_t before, after;           /* its extent in the target */
    char word[PP_APPEND_WORD_BYTES]; /* no other append has it */
    bool is_stored;                  /* all elements are durable */
    char **names;                    /* of the arrays, the coordinate's last */
    int count;
    char **documents; /* if is_stored: the SHA-256 of the document that each array is about to have, in hexadecimal */
    int document_count;
    char **groups; /* those with consolidated metadata, inner ones first; "" is the target itself */
    int group_count;
} pp_append_mark;

typedef struct pp_append {
    const parapet_copy_request *request;
    const char *dimension;
    bool changes;  /* not only looks */
    bool is_alone; /* the source is its own target: whether anything could be appended to it */
    char *source_root, *target_root;
    pp_append_pairs growing; /* the coordinate is the last */
    pp_append_pairs fixed;   /* that do not have the dimension */
    int64_t before, added;
    bool is_there;     /* the source was appended before */
    bool has_begun;    /* seals may be off, and elements written */
    bool is_published; /* all arrays are longer now */
    int64_t buffer_bytes;
    parapet_progress_callback progress; /* or NULL */
    int64_t done_bytes, total_bytes;
    pp_append_mark mark;
    pp_node_lock group_hold, *holds;
    int hold_count;
    pp_copy_totals *totals;
} pp_append;

/* append.c */

/* Refuses fields of a request that make no sense for an append, if it is one. */
parapet_status pp_append_request_check(const parapet_copy_request *request);

/* [collective] Appends the group, or only tells what would be done. */
parapet_status pp_append_group(const parapet_copy_request *request, pp_copy_totals *totals);
parapet_status pp_append_explain(const parapet_copy_request *request, int as_json, pp_text *text);

/* append_ranks.c */
pp_comm *pp_append_comm(const pp_append *append);
bool pp_append_leads(const pp_append *append);

/* Whether the target is, or could be, made longer. One that is open for reading only stands for another: a source
 * that would be appended before. */
bool pp_append_may_change(const pp_append *append);

/* [collective] Reports progress, and whether it should end. */
parapet_status pp_append_tick(const pp_append *append);

/* append_list.c: [collective] Which arrays there are in source and target, and which become longer. */
parapet_status pp_append_list(pp_append *append, pp_selection *selection);
void pp_append_pairs_clear(pp_append_pairs *pairs);

/* [collective] Holds those of the target that become longer, and opens them anew. */
parapet_status pp_append_hold(pp_append *append);

/* [collective] Holds the group. */
parapet_status pp_append_hold_group(pp_append *append);

/* append_check.c: [collective] Whether numbers mean the same in both, and all that does not become longer is equal.
 */
parapet_status pp_append_check(pp_append *append);

/* On rank 0: whether none of what becomes longer is a part of something that is kept as a whole. */
parapet_status pp_append_check_membership(const pp_append *append);

/* append_order.c: [collective] Whether the source follows the target or is already there. */
parapet_status pp_append_check_order(pp_append *append);

/* append_blocks.c: the boxes in which elements are read and written, dealt to ranks in turn. */
typedef struct pp_append_blocks {
    pp_box region;
    int64_t first[PARAPET_MAX_NDIM]; /* of the blocks, where one begins */
    int64_t block[PARAPET_MAX_NDIM];
    int64_t along[PARAPET_MAX_NDIM]; /* how many there are */
    int64_t count, elements_most;
} pp_append_blocks;

/* How much a rank takes at once, and how many ranks there are to take it. */
typedef struct pp_append_share {
    int64_t bytes_most;
    int ranks;
} pp_append_share;

/* Whole shards of the target, and whole chunks of the source, as far as so many bytes allow, and no larger than that
 * each rank gets one. */
void pp_append_blocks_init(pp_append_blocks *blocks, const pp_box *region, const pp_tiling *target,
                           const pp_tiling *source, const pp_append_share *share);
void pp_append_block(const pp_append_blocks *blocks, int64_t number, pp_box *box);

/* append_move.c: [collective] Writes the elements of all arrays, whose handles have their new extent. */
parapet_status pp_append_move(pp_append *append);

/* append_mark.c: on rank 0, but for the last. */
void pp_append_mark_clear(pp_append_mark *mark);
parapet_status pp_append_add_text(char ***texts, int *count, const char *text);

/* As it is stored, and back; the text has a NUL behind its bytes, and is as it was when the status is PARAPET_OK.
 * mark is all zero; clear it even after a failure. */
parapet_status pp_append_mark_print(const pp_append_mark *mark, pp_text *text);
parapet_status pp_append_mark_parse(pp_append_mark *mark, char *text, size_t bytes);

/* Gives it a word. */
parapet_status pp_append_mark_name(pp_append_mark *mark);

/* What is held is proved to be. Only the mark of this append is removed. */
parapet_status pp_append_mark_write(const pp_append *append);
parapet_status pp_append_mark_remove(const pp_append *append);

/* [collective] Every rank gets the mark; count 0: there is none. */
parapet_status pp_append_mark_read(const pp_append *append, pp_append_mark *mark);

/* append_steps.c: [collective] From the first mark to the last; between the two, elements are moved. */
parapet_status pp_append_transact(pp_append *append);

/* [collective] Its ends: all arrays are longer, or become as they were. */
parapet_status pp_append_finish(pp_append *append);
parapet_status pp_append_undo(const pp_append *append);

/* append_repair.c: [collective] Puts right what an append that was killed has left; *repair says what was done. */
parapet_status pp_append_repair_target(const pp_append *append, parapet_repair *repair);

/* [collective] The same for a group that nobody holds, without a source. */
parapet_status pp_append_repair_group(parapet_store *store, const char *group, parapet_repair *repair);

#endif
