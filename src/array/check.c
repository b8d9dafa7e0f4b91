#include <string.h>

#include "array/announcement.h"
#include "array/array.h"
#include "array/array_handle.h"
#include "array/lock_text.h"
#include "array/node_path.h"
#include "array/rank0.h"
#include "array/refresh.h"
#include "array/seal_objects.h"
#include "array/trim.h"
#include "array/walk.h"
#include "change/registry.h"

/* Absent shards are listed one by one only while their number stays reasonable; beyond, they are only counted. */
#define CHECK_LIST_MOST (INT64_C(1) << 20)

typedef struct check_job {
    parapet_array *array;
    pp_transfer_context context;
    parapet_check_depth depth;
    parapet_finding_visitor report;
    void *report_context;
    parapet_check_summary *summary;
    bool is_appended; /* an append to a group above was interrupted */
} check_job;

static int call_report(const check_job *job, const parapet_finding *finding)
{
    int answer;
    pp_callback_begin();
    answer = job->report(job->report_context, finding);
    pp_callback_end();
    return answer;
}

/* What another job has changed meanwhile is no damage. */
static parapet_status report_finding(check_job *job, parapet_finding_kind kind, const char *key, const char *problem)
{
    parapet_finding finding = {.kind = kind, .key = key, .problem = problem};
    if (kind != PARAPET_FINDING_ABSENT && pp_array_check_damage(job->array) == PARAPET_ERR_STALE)
        return PARAPET_ERR_STALE;
    if (kind == PARAPET_FINDING_MISSING)
        job->summary->missing++;
    else if (kind == PARAPET_FINDING_TORN)
        job->summary->torn++;
    else if (kind == PARAPET_FINDING_STRAY)
        job->summary->stray++;
    if (job->report != NULL && call_report(job, &finding) != 0)
        return pp_fail(PARAPET_ERR_CANCELLED, "the visitor ended the check");
    return PARAPET_OK;
}

/* Failures that say something about the stored bytes are findings; the rest ends the check. */
static parapet_status sort_failure(check_job *job, parapet_status status, const char *key)
{
    char problem[PP_MESSAGE_BYTES];
    (void)memcpy(problem, pp_failure_message(), sizeof problem);
    switch (status) {
    case PARAPET_ERR_CORRUPT:
    case PARAPET_ERR_FORMAT:
        return report_finding(job, PARAPET_FINDING_TORN, key, problem);
    case PARAPET_ERR_MISSING:
        return report_finding(job, PARAPET_FINDING_MISSING, key, problem);
    default:
        return status;
    }
}

static void count_chunks(check_job *job, const pp_shard *shard)
{
    int64_t chunk;
    for (chunk = 0; chunk < job->array->layout.tiling.chunks.cell_count; chunk++)
        if (pp_shard_has_chunk(shard, chunk))
            job->summary->chunks_present++;
}

static parapet_status check_shard(check_job *job, int64_t number, const char *key)
{
    pp_shard shard = {0};
    parapet_status status = pp_shard_open(&job->context, number, &shard);
    if (status == PARAPET_OK) {
        count_chunks(job, &shard);
        status = (job->depth == PARAPET_CHECK_DATA ? pp_transfer_verify : pp_shard_verify_all)(&job->context, &shard);
    }
    if (status != PARAPET_OK)
        status = sort_failure(job, status, key);
    pp_shard_close(&shard);
    return status;
}

/* Whether an object is left over. A job that makes or removes such an object holds the array's lock for as long
 * as the object is there. So first the lock must be free, and then the object still there. */
static parapet_status find_left_over(const check_job *job, const char *key, bool *is_left_over)
{
    pp_lock_view lock;
    pp_reader *reader = NULL;
    parapet_status status = pp_lock_text_view(job->array->store, job->array->path, &lock);
    if (status != PARAPET_OK || lock.is_held)
        return status;
    *is_left_over = pp_store_open_object(job->array->store->backend, key, &reader) != PARAPET_ERR_NOT_FOUND;
    pp_reader_free(reader);
    return PARAPET_OK;
}

static parapet_status report_stray(check_job *job, const char *key, const char *problem)
{
    bool is_left_over = false;
    parapet_status status = find_left_over(job, key, &is_left_over);
    return status == PARAPET_OK && is_left_over ? report_finding(job, PARAPET_FINDING_STRAY, key, problem) : status;
}

static bool is_metadata(const char *key)
{
    return strcmp(key, "zarr.json") == 0 || strcmp(key, ".zarray") == 0 || strcmp(key, ".zattrs") == 0;
}

static const char *why_stray(const check_job *job)
{
    if (job->is_appended)
        return "is of an append that was interrupted; gc, or the next append, completes or undoes it";
    return pp_trim_is_marked(job->array->document.attributes)
               ? "was cut off by a resize that did not finish; gc removes it, or the next write"
               : "is no shard of this array";
}

static parapet_status check_object(void *context, const char *key, uint64_t bytes)
{
    check_job *job = context;
    char *whole = NULL;
    int64_t number;
    parapet_status status;
    if (is_metadata(key))
        return PARAPET_OK;
    job->summary->stored_bytes += (int64_t)bytes;
    if ((status = pp_path_join(job->array->path, key, &whole)) != PARAPET_OK)
        return status;
    if (!pp_layout_shard_of_key(&job->array->layout, key, &number)) {
        status = report_stray(job, whole, why_stray(job));
    } else {
        job->summary->shards_present++;
        if (job->depth != PARAPET_CHECK_SURVEY)
            status = check_shard(job, number, whole);
    }
    pp_free(whole);
    return status;
}

