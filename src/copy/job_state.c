/* job_state.c - what lies beside the target of a copy until it is complete:
 *
 *     <array>/__parapet/copy/job            what is copied and how: lines for people, what the plan was made from,
 *                                           the plan's digest, and a CRC-32C of all this
 *     <array>/__parapet/copy/makes          the document of the target, where shards are not named as usual: without
 *                                           it, nobody could tell them from something else
 *     <array>/__parapet/copy/finished-<k>   pass k is done on all ranks
 *     <array>/__parapet/copy/pass-<k>/      journals and unfinished shards of pass k (copy/journal.h)
 *     <array>/__parapet/copy/between-<k>/   the array between pass k and the next */
#include "copy/job_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "codec/crc32c.h"
#include "copy/copy_request.h"
#include "copy/inputs.h"
#include "copy/task.h"

/* What one of ours never exceeds, beside the lines that tell what is copied. */
#define JOB_BYTES_MOST ((size_t)64 << 10)
#define SUM_BYTES (sizeof "crc32c: 00000000\n" - 1)
#define PLAN "plan"

parapet_status pp_copy_state_path(const pp_copy_task *task, pp_own kind, int pass, char **path)
{
    return pp_own_key_numbered(pp_array_path(task->target), kind, pass, path);
}

static parapet_status job_key(const pp_copy_task *task, char **key)
{
    return pp_own_key(pp_array_path(task->target), PP_OWN_COPY_JOB, key);
}

static void add_digest(pp_text *text, const char *name, const unsigned char digest[PP_SHA256_BYTES])
{
    char digits[PP_SHA256_HEX_BYTES];
    pp_sha256_print(digest, digits);
    pp_text_add(text, "%s: %s", name, digits);
}

static void add_line(pp_text *text, const char *name, const char *value)
{
    pp_text_add(text, "\n%s: %s", name, pp_copy_is_given(value) ? value : "as the source");
}

/* Everything that must be the same for a copy to be taken up again, one line each. */
static parapet_status describe(const pp_copy_task *task, pp_text *text)
{
    const parapet_copy_changes *changes = &task->request->changes;
    unsigned char digest[PP_SHA256_BYTES];
    pp_text document = {0};
    parapet_status status = pp_copy_task_document(task, &document);
    if (status == PARAPET_OK)
        pp_sha256_of(document.data, document.bytes, digest);
    pp_text_free(&document);
    if (status != PARAPET_OK)
        return status;
    pp_text_add(text, "copy by parapet %d.%d.%d", PARAPET_VERSION_MAJOR, PARAPET_VERSION_MINOR,
                PARAPET_VERSION_PATCH);
    add_line(text, "source array", pp_array_path(task->source));
    add_line(text, "chunks", changes->chunks);
    add_line(text, "shards", changes->shards);
    add_line(text, "order", changes->order);
    add_line(text, "region", changes->region);
    add_line(text, "codec", changes->codec);
    pp_text_add(text, "\nno_checksum: %d", changes->no_checksum);
    pp_text_add(text, "\nunit_bytes: %" PRId64, task->request->unit_bytes);
    pp_text_add(text, "\nintermediate store: %s", task->request->temporary != NULL ? "another" : "the target's");
    pp_text_add(text, "\n");
    add_digest(text, "document of the source (zarr.json)", pp_array_document_digest(task->source));
    pp_text_add(text, "\nstored objects of the source: %016" PRIx64 "\n", (uint64_t)task->source_version);
    add_digest(text, "document of the target (zarr.json)", digest);
    return text->status;
}

parapet_status pp_copy_state_put(const pp_copy_task *task, pp_store *store, const char *key, const void *data,
                                 size_t bytes)
{
    parapet_status status =
        pp_store_write_all(store, &(pp_write_request){.key = key, .staging = task->staging, .is_small = true}, data,
                           bytes, PP_PUBLISH_REPLACE);
    return status == PARAPET_OK ? pp_store_sync_dirs(store) : status;
}

/* Another store for what lies between passes gets the same, so that it is known again. */
static parapet_status write_job(const pp_copy_task *task, const char *key, const void *data, size_t bytes)
{
    parapet_status status = PARAPET_OK;
    if (task->temporary_store != task->target_store)
        status = pp_copy_state_put(task, pp_store_backend(task->temporary_store), key, data, bytes);
    return status == PARAPET_OK ? pp_copy_state_put(task, pp_store_backend(task->target_store), key, data, bytes)
                                : status;
}

/* The lines behind those that describe: what the plan was made from, and which it is. */
static parapet_status add_plan(const pp_copy_inputs *inputs, const pp_rechunk_plan *plan, pp_text *text)
{
    unsigned char digest[PP_SHA256_BYTES];
    parapet_status status = pp_rechunk_plan_digest(plan, digest);
    if (status != PARAPET_OK)
        return status;
    pp_text_add(text, "\n\n");
    pp_copy_inputs_print(inputs, text);
    add_digest(text, PLAN, digest);
    pp_text_add(text, "\n");
    return text->status;
}

