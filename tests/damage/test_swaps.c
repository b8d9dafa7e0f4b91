/* Objects that are truncated, longer, blanked, swapped, doubled, gone, stale or forged: on a sealed array all of it
 * is found out, and the sentence names the object.
 *
 * The hard case is an uncompressed array: all its shards have the same length and the same index, and each is whole
 * in itself, so that only the seal can tell them apart. */
#include "support.h"

#include <parapet_store.h>

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "subject.h"

static const subject_form forms[] = {
    {.name = "none", .edge = 48, .shard = 12, .chunk = 6, .codec = "none"},
    {.name = "zstd", .edge = 48, .shard = 12, .chunk = 6, .codec = "zstd:1"},
    {.name = "none, no checksum", .edge = 48, .shard = 12, .chunk = 6, .codec = "none", .has_no_checksum = true},
    {.name = "none, unsharded", .edge = 48, .shard = 12, .chunk = 12, .codec = "none", .is_unsharded = true},
    {.name = "none, last shard absent", .edge = 48, .shard = 12, .chunk = 6, .codec = "none", .has_absent = true},
};

static const subject_form large_form = {
    .name = "none, 1 MiB", .edge = 512, .shard = 64, .chunk = 32, .codec = "none"};

static const subject_form unsealed_forms[] = {
    {.name = "unsealed, none", .edge = 48, .shard = 12, .chunk = 6, .codec = "none", .is_unsealed = true},
    {.name = "unsealed, zstd", .edge = 48, .shard = 12, .chunk = 6, .codec = "zstd:1", .is_unsealed = true},
};

static bool is_full;

/* Looks at what the object can touch. */
static verdict examine(subject *made, const damaged_object *object)
{
    int64_t row, column;
    if (subject_is_shard(object->key, &row, &column))
        return subject_examine_shard(made, row, column);
    return subject_examine(made);
}

/* Puts other bytes in the place of an object, looks, and puts the old ones back. */
static void try_bytes(subject *made, damaged_object *object, unsigned char *data, size_t bytes, damage_count *count)
{
    damaged_object whole = *object;
    object->data = data;
    object->bytes = bytes;
    damage_count_add(count, examine(made, object), subject_word_for(object->key));
    *object = whole;
}

static bool belongs_to_array(const damaged_object *object)
{
    return strncmp(object->key, "a/", 2) == 0;
}

static void truncate_object(subject *made, damaged_object *object, damage_count *count)
{
    size_t bytes;
    for (bytes = 0; bytes < object->bytes; bytes++)
        try_bytes(made, object, object->data, bytes, count);
}

static void lengthen_object(subject *made, damaged_object *object, damage_count *count)
{
    static const size_t extras[] = {1, 2, 3, 4, 8, 16, 20, 64, 512, 4096};
    unsigned char *longer = malloc(object->bytes + 4096);
    size_t i, fill;
    memcpy(longer, object->data, object->bytes);
    for (fill = 0; fill < 2; fill++)
        for (i = 0; i < sizeof extras / sizeof extras[0]; i++) {
            memset(longer + object->bytes, fill == 0 ? 0 : ' ', extras[i]);
            try_bytes(made, object, longer, object->bytes + extras[i], count);
        }
    free(longer);
}

static void blank_blocks(subject *made, damaged_object *object, size_t block, damage_count *count)
{
    unsigned char *blanked = malloc(object->bytes);
    size_t start;
    for (start = 0; start < object->bytes; start += block) {
        size_t bytes = object->bytes - start < block ? object->bytes - start : block;
        memcpy(blanked, object->data, object->bytes);
        memset(blanked + start, 0, bytes);
        if (memcmp(blanked, object->data, object->bytes) != 0)
            try_bytes(made, object, blanked, object->bytes, count);
    }
    free(blanked);
}

static void blank_object(subject *made, damaged_object *object, damage_count *count)
{
    blank_blocks(made, object, 512, count);
    blank_blocks(made, object, 4096, count);
}

static void remove_object(subject *made, damaged_object *object, damage_count *count)
{
    object->is_gone = true;
    damage_count_add(count, examine(made, object), subject_word_for(object->key));
    object->is_gone = false;
}

