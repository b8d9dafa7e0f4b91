/* The journal of a copy: what was recorded is told again, and of what a crash cut short the whole records. */
#include "support.h"

#include "copy/journal.h"

#define STATE "array/__parapet/copy/pass-0"
#define WORK_UNIT 7
#define JOURNAL STATE "/lot-7"
#define TEMPLATES 3
#define SHARDS_MOST 4
#define CHUNKS_MOST 5

typedef struct recorded_shard {
    pp_journal_shard shard;
    pp_journal_chunk chunks[CHUNKS_MOST];
} recorded_shard;

typedef struct recorded {
    int64_t shard_count;
    recorded_shard shards[SHARDS_MOST];
} recorded;

/* What a reader is told, against what was recorded. */
typedef struct told {
    const recorded *expected;
    int64_t template_number, shard, chunk; /* the next; chunks of the shard before are all told */
} told;

/* Another one each time: what is in memory stays there under its name. */
static pp_store *open_store(void)
{
    static int count;
    char name[32];
    pp_store *store;
    (void)snprintf(name, sizeof name, "journal-%d", count++);
    assert_ok(pp_store_memory_build(&store, name));
    return store;
}

/* ---- Finished work units ---- */

static void add_done(pp_store *store, int rank, const int64_t *units, int count)
{
    pp_log *log;
    int i;
    assert_ok(pp_done_log_open(&log, store, STATE, rank));
    for (i = 0; i < count; i++)
        assert_ok(pp_done_log_add(log, units[i]));
    pp_log_close(log);
}

static void assert_done(pp_store *store, const bool *is_done, int64_t unit_count)
{
    pp_done_units found;
    int64_t unit;
    assert_ok(pp_done_units_load(&found, store, STATE, unit_count));
    for (unit = 0; unit < unit_count; unit++)
        assert_int_equal(pp_done_units_has(&found, unit), is_done[unit]);
    pp_done_units_clear(&found);
}

static void test_done_units__are_found_whoever_did_them(void **state)
{
    pp_store *store = open_store();
    bool is_done[40] = {false};
    (void)state;
    assert_done(store, is_done, 40);
    add_done(store, 0, (int64_t[]){0, 4, 8}, 3);
    add_done(store, 3, (int64_t[]){3, 39}, 2);
    is_done[0] = is_done[4] = is_done[8] = is_done[3] = is_done[39] = true;
    assert_done(store, is_done, 40);
    add_done(store, 0, (int64_t[]){12}, 1);
    is_done[12] = true;
    assert_done(store, is_done, 40);
    pp_store_free(store);
}

/* ---- Bytes of an object ---- */

static size_t load(pp_store *store, const char *key, unsigned char *bytes, size_t most)
{
    pp_reader *reader;
    size_t count;
    assert_ok(pp_store_open_object(store, key, &reader));
    count = (size_t)reader->bytes;
    assert_true(count <= most);
    assert_ok(pp_reader_read(reader, 0, count, bytes));
    pp_reader_free(reader);
    return count;
}

static void replace(pp_store *store, const char *key, const unsigned char *bytes, size_t count)
{
    pp_log *log;
    assert_ok(pp_store_open_log(store, key, 0, &log));
    assert_ok(pp_log_append(log, bytes, count));
    pp_log_close(log);
}

/* What no copy of so many work units can have written: numbers beyond them, other objects, a log without end. */
static void test_done_units__what_is_not_of_this_copy_does_not_count(void **state)
{
    static unsigned char records[2 * (8 + 129) * 16];
    pp_store *store = open_store();
    bool is_done[8] = {false};
    pp_done_units found;
    (void)state;
    add_done(store, 0, (int64_t[]){-1, 8, INT64_MAX, INT64_MIN, 5}, 5);
    replace(store, STATE "/done-1/of-others", records, 16);
    replace(store, STATE "/gone-1", records, 16);
    is_done[5] = true;
    assert_done(store, is_done, 8);
    replace(store, STATE "/done-2", records, sizeof records - 1);
    assert_done(store, is_done, 8);
    replace(store, STATE "/done-2", records, sizeof records);
    assert_fails(pp_done_units_load(&found, store, STATE, 8), PARAPET_ERR_CORRUPT, "more than 8 work units can need");
    pp_done_units_clear(&found);
    pp_store_free(store);
}

static void test_done_units__torn_and_damaged_records_do_not_count(void **state)
{
    pp_store *store = open_store();
    bool is_done[8] = {false};
    unsigned char bytes[256];
    size_t count;
    (void)state;
    add_done(store, 0, (int64_t[]){1, 2, 3}, 3);
    count = load(store, STATE "/done-0", bytes, sizeof bytes);
    bytes[count / 3] ^= 1; /* the first byte of the second */
    replace(store, STATE "/done-0", bytes, count - 1);
    is_done[1] = true;
    assert_done(store, is_done, 8);
    /* What is added comes after the whole records, torn ones are overwritten. */
    add_done(store, 0, (int64_t[]){5}, 1);
    is_done[5] = true;
    assert_done(store, is_done, 8);
    assert_int_equal(load(store, STATE "/done-0", bytes, sizeof bytes), count);
    pp_store_free(store);
}

