#include "array/bulk_create.h"

#include "array/ancestors.h"
#include "array/array_handle.h"
#include "array/create.h"
#include "array/node.h"
#include "array/store_queries.h"
#include "array/stored_document.h"
#include "base/clock.h"
#include "base/random.h"
#include "comm/wait.h"
#include "transfer/sync_dirs.h"

/* For so long at a time the groups are held: much less than others wait for them. */
#define HELD_SECONDS 0.5

/* For so long they are free before the next time: longer than those who wait sleep before they look again. */
#define FREE_SECONDS 0.01

/* Each takes a descriptor on every server. */
#define GROUPS_MOST 64

/* What has to be done after a round; the least of all ranks counts. */
typedef enum rest { REST_IN_THE_WAY, REST_FOR_LATER, REST_NONE } rest;

typedef struct keeping {
    const pp_arrays *all;
    const pp_ancestor_list *groups; /* above all of them */
    int64_t told[2];                /* by rank 0: the number of the first incarnation, and where homes begin */
    pp_homes homes;
    bool is_told;
    int first, count;            /* the arrays that this rank keeps */
    int made;                    /* of these, from the first on */
    pp_edit edit;                /* rank 0: the groups */
    pp_ancestor_list own_groups; /* other ranks: those above what they keep */
    pp_node_lock *lent;          /* of these */
} keeping;

static pp_comm *comm_of(const keeping *job)
{
    return job->all->store->comm;
}

static bool leads(const keeping *job)
{
    return pp_comm_rank(comm_of(job)) == 0;
}

static parapet_status fail_create(const keeping *job, int i, parapet_status status)
{
    return pp_fail_within(status, "cannot create array \"%s\"", job->all->arrays[i]->path);
}

/* ---- Before ---- */

static parapet_status find_groups(parapet_array *const *arrays, int count, pp_ancestor_list *groups)
{
    const char **paths = NULL;
    parapet_status status = pp_allocate_array(&paths, (size_t)count, sizeof paths[0]);
    int i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        paths[i] = arrays[i]->path;
    status = pp_ancestor_list_init(groups, paths, count);
    pp_free((void *)paths);
    return status;
}

parapet_status pp_bulk_create_prepare(const pp_arrays *made, pp_ancestor_list *groups, bool *are_many)
{
    parapet_status status;
    *are_many = false;
    if (made->count < 2 || made->arrays[0]->is_detached)
        return PARAPET_OK;
    if ((status = find_groups(made->arrays, made->count, groups)) == PARAPET_OK)
        *are_many = !groups->has_conflict && groups->count <= GROUPS_MOST;
    return status;
}

static void find_kept(keeping *job)
{
    int i, rank = pp_comm_rank(comm_of(job));
    for (i = job->all->count - 1; i >= 0; i--)
        if (pp_store_keeper(job->all->store, i, job->all->count) == rank) {
            job->first = i;
            job->count++;
        }
}

/* ---- A round ---- */

/* Rank 0. */
static parapet_status hold_groups(keeping *job)
{
    parapet_store *store = job->all->store;
    const pp_ancestor_list *groups = job->groups;
    parapet_status status = pp_edit_begin_nodes(&job->edit, store, (const char *const *)groups->paths, groups->count);
    int i;
    if (status != PARAPET_OK)
        return fail_create(job, 0, status);
    for (i = 0; i < groups->count && status == PARAPET_OK; i++)
        if ((status = pp_ancestors_ensure_group(store, groups->paths[i])) != PARAPET_OK)
            status = fail_create(job, groups->nodes[i], status);
    return status;
}

/* Rank 0. */
static parapet_status choose_told(keeping *job)
{
    uint64_t number;
    parapet_status status = pp_random_number(&number);
    if (status == PARAPET_OK) {
        job->told[0] = (int64_t)number;
        job->told[1] = job->homes.phase;
    }
    return status;
}

static parapet_status complete_handles(keeping *job)
{
    parapet_status status = PARAPET_OK;
    int i;
    job->homes.phase = job->told[1];
    for (i = 0; i < job->all->count && status == PARAPET_OK; i++) {
        pp_incarnation_print((uint64_t)job->told[0] + (uint64_t)i, job->all->arrays[i]->incarnation);
        status = pp_array_choose_homes(job->all->arrays[i], &job->homes);
    }
    job->is_told = true;
    return status;
}

static parapet_status join(keeping *job)
{
    parapet_status status = PARAPET_OK;
    if (job->lent == NULL &&
        ((status = find_groups(job->all->arrays + job->first, job->count, &job->own_groups)) != PARAPET_OK ||
         (status = pp_allocate_array(&job->lent, (size_t)job->own_groups.count, sizeof job->lent[0])) != PARAPET_OK))
        return status;
    return pp_node_locks_join_publishing(job->lent,
                                         &(pp_node_lock_wish){.store = job->all->store,
                                                              .paths = (const char *const *)job->own_groups.paths,
                                                              .count = job->own_groups.count,
                                                              .mode = PP_LOCK_SHARED,
                                                              .purpose = "creating"});
}

/* [collective] */
static parapet_status enter(keeping *job)
{
    parapet_status status = PARAPET_OK;
    if (leads(job) && !job->is_told)
        status = choose_told(job);
    if (leads(job) && status == PARAPET_OK)
        status = hold_groups(job);
    if ((status = pp_comm_agree_bcast(comm_of(job), "locking", status, job->told)) != PARAPET_OK)
        return status;
    if (!job->is_told)
        status = complete_handles(job);
    if (status == PARAPET_OK && leads(job))
        status = pp_edit_prove(&job->edit);
    else if (status == PARAPET_OK && job->made < job->count)
        status = join(job);
    return pp_comm_agree(comm_of(job), "entering", status);
}

