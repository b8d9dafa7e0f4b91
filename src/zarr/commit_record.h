/* commit_record.h - the commit record of a checkpoint's generation, as bytes.
 *
 * Pure: bytes in, structs out. Depends on base and codec (CRC-32C). Text that people can read:
 *
 *     parapet commit 1
 *     generation 7
 *     group g00000007
 *     durable yes
 *     document <SHA-256 of the group's zarr.json>
 *     array <SHA-256 of its zarr.json> density          one line for each array, in the order of their names
 *     crc32c <of all lines before, 8 digits>
 *
 * zarr.json of a sealed array names the digest of its manifest, and the manifest those of the shards, so the record
 * identifies everything in the generation. It contains nothing random and no time. */
#ifndef PARAPET_ZARR_COMMIT_RECORD_H
#define PARAPET_ZARR_COMMIT_RECORD_H

#include <stdbool.h>

#include "base/sha256.h"
#include "base/text.h"

/* A longer record is refused. Enough for 10^5 arrays with names of a hundred bytes. */
#define PP_COMMIT_MOST_BYTES ((size_t)16 << 20)

/* Numbers have at most 18 digits. */
#define PP_COMMIT_LAST_GENERATION INT64_C(999999999999999999)

typedef struct pp_commit_array {
    char *name; /* owned */
    unsigned char document[PP_SHA256_BYTES];
} pp_commit_array;

typedef struct pp_commit {
    int64_t generation;
    char *group; /* the name of its directory; owned */
    bool is_durable;
    unsigned char document[PP_SHA256_BYTES];
    size_t array_count;
    pp_commit_array *arrays; /* owned */
} pp_commit;

void pp_commit_clear(pp_commit *commit);

/* Takes a copy of the name. */
parapet_status pp_commit_add(pp_commit *commit, const char *name, const unsigned char document[PP_SHA256_BYTES]);

void pp_commit_sort(pp_commit *commit); /* the arrays, by name */
/* One of its arrays, which are sorted; NULL: it has none of that name. */
const pp_commit_array *pp_commit_find(const pp_commit *commit, const char *name);

/* Sorts the arrays by name. */
void pp_commit_print(pp_commit *commit, pp_text *text);

/* PARAPET_ERR_CORRUPT for anything that pp_commit_print cannot have printed. Clear it also after a failure. */
parapet_status pp_commit_parse(pp_commit *commit, const char *text, size_t bytes);

#endif
