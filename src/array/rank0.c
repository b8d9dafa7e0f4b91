#include "array/internal.h"

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
    status = pp_comm_share(comm, phase, status, &data, &outcome.bytes);
    if (status != PARAPET_OK)
        worked = PARAPET_OK; /* nobody knows of it */
    else
        status = pp_comm_agree(comm, phase, pp_failure_put(&failure));
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
    parapet_status adopted = PARAPET_OK, status = pp_comm_share(comm, phase, PARAPET_OK, &data, &bytes);
    if (status == PARAPET_OK) {
        pp_cursor cursor = {.data = data, .left = bytes};
        has_worked = pp_cursor_u64(&cursor) != 0;
        if (task->adopt != NULL)
            adopted = task->adopt(task->subject, &cursor);
        status = pp_comm_agree(comm, phase, adopted);
    }
    if (status != PARAPET_OK && (has_worked || adopted != PARAPET_OK) && task->mark_broken != NULL)
        task->mark_broken(task->subject);
    pp_free(data);
    return status;
}

parapet_status pp_rank0_do(pp_comm *comm, const char *phase, const pp_rank0_task *task)
{
    if (pp_comm_size(comm) == 1)
        return task->work(task->subject, task->argument);
    return pp_comm_rank(comm) == 0 ? do_and_tell(comm, phase, task) : follow(comm, phase, task);
}

static parapet_status print_array(void *array, pp_text *bytes)
{
    return pp_array_state_print(array, bytes);
}

static parapet_status adopt_array(void *array, pp_cursor *bytes)
{
    return pp_array_state_adopt(array, bytes);
}

static void mark_array_broken(void *subject)
{
    parapet_array *array = subject;
    array->is_broken = true;
}

parapet_status pp_array_rank0_do(parapet_array *array, const char *phase, pp_node_work work, const void *argument)
{
    pp_rank0_task task = {.subject = array,
                          .argument = argument,
                          .work = work,
                          .print = print_array,
                          .adopt = adopt_array,
                          .mark_broken = mark_array_broken};
    return pp_rank0_do(array->store->comm, phase, &task);
}

static parapet_status print_group(void *group, pp_text *bytes)
{
    return pp_group_state_print(group, bytes);
}

static parapet_status adopt_group(void *group, pp_cursor *bytes)
{
    return pp_group_state_adopt(group, bytes);
}

static void mark_group_broken(void *subject)
{
    parapet_group *group = subject;
    group->is_broken = true;
}

parapet_status pp_group_rank0_do(parapet_group *group, const char *phase, pp_node_work work, const void *argument)
{
    pp_rank0_task task = {.subject = group,
                          .argument = argument,
                          .work = work,
                          .print = print_group,
                          .adopt = adopt_group,
                          .mark_broken = mark_group_broken};
    return pp_rank0_do(group->store->comm, phase, &task);
}
