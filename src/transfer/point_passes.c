#include "transfer/point_passes.h"

#include "base/checked.h"
#include "transfer/memory_plan.h"
#include "transfer/partial_shards.h"
#include "transfer/pinned.h"
#include "transfer/point_exchange.h"
#include "transfer/point_transfer.h"

/* Parts of the memory that a rank's own list may take, and what it has as a home; the rest is for chunks. */
#define OWN_PART 4
#define SERVED_PART 2
/* The part that shards may take which stay open between passes, if there are several. */
#define DIVIDED_PART 8

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
    pp_point_exchange post;
    pp_shard_range range;          /* of this pass */
    int64_t group_from, group_end; /* shards of this pass, or those that it divides together with others */
    int64_t width;                 /* shards of the group before; 0: there was none */
    int64_t chunk_width;           /* that are tried, if shards are divided */
    bool is_partial;               /* passes have some chunks of the shards of a group */
    pp_pinned pinned;              /* then these stay open, */
    pp_partial_shards divided;     /* and so do those that are written */
    size_t least_bytes;            /* for everything but picks, their elements and shards that are divided */
    size_t used_bytes;             /* of the budget, before the first pass */
    size_t room;                   /* what there is then, beyond the least */
} listing;

static int64_t shard_count(const listing *self)
{
    return self->target.tiling->shards.cell_count;
}

/* ---- What a pass takes ---- */

static size_t own_bytes(const listing *self)
{
    return (size_t)self->post.own_sums.picks * sizeof(pp_pick);
}

static size_t served_bytes(const listing *self, const pp_shard_range *range)
{
    int64_t shards = pp_min_i64(range->end - range->from, self->post.served_sums.picks);
    size_t bytes = pp_point_exchange_served_bytes(&self->post);
    return pp_add_size_fits(bytes, pp_point_claims_list_bytes(shards), &bytes) ? bytes : SIZE_MAX;
}

/* What new shards take that stay open between passes. */
static size_t partial_bytes(const listing *self)
{
    return (size_t)self->divided.most * self->divided.build_bytes;
}

/* One chunk of one shard may take all there is: it cannot be divided. A whole shard may, so that it need not be. */
static bool fits(const listing *self)
{
    const pp_shard_range *range = &self->range;
    size_t own = own_bytes(self), served = served_bytes(self, range), staying = partial_bytes(self), sum;
    if (self->post.served_sums.elements > PP_PICK_MOST_PLACES)
        return false; /* their places would not fit picks */
    if (!pp_add_size_fits(own, served, &sum) || !pp_add_size_fits(sum, staying, &sum) || sum > self->room)
        return false;
    if (range->end - range->from == 1 && (!self->is_partial || range->chunk_end - range->chunk_from == 1))
        return true;
    return own <= self->room / OWN_PART && served <= self->room / SERVED_PART;
}

/* [collective] Names a limit with which all of it fits one pass. */
static parapet_status refuse_much(listing *self)
{
    const pp_shard_range all = pp_shard_range_whole(self->target.tiling, 0, shard_count(self));
    size_t served;
    int64_t most;
    parapet_status status;
    pp_point_exchange_measure(&self->post, &all);
    served = pp_min_size(served_bytes(self, &all), PP_MEMORY_ENDLESS / SERVED_PART);
    most = -(int64_t)(pp_max_size(OWN_PART * own_bytes(self), SERVED_PART * served) + self->least_bytes +
                      self->used_bytes + PP_PAGE_BYTES);
    status = pp_comm_agree_min(self->team->comm, "refusing", pp_failure_put(&self->post.failure), &most);
    if (status != PARAPET_OK)
        return status;
    return pp_fail(PARAPET_ERR_MEMORY,
                   "the elements that are listed of one chunk need more memory than a rank has; set memory_bytes to "
                   "at least %lld on every rank",
                   (long long)-most);
}

/* [collective] Ends the pass where the lists are long enough for one rank. */
static parapet_status limit_lists(listing *self, int64_t least_end)
{
    int64_t end;
    (void)pp_indices_limit(self->indices, (int64_t)(self->room / OWN_PART / sizeof(pp_pick)), &self->range);
    end = pp_max_i64(self->range.end, least_end);
    self->range.end = end;
    return pp_comm_agree_min(self->team->comm, "dividing", PARAPET_OK, &self->range.end);
}

