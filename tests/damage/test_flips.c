/* Every single bit of every stored byte is flipped: on a sealed array each flip is found out or does no harm.
 *
 * damage_flips quick|full|soak: small arrays, one of 1 MiB, several of them. What the seal does not cover, the
 * zarr.json of groups and arrays that are not sealed, is counted and printed, not asserted. */
#include "support.h"

#include "subject.h"

static const subject_form quick_forms[] = {
    {.name = "sealed, none", .edge = 24, .shard = 12, .chunk = 6, .codec = "none"},
    {.name = "sealed, zstd", .edge = 24, .shard = 12, .chunk = 6, .codec = "zstd:1"},
    {.name = "sealed, none, no checksum",
     .edge = 16,
     .shard = 8,
     .chunk = 4,
     .codec = "none",
     .has_no_checksum = true},
    {.name = "sealed, gzip, unsharded",
     .edge = 24,
     .shard = 12,
     .chunk = 12,
     .codec = "gzip:6",
     .is_unsharded = true},
    {.name = "sealed, blosc",
     .edge = 24,
     .shard = 12,
     .chunk = 6,
     .codec = "blosc:lz4:5:shuffle",
     .has_absent = true},
};

static const subject_form full_forms[] = {
    {.name = "sealed, none, 1 MiB", .edge = 512, .shard = 32, .chunk = 16, .codec = "none"},
    {.name = "sealed, zstd, 256 KiB", .edge = 256, .shard = 32, .chunk = 16, .codec = "zstd:1"},
};

static const subject_form soak_forms[] = {
    {.name = "sealed, zstd, 1 MiB", .edge = 512, .shard = 64, .chunk = 32, .codec = "zstd:1"},
    {.name = "sealed, blosc, 1 MiB", .edge = 512, .shard = 64, .chunk = 32, .codec = "blosc:lz4:5:shuffle"},
    {.name = "sealed, gzip, 1 MiB", .edge = 512, .shard = 64, .chunk = 64, .codec = "gzip:6", .is_unsharded = true},
    {.name = "sealed, no checksum, 1 MiB",
     .edge = 512,
     .shard = 64,
     .chunk = 32,
     .codec = "none",
     .has_no_checksum = true},
};

static const subject_form unsealed_forms[] = {
    {.name = "unsealed, none", .edge = 24, .shard = 12, .chunk = 6, .codec = "none", .is_unsealed = true},
    {.name = "unsealed, zstd", .edge = 24, .shard = 12, .chunk = 6, .codec = "zstd:1", .is_unsealed = true},
    {.name = "unsealed, none, no checksum",
     .edge = 24,
     .shard = 12,
     .chunk = 6,
     .codec = "none",
     .has_no_checksum = true,
     .is_unsealed = true},
};

/* Flips every bit of one object. */
static void flip_object(subject *made, damaged_object *object, damage_count *count)
{
    int64_t row = 0, column = 0;
    bool is_shard = subject_is_shard(object->key, &row, &column);
    size_t i;
    int bit;
    for (i = 0; i < object->bytes; i += TEST_THINNING)
        for (bit = 0; bit < 8; bit++) {
            object->data[i] ^= (unsigned char)(1u << bit);
            damage_count_add(count, is_shard ? subject_examine_shard(made, row, column) : subject_examine(made),
                             subject_word_for(object->key));
            object->data[i] ^= (unsigned char)(1u << bit);
        }
}

static const char *kind_of(const char *key)
{
    int64_t row, column;
    if (subject_is_shard(key, &row, &column))
        return "shards";
    return strncmp(key, "a/", 2) == 0 ? key + 2 : "zarr.json of the root group";
}

static void add_counts(damage_count *sum, const damage_count *count)
{
    sum->tried += count->tried;
    sum->detected += count->detected;
    sum->harmless += count->harmless;
    sum->silent += count->silent;
    sum->unnamed += count->unnamed;
}

/* Flips every bit of every object and prints a line per kind of object; adds up those of the array whose kind is
 * only, or all of them. */
static damage_count flip_all(const subject_form *form, const char *only)
{
    damage_count total = {0}, kind = {0};
    subject made;
    size_t i, count;
    subject_build(&made, form);
    count = damaged_store_count(made.damaged);
    for (i = 0; i < count; i++) {
        damaged_object *object = damaged_store_object(made.damaged, i);
        bool is_last = i + 1 == count ||
                       strcmp(kind_of(damaged_store_object(made.damaged, i + 1)->key), kind_of(object->key)) != 0;
        flip_object(&made, object, &kind);
        if (!is_last)
            continue;
        damage_count_print(form->name, kind_of(object->key), &kind);
        if (strncmp(object->key, "a/", 2) == 0 && (only == NULL || strcmp(kind_of(object->key), only) == 0))
            add_counts(&total, &kind);
        kind = (damage_count){0};
    }
    assert_int_equal(subject_examine(&made), VERDICT_HARMLESS);
    subject_free(&made);
    return total;
}

static void flip_sealed(const subject_form *form)
{
    damage_count total = flip_all(form, NULL);
    assert_true(total.tried > 1000);
    assert_int_equal(total.silent, 0);
    assert_int_equal(total.unnamed, 0);
}

static void test_flip__of_a_sealed_array_is_never_silent(void **context)
{
    size_t i;
    (void)context;
    for (i = 0; i < sizeof quick_forms / sizeof quick_forms[0]; i++)
        flip_sealed(&quick_forms[i]);
}

static void test_flip__of_a_sealed_mebibyte_is_never_silent(void **context)
{
    size_t i;
    (void)context;
    for (i = 0; i < sizeof full_forms / sizeof full_forms[0]; i++)
        flip_sealed(&full_forms[i]);
}

static void test_flip__of_larger_sealed_arrays_is_never_silent(void **context)
{
    size_t i;
    (void)context;
    for (i = 0; i < sizeof soak_forms / sizeof soak_forms[0]; i++)
        flip_sealed(&soak_forms[i]);
}

/* The checksums alone see every flip in a shard; nothing sees those in zarr.json that leave it well formed. */
static void test_flip__of_an_array_that_is_not_sealed_is_never_silent_in_its_shards(void **context)
{
    size_t i;
    (void)context;
    for (i = 0; i < sizeof unsealed_forms / sizeof unsealed_forms[0]; i++) {
        damage_count shards = flip_all(&unsealed_forms[i], "shards");
        assert_true(shards.tried > 1000);
        if (!unsealed_forms[i].has_no_checksum)
            assert_int_equal(shards.silent, 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest quick[] = {
        cmocka_unit_test(test_flip__of_a_sealed_array_is_never_silent),
        cmocka_unit_test(test_flip__of_an_array_that_is_not_sealed_is_never_silent_in_its_shards),
    };
    const struct CMUnitTest full[] = {cmocka_unit_test(test_flip__of_a_sealed_mebibyte_is_never_silent)};
    const struct CMUnitTest soak[] = {cmocka_unit_test(test_flip__of_larger_sealed_arrays_is_never_silent)};
    const char *length = argc > 1 ? argv[1] : "quick";
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%-28s %-26s %9s %9s %9s %7s\n", "array", "object", "flips", "detected", "harmless", "silent");
    if (strcmp(length, "full") == 0)
        return cmocka_run_group_tests(full, NULL, NULL);
    if (strcmp(length, "soak") == 0)
        return cmocka_run_group_tests(soak, NULL, NULL);
    return cmocka_run_group_tests(quick, NULL, NULL);
}
