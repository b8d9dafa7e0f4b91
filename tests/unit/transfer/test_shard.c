/* Stored shards opened for reading: index at either end and in either byte order, absence, what a seal sees. */
#include "support.h"

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "laid_out.h"
#include "stores/faulty.h"
#include "transfer/shard.h"

#define CHUNKS 4
#define BUDGET_BYTES ((size_t)4 << 20)

typedef struct bed {
    laid_out made;
    pp_store *store;
    pp_budget budget;
    pp_counters counters;
    pp_transfer_context context;
} bed;

typedef struct format {
    const char *index_endian, *location, *checksum;
    const char *chunk_checksum;
} format;

static const format plain = {"little", "end", ",{\"name\":\"crc32c\"}", ",{\"name\":\"crc32c\"}"};

/* 8 elements in shards of 4 chunks of one uint16 each: two shards. */
static void set_up(bed *b, const format *f)
{
    char json[1024];
    (void)snprintf(json, sizeof json,
                   "\"shape\":[8],\"data_type\":\"uint16\",\"fill_value\":0,"
                   "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4]}},"
                   "\"codecs\":[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1],"
                   "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}%s],"
                   "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}%s],"
                   "\"index_location\":\"%s\"}}]",
                   f->chunk_checksum, f->index_endian, f->checksum, f->location);
    memset(b, 0, sizeof *b);
    laid_out_init(&b->made, json);
    assert_ok(pp_store_memory_build(&b->store, NULL));
    pp_budget_init(&b->budget, BUDGET_BYTES);
    b->context = (pp_transfer_context){.layer = &pp_plain_layer,
                                       .store = b->store,
                                       .path = "a",
                                       .layout = &b->made.layout,
                                       .budget = &b->budget,
                                       .counters = &b->counters};
}

static void tear_down(bed *b)
{
    assert_int_equal(pp_budget_available(&b->budget), BUDGET_BYTES);
    pp_store_free(b->store);
    laid_out_clear(&b->made);
}

static void put(bed *b, const char *key, const void *data, size_t bytes)
{
    assert_ok(pp_store_write_all(
        b->store,
        &(pp_write_request){.key = key, .staging = "a/__parapet/tmp", .budget = &b->budget, .is_small = true}, data,
        bytes, PP_PUBLISH_REPLACE));
}

typedef struct shard_bytes {
    unsigned char data[256];
    size_t bytes;
} shard_bytes;

/* A shard as another writer might lay it out: values with their checksums, and an index. -1: absent. */
static void lay_out(const bed *b, const int values[CHUNKS], shard_bytes *out)
{
    const pp_index_format *index = &b->made.layout.index;
    bool has_crc = pp_chain_ends_in_crc32c(b->made.layout.chain);
    size_t index_bytes = pp_index_stored_bytes(index), at = index->is_at_start ? index_bytes : 0;
    pp_chunk_entry entries[CHUNKS];
    int i;
    memset(out, 0, sizeof *out);
    for (i = 0; i < CHUNKS; i++) {
        size_t bytes = has_crc ? 6 : 2;
        entries[i] = (pp_chunk_entry){PP_CHUNK_ABSENT, PP_CHUNK_ABSENT};
        if (values[i] < 0)
            continue;
        out->data[at] = (unsigned char)values[i];
        out->data[at + 1] = (unsigned char)(values[i] >> 8);
        if (has_crc)
            pp_store_u32le(out->data + at + 2, pp_crc32c(0, out->data + at, 2));
        entries[i] = (pp_chunk_entry){.offset = at, .bytes = bytes};
        at += bytes;
    }
    pp_index_encode(index, entries, out->data + (index->is_at_start ? 0 : at));
    out->bytes = index->is_at_start ? at : at + index_bytes;
}

static void put_shard(bed *b, const char *key, const int values[CHUNKS])
{
    shard_bytes stored;
    lay_out(b, values, &stored);
    put(b, key, stored.data, stored.bytes);
}

static int read_value(const bed *b, const pp_shard *shard, int64_t chunk)
{
    unsigned char value[2];
    if (!pp_shard_has_chunk(shard, chunk))
        return -1;
    assert_ok(pp_shard_read(&b->context, shard, shard->entries[chunk].offset, 2, value));
    return value[0] | value[1] << 8;
}

