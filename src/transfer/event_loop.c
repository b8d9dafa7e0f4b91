/* event_loop.c - one rank's way through a transfer: see event_loop.h, and docs/design/collective.md for why
 * every rank comes to the end.
 *
 *     no line --start_line--> running --end_line--> no line --find_more: is given work--> restart_line: running
 *                                                      |
 *                                                      | try_to_join: there is no more
 *                                                      v
 *                                                   joined --pp_comm_is_agreed--> left
 *
 *     not joined, and a deadline has passed (is_overdue) --give_up--> left; is_abandoned
 *
 * Invariants:
 *
 *  1. No step waits for another rank. rest sleeps for a millisecond at most, so every message is taken soon.
 *  2. A rank joins when its line has ended, no delivery of its own is under way (end_line), and no server will
 *     give it more (find_more). From then on it only answers, until all ranks have joined.
 *  3. A slot is in the line or in `outside`, never in both; so `outside` needs slot_count places.
 *  4. A rank on which something fails reports it in the agreement. The others stop their line with PARAPET_OK,
 *     so that they have no failure of their own to report (spread_failure).
 *
 * Two-phase I/O is ROMIO's; there the phases alternate, here a rank is in both at any time. That a slow server
 * holds up no other is asked for by Kuo et al. (docs/design/papers.md, 2 and 4). The option deadline_seconds
 * limits waiting: docs/guide/many-ranks.md, "Deadlines". */
#include "transfer/event_loop.h"

#include "base/clock.h"
#include "comm/wait.h"

typedef struct driver {
    const pp_event_loop *drive;
    pp_comm *comm;
    pp_pipeline *line;
    void **outside; /* items whose messages are under way */
    int outside_count;
    bool has_joined, is_aborted;
    pp_failure failure;
} driver;

static bool progress(const pp_event_loop *drive)
{
    bool is_any = pp_pull_progress(drive->pull);
    return (drive->taking != NULL && pp_stealing_progress(drive->taking)) || is_any;
}

static bool ask_for(driver *self, void *item)
{
    if (item == NULL)
        return false;
    pp_deliveries_ask(self->drive->deliveries_of(item), self->drive->pull);
    self->outside[self->outside_count++] = item;
    return true;
}

static bool was_cancelled(const pp_deliveries *deliveries)
{
    int i;
    for (i = 0; i < deliveries->count; i++)
        if (deliveries->deliveries[i].delivery.is_cancelled)
            return true;
    return false;
}

/* Gives items back to the line whose messages have all been moved. Cancelled ones stay out: the line is
 * stopping. */
static bool take_back(driver *self)
{
    bool is_any = false;
    int i = 0;
    while (i < self->outside_count) {
        void *item = self->outside[i];
        pp_deliveries *deliveries = self->drive->deliveries_of(item);
        if (!pp_deliveries_are_done(deliveries)) {
            i++;
            continue;
        }
        self->outside[i] = self->outside[--self->outside_count];
        is_any = true;
        if (was_cancelled(deliveries))
            continue;
        /* Before the line has the item: its lock then makes this known to the thread that takes the item. */
        deliveries->is_over = true;
        if (self->drive->job->wants_send != NULL)
            pp_pipeline_sent(self->line, item);
        else
            pp_pipeline_fetched(self->line, item);
    }
    return is_any;
}

static bool move_items(driver *self)
{
    bool is_any = take_back(self), is_new;
    do {
        is_new = ask_for(self, pp_pipeline_take_to_fetch(self->line));
        is_new = ask_for(self, pp_pipeline_take_to_send(self->line)) || is_new;
        is_any = is_any || is_new;
    } while (is_new);
    return is_any;
}

/* A failure of this rank is reported to all others. One of another rank stops the line, and is not reported
 * again. */
static void spread_failure(driver *self)
{
    if (self->is_aborted)
        return;
    if (pp_pull_is_aborted(self->drive->pull)) {
        if (self->line != NULL)
            pp_pipeline_stop(self->line, PARAPET_OK);
        self->is_aborted = true;
    } else if (self->failure.status != PARAPET_OK || (self->line != NULL && pp_pipeline_is_stopping(self->line))) {
        pp_pull_abort(self->drive->pull);
        self->is_aborted = true;
    }
}

static void report(driver *self)
{
    const pp_pipeline_job *job = self->drive->job;
    parapet_status status = job->tick != NULL ? job->tick(job->context) : PARAPET_OK;
    if (status != PARAPET_OK)
        pp_pipeline_stop(self->line, status);
}

/* ---- The line: start, end, restart ---- */

static void start_line(driver *self)
{
    const pp_pipeline_job *job = self->drive->job;
    parapet_status status = PARAPET_OK;
    if (self->outside == NULL)
        status = pp_allocate_array(&self->outside, (size_t)job->slot_count, sizeof self->outside[0]);
    if (status == PARAPET_OK)
        status = pp_pipeline_start(&self->line, job);
    pp_failure_take(&self->failure, status);
}

