#include "copy/cooperative_read.h"

#include "base/checked.h"
#include "base/status.h"
#include "copy/source.h"
#include "copy/target.h"
#include "geometry/strided.h"

/* A rank's end of the work on one group of work units. */
typedef struct together {
    pp_copy_job *job;
    pp_done_units done;
    pp_log *log;
    pp_copy_target target;
    pp_buffer buffer; /* the template, dense, in the target's order */
    pp_chain_scratch *encoder;
    pp_box work_units; /* of the group, as positions in the grid of work units */
    pp_box steps;      /* templates of a whole work unit, as positions in it */
    int64_t work_unit; /* that this rank does of them; -1: none */
    int64_t own_next;  /* the first step that this rank has not done yet */
} together;

static const pp_rechunk_pass *pass_of(const together *all)
{
    return all->job->pass;
}

static int64_t work_unit_along(const together *all, int d)
{
    return pp_divide_up(all->job->view->shape[d], pass_of(all)->work_unit_shape[d]);
}

static int64_t step_count(const together *all)
{
    return pp_box_element_count(&all->steps);
}

/* The member of the group that a rank does in a wave, as the number of a work unit; -1: there is none for it. */
static int64_t choose_work_unit(const together *all, int64_t wave, int rank)
{
    int64_t member = wave * all->job->rank_count + rank, number = 0, inside[PARAPET_MAX_NDIM];
    int d;
    if (member >= pp_box_element_count(&all->work_units))
        return -1;
    for (d = all->work_units.ndim - 1; d >= 0; d--) {
        inside[d] = member % all->work_units.count[d];
        member /= all->work_units.count[d];
    }
    for (d = 0; d < all->work_units.ndim; d++)
        number = number * work_unit_along(all, d) + all->work_units.start[d] + inside[d];
    return number;
}

/* The template of a step in this rank's work unit, which it has: its box, and its number there; false: a work unit at
 * the edge has no such. */
static bool find_template(const together *all, int64_t step, int64_t *number, pp_box *box)
{
    int64_t inside[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM];
    pp_box work_unit;
    int d;
    pp_rechunk_work_unit_box(all->job->view->ndim, all->job->view->shape, pass_of(all), all->work_unit, &work_unit);
    for (d = work_unit.ndim - 1; d >= 0; d--) {
        inside[d] = step % all->steps.count[d];
        step /= all->steps.count[d];
        count[d] = pp_divide_up(work_unit.count[d], pass_of(all)->template_shape[d]);
        if (inside[d] >= count[d])
            return false;
    }
    *number = 0;
    for (d = 0; d < work_unit.ndim; d++)
        *number = *number * count[d] + inside[d];
    pp_rechunk_template_box(all->job->view->ndim, all->job->view->shape, pass_of(all), all->work_unit, *number, box);
    return true;
}

/* ---- Reading ---- */

/* The template's memory as a part of the source. */
static void describe_part(const together *all, const pp_box *box, pp_part *part)
{
    const pp_copy_view *view = all->job->view;
    int64_t strides[PARAPET_MAX_NDIM];
    int d;
    pp_copy_view_box(view, box, &part->box);
    pp_strides_c_order(box->ndim, box->count, all->job->target->layout->tiling.element_bytes, strides);
    part->data = all->buffer.data;
    for (d = 0; d < box->ndim; d++) {
        part->strides[view->axis[d]] = view->is_reversed[d] ? -strides[d] : strides[d];
        if (view->is_reversed[d])
            part->data += (box->count[d] - 1) * strides[d];
    }
}

/* [collective] Reads the templates of all ranks; box NULL: this rank has none. */
static parapet_status read_templates(together *all, const pp_box *box)
{
    const pp_transfer_context *source = all->job->source;
    int64_t before = atomic_load(&source->counters->chunks_decoded);
    pp_part part = {0};
    parapet_part given = {.start = part.box.start, .count = part.box.count, .strides_bytes = part.strides};
    pp_parts parts = {
        .given = &given, .count = box != NULL ? 1 : 0, .element_bytes = source->layout->tiling.element_bytes};
    pp_transfer_array array = {.context = source, .parts = &parts};
    parapet_status status;
    if (box != NULL) {
        describe_part(all, box, &part);
        given.ndim = part.box.ndim;
        given.data = part.data;
    }
    status = pp_transfer_read(all->job->team, &array, 1);
    before = atomic_load(&source->counters->chunks_decoded) - before;
    all->job->done.chunk_reads += before;
    all->job->done.decoded_bytes += before * (int64_t)pp_chain_decoded_bytes(source->layout->chain);
    return status;
}

/* ---- Writing ---- */