/* [collective] Finds out whether the lists of the pass have room on all ranks. */
static parapet_status measure(listing *self, int64_t *is_fitting)
{
    pp_point_exchange_measure(&self->post, &self->range);
    *is_fitting = fits(self);
    return pp_comm_agree_min(self->team->comm, "measuring", pp_failure_put(&self->post.failure), is_fitting);
}

static void halve(int64_t from, int64_t *end)
{
    *end -= (*end - from) / 2;
}

/* Shards that are divided rather than worked off one after the other: every server can have one of them. Chunks are
 * not divided. */
static int64_t most_partial(const listing *self)
{
    return self->target.tiling->chunks.cell_count > 1 ? self->team->server_count : 1;
}

/* [collective] Ends the pass where its lists have room on all ranks. Mostly they have as they are, and going through
 * them is what takes time. Not fitting: there is no room for shards that are few enough to be divided. */
static parapet_status choose_shards(listing *self, int64_t *is_fitting)
{
    pp_shard_range *range = &self->range;
    int64_t least_end = pp_min_i64(range->from + most_partial(self), range->end);
    parapet_status status;
    if (self->width > 0)
        range->end = pp_max_i64(least_end, pp_min_i64(range->end, range->from + 2 * self->width));
    status = measure(self, is_fitting);
    if (status == PARAPET_OK && !*is_fitting && range->end > least_end &&
        (status = limit_lists(self, least_end)) == PARAPET_OK)
        status = measure(self, is_fitting);
    while (status == PARAPET_OK && !*is_fitting && range->end > least_end) {
        halve(range->from, &range->end);
        range->end = pp_max_i64(range->end, least_end);
        status = measure(self, is_fitting);
    }
    return status;
}

/* ---- Dividing shards ---- */

/* Of the shards of the range, those that this rank is the home of; and how many elements of the array they have. */
static int64_t count_home(const listing *self, int64_t *elements)
{
    const pp_tiling *tiling = self->target.tiling;
    int64_t shard, count = 0;
    pp_box box;
    *elements = 0;
    for (shard = self->range.from; shard < self->range.end; shard++) {
        int home = pp_home_of(&self->target, shard, self->team->server_count);
        if (self->team->servers[home] != pp_comm_rank(self->team->comm))
            continue;
        pp_tiling_shard_box(tiling, shard, &box);
        *elements += pp_box_element_count(&box);
        count++;
    }
    return count;
}

/* For shards of the range, which was measured. Elements that are listed twice are refused before they count. */
static void init_partial(listing *self)
{
    int64_t elements, chunks = self->target.tiling->chunks.cell_count;
    self->divided =
        (pp_partial_shards){.chunk_count = chunks, .chunk_end = chunks, .most = count_home(self, &elements)};
    self->divided.keeps_old = self->post.served_sums.elements != elements;
    if (self->staged != NULL)
        self->divided.build_bytes = pp_partial_shards_build_bytes(&self->context);
}

/* Chunks of each shard that probably have room. */
static int64_t guess_chunks(const listing *self)
{
    size_t served = served_bytes(self, &self->range), part = self->room / SERVED_PART;
    double share = served > part ? (double)part / (double)served : 1;
    return pp_max_i64(1, (int64_t)(share * (double)self->divided.chunk_count));
}

/* Of two shards of one home, nobody could tell which one is listed in full, and needs nothing of what is stored. */
static bool is_divisible(const listing *self)
{
    return partial_bytes(self) <= self->room / DIVIDED_PART && (self->staged == NULL || self->divided.most <= 1);
}

/* [collective] The shards of the range will be divided: fewer of them, if more would take much memory on some rank,
 * or a home has several. */
