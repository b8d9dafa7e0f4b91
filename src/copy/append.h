/* append.h - makes the arrays of a group longer along their first dimension by those of another group.
 *
 * One source is appended whole or not at all, whatever happens in between:
 *
 *     announce  <group>/__parapet/change says what is about to happen, durably (array/announcement.h)
 *     write     the new elements of all arrays, where no document reaches yet: nobody sees them
 *     publish   the documents of all arrays but the coordinate's
 *     decide    the document of the coordinate
 *     renew     the consolidated metadata, which has shown the old length until now
 *     end       the record goes
 *
 * Each step is durable before the next one begins. So after a kill, whoever finds the record (append_repair.c) looks
 * at the coordinate: if it is longer, everything is there, and only metadata is renewed; if not, what was written
 * goes. No array becomes shorter whose document is not, byte for byte, one that the record tells of. Elements that
 * somebody else may have changed since, where no document reached them, never come to light. */
#ifndef PARAPET_COPY_APPEND_H
#define PARAPET_COPY_APPEND_H

#include "copy/progress.h"

/* Refuses fields of a request that make no sense for an append, if it is one. */
parapet_status pp_append_request_check(const parapet_copy_request *request);

/* [collective] Appends the group, or only tells what would be done. */
parapet_status pp_append_group(const parapet_copy_request *request, pp_copy_totals *totals);
parapet_status pp_append_explain(const parapet_copy_request *request, int as_json, pp_text *text);

#endif
