/* pass_ends.c - the two ends of a pass: source, target, and the arrays between two passes. */
#include "copy/pass_ends.h"

#include <string.h>

#include "array/array.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "copy/job_state.h"
#include "copy/replace.h"
#include "copy/task.h"

static parapet_status lay_out_between(const pp_copy_task *task, const pp_rechunk_side *side, pp_copy_end *end)
{
    const pp_array_document *target = pp_array_document_of(task->target);
    pp_sharding_spec *sharding;
    parapet_status status = pp_allocate(&sharding, sizeof *sharding);
    if (status != PARAPET_OK)
        return status;
    sharding->ndim = target->ndim;
    memcpy(sharding->chunk_shape, side->chunk, sizeof sharding->chunk_shape);
    sharding->codecs.count = sharding->index_codecs.count = 2;
    sharding->codecs.codecs[0].id = sharding->index_codecs.codecs[0].id = PP_CODEC_BYTES;
    sharding->codecs.codecs[1].id = sharding->index_codecs.codecs[1].id = PP_CODEC_CRC32C;
    end->document = (pp_array_document){
        .zarr_format = 3,
        .ndim = target->ndim,
        .type = target->type,
        .fill_value = target->fill_value,
        .keys = {.separator = '/'},
        .codecs = {.count = 1, .codecs = {{.id = PP_CODEC_SHARDING, .sharding = sharding}}},
    };
    memcpy(end->document.shape, target->shape, sizeof target->shape);
    memcpy(end->document.grid_shape, side->shard, sizeof end->document.grid_shape);
    return pp_layout_init(&end->layout, &end->document, false);
}

/* Every rank chooses alike: the choice depends on the arguments only. */
static parapet_status choose_homes(const pp_copy_task *task, pp_copy_end *end)
{
    const pp_grid *shards = &end->layout.tiling.shards;
    return pp_lattice_choose(&end->lattice, shards->ndim, shards->cells,
                             pp_store_team(task->temporary_store, PP_READING).server_count);
}

static parapet_status open_between(pp_copy_task *task, int pass, pp_copy_end *end)
{
    parapet_status status = lay_out_between(task, &task->plan->passes[pass].target, end);
    if (status != PARAPET_OK || (status = choose_homes(task, end)) != PARAPET_OK ||
        (status = pp_copy_state_path(task, PP_OWN_COPY_BETWEEN, pass, &end->path)) != PARAPET_OK ||
        (status = pp_array_transfer_context(task->target, &end->context)) != PARAPET_OK)
        return status;
    end->context.store = pp_store_backend(task->temporary_store);
    end->context.counters = pp_store_counters(task->temporary_store);
    end->context.path = end->path;
    end->context.layout = &end->layout;
    end->context.lattice = &end->lattice;
    end->context.elides_fill = false; /* what the source has is there, so that what is lost is noticed */
    return PARAPET_OK;
}

parapet_status pp_copy_end_open(pp_copy_task *task, int pass, bool is_source, pp_copy_end *end)
{
    bool is_outer = is_source ? pass == 0 : pass == task->plan->pass_count - 1;
    parapet_status status;
    *end = (pp_copy_end){0};
    if (is_outer) {
        status = pp_array_transfer_context(is_source ? task->source : task->target, &end->context);
        if (status == PARAPET_OK && !is_source && task->replaces &&
            (status = pp_copy_replace_path(task, &end->path)) == PARAPET_OK)
            end->context.path = end->path;
    } else
        status = open_between(task, is_source ? pass - 1 : pass, end);
    end->context.budget = &task->budget;
    end->context.progress = NULL; /* the copy reports its own, of which a read is a part */
    end->context.threads = (int)pp_min_i64(end->context.threads, task->plan->threads);
    return status;
}

void pp_copy_end_close(pp_copy_end *end)
{
    pp_layout_clear(&end->layout);
    pp_chain_spec_clear(&end->document.codecs);
    pp_free(end->path);
}