static void print_sum(const char *data, size_t bytes, char line[SUM_BYTES + 1])
{
    (void)snprintf(line, SUM_BYTES + 1, "crc32c: %08x\n", (unsigned)pp_crc32c(0, data, bytes));
}

static bool has_usual_keys(const pp_array_document *document)
{
    return !document->keys.is_v2 && document->keys.separator == '/';
}

/* Shards of an array that replaces another are beside it until that one is gone. */
static parapet_status keep_document(const pp_copy_task *task)
{
    pp_text text = {0};
    char *key = NULL;
    parapet_status status;
    if (task->replaces || has_usual_keys(pp_array_document_of(task->target)))
        return PARAPET_OK;
    if ((status = pp_copy_task_document(task, &text)) == PARAPET_OK &&
        (status = pp_own_key(pp_array_path(task->target), PP_OWN_COPY_MAKES, &key)) == PARAPET_OK)
        status = pp_copy_state_put(task, pp_store_backend(task->target_store), key, text.data, text.bytes);
    pp_free(key);
    pp_text_free(&text);
    return status;
}

parapet_status pp_copy_state_write(const pp_copy_task *task)
{
    char sum[SUM_BYTES + 1];
    pp_text text = {0};
    char *key = NULL;
    parapet_status status = describe(task, &text);
    if (status == PARAPET_OK &&
        (task->is_verbatim || (status = add_plan(&task->inputs, task->plan, &text)) == PARAPET_OK)) {
        print_sum(text.data, text.bytes, sum);
        pp_text_add(&text, "%s", sum);
    }
    if (status == PARAPET_OK && (status = text.status) == PARAPET_OK &&
        (status = keep_document(task)) == PARAPET_OK && (status = job_key(task, &key)) == PARAPET_OK)
        status = write_job(task, key, text.data, text.bytes);
    pp_free(key);
    pp_text_free(&text);
    return status;
}

static parapet_status refuse_job(const pp_copy_task *task)
{
    return pp_fail(PARAPET_ERR_CORRUPT,
                   "the state that the interrupted copy left in %s cannot be understood: it is damaged, or was "
                   "written by another version; nothing was removed; start again with overwrite",
                   task->state);
}

/* Finds the first line that differs; both texts have the same lines in the same order. */
static parapet_status tell_difference(const pp_copy_task *task, const char *was, const char *is)
{
    while (*was != '\0') {
        size_t was_bytes = strcspn(was, "\n"), is_bytes = strcspn(is, "\n");
        if (was_bytes != is_bytes || memcmp(was, is, was_bytes) != 0)
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "the copy cannot be resumed: it was begun with \"%.*s\", but now it is \"%.*s\"; "
                           "start again with overwrite",
                           (int)was_bytes, was, (int)is_bytes, is);
        was += was_bytes + (was[was_bytes] == '\n');
        is += is_bytes + (is[is_bytes] == '\n');
    }
    return refuse_job(task);
}

/* Takes the sum off the end of a text of the copy's own; false: it is none. */
static bool check_sum(char *data, size_t bytes)
{
    char sum[SUM_BYTES + 1];
    if (bytes < SUM_BYTES || strlen(data) != bytes)
        return false;
    print_sum(data, bytes - SUM_BYTES, sum);
    if (strcmp(data + bytes - SUM_BYTES, sum) != 0)
        return false;
    data[bytes - SUM_BYTES] = '\0';
    return true;
}

/* The lines behind those that describe: the form of all of them, before anything is planned. */
static bool parse_plan(const char *lines, pp_copy_inputs *inputs)
{
    const char *rest = lines + 2;
    if (strncmp(lines, "\n\n", 2) != 0 || !pp_copy_inputs_parse(inputs, &rest) ||
        strncmp(rest, PLAN ": ", sizeof PLAN ": " - 1) != 0)
        return false;
    rest += sizeof PLAN ": " - 1;
    return strspn(rest, "0123456789abcdef") == PP_SHA256_HEX_BYTES - 1 &&
           strcmp(rest + PP_SHA256_HEX_BYTES - 1, "\n") == 0;
}

parapet_status pp_copy_job_parse(const pp_copy_task *task, const pp_text *described, char *data, size_t bytes,
                                 pp_copy_inputs *inputs)
{
    const char *rest;
    if (!check_sum(data, bytes))
        return refuse_job(task);
    if (strncmp(data, described->data, described->bytes) != 0)
        return tell_difference(task, data, described->data);
    rest = data + described->bytes;
    return (task->is_verbatim ? rest[0] == '\0' : parse_plan(rest, inputs)) ? PARAPET_OK : refuse_job(task);
}

