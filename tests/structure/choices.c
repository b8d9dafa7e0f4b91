/* A boolean that is neither 0 nor 1, and a choice that is none of its enum, is refused: each of every struct that a
 * caller fills in and of every call that takes one, in a sentence with its name, its value and what is accepted. */
#include <parapet_plan.h>
#include <stdio.h>
#include <string.h>

static parapet_store *store;
static const int64_t one[1] = {1}, mesh[1] = {1};

static parapet_status open_store(const void *given)
{
    parapet_store *made = NULL;
    return parapet_store_open(&made, MPI_COMM_NULL, "memory:other", PARAPET_CREATE, given);
}

static parapet_status create_array(const void *given)
{
    parapet_array_spec spec = *(const parapet_array_spec *)given;
    parapet_array *made = NULL;
    spec.ndim = 1;
    spec.type = PARAPET_INT32;
    spec.shape = one;
    return parapet_array_create(&made, store, "refused", &spec);
}

static parapet_status copy(const void *given)
{
    parapet_copy_request request = *(const parapet_copy_request *)given;
    request.source = request.target = store;
    request.source_path = "a";
    request.target_path = "b";
    return parapet_copy(&request, NULL);
}

static parapet_status copy_changed(const void *given)
{
    parapet_copy_request request = {.changes = *(const parapet_copy_changes *)given};
    return copy(&request);
}

static parapet_status plan_copy(const void *given)
{
    parapet_copy_plan_request request = *(const parapet_copy_plan_request *)given;
    char *text = NULL;
    request.source = (parapet_array_spec){.ndim = 1, .type = PARAPET_INT32, .shape = one};
    return parapet_copy_plan_print(&request, &text, NULL);
}

static parapet_status plan_transfer(const void *given)
{
    parapet_transfer_plan_request request = *(const parapet_transfer_plan_request *)given;
    char *text = NULL;
    request.spec = (parapet_array_spec){.ndim = 1, .type = PARAPET_INT32, .shape = one};
    request.distribution = (parapet_distribution){.ndim = 1, .mesh = mesh};
    request.server = -1;
    return parapet_transfer_plan_print(&request, &text, NULL);
}

/* Parameters. */

static parapet_status collect(const void *given)
{
    return parapet_store_collect(store, "", *(const int *)given, NULL, NULL);
}

static parapet_status remove_recursively(const void *given)
{
    return parapet_store_remove(store, "a", *(const int *)given, 1, NULL, NULL);
}

static parapet_status remove_or_tell(const void *given)
{
    return parapet_store_remove(store, "a", 0, *(const int *)given, NULL, NULL);
}

static parapet_status file_write(const void *given)
{
    parapet_file_request request = *(const parapet_file_request *)given;
    request.source = store;
    request.source_path = "a";
    request.file = "a.npy";
    return parapet_file_write(&request, NULL);
}

static parapet_status plan_copy_request(const void *given)
{
    parapet_copy_request request = {.source = store, .source_path = "a", .target = store, .target_path = "b"};
    char *text = NULL;
    return parapet_copy_request_plan_print(&request, *(const int *)given, &text, NULL);
}

