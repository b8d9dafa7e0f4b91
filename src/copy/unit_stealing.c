#include "copy/unit_stealing.h"

#include "base/clock.h"
#include "comm/wait.h"
#include "plan/surplus.h"

/* Speeds travel as whole numbers: work units in so many seconds. */
#define SPEED_SECONDS 1e6

/* The words of a description. */
enum { WORD_SHARE, WORD_FIRST, WORD_END, DESCRIPTION_WORDS };
#define DESCRIPTION_BYTES (DESCRIPTION_WORDS * sizeof(int64_t))

/* ---- What there is to do ---- */

static int64_t count_work_units(const pp_copy_job *job)
{
    return pp_rechunk_work_unit_count(job->view->ndim, job->view->shape, job->pass);
}

/* Beyond so many work units that are not done, from the next one on. */
static int64_t find_behind(const pp_unit_stealing *dealing, int64_t count)
{
    int64_t number = dealing->next;
    for (; pp_copy_share_next(&dealing->share, dealing->end, &number); number += dealing->share.rank_count) {
        if (pp_done_units_has(&dealing->done, number))
            continue;
        if (count-- == 0)
            return number;
    }
    return dealing->end;
}

static int64_t count_left(const pp_unit_stealing *dealing)
{
    int64_t number = dealing->next, count = 0;
    for (; pp_copy_share_next(&dealing->share, dealing->end, &number); number += dealing->share.rank_count)
        count += !pp_done_units_has(&dealing->done, number);
    return count;
}

static void begin_share(pp_unit_stealing *dealing, int share, int64_t first, int64_t end)
{
    dealing->share.rank = share;
    dealing->next = first;
    dealing->end = end;
    dealing->left = count_left(dealing);
}

/* ---- How fast it is done ---- */

static void begin_work(pp_unit_stealing *dealing)
{
    dealing->began_with = atomic_load(&dealing->job->done_bytes);
    if (dealing->is_busy)
        return;
    dealing->is_busy = true;
    dealing->began_at = pp_clock_seconds();
}

static void end_work(pp_unit_stealing *dealing)
{
    if (dealing->is_busy)
        dealing->busy_seconds += pp_clock_seconds() - dealing->began_at;
    dealing->is_busy = false;
}

void pp_unit_stealing_skip(pp_unit_stealing *dealing, int64_t bytes)
{
    atomic_fetch_add(&dealing->job->done_bytes, bytes);
    atomic_fetch_add(&dealing->skipped_bytes, bytes);
}

/* Work units per second; 0: not known. */
static double speed_of(const pp_unit_stealing *dealing)
{
    int64_t bytes = atomic_load(&dealing->job->done_bytes) - atomic_load(&dealing->skipped_bytes);
    double seconds = dealing->busy_seconds + (dealing->is_busy ? pp_clock_seconds() - dealing->began_at : 0);
    return seconds > 0 ? (double)bytes / (double)dealing->work_unit_bytes / seconds : 0;
}

/* What is left of the work unit at work. */
static double count_open(const pp_unit_stealing *dealing)
{
    int64_t bytes = atomic_load(&dealing->job->done_bytes) - dealing->began_with;
    return bytes < dealing->work_unit_bytes ? 1 - (double)bytes / (double)dealing->work_unit_bytes : 0;
}

double pp_unit_stealing_part(const pp_unit_stealing *dealing)
{
    double done = (double)atomic_load(&dealing->job->done_bytes);
    double left = (double)dealing->left + (dealing->is_busy ? count_open(dealing) : 0);
    double all = done + left * (double)dealing->work_unit_bytes;
    return all > 0 ? done / all : 0;
}

/* ---- Giving ---- */

static int64_t tell_left(void *context)
{
    return ((const pp_unit_stealing *)context)->left;
}

static size_t give(void *context, int64_t speed, void *description, size_t most_bytes)
{
    pp_unit_stealing *dealing = context;
    int64_t *words = description;
    int64_t count = pp_surplus_to_give(&(pp_surplus){.left = dealing->left,
                                                     .open = count_open(dealing),
                                                     .giver_speed = speed_of(dealing),
                                                     .thief_speed = (double)speed / SPEED_SECONDS});
    if (count == 0 || most_bytes < DESCRIPTION_BYTES)
        return 0;
    words[WORD_SHARE] = dealing->share.rank;
    words[WORD_FIRST] = find_behind(dealing, dealing->left - count);
    words[WORD_END] = dealing->end;
    dealing->end = words[WORD_FIRST];
    dealing->left -= count;
    return DESCRIPTION_BYTES;
}

void pp_unit_stealing_answer(pp_unit_stealing *dealing)
{
    if (dealing->taking == NULL)
        return;
    (void)pp_comm_is_aborted(dealing->comm); /* takes in what has arrived */
    (void)pp_stealing_progress(dealing->taking);
}

/* ---- Taking ---- */

