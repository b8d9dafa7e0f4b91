/* target_document.h - the metadata of the target, from those of the source and the changes. */
#ifndef PARAPET_COPY_TARGET_DOCUMENT_H
#define PARAPET_COPY_TARGET_DOCUMENT_H

#include "copy/view.h"

/* The document of the target, always Zarr v3, and where its elements are in the source. Clear target
 * even after a failure. */
parapet_status pp_copy_document(const parapet_copy_changes *changes, const pp_array_document *source, bool is_in_tree,
                                int64_t expected_servers, pp_array_document *target, pp_copy_view *view);

#endif