/* true: there is no line any more, and no message of one. */
static bool end_line(driver *self)
{
    if (self->line == NULL)
        return true;
    if (!pp_pipeline_is_over(self->line) || !pp_pull_is_idle(self->drive->pull))
        return false;
    if (!pp_pipeline_is_stopping(self->line))
        report(self); /* may still cancel, which stops the line; so before the line is freed */
    pp_failure_take(&self->failure, pp_pipeline_finish(self->line));
    self->line = NULL;
    spread_failure(self);
    return true;
}

static void restart_line(driver *self)
{
    pp_failure_take(&self->failure, self->drive->refill(self->drive->job->context));
    if (self->failure.status == PARAPET_OK)
        start_line(self);
    spread_failure(self);
}

/* Asks other servers for work, unless something has failed. true: some may still come. */
static bool find_more(driver *self)
{
    pp_stealing *taking = self->drive->taking;
    if (taking == NULL)
        return false;
    if (self->is_aborted || self->failure.status != PARAPET_OK)
        return !pp_stealing_is_idle(taking);
    switch (pp_stealing_get_state(taking)) {
    case PP_STEALING_IDLE:
        self->drive->ask_for_more(self->drive->job->context);
        return true;
    case PP_STEALING_ARRIVED:
        restart_line(self);
        return true;
    case PP_STEALING_ASKS:
        return true;
    case PP_STEALING_ENDED:
        break;
    }
    return !pp_stealing_is_idle(taking);
}

/* Joins the agreement once nothing of this rank's own is under way, nor will be. */
static void try_to_join(driver *self)
{
    if (self->has_joined || !end_line(self) || find_more(self))
        return;
    pp_comm_join(self->comm, self->drive->phase, pp_failure_put(&self->failure));
    self->has_joined = true;
}

static bool step(driver *self)
{
    bool is_any = progress(self->drive);
    spread_failure(self);
    if (self->line == NULL)
        return is_any;
    is_any = pp_pipeline_step(self->line) || is_any;
    is_any = move_items(self) || is_any;
    report(self);
    return is_any;
}

static void rest(driver *self, pp_wait *wait)
{
    long sleep;
    if (self->line == NULL) {
        pp_wait_briefly(wait);
        return;
    }
    if ((sleep = pp_wait_next(wait)) == 0)
        pp_wait_yield();
    else
        pp_pipeline_wait(self->line, sleep);
}

static bool is_waiting(const pp_event_loop *drive)
{
    return !pp_pull_is_idle(drive->pull) || (drive->taking != NULL && !pp_stealing_is_idle(drive->taking));
}

/* Whether another rank has not answered in time. What is under way with it cannot be taken back. */
static bool is_overdue(const driver *self, double last)
{
    return pp_comm_is_overdue(self->comm, last) && !self->has_joined && is_waiting(self->drive);
}

static void stop_line(driver *self)
{
    pp_pipeline_stop(self->line, PARAPET_OK);
    while (!pp_pipeline_is_over(self->line))
        pp_pipeline_wait(self->line, 1000000);
    (void)pp_pipeline_finish(self->line);
}

/* Reports to all ranks which one does not answer. To answer the others, this rank does not need its line. */
static parapet_status give_up(driver *self, double since)
{
    bool is_pulling = !pp_pull_is_idle(self->drive->pull);
    int missing = is_pulling ? pp_pull_waits_for(self->drive->pull) : pp_stealing_waits_for(self->drive->taking);
    parapet_status agreed;
    pp_wait wait = {0};
    if (self->line != NULL)
        stop_line(self);
    pp_pull_abort(self->drive->pull);
    pp_comm_join_without(self->comm, missing, self->drive->phase, since);
    while (!pp_comm_is_agreed(self->comm, &agreed))
        if (!progress(self->drive))
            pp_wait_briefly(&wait);
    return agreed;
}

/* The agreement says that all data has arrived, not that MPI has let go of what this rank has sent. */
static bool has_left(const pp_event_loop *drive)
{
    return !pp_pull_is_answering(drive->pull) && (drive->taking == NULL || pp_stealing_has_left(drive->taking));
}

parapet_status pp_event_loop_run(const pp_event_loop *drive, bool *is_abandoned)
{
    driver self = {.drive = drive, .comm = drive->session->team->comm};
    double last = pp_clock_seconds();
    pp_wait wait = {0};
    parapet_status agreed = PARAPET_OK;
    *is_abandoned = false;
    if (drive->job != NULL && !drive->is_empty)
        start_line(&self);
    for (;;) {
        bool is_any = step(&self);
        try_to_join(&self);
        if (self.has_joined && pp_comm_is_agreed(self.comm, &agreed))
            break;
        if (is_any) {
            pp_wait_reset(&wait);
            if (!self.is_aborted) /* an ABORT of a rank that gave up is no reason to wait for another deadline */
                last = pp_clock_seconds();
        } else if (is_overdue(&self, last)) {
            agreed = give_up(&self, last);
            *is_abandoned = true;
            break;
        } else {
            rest(&self, &wait);
        }
    }
    *is_abandoned = *is_abandoned || pp_comm_is_lost(self.comm);
    while (!*is_abandoned && !has_left(drive))
        if (!progress(drive))
            pp_wait_briefly(&wait);
    pp_free(self.outside);
    return agreed;
}