/* ---- Templates of a work unit ---- */

static recorded choose_record(test_random *random)
{
    recorded made = {.shard_count = test_random_between(random, 0, SHARDS_MOST)};
    int64_t s, c;
    for (s = 0; s < made.shard_count; s++) {
        recorded_shard *its = &made.shards[s];
        its->shard = (pp_journal_shard){.shard = (int64_t)(test_random_next(random) >> 1),
                                        .bytes = test_random_next(random),
                                        .chunk_count = test_random_between(random, 0, CHUNKS_MOST)};
        for (c = 0; c < its->shard.chunk_count; c++)
            its->chunks[c] = (pp_journal_chunk){.chunk = (int64_t)(test_random_next(random) >> 1),
                                                .entry = {test_random_next(random), test_random_next(random)},
                                                .crc32c = (uint32_t)test_random_next(random)};
    }
    return made;
}

/* Takes room for all that there can be: the record is as long as what is added. */
static void write_record(pp_log *log, pp_journal_record *record, int64_t number, const recorded *of)
{
    int64_t s, c;
    assert_ok(pp_journal_record_begin(record, number, of->shard_count, SHARDS_MOST * CHUNKS_MOST));
    for (s = 0; s < of->shard_count; s++) {
        pp_journal_record_add_shard(record, &of->shards[s].shard);
        for (c = 0; c < of->shards[s].shard.chunk_count; c++)
            pp_journal_record_add_chunk(record, &of->shards[s].chunks[c]);
    }
    assert_ok(pp_journal_record_write(record, log));
}

/* ends[i]: bytes of the first i records. */
static void write_journal(pp_store *store, const recorded *records, uint64_t *ends)
{
    unsigned char bytes[8192];
    pp_journal_record record = {0};
    pp_log *log;
    int64_t i;
    assert_ok(pp_journal_open(&log, store, STATE, WORK_UNIT, 0));
    for (ends[0] = 0, i = 0; i < TEMPLATES; i++) {
        write_record(log, &record, i, &records[i]);
        ends[i + 1] = load(store, JOURNAL, bytes, sizeof bytes);
    }
    pp_log_close(log);
    pp_journal_record_free(&record);
}

static parapet_status hear_shard(void *context, int64_t template_number, const pp_journal_shard *shard)
{
    told *so_far = context;
    const pp_journal_shard *expected;
    if (template_number != so_far->template_number) {
        so_far->template_number = template_number;
        so_far->shard = 0;
    }
    assert_true(so_far->shard < so_far->expected[template_number].shard_count);
    expected = &so_far->expected[template_number].shards[so_far->shard++].shard;
    so_far->chunk = 0;
    assert_int_equal(shard->shard, expected->shard);
    assert_int_equal(shard->bytes, expected->bytes);
    assert_int_equal(shard->chunk_count, expected->chunk_count);
    return PARAPET_OK;
}

static parapet_status hear_chunk(void *context, const pp_journal_shard *shard, const pp_journal_chunk *chunk)
{
    told *so_far = context;
    const recorded_shard *of = &so_far->expected[so_far->template_number].shards[so_far->shard - 1];
    const pp_journal_chunk *expected = &of->chunks[so_far->chunk++];
    assert_true(so_far->chunk <= of->shard.chunk_count);
    assert_int_equal(shard->shard, of->shard.shard);
    assert_int_equal(chunk->chunk, expected->chunk);
    assert_int_equal(chunk->entry.offset, expected->entry.offset);
    assert_int_equal(chunk->entry.bytes, expected->entry.bytes);
    assert_int_equal(chunk->crc32c, expected->crc32c);
    return PARAPET_OK;
}

static pp_journal_reader hearing(told *so_far)
{
    return (pp_journal_reader){.context = so_far,
                               .most_bytes = pp_journal_record_most(1000, 100000),
                               .most_templates = TEMPLATES,
                               .shard = hear_shard,
                               .chunk = hear_chunk};
}

/* The journal has the first so many records, and nothing else is told. */
static parapet_status take_shard(void *context, int64_t template_number, const pp_journal_shard *shard)
{
    (void)context;
    (void)template_number;
    (void)shard;
    return PARAPET_OK;
}

static parapet_status refuse_chunk(void *context, const pp_journal_shard *shard, const pp_journal_chunk *chunk)
{
    (void)context;
    (void)shard;
    (void)chunk;
    return PARAPET_ERR_STALE;
}

