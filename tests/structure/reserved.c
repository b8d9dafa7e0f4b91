/* A reserved word that is not 0 is refused, each word of every struct that a caller fills in, in every call that
 * takes it: {0} must keep its meaning when a later version uses the word. */
#include <parapet_plan.h>
#include <stdio.h>
#include <string.h>

static parapet_store *store;
static parapet_array *array;
static const int64_t zero[1] = {0}, one[1] = {1}, none[1] = {0};

static char sentence[1024];

/* Keeps the sentence before handles are closed. */
static parapet_status note(parapet_status status)
{
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    return status;
}

static parapet_array_spec make_spec(void)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT32, .shape = one};
    return spec;
}

static parapet_part make_part(void)
{
    static int32_t value;
    parapet_part part = {.ndim = 1, .start = zero, .count = one, .data = &value};
    return part;
}

static parapet_status use_store_options(int word)
{
    parapet_store_options options = {0};
    parapet_store *made = NULL;
    parapet_status status;
    options.reserved[word] = 1;
    status = note(parapet_store_open(&made, MPI_COMM_NULL, "memory:other", PARAPET_CREATE, &options));
    (void)parapet_store_close(&made);
    return status;
}

static parapet_status use_array_spec(int word)
{
    parapet_array_spec spec = make_spec();
    parapet_array *made = NULL;
    parapet_status status;
    spec.reserved[word] = 1;
    status = note(parapet_array_create(&made, store, "refused", &spec));
    (void)parapet_array_close(&made);
    return status;
}

static parapet_status use_part(int word)
{
    parapet_part part = make_part();
    parapet_status status;
    part.reserved[word] = 1;
    status = note(parapet_array_write(array, &part, 1));
    if (status == PARAPET_ERR_ARGUMENT)
        status = note(parapet_array_read_local(array, &part, 1));
    return status == PARAPET_ERR_ARGUMENT ? note(parapet_array_read(array, &part, 1)) : status;
}

static parapet_status use_points(int word)
{
    static const int64_t origin[PARAPET_MAX_NDIM] = {0};
    double value = 0;
    parapet_points points = {.ndim = make_part().ndim, .count = 1, .coordinates = origin, .data = &value};
    parapet_status status;
    points.reserved[word] = 1;
    status = note(parapet_array_write_points(array, &points));
    if (status == PARAPET_ERR_ARGUMENT)
        status = note(parapet_array_read_points_local(array, &points));
    return status == PARAPET_ERR_ARGUMENT ? note(parapet_array_read_points(array, &points)) : status;
}

static parapet_status use_runs(int word)
{
    static const int64_t start = 0;
    double value = 0;
    parapet_runs runs = {.count = 1, .starts = &start, .data = &value};
    parapet_status status;
    runs.reserved[word] = 1;
    status = note(parapet_array_write_runs(array, &runs));
    if (status == PARAPET_ERR_ARGUMENT)
        status = note(parapet_array_read_runs_local(array, &runs));
    return status == PARAPET_ERR_ARGUMENT ? note(parapet_array_read_runs(array, &runs)) : status;
}

static parapet_status use_array_parts(int word)
{
    parapet_part part = make_part();
    parapet_array_parts list = {.array = array, .parts = &part, .part_count = 1};
    parapet_status status;
    list.reserved[word] = 1;
    status = note(parapet_arrays_write(&list, 1));
    return status == PARAPET_ERR_ARGUMENT ? note(parapet_arrays_read(&list, 1)) : status;
}

static parapet_status use_distribution(int word)
{
    parapet_distribution distribution = {.ndim = 1, .shape = one, .mesh = one};
    int64_t count, start[1], extent[1];
    parapet_status status;
    distribution.reserved[word] = 1;
    status = note(parapet_distribution_count(&distribution, 0, &count));
    return status == PARAPET_ERR_ARGUMENT ? note(parapet_distribution_box(&distribution, 0, 0, start, extent))
                                          : status;
}

static parapet_copy_request make_copy(void)
{
    parapet_copy_request request = {.source = store, .source_path = "a", .target = store, .target_path = "b"};
    return request;
}

static parapet_status copy(const parapet_copy_request *request)
{
    char *text = NULL;
    parapet_status status = note(parapet_copy(request, NULL));
    if (status == PARAPET_ERR_ARGUMENT)
        status = note(parapet_copy_request_plan_print(request, 0, &text, NULL));
    parapet_free(text);
    return status;
}

static parapet_status use_copy_changes(int word)
{
    parapet_copy_request request = make_copy();
    request.changes.reserved[word] = 1;
    return copy(&request);
}

static parapet_status use_copy_request(int word)
{
    parapet_copy_request request = make_copy();
    request.reserved[word] = 1;
    return copy(&request);
}

static parapet_status use_file_request(int word)
{
    parapet_file_request request = {.source = store, .source_path = "a", .file = "a.npy", .dry_run = 1};
    request.reserved[word] = 1;
    return note(parapet_file_write(&request, NULL));
}

static parapet_status use_transfer_plan_request(int word)
{
    parapet_transfer_plan_request request = {.spec = make_spec(), .server = -1};
    char *text = NULL;
    parapet_status status;
    request.distribution = (parapet_distribution){.ndim = 1, .mesh = one};
    request.reserved[word] = 1;
    status = note(parapet_transfer_plan_print(&request, &text, NULL));
    parapet_free(text);
    return status;
}