static parapet_status begin_partial(listing *self)
{
    pp_shard_range *range = &self->range;
    int64_t is_small = 1, is_fitting;
    parapet_status status;
    do {
        if (!is_small) {
            halve(range->from, &range->end);
            if ((status = measure(self, &is_fitting)) != PARAPET_OK)
                return status;
        }
        init_partial(self);
        is_small = range->end - range->from == 1 || is_divisible(self);
        status = pp_comm_agree_min(self->team->comm, "dividing", PARAPET_OK, &is_small);
    } while (status == PARAPET_OK && !is_small);
    self->is_partial = true;
    pp_pinned_begin(&self->pinned, &self->context);
    self->chunk_width = guess_chunks(self);
    return status == PARAPET_OK ? pp_comm_agree_min(self->team->comm, "dividing", status, &self->chunk_width)
                                : status;
}

static void end_partial(listing *self)
{
    pp_partial_shards_clear(&self->divided, &self->context);
    pp_pinned_end(&self->pinned, &self->context);
    self->is_partial = false;
}

/* [collective] A whole shard does not stay open, so it may have room where the first chunk of it has none. */
static parapet_status take_whole(listing *self)
{
    int64_t is_fitting;
    parapet_status status;
    end_partial(self);
    self->range.chunk_end = self->target.tiling->chunks.cell_count;
    self->group_end = self->range.end;
    status = measure(self, &is_fitting);
    return status == PARAPET_OK && !is_fitting ? refuse_much(self) : status;
}

/* Nothing of the group was worked off yet. */
static bool begins_group(const listing *self)
{
    return self->range.chunk_from == 0 && self->range.from == self->group_from;
}

/* [collective] Ends the pass of divided shards after as many chunks of each as have room, or after one chunk of some
 * of them. */
static parapet_status choose_chunks(listing *self)
{
    pp_shard_range *range = &self->range;
    parapet_status status;
    int64_t is_fitting;
    range->chunk_end = pp_min_i64(range->chunk_end, range->chunk_from + self->chunk_width);
    while ((status = measure(self, &is_fitting)) == PARAPET_OK && !is_fitting) {
        if (range->chunk_end - range->chunk_from > 1)
            halve(range->chunk_from, &range->chunk_end);
        else if (range->end - range->from > 1)
            halve(range->from, &range->end);
        else
            return begins_group(self) ? take_whole(self) : refuse_much(self);
    }
    self->chunk_width = 2 * (range->chunk_end - range->chunk_from);
    self->divided.chunk_end = range->chunk_end;
    return status;
}

/* [collective] */
static parapet_status choose_range(listing *self)
{
    int64_t is_fitting;
    parapet_status status;
    if (self->is_partial)
        return choose_chunks(self);
    if ((status = choose_shards(self, &is_fitting)) == PARAPET_OK && !is_fitting)
        status = begin_partial(self);
    self->group_from = self->range.from;
    self->group_end = self->range.end;
    return status == PARAPET_OK && !is_fitting ? choose_chunks(self) : status;
}

/* Whether the range ends with the last chunk of the last shard of the group. */
static bool ends_group(const listing *self)
{
    return self->range.end == self->group_end && self->range.chunk_end == self->target.tiling->chunks.cell_count;
}

/* What is left when the pass is done: of these chunks, of the divided shards, or of the array. */
static void advance(listing *self)
{
    pp_shard_range *range = &self->range;
    if (ends_group(self)) {
        self->width = self->group_end - self->group_from;
        *range = pp_shard_range_whole(self->target.tiling, self->group_end, shard_count(self));
        range->start = self->post.rest;
        return;
    }
    if (range->end == self->group_end) {
        range->end = self->group_from;
        range->chunk_from = range->chunk_end;
        range->chunk_end = self->target.tiling->chunks.cell_count;
    }
    range->from = range->end;
    range->end = self->group_end;
}

/* ---- A pass ---- */

static parapet_status stage(listing *self, const pp_point_claims *picked)
{
    parapet_status status;
    if (!self->is_partial)
        return pp_transfer_stage_points(&self->array, picked, self->staged);
    status = pp_transfer_stage_partial(&self->array, picked, self->staged);
    return status == PARAPET_OK && ends_group(self) ? pp_transfer_stage_rest(&self->array, self->staged) : status;
}

static int64_t count_open(const listing *self)
{
    return self->staged != NULL ? self->divided.count : self->pinned.count;
}

