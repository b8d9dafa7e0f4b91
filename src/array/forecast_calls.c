#include "forecast/print.h"

#include <parapet_plan.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/given_weights.h"
#include "array/opening.h"
#include "array/spec.h"
#include "base/checked.h"
#include "base/reserved.h"
#include "comm/stealing.h"
#include "forecast/drawing.h"
#include "plan/pieces.h"
#include "transfer/memory_plan.h"

#define SERVERS_MOST_BY_DEFAULT 1024
#define RANKS_PER_SERVER_BY_DEFAULT 4

typedef struct plan_job {
    const parapet_transfer_plan_request *request;
    bool is_json;
    pp_store *backend;
    parapet_store *store; /* in memory, for the array to be made in as any other */
    parapet_array *array;
    pp_distribution distribution;
    pp_forecast_facts facts;
    pp_schedule_summary summary;
    pp_server_share share;  /* of the one server that is asked for */
    pp_given_speeds given;  /* of the servers; none: no file is named */
    pp_weighting weighting; /* that follows from them */
    pp_reach reach;
} plan_job;

static parapet_status check_request(const parapet_transfer_plan_request *request)
{
    parapet_status status;
    int d;
    if ((status = PP_RESERVED_CHECK(parapet_transfer_plan_request, request)) != PARAPET_OK ||
        (status = pp_boolean_check("is_read", request->is_read)) != PARAPET_OK ||
        (status = pp_boolean_check("as_json", request->as_json)) != PARAPET_OK)
        return status;
    if (request->distribution.ndim != request->spec.ndim)
        return pp_fail(PARAPET_ERR_ARGUMENT, "the array has %d dimensions, but the distribution has %d",
                       request->spec.ndim, request->distribution.ndim);
    for (d = 0; request->distribution.shape != NULL && d < request->spec.ndim; d++)
        if (request->spec.shape != NULL && request->distribution.shape[d] != request->spec.shape[d])
            return pp_fail(PARAPET_ERR_ARGUMENT, "shape[%d] is %lld in the array, but %lld in the distribution", d,
                           (long long)request->spec.shape[d], (long long)request->distribution.shape[d]);
    if (request->servers < 0 || request->memory_bytes < 0 || request->threads < 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "servers, memory_bytes and threads of a plan must be 0 or more");
    return PARAPET_OK;
}

static parapet_status make_array(plan_job *job)
{
    parapet_store_options options = {.memory_bytes = job->request->memory_bytes,
                                     .threads = job->request->threads,
                                     .owners = job->request->owners,
                                     .sharing = job->request->sharing};
    pp_opening how = {.mode = PARAPET_CREATE, .options = &options};
    parapet_status status = pp_store_memory_build(&job->backend, NULL);
    if (status != PARAPET_OK)
        return status;
    how.backend = job->backend;
    if ((status = pp_store_open_alone(&job->store, &how)) != PARAPET_OK)
        return status;
    return parapet_array_create(&job->array, job->store, "plan", &job->request->spec);
}

static void clear_job(plan_job *job)
{
    pp_reach_clear(&job->reach);
    pp_weighting_clear(&job->weighting);
    pp_given_speeds_clear(&job->given);
    pp_schedule_free(job->facts.schedule);
    (void)parapet_array_close(&job->array);
    (void)parapet_store_close(&job->store);
    pp_store_free(job->backend);
}

static int choose_server_count(const plan_job *job)
{
    int64_t ranks = job->distribution.rank_count, wanted = job->request->servers;
    if (wanted == 0)
        wanted = pp_min_i64(pp_divide_up(ranks, RANKS_PER_SERVER_BY_DEFAULT), SERVERS_MOST_BY_DEFAULT);
    return (int)pp_min_i64(wanted, ranks);
}

/* The speeds of the direction that is planned; NULL: none are given. */
static const int64_t *speeds_of(const plan_job *job)
{
    return job->request->is_read ? job->given.reading : job->given.writing;
}

/* As a store that begins with this file does (array/epochs.c). */
static parapet_status weigh(plan_job *job)
{
    int servers = job->facts.by.server_count;
    pp_speeds equal;
    parapet_status status;
    if (job->request->weights == NULL)
        return PARAPET_OK;
    if ((status = pp_given_weights_read(&job->given, job->request->weights, servers)) != PARAPET_OK)
        return status;
    if ((status = pp_speeds_init(&equal, servers)) == PARAPET_OK)
        status = pp_weighting_renew(&equal.now, speeds_of(job), &job->weighting);
    pp_speeds_clear(&equal);
    if (status == PARAPET_OK && job->facts.by.sharing == PARAPET_SHARING_WEIGHTS &&
        !pp_weighting_is_even(&job->weighting))
        job->facts.by.turns = &job->weighting.turns;
    return status;
}