static void gather_chunk(const together *all, const pp_box *box, const int64_t *cell)
{
    const pp_layout *layout = all->job->target->layout;
    unsigned char *chunk = pp_chain_scratch_chunk(all->encoder);
    int64_t strides[PARAPET_MAX_NDIM], from[PARAPET_MAX_NDIM];
    pp_box whole = {.ndim = box->ndim}, common;
    int d;
    for (d = 0; d < box->ndim; d++) {
        whole.count[d] = layout->tiling.chunks.cell_shape[d];
        whole.start[d] = cell[d] * whole.count[d];
    }
    (void)pp_box_intersect(&whole, box, &common);
    if (!pp_box_equals(&whole, &common))
        pp_fill_elements(chunk, pp_box_element_count(&whole), layout->tiling.element_bytes, layout->fill_value);
    pp_strides_c_order(box->ndim, whole.count, layout->tiling.element_bytes, strides);
    pp_strides_c_order(box->ndim, box->count, layout->tiling.element_bytes, from);
    pp_strided_copy(&(pp_strided){.ndim = box->ndim,
                                  .element_bytes = layout->tiling.element_bytes,
                                  .count = common.count,
                                  .target = chunk + pp_strides_offset(&whole, strides, common.start),
                                  .target_strides = strides,
                                  .source = all->buffer.data + pp_strides_offset(box, from, common.start),
                                  .source_strides = from});
}

static parapet_status write_chunk(together *all, const pp_box *box, const int64_t *cell)
{
    const pp_transfer_context *context = all->job->target;
    pp_bytes encoded;
    parapet_status status;
    bool is_wanted;
    if ((status = pp_copy_target_wants(&all->target, cell, &is_wanted)) != PARAPET_OK || !is_wanted)
        return status;
    gather_chunk(all, box, cell);
    if (context->elides_fill && context->layout->is_sharded &&
        pp_layout_is_all_fill(context->layout, pp_chain_scratch_chunk(all->encoder)))
        return PARAPET_OK;
    context->counters->chunks_encoded += 1;
    if ((status = pp_chain_encode(context->layout->chain, all->encoder, &encoded)) == PARAPET_OK)
        status = pp_copy_target_append(&all->target, cell, encoded, pp_copy_target_checksum(&all->target, encoded));
    return status;
}

static parapet_status write_template(together *all, const pp_box *box)
{
    int64_t cell[PARAPET_MAX_NDIM];
    parapet_status status = PARAPET_OK;
    pp_box chunks;
    bool more;
    pp_tiling_chunks_of_box(&all->job->target->layout->tiling, box, &chunks);
    for (more = pp_box_first(&chunks, cell); more && status == PARAPET_OK; more = pp_box_next(&chunks, cell))
        status = write_chunk(all, box, cell);
    atomic_fetch_add(&all->job->done_bytes,
                     pp_box_element_count(box) * (int64_t)all->job->target->layout->tiling.element_bytes);
    return status;
}

/* ---- Steps, groups ---- */

static parapet_status record(together *all, int64_t number, const pp_box *box)
{
    pp_copy_job *job = all->job;
    int64_t count = pp_rechunk_work_unit_template_count(job->view->ndim, job->view->shape, job->pass, all->work_unit);
    parapet_status status;
    if (number + 1 < count)
        return pp_copy_target_record(&all->target, box);
    if ((status = pp_copy_target_finish(&all->target)) != PARAPET_OK ||
        (status = pp_done_log_add(all->log, all->work_unit)) != PARAPET_OK)
        return status;
    return all->target.templates_done > 0 ? pp_journal_remove(job->target->store, job->state, all->work_unit)
                                          : PARAPET_OK;
}

/* [collective] One template of every rank that has one. */
static parapet_status run_step(together *all, int64_t step)
{
    const pp_transfer_context *source = all->job->source;
    int64_t number = 0, missing = atomic_load(&source->counters->chunks_missing), is_complete;
    pp_box box;
    bool has_work = step >= all->own_next && find_template(all, step, &number, &box);
    parapet_status status = read_templates(all, has_work ? &box : NULL);
    if (status != PARAPET_OK)
        return status;
    is_complete = atomic_load(&source->counters->chunks_missing) == missing;
    if ((status = pp_comm_agree_min(all->job->team->comm, "reading", PARAPET_OK, &is_complete)) != PARAPET_OK)
        return status;
    if (!is_complete && all->job->is_source_whole)
        return pp_fail(PARAPET_ERR_MISSING, "chunks that an earlier pass of the copy wrote are gone: something has "
                                            "removed them while the copy was running; copy again");
    all->target.has_holes = all->job->origin != NULL || (!is_complete && !all->job->is_target_whole);
    if (has_work && (status = write_template(all, &box)) == PARAPET_OK)
        status = record(all, number, &box);
    if (status == PARAPET_OK)
        status = all->job->tick(all->job->tick_context);
    return pp_comm_agree(all->job->team->comm, "copying", status);
}

/* The step at which this rank goes on. */
static int64_t first_step(const together *all)
{
    int64_t step, number;
    pp_box box;
    if (all->work_unit < 0 || pp_done_units_has(&all->done, all->work_unit))
        return step_count(all);
    for (step = 0; step < step_count(all); step++)
        if (find_template(all, step, &number, &box) && number >= all->target.templates_done)
            break;
    return step;
}

