#include "checkpoint_bed.h"

#include <inttypes.h>
#include <parapet_store.h>
#include <unistd.h>

#include "crash.h"
#include "support.h"

#define PLACE "run/restart"

enum { ROWS = 12, COLUMNS = 10, LENGTH = 40, ELEMENTS = ROWS * COLUMNS };

/* ---- The arrays of a generation ---- */

/* What the process has of them. */
typedef struct fields {
    int32_t u[ELEMENTS];
    double v[LENGTH];
    int64_t start[2];
    parapet_part parts[2];
    parapet_checkpoint_item items[2];
} fields;

static const int64_t u_shape[2] = {ROWS, COLUMNS}, u_chunks[2] = {3, 5}, u_shards[2] = {6, 5};
static const int64_t v_shape[1] = {LENGTH}, v_chunks[1] = {5}, v_shards[1] = {20};
static const parapet_array_spec specs[2] = {
    {.type = PARAPET_INT32, .ndim = 2, .shape = u_shape, .chunks = u_chunks, .shards = u_shards, .codec = "none"},
    {.type = PARAPET_FLOAT64, .ndim = 1, .shape = v_shape, .chunks = v_chunks, .shards = v_shards, .codec = "zstd:1"},
};

static void fields_init(fields *made)
{
    *made = (fields){0};
    made->parts[0] = (parapet_part){.ndim = 2, .start = made->start, .count = u_shape, .data = made->u};
    made->parts[1] = (parapet_part){.ndim = 1, .start = made->start, .count = v_shape, .data = made->v};
    made->items[0] =
        (parapet_checkpoint_item){.name = "u", .spec = &specs[0], .parts = &made->parts[0], .part_count = 1};
    made->items[1] =
        (parapet_checkpoint_item){.name = "v", .spec = &specs[1], .parts = &made->parts[1], .part_count = 1};
}

static int32_t value_of(int64_t tag, int i)
{
    return (int32_t)(tag * 100003 + i * 7);
}

static void fields_fill(fields *made, int64_t tag)
{
    int i;
    for (i = 0; i < ELEMENTS; i++)
        made->u[i] = value_of(tag, i);
    for (i = 0; i < LENGTH; i++)
        made->v[i] = value_of(tag, i) / 8.0;
}

static bool fields_are_of(const fields *seen, int64_t tag)
{
    fields wanted;
    fields_init(&wanted);
    fields_fill(&wanted, tag);
    return memcmp(seen->u, wanted.u, sizeof wanted.u) == 0 && memcmp(seen->v, wanted.v, sizeof wanted.v) == 0;
}

/* ---- Making generations ---- */

static void add_known(checkpoint_bed *used, int64_t generation, int64_t tag)
{
    if (used->known_count == CHECKPOINT_MOST) {
        memmove(used->known, used->known + 1, (CHECKPOINT_MOST - 1) * sizeof used->known[0]);
        used->known_count--;
    }
    used->known[used->known_count++] = (checkpoint_made){.generation = generation, .tag = tag};
    used->first_open = tag + 1;
}

static parapet_status fill_checkpoint(parapet_checkpoint *checkpoint, int64_t tag)
{
    char text[32];
    fields own;
    parapet_status status;
    fields_init(&own);
    fields_fill(&own, tag);
    (void)snprintf(text, sizeof text, "%" PRId64, tag);
    if ((status = parapet_checkpoint_put(checkpoint, own.items, 1)) != PARAPET_OK ||
        (status = parapet_checkpoint_put(checkpoint, own.items + 1, 1)) != PARAPET_OK)
        return status;
    return parapet_checkpoint_attribute_set(checkpoint, "tag", text);
}

static parapet_status make_one(checkpoint_bed *used, parapet_store *store)
{
    parapet_checkpoint_options options = {.keep = CHECKPOINT_KEEP};
    parapet_checkpoint *checkpoint = NULL;
    pp_failure failure = {0};
    int64_t generation, tag = ++used->tag;
    parapet_status status = parapet_checkpoint_begin(&checkpoint, store, PLACE, &options);
    if (status == PARAPET_OK && (status = fill_checkpoint(checkpoint, tag)) != PARAPET_OK) {
        pp_failure_take(&failure, status);
        (void)parapet_checkpoint_abort(&checkpoint);
        return pp_failure_put(&failure);
    }
    if (status == PARAPET_OK && (status = parapet_checkpoint_commit(&checkpoint, &generation)) == PARAPET_OK)
        add_known(used, generation, tag);
    return status;
}

static parapet_status open_store(pp_store *backend, parapet_store **store)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .threads = 1, .memory_bytes = 8 << 20};
    return pp_store_open_over(store, MPI_COMM_NULL, backend, PARAPET_CREATE, &options);
}

static parapet_status close_store(parapet_store **store, parapet_status status)
{
    pp_failure failure = {0};
    pp_failure_take(&failure, status);
    (void)parapet_store_close(store);
    return pp_failure_put(&failure);
}

