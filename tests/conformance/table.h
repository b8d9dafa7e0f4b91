/* table.h - what is special about single cases: what must be refused and how, and what metadata must show. */
#ifndef PARAPET_CONFORMANCE_TABLE_H
#define PARAPET_CONFORMANCE_TABLE_H

#include <parapet.h>
#include <stdbool.h>

/* Faults of metadata are found when an array is opened, faults of data when it is read. */
typedef enum refusal_moment { AT_OPEN, AT_READ } refusal_moment;

typedef struct refusal_rule {
    const char *folder;
    const char *name; /* of the case, which is also the path of its array */
    refusal_moment moment;
    parapet_status status;
    const char *words[2]; /* that the sentence must contain: what is wrong, and where it is not the metadata */
} refusal_rule;

extern const refusal_rule refusals[];
extern const int refusal_count;

/* NULL when the case must be read. */
const refusal_rule *refusal_find(const char *folder, const char *name);

/* A case that reads exactly when checksums are ignored, although it is refused otherwise. */
typedef struct case_name {
    const char *folder;
    const char *name;
} case_name;

extern const case_name readable_without_checksums[];
extern const int readable_without_checksums_count;

/* Whether the metadata of the case leaves its fill value open. */
bool fill_is_open(const char *name);

/* What the metadata of some cases says, as JSON text; NULL: no such thing. */
typedef struct metadata_fact {
    const char *folder;
    const char *path;
    const char *dimension_names[2];
    int has_dimension_names;
    const char *attribute;
    const char *attribute_json;
} metadata_fact;

extern const metadata_fact metadata_facts[];
extern const int metadata_fact_count;

/* A group and its children in the order of their names. same_as: the prefix of the expected files that the child
 * arrays must equal, where they have none of their own. */
typedef struct group_case {
    const char *folder;
    const char *path;
    const char *children[4];
    parapet_node_kind kind;
    const char *title;
    const char *same_as;
} group_case;

extern const group_case group_cases[];
extern const int group_case_count;

#endif