static void assert_told(pp_store *store, const recorded *records, int64_t count, uint64_t bytes)
{
    told so_far = {.expected = records, .template_number = -1};
    pp_journal_reader reader = hearing(&so_far);
    int64_t templates = -1;
    uint64_t whole = 1;
    assert_ok(pp_journal_read(store, STATE, WORK_UNIT, &reader, &templates, &whole));
    assert_int_equal(templates, count);
    assert_int_equal(whole, bytes);
    assert_true(so_far.template_number < count);
    if (count > 0 && records[count - 1].shard_count > 0) {
        assert_int_equal(so_far.template_number, count - 1);
        assert_int_equal(so_far.shard, records[count - 1].shard_count);
    }
}

static int64_t whole_records(const uint64_t *ends, uint64_t bytes)
{
    int64_t count = TEMPLATES;
    while (ends[count] > bytes)
        count--;
    return count;
}

static void test_journal__cut_anywhere_tells_its_whole_records_and_is_continued(void **state)
{
    test_random random = test_random_start();
    pp_journal_record record = {0};
    pp_store *store = open_store();
    unsigned char bytes[8192];
    recorded records[TEMPLATES];
    uint64_t ends[TEMPLATES + 1], cut;
    int64_t i;
    (void)state;
    for (i = 0; i < TEMPLATES; i++)
        records[i] = choose_record(&random);
    assert_told(store, records, 0, 0);
    write_journal(store, records, ends);
    assert_true(load(store, JOURNAL, bytes, sizeof bytes) == ends[TEMPLATES]);
    assert_told(store, records, TEMPLATES, ends[TEMPLATES]);
    for (cut = 0; cut <= ends[TEMPLATES]; cut++) {
        int64_t count = whole_records(ends, cut);
        pp_log *log;
        replace(store, JOURNAL, bytes, (size_t)cut);
        assert_told(store, records, count, ends[count]);
        assert_ok(pp_journal_open(&log, store, STATE, WORK_UNIT, ends[count]));
        for (i = count; i < TEMPLATES; i++)
            write_record(log, &record, i, &records[i]);
        pp_log_close(log);
        assert_told(store, records, TEMPLATES, ends[TEMPLATES]);
    }
    assert_ok(pp_journal_remove(store, STATE, WORK_UNIT));
    assert_ok(pp_journal_remove(store, STATE, WORK_UNIT));
    assert_told(store, records, 0, 0);
    pp_journal_record_free(&record);
    pp_store_free(store);
}

static void test_journal__ends_before_a_damaged_record(void **state)
{
    test_random random = test_random_start();
    pp_store *store = open_store();
    unsigned char bytes[8192];
    recorded records[TEMPLATES];
    uint64_t ends[TEMPLATES + 1], at;
    int64_t i;
    (void)state;
    for (i = 0; i < TEMPLATES; i++)
        records[i] = choose_record(&random);
    write_journal(store, records, ends);
    (void)load(store, JOURNAL, bytes, sizeof bytes);
    for (at = 0; at < ends[TEMPLATES]; at++) {
        int64_t count = whole_records(ends, at);
        unsigned char bit = (unsigned char)(1u << test_random_between(&random, 0, 7));
        bytes[at] ^= bit;
        replace(store, JOURNAL, bytes, (size_t)ends[TEMPLATES]);
        assert_told(store, records, count, ends[count]);
        bytes[at] ^= bit;
    }
    pp_store_free(store);
}

static void test_journal__a_record_out_of_turn_is_refused(void **state)
{
    recorded none = {0};
    told so_far = {.expected = &none, .template_number = -1};
    pp_journal_reader reader = hearing(&so_far);
    pp_store *store = open_store();
    pp_journal_record record = {0};
    int64_t templates;
    uint64_t bytes;
    pp_log *log;
    (void)state;
    assert_ok(pp_journal_open(&log, store, STATE, WORK_UNIT, 0));
    write_record(log, &record, 0, &none);
    write_record(log, &record, 2, &none);
    pp_log_close(log);
    assert_fails(pp_journal_read(store, STATE, WORK_UNIT, &reader, &templates, &bytes), PARAPET_ERR_CORRUPT,
                 "makes no sense");
    pp_journal_record_free(&record);
    pp_store_free(store);
}

