/* append_task.h - what an append knows while it runs: its arrays, what it holds, and the record that it leaves. */
#ifndef PARAPET_COPY_APPEND_TASK_H
#define PARAPET_COPY_APPEND_TASK_H

#include "array/announcement.h"
#include "copy/progress.h"

/* Arrays of one path below both groups, on every rank. */
typedef struct pp_append_pairs {
    char **names;
    parapet_array **sources, **targets; /* some may be NULL: not open */
    int count;
} pp_append_pairs;

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
    pp_change change;
    pp_node_lock group_hold, *holds;
    int hold_count;
    pp_copy_totals *totals;
} pp_append;

#endif