static parapet_status check(const void *given)
{
    parapet_array *array = NULL;
    parapet_check_summary summary;
    parapet_status status = parapet_array_open(&array, store, "a");
    if (status == PARAPET_OK)
        status = parapet_array_check(array, *(const parapet_check_depth *)given, NULL, NULL, &summary);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status start(const void *given)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status = parapet_checkpoint_begin(&checkpoint, store, "restart", NULL);
    parapet_request *request = NULL;
    if (status == PARAPET_OK)
        status = parapet_checkpoint_start(&request, &checkpoint, NULL, 0, *(const parapet_buffering *)given, NULL);
    if (status == PARAPET_OK)
        return parapet_request_wait(&request);
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

static parapet_status start_write(const void *given)
{
    parapet_array *array = NULL;
    parapet_request *request = NULL;
    parapet_status status = parapet_array_open(&array, store, "a");
    if (status == PARAPET_OK && (status = parapet_array_start_write(&request, array, NULL, 0,
                                                                    *(const parapet_buffering *)given)) == PARAPET_OK)
        status = parapet_request_wait(&request);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status start_writes(const void *given)
{
    parapet_array_parts list = {0};
    parapet_request *request = NULL;
    parapet_status status = parapet_array_open(&list.array, store, "a");
    if (status == PARAPET_OK &&
        (status = parapet_arrays_start_write(&request, &list, 1, *(const parapet_buffering *)given)) == PARAPET_OK)
        status = parapet_request_wait(&request);
    (void)parapet_array_close(&list.array);
    return status;
}

static parapet_status start_append(const void *given)
{
    static const char *const names[] = {"u"};
    const int64_t shape[2] = {0, 1};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape};
    parapet_series_spec described = {.count = 1, .names = names, .specs = &spec};
    parapet_step step = {0};
    parapet_series *series = NULL;
    parapet_request *request = NULL;
    static int number;
    char path[32];
    parapet_status status;
    (void)snprintf(path, sizeof path, "series%d", number++);
    status = parapet_series_create(&series, store, path, &described);
    if (status == PARAPET_OK && (status = parapet_series_start_append(
                                     &request, series, 0, &step, *(const parapet_buffering *)given)) == PARAPET_OK)
        status = parapet_request_wait(&request);
    (void)parapet_series_close(&series);
    return status;
}

static parapet_status open_in_mode(const void *given)
{
    parapet_store *made = NULL;
    return parapet_store_open(&made, MPI_COMM_NULL, "memory:other", *(const parapet_mode *)given, NULL);
}

typedef struct choice_case {
    const char *type, *field;
    size_t offset;
    parapet_status (*use)(const void *given);
} choice_case;

#define FIELD(type, field, use)                                                                                      \
    {                                                                                                                \
#type, #field, offsetof(type, field), use                                                                    \
    }
#define PARAMETER(function, name, use)                                                                               \
    {                                                                                                                \
#function, #name, 0, use                                                                                     \
    }

/* That none is forgotten, check_structs.py knows. */
static const choice_case cases[] = {
    FIELD(parapet_store_options, io_thread, open_store),
    FIELD(parapet_store_options, direct_io, open_store),
    FIELD(parapet_store_options, durability, open_store),
    FIELD(parapet_store_options, elide_fill, open_store),
    FIELD(parapet_store_options, ignore_checksums, open_store),
    FIELD(parapet_store_options, require_sealed, open_store),
    FIELD(parapet_store_options, ignore_seal, open_store),
    FIELD(parapet_store_options, ignore_launcher, open_store),
    FIELD(parapet_store_options, owners, open_store),
    FIELD(parapet_store_options, sharing, open_store),
    FIELD(parapet_store_options, keep_descriptions, open_store),
    FIELD(parapet_store_options, transport, open_store),
    FIELD(parapet_store_options, locks, open_store),
    FIELD(parapet_store_options, holes, open_store),
    FIELD(parapet_store_options, takeover, open_store),
    FIELD(parapet_store_options, no_helper, open_store),
    FIELD(parapet_store_options, write_back, open_store),
    FIELD(parapet_array_spec, unsharded, create_array),
    FIELD(parapet_array_spec, no_checksum, create_array),
    FIELD(parapet_array_spec, overwrite, create_array),
    FIELD(parapet_copy_changes, no_checksum, copy_changed),
    FIELD(parapet_copy_request, overwrite, copy),
    FIELD(parapet_copy_request, resume, copy),
    FIELD(parapet_copy_request, verify, copy),
    FIELD(parapet_copy_request, no_probe, copy),
    FIELD(parapet_copy_request, reading, copy),
    FIELD(parapet_copy_request, cooperation, copy),
    FIELD(parapet_file_request, overwrite, file_write),
    FIELD(parapet_file_request, verify, file_write),
    FIELD(parapet_file_request, dry_run, file_write),
    FIELD(parapet_transfer_plan_request, is_read, plan_transfer),
    FIELD(parapet_transfer_plan_request, owners, plan_transfer),
    FIELD(parapet_transfer_plan_request, sharing, plan_transfer),
    FIELD(parapet_transfer_plan_request, as_json, plan_transfer),
    FIELD(parapet_copy_plan_request, reading, plan_copy),
    FIELD(parapet_copy_plan_request, cooperation, plan_copy),
    FIELD(parapet_copy_plan_request, as_json, plan_copy),
    PARAMETER(parapet_store_open, mode, open_in_mode),
    PARAMETER(parapet_array_check, depth, check),
    PARAMETER(parapet_checkpoint_start, buffering, start),
    PARAMETER(parapet_array_start_write, buffering, start_write),
    PARAMETER(parapet_arrays_start_write, buffering, start_writes),
    PARAMETER(parapet_series_start_append, buffering, start_append),
    PARAMETER(parapet_store_collect, dry_run, collect),
    PARAMETER(parapet_store_remove, recursive, remove_recursively),
    PARAMETER(parapet_store_remove, dry_run, remove_or_tell),
    PARAMETER(parapet_copy_request_plan_print, as_json, plan_copy_request),
};

/* Large enough for every struct, and as well aligned. */
typedef union any_struct {
    parapet_store_options options;
    parapet_array_spec spec;
    parapet_copy_request copy;
    parapet_file_request file;
    parapet_transfer_plan_request transfer_plan;
    parapet_copy_plan_request copy_plan;
} any_struct;

static int try_value(const choice_case *tried, int value)
{
    any_struct given;
    char expected[128];
    parapet_status status;
    memset(&given, 0, sizeof given);
    memcpy((char *)&given + tried->offset, &value, sizeof value);
    status = tried->use(&given);
    (void)snprintf(expected, sizeof expected, "%s is %d, but must be ", tried->field, value);
    if (status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), expected) != NULL)
        return 0;
    printf("%s, %s is %d: %s: %s\n", tried->type, tried->field, value, parapet_status_name(status),
           parapet_error_message());
    return 1;
}

int main(void)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT32, .shape = one};
    parapet_array *array = NULL;
    int failures = 0;
    size_t i;
    if (parapet_store_open(&store, MPI_COMM_NULL, "memory:choices", PARAPET_CREATE, NULL) != PARAPET_OK ||
        parapet_array_create(&array, store, "a", &spec) != PARAPET_OK || parapet_array_close(&array) != PARAPET_OK) {
        printf("no store: %s\n", parapet_error_message());
        return 1;
    }
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        failures += try_value(&cases[i], -1) + try_value(&cases[i], 9) + try_value(&cases[i], 256);
    return failures == 0 && parapet_store_close(&store) == PARAPET_OK ? 0 : 1;
}
