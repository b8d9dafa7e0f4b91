#include "transfer/indices.h"

#include "base/checked.h"
#include "transfer/memory.h"
#include "transfer/pick_post.h"
#include "transfer/picked.h"

/* Parts of the memory that a rank's own list may take, and what it has as a home; the rest is for chunks. */
#define OWN_PART 4
#define SERVED_PART 2

/* Of a transfer as it runs on this rank. */
typedef struct listing {
    const pp_team *team;
    pp_transfer_array array;
    pp_transfer_context context; /* of the array; its progress is that of a pass */
    parapet_progress_callback progress;
    void *progress_context;
    int64_t done_before, done_bytes; /* of the passes before, and of this one */
    const pp_indices *indices;
    pp_staged *staged; /* NULL: reading */
    pp_target target;
    pp_pick_post post;
    pp_shard_range range; /* of this pass */
    int64_t width;        /* shards of the pass before; 0: there was none */
    size_t least_bytes;   /* for everything but picks and their elements */
} listing;

static pp_budget *budget_of(const listing *self)
{
    return self->context.budget;
}

/* What there is for picks and their elements. */
static size_t find_room(const listing *self)
{
    size_t available = pp_budget_available(budget_of(self));
    return available - pp_min_size(available, self->least_bytes);
}

/* ---- What a pass takes ---- */

static size_t own_bytes(const listing *self)
{
    return (size_t)self->post.own_sums.picks * sizeof(pp_pick);
}

static size_t served_bytes(const listing *self, const pp_shard_range *range)
{
    int64_t shards = pp_min_i64(range->end - range->from, self->post.served_sums.picks);
    size_t bytes = pp_pick_post_served_bytes(&self->post);
    return pp_add_size_fits(bytes, pp_picked_list_bytes(shards), &bytes) ? bytes : SIZE_MAX;
}

/* One shard may take all there is: it cannot be divided. */
static bool fits(const listing *self, size_t room)
{
    size_t own = own_bytes(self), served = served_bytes(self, &self->range), sum;
    if (self->post.served_sums.elements > PP_PICK_MOST_PLACES)
        return false; /* their places would not fit picks */
    if (self->range.end - self->range.from > 1)
        return own <= room / OWN_PART && served <= room / SERVED_PART;
    return pp_add_size_fits(own, served, &sum) && sum <= room;
}

/* [collective] Names a limit with which all of it fits one pass. */
static parapet_status refuse_much(listing *self)
{
    const pp_shard_range all = {0, self->target.tiling->shards.cell_count};
    size_t served;
    int64_t most;
    parapet_status status;
    pp_pick_post_measure(&self->post, &all);
    served = pp_min_size(served_bytes(self, &all), PP_MEMORY_ENDLESS / SERVED_PART);
    most = -(int64_t)(pp_max_size(OWN_PART * own_bytes(self), SERVED_PART * served) + self->least_bytes +
                      pp_budget_used(budget_of(self)) + PP_PAGE_BYTES);
    status = pp_comm_agree_least(self->team->comm, "refusing", pp_failure_put(&self->post.failure), &most);
    if (status != PARAPET_OK)
        return status;
    return pp_fail(PARAPET_ERR_MEMORY,
                   "the elements that are listed of one shard need more memory than a rank has; set memory_bytes to "
                   "at least %lld on every rank",
                   (long long)-most);
}

/* [collective] Ends the pass where the lists are long enough for one rank. */
static parapet_status divide(listing *self, size_t room)
{
    (void)pp_indices_limit(self->indices, (int64_t)(room / OWN_PART / sizeof(pp_pick)), &self->range);
    return pp_comm_agree_least(self->team->comm, "dividing", PARAPET_OK, &self->range.end);
}

/* [collective] Finds out whether the lists of the pass have room on all ranks. */
static parapet_status measure(listing *self, size_t room, int64_t *is_fitting)
{
    pp_pick_post_measure(&self->post, &self->range);
    *is_fitting = fits(self, room);
    return pp_comm_agree_least(self->team->comm, "measuring", pp_failure_put(&self->post.failure), is_fitting);
}

/* [collective] Ends the pass where its lists have room on all ranks. Mostly they have as they are, and going through
 * them is what takes time. */
static parapet_status choose_range(listing *self)
{
    size_t room = find_room(self);
    int64_t is_fitting;
    parapet_status status;
    if (self->width > 0)
        self->range.end = pp_min_i64(self->range.end, self->range.from + 2 * self->width);
    status = measure(self, room, &is_fitting);
    if (status == PARAPET_OK && !is_fitting && (status = divide(self, room)) == PARAPET_OK)
        status = measure(self, room, &is_fitting);
    while (status == PARAPET_OK && !is_fitting) {
        if (self->range.end - self->range.from == 1)
            return refuse_much(self);
        self->range.end -= (self->range.end - self->range.from) / 2;
        status = measure(self, room, &is_fitting);
    }
    return status;
}