/* Plans from what was written down. The plan must be the one that was begun. */
static parapet_status plan_again(pp_copy_task *task, const char *lines)
{
    pp_text again = {0};
    parapet_status status;
    if (pp_copy_inputs_plan(&task->inputs, task, task->plan) != PARAPET_OK)
        return refuse_job(task);
    status = add_plan(&task->inputs, task->plan, &again);
    if (status == PARAPET_OK && strcmp(again.data, lines) != 0)
        status = pp_fail(PARAPET_ERR_CORRUPT,
                         "the copy cannot be resumed: the plan that follows from %s/job is not the one that it was "
                         "begun with; nothing was removed; start again with overwrite",
                         task->state);
    pp_text_free(&again);
    return status;
}

static parapet_status take_job(pp_copy_task *task, char *data, size_t bytes, const pp_text *now)
{
    parapet_status status = pp_copy_job_parse(task, now, data, bytes, &task->inputs);
    return status == PARAPET_OK && !task->is_verbatim ? plan_again(task, data + now->bytes) : status;
}

/* Without what earlier passes have left, the next one would find nothing and copy that. */
static parapet_status check_between(const pp_copy_task *task, const char *key, const char *job, size_t bytes)
{
    char *data = NULL;
    size_t found;
    parapet_status status;
    bool is_same;
    if (task->temporary_store == task->target_store || task->is_complete)
        return PARAPET_OK;
    status = pp_store_read_all(pp_store_backend(task->temporary_store), key, bytes, &data, &found);
    is_same = status == PARAPET_OK && found == bytes && memcmp(data, job, bytes) == 0;
    pp_free(data);
    if (is_same || (status != PARAPET_OK && status != PARAPET_ERR_NOT_FOUND && status != PARAPET_ERR_FORMAT))
        return status;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "the copy cannot be resumed: its intermediate arrays are not in this intermediate store; give the "
                   "one that it was begun with, or start again with overwrite");
}

static parapet_status read_described_job(pp_copy_task *task, const pp_text *now, size_t most)
{
    char *key = NULL, *data = NULL;
    size_t bytes;
    parapet_status status = job_key(task, &key);
    if (status == PARAPET_OK &&
        (status = pp_store_read_all(pp_store_backend(task->target_store), key, most, &data, &bytes)) == PARAPET_OK &&
        (status = check_between(task, key, data, bytes)) == PARAPET_OK)
        status = take_job(task, data, bytes, now);
    pp_free(data);
    pp_free(key);
    return status;
}

static parapet_status read_job(pp_copy_task *task)
{
    pp_text now = {0};
    parapet_status status = describe(task, &now);
    size_t most = now.bytes + JOB_BYTES_MOST;
    if (status == PARAPET_OK &&
        (status = pp_budget_reserve(&task->budget, 2 * most, "what an interrupted copy left")) == PARAPET_OK) {
        status = read_described_job(task, &now, most);
        pp_budget_release(&task->budget, 2 * most);
    }
    pp_text_free(&now);
    return status;
}

/* The word that says that a pass is done, and whether chunks of the source are not stored. */
static const char *pass_word(bool has_holes)
{
    return has_holes ? "holes\n" : "whole\n";
}

static parapet_status take_pass(pp_copy_task *task, const char *word)
{
    bool has_holes = strcmp(word, pass_word(true)) == 0;
    if (!has_holes && strcmp(word, pass_word(false)) != 0)
        return refuse_job(task);
    task->has_holes = task->has_holes || has_holes;
    return PARAPET_OK;
}

static parapet_status read_passes(pp_copy_task *task)
{
    parapet_status status = PARAPET_OK;
    for (; task->first_pass < task->plan->pass_count; task->first_pass++) {
        char *key = NULL, *data = NULL;
        size_t bytes;
        if ((status = pp_copy_state_path(task, PP_OWN_COPY_PASS_FINISHED, task->first_pass, &key)) == PARAPET_OK)
            status = pp_store_read_all(pp_store_backend(task->target_store), key, 16, &data, &bytes);
        if (status == PARAPET_OK)
            status = take_pass(task, data);
        pp_free(data);
        pp_free(key);
        if (status != PARAPET_OK)
            break;
    }
    return pp_accept_absence(status);
}

parapet_status pp_copy_state_read(pp_copy_task *task)
{
    parapet_status status = read_job(task);
    if (status != PARAPET_OK)
        return status;
    if ((size_t)task->plan->memory_bytes > task->budget.limit_bytes)
        return pp_fail(PARAPET_ERR_MEMORY,
                       "the copy cannot be resumed: it was planned with %lld bytes of memory per rank, but now the "
                       "limit is %zu; raise the limit, or start again with overwrite",
                       (long long)task->plan->memory_bytes, task->budget.limit_bytes);
    return read_passes(task);
}

parapet_status pp_copy_state_finish_pass(const pp_copy_task *task, int pass)
{
    char *key = NULL;
    const char *word = pass_word(task->has_holes);
    parapet_status status = pp_copy_state_path(task, PP_OWN_COPY_PASS_FINISHED, pass, &key);
    if (status == PARAPET_OK)
        status = pp_copy_state_put(task, pp_store_backend(task->target_store), key, word, strlen(word));
    pp_free(key);
    return status;
}
