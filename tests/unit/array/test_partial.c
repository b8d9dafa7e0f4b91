/* Partial updates: untouched chunks are taken over as they are, and what is overwritten whole is never read. */
#include "support.h"

#include "stored.h"

typedef struct bed {
    parapet_store *store;
    parapet_array *array;
    int64_t side;
    uint16_t values[16][16];
} bed;

/* Shards of 8 x 8 with four chunks of 4 x 4 each. */
static void set_up(bed *b, int64_t side, bool unsharded)
{
    parapet_array_spec spec = {.type = PARAPET_UINT16,
                               .ndim = 2,
                               .shape = (int64_t[]){side, side},
                               .chunks = (int64_t[]){4, 4},
                               .shards = (int64_t[]){8, 8},
                               .unsharded = unsharded};
    int i, j;
    b->side = side;
    stored_open(&b->store, NULL);
    assert_ok(parapet_array_create(&b->array, b->store, "a", &spec));
    for (i = 0; i < 16; i++)
        for (j = 0; j < 16; j++)
            b->values[i][j] = (uint16_t)(100 * i + j + 1);
}

static void tear_down(bed *b)
{
    assert_ok(parapet_array_close(&b->array));
    stored_close(&b->store);
}

static parapet_part part_of(bed *b, const int64_t *start, const int64_t *count)
{
    static const int64_t strides[2] = {32, 2};
    return (parapet_part){
        .ndim = 2, .start = start, .count = count, .data = &b->values[start[0]][start[1]], .strides_bytes = strides};
}

static void write_box(bed *b, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    int64_t start[2] = {row, column}, count[2] = {rows, columns};
    parapet_part part = part_of(b, start, count);
    assert_ok(parapet_array_write(b->array, &part, 1));
}

static void assert_stored(bed *b)
{
    uint16_t found[16][16] = {{0}};
    int64_t i, j, start[2] = {0, 0}, count[2] = {b->side, b->side}, strides[2] = {32, 2};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = found, .strides_bytes = strides};
    assert_ok(parapet_array_read(b->array, &part, 1));
    for (i = 0; i < b->side; i++)
        for (j = 0; j < b->side; j++)
            assert_int_equal(found[i][j], b->values[i][j]);
}

typedef struct work {
    int64_t decoded, encoded, copied, requests, objects;
} work;

static work work_since(bed *b, const parapet_statistics *before)
{
    parapet_statistics after = stored_statistics(b->store);
    return (work){.decoded = after.chunks_decoded - before->chunks_decoded,
                  .encoded = after.chunks_encoded - before->chunks_encoded,
                  .copied = after.chunks_copied - before->chunks_copied,
                  .requests = after.read_requests - before->read_requests,
                  .objects = after.objects_written - before->objects_written};
}

static void assert_work(work found, work expected)
{
    assert_int_equal(found.decoded, expected.decoded);
    assert_int_equal(found.encoded, expected.encoded);
    assert_int_equal(found.copied, expected.copied);
    assert_int_equal(found.requests, expected.requests);
    assert_int_equal(found.objects, expected.objects);
}

/* Writes a box over an array that is all written, and tells what it cost. */
static work cost_of(int64_t side, bool unsharded, const int64_t box[4])
{
    parapet_statistics before;
    bed b;
    work cost;
    set_up(&b, side, unsharded);
    write_box(&b, 0, 0, side, side);
    memset(b.values[box[0]], 0x11, sizeof b.values[0]);
    write_box(&b, box[0], 0, 1, side); /* so that what is kept differs from what was first */
    before = stored_statistics(b.store);
    b.values[box[0]][box[1]] = 9999;
    write_box(&b, box[0], box[1], box[2], box[3]);
    cost = work_since(&b, &before);
    assert_stored(&b);
    tear_down(&b);
    return cost;
}

static void test_partial__one_element_decodes_its_chunk_and_copies_the_rest_of_its_shard(void **state)
{
    (void)state;
    assert_work(cost_of(16, false, (int64_t[]){9, 2, 1, 1}),
                (work){.decoded = 1, .encoded = 1, .copied = 3, .requests = 5, .objects = 1});
}

static void test_partial__a_whole_chunk_decodes_nothing(void **state)
{
    (void)state;
    assert_work(cost_of(16, false, (int64_t[]){4, 8, 4, 4}),
                (work){.decoded = 0, .encoded = 1, .copied = 3, .requests = 4, .objects = 1});
}

static void test_partial__a_row_touches_the_shards_it_crosses(void **state)
{
    (void)state;
    assert_work(cost_of(16, false, (int64_t[]){5, 0, 1, 16}),
                (work){.decoded = 4, .encoded = 4, .copied = 4, .requests = 10, .objects = 2});
}