static void test_journal__more_templates_than_there_are_is_refused(void **state)
{
    recorded none = {0};
    told so_far = {.expected = &none, .template_number = -1};
    pp_journal_reader reader = hearing(&so_far);
    pp_store *store = open_store();
    pp_journal_record record = {0};
    int64_t templates;
    uint64_t bytes;
    pp_log *log;
    (void)state;
    reader.most_templates = 1;
    assert_ok(pp_journal_open(&log, store, STATE, WORK_UNIT, 0));
    write_record(log, &record, 0, &none);
    write_record(log, &record, 1, &none);
    pp_log_close(log);
    assert_fails(pp_journal_read(store, STATE, WORK_UNIT, &reader, &templates, &bytes), PARAPET_ERR_CORRUPT,
                 "makes no sense");
    pp_journal_record_free(&record);
    pp_store_free(store);
}

/* A record whose checksum is right and whose counts are not: as another program might write it. */
static void test_journal__a_record_that_counts_more_than_it_has_is_refused(void **state)
{
    recorded made = {.shard_count = 1, .shards = {{.shard = {.shard = 3, .bytes = 9, .chunk_count = 2}}}};
    told so_far = {.expected = &made, .template_number = -1};
    pp_journal_reader reader = hearing(&so_far);
    pp_store *store = open_store();
    pp_journal_record record = {0};
    int64_t templates;
    uint64_t bytes;
    pp_log *log;
    (void)state;
    assert_ok(pp_journal_open(&log, store, STATE, WORK_UNIT, 0));
    assert_ok(pp_journal_record_begin(&record, 0, 1, 2));
    pp_journal_record_add_shard(&record, &made.shards[0].shard);
    pp_journal_record_add_chunk(&record, &made.shards[0].chunks[0]);
    assert_ok(pp_journal_record_write(&record, log));
    pp_log_close(log);
    assert_fails(pp_journal_read(store, STATE, WORK_UNIT, &reader, &templates, &bytes), PARAPET_ERR_CORRUPT,
                 "makes no sense");
    pp_journal_record_free(&record);
    pp_store_free(store);
}

/* One that has more than it counts, and one of which the first shard is refused, with another behind it. */
static void test_journal__what_is_left_of_a_record_is_refused(void **state)
{
    const pp_journal_reader reader = {
        .most_bytes = 1000, .most_templates = 10, .shard = take_shard, .chunk = refuse_chunk};
    pp_store *store = open_store();
    pp_journal_record record = {0};
    pp_log *log;
    int is_counted;
    (void)state;
    for (is_counted = 0; is_counted < 2; is_counted++) {
        const pp_journal_chunk chunk = {.chunk = 1};
        const pp_journal_shard shard = {.shard = 3, .bytes = 9, .chunk_count = is_counted};
        int64_t templates;
        uint64_t bytes;
        assert_ok(pp_journal_open(&log, store, STATE, WORK_UNIT, 0));
        assert_ok(pp_journal_record_begin(&record, 0, 1 + is_counted, 2));
        pp_journal_record_add_shard(&record, &shard);
        pp_journal_record_add_chunk(&record, &chunk);
        pp_journal_record_add_shard(&record, &shard);
        assert_ok(pp_journal_record_write(&record, log));
        pp_log_close(log);
        assert_int_equal(pp_journal_read(store, STATE, WORK_UNIT, &reader, &templates, &bytes),
                         is_counted ? PARAPET_ERR_STALE : PARAPET_ERR_CORRUPT);
        assert_int_equal(templates, 0);
    }
    pp_journal_record_free(&record);
    pp_store_free(store);
}

static void test_journal__the_most_of_a_record_never_overflows(void **state)
{
    const uint64_t shards = UINT64_MAX / 24, chunks = UINT64_MAX / 28;
    (void)state;
    assert_true(pp_journal_record_most(0, 0) == 16);
    assert_true(pp_journal_record_most(2, 3) == 16 + 2 * 24 + 3 * 28);
    assert_true(pp_journal_record_most((int64_t)shards + 1, 0) == UINT64_MAX);
    assert_true(pp_journal_record_most(0, (int64_t)chunks + 1) == UINT64_MAX);
    assert_true(pp_journal_record_most((int64_t)shards, 1) == UINT64_MAX);
    assert_true(pp_journal_record_most((int64_t)shards, 0) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal__what_is_left_of_a_record_is_refused),
        cmocka_unit_test(test_journal__the_most_of_a_record_never_overflows),
        cmocka_unit_test(test_done_units__are_found_whoever_did_them),
        cmocka_unit_test(test_done_units__what_is_not_of_this_copy_does_not_count),
        cmocka_unit_test(test_done_units__torn_and_damaged_records_do_not_count),
        cmocka_unit_test(test_journal__cut_anywhere_tells_its_whole_records_and_is_continued),
        cmocka_unit_test(test_journal__ends_before_a_damaged_record),
        cmocka_unit_test(test_journal__a_record_out_of_turn_is_refused),
        cmocka_unit_test(test_journal__more_templates_than_there_are_is_refused),
        cmocka_unit_test(test_journal__a_record_that_counts_more_than_it_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
