#include "subject.h"

#include <malloc.h>
#include <parapet_store.h>

#include "support.h"

/* Small buffers, taken again and again: millions of reads must not wait for the system to map memory. */
static const parapet_store_options small = {.io_thread = PARAPET_IO_THREAD_NONE, .memory_bytes = 1 << 20};

static const char attributes[] = "{\"units\": \"K\", \"scale\": 1.5}";

static uint32_t value_of(int64_t i, int64_t j, uint32_t generation)
{
    return (uint32_t)(i * 31 + j * 7) * 2654435761u / 65536u + generation;
}

static void fill_values(const subject_form *form, uint32_t generation, uint32_t *values)
{
    int64_t i, j, last = form->edge - form->shard;
    for (i = 0; i < form->edge; i++)
        for (j = 0; j < form->edge; j++)
            values[i * form->edge + j] = form->has_absent && i >= last && j >= last ? 0 : value_of(i, j, generation);
}

static void create_array(const subject_form *form, parapet_store *store, parapet_array **array)
{
    int64_t shape[2] = {form->edge, form->edge}, chunks[2] = {form->chunk, form->chunk};
    int64_t shards[2] = {form->shard, form->shard};
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = form->is_unsharded ? shards : chunks,
                               .shards = form->is_unsharded ? NULL : shards,
                               .unsharded = form->is_unsharded,
                               .no_checksum = form->has_no_checksum,
                               .codec = form->codec,
                               .attributes = attributes};
    assert_ok(parapet_array_create(array, store, "a", &spec));
}

/* Shard by shard, so that one of them can be left out. */
static void write_array(const subject_form *form, parapet_array *array, const uint32_t *values)
{
    int64_t row, column, last = form->edge - form->shard;
    int64_t count[2] = {form->shard, form->shard}, strides[2] = {4 * form->edge, 4};
    for (row = 0; row < form->edge; row += form->shard)
        for (column = 0; column < form->edge; column += form->shard) {
            int64_t start[2] = {row, column};
            parapet_part part = {.ndim = 2,
                                 .start = start,
                                 .count = count,
                                 .data = (void *)(uintptr_t)&values[row * form->edge + column],
                                 .strides_bytes = strides};
            if (!form->has_absent || row < last || column < last)
                assert_ok(parapet_array_write(array, &part, 1));
        }
}

static void make_generation(subject *made, uint32_t generation, image *objects)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    parapet_group *root;
    parapet_array *array;
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, memory, PARAPET_CREATE, &options));
    assert_ok(parapet_group_open(&root, store, ""));
    assert_ok(parapet_group_attribute_set(root, "title", "\"a title\""));
    assert_ok(parapet_group_close(&root));
    create_array(made->form, store, &array);
    fill_values(made->form, generation, made->values);
    write_array(made->form, array, made->values);
    if (!made->form->is_unsealed)
        assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    image_take(objects, memory);
    pp_store_free(memory);
}

void subject_build(subject *made, const subject_form *form)
{
    *made = (subject){.form = form};
    (void)mallopt(M_MMAP_THRESHOLD, 64 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    made->values = calloc((size_t)(form->edge * form->edge), sizeof made->values[0]);
    made->found = calloc((size_t)(form->edge * form->edge), sizeof made->found[0]);
    make_generation(made, 1, &made->previous);
    make_generation(made, 2, &made->objects);
    made->damaged = damaged_store_build(&made->objects);
    assert_ok(pp_store_open_over(&made->store, MPI_COMM_NULL, made->damaged, PARAPET_READ, &small));
    assert_ok(parapet_array_open(&made->array, made->store, "a"));
    assert_int_equal(subject_examine(made), VERDICT_HARMLESS);
}

void subject_free(subject *made)
{
    assert_ok(parapet_array_close(&made->array));
    assert_ok(parapet_store_close(&made->store));
    pp_store_free(made->damaged);
    image_free(&made->objects);
    image_free(&made->previous);
    free(made->values);
    free(made->found);
}

static bool text_is(parapet_status status, char *json, const char *expected)
{
    bool is_same = status == PARAPET_OK && strcmp(json, expected) == 0;
    parapet_free(json);
    return is_same;
}

static bool is_attribute_same(parapet_array *array, const char *name, const char *expected)
{
    char *json = NULL;
    parapet_status status = parapet_array_attribute_get(array, name, &json);
    return text_is(status, json, expected);
}

static bool is_description_same(const subject *made, parapet_array *array)
{
    const subject_form *form = made->form;
    parapet_array_info info;
    int64_t chunk = form->is_unsharded ? form->shard : form->chunk;
    int d;
    assert_ok(parapet_array_get_info(array, &info));
    if (info.type != PARAPET_UINT32 || info.ndim != 2 || info.is_sealed == form->is_unsealed ||
        info.fill_is_defined != 1 || *(const uint32_t *)info.fill_value != 0 || info.dimension_names == NULL)
        return false;
    for (d = 0; d < 2; d++)
        if (info.shape[d] != form->edge || info.shards[d] != form->shard || info.chunks[d] != chunk ||
            info.dimension_names[d] == NULL || strcmp(info.dimension_names[d], d == 0 ? "dim_0" : "dim_1") != 0)
            return false;
    return strcmp(info.codecs, made->array->codec_words) == 0 && is_attribute_same(array, "units", "\"K\"") &&
           is_attribute_same(array, "scale", "1.5");
}

/* Only the elements of one shard, or all of them. */
static verdict examine_box(subject *made, parapet_array *array, int64_t *start, int64_t *count)
{
    int64_t i, edge = made->form->edge, strides[2] = {4 * edge, 4};
    uint32_t *found = &made->found[start[0] * edge + start[1]];
    const uint32_t *values = &made->values[start[0] * edge + start[1]];
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found, .strides_bytes = strides};
    for (i = 0; i < count[0]; i++)
        memset(found + i * edge, 0xa5, (size_t)count[1] * sizeof found[0]);
    if (parapet_array_read(array, &part, 1) != PARAPET_OK)
        return VERDICT_DETECTED;
    for (i = 0; i < count[0]; i++)
        if (memcmp(found + i * edge, values + i * edge, (size_t)count[1] * sizeof found[0]) != 0)
            return VERDICT_SILENT;
    return VERDICT_HARMLESS;
}

