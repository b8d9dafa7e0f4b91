#include "support.h"

#include "foreign/places.h"
#include "geometry/box.h"

static void describe(pp_array_document *document, int ndim, const int64_t *shape, parapet_type type)
{
    int d;
    *document = (pp_array_document){.ndim = ndim};
    for (d = 0; d < ndim; d++)
        document->shape[d] = shape[d];
    assert_ok(pp_type_init(&document->type, type, 0, NULL));
    assert_ok(pp_allocate(&document->fill_value, document->type.element_bytes));
}

static parapet_status add(pp_places *places, const char *name, int ndim, const int64_t *shape, const pp_flat *flat)
{
    pp_array_document document;
    parapet_status status;
    describe(&document, ndim, shape, PARAPET_FLOAT64);
    status = pp_places_add(places, name, &document, flat);
    pp_array_document_clear(&document);
    return status;
}

/* Every run of every slab, marked once in a map of the bytes that the elements take. */
static void mark_slab(const pp_foreign_array *array, const int64_t *position, unsigned char *map)
{
    pp_place place;
    uint64_t run, byte;
    pp_foreign_array_locate(array, position, &place);
    assert_true(place.run_bytes * place.run_count <= pp_foreign_array_slab_bytes(array));
    for (run = 0; run < place.run_count; run++)
        for (byte = 0; byte < place.run_bytes; byte++)
            map[place.start + run * place.distance + byte]++;
}

static void check_cover(const pp_foreign_array *array, uint64_t bytes)
{
    unsigned char *map = calloc(bytes, 1);
    int64_t position[PARAPET_MAX_NDIM];
    uint64_t marked = 0, i;
    pp_box slabs = {.ndim = array->ndim};
    bool more, is_twice = false;
    int d;
    assert_non_null(map);
    for (d = 0; d < array->ndim; d++)
        slabs.count[d] = pp_foreign_array_slabs(array, d);
    for (more = pp_box_first(&slabs, position); more; more = pp_box_next(&slabs, position))
        mark_slab(array, position, map);
    for (i = 0; i < bytes; i++) {
        is_twice = is_twice || map[i] > 1;
        marked += map[i];
    }
    assert_false(is_twice);
    for (i = array->element_bytes, d = 0; d < array->ndim; d++)
        i *= (uint64_t)array->extent[d];
    assert_int_equal(marked, i);
    free(map);
}

/* More than any of the arrays takes, with the gaps between its records. */
enum { FILE_BYTES = 64 << 20 };

static void test_places__slabs_cover_every_byte_once(void **state)
{
    test_random random = test_random_start();
    int round, d;
    (void)state;
    for (round = 0; round < 8; round++) {
        int ndim = (int)test_random_between(&random, 1, 4);
        int64_t shape[4], elements = 1;
        pp_flat flat = {.is_reversed = round % 2 == 1, .start = 8};
        pp_places places = {.file_bytes = FILE_BYTES};
        for (d = 0; d < ndim; d++) {
            shape[d] = test_random_between(&random, 1, d == 0 && ndim > 1 ? 3 : 1 + 600000 / elements);
            elements *= shape[d];
        }
        flat.distance = round % 4 == 0 ? (uint64_t)(8 * elements / shape[0] + 24) : 0;
        assert_ok(add(&places, "a", ndim, shape, &flat));
        check_cover(&places.arrays[0], FILE_BYTES);
        pp_places_free(&places);
    }
}

static void test_places__a_slab_is_not_larger_than_its_limit(void **state)
{
    const int64_t wide[2] = {3, 2000000}, tall[2] = {2000000, 3}, one[1] = {1};
    int64_t slab[2];
    (void)state;
    pp_slab_choose(2, wide, 8, slab);
    assert_int_equal(slab[0], 1);
    assert_int_equal(slab[1], 500000);
    pp_slab_choose(2, tall, 8, slab);
    assert_int_equal(slab[0], 166667);
    assert_int_equal(slab[1], 3);
    pp_slab_choose(1, one, 8 << 20, slab);
    assert_int_equal(slab[0], 1);
}

