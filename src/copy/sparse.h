/* sparse.h - a source of which little is stored: the work units, and the blocks in their templates, that have stored
 * elements. A block consists of whole target chunks and is about as large as a source shard, so that a shard is
 * opened only a few times. */
#ifndef PARAPET_COPY_SPARSE_H
#define PARAPET_COPY_SPARSE_H

#include "copy/pass.h"

/* Numbers in C order over all work units, and over all blocks, of the target. */
typedef struct pp_copy_sparse {
    pp_ranges work_units, blocks;
    int64_t block_shape[PARAPET_MAX_NDIM];
} pp_copy_sparse;

/* Computed from the shards that are stored (job->stored). Clear it even after a failure. */
parapet_status pp_copy_sparse_init(pp_copy_sparse *sparse, const pp_copy_job *job);
void pp_copy_sparse_clear(pp_copy_sparse *sparse);

/* Called with one box after another: the blocks of a template that have something stored, a row of neighbours at a
 * time. */
typedef parapet_status (*pp_copy_block_visitor)(void *context, const pp_box *blocks);
parapet_status pp_copy_sparse_each(const pp_copy_sparse *sparse, const pp_copy_job *job, const pp_box *template_box,
                                   pp_copy_block_visitor visit, void *context);

#endif
