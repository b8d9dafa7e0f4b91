/* array_copy.h - the copy of one array. */
#ifndef PARAPET_COPY_ARRAY_COPY_H
#define PARAPET_COPY_ARRAY_COPY_H

#include "copy/progress.h"
#include "copy/tree_log.h"

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

#endif
