/* Every single bit of every object of a tree of groups, a series, a checkpoint and a copy under way is flipped.
 *
 * Afterwards everything is what it was, or somebody is told. What may change unnoticed is what the format has no
 * place to protect, and it is counted by itself: attributes of groups, and of arrays that are not sealed, in their
 * zarr.json.
 *
 * damage_state_flips quick|soak: quick takes some bits of each object, most of them of a series' documents. */
#include "support.h"

#include <parapet_store.h>

#include "copy_bed.h"
#include "damaged_store.h"
#include "subject.h"

enum { STEPS = 6, ROW = 4, POINTS = 6, EDGE = 8, SHARD_STRIDE = 251, COPY_STRIDE = 251 };

static bool is_soak;

static const parapet_store_options small = {.io_thread = PARAPET_IO_THREAD_NONE, .memory_bytes = 1 << 20};

/* ---- What is seen ---- */

/* Everything that a user can ask for, as bytes: what the arrays hold and how, and what is only said about them. */
typedef struct view {
    pp_text contents, attributes;
} view;

static void view_free(view *seen)
{
    pp_text_free(&seen->contents);
    pp_text_free(&seen->attributes);
}

static bool text_equals(const pp_text *a, const pp_text *b)
{
    return a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

static parapet_status view_attributes(view *seen, parapet_status status, char *json)
{
    if (status == PARAPET_OK)
        pp_text_add(&seen->attributes, "%s\n", json);
    parapet_free(json);
    return status;
}

static void view_info(view *seen, const parapet_array_info *info)
{
    int d;
    pp_text_add(&seen->contents, "%d %d %s %d:", (int)info->type, info->ndim, info->codecs, info->fill_is_defined);
    pp_text_add_bytes(&seen->contents, info->fill_value, (size_t)info->element_bytes);
    for (d = 0; d < info->ndim; d++)
        pp_text_add(&seen->contents, " %lld/%lld/%lld %s", (long long)info->shape[d], (long long)info->shards[d],
                    (long long)info->chunks[d],
                    info->dimension_names != NULL && info->dimension_names[d] != NULL ? info->dimension_names[d]
                                                                                      : "-");
}

static parapet_status view_values(view *seen, parapet_array *array, const parapet_array_info *info)
{
    static unsigned char data[1 << 16];
    const int64_t start[PARAPET_MAX_NDIM] = {0};
    parapet_part part = {.ndim = info->ndim, .start = start, .count = info->shape, .data = data};
    size_t bytes = (size_t)info->element_bytes;
    parapet_status status;
    int d;
    for (d = 0; d < info->ndim; d++)
        bytes = info->shape[d] < 1000 ? bytes * (size_t)info->shape[d] : sizeof data + 1;
    if (bytes > sizeof data) /* other than it was, and that is seen already */
        return PARAPET_OK;
    memset(data, 0xa5, bytes);
    if ((status = parapet_array_read(array, &part, 1)) == PARAPET_OK)
        pp_text_add_bytes(&seen->contents, data, bytes);
    return status;
}

static parapet_status view_array(view *seen, parapet_store *store, const char *path)
{
    parapet_array *array;
    parapet_array_info info;
    char *json = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    if (status != PARAPET_OK)
        return status;
    assert_ok(parapet_array_get_info(array, &info));
    view_info(seen, &info);
    status = view_values(seen, array, &info);
    if (status == PARAPET_OK) {
        status = parapet_array_attribute_get(array, NULL, &json);
        status = view_attributes(seen, status, json);
    }
    (void)parapet_array_close(&array);
    return status;
}

static parapet_status view_group(view *seen, parapet_store *store, const char *path)
{
    parapet_group *group;
    char *json = NULL;
    parapet_status status = parapet_group_open(&group, store, path);
    if (status != PARAPET_OK)
        return status;
    status = parapet_group_attribute_get(group, NULL, &json);
    status = view_attributes(seen, status, json);
    (void)parapet_group_close(&group);
    return status;
}

/* ---- Subjects ---- */

typedef struct state_form {
    const char *name;
    size_t quick_stride; /* of documents and records, in bits */
    void (*make)(parapet_store *store);
    parapet_status (*look)(view *seen, parapet_store *store);
} state_form;

static void make_array(parapet_store *store, const char *path, bool is_sealed)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {2, 4}, shards[2] = {4, 4}, start[2] = {0, 0};
    parapet_array_spec spec = {.type = PARAPET_UINT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .attributes = "{\"units\": \"K\"}"};
    uint32_t values[EDGE * EDGE];
    parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < EDGE * EDGE; i++)
        values[i] = (uint32_t)i * 2654435761u;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    if (is_sealed)
        assert_ok(parapet_array_seal(array));
    assert_ok(parapet_array_close(&array));
}