/* A shard counts once, in however many passes it is divided. */
static parapet_status serve(listing *self, const pp_point_claims *picked)
{
    pp_counters *counters = self->context.counters;
    int64_t owned = counters->shards_owned, open = count_open(self);
    parapet_status status =
        self->staged != NULL ? stage(self, picked) : pp_transfer_read_points(&self->array, picked, NULL);
    if (self->is_partial)
        counters->shards_owned = owned + count_open(self) - open;
    return status;
}

/* [collective] All picks, and if they are written their elements, come to the homes. */
static parapet_status collect(listing *self)
{
    pp_point_exchange *post = &self->post;
    pp_point_exchange_deliver(post, &self->range);
    if (self->staged != NULL) {
        pp_point_exchange_send_elements(post);
        pp_point_exchange_forget_own(post);
    }
    if (pp_point_exchange_is_complete(post)) {
        pp_picks_sort_stored(pp_list_at(&post->served, 0), post->served.count, self->target.tiling);
        if (self->staged != NULL)
            pp_failure_take(&post->failure, pp_point_exchange_check_shared(post));
    }
    return pp_comm_agree(self->team->comm, "collecting", pp_failure_put(&post->failure));
}

static parapet_status run_pass(listing *self)
{
    pp_point_exchange *post = &self->post;
    pp_comm *comm = self->team->comm;
    parapet_status status;
    pp_point_claims picked;
    if ((status = choose_range(self)) != PARAPET_OK || (status = collect(self)) != PARAPET_OK)
        return status;
    picked = (pp_point_claims){.tiling = self->target.tiling,
                               .picks = pp_list_at(&post->served, 0),
                               .count = post->served.count,
                               .data = post->data.data};
    status = pp_comm_agree(comm, self->staged != NULL ? "staging" : "reading", serve(self, &picked));
    if (status != PARAPET_OK || self->staged != NULL)
        return status;
    pp_point_exchange_return_elements(post);
    return pp_comm_agree(comm, "returning", pp_failure_put(&post->failure));
}

/* For chunks. Reading may take far less than a chunk; while one shard is read, another one may be open. */
static size_t least_buffer_bytes(const listing *self)
{
    const pp_transfer_context *context = &self->context;
    const pp_memory_case reading = {.threads = context->threads, .shard_count = 2};
    return self->staged != NULL
               ? pp_memory_least_bytes(context->layout, context->threads, 1, self->team->fragment_bytes)
               : pp_memory_least_read_bytes(context->layout, &reading);
}

/* Everything but picks and their elements. */
static size_t find_least_bytes(const listing *self)
{
    const pp_transfer_context *context = &self->context;
    size_t chunks = (size_t)context->layout->tiling.chunks.cell_count;
    size_t sealed = context->seal != NULL ? 2 * chunks * sizeof(uint32_t) : 0;
    return sealed + least_buffer_bytes(self) +
           pp_point_exchange_fixed_bytes(self->team, self->target.tiling->shards.cell_count);
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

static void begin(listing *self)
{
    const pp_transfer_context *context = &self->context;
    size_t available = pp_budget_available(context->budget);
    take_progress(self);
    self->context.divided = &self->divided;
    self->target =
        (pp_target){.tiling = &context->layout->tiling, .lattice = context->lattice, .turns = context->turns};
    self->least_bytes = find_least_bytes(self);
    self->used_bytes = pp_budget_used(context->budget);
    self->room = available - pp_min_size(available, self->least_bytes);
    self->range = pp_shard_range_whole(self->target.tiling, 0, shard_count(self));
    pp_point_exchange_init(&self->post, self->team, &self->target, self->indices, context->budget);
}

static parapet_status run(listing *self)
{
    parapet_status status = PARAPET_OK;
    begin(self);
    while (self->range.from < shard_count(self) && status == PARAPET_OK) {
        status = run_pass(self);
        self->done_before += self->done_bytes;
        self->done_bytes = 0;
        pp_point_exchange_clear(&self->post);
        if (ends_group(self) || status != PARAPET_OK)
            end_partial(self);
        advance(self);
    }
    pp_counters_plan(self->context.counters, pp_budget_peak(self->context.budget)); /* of the lists */
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
