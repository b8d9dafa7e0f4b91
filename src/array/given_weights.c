#include "array/given_weights.h"

#include <parapet_store.h>

#include "array/epochs.h"
#include "array/rank0.h"
#include "array/store_handle.h"

parapet_status pp_given_weights_read(pp_given_speeds *speeds, const char *path, int server_count)
{
    pp_posix_options options = {.read_only = true};
    pp_store *folder = NULL;
    char *key = NULL, *text = NULL;
    size_t bytes = 0;
    parapet_status status;
    *speeds = (pp_given_speeds){0};
    if ((status = pp_store_posix_build_around(&folder, path, &options, &key)) == PARAPET_OK &&
        (status = pp_store_read_all(folder, key, PP_WEIGHTS_FILE_BYTES_MOST, &text, &bytes)) == PARAPET_OK &&
        (status = pp_weights_file_parse(speeds, text, bytes)) == PARAPET_OK)
        status = pp_given_speeds_check(speeds, server_count);
    pp_free(text);
    pp_free(key);
    pp_store_free(folder);
    return status != PARAPET_OK ? pp_fail_within(status, "weights file %s", path) : PARAPET_OK;
}

/* What every rank has of it. */
typedef struct given {
    parapet_store *store;
    pp_given_speeds speeds;
} given;

static parapet_status read_speeds(void *subject, const void *path)
{
    given *self = subject;
    return pp_given_weights_read(&self->speeds, path, self->store->server_count);
}

static parapet_status print_speeds(void *subject, pp_text *bytes)
{
    const pp_given_speeds *speeds = &((const given *)subject)->speeds;
    int i;
    for (i = 0; i < speeds->server_count; i++) {
        pp_bytes_add_u64(bytes, (uint64_t)speeds->writing[i]);
        pp_bytes_add_u64(bytes, (uint64_t)speeds->reading[i]);
    }
    return bytes->status;
}

static parapet_status adopt_speeds(void *subject, pp_cursor *bytes)
{
    given *self = subject;
    size_t servers = (size_t)self->store->server_count, i;
    parapet_status status;
    if ((status = pp_given_speeds_init(&self->speeds, servers)) != PARAPET_OK)
        return status;
    for (i = 0; i < servers; i++) {
        self->speeds.writing[i] = (int64_t)pp_cursor_u64(bytes);
        self->speeds.reading[i] = (int64_t)pp_cursor_u64(bytes);
    }
    return PARAPET_OK;
}

parapet_status pp_given_weights_begin(parapet_store *store)
{
    given self = {.store = store};
    pp_rank0_task task = {.subject = &self,
                          .argument = store->options->weights,
                          .work = read_speeds,
                          .print = print_speeds,
                          .adopt = adopt_speeds};
    parapet_status status;
    if (store->epochs == NULL || store->options->weights == NULL || store->server_count == 1)
        return PARAPET_OK;
    if ((status = pp_rank0_do(store->comm, "reading the weights file", &task)) == PARAPET_OK)
        status = pp_comm_agree(store->comm, "weighing servers", pp_epochs_give(store, &self.speeds));
    pp_given_speeds_clear(&self.speeds);
    return status;
}