/* The bytes of the generation before, which are as valid as these. */
static void age_object(subject *made, damaged_object *object, damage_count *count)
{
    const image_object *old = image_find(&made->previous, object->key);
    if (old->bytes != object->bytes || memcmp(old->data, object->data, old->bytes) != 0)
        try_bytes(made, object, old->data, old->bytes, count);
}

static void burst_object(subject *made, damaged_object *object, damage_count *count)
{
    static test_random random = {12345};
    unsigned char *hit = malloc(object->bytes);
    int tries = is_full ? 500 : 40;
    while (tries-- > 0) {
        size_t start = (size_t)test_random_between(&random, 0, (int64_t)object->bytes - 1);
        size_t bytes = (size_t)test_random_between(&random, 1, 64), i;
        memcpy(hit, object->data, object->bytes);
        for (i = start; i < object->bytes && i < start + bytes; i++)
            hit[i] = (unsigned char)test_random_next(&random);
        if (memcmp(hit, object->data, object->bytes) != 0)
            try_bytes(made, object, hit, object->bytes, count);
    }
    free(hit);
}

/* A shard whose index says that nothing was ever written, with the right checksum of that index. */
static void forge_object(subject *made, damaged_object *object, damage_count *count)
{
    int64_t row, column, per_edge = made->form->shard / made->form->chunk;
    size_t index = (size_t)(16 * per_edge * per_edge);
    unsigned char *forged = malloc(index + 4);
    memset(forged, 0xff, index);
    pp_store_u32le(forged + index, pp_crc32c(0, forged, index));
    if (!made->form->is_unsharded && subject_is_shard(object->key, &row, &column))
        try_bytes(made, object, forged, index + 4, count);
    free(forged);
}

typedef void (*object_damage)(subject *made, damaged_object *object, damage_count *count);

static const struct {
    const char *name;
    object_damage damage;
} damages[] = {
    {"truncated at every length", truncate_object},
    {"longer", lengthen_object},
    {"blocks zeroed", blank_object},
    {"gone", remove_object},
    {"of the generation before", age_object},
    {"random bursts", burst_object},
    {"index forged: all absent", forge_object},
};

/* Every shard in the place of every other: the other way round too, which is a swap seen from its other end. */
static damage_count swap_shards(subject *made, bool both)
{
    int64_t i, j, edge = subject_shard_count(made), shards = edge * edge;
    damage_count count = {0};
    for (i = 0; i < shards; i++)
        for (j = 0; j < shards; j++) {
            damaged_object *a = subject_shard(made, i / edge, i % edge), *b = subject_shard(made, j / edge, j % edge);
            damaged_object whole_a, whole_b;
            if (i == j || a == NULL || b == NULL)
                continue;
            whole_a = *a;
            whole_b = *b;
            a->data = whole_b.data;
            a->bytes = whole_b.bytes;
            if (both) {
                b->data = whole_a.data;
                b->bytes = whole_a.bytes;
            }
            damage_count_add(&count, examine(made, a), a->key);
            *a = whole_a;
            *b = whole_b;
        }
    return count;
}

static damage_count damage_all(subject *made, object_damage damage, bool only_shards)
{
    damage_count count = {0};
    size_t i;
    int64_t row, column;
    for (i = 0; i < damaged_store_count(made->damaged); i++) {
        damaged_object *object = damaged_store_object(made->damaged, i);
        if (belongs_to_array(object) && (!only_shards || subject_is_shard(object->key, &row, &column)))
            damage(made, object, &count);
    }
    return count;
}

static void assert_none_silent(const char *form, const char *kind, const damage_count *count)
{
    damage_count_print(form, kind, count);
    assert_int_equal(count->silent, 0);
    assert_int_equal(count->harmless, 0);
    assert_int_equal(count->unnamed, 0);
}