static parapet_status report_own(void *context, const char *key, uint64_t bytes)
{
    check_job *job = context;
    pp_own own = pp_own_find(key);
    char *folder = NULL, *whole = NULL;
    parapet_status status;
    (void)bytes;
    if (own != PP_OWN_TEMPORARIES && own != PP_OWN_COUNT)
        return PARAPET_OK;
    if ((status = pp_own_folder(job->array->path, &folder)) == PARAPET_OK &&
        (status = pp_path_join(folder, key, &whole)) == PARAPET_OK)
        status = report_stray(job, whole,
                              own == PP_OWN_COUNT ? "is below __parapet, where the library gives no such name"
                                                  : "is a temporary object that was never published");
    pp_free(whole);
    pp_free(folder);
    return status;
}

/* What was never published, and what nobody knows. */
static parapet_status check_own(check_job *job)
{
    char *folder = NULL;
    parapet_status status = pp_own_folder(job->array->path, &folder);
    if (status == PARAPET_OK)
        status = pp_walk_objects(job->array->store, folder, report_own, job);
    pp_free(folder);
    return pp_accept_absence(status);
}

/* A shard that is not there: the seal decides whether it should be. */
static parapet_status check_absent(check_job *job, int64_t number)
{
    pp_reader *reader = NULL;
    pp_shard_record record = {.bytes = PP_SHARD_ABSENT};
    char *key = NULL;
    parapet_status status = pp_layout_key(&job->array->layout, job->array->path, number, &key);
    if (status == PARAPET_OK && job->array->is_sealed)
        status = pp_seal_lookup_record(job->array, number, &record);
    if (status != PARAPET_OK)
        goto done;
    status = pp_store_open_object(job->array->store->backend, key, &reader);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = record.bytes == PP_SHARD_ABSENT
                     ? report_finding(job, PARAPET_FINDING_ABSENT, key, "was never written")
                     : report_finding(job, PARAPET_FINDING_MISSING, key, "is missing: the array was sealed with it");
    else if (status != PARAPET_OK) /* not a plain file */
        status = sort_failure(job, status, key);
done:
    pp_reader_free(reader);
    pp_free(key);
    return status;
}

static parapet_status check_all_absent(check_job *job)
{
    char *pages = NULL;
    int64_t number;
    parapet_status status = PARAPET_OK;
    if (job->summary->shards_present == job->summary->shards_expected)
        return PARAPET_OK;
    if (!job->array->is_sealed &&
        (job->summary->shards_expected > CHECK_LIST_MOST || job->depth == PARAPET_CHECK_SURVEY))
        return PARAPET_OK;
    for (number = 0; number < job->summary->shards_expected && status == PARAPET_OK; number++)
        status = check_absent(job, number);
    if ((status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING) &&
        pp_own_key("", PP_OWN_PAGES, &pages) == PARAPET_OK)
        status = sort_failure(job, status, pages);
    pp_free(pages);
    return status;
}

static parapet_status run_check(void *subject, const void *argument)
{
    check_job *job = subject;
    parapet_array *array = job->array;
    parapet_status status;
    (void)argument;
    status = pp_announcement_refuse_above(array->store, array->path);
    job->is_appended = status == PARAPET_ERR_EXISTS;
    if (status != PARAPET_OK && status != PARAPET_ERR_EXISTS && status != PARAPET_ERR_BUSY)
        return status;
    job->summary->shards_expected = array->layout.tiling.shards.cell_count;
    if ((status = pp_walk_objects(array->store, array->path, check_object, job)) != PARAPET_OK ||
        (status = check_own(job)) != PARAPET_OK)
        return status;
    return check_all_absent(job);
}

static parapet_status print_summary(void *subject, pp_text *bytes)
{
    const check_job *job = subject;
    pp_text_add_bytes(bytes, job->summary, sizeof *job->summary);
    return PARAPET_OK;
}

static parapet_status adopt_summary(void *subject, pp_cursor *bytes)
{
    check_job *job = subject;
    pp_cursor_copy(bytes, job->summary, sizeof *job->summary);
    return PARAPET_OK;
}

static parapet_status check_arguments(check_job *job)
{
    parapet_status status;
    if (job->summary == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_check needs an array and a pointer for the summary");
    *job->summary = (parapet_check_summary){0};
    if (job->depth != PARAPET_CHECK_SURVEY && job->depth != PARAPET_CHECK_INDEX && job->depth != PARAPET_CHECK_DATA)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "depth is %d, but must be PARAPET_CHECK_SURVEY, PARAPET_CHECK_INDEX or PARAPET_CHECK_DATA",
                       (int)job->depth);
    status = pp_array_check_usable(job->array);
    return status == PARAPET_OK ? pp_array_transfer_context(job->array, &job->context) : status;
}

parapet_status parapet_array_check(parapet_array *array, parapet_check_depth depth, parapet_finding_visitor report,
                                   void *context, parapet_check_summary *summary)
{
    PP_TURN turn = {0};
    check_job job = {.array = array, .depth = depth, .report = report, .report_context = context, .summary = summary};
    pp_rank0_task task = {.subject = &job, .work = run_check, .print = print_summary, .adopt = adopt_summary};
    pp_call call;
    parapet_status status;
    if (array == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_array_check needs an array and a pointer for the summary");
    if ((status = pp_turn_take(&turn, array->store->comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "check(%s)", array->path);
    pp_call_add_integer(&call, "depth", (int64_t)depth);
    if ((status = pp_comm_begin(array->store->comm, &call, check_arguments(&job))) != PARAPET_OK)
        return pp_outcome(status);
    return pp_outcome(pp_rank0_do(array->store->comm, "checking", &task));
}