static void make_groups(parapet_store *store)
{
    parapet_group *group;
    assert_ok(parapet_group_create(&group, store, "g/h", "{\"title\": \"inner\"}"));
    assert_ok(parapet_group_close(&group));
    make_array(store, "g/h/a", true);
    assert_ok(parapet_group_open(&group, store, "g"));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

static parapet_status look_at_groups(view *seen, parapet_store *store)
{
    static const char *const groups[] = {"", "g", "g/h"};
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < sizeof groups / sizeof groups[0] && status == PARAPET_OK; i++)
        status = view_group(seen, store, groups[i]);
    return status == PARAPET_OK ? view_array(seen, store, "g/h/a") : status;
}

static void append_steps(parapet_series *series, int count)
{
    static const int64_t start[1] = {0}, points[1] = {POINTS};
    double u[POINTS];
    int32_t v[POINTS];
    parapet_part parts[2] = {{.ndim = 1, .start = start, .count = points, .data = u},
                             {.ndim = 1, .start = start, .count = points, .data = v}};
    parapet_step steps[2] = {{.parts = &parts[0], .part_count = 1}, {.parts = &parts[1], .part_count = 1}};
    int i, j;
    for (i = 0; i < count; i++) {
        for (j = 0; j < POINTS; j++) {
            u[j] = i * 10 + j;
            v[j] = i * 1000 + j;
        }
        assert_ok(parapet_series_append(series, i * 0.5, steps));
    }
}

static parapet_series *make_steps(parapet_store *store)
{
    static const int64_t shape[2] = {0, POINTS}, chunks[2] = {2, 3}, shards[2] = {ROW, POINTS};
    static const char *const names[2] = {"u", "v"};
    parapet_array_spec specs[2] = {
        {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards},
        {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards}};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs};
    parapet_series *series;
    assert_ok(parapet_series_create(&series, store, "run", &spec));
    append_steps(series, STEPS);
    return series;
}

static void make_series(parapet_store *store)
{
    parapet_series *series = make_steps(store);
    assert_ok(parapet_series_close(&series));
}

/* Whoever would go on with it, and who reads. */
static parapet_status look_at_series(view *seen, parapet_store *store)
{
    static const char *const arrays[] = {"run/u", "run/v", "run/time"};
    parapet_status status = parapet_series_repair(store, "run", PARAPET_BEYOND_REFUSE);
    size_t i;
    for (i = 0; i < sizeof arrays / sizeof arrays[0] && status == PARAPET_OK; i++)
        status = view_array(seen, store, arrays[i]);
    if (status == PARAPET_OK && (status = view_group(seen, store, "")) == PARAPET_OK)
        status = view_group(seen, store, "run");
    return status;
}

static void make_generation(parapet_store *store, uint32_t tag)
{
    static const int64_t shape[1] = {EDGE}, start[1] = {0};
    parapet_array_spec spec = {.type = PARAPET_UINT32, .ndim = 1, .shape = shape};
    uint32_t values[EDGE];
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "u", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint;
    int i;
    for (i = 0; i < EDGE; i++)
        values[i] = tag * 1000 + (uint32_t)i;
    assert_ok(parapet_checkpoint_begin(&checkpoint, store, "restart", NULL));
    assert_ok(parapet_checkpoint_put(checkpoint, &item, 1));
    assert_ok(parapet_checkpoint_attribute_set(checkpoint, "tag", tag == 1 ? "1" : "2"));
    assert_ok(parapet_checkpoint_commit(&checkpoint, NULL));
}

static void make_checkpoint(parapet_store *store)
{
    make_generation(store, 1);
    make_generation(store, 2);
}