static parapet_status use_copy_plan_request(int word)
{
    parapet_copy_plan_request request = {.source = make_spec()};
    char *text = NULL;
    parapet_status status;
    request.reserved[word] = 1;
    status = note(parapet_copy_plan_print(&request, &text, NULL));
    parapet_free(text);
    return status;
}

static parapet_status use_checkpoint_options(int word)
{
    parapet_checkpoint_options options = {0};
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status;
    options.reserved[word] = 1;
    status = note(parapet_checkpoint_begin(&checkpoint, store, "restart", &options));
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

static parapet_status put_item(const parapet_checkpoint_item *item)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status = note(parapet_checkpoint_begin(&checkpoint, store, "restart", NULL));
    if (status == PARAPET_OK)
        status = note(parapet_checkpoint_put(checkpoint, item, 1));
    if (status == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, NULL);
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

static parapet_status start_item(const parapet_checkpoint_item *item)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status = note(parapet_checkpoint_begin(&checkpoint, store, "restart", NULL));
    parapet_request *request = NULL;
    if (status == PARAPET_OK)
        status = note(parapet_checkpoint_start(&request, &checkpoint, item, 1, PARAPET_BUFFERING_COPY, NULL));
    if (status == PARAPET_OK)
        return note(parapet_request_wait(&request));
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

static parapet_status get_item(const parapet_checkpoint_item *item)
{
    parapet_restore *restore = NULL;
    parapet_status status = parapet_restore_open(&restore, store, "restart", 0);
    if (status == PARAPET_OK)
        status = note(parapet_restore_get(restore, item, 1));
    (void)parapet_restore_close(&restore);
    return status;
}

static parapet_status use_checkpoint_item(int word)
{
    parapet_array_spec spec = make_spec();
    parapet_part part = make_part();
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_status status = put_item(&item);
    if (status != PARAPET_OK)
        return status;
    item.reserved[word] = 1;
    if ((status = put_item(&item)) != PARAPET_ERR_ARGUMENT || (status = start_item(&item)) != PARAPET_ERR_ARGUMENT)
        return status;
    return get_item(&item);
}

static parapet_status make_series(int spec_word, int step_word)
{
    static const char *const names[1] = {"x"};
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT32, .shape = none};
    parapet_series_spec all = {.count = 1, .names = names, .specs = &spec};
    parapet_step step = {0};
    parapet_series *series = NULL;
    parapet_status status;
    if (spec_word >= 0)
        all.reserved[spec_word] = 1;
    if (step_word >= 0)
        step.reserved[step_word] = 1;
    status = note(parapet_series_create(&series, store, step_word >= 0 ? "steps" : "series", &all));
    if (status == PARAPET_ERR_EXISTS)
        status = parapet_series_open(&series, store, "steps");
    if (status == PARAPET_OK)
        status = note(parapet_series_append(series, 1, &step));
    (void)parapet_series_close(&series);
    return status;
}

static parapet_status use_series_spec(int word)
{
    return make_series(word, -1);
}

static parapet_status use_step(int word)
{
    return make_series(-1, word);
}

typedef struct reserved_case {
    const char *name;
    int words;
    parapet_status (*use)(int word);
} reserved_case;

#define CASE(type, use)                                                                                              \
    {                                                                                                                \
#type, (int)(sizeof((type *)0)->reserved / sizeof(int64_t)), use                                             \
    }

/* That none is forgotten, check_structs.py knows. */
static const reserved_case cases[] = {
    CASE(parapet_store_options, use_store_options),
    CASE(parapet_array_spec, use_array_spec),
    CASE(parapet_part, use_part),
    CASE(parapet_array_parts, use_array_parts),
    CASE(parapet_points, use_points),
    CASE(parapet_runs, use_runs),
    CASE(parapet_distribution, use_distribution),
    CASE(parapet_copy_changes, use_copy_changes),
    CASE(parapet_copy_request, use_copy_request),
    CASE(parapet_file_request, use_file_request),
    CASE(parapet_transfer_plan_request, use_transfer_plan_request),
    CASE(parapet_copy_plan_request, use_copy_plan_request),
    CASE(parapet_checkpoint_options, use_checkpoint_options),
    CASE(parapet_checkpoint_item, use_checkpoint_item),
    CASE(parapet_series_spec, use_series_spec),
    CASE(parapet_step, use_step),
};

static int try_case(const reserved_case *tried)
{
    int failures = 0, word;
    for (word = 0; word < tried->words; word++) {
        parapet_status status = tried->use(word);
        char expected[128];
        (void)snprintf(expected, sizeof expected, "the reserved words of %s must be 0", tried->name);
        if (status != PARAPET_ERR_ARGUMENT || strstr(sentence, expected) == NULL) {
            printf("%s.reserved[%d]: %s: %s\n", tried->name, word, parapet_status_name(status), sentence);
            failures++;
        }
    }
    return failures;
}

int main(void)
{
    parapet_array_spec spec = make_spec();
    int failures = 0;
    size_t i;
    if (parapet_store_open(&store, MPI_COMM_NULL, "memory:reserved", PARAPET_CREATE, NULL) != PARAPET_OK ||
        parapet_array_create(&array, store, "a", &spec) != PARAPET_OK) {
        printf("no store: %s\n", parapet_error_message());
        return 1;
    }
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        failures += try_case(&cases[i]);
    if (parapet_array_close(&array) != PARAPET_OK || parapet_store_close(&store) != PARAPET_OK)
        failures++;
    return failures == 0 ? 0 : 1;
}
