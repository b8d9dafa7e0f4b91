#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "array/ancestors.h"
#include "array/epochs.h"
#include "array/given_weights.h"
#include "array/node.h"
#include "array/node_lock.h"
#include "array/opening.h"
#include "array/options.h"
#include "array/store_handle.h"
#include "array/store_queries.h"
#include "comm/launcher.h"
#include "comm/topology.h"
#include "foreign/foreign.h"
#include "plan/owners.h"
#include "transfer/memory_plan.h"
#include "transfer/session_cache.h"
#include "transfer/sync_dirs.h"

/* The part of its memory that a store keeps in freed buffers between calls. */
#define SPARE_PART 4

/* The part of its memory that a table of places may take as text. */
#define TABLE_PART 4

/* How long another program may take to make it. */
#define HELPER_SECONDS 300

/* What was asked for, and what that means here. */
typedef struct opening {
    const char *url;
    pp_store *backend;
    parapet_mode mode;
    parapet_store_options options; /* every field resolved */
    int ranks_per_node;            /* for tests; 0: as it is */
    const parapet_store_options *given;
} opening;

static const char memory_scheme[] = "memory:";

static bool is_in_memory(const opening *how)
{
    return strncmp(how->url, memory_scheme, strlen(memory_scheme)) == 0;
}

/* Whoever brings a backend has chosen its locks. */
static bool is_directory(const parapet_store *store, const opening *how)
{
    return how->backend == NULL && !is_in_memory(how) && !store->is_foreign;
}

_Static_assert((int)PP_DIRECT_IO_ALWAYS == (int)PARAPET_DIRECT_IO_ALWAYS, "one is cast to the other");
_Static_assert((int)PP_DIRECT_IO_NEVER == (int)PARAPET_DIRECT_IO_NEVER, "one is cast to the other");

static parapet_status open_foreign(parapet_store *store, const char *url)
{
    if (store->mode != PARAPET_READ)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "%s is a file, not a Zarr store, and can only be opened with PARAPET_READ; a store is a "
                       "directory",
                       url);
    store->is_foreign = true;
    return pp_foreign_build(&store->backend, url, (pp_direct_io)store->options->direct_io);
}