static void leave(keeping *job)
{
    pp_edit_end(&job->edit);
    pp_node_locks_release(job->lent, job->own_groups.count);
}

static parapet_status check_nothing_there(const parapet_array *array)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(array->store, array->path, &node);
    pp_node_clear(&node);
    if (status == PARAPET_OK)
        return pp_fail(PARAPET_ERR_BUSY, "there is something at \"%s\" already", array->path);
    return pp_accept_absence(status);
}

/* The groups are held: who has the array may be waiting for them (invariant 15 of docs/design/change.md).
 * PARAPET_ERR_BUSY: something is in the way. */
static parapet_status make_new(parapet_array *array)
{
    pp_node_lock_wish wish = {.store = array->store,
                              .paths = (const char *const *)&array->path,
                              .count = 1,
                              .mode = PP_LOCK_EXCLUSIVE,
                              .purpose = "creating"};
    pp_node_lock hold = {0};
    parapet_status status = pp_node_locks_try(&hold, &wish);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_node_locks_try_publishing(&hold, &wish)) == PARAPET_OK &&
        (status = check_nothing_there(array)) == PARAPET_OK &&
        (status = pp_node_remove_own(array->store, array->path)) == PARAPET_OK &&
        (status = pp_node_lock_write_incarnation(&hold, array->incarnation)) == PARAPET_OK) {
        status = pp_array_write_document(array, PP_PUBLISH_EXCLUSIVE);
        hold.is_kept = status == PARAPET_OK;
    }
    pp_node_locks_release(&hold, 1);
    return status;
}

/* If that is not all, left says why. */
static parapet_status make_kept(keeping *job, int64_t *left)
{
    double began = pp_clock_seconds();
    for (*left = REST_NONE; job->made < job->count && *left == REST_NONE;) {
        int i = job->first + job->made;
        parapet_status status = make_new(job->all->arrays[i]);
        if (status == PARAPET_ERR_BUSY)
            *left = REST_IN_THE_WAY;
        else if (status != PARAPET_OK)
            return fail_create(job, i, status);
        else if (++job->made < job->count && pp_clock_seconds() - began > HELD_SECONDS)
            *left = REST_FOR_LATER;
    }
    return PARAPET_OK;
}

/* [collective] left: the least of all ranks. */
static parapet_status sync_dirs(keeping *job, parapet_status mine, int64_t *left)
{
    pp_comm *comm = comm_of(job);
    pp_store *backend = job->all->store->backend;
    return pp_sync_dirs_agree_min(comm, backend, "creating", pp_sync_dirs_collectively(comm, backend, mine), left);
}

/* [collective] */
static parapet_status run_round(keeping *job, int64_t *left)
{
    parapet_status status = enter(job);
    bool has_entered = status == PARAPET_OK;
    if (has_entered)
        status = make_kept(job, left);
    leave(job);
    return has_entered ? sync_dirs(job, status, left) : status;
}

/* Rank 0: so that those who wait for the groups get them, before all go on. */
static void let_others_in(const keeping *job)
{
    double began = pp_clock_seconds();
    pp_wait wait = {0};
    while (leads(job) && pp_clock_seconds() - began < FREE_SECONDS)
        pp_wait_briefly(&wait);
}

/* ---- What is left ---- */

/* Rank 0. So many of what each rank keeps are made. */
static parapet_status make_others(const keeping *job, const parapet_array_spec *specs, const int64_t *made)
{
    const pp_arrays *all = job->all;
    parapet_status status = PARAPET_OK;
    int i, keeper, before = -1;
    int64_t place = 0;
    for (i = 0; i < all->count && status == PARAPET_OK; i++) {
        keeper = pp_store_keeper(all->store, i, all->count);
        place = keeper == before ? place + 1 : 0;
        before = keeper;
        if (place >= made[keeper])
            status = pp_array_create_here(all->arrays[i], &specs[i]);
    }
    return status;
}

/* [collective] */
static parapet_status make_rest(keeping *job, const parapet_array_spec *specs)
{
    int64_t *made = NULL, left = REST_NONE;
    parapet_status status = pp_allocate_array(&made, (size_t)pp_comm_size(comm_of(job)), sizeof made[0]);
    if ((status = pp_comm_agree_numbers(comm_of(job), "creating", status, job->made, made)) == PARAPET_OK)
        status = sync_dirs(job, leads(job) ? make_others(job, specs, made) : PARAPET_OK, &left);
    pp_free(made);
    return status;
}

parapet_status pp_bulk_create_create(const pp_arrays *made, const parapet_array_spec *specs,
                                     const pp_ancestor_list *groups)
{
    keeping job = {.all = made, .groups = groups, .homes = made->store->homes};
    int64_t left;
    parapet_status status;
    find_kept(&job);
    while ((status = run_round(&job, &left)) == PARAPET_OK && left == REST_FOR_LATER)
        let_others_in(&job);
    if (status == PARAPET_OK && left == REST_IN_THE_WAY)
        status = make_rest(&job, specs);
    if (status == PARAPET_OK)
        made->store->homes = job.homes;
    pp_ancestor_list_clear(&job.own_groups);
    pp_free(job.lent);
    return status;
}