static void test_partial__a_box_over_four_shards_merges_copies_and_overwrites(void **state)
{
    (void)state; /* rows 3 to 11 of columns 4 to 11 */
    assert_work(cost_of(16, false, (int64_t[]){3, 4, 9, 8}),
                (work){.decoded = 2, .encoded = 6, .copied = 10, .requests = 16, .objects = 4});
}

static void test_partial__overwriting_all_reads_nothing(void **state)
{
    (void)state;
    assert_work(cost_of(16, false, (int64_t[]){0, 0, 16, 16}), (work){.encoded = 16, .objects = 4});
    assert_work(cost_of(16, true, (int64_t[]){0, 0, 16, 16}), (work){.encoded = 16, .objects = 16});
}

static void test_partial__overwriting_all_of_an_array_that_fills_no_shard_reads_nothing(void **state)
{
    (void)state;
    assert_work(cost_of(13, false, (int64_t[]){0, 0, 13, 13}), (work){.encoded = 16, .objects = 4});
    assert_work(cost_of(9, false, (int64_t[]){0, 0, 9, 9}), (work){.encoded = 9, .objects = 4});
    assert_work(cost_of(13, false, (int64_t[]){8, 8, 5, 5}), (work){.encoded = 4, .objects = 1});
}

static void test_partial__an_unsharded_chunk_is_merged_alone(void **state)
{
    (void)state;
    assert_work(cost_of(16, true, (int64_t[]){9, 2, 1, 1}),
                (work){.decoded = 1, .encoded = 1, .requests = 1, .objects = 1});
    assert_work(cost_of(16, true, (int64_t[]){4, 8, 4, 4}), (work){.encoded = 1, .objects = 1});
}

static void test_partial__many_parts_that_cover_a_shard_together_read_nothing(void **state)
{
    int64_t starts[16][2], count[2] = {1, 16};
    parapet_part parts[16];
    parapet_statistics before;
    bed b;
    int i;
    (void)state;
    set_up(&b, 16, false);
    write_box(&b, 0, 0, 16, 16);
    for (i = 0; i < 16; i++) {
        starts[i][0] = (i * 5) % 16;
        starts[i][1] = 0;
        parts[i] = part_of(&b, starts[i], count);
    }
    b.values[7][7] = 1234;
    before = stored_statistics(b.store);
    assert_ok(parapet_array_write(b.array, parts, 16));
    assert_work(work_since(&b, &before), (work){.encoded = 16, .objects = 4});
    assert_stored(&b);
    tear_down(&b);
}

static void test_partial__nothing_to_write_costs_nothing(void **state)
{
    parapet_statistics before;
    bed b;
    (void)state;
    set_up(&b, 16, false);
    write_box(&b, 0, 0, 16, 16);
    before = stored_statistics(b.store);
    assert_ok(parapet_array_write(b.array, NULL, 0));
    write_box(&b, 3, 3, 0, 5);
    assert_work(work_since(&b, &before), (work){0});
    assert_stored(&b);
    tear_down(&b);
}

