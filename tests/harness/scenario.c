#include "scenario.h"

#include "support.h"

void bed_build(bed *made, pp_store *inner)
{
    *made = (bed){.inner = inner, .plan = {.fail_at = -1}};
    made->options.io_thread = PARAPET_IO_THREAD_NONE;
    assert_ok(pp_store_faulty_build(&made->faulty, made->inner, &made->plan));
}

void bed_close_handles(bed *used)
{
    (void)parapet_array_close(&used->array);
    (void)parapet_group_close(&used->group);
    assert_ok(parapet_store_close(&used->store));
}

void bed_free(bed *used)
{
    bed_close_handles(used);
    pp_store_free(used->faulty);
    pp_store_free(used->inner);
    *used = (bed){0};
}

void bed_open_handles(bed *used, const scenario *of)
{
    used->mode = of->kind == SCENARIO_READS ? PARAPET_READ : PARAPET_UPDATE;
    if (of->opens >= OPENS_STORE)
        assert_ok(pp_store_open_over(&used->store, MPI_COMM_NULL, used->faulty, used->mode, &used->options));
    if (of->opens == OPENS_GROUP)
        assert_ok(parapet_group_open(&used->group, used->store, ""));
    if (of->opens == OPENS_ARRAY)
        assert_ok(parapet_array_open(&used->array, used->store, "a"));
    if (of->meanwhile != NULL) {
        parapet_store *other = NULL;
        assert_ok(pp_store_open_over(&other, MPI_COMM_NULL, used->inner, PARAPET_UPDATE, &used->options));
        of->meanwhile(other);
        assert_ok(parapet_store_close(&other));
    }
}

static pp_store *fresh_memory(void)
{
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    return memory;
}

void scenario_prepare(const scenario *of, image *before)
{
    bed work;
    bed_build(&work, fresh_memory());
    if (of->prepare != NULL) {
        assert_ok(pp_store_open_over(&work.store, MPI_COMM_NULL, work.faulty, PARAPET_CREATE, &work.options));
        of->prepare(&work);
    }
    bed_close_handles(&work);
    image_take(before, work.inner);
    bed_free(&work);
}

void scenario_bounds(const scenario *of, const image *before, state *old, state *new)
{
    bed work;
    bed_build(&work, fresh_memory());
    image_put(before, work.inner);
    bed_open_handles(&work, of);
    state_take(old, work.inner);
    assert_ok(of->run(&work));
    bed_close_handles(&work);
    state_take(new, work.inner);
    bed_free(&work);
}