static parapet_status choose_lattice(plan_job *job)
{
    pp_schedule_case *by = &job->facts.by;
    const pp_grid *shards = &by->tiling->shards;
    if (by->turns != NULL)
        return pp_lattice_choose_weighted(&by->lattice, shards->ndim, shards->cells, by->turns);
    return pp_lattice_choose(&by->lattice, shards->ndim, shards->cells, by->server_count);
}

static parapet_status init_facts(plan_job *job)
{
    const parapet_array *array = job->array;
    const parapet_store_options *options = job->store->options;
    const pp_layout *layout = &array->layout;
    pp_forecast_facts *facts = &job->facts;
    facts->is_read = job->request->is_read;
    facts->type_name = array->document.type.name;
    facts->codecs = array->codec_words;
    facts->spread = job->request->distribution.spread;
    facts->memory_bytes = options->memory_bytes;
    facts->by = (pp_schedule_case){
        .is_read = facts->is_read,
        .distribution = &job->distribution,
        .tiling = &layout->tiling,
        .window_chunks = pp_window_chunk_count(pp_chain_decoded_bytes(layout->chain)),
        .fragment_bytes = pp_memory_fragment_bytes(options->memory_bytes),
        .server_count = choose_server_count(job),
        .owners = options->owners,
        .sharing = options->sharing,
        .may_read_again = pp_layout_may_read_again(layout, job->store->backend),
    };
    if (job->request->server < -1 || job->request->server >= facts->by.server_count)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "there is no server %lld: they are numbered from 0 to %d; -1 asks for a summary of all",
                       (long long)job->request->server, facts->by.server_count - 1);
    return PARAPET_OK;
}

/* A server may get any shard, and needs memory for the largest. */
static bool takes(const plan_job *job)
{
    return job->facts.by.sharing == PARAPET_SHARING_STEALING && job->facts.by.server_count > 1;
}

/* Counts messages with windows of the size that facts->by says. */
static parapet_status count(plan_job *job)
{
    pp_forecast_facts *facts = &job->facts;
    parapet_status status;
    pp_schedule_free(facts->schedule);
    facts->schedule = NULL;
    if ((status = pp_schedule_build(&facts->schedule, &facts->by)) != PARAPET_OK)
        return status;
    if ((job->request->server < 0 || takes(job)) &&
        (status = pp_schedule_summarise(facts->schedule, &job->summary)) != PARAPET_OK)
        return status;
    return job->request->server < 0 ? PARAPET_OK
                                    : pp_schedule_server(facts->schedule, (int)job->request->server, &job->share);
}

/* What is charged to the budget before buffers are: the list of shards with one record per box and shard, and claims.
 */
static int64_t list_bytes_of(const plan_job *job)
{
    int64_t listed = job->request->server < 0 ? job->summary.most_listed : job->share.listed, bytes;
    size_t claim = pp_claim_word_count(job->distribution.ndim) * sizeof(int64_t);
    return pp_multiply_fits(listed, (int64_t)(sizeof(pp_work) + claim), &bytes) ? bytes : INT64_MAX;
}

/* Chunks that one request of a server is about. When reading, these are the chunks that lie together in a file as it
 * was written, as many as one request to storage fetches; those of a codec that compresses are taken to get smaller.
 */
static int window_of(const plan_job *job, const pp_memory_plan *memory)
{
    const pp_chain *chain = job->array->layout.chain;
    size_t fitting;
    if (!job->facts.is_read) {
        int chunks = pp_window_chunk_count(pp_chain_decoded_bytes(chain));
        return chunks < memory->window_chunks ? chunks : memory->window_chunks;
    }
    fitting = memory->batch_bytes / pp_chain_decoded_bytes(chain);
    if (pp_chain_is_fixed_size(chain))
        fitting =
            pp_min_size(fitting, (memory->batch_bytes - (size_t)2 * PP_PAGE_BYTES) / pp_chain_encoded_bound(chain));
    return (int)pp_min_size(pp_max_size(fitting, 1), PP_WINDOW_CHUNKS);
}

