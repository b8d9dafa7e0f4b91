/* Where shards and chunks of an array lie, against the plain arithmetic; and which arrays are sharded. */
#include "support.h"

#include "transfer/laid_out.h"

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
    assert_int_equal(made.layout.shards.cell_count, 4);
    assert_int_equal(made.layout.chunks.cell_count, 4);
    assert_int_equal(made.layout.chunks.cell_shape[0], 2);
    assert_int_equal(made.layout.chunks.cell_shape[1], 3);
    assert_int_equal(made.layout.element_bytes, 2);
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
    assert_int_equal(made.layout.shards.cell_count, 4);
    assert_int_equal(made.layout.chunks.cell_count, 1);
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
    assert_int_equal(made.layout.shards.cell_count, 1);
    pp_layout_chunk_box(&made.layout, 0, 0, &box);
    assert_int_equal(pp_box_element_count(&box), 1);
    pp_layout_chunks_inside(&made.layout, 0, &chunks);
    assert_int_equal(pp_box_element_count(&chunks), 1);
    assert_ok(pp_layout_key(&made.layout, "a", 0, &key));
    assert_string_equal(key, "a/c");
    pp_free(key);
    laid_out_clear(&made);
}

/* Shard and chunk of an element by division. */
static void owner_of(int64_t i, int64_t j, int64_t *shard, int64_t *chunk)
{
    *shard = i / 4 * 2 + j / 6;
    *chunk = i % 4 / 2 * 2 + j % 6 / 3;
}

static void test_layout__chunk_boxes_hold_exactly_their_elements(void **state)
{
    laid_out made;
    int64_t shard, chunk, i, j, own_shard, own_chunk;
    (void)state;
    laid_out_init(&made, sharded);
    for (shard = 0; shard < 4; shard++) {
        for (chunk = 0; chunk < 4; chunk++) {
            pp_box whole, clipped;
            pp_layout_chunk_whole_box(&made.layout, shard, chunk, &whole);
            pp_layout_chunk_box(&made.layout, shard, chunk, &clipped);
            assert_int_equal(pp_box_element_count(&whole), 6);
            for (i = 0; i < 8; i++) {
                for (j = 0; j < 12; j++) {
                    pp_box element;
                    assert_ok(pp_box_init(&element, 2, (int64_t[]){i, j}, (int64_t[]){1, 1}));
                    owner_of(i, j, &own_shard, &own_chunk);
                    assert_int_equal(pp_box_contains(&whole, &element), own_shard == shard && own_chunk == chunk);
                    assert_int_equal(pp_box_contains(&clipped, &element),
                                     own_shard == shard && own_chunk == chunk && i < 7 && j < 10);
                }
            }
        }
    }
    laid_out_clear(&made);
}

static void test_layout__shard_boxes_are_clipped_to_the_array(void **state)
{
    laid_out made;
    pp_box box;
    (void)state;
    laid_out_init(&made, sharded);
    pp_layout_shard_box(&made.layout, 3, &box);
    assert_int_equal(box.start[0], 4);
    assert_int_equal(box.start[1], 6);
    assert_int_equal(box.count[0], 3);
    assert_int_equal(box.count[1], 4);
    laid_out_clear(&made);
}

static void test_layout__chunks_inside_are_those_with_an_element(void **state)
{
    laid_out made;
    int64_t shard, chunk, cell[2];
    (void)state;
    laid_out_init(&made, sharded);
    for (shard = 0; shard < 4; shard++) {
        pp_box inside, box, position;
        pp_layout_chunks_inside(&made.layout, shard, &inside);
        for (chunk = 0; chunk < 4; chunk++) {
            pp_grid_cell_position(&made.layout.chunks, chunk, cell);
            assert_ok(pp_box_init(&position, 2, cell, (int64_t[]){1, 1}));
            pp_layout_chunk_box(&made.layout, shard, chunk, &box);
            assert_int_equal(pp_box_contains(&inside, &position), !pp_box_is_empty(&box));
        }
    }
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
        cmocka_unit_test(test_layout__chunk_boxes_hold_exactly_their_elements),
        cmocka_unit_test(test_layout__shard_boxes_are_clipped_to_the_array),
        cmocka_unit_test(test_layout__chunks_inside_are_those_with_an_element),
        cmocka_unit_test(test_layout__keys_start_with_the_path),
        cmocka_unit_test(test_layout__variable_length_elements_have_none),
        cmocka_unit_test(test_layout__can_be_made_twice_and_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
