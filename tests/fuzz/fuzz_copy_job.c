/* fuzz_copy_job.c - the job that an interrupted copy left beside its target, from anyone. The first byte tells what
 * the rest is:
 *
 *     's'  the lines of the job, which get their checksum
 *     'p'  the lines behind those that describe the copy, which are right, and the checksum
 *     else the job
 *
 * Reading must neither crash nor leak, and what is accepted prints as it came. Some of what is accepted is planned,
 * too. */
#include <string.h>

#include "array/store_queries.h"
#include "bed.h"
#include "codec/crc32c.h"
#include "copy/decision.h"
#include "copy/inputs.h"
#include "copy/job_state.h"
#include "copy/source_version.h"
#include "copy/task.h"

#define JOB "t/__parapet/copy/job"

enum { CHOSEN = 16 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static pp_copy_task task;
static pp_text described; /* the lines that tell what is copied */

static void make_source(void)
{
    static const int64_t shape[2] = {8, 8}, chunks[2] = {2, 8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .unsharded = 1};
    parapet_array *array;
    require(parapet_array_create(&array, bed_store(), "s", &spec) == PARAPET_OK);
    require(parapet_array_close(&array) == PARAPET_OK);
}

/* A copy that was begun; made once. */
static void begin_copy(void)
{
    static parapet_copy_request request = {.source_path = "s", .target_path = "t", .no_probe = 1, .passes = 2};
    char *job;
    size_t bytes;
    if (described.bytes > 0)
        return;
    make_source();
    request.source = request.target = bed_store();
    request.changes = (parapet_copy_changes){.chunks = "8,2"};
    task.request = &request;
    require(pp_copy_task_open(&task, "s", "t", false) == PARAPET_OK);
    require(pp_copy_task_look(&task) == PARAPET_OK && pp_copy_task_version(&task) == PARAPET_OK);
    require(pp_copy_decide(&task, true) == PARAPET_OK);
    require(pp_store_read_all(pp_store_backend(bed_store()), JOB, 1 << 20, &job, &bytes) == PARAPET_OK);
    pp_text_add_bytes(&described, job, (size_t)(strstr(job, "\n\n") - job));
    require(described.status == PARAPET_OK);
    pp_free(job);
}

static void make_job(pp_text *job, const unsigned char *data, size_t bytes)
{
    bool is_plan = bytes > 0 && data[0] == 'p', is_signed = is_plan || (bytes > 0 && data[0] == 's');
    if (is_plan)
        pp_text_add_bytes(job, described.data, described.bytes);
    pp_text_add_bytes(job, data + is_signed, bytes - is_signed);
    if (is_signed)
        pp_text_add(job, "crc32c: %08x\n", (unsigned)pp_crc32c(0, job->data, job->bytes));
    require(job->status == PARAPET_OK);
}

/* All but the digest of the plan and the checksum. */
static void check_inputs(const pp_text *job, const pp_copy_inputs *inputs)
{
    pp_text again = {0};
    pp_text_add_bytes(&again, described.data, described.bytes);
    pp_text_add(&again, "\n\n");
    pp_copy_inputs_print(inputs, &again);
    pp_text_add(&again, "plan: ");
    require(again.status == PARAPET_OK);
    require(job->bytes == again.bytes + sizeof "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n" -
                              1 + sizeof "crc32c: 01234567\n" - 1);
    require(memcmp(job->data, again.data, again.bytes) == 0);
    pp_text_free(&again);
}

/* From the store, with the plan; takes long. */
static void take_up(const pp_text *job)
{
    task.first_pass = 0;
    task.has_holes = false;
    bed_put_text(JOB, job);
    (void)pp_copy_state_read(&task);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    pp_copy_inputs inputs;
    pp_text job = {0};
    char *copy = NULL;
    long live;
    begin_copy();
    live = pp_memory_live_count();
    make_job(&job, data, bytes);
    require(pp_bytes_duplicate(&copy, job.data, job.bytes + 1) == PARAPET_OK);
    if (pp_copy_job_parse(&task, &described, copy, job.bytes, &inputs) == PARAPET_OK) {
        check_inputs(&job, &inputs);
        if (bed_is_chosen(data, bytes, CHOSEN))
            take_up(&job);
    }
    pp_free(copy);
    pp_text_free(&job);
    require(bed_is_chosen(data, bytes, CHOSEN) || pp_memory_live_count() == live);
    return 0;
}