/* What belongs to a generation is told by it: also its attributes, which its commit record covers. */
static parapet_status view_generation(view *seen, parapet_store *store, int64_t generation)
{
    static const int64_t shape[1] = {EDGE}, start[1] = {0};
    uint32_t values[EDGE] = {0};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "u", .parts = &part, .part_count = 1};
    parapet_restore_info info;
    parapet_restore *restore;
    char *json = NULL;
    parapet_status status = parapet_restore_open(&restore, store, "restart", generation);
    if (status != PARAPET_OK)
        return status;
    assert_ok(parapet_restore_get_info(restore, &info));
    pp_text_add(&seen->contents, "%lld ", (long long)info.generation);
    status = info.passed_over > 0 ? PARAPET_ERR_CORRUPT : parapet_restore_get(restore, &item, 1);
    pp_text_add_bytes(&seen->contents, values, sizeof values);
    if (status == PARAPET_OK && (status = parapet_restore_attribute_get(restore, NULL, &json)) == PARAPET_OK)
        pp_text_add(&seen->contents, "%s", json);
    parapet_free(json);
    (void)parapet_restore_close(&restore);
    return status;
}

static parapet_status look_at_checkpoint(view *seen, parapet_store *store)
{
    parapet_status status = view_generation(seen, store, 0);
    if (status == PARAPET_OK && (status = view_generation(seen, store, 1)) == PARAPET_OK &&
        (status = view_group(seen, store, "")) == PARAPET_OK)
        status = view_group(seen, store, "restart");
    return status;
}

static const state_form forms[] = {
    {.name = "groups", .quick_stride = 61, .make = make_groups, .look = look_at_groups},
    {.name = "series", .quick_stride = 17, .make = make_series, .look = look_at_series},
    {.name = "checkpoint", .quick_stride = 61, .make = make_checkpoint, .look = look_at_checkpoint},
};

/* ---- Flips ---- */

typedef struct figures {
    long tried, detected, harmless, attributes, silent;
} figures;

static void make_image(const state_form *form, image *objects)
{
    parapet_store *store;
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, memory, PARAPET_CREATE, &small));
    form->make(store);
    assert_ok(parapet_store_close(&store));
    image_take(objects, memory);
    pp_store_free(memory);
}

static parapet_status look(const state_form *form, pp_store *damaged, view *seen)
{
    parapet_store *store;
    parapet_status status;
    *seen = (view){0};
    if ((status = pp_store_open_over(&store, MPI_COMM_NULL, damaged, PARAPET_READ, &small)) != PARAPET_OK)
        return status;
    status = form->look(seen, store);
    (void)parapet_store_close(&store);
    return status;
}

static bool is_document(const char *key)
{
    size_t length = strlen(key), tail = strlen("zarr.json");
    return length >= tail && strcmp(key + length - tail, "zarr.json") == 0;
}

static void try_bit(const state_form *form, pp_store *damaged, const damaged_object *object, size_t bit,
                    const view *whole, figures *count)
{
    view seen;
    parapet_status status;
    object->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    status = look(form, damaged, &seen);
    count->tried++;
    if (status != PARAPET_OK) {
        count->detected++;
    } else if (!text_equals(&seen.contents, &whole->contents)) {
        if (count->silent++ < 5)
            print_error("silent: %s, %s, byte %zu, bit %zu\n", form->name, object->key, bit / 8, bit % 8);
    } else if (!text_equals(&seen.attributes, &whole->attributes)) {
        assert_true(is_document(object->key));
        count->attributes++;
    } else {
        count->harmless++;
    }
    object->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    view_free(&seen);
}

static bool is_shard(const char *key)
{
    return strstr(key, "/c/") != NULL;
}

static void flip_form(const state_form *form)
{
    figures count = {0};
    image objects;
    pp_store *damaged;
    view whole;
    size_t i, bit;
    make_image(form, &objects);
    damaged = damaged_store_build(&objects);
    assert_ok(look(form, damaged, &whole));
    for (i = 0; i < damaged_store_count(damaged); i++) {
        const damaged_object *object = damaged_store_object(damaged, i);
        size_t stride = is_soak ? 1 : is_shard(object->key) ? SHARD_STRIDE : form->quick_stride;
        for (bit = 0; bit < 8 * object->bytes; bit += stride)
            try_bit(form, damaged, object, bit, &whole, &count);
    }
    view_free(&whole);
    pp_store_free(damaged);
    image_free(&objects);
    printf("%-12s %9ld %9ld %9ld %11ld %7ld\n", form->name, count.tried, count.detected, count.harmless,
           count.attributes, count.silent);
    assert_true(count.detected > 300);
    assert_int_equal(count.silent, 0);
}

