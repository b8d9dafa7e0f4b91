/* Copies of one array into other chunks, one beside the other; one that was cut off is resumed. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

enum { ROWS = 128, COLUMNS = 256, SOURCE = 1 };

static const int64_t shape[2] = {ROWS, COLUMNS};
static uint32_t values[ROWS * COLUMNS];

static void name_copy(char name[32], int64_t number)
{
    (void)snprintf(name, 32, "copy-%" PRId64, number);
}

static parapet_status make_source(const job *self, parapet_store *store)
{
    static const int64_t chunks[2] = {16, COLUMNS}, shards[2] = {64, COLUMNS};
    parapet_array_spec spec = {
        .type = PARAPET_UINT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    int64_t start[2] = {0}, count[2] = {0, COLUMNS}, i;
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, "source", &spec), closed;
    if (status != PARAPET_OK)
        return status;
    job_rows(self, ROWS, &start[0], &count[0]);
    for (i = 0; i < count[0] * COLUMNS; i++)
        values[i] = job_value(0, SOURCE, start[0] * COLUMNS + i);
    if ((status = parapet_array_write(array, &part, 1)) == PARAPET_OK)
        status = parapet_array_seal(array);
    closed = parapet_array_close(&array);
    return status != PARAPET_OK ? status : closed;
}

/* Every other copy goes through an intermediate array. */
static parapet_status copy(parapet_store *store, int64_t number, bool resumes)
{
    char name[32];
    parapet_copy_request request = {.source = store,
                                    .source_path = "source",
                                    .target = store,
                                    .target_path = name,
                                    .changes = {.chunks = "128,16", .shards = "128,64", .codec = "zstd:1"},
                                    .unit_bytes = 1 << 14,
                                    .resume = resumes,
                                    .passes = 1 + number % 2,
                                    .no_probe = 1};
    name_copy(name, number);
    return parapet_copy(&request, NULL);
}

static bool has_array(parapet_store *store, const char *path)
{
    parapet_array *array = NULL;
    bool is_there = parapet_array_open(&array, store, path) == PARAPET_OK;
    (void)parapet_array_close(&array);
    return is_there;
}

static int64_t count_copies(parapet_store *store)
{
    char name[32];
    int64_t number = 0;
    do
        name_copy(name, ++number);
    while (has_array(store, name));
    return number - 1;
}

static parapet_status copy_once(const job *self, parapet_store *store, int64_t number, bool resumes)
{
    parapet_status status;
    job_mark(self, "begin", number);
    if ((status = copy(store, number, resumes)) == PARAPET_OK)
        job_mark(self, "done", number);
    return status;
}

static int write_copies(const job *self)
{
    parapet_store *store = NULL;
    int64_t number = 0, i;
    int code = JOB_SOUND;
    parapet_status status = job_open(self, PARAPET_CREATE, &store);
    if (status == PARAPET_OK && !has_array(store, "source"))
        status = make_source(self, store);
    if (status == PARAPET_OK)
        number = count_copies(store);
    for (i = 0; i < self->count && status == PARAPET_OK; i++)
        status = copy_once(self, store, ++number, false);
    if (status != PARAPET_OK)
        code = job_failed(self, "copy", number, status);
    (void)parapet_store_close(&store);
    return code;
}

static int verify_copy(const job *self, parapet_store *store, int64_t number)
{
    int64_t start[2] = {0}, i;
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    char name[32];
    parapet_status status;
    name_copy(name, number);
    memset(values, 0, sizeof values);
    if ((status = parapet_array_open(&array, store, name)) == PARAPET_OK)
        status = parapet_array_read(array, &part, 1);
    (void)parapet_array_close(&array);
    if (status != PARAPET_OK)
        return job_violated(self, "%s does not read: %s", name, parapet_error_message());
    for (i = 0; i < ROWS * COLUMNS; i++)
        if (values[i] != job_value(0, SOURCE, i))
            return job_violated(self, "element %" PRId64 " of %s is wrong", i, name);
    return JOB_SOUND;
}

/* What is visible is whole, whether it was acknowledged or not; what is not is resumed. */
static int finish_copy(const job *self, parapet_store *store, int64_t number)
{
    char name[32];
    name_copy(name, number);
    if (!has_array(store, name)) {
        parapet_status status = copy(store, number, true);
        if (status != PARAPET_OK)
            return job_violated(self, "%s cannot be resumed: %s", name, parapet_error_message());
    }
    return verify_copy(self, store, number);
}

static int verify_copies(const job *self)
{
    parapet_store *store = NULL;
    int64_t number;
    int code = JOB_SOUND;
    if (job_open(self, PARAPET_UPDATE, &store) != PARAPET_OK)
        return job_violated(self, "the store does not open: %s", parapet_error_message());
    for (number = 1; number <= self->done && code == JOB_SOUND; number++)
        code = verify_copy(self, store, number);
    for (; number <= self->begun && code == JOB_SOUND; number++)
        code = finish_copy(self, store, number);
    if (code == JOB_SOUND && parapet_store_collect(store, "", 0, NULL, NULL) != PARAPET_OK)
        code = job_violated(self, "what is left over cannot be removed: %s", parapet_error_message());
    if (code == JOB_SOUND && copy_once(self, store, self->begun + 1, false) != PARAPET_OK)
        code = job_violated(self, "no further copy can be made: %s", parapet_error_message());
    if (code == JOB_SOUND)
        code = verify_copy(self, store, self->begun + 1);
    (void)parapet_store_close(&store);
    return code;
}

const power_subject copy_subject = {"copy", write_copies, verify_copies};