static void test_partial__chunks_never_written_stay_absent(void **state)
{
    parapet_check_summary summary;
    parapet_statistics before;
    bed b;
    (void)state;
    set_up(&b, 16, false);
    memset(b.values, 0, sizeof b.values);
    b.values[0][0] = 5;
    b.values[6][6] = 6;
    write_box(&b, 0, 0, 1, 1);
    before = stored_statistics(b.store);
    write_box(&b, 6, 6, 1, 1);
    assert_work(work_since(&b, &before), (work){.encoded = 1, .copied = 1, .requests = 2, .objects = 1});
    assert_ok(parapet_array_check(b.array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    assert_int_equal(summary.chunks_present, 2);
    assert_stored(&b);
    tear_down(&b);
}

/* Offset and length of a chunk of a shard, from the index at its end. */
static pp_chunk_entry entry_of(bed *b, const char *data, size_t bytes, int64_t chunk)
{
    const pp_index_format *format = &b->array->layout.index;
    pp_chunk_entry entries[4];
    assert_ok(
        pp_index_decode(format, (const unsigned char *)data + bytes - pp_index_stored_bytes(format), bytes, entries));
    return entries[chunk];
}

static void damage_chunk(bed *b, int64_t chunk)
{
    size_t bytes;
    char *data = stored_get(b->store, "a/c/0/0", &bytes);
    pp_chunk_entry entry = entry_of(b, data, bytes, chunk);
    data[entry.offset] = (char)(data[entry.offset] ^ 1);
    stored_put(b->store, "a/c/0/0", data, bytes);
    pp_free(data);
}

static void test_partial__a_chunk_taken_over_is_not_looked_into(void **state)
{
    uint16_t found[4][4];
    parapet_part damaged = {.ndim = 2, .start = (int64_t[]){4, 4}, .count = (int64_t[]){4, 4}, .data = found};
    size_t old_bytes, new_bytes;
    char *old, *new;
    pp_chunk_entry before, after;
    bed b;
    (void)state;
    set_up(&b, 16, false);
    write_box(&b, 0, 0, 16, 16);
    damage_chunk(&b, 3);
    old = stored_get(b.store, "a/c/0/0", &old_bytes);
    write_box(&b, 0, 0, 1, 1);
    new = stored_get(b.store, "a/c/0/0", &new_bytes);
    before = entry_of(&b, old, old_bytes, 3);
    after = entry_of(&b, new, new_bytes, 3);
    assert_int_equal(before.bytes, after.bytes);
    assert_memory_equal(old + before.offset, new + after.offset, before.bytes);
    assert_int_equal(parapet_array_read(b.array, &damaged, 1), PARAPET_ERR_CORRUPT);
    pp_free(old);
    pp_free(new);
    tear_down(&b);
}

static void test_partial__merging_into_a_damaged_chunk_fails_and_overwriting_it_heals(void **state)
{
    static stored_image before, after;
    int64_t start[2] = {0, 0}, one[2] = {1, 1};
    parapet_part part;
    bed b;
    (void)state;
    set_up(&b, 16, false);
    write_box(&b, 0, 0, 16, 16);
    damage_chunk(&b, 0);
    stored_image_take(&before, b.store, "a");
    part = part_of(&b, start, one);
    assert_fails(parapet_array_write(b.array, &part, 1), PARAPET_ERR_CORRUPT, "a/c/0/0: chunk 0");
    stored_image_take(&after, b.store, "a");
    stored_image_assert_equal(&before, 0, &after, 0);
    write_box(&b, 0, 0, 4, 4);
    assert_stored(&b);
    stored_image_free(&before);
    stored_image_free(&after);
    tear_down(&b);
}

static void test_partial__missing_chunks_are_counted_as_far_as_they_were_asked_for(void **state)
{
    uint16_t found[16][16];
    parapet_part one = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){1, 1}, .data = found};
    parapet_part six = {.ndim = 2, .start = (int64_t[]){0, 0}, .count = (int64_t[]){8, 12}, .data = found};
    parapet_part pair[2];
    int64_t before;
    bed b;
    (void)state;
    set_up(&b, 16, false);
    assert_ok(parapet_array_read(b.array, &one, 1)); /* of a shard that is absent */
    assert_int_equal(stored_statistics(b.store).chunks_missing, 1);
    write_box(&b, 4, 4, 1, 1);
    before = stored_statistics(b.store).chunks_missing;
    assert_ok(parapet_array_read(b.array, &one, 1)); /* of a shard that is there */
    assert_int_equal(stored_statistics(b.store).chunks_missing - before, 1);
    before = stored_statistics(b.store).chunks_missing;
    assert_ok(parapet_array_read(b.array, &six, 1));
    assert_int_equal(stored_statistics(b.store).chunks_missing - before, 3 + 2);
    before = stored_statistics(b.store).chunks_missing;
    pair[0] = (parapet_part){.ndim = 2, .start = (int64_t[]){8, 8}, .count = (int64_t[]){1, 1}, .data = found};
    pair[1] = (parapet_part){.ndim = 2, .start = (int64_t[]){8, 8}, .count = (int64_t[]){1, 8}, .data = found};
    assert_ok(parapet_array_read(b.array, pair, 2)); /* parts that overlap */
    assert_int_equal(stored_statistics(b.store).chunks_missing - before, 2);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partial__one_element_decodes_its_chunk_and_copies_the_rest_of_its_shard),
        cmocka_unit_test(test_partial__a_whole_chunk_decodes_nothing),
        cmocka_unit_test(test_partial__a_row_touches_the_shards_it_crosses),
        cmocka_unit_test(test_partial__a_box_over_four_shards_merges_copies_and_overwrites),
        cmocka_unit_test(test_partial__overwriting_all_reads_nothing),
        cmocka_unit_test(test_partial__overwriting_all_of_an_array_that_fills_no_shard_reads_nothing),
        cmocka_unit_test(test_partial__an_unsharded_chunk_is_merged_alone),
        cmocka_unit_test(test_partial__many_parts_that_cover_a_shard_together_read_nothing),
        cmocka_unit_test(test_partial__nothing_to_write_costs_nothing),
        cmocka_unit_test(test_partial__chunks_never_written_stay_absent),
        cmocka_unit_test(test_partial__a_chunk_taken_over_is_not_looked_into),
        cmocka_unit_test(test_partial__merging_into_a_damaged_chunk_fails_and_overwriting_it_heals),
        cmocka_unit_test(test_partial__missing_chunks_are_counted_as_far_as_they_were_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
