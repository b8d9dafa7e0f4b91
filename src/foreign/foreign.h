/* foreign.h - a file of another format as a store that can only be read: what is above sees a Zarr hierarchy, whose
 * documents are made from the header of the file and whose chunks are places in it. docs/design/foreign.md says why.
 *
 * A source that changes after it was opened is PARAPET_ERR_STALE, whatever of it is read next. */
#ifndef PARAPET_FOREIGN_FOREIGN_H
#define PARAPET_FOREIGN_FOREIGN_H

#include "store/store.h"

/* Whether a url is one: a file, "raw:...:FILE", or "FILE/NAME" for one array of a file. */
bool pp_foreign_is(const char *url);

/* Opens it. */
parapet_status pp_foreign_build(pp_store **store, const char *url, parapet_direct_io direct_io);

/* The version of the file when it was opened: all ranks must have read the same header. */
uint64_t pp_foreign_version(const pp_store *store);

/* What is opened: an object of any store, which is not freed with it. */
typedef struct pp_foreign_source {
    pp_store *files;
    const char *key;
    const char *raw;  /* words that describe it, up to a colon; NULL: it has a header */
    const char *name; /* of the one array that is wanted; NULL: all */
} pp_foreign_source;
parapet_status pp_foreign_build_over(pp_store **store, const pp_foreign_source *source);

/* From now on the store of the file is freed with it. */
void pp_foreign_own_files(pp_store *store);

#endif
