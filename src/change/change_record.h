/* change_record.h - what a change of several steps notes before its first visible one: the arrays of a group are
 * about to become longer along their first dimension. An append and a row of a series write it; all others know by
 * names alone what was under way (registry.h).
 *
 *     extend: time
 *     before: 744
 *     after: 1416
 *     id: 9f2c54d1a07be863    no other change has it
 *     array: t2m              a path below the group, for each; the coordinate's is the last
 *     document: 5f0c...       below each array: SHA-256 of the document that it is about to have
 *     group: /                one with consolidated metadata, which the change takes away, for each
 *     crc32c: 1d0f3a77        of all before it
 *
 * One object decides: the coordinate's document of an append, the group's document of a series. Its length is the
 * committed one. Before it is replaced nothing has happened; afterwards everything has.
 *
 * Pure: text and numbers. A record is untrusted: it counts only if printing it again gives the same bytes; its
 * numbers are compared, and are never a size or an address (invariant 11 of docs/design/change.md). */
#ifndef PARAPET_CHANGE_CHANGE_RECORD_H
#define PARAPET_CHANGE_CHANGE_RECORD_H

#include <stdbool.h>

#include "base/random.h"
#include "base/sha256.h"
#include "base/text.h"

/* What a record, or a log of them, never exceeds. */
#define PP_CHANGE_BYTES_MOST ((size_t)4 << 20)

typedef struct pp_change {
    char *dimension;
    int64_t before, after; /* its extents */
    char id[PP_RANDOM_ID_BYTES];
    char **arrays, **documents; /* count of each */
    int count;
    char **groups; /* inner ones first; "" is the group itself */
    int group_count;
} pp_change;

void pp_change_clear(pp_change *change);

/* Its dimension, and an id. */
parapet_status pp_change_begin(pp_change *change, const char *dimension, int64_t before, int64_t after);
parapet_status pp_change_add_array(pp_change *change, const char *path,
                                   const unsigned char document[PP_SHA256_BYTES]);
parapet_status pp_change_add_group(pp_change *change, const char *path);

parapet_status pp_change_print(const pp_change *change, pp_text *text);

/* The text has a NUL behind its bytes, and is as it was when the status is PARAPET_OK. change is all zero; clear it
 * even after a failure. PARAPET_ERR_FORMAT: it is none. */
parapet_status pp_change_parse(pp_change *change, char *text, size_t bytes);

/* Whether text, which may be damaged, is this change's. */
bool pp_change_is(const pp_change *change, const char *text);

/* Whether the change made this array longer, while the committed length was another: only then may the array be cut
 * (invariant 8 of docs/design/change.md). */
bool pp_change_explains(const pp_change *change, int array, int64_t committed, int64_t length,
                        const unsigned char document[PP_SHA256_BYTES]);

/* A log of records. What is damaged counts as missing. */
typedef struct pp_change_log {
    pp_change *records;
    size_t count;
} pp_change_log;

/* The text ends in a NUL. Clear the log even after a failure. */
parapet_status pp_change_log_parse(pp_change_log *log, char *text);
void pp_change_log_clear(pp_change_log *log);

#endif