/* ---- A pass ---- */

static parapet_status serve(listing *self, const pp_picked *picked)
{
    if (self->staged != NULL)
        return pp_transfer_stage_picked(&self->array, picked, self->staged);
    return pp_transfer_read_picked(&self->array, picked, NULL);
}

/* [collective] All picks, and if they are written their elements, come to the homes. */
static parapet_status collect(listing *self)
{
    pp_pick_post *post = &self->post;
    pp_pick_post_deliver(post, &self->range);
    if (self->staged != NULL) {
        pp_pick_post_send_elements(post);
        pp_pick_post_forget_own(post);
    }
    if (pp_pick_post_is_complete(post)) {
        pp_picks_sort_stored(pp_list_at(&post->served, 0), post->served.count, self->target.tiling);
        if (self->staged != NULL)
            pp_failure_take(&post->failure, pp_pick_post_check_shared(post));
    }
    return pp_comm_agree(self->team->comm, "collecting", pp_failure_put(&post->failure));
}

static parapet_status run_pass(listing *self)
{
    pp_pick_post *post = &self->post;
    pp_comm *comm = self->team->comm;
    parapet_status status;
    pp_picked picked;
    if ((status = choose_range(self)) != PARAPET_OK || (status = collect(self)) != PARAPET_OK)
        return status;
    picked = (pp_picked){.tiling = self->target.tiling,
                         .picks = pp_list_at(&post->served, 0),
                         .count = post->served.count,
                         .data = post->data.data};
    status = pp_comm_agree(comm, self->staged != NULL ? "staging" : "reading", serve(self, &picked));
    if (status != PARAPET_OK || self->staged != NULL)
        return status;
    pp_pick_post_return_elements(post);
    return pp_comm_agree(comm, "returning", pp_failure_put(&post->failure));
}

/* Everything but picks and their elements. */
static size_t find_least_bytes(const listing *self)
{
    const pp_transfer_context *context = &self->context;
    size_t chunks = (size_t)context->layout->tiling.chunks.cell_count;
    size_t sealed = context->seal != NULL ? 2 * chunks * sizeof(uint32_t) : 0;
    return sealed + pp_memory_least_bytes(context->layout, context->threads, 1, self->team->fragment_bytes) +
           pp_pick_post_fixed_bytes(self->team, self->target.tiling->shards.cell_count);
}

/* Of a pass: what is still to come of others is not known yet. */
static int report_pass(void *context, int64_t done_bytes, int64_t total_bytes)
{
    listing *self = context;
    self->done_bytes = done_bytes;
    return self->progress(self->progress_context, self->done_before + done_bytes, self->done_before + total_bytes);
}

static void take_progress(listing *self)
{
    self->progress = self->context.progress;
    self->progress_context = self->context.progress_context;
    if (self->progress != NULL) {
        self->context.progress = report_pass;
        self->context.progress_context = self;
    }
    self->array.context = &self->context;
}

static parapet_status run(listing *self)
{
    const pp_transfer_context *context = &self->context;
    int64_t from, shards = context->layout->tiling.shards.cell_count;
    parapet_status status = PARAPET_OK;
    take_progress(self);
    self->target =
        (pp_target){.tiling = &context->layout->tiling, .lattice = context->lattice, .turns = context->turns};
    self->least_bytes = find_least_bytes(self);
    pp_pick_post_init(&self->post, self->team, &self->target, self->indices, context->budget);
    for (from = 0; from < shards && status == PARAPET_OK; from = self->range.end) {
        self->range = (pp_shard_range){from, shards};
        status = run_pass(self);
        self->width = self->range.end - from;
        self->done_before += self->done_bytes;
        self->done_bytes = 0;
        pp_pick_post_clear(&self->post);
    }
    pp_counters_plan(context->counters, pp_budget_peak(context->budget)); /* of the lists */
    return status;
}

parapet_status pp_transfer_read_indices(const pp_team *team, const pp_transfer_array *array,
                                        const pp_indices *indices)
{
    return run(&(listing){.team = team, .array = *array, .context = *array->context, .indices = indices});
}

parapet_status pp_transfer_stage_indices(const pp_team *team, const pp_transfer_array *array,
                                         const pp_indices *indices, pp_staged *staged)
{
    return run(
        &(listing){.team = team, .array = *array, .context = *array->context, .indices = indices, .staged = staged});
}
