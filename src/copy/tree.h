/* tree.h - the copy of a group with everything below it. */
#ifndef PARAPET_COPY_TREE_H
#define PARAPET_COPY_TREE_H

#include "copy/progress.h"

/* [collective] Copies a group and everything below it. */
parapet_status pp_copy_group(const parapet_copy_request *request, pp_copy_progress *progress, pp_copy_totals *totals);
parapet_status pp_copy_group_explain(const parapet_copy_request *request, int as_json, pp_text *text, char **svg);

#endif
