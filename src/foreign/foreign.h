/* foreign.h - a file of another format as a store that can only be read: what is above sees a Zarr hierarchy, whose
 * documents are made from the header of the file and whose chunks are places in it. docs/design/foreign.md says why.
 *
 * A source that changes after it was opened is PARAPET_ERR_STALE, whatever of it is read next. */
#ifndef PARAPET_FOREIGN_FOREIGN_H
#define PARAPET_FOREIGN_FOREIGN_H

#include "foreign/helper.h"
#include "store/store.h"

/* Whether a url is one: a file, "FILE/NAME" for one array or group of a file, "raw:...:FILE", or "places:TABLE:FILE".
 */
bool pp_foreign_is(const char *url);

/* Opens it. */
parapet_status pp_foreign_build(pp_store **store, const char *url, pp_direct_io direct_io);

/* The version of the file when it was opened: all ranks must have read the same header. */
uint64_t pp_foreign_version(const pp_store *store);

/* What is opened: an object of any store, which is not freed with it. */
typedef struct pp_foreign_source {
    pp_store *files;
    const char *key;
    const char *raw;   /* words that describe it, up to a colon; NULL: it has a header */
    const char *name;  /* of the one array or group that is wanted; NULL: all */
    const char *table; /* the path of a table of its places; NULL: it needs none, or one that is made from it */
    const char *path;  /* of the file, for a program that makes a table; NULL: none can */
} pp_foreign_source;
parapet_status pp_foreign_build_over(pp_store **store, const pp_foreign_source *source);

/* Whether what is in the file has to be told by a table of places, before anything of the store is used: one rank
 * makes it, and all take it. */
bool pp_foreign_needs_table(const pp_store *store);
parapet_status pp_foreign_make_table(const pp_store *store, const pp_helper_limits *limits, char **text,
                                     size_t *bytes);
parapet_status pp_foreign_take_table(pp_store *store, const char *text, size_t bytes);

/* From now on the store of the file is freed with it. */
void pp_foreign_own_files(pp_store *store);

#endif