static void test_places__what_is_beyond_the_file_is_refused(void **state)
{
    const int64_t shape[2] = {10, 10}, huge[2] = {INT64_MAX, 3}, none[2] = {0, 10};
    pp_places places = {.file_bytes = 807};
    (void)state;
    assert_fails(add(&places, "a", 2, shape, &(pp_flat){.start = 8}), PARAPET_ERR_CORRUPT, "cut off");
    assert_ok(add(&places, "a", 2, shape, &(pp_flat){.start = 7}));
    assert_fails(add(&places, "b", 2, huge, &(pp_flat){0}), PARAPET_ERR_FORMAT, "more elements");
    assert_fails(add(&places, "b", 2, shape, &(pp_flat){.start = UINT64_MAX}), PARAPET_ERR_FORMAT, "more elements");
    assert_fails(add(&places, "b", 2, shape, &(pp_flat){.distance = UINT64_MAX / 2}), PARAPET_ERR_FORMAT,
                 "more elements");
    assert_ok(add(&places, "empty", 2, none, &(pp_flat){.start = UINT64_MAX}));
    pp_places_free(&places);
}

static void test_places__names_are_those_of_zarr_and_differ(void **state)
{
    const int64_t shape[1] = {1};
    pp_places places = {.file_bytes = 64};
    (void)state;
    assert_fails(add(&places, "__x", 1, shape, &(pp_flat){0}), PARAPET_ERR_UNSUPPORTED, "name");
    assert_fails(add(&places, "a/b", 1, shape, &(pp_flat){0}), PARAPET_ERR_UNSUPPORTED, "name");
    assert_ok(add(&places, "b", 1, shape, &(pp_flat){0}));
    assert_ok(add(&places, "a", 1, shape, &(pp_flat){0}));
    assert_ok(add(&places, "ab", 1, shape, &(pp_flat){0}));
    assert_ok(pp_places_finish(&places));
    assert_string_equal(pp_places_find(&places, "ab/c", 2)->name, "ab");
    assert_string_equal(pp_places_find(&places, "ab/c", 1)->name, "a");
    assert_null(pp_places_find(&places, "c", 1));
    assert_ok(add(&places, "a", 1, shape, &(pp_flat){0}));
    assert_fails(pp_places_finish(&places), PARAPET_ERR_FORMAT, "two arrays");
    pp_places_free(&places);
}

static void test_places__only_an_array_that_is_all_has_no_name(void **state)
{
    const int64_t shape[1] = {1};
    pp_places places = {.file_bytes = 8};
    (void)state;
    assert_ok(add(&places, "", 1, shape, &(pp_flat){0}));
    assert_ok(pp_places_finish(&places));
    assert_ok(pp_places_set_group(&places, NULL, 0));
    assert_fails(pp_places_finish(&places), PARAPET_ERR_UNSUPPORTED, "without a name");
    pp_places_free(&places);
}

static void test_places__arrays_are_not_larger_than_the_file(void **state)
{
    const int64_t shape[1] = {1}, none[1] = {0};
    pp_places places = {.file_bytes = 23};
    (void)state;
    assert_ok(add(&places, "a", 1, shape, &(pp_flat){0}));
    assert_ok(add(&places, "b", 1, shape, &(pp_flat){0}));
    assert_ok(add(&places, "none", 1, none, &(pp_flat){0}));
    assert_fails(add(&places, "c", 1, shape, &(pp_flat){0}), PARAPET_ERR_FORMAT, "share their bytes");
    pp_places_free(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places__slabs_cover_every_byte_once),
        cmocka_unit_test(test_places__a_slab_is_not_larger_than_its_limit),
        cmocka_unit_test(test_places__what_is_beyond_the_file_is_refused),
        cmocka_unit_test(test_places__names_are_those_of_zarr_and_differ),
        cmocka_unit_test(test_places__only_an_array_that_is_all_has_no_name),
        cmocka_unit_test(test_places__arrays_are_not_larger_than_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