static void check_format(const format *f)
{
    static const int values[CHUNKS] = {300, -1, 0, 65535};
    bed b;
    pp_shard shard;
    int i;
    set_up(&b, f);
    put_shard(&b, "a/c/1", values);
    assert_ok(pp_shard_open(&b.context, 1, &shard));
    assert_int_equal(shard.number, 1);
    assert_string_equal(shard.key, "a/c/1");
    for (i = 0; i < CHUNKS; i++)
        assert_int_equal(read_value(&b, &shard, i), values[i]);
    pp_shard_close(&shard);
    tear_down(&b);
}

static void test_shard__index_is_read_at_either_end_in_either_order_with_and_without_checksum(void **state)
{
    static const char *const endians[] = {"little", "big"}, *const locations[] = {"start", "end"};
    static const char *const checksums[] = {"", ",{\"name\":\"crc32c\"}"};
    long live = pp_memory_live_count();
    int i;
    (void)state;
    for (i = 0; i < 16; i++)
        check_format(&(format){endians[i & 1], locations[i >> 1 & 1], checksums[i >> 2 & 1], checksums[i >> 3 & 1]});
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_shard__never_written_opens_as_absent(void **state)
{
    bed b;
    pp_shard shard;
    pp_shard_record record;
    int i;
    (void)state;
    set_up(&b, &plain);
    assert_ok(pp_shard_open(&b.context, 0, &shard));
    assert_null(shard.reader);
    for (i = 0; i < CHUNKS; i++)
        assert_false(pp_shard_has_chunk(&shard, i));
    assert_ok(pp_shard_describe(&b.context, &shard, &record));
    assert_true(record.bytes == PP_SHARD_ABSENT);
    assert_int_equal(record.chunk_count, 0);
    pp_shard_record_clear(&record);
    pp_shard_close(&shard);
    tear_down(&b);
}

static void test_shard__any_other_failure_of_storage_is_not_absence(void **state)
{
    bed b;
    pp_store *faulty;
    pp_fault_plan plan = {.fail_at = 0, .status = PARAPET_ERR_IO};
    pp_shard shard;
    (void)state;
    set_up(&b, &plain);
    assert_ok(pp_store_faulty_build(&faulty, b.store, &plan));
    b.context.store = faulty;
    assert_int_equal(pp_shard_open(&b.context, 0, &shard), PARAPET_ERR_IO);
    pp_shard_close(&shard);
    pp_store_free(faulty);
    tear_down(&b);
}

static void describe(bed *b, const int values[CHUNKS], pp_shard_record *record)
{
    pp_shard shard;
    put_shard(b, "a/c/0", values);
    assert_ok(pp_shard_open(&b->context, 0, &shard));
    assert_ok(pp_shard_describe(&b->context, &shard, record));
    pp_shard_close(&shard);
}

static void check_descriptions(const format *f)
{
    static const int values[CHUNKS] = {1, 2, 3, 4};
    pp_shard_record first, again, other;
    bed b;
    int i;
    set_up(&b, f);
    describe(&b, values, &first);
    describe(&b, values, &again);
    assert_int_equal(first.chunk_count, CHUNKS);
    assert_true(pp_shard_record_equals(&first, &again));
    pp_shard_record_clear(&again);
    for (i = 0; i < CHUNKS; i++) {
        int changed[CHUNKS] = {1, 2, 3, 4};
        changed[i] = 300;
        describe(&b, changed, &other);
        assert_int_equal(other.bytes, first.bytes);
        assert_int_equal(other.index_crc32c, first.index_crc32c); /* only the checksums tell */
        assert_false(pp_shard_record_equals(&first, &other));
        pp_shard_record_clear(&other);
        changed[i] = -1;
        describe(&b, changed, &other);
        assert_int_equal(other.chunk_count, CHUNKS - 1);
        assert_false(pp_shard_record_equals(&first, &other));
        pp_shard_record_clear(&other);
    }
    describe(&b, (int[CHUNKS]){2, 1, 3, 4}, &other); /* the same chunks in other places */
    assert_memory_not_equal(first.checksums, other.checksums, CHUNKS * sizeof first.checksums[0]);
    pp_shard_record_clear(&first);
    pp_shard_record_clear(&other);
    tear_down(&b);
}

static void test_shard__descriptions_are_equal_only_for_equal_contents(void **state)
{
    (void)state;
    check_descriptions(&plain);
    check_descriptions(&(format){"little", "end", ",{\"name\":\"crc32c\"}", ""});
    check_descriptions(&(format){"big", "start", "", ""});
}

static void test_shard__empty_shard_is_described_and_differs_from_an_absent_one(void **state)
{
    pp_shard_record record;
    bed b;
    (void)state;
    set_up(&b, &plain);
    describe(&b, (int[CHUNKS]){-1, -1, -1, -1}, &record);
    assert_int_equal(record.bytes, 16 * CHUNKS + 4);
    assert_int_equal(record.chunk_count, 0);
    pp_shard_record_clear(&record);
    tear_down(&b);
}

static void test_shard__every_flipped_bit_of_its_index_is_found(void **state)
{
    shard_bytes stored;
    pp_shard shard;
    size_t bit, first;
    bed b;
    (void)state;
    set_up(&b, &plain);
    lay_out(&b, (int[CHUNKS]){1, -1, 3, 4}, &stored);
    first = stored.bytes - pp_index_stored_bytes(&b.made.layout.index);
    for (bit = 8 * first; bit < 8 * stored.bytes; bit++) {
        stored.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        put(&b, "a/c/0", stored.data, stored.bytes);
        assert_fails(pp_shard_open(&b.context, 0, &shard), PARAPET_ERR_CORRUPT, "a/c/0");
        pp_shard_close(&shard);
        stored.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    tear_down(&b);
}

static void test_shard__every_truncation_is_found(void **state)
{
    shard_bytes stored;
    pp_shard shard;
    size_t bytes;
    bed b;
    (void)state;
    set_up(&b, &plain);
    lay_out(&b, (int[CHUNKS]){1, 2, 3, 4}, &stored);
    for (bytes = 0; bytes < stored.bytes; bytes++) {
        put(&b, "a/c/0", stored.data, bytes);
        assert_fails(pp_shard_open(&b.context, 0, &shard), PARAPET_ERR_CORRUPT, "a/c/0");
        pp_shard_close(&shard);
    }
    tear_down(&b);
}

static void test_shard__chunk_longer_than_any_encoding_is_refused(void **state)
{
    static unsigned char stored[200000];
    pp_chunk_entry entries[CHUNKS] = {{0, 100000}, {100000, 6}, {100006, 6}, {100012, 6}};
    size_t index_bytes;
    pp_shard shard;
    bed b;
    (void)state;
    set_up(&b, &plain);
    index_bytes = pp_index_stored_bytes(&b.made.layout.index);
    pp_index_encode(&b.made.layout.index, entries, stored + 100018);
    put(&b, "a/c/0", stored, 100018 + index_bytes);
    assert_ok(pp_shard_open(&b.context, 0, &shard));
    assert_fails(pp_shard_check_chunk_bytes(&b.context, &shard, 0), PARAPET_ERR_CORRUPT,
                 "a/c/0: chunk 0 takes 100000 bytes, but decodes to 2");
    assert_ok(pp_shard_check_chunk_bytes(&b.context, &shard, 1));
    pp_shard_close(&shard);
    tear_down(&b);
}

/* ---- Seals ---- */

typedef struct sealed {
    pp_shard_record record;
    parapet_status status;
    int64_t asked;
} sealed;

static parapet_status look_up(void *context, int64_t shard, pp_seal_visitor visit, void *subject)
{
    sealed *s = context;
    s->asked = shard;
    return s->status == PARAPET_OK ? visit(subject, &s->record) : s->status;
}

/* Opens the shard, and reads each of its chunks. */
static parapet_status open_sealed(bed *b, sealed *s)
{
    unsigned char encoded[6];
    pp_shard shard;
    parapet_status status;
    int64_t chunk;
    bool is_open;
    b->context.seal = look_up;
    b->context.seal_context = s;
    status = pp_shard_open(&b->context, 0, &shard);
    is_open = status == PARAPET_OK;
    for (chunk = 0; chunk < CHUNKS && status == PARAPET_OK; chunk++) {
        const pp_chunk_entry *entry = shard.entries != NULL ? &shard.entries[chunk] : NULL;
        if (!pp_shard_has_chunk(&shard, chunk))
            continue;
        assert_ok(pp_shard_read(&b->context, &shard, entry->offset, (size_t)entry->bytes, encoded));
        status = pp_shard_verify_chunk(&b->context, &shard, chunk, (pp_bytes){encoded, (size_t)entry->bytes});
    }
    if (is_open)
        assert_int_equal(pp_shard_verify_all(&b->context, &shard), status);
    pp_shard_close(&shard);
    b->context.seal = NULL;
    return status;
}

static void test_shard__of_a_sealed_array_is_the_one_that_was_sealed(void **state)
{
    static const int values[CHUNKS] = {1, 2, 3, 4};
    sealed s = {.record = {.bytes = PP_SHARD_ABSENT}, .asked = -1};
    bed b;
    (void)state;
    set_up(&b, &plain);
    assert_ok(open_sealed(&b, &s));
    assert_int_equal(s.asked, 0);
    put_shard(&b, "a/c/0", values);
    assert_fails(open_sealed(&b, &s), PARAPET_ERR_CORRUPT, "a/c/0 was not there");
    describe(&b, values, &s.record);
    assert_ok(open_sealed(&b, &s));
    put_shard(&b, "a/c/0", (int[CHUNKS]){1, 2, 3, 5});
    assert_fails(open_sealed(&b, &s), PARAPET_ERR_CORRUPT, "the contents of chunk 3 differ");
    put_shard(&b, "a/c/0", (int[CHUNKS]){1, 2, 3, -1});
    assert_fails(open_sealed(&b, &s), PARAPET_ERR_CORRUPT, "its lengths differ");
    pp_shard_record_clear(&s.record);
    describe(&b, (int[CHUNKS]){1, 2, 3, -1}, &s.record);
    put_shard(&b, "a/c/0", (int[CHUNKS]){1, 2, -1, 3});
    assert_fails(open_sealed(&b, &s), PARAPET_ERR_CORRUPT, "its indexes differ");
    assert_ok(pp_store_remove(b.store, "a/c/0"));
    assert_fails(open_sealed(&b, &s), PARAPET_ERR_MISSING, "a/c/0 is missing");
    s.status = PARAPET_ERR_IO;
    assert_int_equal(open_sealed(&b, &s), PARAPET_ERR_IO);
    pp_shard_record_clear(&s.record);
    tear_down(&b);
}

static void test_shard__of_a_seal_that_counts_other_chunks_is_refused(void **state)
{
    sealed s = {.asked = -1};
    bed b;
    (void)state;
    set_up(&b, &plain);
    describe(&b, (int[CHUNKS]){1, 2, 3, 4}, &s.record);
    s.record.chunk_count = 3;
    assert_fails(open_sealed(&b, &s), PARAPET_ERR_CORRUPT, "it has 4 chunks instead of 3");
    pp_shard_record_clear(&s.record);
    tear_down(&b);
}

static void test_shard__of_a_sealed_array_needs_room_for_checksums_in_the_budget(void **state)
{
    sealed s = {.asked = -1};
    pp_shard shard;
    bed b;
    (void)state;
    set_up(&b, &plain);
    describe(&b, (int[CHUNKS]){1, 2, 3, 4}, &s.record);
    b.context.seal = look_up;
    b.context.seal_context = &s;
    assert_ok(pp_shard_open(&b.context, 0, &shard));
    assert_int_equal(BUDGET_BYTES - pp_budget_available(&b.budget), CHUNKS * (sizeof(pp_chunk_entry) + 4));
    pp_shard_close(&shard);
    pp_shard_record_clear(&s.record);
    tear_down(&b);
}

static void test_shard__needs_room_for_its_index_in_the_budget(void **state)
{
    pp_shard shard;
    bed b;
    (void)state;
    set_up(&b, &plain);
    put_shard(&b, "a/c/0", (int[CHUNKS]){1, 2, 3, 4});
    b.budget.limit_bytes = CHUNKS * sizeof(pp_chunk_entry) - 1;
    assert_fails(pp_shard_open(&b.context, 0, &shard), PARAPET_ERR_MEMORY, "shard indexes");
    pp_shard_close(&shard);
    b.budget.limit_bytes = BUDGET_BYTES;
    assert_ok(pp_shard_open(&b.context, 0, &shard));
    assert_int_equal(BUDGET_BYTES - pp_budget_available(&b.budget), CHUNKS * sizeof(pp_chunk_entry));
    pp_shard_close(&shard);
    tear_down(&b);
}

static int refuse_nth(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

static void test_shard__leaves_nothing_behind_whatever_allocation_fails(void **state)
{
    parapet_status status = PARAPET_ERR_MEMORY;
    pp_shard shard;
    int nth, left;
    long live;
    bed b;
    (void)state;
    set_up(&b, &plain);
    put_shard(&b, "a/c/0", (int[CHUNKS]){1, 2, 3, 4});
    live = pp_memory_live_count();
    for (nth = 0; status != PARAPET_OK; nth++) {
        left = nth;
        pp_memory_hook_set(refuse_nth, &left);
        status = pp_shard_open(&b.context, 0, &shard);
        pp_memory_hook_set(NULL, NULL);
        pp_shard_close(&shard);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_MEMORY);
        assert_int_equal(pp_memory_live_count(), live);
        assert_int_equal(pp_budget_available(&b.budget), BUDGET_BYTES);
    }
    assert_true(nth > 3);
    tear_down(&b);
}

static void test_shard__of_an_unsharded_array_is_one_chunk(void **state)
{
    static const char json[] = "\"shape\":[8],\"data_type\":\"uint16\",\"fill_value\":0,"
                               "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4]}},"
                               "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";
    pp_shard_record record, other;
    pp_shard shard;
    bed b;
    (void)state;
    set_up(&b, &plain);
    laid_out_clear(&b.made);
    laid_out_init(&b.made, json);
    put(&b, "a/c/0", "12345678", 8);
    put(&b, "a/c/1", "12345679", 8);
    assert_ok(pp_shard_open(&b.context, 0, &shard));
    assert_int_equal(shard.entries[0].bytes, 8);
    assert_ok(pp_shard_describe(&b.context, &shard, &record));
    pp_shard_close(&shard);
    assert_ok(pp_shard_open(&b.context, 1, &shard));
    assert_ok(pp_shard_describe(&b.context, &shard, &other));
    pp_shard_close(&shard);
    assert_int_equal(record.index_crc32c, 0);
    assert_int_equal(record.chunk_count, 1);
    assert_false(pp_shard_record_equals(&record, &other));
    pp_shard_record_clear(&record);
    pp_shard_record_clear(&other);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shard__index_is_read_at_either_end_in_either_order_with_and_without_checksum),
        cmocka_unit_test(test_shard__never_written_opens_as_absent),
        cmocka_unit_test(test_shard__any_other_failure_of_storage_is_not_absence),
        cmocka_unit_test(test_shard__descriptions_are_equal_only_for_equal_contents),
        cmocka_unit_test(test_shard__empty_shard_is_described_and_differs_from_an_absent_one),
        cmocka_unit_test(test_shard__every_flipped_bit_of_its_index_is_found),
        cmocka_unit_test(test_shard__every_truncation_is_found),
        cmocka_unit_test(test_shard__chunk_longer_than_any_encoding_is_refused),
        cmocka_unit_test(test_shard__of_a_sealed_array_is_the_one_that_was_sealed),
        cmocka_unit_test(test_shard__of_a_seal_that_counts_other_chunks_is_refused),
        cmocka_unit_test(test_shard__of_a_sealed_array_needs_room_for_checksums_in_the_budget),
        cmocka_unit_test(test_shard__needs_room_for_its_index_in_the_budget),
        cmocka_unit_test(test_shard__leaves_nothing_behind_whatever_allocation_fails),
        cmocka_unit_test(test_shard__of_an_unsharded_array_is_one_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
