/* tree_log.h - which arrays of a hierarchy are copied already. */
#ifndef PARAPET_COPY_TREE_LOG_H
#define PARAPET_COPY_TREE_LOG_H

#include <parapet_arrays.h>

#include "base/sha256.h"
#include "store/store.h"

/* The arrays of a hierarchy that are already copied, in a log beside the target's root; on rank 0. */
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

#endif