static verdict examine_array(subject *made, parapet_store *store)
{
    int64_t start[2] = {0, 0}, count[2] = {made->form->edge, made->form->edge};
    parapet_array *array;
    verdict result;
    if (parapet_array_open(&array, store, "a") != PARAPET_OK)
        return VERDICT_DETECTED;
    if (!is_description_same(made, array))
        result = VERDICT_SILENT;
    else
        result = examine_box(made, array, start, count);
    assert_ok(parapet_array_close(&array));
    return result;
}

static verdict examine_group(parapet_store *store)
{
    parapet_group *group;
    char *json = NULL;
    parapet_status status = parapet_group_open(&group, store, "");
    bool is_same;
    if (status != PARAPET_OK)
        return VERDICT_DETECTED;
    status = parapet_group_attribute_get(group, NULL, &json);
    is_same = text_is(status, json, "{\"title\":\"a title\"}");
    assert_ok(parapet_group_close(&group));
    return is_same ? VERDICT_HARMLESS : VERDICT_SILENT;
}

verdict subject_examine(subject *made)
{
    parapet_store *store;
    verdict group, array;
    if (pp_store_open_over(&store, MPI_COMM_NULL, made->damaged, PARAPET_READ, &small) != PARAPET_OK)
        return VERDICT_DETECTED;
    group = examine_group(store);
    array = group == VERDICT_DETECTED ? VERDICT_DETECTED : examine_array(made, store);
    assert_ok(parapet_store_close(&store));
    return array == VERDICT_HARMLESS ? group : array;
}

verdict subject_examine_shard(subject *made, int64_t row, int64_t column)
{
    int64_t edge = made->form->shard, start[2] = {row * edge, column * edge}, count[2] = {edge, edge};
    return examine_box(made, made->array, start, count);
}

int64_t subject_shard_count(const subject *made)
{
    return made->form->edge / made->form->shard;
}

damaged_object *subject_shard(subject *made, int64_t row, int64_t column)
{
    char key[64];
    (void)snprintf(key, sizeof key, "a/c/%lld/%lld", (long long)row, (long long)column);
    return damaged_store_find(made->damaged, key);
}

bool subject_is_shard(const char *key, int64_t *row, int64_t *column)
{
    long long i, j;
    if (sscanf(key, "a/c/%lld/%lld", &i, &j) != 2)
        return false;
    *row = i;
    *column = j;
    return true;
}

const char *subject_word_for(const char *key)
{
    return strcmp(key, "a/zarr.json") == 0 || strcmp(key, "a/__parapet/seal") == 0 ? "\"a\"" : key;
}

void damage_count_add(damage_count *count, verdict found, const char *key)
{
    count->tried++;
    if (found == VERDICT_DETECTED)
        count->detected++;
    else if (found == VERDICT_HARMLESS)
        count->harmless++;
    else
        count->silent++;
    if (found == VERDICT_DETECTED && strstr(parapet_error_message(), key) == NULL)
        count->unnamed++;
}

void damage_count_print(const char *form, const char *kind, const damage_count *count)
{
    printf("%-28s %-26s %9ld %9ld %9ld %7ld\n", form, kind, count->tried, count->detected, count->harmless,
           count->silent);
}
