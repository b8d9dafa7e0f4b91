/* Where shards and chunks of an array lie, against the plain arithmetic; and which arrays are sharded. */
#include "support.h"

#include "laid_out.h"

/* A 7 x 10 array in shards of 4 x 6 with chunks of 2 x 3. */
static const char sharded[] =
    "\"shape\":[7,10],\"data_type\":\"int16\",\"fill_value\":-3,"
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,6]}},"
    "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,3],"
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}],"
    "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}],"
    "\"index_location\":\"end\"}}]";

static const char unsharded[] = "\"shape\":[7,10],\"data_type\":\"float64\",\"fill_value\":0,"
                                "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,6]}},"
                                "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";

static const char scalar[] = "\"shape\":[],\"data_type\":\"uint8\",\"fill_value\":9,"
                             "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}},"
                             "\"codecs\":[{\"name\":\"bytes\"}]";

static void test_layout__sharded_array_has_two_grids(void **state)
{
    laid_out made;
    (void)state;
    laid_out_init(&made, sharded);
    assert_true(made.layout.is_sharded);
    assert_int_equal(made.layout.tiling.shards.cell_count, 4);
    assert_int_equal(made.layout.tiling.chunks.cell_count, 4);
    assert_int_equal(made.layout.tiling.chunks.cell_shape[0], 2);
    assert_int_equal(made.layout.tiling.chunks.cell_shape[1], 3);
    assert_int_equal(made.layout.tiling.element_bytes, 2);
    assert_int_equal(*(const int16_t *)made.layout.fill_value, -3);
    assert_int_equal(pp_chain_decoded_bytes(made.layout.chain), 12);
    assert_int_equal(made.layout.index.chunk_count, 4);
    assert_true(made.layout.index.has_crc32c);
    laid_out_clear(&made);
}

static void test_layout__unsharded_array_has_one_chunk_per_shard(void **state)
{
    laid_out made;
    (void)state;
    laid_out_init(&made, unsharded);
    assert_false(made.layout.is_sharded);
    assert_int_equal(made.layout.tiling.shards.cell_count, 4);
    assert_int_equal(made.layout.tiling.chunks.cell_count, 1);
    assert_int_equal(pp_chain_decoded_bytes(made.layout.chain), 4 * 6 * 8);
    laid_out_clear(&made);
}

static void test_layout__scalar_has_one_shard_of_one_element(void **state)
{
    laid_out made;
    pp_box box, chunks;
    char *key;
    (void)state;
    laid_out_init(&made, scalar);
    assert_int_equal(made.layout.tiling.shards.cell_count, 1);
    pp_tiling_chunk_box(&made.layout.tiling, 0, 0, &box);
    assert_int_equal(pp_box_element_count(&box), 1);
    pp_tiling_chunks_inside(&made.layout.tiling, 0, &chunks);
    assert_int_equal(pp_box_element_count(&chunks), 1);
    assert_ok(pp_layout_key(&made.layout, "a", 0, &key));
    assert_string_equal(key, "a/c");
    pp_free(key);
    laid_out_clear(&made);
}

static void test_layout__keys_start_with_the_path(void **state)
{
    laid_out made;
    char *key;
    (void)state;
    laid_out_init(&made, sharded);
    assert_ok(pp_layout_key(&made.layout, "", 3, &key));
    assert_string_equal(key, "c/1/1");
    pp_free(key);
    assert_ok(pp_layout_key(&made.layout, "group/a", 1, &key));
    assert_string_equal(key, "group/a/c/0/1");
    pp_free(key);
    laid_out_clear(&made);
}

static void test_layout__variable_length_elements_have_none(void **state)
{
    pp_array_document document = {.zarr_format = 3,
                                  .type = {.id = PARAPET_VARIABLE, .name = (char *)(uintptr_t) "string"}};
    pp_layout layout;
    (void)state;
    assert_fails(pp_layout_init(&layout, &document, false), PARAPET_ERR_UNSUPPORTED, "string has elements");
    pp_layout_clear(&layout);
}

static void test_layout__can_be_made_twice_and_freed(void **state)
{
    laid_out made;
    pp_layout again;
    long live;
    (void)state;
    laid_out_init(&made, sharded);
    live = pp_memory_live_count();
    assert_ok(pp_layout_init(&again, &made.document, true));
    assert_true(again.index.ignore_checksums);
    pp_layout_clear(&again);
    assert_int_equal(pp_memory_live_count(), live);
    laid_out_clear(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout__sharded_array_has_two_grids),
        cmocka_unit_test(test_layout__unsharded_array_has_one_chunk_per_shard),
        cmocka_unit_test(test_layout__scalar_has_one_shard_of_one_element),
        cmocka_unit_test(test_layout__keys_start_with_the_path),
        cmocka_unit_test(test_layout__variable_length_elements_have_none),
        cmocka_unit_test(test_layout__can_be_made_twice_and_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