static void test_flip__of_groups_series_and_checkpoints_is_never_silent(void **context)
{
    size_t i;
    (void)context;
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++)
        flip_form(&forms[i]);
}

/* ---- Copies under way ---- */

/* Leaves what a crash in the middle leaves. */
static void interrupt_copy(const copy_subject *of, const copy_reference *reference, image left[COPY_STORES])
{
    parapet_copy_result result;
    copy_bed work;
    int i;
    copy_bed_build(&work, of, reference, COPY_IN_MEMORY);
    work.plan = (pp_fault_plan){.fail_at = reference->operations * 2 / 3, .fail_forever = true};
    assert_int_not_equal(copy_bed_run(&work, (copy_manner){0}, &result), PARAPET_OK);
    work.plan = (pp_fault_plan){.fail_at = -1};
    for (i = 0; i < COPY_STORES; i++)
        image_take(&left[i], work.inner[i]);
    copy_bed_free(&work);
}

/* Shards that were finished before the flip stay as they are; who reads them is told. */
static bool can_be_read(const copy_subject *of, pp_store *target)
{
    view seen = {0};
    parapet_store *store;
    parapet_status status;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, target, PARAPET_READ, &small));
    status = view_array(&seen, store, of->target_path);
    view_free(&seen);
    (void)parapet_store_close(&store);
    return status == PARAPET_OK;
}

/* The copy that is taken up is the one that was begun, or there is none. */
static void try_copy_bit(const copy_subject *of, const copy_reference *reference, const image left[COPY_STORES],
                         figures *count)
{
    parapet_copy_result result;
    copy_bed work;
    char problem[256];
    int i;
    copy_bed_build(&work, of, reference, COPY_IN_MEMORY);
    for (i = COPY_TARGET; i < COPY_STORES; i++)
        image_put(&left[i], work.inner[i]);
    count->tried++;
    if (copy_bed_run(&work, (copy_manner){.resumes = true}, &result) != PARAPET_OK)
        count->detected++;
    else if (copy_bed_is_complete(&work, reference, problem))
        count->harmless++;
    else if (!can_be_read(of, work.inner[COPY_TARGET]))
        count->detected++;
    else if (count->silent++ < 5)
        print_error("silent: %s: %s\n", of->name, problem);
    copy_bed_free(&work);
}

static void flip_copy(const copy_subject *of)
{
    size_t stride = is_soak ? 1 : COPY_STRIDE, i, bit;
    image left[COPY_STORES];
    copy_reference reference;
    figures count = {0};
    copy_reference_build(&reference, of);
    interrupt_copy(of, &reference, left);
    try_copy_bit(of, &reference, left, &count);
    assert_int_equal(count.harmless, 1); /* without a flip it goes on */
    for (i = 0; i < left[COPY_TARGET].count; i++) {
        const image_object *object = &left[COPY_TARGET].objects[i];
        for (bit = i % stride; bit < 8 * object->bytes; bit += stride) {
            long silent = count.silent;
            object->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            try_copy_bit(of, &reference, left, &count);
            object->data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (count.silent > silent)
                print_error("   %s, byte %zu, bit %zu\n", object->key, bit / 8, bit % 8);
        }
    }
    printf("copy         %9ld %9ld %9ld %11ld %7ld  (%s)\n", count.tried, count.detected, count.harmless,
           count.attributes, count.silent, of->name);
    for (i = 0; i < COPY_STORES; i++)
        image_free(&left[i]);
    copy_reference_free(&reference);
    assert_true(count.tried > 50);
    assert_int_equal(count.silent, 0);
}

static void test_flip__of_a_copy_under_way_is_never_silent(void **context)
{
    (void)context;
    flip_copy(&copy_subjects[0]);
    flip_copy(&copy_subjects[2]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flip__of_groups_series_and_checkpoints_is_never_silent),
        cmocka_unit_test(test_flip__of_a_copy_under_way_is_never_silent),
    };
    is_soak = argc > 1 && strcmp(argv[1], "soak") == 0;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%-12s %9s %9s %9s %11s %7s\n", "of", "flips", "detected", "harmless", "attributes", "silent");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