static int64_t work_unit_bytes(const together *all, int64_t work_unit)
{
    const pp_copy_job *job = all->job;
    pp_box box;
    pp_rechunk_work_unit_box(job->view->ndim, job->view->shape, job->pass, work_unit, &box);
    return pp_box_element_count(&box) * (int64_t)job->target->layout->tiling.element_bytes;
}

/* Of all ranks. */
static int64_t wave_bytes(const together *all, int64_t wave)
{
    int64_t work_unit, bytes = 0;
    int rank;
    for (rank = 0; rank < all->job->rank_count && (work_unit = choose_work_unit(all, wave, rank)) >= 0; rank++)
        bytes += work_unit_bytes(all, work_unit);
    return bytes;
}

static void skip_work_unit(together *all)
{
    pp_copy_job *job = all->job;
    atomic_fetch_add(&job->done_bytes, work_unit_bytes(all, all->work_unit));
    job->done.templates_resumed +=
        pp_rechunk_work_unit_template_count(job->view->ndim, job->view->shape, job->pass, all->work_unit);
}

static parapet_status open_work_unit(together *all, int64_t wave)
{
    all->work_unit = choose_work_unit(all, wave, all->job->rank);
    all->target = (pp_copy_target){0};
    if (all->work_unit < 0)
        return PARAPET_OK;
    if (!pp_done_units_has(&all->done, all->work_unit))
        return pp_copy_target_open(&all->target, all->job, all->work_unit);
    skip_work_unit(all);
    return PARAPET_OK;
}

static parapet_status run_wave(together *all, int64_t wave)
{
    int64_t step, before = all->job->all_done_bytes, bytes = wave_bytes(all, wave);
    parapet_status status = open_work_unit(all, wave);
    all->own_next = status == PARAPET_OK ? first_step(all) : 0;
    step = all->own_next;
    status = pp_comm_agree_min(all->job->team->comm, "opening work units", status, &step);
    for (; step < step_count(all) && status == PARAPET_OK; step++) {
        all->job->all_done_bytes = before + (int64_t)((double)bytes * (double)step / (double)step_count(all));
        status = run_step(all, step);
    }
    all->job->all_done_bytes = before + bytes;
    if (all->target.job != NULL)
        pp_copy_target_close(&all->target);
    return status;
}

static parapet_status run_groups(together *all)
{
    const pp_copy_view *view = all->job->view;
    int64_t position[PARAPET_MAX_NDIM], wave;
    parapet_status status = PARAPET_OK;
    pp_box groups = {.ndim = view->ndim};
    bool more;
    int d;
    all->work_units.ndim = all->steps.ndim = view->ndim;
    for (d = 0; d < view->ndim; d++) {
        groups.count[d] = pp_divide_up(work_unit_along(all, d), pass_of(all)->group[d]);
        all->steps.count[d] = pp_divide_up(pass_of(all)->work_unit_shape[d], pass_of(all)->template_shape[d]);
    }
    for (more = pp_box_first(&groups, position); more && status == PARAPET_OK;
         more = pp_box_next(&groups, position)) {
        for (d = 0; d < view->ndim; d++) {
            all->work_units.start[d] = position[d] * pass_of(all)->group[d];
            all->work_units.count[d] =
                pp_min_i64(pass_of(all)->group[d], work_unit_along(all, d) - all->work_units.start[d]);
        }
        for (wave = 0; wave * all->job->rank_count < pp_box_element_count(&all->work_units) && status == PARAPET_OK;
             wave++)
            status = run_wave(all, wave);
    }
    return status;
}

static parapet_status prepare(together *all)
{
    const pp_copy_job *job = all->job;
    int64_t elements = 1, work_unit_count = pp_rechunk_work_unit_count(job->view->ndim, job->view->shape, job->pass);
    parapet_status status;
    int d;
    for (d = 0; d < job->view->ndim; d++)
        elements *= pp_min_i64(job->pass->template_shape[d], job->view->shape[d]);
    if ((status = pp_done_units_load(&all->done, job->target->store, job->state, work_unit_count)) != PARAPET_OK ||
        (status = pp_done_log_open(&all->log, job->target->store, job->state, job->rank)) != PARAPET_OK ||
        (status = pp_buffer_init(&all->buffer, job->target->budget,
                                 (size_t)elements * job->target->layout->tiling.element_bytes, "a template")) !=
            PARAPET_OK)
        return status;
    return pp_chain_scratch_build(&all->encoder, job->target->layout->chain, job->target->budget);
}

parapet_status pp_copy_run_cooperative(pp_copy_job *job)
{
    together all = {.job = job};
    parapet_status status = pp_comm_agree(job->team->comm, "preparing", prepare(&all));
    if (status == PARAPET_OK)
        status = run_groups(&all);
    pp_chain_scratch_free(all.encoder);
    pp_buffer_free(&all.buffer);
    pp_log_close(all.log);
    pp_done_units_clear(&all.done);
    return status;
}