static void damage_sealed(const subject_form *form)
{
    subject made;
    damage_count count;
    size_t i;
    subject_build(&made, form);
    for (i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        count = damage_all(&made, damages[i].damage, form->edge > 100);
        assert_none_silent(form->name, damages[i].name, &count);
    }
    count = swap_shards(&made, true);
    assert_none_silent(form->name, "shards swapped", &count);
    count = swap_shards(&made, false);
    assert_none_silent(form->name, "shards doubled", &count);
    assert_int_equal(subject_examine(&made), VERDICT_HARMLESS);
    subject_free(&made);
}

static void test_damage__of_a_sealed_array_is_found_and_named(void **context)
{
    size_t i;
    (void)context;
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++)
        damage_sealed(&forms[i]);
    if (is_full)
        damage_sealed(&large_form);
}

/* A shard that appears where none was sealed. */
static void test_damage__a_shard_that_was_never_written_cannot_appear(void **context)
{
    subject made;
    damaged_object *first;
    damage_count count = {0};
    const char *key;
    (void)context;
    subject_build(&made, &forms[4]);
    first = subject_shard(&made, 3, 2); /* the last one there is */
    assert_null(subject_shard(&made, 3, 3));
    key = first->key;
    first->key = "a/c/3/3"; /* keeps the order of keys */
    damage_count_add(&count, subject_examine_shard(&made, 3, 3), "a/c/3/3");
    first->key = key;
    assert_none_silent("none, last shard absent", "shard out of nowhere", &count);
    subject_free(&made);
}

/* The objects of the array after its attribute changed, sealed all the time. */
static void take_with_attribute(const subject *made, image *changed)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    parapet_array *array;
    pp_store *memory;
    assert_ok(pp_store_memory_build(&memory, NULL));
    image_put(&made->objects, memory);
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, memory, PARAPET_UPDATE, &options));
    assert_ok(parapet_array_open(&array, store, "a"));
    assert_ok(parapet_array_attribute_set(array, "units", "\"C\""));
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
    image_take(changed, memory);
    pp_store_free(memory);
}

static void try_other(subject *made, const image *other, const char *key, damage_count *count)
{
    const image_object *object = image_find(other, key);
    try_bytes(made, damaged_store_find(made->damaged, key), object->data, object->bytes, count);
}

/* zarr.json or the seal from before a step, or from after it, with everything else from the other side. */
static void test_damage__a_document_of_another_time_is_not_that_of_the_seal(void **context)
{
    subject made, unsealed;
    image changed;
    damage_count count = {0};
    (void)context;
    subject_build(&made, &forms[0]);
    subject_build(&unsealed, &unsealed_forms[0]);
    take_with_attribute(&made, &changed);
    try_other(&made, &changed, "a/__parapet/seal", &count);
    try_other(&made, &changed, "a/zarr.json", &count);
    try_other(&made, &unsealed.objects, "a/zarr.json", &count);
    assert_none_silent("none", "zarr.json or seal swapped", &count);
    assert_int_equal(count.tried, 3);
    image_free(&changed);
    subject_free(&unsealed);
    subject_free(&made);
}

static void test_damage__of_an_array_that_is_not_sealed_is_counted(void **context)
{
    size_t i, k;
    (void)context;
    for (i = 0; i < sizeof unsealed_forms / sizeof unsealed_forms[0]; i++) {
        subject made;
        damage_count count;
        subject_build(&made, &unsealed_forms[i]);
        for (k = 0; k < sizeof damages / sizeof damages[0]; k++) {
            count = damage_all(&made, damages[k].damage, true);
            damage_count_print(unsealed_forms[i].name, damages[k].name, &count);
        }
        count = swap_shards(&made, true);
        damage_count_print(unsealed_forms[i].name, "shards swapped", &count);
        subject_free(&made);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage__of_a_sealed_array_is_found_and_named),
        cmocka_unit_test(test_damage__a_shard_that_was_never_written_cannot_appear),
        cmocka_unit_test(test_damage__a_document_of_another_time_is_not_that_of_the_seal),
        cmocka_unit_test(test_damage__of_an_array_that_is_not_sealed_is_counted),
    };
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    printf("%-28s %-26s %9s %9s %9s %7s\n", "array", "damage", "tried", "detected", "harmless", "silent");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
