/* bed.h - what the makers of the fixed set of stores share. Public API only: when that changes, these files change
 * with it, and what they store stays as it is.
 *
 * Elements are a function of their place and a seed, so that any number of ranks writes the same array. */
#ifndef PARAPET_DIGEST_BED_H
#define PARAPET_DIGEST_BED_H

#include <parapet.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct digest_bed {
    const char *folder; /* where the stores go */
    const char *cases;  /* tests/conformance: arrays of other writers */
    MPI_Comm comm;
    int rank, rank_count;
    bool is_alone; /* one process without MPI */
} digest_bed;

/* Ends the process with the sentence of the failure. */
void require(parapet_status status);
void require_true(bool is_true, const char *sentence);

/* Options under which nothing depends on threads or the machine. */
parapet_store_options plain_options(const digest_bed *bed);

parapet_store *open_store(const digest_bed *bed, const char *name);
parapet_store *open_store_with(const digest_bed *bed, const char *name, const parapet_store_options *options);

/* A box of an array; extents beyond ndim are not looked at. */
typedef struct digest_box {
    int64_t start[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM];
} digest_box;

/* What this rank has of the box: a run of rows of its first dimension. */
digest_box share_of(const digest_bed *bed, int ndim, const digest_box *box);

/* Elements of a box, to be freed. */
void *make_elements(const parapet_array_info *info, const digest_box *box, uint64_t seed);

/* Every rank writes its share. */
void write_box(const digest_bed *bed, parapet_array *array, const digest_box *box, uint64_t seed);
void write_whole(const digest_bed *bed, parapet_array *array, uint64_t seed);

/* Makes the array and writes all of it; the caller closes it. */
parapet_array *make_array(const digest_bed *bed, parapet_store *store, const char *path,
                          const parapet_array_spec *spec, uint64_t seed);
/* The same, and closes it. */
void leave_array(const digest_bed *bed, parapet_store *store, const char *path, const parapet_array_spec *spec,
                 uint64_t seed);

/* The makers. Each store is a folder of the same name. */
void make_types(const digest_bed *bed);
void make_codecs(const digest_bed *bed);
void make_tree(const digest_bed *bed);
void make_changed(const digest_bed *bed);
void make_series(const digest_bed *bed);
void make_checkpoints(const digest_bed *bed);

/* For one process only. */
void make_copies(const digest_bed *bed);
void make_foreign(const digest_bed *bed);
void interrupt_copies(const digest_bed *bed);
void abandon_series(const digest_bed *bed);
void abandon_checkpoints(const digest_bed *bed);

#endif