const scenario *scenario_find(const char *name)
{
    int i;
    for (i = 0; i < scenario_count; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    fail_msg("there is no scenario \"%s\"", name);
    return NULL;
}

/* ---- what is stored before ---- */

static int32_t value_of(int64_t i, int64_t j, int32_t generation)
{
    return generation * 10000 + (int32_t)(i * 100 + j);
}

parapet_status bed_write_all(parapet_array *array, int32_t generation)
{
    int32_t values[STATE_EDGE * STATE_EDGE];
    int64_t start[2] = {0, 0}, i, j;
    parapet_array_info info;
    parapet_part part = {.ndim = 2, .start = start, .data = values};
    parapet_status status = parapet_array_get_info(array, &info);
    if (status != PARAPET_OK)
        return status;
    part.count = info.shape;
    for (i = 0; i < info.shape[0]; i++)
        for (j = 0; j < info.shape[1]; j++)
            values[i * info.shape[1] + j] = value_of(i, j, generation);
    return parapet_array_write(array, &part, 1);
}

static const int64_t shape_of_a[2] = {10, 12};
static const int64_t chunk_shape[2] = {2, 3};
static const int64_t shard_shape[2] = {STATE_SHARD, STATE_SHARD};
static const int32_t fill = STATE_FILL;

static parapet_array_spec spec_of_a(const char *codec)
{
    return (parapet_array_spec){.type = PARAPET_INT32,
                                .ndim = 2,
                                .shape = shape_of_a,
                                .chunks = chunk_shape,
                                .shards = shard_shape,
                                .codec = codec,
                                .fill_value = &fill,
                                .attributes = "{\"units\": \"K\"}"};
}

/* Group g, the array a with values of generation 1, and a title on the root. */
static void prepare_with(bed *used, const parapet_array_spec *spec)
{
    assert_ok(parapet_group_create(&used->group, used->store, "g", "{\"title\": \"g\"}"));
    assert_ok(parapet_group_close(&used->group));
    assert_ok(parapet_group_open(&used->group, used->store, ""));
    assert_ok(parapet_group_attribute_set(used->group, "title", "\"old\""));
    assert_ok(parapet_array_create(&used->array, used->store, "a", spec));
    assert_ok(bed_write_all(used->array, 1));
}

static void prepare_plain(bed *used)
{
    parapet_array_spec spec = spec_of_a("zstd:1");
    prepare_with(used, &spec);
}

static void prepare_uncompressed(bed *used)
{
    parapet_array_spec spec = spec_of_a("none");
    prepare_with(used, &spec);
}

static void prepare_unsharded(bed *used)
{
    parapet_array_spec spec = spec_of_a("zstd:1");
    spec.unsharded = 1;
    spec.chunks = shard_shape;
    spec.shards = NULL;
    prepare_with(used, &spec);
}

static void prepare_sealed(bed *used)
{
    prepare_plain(used);
    assert_ok(parapet_array_seal(used->array));
}

static void prepare_sealed_without_checksums(bed *used)
{
    parapet_array_spec spec = spec_of_a("none");
    spec.no_checksum = 1;
    prepare_with(used, &spec);
    assert_ok(parapet_array_seal(used->array));
}

/* An array and a group in group g, of which the root keeps the metadata. */
static void prepare_group_with_array(bed *used)
{
    parapet_array_spec spec = spec_of_a("none");
    prepare_plain(used);
    assert_ok(parapet_array_close(&used->array));
    assert_ok(parapet_array_create(&used->array, used->store, "g/b", &spec));
    assert_ok(bed_write_all(used->array, 1));
    assert_ok(parapet_group_close(&used->group));
    assert_ok(parapet_group_create(&used->group, used->store, "g/h", "{\"title\": \"h\"}"));
    assert_ok(parapet_group_close(&used->group));
    assert_ok(parapet_group_open(&used->group, used->store, ""));
    assert_ok(parapet_group_consolidate(used->group));
}

static void prepare_consolidated(bed *used)
{
    prepare_plain(used);
    assert_ok(parapet_group_consolidate(used->group));
}

static void prepare_sealed_consolidated(bed *used)
{
    prepare_sealed(used);
    assert_ok(parapet_group_consolidate(used->group));
}

static const int64_t shape_smaller[2] = {7, 8};
static const int64_t shape_larger[2] = {14, 13};

/* Repeats a call on a fresh handle with a crash one operation later each time, until the store is as wanted. */
static void crash_until(bed *used, parapet_status (*call)(bed *used), bool (*is_reached)(const parapet_array *array))
{
    long crash_at;
    for (crash_at = 0;; crash_at++) {
        used->plan = (pp_fault_plan){.fail_at = -1};
        assert_ok(parapet_array_close(&used->array));
        assert_ok(parapet_array_open(&used->array, used->store, "a"));
        if (is_reached(used->array))
            return;
        used->plan = (pp_fault_plan){.fail_at = crash_at, .fail_forever = true};
        assert_int_equal(call(used), PARAPET_ERR_IO);
    }
}

static parapet_status run_shrink(bed *used)
{
    return parapet_array_resize(used->array, shape_smaller);
}

static parapet_status run_seal(bed *used)
{
    return parapet_array_seal(used->array);
}

static bool is_smaller(const parapet_array *array)
{
    return array->document.shape[0] == shape_smaller[0];
}

static bool has_leftover_head(const parapet_array *array)
{
    return array->has_head && !array->is_sealed;
}

/* The document is new, nothing is trimmed yet. */
static void prepare_half_shrunk(bed *used)
{
    prepare_plain(used);
    crash_until(used, run_shrink, is_smaller);
}

/* A head lies there, but zarr.json does not say sealed. */
static void prepare_half_sealed(bed *used)
{
    prepare_plain(used);
    crash_until(used, run_seal, has_leftover_head);
}

/* Texts in chunks of two, of which one is not stored, beside the array a. */
static void prepare_texts(bed *used)
{
    static const char document[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [5], \"data_type\": \"string\", \"fill_value\": "
        "\"f\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2]}},"
        " \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},"
        " \"codecs\": [{\"name\": \"vlen-utf8\"}], \"attributes\": {}}";
    static const char words[] = "\2\0\0\0\1\0\0\0a\2\0\0\0bc";
    prepare_plain(used);
    image_put_object(used->inner, "words/zarr.json", document, sizeof document - 1);
    image_put_object(used->inner, "words/c/0", words, sizeof words - 1);
    image_put_object(used->inner, "words/c/2", words, sizeof words - 1);
}

static void prepare_version_2(bed *used)
{
    static const char document[] =
        "{\"zarr_format\": 2, \"shape\": [10, 12], \"chunks\": [5, 6], \"dtype\": \"<i4\", "
        "\"compressor\": null, \"fill_value\": 7, \"order\": \"C\", \"filters\": null}";
    image_put_object(used->inner, "a/.zarray", document, strlen(document));
    image_put_object(used->inner, "a/.zattrs", "{\"units\": \"K\"}", 14);
}

/* ---- what another job does meanwhile ---- */

static parapet_array *open_other(parapet_store *other)
{
    parapet_array *array;
    assert_ok(parapet_array_open(&array, other, "a"));
    return array;
}

static void set_units(parapet_store *other)
{
    parapet_array *array = open_other(other);
    assert_ok(parapet_array_attribute_set(array, "units", "\"C\""));
    assert_ok(parapet_array_close(&array));
}

static void grow(parapet_store *other)
{
    parapet_array *array = open_other(other);
    assert_ok(parapet_array_resize(array, shape_larger));
    assert_ok(parapet_array_close(&array));
}

static void seal(parapet_store *other)
{
    parapet_array *array = open_other(other);
    assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static void consolidate(parapet_store *other)
{
    parapet_group *group;
    assert_ok(parapet_group_open(&group, other, ""));
    assert_ok(parapet_group_attribute_set(group, "mark", "1"));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

/* ---- the calls ---- */

static parapet_status run_store_create(bed *used)
{
    return pp_store_open_over(&used->store, MPI_COMM_NULL, used->faulty, PARAPET_CREATE, &used->options);
}

static parapet_status run_store_open(bed *used)
{
    return pp_store_open_over(&used->store, MPI_COMM_NULL, used->faulty, used->mode, &used->options);
}

/* By its url, with a store of objects that goes away again; storage that fails is met by the others. */
static parapet_status run_store_open_url(bed *used)
{
    parapet_store *store = NULL;
    parapet_status status = parapet_store_open(&store, MPI_COMM_NULL, "memory:fault", PARAPET_CREATE, &used->options);
    if (status == PARAPET_OK)
        status = parapet_store_close(&store);
    pp_store_memory_drop("fault");
    return status;
}

static parapet_status run_options_print(bed *used)
{
    char *text = NULL;
    parapet_status status = parapet_store_options_print(used->store, &text);
    parapet_free(text);
    return status;
}

static parapet_status run_options_set(bed *used)
{
    return parapet_store_options_set(&used->options, "memory_bytes", "64MiB");
}

static parapet_status run_statistics(bed *used)
{
    parapet_statistics statistics;
    return parapet_store_get_statistics(used->store, &statistics);
}

static parapet_status run_group_create(bed *used)
{
    return parapet_group_create(&used->group, used->store, "g/h", "{\"title\": \"h\"}");
}

static parapet_status run_group_open(bed *used)
{
    return parapet_group_open(&used->group, used->store, "g");
}

static int count_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)name;
    (void)kind;
    ++*(int *)context;
    return 0;
}

static parapet_status run_group_list(bed *used)
{
    int count = 0;
    parapet_status status = parapet_group_list(used->group, count_child, &count);
    if (status == PARAPET_OK)
        assert_int_equal(count, 2);
    return status;
}

static parapet_status run_group_consolidate(bed *used)
{
    return parapet_group_consolidate(used->group);
}

static parapet_status run_group_attribute_set(bed *used)
{
    return parapet_group_attribute_set(used->group, "title", "\"new\"");
}

static parapet_status run_group_attribute_get(bed *used)
{
    char *json = NULL;
    parapet_status status = parapet_group_attribute_get(used->group, "title", &json);
    parapet_free(json);
    return status;
}

static parapet_status run_group_close(bed *used)
{
    return parapet_group_close(&used->group);
}

static parapet_status run_array_create(bed *used)
{
    parapet_array_spec spec = spec_of_a("zstd:1");
    spec.attributes = "{\"note\": \"new\"}";
    return parapet_array_create(&used->array, used->store, "g/b", &spec);
}

static parapet_status run_array_overwrite(bed *used)
{
    parapet_array_spec spec = spec_of_a("zstd:1");
    spec.attributes = "{\"note\": \"new\"}";
    spec.overwrite = 1;
    return parapet_array_create(&used->array, used->store, "a", &spec);
}

/* Removing again what is gone is fine here. */
static parapet_status remove_at(bed *used, const char *path)
{
    parapet_status status = parapet_store_remove(used->store, path, 1, 0, NULL, NULL);
    return status == PARAPET_ERR_NOT_FOUND ? PARAPET_OK : status;
}

static parapet_status run_remove_array(bed *used)
{
    return remove_at(used, "a");
}

static parapet_status run_remove_group(bed *used)
{
    return remove_at(used, "g");
}

static parapet_status run_array_open(bed *used)
{
    return parapet_array_open(&used->array, used->store, "a");
}

static parapet_status run_array_close(bed *used)
{
    return parapet_array_close(&used->array);
}

static parapet_status run_get_info(bed *used)
{
    parapet_array_info info;
    return parapet_array_get_info(used->array, &info);
}

static parapet_status run_layout_print(bed *used)
{
    char *text = NULL;
    parapet_status status = parapet_array_layout_print(used->array, &text);
    parapet_free(text);
    return status;
}

static parapet_status run_write_all(bed *used)
{
    return bed_write_all(used->array, 2);
}

/* A box that covers no shard and cuts through chunks: old chunks are merged, others copied as they are. */
static parapet_status run_write_inside(bed *used)
{
    int32_t values[7 * 6];
    int64_t start[2] = {1, 4}, count[2] = {7, 6};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    int i;
    for (i = 0; i < 7 * 6; i++)
        values[i] = value_of(1 + i / 6, 4 + i % 6, 2);
    return parapet_array_write(used->array, &part, 1);
}

static parapet_status run_write_parts(bed *used)
{
    int32_t values[3][6];
    int64_t starts[3][2] = {{0, 0}, {4, 5}, {8, 10}}, count[2] = {2, 2};
    parapet_part parts[3];
    int i, k;
    for (k = 0; k < 3; k++) {
        for (i = 0; i < 4; i++)
            values[k][i] = value_of(starts[k][0] + i / 2, starts[k][1] + i % 2, 2);
        parts[k] = (parapet_part){.ndim = 2, .start = starts[k], .count = count, .data = values[k]};
    }
    return parapet_array_write(used->array, parts, 3);
}

static parapet_status run_read(bed *used)
{
    int32_t values[10 * 12];
    int64_t start[2] = {0, 0};
    parapet_part part = {.ndim = 2, .start = start, .count = shape_of_a, .data = values};
    parapet_status status = parapet_array_read(used->array, &part, 1);
    if (status == PARAPET_OK)
        assert_int_equal(values[5 * 12 + 6], value_of(5, 6, 1));
    return status;
}

static parapet_status run_read_parts(bed *used)
{
    int32_t values[2][4];
    int64_t starts[2][2] = {{5, 5}, {8, 0}}, count[2] = {2, 2};
    parapet_part parts[2] = {{.ndim = 2, .start = starts[0], .count = count, .data = values[0]},
                             {.ndim = 2, .start = starts[1], .count = count, .data = values[1]}};
    parapet_status status = parapet_array_read(used->array, parts, 2);
    if (status == PARAPET_OK)
        assert_int_equal(values[0][3], value_of(6, 6, 1));
    return status;
}

static parapet_status run_read_local(bed *used)
{
    int32_t values[10 * 12], corner[4];
    int64_t starts[2][2] = {{0, 0}, {5, 5}}, count[2] = {2, 2};
    parapet_part parts[2] = {{.ndim = 2, .start = starts[0], .count = shape_of_a, .data = values},
                             {.ndim = 2, .start = starts[1], .count = count, .data = corner}};
    parapet_status status = parapet_array_read_local(used->array, parts, 2);
    if (status == PARAPET_OK) {
        assert_int_equal(values[5 * 12 + 6], value_of(5, 6, 1));
        assert_int_equal(corner[3], value_of(6, 6, 1));
    }
    return status;
}

/* ---- lists: the box of run_write_inside, from its last row to its first, as points and as runs ---- */

enum { LISTED_ROWS = 7, LISTED_COLUMNS = 6, LISTED = LISTED_ROWS * LISTED_COLUMNS };

typedef struct listing {
    int64_t coordinates[LISTED][2], starts[LISTED_ROWS], lengths[LISTED_ROWS];
    int32_t values[LISTED];
    parapet_points points;
    parapet_runs runs;
} listing;

static void listing_build(listing *made, int32_t generation)
{
    int i;
    for (i = 0; i < LISTED; i++) {
        int64_t row = LISTED_ROWS - i / LISTED_COLUMNS, column = 4 + i % LISTED_COLUMNS;
        made->coordinates[i][0] = row;
        made->coordinates[i][1] = column;
        made->starts[i / LISTED_COLUMNS] = row * shape_of_a[1] + 4;
        made->lengths[i / LISTED_COLUMNS] = LISTED_COLUMNS;
        made->values[i] = value_of(row, column, generation);
    }
    made->points =
        (parapet_points){.ndim = 2, .count = LISTED, .coordinates = made->coordinates[0], .data = made->values};
    made->runs =
        (parapet_runs){.count = LISTED_ROWS, .starts = made->starts, .lengths = made->lengths, .data = made->values};
}

static parapet_status run_write_points(bed *used)
{
    listing listed;
    listing_build(&listed, 2);
    return parapet_array_write_points(used->array, &listed.points);
}

static parapet_status run_write_runs(bed *used)
{
    listing listed;
    listing_build(&listed, 2);
    return parapet_array_write_runs(used->array, &listed.runs);
}

static parapet_status read_points(bed *used, parapet_status (*call)(parapet_array *, const parapet_points *))
{
    listing listed, expected;
    parapet_status status;
    listing_build(&expected, 1);
    listing_build(&listed, 0);
    if ((status = call(used->array, &listed.points)) == PARAPET_OK)
        assert_memory_equal(listed.values, expected.values, sizeof listed.values);
    return status;
}

static parapet_status read_runs(bed *used, parapet_status (*call)(parapet_array *, const parapet_runs *))
{
    listing listed, expected;
    parapet_status status;
    listing_build(&expected, 1);
    listing_build(&listed, 0);
    if ((status = call(used->array, &listed.runs)) == PARAPET_OK)
        assert_memory_equal(listed.values, expected.values, sizeof listed.values);
    return status;
}

static parapet_status run_read_points(bed *used)
{
    return read_points(used, parapet_array_read_points);
}

static parapet_status run_read_points_local(bed *used)
{
    return read_points(used, parapet_array_read_points_local);
}

static parapet_status run_read_runs(bed *used)
{
    return read_runs(used, parapet_array_read_runs);
}

static parapet_status run_read_runs_local(bed *used)
{
    return read_runs(used, parapet_array_read_runs_local);
}

/* ---- the other calls of an array ---- */

static parapet_status run_read_texts(bed *used)
{
    const int64_t start = 1, count = 4;
    int64_t ends[4];
    char *text = NULL;
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, used->store, "words");
    if (status == PARAPET_OK &&
        (status = parapet_array_read_texts_local(array, &start, &count, &text, ends)) == PARAPET_OK) {
        assert_string_equal(text, "bcffa");
        assert_int_equal(ends[0], 2);
        assert_int_equal(ends[3], 5);
    } else
        assert_null(text);
    parapet_free(text);
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status run_grow(bed *used)
{
    return parapet_array_resize(used->array, shape_larger);
}

static parapet_status run_unseal(bed *used)
{
    return parapet_array_unseal(used->array);
}

static parapet_status run_attribute_set(bed *used)
{
    return parapet_array_attribute_set(used->array, "note", "\"new\"");
}

static parapet_status run_attribute_remove(bed *used)
{
    return parapet_array_attribute_set(used->array, "units", NULL);
}

static parapet_status run_attribute_get(bed *used)
{
    char *json = NULL;
    parapet_status status = parapet_array_attribute_get(used->array, NULL, &json);
    parapet_free(json);
    return status;
}

static parapet_status run_check(bed *used)
{
    parapet_check_summary summary;
    parapet_status status = parapet_array_check(used->array, PARAPET_CHECK_DATA, NULL, NULL, &summary);
    if (status == PARAPET_OK)
        assert_int_equal(summary.torn + summary.missing, 0);
    return status;
}

static parapet_status run_store_close(bed *used)
{
    return parapet_store_close(&used->store);
}

const scenario scenarios[] = {
    {"store_open, creating", NULL, run_store_create, OPENS_NOTHING, .kind = SCENARIO_CHANGES},
    {"store_open, creating what exists", prepare_plain, run_store_create, OPENS_NOTHING, .kind = SCENARIO_CHANGES},
    {"store_open, for update", prepare_plain, run_store_open, OPENS_NOTHING, .kind = SCENARIO_CHANGES},
    {"store_open, for reading", prepare_plain, run_store_open, OPENS_NOTHING, .kind = SCENARIO_READS},
    {"store_open, by its url", NULL, run_store_open_url, OPENS_NOTHING, .kind = SCENARIO_READS},
    {"store_options_print", prepare_plain, run_options_print, OPENS_STORE, .kind = SCENARIO_READS},
    {"options_set", prepare_plain, run_options_set, OPENS_STORE, .kind = SCENARIO_READS},
    {"store_statistics", prepare_plain, run_statistics, OPENS_STORE, .kind = SCENARIO_READS},
    {"store_close", prepare_plain, run_store_close, OPENS_STORE, .kind = SCENARIO_CHANGES},
    {"group_create", prepare_plain, run_group_create, OPENS_STORE, .kind = SCENARIO_CHANGES},
    {"group_create, consolidated", prepare_consolidated, run_group_create, OPENS_STORE, .kind = SCENARIO_CHANGES},
    {"group_open", prepare_plain, run_group_open, OPENS_STORE, .kind = SCENARIO_READS},
    {"group_close", prepare_plain, run_group_close, OPENS_GROUP, .kind = SCENARIO_CHANGES},
    {"group_list", prepare_plain, run_group_list, OPENS_GROUP, .kind = SCENARIO_READS},
    {"group_consolidate", prepare_plain, run_group_consolidate, OPENS_GROUP, .kind = SCENARIO_CHANGES},
    {"group_consolidate, again", prepare_consolidated, run_group_consolidate, OPENS_GROUP, .kind = SCENARIO_CHANGES},
    {"group_attribute_set", prepare_plain, run_group_attribute_set, OPENS_GROUP, .kind = SCENARIO_CHANGES},
    {"group_attribute_set, consolidated", prepare_consolidated, run_group_attribute_set, OPENS_GROUP,
     .kind = SCENARIO_CHANGES},
    {"group_attribute_get", prepare_plain, run_group_attribute_get, OPENS_GROUP, .kind = SCENARIO_READS},
    {"array_create", prepare_plain, run_array_create, OPENS_STORE, .kind = SCENARIO_CHANGES},
    {"array_create, consolidated", prepare_consolidated, run_array_create, OPENS_STORE, .kind = SCENARIO_CHANGES},
    {"array_create, overwriting", prepare_plain, run_array_overwrite, OPENS_STORE, .kind = SCENARIO_REPLACES},
    {"array_create, overwriting sealed", prepare_sealed_consolidated, run_array_overwrite, OPENS_STORE,
     .kind = SCENARIO_REPLACES},
    {"store_remove", prepare_plain, run_remove_array, OPENS_STORE, .kind = SCENARIO_REPLACES},
    {"store_remove, sealed, consolidated", prepare_sealed_consolidated, run_remove_array, OPENS_STORE,
     .kind = SCENARIO_REPLACES},
    {"store_remove, half shrunk", prepare_half_shrunk, run_remove_array, OPENS_STORE, .kind = SCENARIO_REPLACES},
    {"store_remove, a group", prepare_group_with_array, run_remove_group, OPENS_STORE, .kind = SCENARIO_REPLACES},
    {"array_open", prepare_plain, run_array_open, OPENS_STORE, .kind = SCENARIO_READS},
    {"array_open, sealed", prepare_sealed, run_array_open, OPENS_STORE, .kind = SCENARIO_READS},
    {"array_open, Zarr v2", prepare_version_2, run_array_open, OPENS_STORE, .kind = SCENARIO_READS},
    {"array_close", prepare_plain, run_array_close, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_get_info", prepare_plain, run_get_info, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_layout_print", prepare_plain, run_layout_print, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_write, all", prepare_plain, run_write_all, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, uncompressed", prepare_uncompressed, run_write_all, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, unsharded", prepare_unsharded, run_write_all, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, merging", prepare_plain, run_write_inside, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, three parts", prepare_uncompressed, run_write_parts, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, sealed", prepare_sealed, run_write_inside, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, sealed, consolidated", prepare_sealed_consolidated, run_write_all, OPENS_ARRAY,
     .kind = SCENARIO_WRITES},
    {"array_write, half sealed", prepare_half_sealed, run_write_all, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write, half shrunk", prepare_half_shrunk, run_write_all, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_read", prepare_plain, run_read, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read, unsharded", prepare_unsharded, run_read, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read, sealed", prepare_sealed, run_read, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read, sealed, no checksums", prepare_sealed_without_checksums, run_read, OPENS_ARRAY,
     .kind = SCENARIO_READS},
    {"array_read, two parts", prepare_uncompressed, run_read_parts, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_local", prepare_plain, run_read_local, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_local, uncompressed", prepare_uncompressed, run_read_local, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_local, unsharded", prepare_unsharded, run_read_local, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_local, sealed", prepare_sealed, run_read_local, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_local, sealed, no checksums", prepare_sealed_without_checksums, run_read_local, OPENS_ARRAY,
     .kind = SCENARIO_READS},
    {"array_write_points", prepare_plain, run_write_points, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write_points, uncompressed", prepare_uncompressed, run_write_points, OPENS_ARRAY,
     .kind = SCENARIO_WRITES},
    {"array_write_points, sealed", prepare_sealed, run_write_points, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_write_runs", prepare_plain, run_write_runs, OPENS_ARRAY, .kind = SCENARIO_WRITES},
    {"array_read_points", prepare_plain, run_read_points, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_points, uncompressed", prepare_uncompressed, run_read_points, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_points, sealed", prepare_sealed, run_read_points, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_runs", prepare_plain, run_read_runs, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_points_local", prepare_plain, run_read_points_local, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_points_local, sealed, no checksums", prepare_sealed_without_checksums, run_read_points_local,
     OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_runs_local", prepare_plain, run_read_runs_local, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_read_runs_local, uncompressed", prepare_uncompressed, run_read_runs_local, OPENS_ARRAY,
     .kind = SCENARIO_READS},
    {"array_read_texts_local", prepare_texts, run_read_texts, OPENS_STORE, .kind = SCENARIO_READS},
    {"array_resize, growing", prepare_plain, run_grow, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_resize, growing half shrunk", prepare_half_shrunk, run_grow, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_resize, shrinking", prepare_plain, run_shrink, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_resize, shrinking sealed", prepare_sealed_consolidated, run_shrink, OPENS_ARRAY,
     .kind = SCENARIO_CHANGES},
    {"array_seal", prepare_plain, run_seal, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_seal, unsharded", prepare_unsharded, run_seal, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_seal, half sealed", prepare_half_sealed, run_seal, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_seal, consolidated", prepare_consolidated, run_seal, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_unseal", prepare_sealed, run_unseal, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_attribute_set", prepare_plain, run_attribute_set, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_attribute_set, sealed", prepare_sealed, run_attribute_set, OPENS_ARRAY, .kind = SCENARIO_CHANGES},
    {"array_attribute_set, half sealed", prepare_half_sealed, run_attribute_set, OPENS_ARRAY,
     .kind = SCENARIO_CHANGES},
    {"array_attribute_set, removing", prepare_sealed_consolidated, run_attribute_remove, OPENS_ARRAY,
     .kind = SCENARIO_CHANGES},
    {"array_attribute_get", prepare_plain, run_attribute_get, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_check", prepare_plain, run_check, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"array_check, sealed", prepare_sealed, run_check, OPENS_ARRAY, .kind = SCENARIO_READS},
    {"group_attribute_set, aged", prepare_plain, run_group_attribute_set, OPENS_GROUP, SCENARIO_CHANGES, consolidate},
    {"group_consolidate, aged", prepare_plain, run_group_consolidate, OPENS_GROUP, SCENARIO_CHANGES, set_units},
    {"array_write, grown since", prepare_plain, run_write_inside, OPENS_ARRAY, SCENARIO_WRITES, grow},
    {"array_write, sealed since", prepare_plain, run_write_inside, OPENS_ARRAY, SCENARIO_WRITES, seal},
    {"array_read, aged", prepare_plain, run_read, OPENS_ARRAY, SCENARIO_READS, set_units},
    {"array_read, grown since", prepare_plain, run_read, OPENS_ARRAY, SCENARIO_READS, grow},
    {"array_read, sealed since", prepare_plain, run_read, OPENS_ARRAY, SCENARIO_READS, seal},
    {"array_read_local, aged", prepare_plain, run_read_local, OPENS_ARRAY, SCENARIO_READS, set_units},
    {"array_read_local, grown since", prepare_plain, run_read_local, OPENS_ARRAY, SCENARIO_READS, grow},
    {"array_read_local, sealed since", prepare_plain, run_read_local, OPENS_ARRAY, SCENARIO_READS, seal},
    {"array_read_points_local, aged", prepare_plain, run_read_points_local, OPENS_ARRAY, SCENARIO_READS, set_units},
    {"array_resize, aged", prepare_plain, run_grow, OPENS_ARRAY, SCENARIO_CHANGES, set_units},
    {"array_resize, sealed since", prepare_plain, run_shrink, OPENS_ARRAY, SCENARIO_CHANGES, seal},
    {"array_seal, aged", prepare_plain, run_seal, OPENS_ARRAY, SCENARIO_CHANGES, set_units},
    {"array_seal, grown since", prepare_plain, run_seal, OPENS_ARRAY, SCENARIO_CHANGES, grow},
    {"array_unseal, aged", prepare_sealed, run_unseal, OPENS_ARRAY, SCENARIO_CHANGES, set_units},
    {"array_attribute_set, grown since", prepare_plain, run_attribute_set, OPENS_ARRAY, SCENARIO_CHANGES, grow},
    {"array_attribute_set, sealed since", prepare_plain, run_attribute_set, OPENS_ARRAY, SCENARIO_CHANGES, seal},
    {"array_check, sealed since", prepare_plain, run_check, OPENS_ARRAY, SCENARIO_READS, seal},
};

const int scenario_count = sizeof scenarios / sizeof scenarios[0];
