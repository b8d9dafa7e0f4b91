/* copy_bed.h - small copies in one process: a source, a target and perhaps a third store, all behind one plan of
 * faults, and what an uninterrupted copy leaves. */
#ifndef PARAPET_TESTS_COPY_BED_H
#define PARAPET_TESTS_COPY_BED_H

#include "image.h"

#include "array/array_handle.h"
#include "array/open.h"
#include "stores/faulty.h"

/* One copy, and how the target is reached. */
typedef struct copy_subject {
    const char *name;
    parapet_copy_changes changes;
    int64_t unit_bytes, passes, memory_bytes;
    parapet_reading reading;
    const char *source_path, *target_path;
    bool has_temporary; /* intermediate passes go to a third store */
    bool elides_fill;
    bool probes;
} copy_subject;

extern const copy_subject copy_subjects[];
extern const int copy_subject_count;

/* Where objects are. */
typedef enum copy_storage { COPY_IN_MEMORY, COPY_IN_DIRECTORY } copy_storage;

enum { COPY_SOURCE, COPY_TARGET, COPY_TEMPORARY, COPY_STORES };

typedef struct copy_bed {
    const copy_subject *of;
    copy_storage storage;
    pp_store *inner[COPY_STORES];  /* where the objects are */
    pp_store *faulty[COPY_STORES]; /* around them */
    pp_fault_plan plan;            /* of all of them; only operations of the copy itself are counted */
    int64_t threads;
    parapet_progress_callback progress; /* may be NULL */
    void *progress_context;
    char folder[64]; /* of a directory */
} copy_bed;

/* What an uninterrupted copy does. */
typedef struct copy_reference {
    image before; /* the source's store */
    image stored; /* the target's store afterwards */
    parapet_copy_result result;
    int64_t most_chunks; /* of one template */
    int64_t templates;
    long operations;
} copy_reference;

typedef struct copy_manner {
    bool resumes, overwrites, verifies;
} copy_manner;

/* Fresh stores; the source is there. free_ also removes the directory. */
void copy_bed_build(copy_bed *bed, const copy_subject *of, const copy_reference *reference, copy_storage storage);
void copy_bed_free(copy_bed *bed);

/* Opens handles over the faulty stores, copies with the plan as it is, closes them. The sentence stays. */
parapet_status copy_bed_run(copy_bed *bed, copy_manner manner, parapet_copy_result *result);

/* The request of the subject, without stores. */
parapet_copy_request copy_subject_request(const copy_subject *of);

void copy_reference_build(copy_reference *reference, const copy_subject *of);
void copy_reference_free(copy_reference *reference);

/* Whether the target's store holds exactly what an uninterrupted copy leaves, and the third one nothing; problem says
 * what is not so. */
bool copy_bed_is_complete(copy_bed *bed, const copy_reference *reference, char problem[256]);

/* Objects below the target's path, in the target's store and the third one; and whether the target is visible. */
size_t copy_bed_remains(copy_bed *bed, bool *is_visible);

/* Whether the target's store has such an object. */
bool copy_bed_has(copy_bed *bed, const char *key);

#endif