parapet_status checkpoint_bed_make(checkpoint_bed *used, int count, bool goes_on)
{
    parapet_store *store = NULL;
    pp_failure failure = {0};
    parapet_status status = open_store(used->faulty, &store);
    int i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < count && (goes_on || failure.status == PARAPET_OK); i++)
        pp_failure_take(&failure, make_one(used, store));
    return close_store(&store, pp_failure_put(&failure));
}

/* ---- Restoring ---- */

static parapet_status read_generation(parapet_restore *restore, checkpoint_made *found, bool *is_whole)
{
    parapet_restore_info info;
    char *json = NULL;
    fields seen;
    parapet_status status;
    fields_init(&seen);
    if ((status = parapet_restore_get_info(restore, &info)) != PARAPET_OK ||
        (status = parapet_restore_get(restore, seen.items, 2)) != PARAPET_OK ||
        (status = parapet_restore_attribute_get(restore, "tag", &json)) != PARAPET_OK)
        return status;
    *found = (checkpoint_made){.generation = info.generation, .tag = strtoll(json, NULL, 10)};
    *is_whole = info.array_count == 2 && info.passed_over == 0 && fields_are_of(&seen, found->tag);
    parapet_free(json);
    return PARAPET_OK;
}

/* A generation, 0 for the newest; *is_whole: all its values follow from its tag, and none was passed over. */
static parapet_status restore_generation(parapet_store *store, int64_t generation, checkpoint_made *found,
                                         bool *is_whole)
{
    parapet_restore *restore = NULL;
    pp_failure failure = {0};
    parapet_status status = parapet_restore_open(&restore, store, PLACE, generation);
    if (status != PARAPET_OK)
        return status;
    pp_failure_take(&failure, read_generation(restore, found, is_whole));
    pp_failure_take(&failure, parapet_restore_close(&restore));
    return pp_failure_put(&failure);
}

parapet_status checkpoint_bed_recover(checkpoint_bed *used)
{
    parapet_store *store = NULL;
    checkpoint_made newest;
    bool is_whole;
    parapet_status status = open_store(used->faulty, &store);
    if (status != PARAPET_OK)
        return status;
    if ((status = restore_generation(store, 0, &newest, &is_whole)) == PARAPET_OK &&
        (status = parapet_store_collect(store, "", 0, NULL, NULL)) == PARAPET_OK)
        status = make_one(used, store);
    return close_store(&store, status);
}

/* ---- Looking at what is there ---- */

typedef struct listing {
    int64_t numbers[CHECKPOINT_MOST];
    char paths[CHECKPOINT_MOST][64];
    int count;
} listing;

static int add_listed(void *context, int64_t generation, const char *path)
{
    listing *list = context;
    if (list->count == CHECKPOINT_MOST)
        return 1;
    (void)snprintf(list->paths[list->count], sizeof list->paths[0], "%s/", path);
    list->numbers[list->count++] = generation;
    return 0;
}