static parapet_status plan_memory(plan_job *job, pp_memory_plan *plan)
{
    const pp_layout *layout = &job->array->layout;
    const parapet_store_options *options = job->store->options;
    pp_forecast_facts *facts = &job->facts;
    pp_memory_case memory = {
        .threads = (int)options->threads,
        .has_threads = options->io_thread != PARAPET_IO_THREAD_NONE,
        .has_remote = job->distribution.rank_count > 1 && !pp_schedule_is_self_service(facts->schedule),
        .fragment_bytes = facts->by.fragment_bytes,
        .rank_most = job->request->server < 0 ? job->summary.most_ranks : job->share.most_ranks,
        .shard_count = job->request->server < 0 ? job->summary.most_shards : job->share.shards,
        .takes = takes(job),
    };
    int64_t taken;
    parapet_status status;
    if (memory.takes) /* also shards that another rank owns, which may hold some of them */
        memory.rank_most = pp_min_i64(job->summary.most_ranks + 1, job->distribution.rank_count - 1);
    facts->list_bytes = list_bytes_of(job);
    facts->client_bytes =
        job->distribution.rank_count > 1 ? (int64_t)pp_memory_client_bytes(facts->by.fragment_bytes) : 0;
    if (memory.takes)
        facts->client_bytes += (int64_t)pp_stealing_bytes(
            pp_memory_description_bytes(layout->tiling.shards.ndim, memory.rank_most, memory.fragment_bytes));
    if (!pp_add_fits(facts->list_bytes, facts->client_bytes, &taken) || taken > facts->memory_bytes)
        return pp_fail(PARAPET_ERR_MEMORY,
                       "lists of shards and parts take %lld bytes on a server, more than the memory_bytes of %lld; "
                       "use more servers, fewer boxes or more memory",
                       (long long)facts->list_bytes, (long long)facts->memory_bytes);
    memory.available_bytes = (size_t)(facts->memory_bytes - taken);
    memory.used_bytes = (size_t)taken;
    status = facts->is_read ? pp_memory_plan_read(&layout, 1, &memory, plan)
                            : pp_memory_plan_write(&layout, 1, &memory, plan);
    facts->server_bytes = taken + (int64_t)plan->planned_bytes;
    return status;
}

static parapet_status find_reach(plan_job *job)
{
    if (job->request->weights == NULL || job->request->server >= 0)
        return PARAPET_OK;
    job->facts.reach = &job->reach;
    return pp_reach_init(&job->reach, job->facts.schedule, &job->facts.by, speeds_of(job));
}

static parapet_status compute(plan_job *job)
{
    pp_memory_plan memory;
    parapet_status status;
    int window;
    if ((status = init_facts(job)) != PARAPET_OK || (status = weigh(job)) != PARAPET_OK ||
        (status = choose_lattice(job)) != PARAPET_OK || (status = count(job)) != PARAPET_OK ||
        (status = plan_memory(job, &memory)) != PARAPET_OK)
        return status;
    /* What has to be listed, and so what memory is left for windows, does not depend on the windows. */
    window = window_of(job, &memory);
    if (window != job->facts.by.window_chunks) {
        job->facts.by.window_chunks = window;
        status = count(job);
    }
    return status == PARAPET_OK ? find_reach(job) : status;
}

static parapet_status print(const plan_job *job, pp_text *text)
{
    int server = (int)job->request->server;
    if (server >= 0)
        return job->is_json ? pp_forecast_print_server_json(&job->facts, server, &job->share, text)
                            : pp_forecast_print_server(&job->facts, server, &job->share, text);
    if (job->is_json)
        pp_forecast_print_summary_json(&job->facts, &job->summary, text);
    else
        pp_forecast_print_summary(&job->facts, &job->summary, text);
    return PARAPET_OK;
}

static parapet_status deliver(const plan_job *job, char **text, char **svg)
{
    pp_text words = {0}, drawing = {0};
    parapet_status status = print(job, &words);
    if (status == PARAPET_OK)
        status = pp_text_finish(&words, text);
    pp_text_free(&words);
    if (status != PARAPET_OK || svg == NULL)
        return status;
    pp_forecast_draw(&job->facts, &drawing);
    if ((status = pp_text_finish(&drawing, svg)) != PARAPET_OK) {
        pp_free(*text);
        *text = NULL;
    }
    return status;
}

parapet_status parapet_transfer_plan_print(const parapet_transfer_plan_request *request, char **text, char **svg)
{
    plan_job job = {.request = request};
    parapet_status status;
    if (request == NULL || text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_transfer_plan_print needs a request and a pointer for the text");
    *text = NULL;
    if (svg != NULL)
        *svg = NULL;
    job.is_json = request->as_json;
    if ((status = check_request(request)) != PARAPET_OK || (status = pp_spec_check(&request->spec)) != PARAPET_OK ||
        (status = pp_distribution_init(&job.distribution, &request->distribution, request->spec.shape)) != PARAPET_OK)
        return pp_outcome(status);
    if ((status = make_array(&job)) == PARAPET_OK && (status = compute(&job)) == PARAPET_OK)
        status = deliver(&job, text, svg);
    clear_job(&job);
    return pp_outcome(status);
}