static void progress(pp_unit_stealing *dealing, pp_wait *wait)
{
    (void)pp_comm_is_aborted(dealing->comm);
    if (pp_stealing_progress(dealing->taking))
        pp_wait_reset(wait);
    else
        pp_wait_briefly(wait);
}

static void take(pp_unit_stealing *dealing)
{
    size_t bytes;
    const int64_t *words = pp_stealing_take(dealing->taking, &bytes);
    begin_share(dealing, (int)words[WORD_SHARE], words[WORD_FIRST], words[WORD_END]);
}

/* Waits until something is given, or nobody gives anything. */
static parapet_status find_more(pp_unit_stealing *dealing)
{
    const pp_copy_job *job = dealing->job;
    pp_wait wait = {0};
    pp_stealing_ask(dealing->taking, (int64_t)(speed_of(dealing) * SPEED_SECONDS));
    while (pp_stealing_get_state(dealing->taking) == PP_STEALING_ASKS) {
        parapet_status status = job->tick(job->tick_context);
        if (status != PARAPET_OK)
            return status;
        progress(dealing, &wait);
    }
    if (pp_stealing_get_state(dealing->taking) == PP_STEALING_ARRIVED)
        take(dealing);
    return PARAPET_OK;
}

/* One that is taken is begun before anybody else is answered, so that none goes round for ever. */
parapet_status pp_unit_stealing_next(pp_unit_stealing *dealing, int64_t *work_unit, bool *is_any)
{
    parapet_status status;
    *is_any = pp_copy_share_next(&dealing->share, dealing->end, &dealing->next);
    if (!*is_any && dealing->taking != NULL) {
        end_work(dealing);
        if ((status = find_more(dealing)) != PARAPET_OK)
            return status;
        *is_any = pp_copy_share_next(&dealing->share, dealing->end, &dealing->next);
    }
    if (!*is_any)
        return PARAPET_OK;
    *work_unit = dealing->next;
    dealing->next += dealing->share.rank_count;
    if (!pp_done_units_has(&dealing->done, *work_unit)) {
        dealing->left--;
        begin_work(dealing);
    }
    return PARAPET_OK;
}

/* ---- The beginning and the end ---- */

static parapet_status build_stealing(pp_unit_stealing *dealing)
{
    int i, count = pp_comm_size(dealing->comm);
    parapet_status status = pp_allocate_array(&dealing->ranks, (size_t)count, sizeof dealing->ranks[0]);
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        dealing->ranks[i] = i;
    pp_budget_init(&dealing->budget, pp_stealing_bytes(DESCRIPTION_BYTES));
    return pp_stealing_build(&dealing->taking, &(pp_stealing_options){.endpoint = pp_comm_endpoint(dealing->comm),
                                                                      .budget = &dealing->budget,
                                                                      .servers = dealing->ranks,
                                                                      .server_count = count,
                                                                      .most_bytes = DESCRIPTION_BYTES,
                                                                      .giver = {dealing, tell_left, give}});
}

parapet_status pp_unit_stealing_open(pp_unit_stealing *dealing, pp_copy_job *job, pp_comm *comm)
{
    int64_t count = count_work_units(job);
    parapet_status status;
    pp_box box;
    *dealing = (pp_unit_stealing){.job = job, .comm = comm};
    if (job->stored != NULL && (status = pp_copy_sparse_init(&dealing->sparse, job)) != PARAPET_OK)
        return status;
    if ((status = pp_done_units_load(&dealing->done, job->target->store, job->state, count)) != PARAPET_OK)
        return status;
    dealing->share = (pp_copy_share){.rank_count = job->rank_count,
                                     .some = job->stored != NULL ? &dealing->sparse.work_units : NULL};
    begin_share(dealing, job->rank, 0, count);
    if (count > 0) {
        pp_rechunk_work_unit_box(job->view->ndim, job->view->shape, job->pass, 0, &box);
        dealing->work_unit_bytes = pp_box_element_count(&box) * (int64_t)job->target->layout->tiling.element_bytes;
    }
    return job->rank_count > 1 ? build_stealing(dealing) : PARAPET_OK;
}

void pp_unit_stealing_close(pp_unit_stealing *dealing)
{
    pp_stealing_free(dealing->taking);
    pp_free(dealing->ranks);
    pp_done_units_clear(&dealing->done);
    pp_copy_sparse_clear(&dealing->sparse);
    *dealing = (pp_unit_stealing){0};
}

parapet_status pp_unit_stealing_agree(pp_unit_stealing *dealing, const char *phase, parapet_status status)
{
    pp_failure failure = {0};
    pp_wait wait = {0};
    if (dealing->taking == NULL)
        return pp_comm_agree(dealing->comm, phase, status);
    pp_failure_take(&failure, status);
    while (!pp_stealing_is_idle(dealing->taking))
        progress(dealing, &wait);
    pp_comm_join(dealing->comm, phase, pp_failure_put(&failure));
    while (!pp_comm_is_agreed(dealing->comm, &status))
        progress(dealing, &wait);
    while (!pp_stealing_has_left(dealing->taking))
        progress(dealing, &wait);
    return status;
}
