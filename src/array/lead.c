#include "array/internal.h"

/* Rank 0. What work failed with is said only after its outcome has been shared, so that all ranks know that too. */
static parapet_status lead_others(pp_comm *comm, const char *phase, const pp_lead *lead)
{
    pp_failure failure = {0};
    pp_text outcome = {0};
    parapet_status worked = lead->work(lead->subject, lead->argument), status = worked;
    void *data;
    pp_failure_take(&failure, worked);
    if (worked == PARAPET_OK || lead->spoil != NULL) {
        pp_bytes_add_u64(&outcome, worked == PARAPET_OK);
        status = lead->print != NULL ? lead->print(lead->subject, &outcome) : PARAPET_OK;
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
    if (status != PARAPET_OK && worked == PARAPET_OK && lead->spoil != NULL)
        lead->spoil(lead->subject);
    pp_text_free(&outcome);
    return status;
}

static parapet_status follow(pp_comm *comm, const char *phase, const pp_lead *lead)
{
    void *data = NULL;
    size_t bytes = 0;
    bool has_worked = true;
    parapet_status adopted = PARAPET_OK, status = pp_comm_share(comm, phase, PARAPET_OK, &data, &bytes);
    if (status == PARAPET_OK) {
        pp_cursor cursor = {.data = data, .left = bytes};
        has_worked = pp_cursor_u64(&cursor) != 0;
        if (lead->adopt != NULL)
            adopted = lead->adopt(lead->subject, &cursor);
        status = pp_comm_agree(comm, phase, adopted);
    }
    if (status != PARAPET_OK && (has_worked || adopted != PARAPET_OK) && lead->spoil != NULL)
        lead->spoil(lead->subject);
    pp_free(data);
    return status;
}

parapet_status pp_lead_run(pp_comm *comm, const char *phase, const pp_lead *lead)
{
    if (pp_comm_size(comm) == 1)
        return lead->work(lead->subject, lead->argument);
    return pp_comm_rank(comm) == 0 ? lead_others(comm, phase, lead) : follow(comm, phase, lead);
}

static parapet_status print_array(void *array, pp_text *bytes)
{
    return pp_array_state_print(array, bytes);
}

static parapet_status adopt_array(void *array, pp_cursor *bytes)
{
    return pp_array_state_adopt(array, bytes);
}

static void spoil_array(void *subject)
{
    parapet_array *array = subject;
    array->is_broken = true;
}

parapet_status pp_array_lead(parapet_array *array, const char *phase, pp_node_work work, const void *argument)
{
    pp_lead lead = {.subject = array,
                    .argument = argument,
                    .work = work,
                    .print = print_array,
                    .adopt = adopt_array,
                    .spoil = spoil_array};
    return pp_lead_run(array->store->comm, phase, &lead);
}

static parapet_status print_group(void *group, pp_text *bytes)
{
    return pp_group_state_print(group, bytes);
}

static parapet_status adopt_group(void *group, pp_cursor *bytes)
{
    return pp_group_state_adopt(group, bytes);
}

static void spoil_group(void *subject)
{
    parapet_group *group = subject;
    group->is_broken = true;
}

parapet_status pp_group_lead(parapet_group *group, const char *phase, pp_node_work work, const void *argument)
{
    pp_lead lead = {.subject = group,
                    .argument = argument,
                    .work = work,
                    .print = print_group,
                    .adopt = adopt_group,
                    .spoil = spoil_group};
    return pp_lead_run(group->store->comm, phase, &lead);
}
