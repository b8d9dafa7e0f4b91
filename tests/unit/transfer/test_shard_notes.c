#include "support.h"

#include "transfer/shard_notes.h"

/* Notes one shard of so many chunks, in a write of its own. */
static void note(pp_shard_notes *notes, int64_t shard, uint64_t chunk_count)
{
    pp_shard_record record = {.bytes = 1, .chunk_count = (uint32_t)chunk_count};
    assert_ok(pp_allocate_array(&record.checksums, chunk_count, sizeof record.checksums[0]));
    pp_shard_notes_begin(notes);
    assert_ok(pp_shard_notes_reserve(notes, 1));
    pp_shard_notes_add(notes, shard, &record, 0);
    pp_shard_notes_end(notes);
    pp_free(record.checksums);
}

static void test_shard_notes__of_too_many_chunks_are_lost(void **state)
{
    const uint64_t half = PP_NOTED_CHUNKS_MOST / 2;
    pp_shard_notes notes = {0};
    long live = pp_memory_live_count();
    int i;
    (void)state;
    note(&notes, 0, half);
    for (i = 0; i < 3; i++)
        note(&notes, 1, half);
    assert_int_equal(notes.count, 2);
    assert_int_equal(notes.lost_serial, 0);
    note(&notes, 2, 1);
    assert_int_equal(notes.count, 0);
    assert_int_equal(notes.lost_serial, notes.serial);
    note(&notes, 3, half);
    assert_int_equal(notes.count, 1);
    pp_shard_notes_drop(&notes, 0);
    assert_int_equal(notes.chunk_count, 0);
    pp_shard_notes_clear(&notes);
    assert_int_equal(pp_memory_live_count(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shard_notes__of_too_many_chunks_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
