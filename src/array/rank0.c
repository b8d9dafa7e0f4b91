#include "array/rank0.h"

#include "base/status.h"

/* Rank 0. What work failed with is said only after its outcome has been shared, so that all ranks know that too. */
static parapet_status do_and_tell(pp_comm *comm, const char *phase, const pp_rank0_task *task)
{
    pp_failure failure = {0};
    pp_text outcome = {0};
    parapet_status worked = task->work(task->subject, task->argument), status = worked;
    void *data;
    pp_failure_take(&failure, worked);
    if (worked == PARAPET_OK || task->mark_broken != NULL) {
        pp_bytes_add_u64(&outcome, worked == PARAPET_OK);
        status = task->print != NULL ? task->print(task->subject, &outcome) : PARAPET_OK;
        if (status == PARAPET_OK)
            status = outcome.status;
        if (status != PARAPET_OK && worked != PARAPET_OK)
            status = pp_failure_put(&failure);
    }
    data = outcome.data;
    if ((status = pp_comm_share_size(comm, phase, status, &outcome.bytes)) != PARAPET_OK) {
        worked = PARAPET_OK; /* nobody knows of it */
    } else {
        pp_failure_take(&failure, pp_comm_share_bytes(comm, &data, outcome.bytes));
        status = pp_comm_agree(comm, phase, pp_failure_put(&failure));
    }
    if (status != PARAPET_OK && worked == PARAPET_OK && task->mark_broken != NULL)
        task->mark_broken(task->subject);
    pp_text_free(&outcome);
    return status;
}

static parapet_status follow(pp_comm *comm, const char *phase, const pp_rank0_task *task)
{
    void *data = NULL;
    size_t bytes = 0;
    bool has_worked = true;
    parapet_status adopted = PARAPET_OK, status = pp_comm_share_size(comm, phase, PARAPET_OK, &bytes);
    if (status == PARAPET_OK) {
        if ((adopted = pp_comm_share_bytes(comm, &data, bytes)) == PARAPET_OK) {
            pp_cursor cursor = {.data = data, .left = bytes};
            has_worked = pp_cursor_u64(&cursor) != 0;
            if (task->adopt != NULL && (adopted = task->adopt(task->subject, &cursor)) == PARAPET_OK)
                adopted = pp_cursor_finish(&cursor);
        }
        status = pp_comm_agree(comm, phase, adopted);
    }
    if (status != PARAPET_OK && (has_worked || adopted != PARAPET_OK) && task->mark_broken != NULL)
        task->mark_broken(task->subject);
    pp_free(data);
    return status;
}

parapet_status pp_rank0_do(pp_comm *comm, const char *phase, const pp_rank0_task *task)
{
    bool leads = pp_comm_rank(comm) == 0;
    if (pp_comm_size(comm) == 1)
        return task->work(task->subject, task->argument);
    if (task->print == NULL && task->mark_broken == NULL) /* there is nothing to tell but the status */
        return pp_comm_agree(comm, phase, leads ? task->work(task->subject, task->argument) : PARAPET_OK);
    return leads ? do_and_tell(comm, phase, task) : follow(comm, phase, task);
}
