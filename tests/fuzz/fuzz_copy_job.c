/* fuzz_copy_job.c - what an interrupted copy left beside its target, from anyone. The first byte tells what the rest
 * is:
 *
 *     's'  the lines of the job, which get their checksum
 *     'p'  the lines behind those that describe the copy, which are right, and the checksum
 *     'f'  the word of a finished pass
 *     'l'  the log of a hierarchy's finished arrays
 *     else the job
 *
 * Taking it up must neither crash nor leak; what is accepted is written again as it came. */
#include <stdlib.h>
#include <string.h>

#include "array/store.h"
#include "bed.h"
#include "codec/crc32c.h"
#include "copy/copy.h"

#define JOB "t/__parapet/copy/job"
#define FINISHED "t/__parapet/copy/finished-0"
#define LOG "g/__parapet/copy/finished"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static pp_copy_task task;
static char *job; /* as it was written */
static size_t job_bytes, described_bytes;

static void make_source(void)
{
    static const int64_t shape[2] = {8, 8}, chunks[2] = {2, 8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .unsharded = 1};
    parapet_array *array;
    require(parapet_array_create(&array, bed_store(), "s", &spec) == PARAPET_OK);
    require(parapet_array_close(&array) == PARAPET_OK);
}

static void read_job(char **data, size_t *bytes)
{
    require(pp_store_read_all(pp_store_backend(bed_store()), JOB, 1 << 20, data, bytes) == PARAPET_OK);
}

/* A copy that was begun; made once. */
static void begin_copy(void)
{
    static parapet_copy_request request = {.source_path = "s", .target_path = "t", .no_probe = 1, .passes = 2};
    if (job != NULL)
        return;
    make_source();
    request.source = request.target = bed_store();
    request.changes = (parapet_copy_changes){.chunks = "8,2"};
    task.request = &request;
    require(pp_copy_task_open(&task, "s", "t", false) == PARAPET_OK);
    require(pp_copy_task_look(&task) == PARAPET_OK && pp_copy_task_version(&task) == PARAPET_OK);
    require(pp_copy_decide(&task, true) == PARAPET_OK);
    read_job(&job, &job_bytes);
    described_bytes = (size_t)(strstr(job, "\n\n") - job);
}

static void put_signed(const void *before, size_t before_bytes, const void *data, size_t bytes)
{
    pp_text text = {0};
    pp_text_add_bytes(&text, before, before_bytes);
    pp_text_add_bytes(&text, data, bytes);
    pp_text_add(&text, "crc32c: %08x\n", (unsigned)pp_crc32c(0, text.data, text.bytes));
    bed_put_text(JOB, &text);
    pp_text_free(&text);
}

static const unsigned char old_document[PP_SHA256_BYTES];

static void read_log(const unsigned char *data, size_t bytes)
{
    pp_copy_finished log = {.store = pp_store_backend(bed_store())};
    parapet_copy_request request = {.resume = 1};
    long live;
    bed_put(LOG, data, bytes);
    live = pp_memory_live_count();
    require(pp_text_duplicate(&log.key, LOG) == PARAPET_OK);
    if (pp_copy_finished_open(&log, &request, "g") == PARAPET_OK)
        require(pp_copy_finished_check(&log, "g/a", 0x1234) != PARAPET_OK ||
                !pp_copy_finished_is_old(&log, "g/a", old_document, false));
    pp_copy_finished_clear(&log);
    require(pp_memory_live_count() == live || bytes == 0);
    require(pp_store_remove(pp_store_backend(bed_store()), LOG) == PARAPET_OK);
}

static void take_up(void)
{
    char *was = NULL, *is = NULL;
    size_t was_bytes, is_bytes;
    task.first_pass = 0;
    task.has_holes = false;
    read_job(&was, &was_bytes);
    if (pp_copy_state_read(&task) == PARAPET_OK) {
        require(pp_copy_state_write(&task) == PARAPET_OK);
        read_job(&is, &is_bytes);
        require(was_bytes == is_bytes && memcmp(was, is, is_bytes) == 0);
    }
    pp_free(was);
    pp_free(is);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    long live;
    begin_copy();
    if (bytes == 0)
        return 0;
    bed_put(FINISHED, "whole\n", 6);
    bed_put(JOB, job, job_bytes);
    if (data[0] == 's')
        put_signed(NULL, 0, data + 1, bytes - 1);
    else if (data[0] == 'p')
        put_signed(job, described_bytes, data + 1, bytes - 1);
    else if (data[0] == 'f')
        bed_put(FINISHED, data + 1, bytes - 1);
    else if (data[0] == 'l')
        read_log(data + 1, bytes - 1);
    else
        bed_put(JOB, data, bytes);
    live = pp_memory_live_count();
    take_up();
    require(pp_memory_live_count() == live);
    return 0;
}