static parapet_status open_backend(parapet_store *store, const opening *how)
{
    const char *url = how->url;
    pp_posix_options posix = {
        .create = store->mode == PARAPET_CREATE && pp_comm_rank(store->comm) == 0,
        .read_only = store->mode == PARAPET_READ,
        .not_durable = store->options->durability == PARAPET_DURABILITY_LEAVE,
        .direct_io = (pp_direct_io)store->options->direct_io,
    };
    if (how->backend != NULL) {
        store->backend = how->backend;
        store->is_backend_borrowed = true;
        return PARAPET_OK;
    }
    if (is_in_memory(how)) {
        if (pp_comm_size(store->comm) > 1)
            return pp_fail(PARAPET_ERR_UNSUPPORTED,
                           "a memory: store exists in one process only, but there are %d ranks; use a directory, for "
                           "example below /dev/shm",
                           pp_comm_size(store->comm));
        return pp_store_memory_build(&store->backend, url + strlen(memory_scheme));
    }
    if (pp_foreign_is(url))
        return open_foreign(store, url);
    if (strstr(url, "://") != NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s: this version supports only directories and memory: stores", url);
    return pp_store_posix_build(&store->backend, url, &posix);
}

/* A store made by PARAPET_CREATE starts with a root group, unless something is there already. */
static parapet_status prepare_root(parapet_store *store)
{
    pp_edit edit;
    pp_node node = {0};
    parapet_status status = pp_node_load(store, "", &node);
    bool is_bare = status == PARAPET_ERR_NOT_FOUND || (status == PARAPET_OK && node.is_implicit);
    pp_node_clear(&node);
    if (!is_bare)
        return status;
    if (store->mode != PARAPET_CREATE)
        return status;
    if ((status = pp_edit_begin(&edit, store, "")) != PARAPET_OK)
        return status;
    status = pp_ancestors_ensure_group(store, "");
    pp_edit_end(&edit);
    return status;
}

/* Whether this rank trusts the locks of the store, and why. */
static bool trusts_locks(parapet_store *store, const opening *how)
{
    pp_lock_trust trust = {.is_trusted = true, .source = "of this process"};
    if (is_directory(store, how) && store->options->locks == PARAPET_LOCKS_CHOOSE)
        pp_store_posix_trust(store->backend, &trust);
    else if (is_directory(store, how))
        trust = (pp_lock_trust){.is_trusted = store->options->locks == PARAPET_LOCKS_TRUSTED, .source = "as told"};
    (void)snprintf(store->lock_source, sizeof store->lock_source, "%s", trust.source);
    return trust.is_trusted;
}

/* What all ranks have to find alike: of a foreign file its version, of other stores whether locks are trusted. */
static int64_t trust_or_version(parapet_store *store, const opening *how, parapet_status status)
{
    if (status != PARAPET_OK)
        return INT64_MAX;
    if (store->is_foreign)
        (void)snprintf(store->lock_source, sizeof store->lock_source, "a file that is only read");
    if (store->is_foreign)
        return (int64_t)(pp_foreign_version(store->backend) >> 3 << 1 | pp_foreign_needs_table(store->backend)) + 2;
    return trusts_locks(store, how);
}

/* Whether the ranks that have all opened a foreign file have opened the same. All learn the same answer. */
static parapet_status compare_versions(parapet_store *store, int64_t own, int64_t least, bool *is_same)
{
    int64_t greatest = -own;
    parapet_status status = pp_comm_agree_min(store->comm, "opening the store", PARAPET_OK, &greatest);
    *is_same = status == PARAPET_OK && -greatest == least;
    return status;
}

/* Where one rank finds that locks do not hold on every node, none uses them. *is_same: all ranks have read the same
 * foreign file. */
static parapet_status choose_locks(parapet_store *store, const opening *how, parapet_status status, bool *is_same)
{
    int64_t own = trust_or_version(store, how, status), least = own;
    if ((status = pp_comm_agree_min(store->comm, "opening the store", status, &least)) != PARAPET_OK)
        return status;
    *is_same = !store->is_foreign;
    if (least > 1)
        return compare_versions(store, own, least, is_same);
    if (store->is_foreign || least > 0)
        return PARAPET_OK;
    if (own > 0)
        (void)snprintf(store->lock_source, sizeof store->lock_source, "by the mount on the node of another rank");
    store->uses_records = true;
    pp_store_posix_use_records(store->backend, store->options->takeover);
    return PARAPET_OK;
}

/* Other ranks wait for rank 0 as long as their deadline allows. */
static pp_helper_limits helper_limits(const parapet_store *store)
{
    int64_t deadline = store->options->deadline_seconds;
    return (pp_helper_limits){
        .is_forbidden = store->options->no_helper != 0,
        .most_bytes = (size_t)store->options->memory_bytes / TABLE_PART,
        .seconds = deadline > 0 && deadline / 2 < HELPER_SECONDS ? (int)(deadline + 1) / 2 : HELPER_SECONDS,
    };
}

/* Rank 0 makes the table of places, and all take it. */
static parapet_status share_table(parapet_store *store)
{
    const pp_helper_limits limits = helper_limits(store);
    bool leads = pp_comm_rank(store->comm) == 0;
    char *text = NULL;
    void *shared = NULL;
    size_t bytes = 0;
    parapet_status status = PARAPET_OK;
    if (leads)
        status = pp_foreign_make_table(store->backend, &limits, &text, &bytes);
    shared = text;
    if ((status = pp_comm_share(store->comm, "reading the table of places", status, &shared, &bytes)) == PARAPET_OK)
        status = pp_comm_agree(store->comm, "reading the table of places",
                               pp_foreign_take_table(store->backend, shared, bytes));
    pp_free(leads ? text : shared);
    return status;
}

static parapet_status finish_opening(parapet_store *store, const opening *how, bool is_same)
{
    if (!is_same)
        return pp_fail(PARAPET_ERR_STALE, "%s changed while the ranks opened it: open it again", how->url);
    return pp_comm_rank(store->comm) == 0 ? prepare_root(store) : PARAPET_OK;
}

/* Rank 0 first: the others then find what it has made. */
static parapet_status open_storage(parapet_store *store, const opening *how)
{
    bool leads = pp_comm_rank(store->comm) == 0, is_same = true;
    parapet_status status = leads ? open_backend(store, how) : PARAPET_OK;
    if (pp_comm_size(store->comm) > 1 &&
        (status = pp_comm_agree(store->comm, "opening the store", status)) != PARAPET_OK)
        return status;
    if ((status = choose_locks(store, how, leads ? status : open_backend(store, how), &is_same)) != PARAPET_OK)
        return status;
    if (is_same && store->is_foreign && pp_foreign_needs_table(store->backend) &&
        (status = share_table(store)) != PARAPET_OK)
        return status;
    return pp_comm_agree(store->comm, "opening the store", finish_opening(store, how, is_same));
}

static parapet_status check_open_arguments(parapet_store **store, const opening *how)
{
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_open needs a pointer for the store");
    if (how->mode != PARAPET_READ && how->mode != PARAPET_UPDATE && how->mode != PARAPET_CREATE)
        return pp_fail(PARAPET_ERR_ARGUMENT, "mode is %d, but must be PARAPET_READ, PARAPET_UPDATE or PARAPET_CREATE",
                       (int)how->mode);
    if (how->backend == NULL && (how->url == NULL || how->url[0] == '\0'))
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_open needs a url");
    return PARAPET_OK;
}

static atomic_uint_least64_t serials;

/* Texts are the caller's only until the store is open. */
static parapet_status keep_texts(parapet_store *store)
{
    parapet_status status = PARAPET_OK;
    if (store->options->weights != NULL)
        status = pp_text_duplicate(&store->weights, store->options->weights);
    store->options->weights = store->weights;
    store->given->weights = store->given->weights != NULL ? store->weights : NULL;
    return status;
}

/* The only place that calls the program's function. */
static int report_progress(void *context, int64_t done_bytes, int64_t total_bytes)
{
    const parapet_store_options *given = ((const parapet_store *)context)->given;
    int answer;
    pp_callback_begin();
    answer = given->progress(given->progress_context, done_bytes, total_bytes);
    pp_callback_end();
    return answer;
}

static parapet_status build_handle(parapet_store **made, const opening *how)
{
    parapet_store_options *options = NULL;
    parapet_status status = pp_allocate(&options, 2 * sizeof *options);
    if (status != PARAPET_OK || (status = pp_allocate(made, sizeof **made)) != PARAPET_OK) {
        pp_free(options);
        return status;
    }
    (*made)->options = options;
    (*made)->given = options + 1;
    (*made)->serial = atomic_fetch_add(&serials, 1);
    (*made)->mode = how->mode;
    *(*made)->given = how->given != NULL ? *how->given : (parapet_store_options){0};
    *(*made)->options = how->options;
    (*made)->options->progress_context = *made;
    pp_store_resume_progress(*made);
    (*made)->cost.reads_holes = how->options.holes == PARAPET_HOLES_READ;
    (*made)->cost.skips_holes = how->options.holes == PARAPET_HOLES_SKIP;
    pp_budget_init(&(*made)->budget, (size_t)how->options.memory_bytes);
    pp_budget_keep_spares(&(*made)->budget, (size_t)how->options.memory_bytes / SPARE_PART);
    pp_alone_init(&(*made)->alone, (size_t)how->options.local_bytes);
    pp_dirty_arrays_init(&(*made)->dirty_arrays);
    status = keep_texts(*made);
    return status == PARAPET_OK ? pp_pool_build(&(*made)->pool) : status;
}

static void free_handle(parapet_store *store)
{
    if (store == NULL)
        return;
    pp_alone_clear(&store->alone);
    pp_dirty_arrays_clear(&store->dirty_arrays);
    pp_pool_free(store->pool);
    pp_free(store->weights);
    pp_free(store->options);
    pp_free(store);
}

/* Options that decide what the ranks do together, or what rank 0 does for all. */
static void describe_opening(pp_call *call, const opening *how)
{
    const parapet_store_options *options = &how->options;
    pp_call_init(call, "store_open(%s)", how->url != NULL ? how->url : "");
    pp_call_add_text(call, "url", how->url);
    pp_call_add_integer(call, "mode", (int64_t)how->mode);
    pp_call_add_integer(call, "servers", options->servers);
    pp_call_add_choice(call, &pp_choice_owners, (int)options->owners);
    pp_call_add_choice(call, &pp_choice_sharing, (int)options->sharing);
    pp_call_add_integer(call, "keep_descriptions", options->keep_descriptions);
    pp_call_add_text(call, "weights", options->weights);
    pp_call_add_choice(call, &pp_choice_transport, (int)options->transport);
    pp_call_add_integer(call, "ranks_per_node", how->ranks_per_node);
    pp_call_add_integer(call, "deadline_seconds", options->deadline_seconds);
    pp_call_add_integer(call, "elide_fill", options->elide_fill);
    pp_call_add_integer(call, "require_sealed", options->require_sealed);
    pp_call_add_integer(call, "ignore_seal", options->ignore_seal);
    pp_call_add_integer(call, "expected_servers", options->expected_servers);
    pp_call_add_choice(call, &pp_choice_durability, (int)options->durability);
    pp_call_add_choice(call, &pp_choice_locks, (int)options->locks);
    pp_call_add_integer(call, "takeover", options->takeover);
    pp_call_add_integer(call, "write_back", options->write_back);
    pp_call_add_integer(call, "no_helper", options->no_helper);
}

/* What waits to be written has its memory for itself: no call is refused because of it. */
static parapet_status build_dirty(parapet_store *store)
{
    size_t bytes = (size_t)store->options->cache_bytes;
    parapet_status status = pp_budget_reserve(&store->budget, bytes, "the cache");
    if (status != PARAPET_OK)
        return status;
    pp_counters_plan(&store->counters, bytes);
    pp_budget_init(&store->cache_budget, bytes);
    if ((status = pp_cache_build(&store->cache, &store->cache_budget, bytes)) != PARAPET_OK)
        return status;
    return pp_write_back_build(&store->write_back, &store->cache_budget, bytes, store->cache);
}

/* What servers keep from one call to the next. */
static parapet_status build_kept(parapet_store *store)
{
    const parapet_store_options *options = store->options;
    parapet_status status = PARAPET_OK;
    store->layer = options->write_back        ? &pp_write_back_layer
                   : options->cache_bytes > 0 ? &pp_cache_layer
                                              : &pp_plain_layer;
    if (options->keep_descriptions == 0)
        return pp_epochs_build(store);
    if (pp_comm_size(store->comm) > 1)
        status = pp_session_cache_build(&store->kept, &store->budget);
    if (status == PARAPET_OK && options->cache_bytes > 0)
        status = options->write_back ? build_dirty(store)
                                     : pp_cache_build(&store->cache, &store->budget, (size_t)options->cache_bytes);
    return status;
}

/* All ranks have begun to open the store; nothing of it is theirs alone from here on. */
static parapet_status open_together(parapet_store *store, const opening *how)
{
    parapet_status status;
    store->least_memory_bytes = pp_store_call_bytes(store);
    if ((status = pp_comm_choose_servers(store->comm, (int)store->options->servers, &store->servers,
                                         &store->server_count)) != PARAPET_OK ||
        (status = pp_comm_agree_min(store->comm, "opening the store", build_kept(store),
                                    &store->least_memory_bytes)) != PARAPET_OK ||
        (status = pp_given_weights_begin(store)) != PARAPET_OK || (status = open_storage(store, how)) != PARAPET_OK)
        return status;
    return pp_sync_dirs_begin(store->comm, store->backend, store->servers, store->server_count);
}

/* Tests open one backend in several handles: then the last one measures. */
static void stop_measuring(parapet_store *store)
{
    if (store->backend != NULL && store->backend->meter == &store->meter)
        store->backend->meter = NULL;
    pp_meter_destroy(&store->meter);
}

static void free_store(parapet_store *store)
{
    if (store == NULL)
        return;
    stop_measuring(store);
    if (!store->is_backend_borrowed)
        pp_store_free(store->backend);
    pp_epochs_free(store);
    pp_session_cache_free(store->kept);
    pp_write_back_free(store->write_back);
    pp_cache_free(store->cache);
    pp_free(store->servers);
    pp_comm_free(store->comm);
    pp_budget_clear(&store->budget);
    free_handle(store);
}

/* Whoever brings a backend knows what it is. */
static parapet_status check_launcher(const pp_comm *comm, const opening *how)
{
    if (how->mode == PARAPET_READ || how->options.ignore_launcher || how->backend != NULL)
        return PARAPET_OK;
    return pp_comm_check_launcher(comm);
}

static parapet_status open_over_ranks(parapet_store **store, pp_comm *comm, opening *how)
{
    parapet_store *made = NULL;
    parapet_status status = check_open_arguments(store, how);
    pp_call call;
    if (status == PARAPET_OK && (status = pp_options_resolve(&how->options, how->given)) == PARAPET_OK &&
        (status = pp_options_ranks_per_node(&how->ranks_per_node)) == PARAPET_OK &&
        (status = check_launcher(comm, how)) == PARAPET_OK)
        status = build_handle(&made, how);
    describe_opening(&call, how);
    pp_comm_pretend_nodes(comm, how->ranks_per_node);
    pp_comm_set_deadline(comm, (double)how->options.deadline_seconds);
    if ((status = pp_comm_begin(comm, &call, status)) != PARAPET_OK) {
        pp_comm_free(comm);
        free_handle(made);
        return status;
    }
    made->comm = comm;
    pp_meter_init(&made->meter);
    if ((status = open_together(made, how)) != PARAPET_OK) {
        free_store(made);
        return status;
    }
    made->backend->meter = &made->meter;
    *store = made;
    return PARAPET_OK;
}

double pp_opening_deadline(const pp_opening *how)
{
    parapet_store_options options = {0};
    parapet_status status = pp_options_resolve(&options, how->options);
    return status == PARAPET_OK ? (double)options.deadline_seconds : 0;
}

parapet_status pp_store_open_on(parapet_store **store, pp_comm *comm, const pp_opening *asked)
{
    opening how = {.url = asked->url, .backend = asked->backend, .mode = asked->mode, .given = asked->options};
    pp_file_limit limit;
    parapet_status status;
    pp_file_limit_hold(&limit); /* there is no turn yet */
    status = open_over_ranks(store, comm, &how);
    pp_file_limit_release(&limit);
    return status;
}

parapet_status pp_store_open_alone(parapet_store **store, const pp_opening *how)
{
    pp_comm *comm = NULL;
    parapet_status status = pp_comm_build_alone(&comm);
    *store = NULL;
    return status == PARAPET_OK ? pp_store_open_on(store, comm, how) : status;
}

static parapet_status check_no_handles(const parapet_store *store)
{
    if (store->handle_count > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "%d arrays, groups, checkpoints, series or requests of the store are still open; close them, "
                       "or wait for them, first",
                       store->handle_count);
    return PARAPET_OK;
}

/* A rank that closed alone would leave the others waiting for it for ever: so all close, or none. */
parapet_status parapet_store_close(parapet_store **store)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (store == NULL || *store == NULL)
        return PARAPET_OK;
    if ((status = pp_turn_take(&turn, (*store)->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    status = check_no_handles(*store);
    if (!pp_comm_is_lost((*store)->comm)) {
        pp_call_init(&call, "store_close()");
        status = pp_comm_begin_at_once((*store)->comm, &call, status);
    }
    if (status == PARAPET_ERR_ARGUMENT)
        return status;
    pp_turn_end_all(&turn);
    free_store(*store);
    *store = NULL;
    return status;
}

parapet_status parapet_store_get_statistics(parapet_store *store, parapet_statistics *statistics)
{
    const pp_counters *counters;
    PP_TURN turn = {0};
    parapet_status status;
    if (store == NULL || statistics == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_store_get_statistics needs a store and a pointer for the statistics");
    if ((status = pp_turn_take(&turn, store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    counters = &store->counters;
    *statistics = (parapet_statistics){
        .read_bytes = counters->read_bytes,
        .written_bytes = counters->written_bytes,
        .read_requests = counters->read_requests,
        .objects_written = counters->objects_written,
        .chunks_decoded = counters->chunks_decoded,
        .chunks_encoded = counters->chunks_encoded,
        .chunks_copied = counters->chunks_copied,
        .chunks_missing = counters->chunks_missing,
        .memory_peak_bytes = (int64_t)pp_budget_peak(&store->budget),
        .memory_planned_bytes = counters->memory_planned,
        .messages_sent = counters->messages_sent,
        .message_bytes = counters->message_bytes,
        .direct_bytes = counters->direct_bytes,
        .shards_owned = counters->shards_owned,
        .shards_taken = counters->shards_taken,
        .description_messages = counters->description_messages,
        .descriptions_reused = counters->descriptions_reused,
        .cache_hits = counters->cache_hits,
        .cache_misses = counters->cache_misses,
        .cache_bytes = counters->cache_bytes,
        .storage_seconds = pp_meter_seconds(&store->meter),
        .local_peak_bytes = (int64_t)pp_budget_peak(&store->alone.budget),
    };
    return pp_outcome(PARAPET_OK);
}

bool pp_store_is_read_only(const parapet_store *store)
{
    return store->mode == PARAPET_READ;
}

bool pp_store_is_foreign(const parapet_store *store)
{
    return store->is_foreign;
}

/* Whatever repairs something asks this first (invariant 13 of docs/design/change.md). */
parapet_status pp_store_check_writable(const parapet_store *store)
{
    if (pp_store_is_read_only(store))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "the store is open for reading; open it with PARAPET_UPDATE to change it");
    return PARAPET_OK;
}

uint64_t pp_store_serial(const parapet_store *store)
{
    return store->serial;
}

pp_comm *pp_store_comm(const parapet_store *store)
{
    return store->comm;
}

pp_store *pp_store_backend(const parapet_store *store)
{
    return store->backend;
}

const parapet_store_options *pp_store_options(const parapet_store *store)
{
    return store->options;
}

int64_t pp_store_call_bytes(const parapet_store *store)
{
    return store->options->memory_bytes - (store->options->write_back ? store->options->cache_bytes : 0);
}

int64_t pp_store_least_memory_bytes(const parapet_store *store)
{
    return store->least_memory_bytes;
}

pp_budget *pp_store_budget(parapet_store *store)
{
    return &store->budget;
}

pp_counters *pp_store_counters(parapet_store *store)
{
    return &store->counters;
}

void pp_store_suspend_deadline(const parapet_store *store)
{
    pp_comm_set_deadline(store->comm, 0);
}

void pp_store_resume_deadline(const parapet_store *store)
{
    pp_comm_set_deadline(store->comm, (double)store->options->deadline_seconds);
}

void pp_store_suspend_progress(parapet_store *store)
{
    store->options->progress = NULL;
}

void pp_store_resume_progress(parapet_store *store)
{
    store->options->progress = store->given->progress != NULL ? report_progress : NULL;
}

int pp_store_handle_count(const parapet_store *store)
{
    return store->handle_count;
}

void pp_store_add_handles(parapet_store *store, int count)
{
    store->handle_count += count;
}

void pp_store_drop_handles(parapet_store *store, int count)
{
    store->handle_count -= count;
}

int pp_store_keeper(const parapet_store *store, int array, int count)
{
    return store->servers[(int64_t)array * store->server_count / count];
}

/* With a deadline, a rank may return while others still work, and then its memory must not be written to any
 * more. So a read with a deadline does not copy directly. */
pp_team pp_store_team(const parapet_store *store, pp_direction direction)
{
    return (pp_team){
        .comm = store->comm,
        .servers = store->servers,
        .server_count = store->server_count,
        .fragment_bytes = pp_memory_fragment_bytes(store->least_memory_bytes),
        .owners = pp_owner_strategy_of(store->options->owners),
        .takes = store->options->sharing == PARAPET_SHARING_STEALING,
        .has_deadline = store->options->deadline_seconds > 0,
        .uses_direct = store->options->transport != PARAPET_TRANSPORT_MESSAGES &&
                       (direction == PP_WRITING || store->options->deadline_seconds == 0),
    };
}