/* Keeps the sentence; false. */
static bool find_wrong(checkpoint_bed *used, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool find_wrong(checkpoint_bed *used, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    (void)vsnprintf(used->problem, sizeof used->problem, format, rest);
    va_end(rest);
    return false;
}

static const checkpoint_made *find_known(const checkpoint_bed *used, int64_t generation)
{
    int i;
    for (i = used->known_count - 1; i >= 0; i--)
        if (used->known[i].generation == generation)
            return &used->known[i];
    return NULL;
}

/* One generation that is listed. */
static bool check_one(checkpoint_bed *used, parapet_store *store, int64_t number, bool is_strict)
{
    const checkpoint_made *known = find_known(used, number);
    checkpoint_made found = {0};
    bool is_whole = false;
    parapet_status status = restore_generation(store, number, &found, &is_whole);
    if (status != PARAPET_OK)
        return find_wrong(used, "generation %" PRId64 " is listed, but: %s: %s", number, parapet_status_name(status),
                          parapet_error_message());
    if (!is_whole)
        return find_wrong(used, "generation %" PRId64 " of attempt %" PRId64 " has wrong values", number, found.tag);
    if (known != NULL)
        return known->tag == found.tag ||
               find_wrong(used, "generation %" PRId64 " is of attempt %" PRId64 " now", number, found.tag);
    if (is_strict || found.tag < used->first_open || found.tag > used->tag ||
        (used->known_count > 0 && number < used->known[used->known_count - 1].generation))
        return find_wrong(used, "generation %" PRId64 " of attempt %" PRId64 " should not be there", number,
                          found.tag);
    add_known(used, number, found.tag);
    return true;
}

static bool is_listed(const listing *list, int64_t generation)
{
    int i;
    for (i = 0; i < list->count; i++)
        if (list->numbers[i] == generation)
            return true;
    return false;
}

static bool check_newest(checkpoint_bed *used, parapet_store *store)
{
    int64_t expected = used->known[used->known_count - 1].generation;
    checkpoint_made found = {0};
    bool is_whole = false;
    parapet_status status = restore_generation(store, 0, &found, &is_whole);
    if (status != PARAPET_OK)
        return find_wrong(used, "the newest, %" PRId64 ", does not open: %s: %s", expected,
                          parapet_status_name(status), parapet_error_message());
    return (is_whole && found.generation == expected) ||
           find_wrong(used, "generation %" PRId64 " was opened and not %" PRId64, found.generation, expected);
}

static bool check_generations(checkpoint_bed *used, parapet_store *store, listing *list, bool is_strict)
{
    int i;
    assert_ok(parapet_checkpoint_list(store, PLACE, add_listed, list));
    for (i = list->count - 1; i >= 0; i--)
        if (!check_one(used, store, list->numbers[i], is_strict))
            return false;
    for (i = used->known_count > CHECKPOINT_KEEP ? used->known_count - CHECKPOINT_KEEP : 0; i < used->known_count;
         i++)
        if (!is_listed(list, used->known[i].generation))
            return find_wrong(used, "generation %" PRId64 " of attempt %" PRId64 " is lost",
                              used->known[i].generation, used->known[i].tag);
    return check_newest(used, store);
}

bool checkpoint_bed_check(checkpoint_bed *used, bool is_strict)
{
    parapet_store *store = NULL;
    listing list = {0};
    bool is_right;
    assert_ok(open_store(used->inner, &store));
    is_right = check_generations(used, store, &list, is_strict);
    assert_ok(parapet_store_close(&store));
    return is_right;
}

static bool belongs(const listing *list, const char *key)
{
    static const char *const documents[] = {"zarr.json", "run/zarr.json", PLACE "/zarr.json"};
    char record[96];
    size_t i;
    int g;
    for (i = 0; i < sizeof documents / sizeof documents[0]; i++)
        if (strcmp(key, documents[i]) == 0)
            return true;
    for (g = 0; g < list->count; g++) {
        (void)snprintf(record, sizeof record, PLACE "/__parapet/commits/%08" PRId64, list->numbers[g]);
        if (strcmp(key, record) == 0 ||
            (strncmp(key, list->paths[g], strlen(list->paths[g])) == 0 && strstr(key, "/tmp/") == NULL))
            return true;
    }
    return false;
}

bool checkpoint_bed_check_collected(checkpoint_bed *used)
{
    parapet_store *store = NULL;
    listing list = {0};
    bool is_right = true;
    image seen;
    size_t i;
    assert_ok(open_store(used->inner, &store));
    assert_ok(parapet_store_collect(store, "", 0, NULL, NULL));
    assert_ok(parapet_checkpoint_list(store, PLACE, add_listed, &list));
    image_take(&seen, used->inner);
    for (i = 0; i < seen.count && is_right; i++)
        is_right =
            belongs(&list, seen.objects[i].key) || find_wrong(used, "collecting has left %s", seen.objects[i].key);
    image_free(&seen);
    assert_ok(parapet_store_close(&store));
    return is_right;
}

/* ---- The bed ---- */

static void take_first(image *taken)
{
    static image first;
    checkpoint_bed work = {.plan = {.fail_at = -1}};
    if (first.count == 0) {
        assert_ok(pp_store_memory_build(&work.inner, NULL));
        work.faulty = work.inner;
        assert_ok(checkpoint_bed_make(&work, 1, false));
        image_take(&first, work.inner);
        pp_store_free(work.inner);
    }
    *taken = first;
}

void checkpoint_bed_build(checkpoint_bed *made, checkpoint_storage storage)
{
    pp_posix_options options = {.create = true, .not_durable = true};
    char path[96];
    image first;
    *made = (checkpoint_bed){.storage = storage, .plan = {.fail_at = -1}, .tag = 1};
    take_first(&first);
    add_known(made, 1, 1);
    if (storage == CHECKPOINT_IN_DIRECTORY) {
        (void)snprintf(made->folder, sizeof made->folder, "%s/parapet-points-XXXXXX",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".");
        assert_non_null(mkdtemp(made->folder));
        (void)snprintf(path, sizeof path, "%s/store", made->folder);
        assert_ok(pp_store_posix_build(&made->inner, path, &options));
    } else {
        assert_ok(pp_store_memory_build(&made->inner, NULL));
    }
    crash_prepare(made->inner, &made->plan);
    image_put(&first, made->inner);
    assert_ok(pp_store_faulty_build(&made->faulty, made->inner, &made->plan));
}

void checkpoint_bed_free(checkpoint_bed *used)
{
    char command[96];
    pp_store_free(used->faulty);
    pp_store_free(used->inner);
    (void)snprintf(command, sizeof command, "rm -rf %s", used->folder);
    if (used->folder[0] != '\0')
        assert_int_equal(system(command), 0);
}
