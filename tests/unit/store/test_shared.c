#include "scratch.h"

#include "store/internal.h"

enum { WRITERS = 3, PIECE = 5000, WHOLE = 7 * PIECE };

typedef struct sharing {
    scratch made;
    pp_store *store;
    pp_writer *writer;
    char *key; /* of the temporary object */
    pp_shared *shared[WRITERS];
    unsigned char bytes[WHOLE];
} sharing;

/* A store that has an old object already, and several that write the new one. */
static void begin(sharing *used, bool has_openat2)
{
    pp_write_request request = {.key = "whole", .staging = "", .is_small = true};
    size_t i;
    *used = (sharing){.made = scratch_make(SCRATCH_HERE)};
    used->store = scratch_store(&used->made, PP_DIRECT_IO_NEVER);
    ((pp_posix_store *)used->store)->has_openat2 &= has_openat2;
    write_file(scratch_path(&used->made, "store/whole"), "old");
    for (i = 0; i < WHOLE; i++)
        used->bytes[i] = (unsigned char)(i * 31 + i / 257);
    assert_ok(pp_store_begin(used->store, &request, &used->writer));
    assert_ok(pp_store_posix_share(used->writer, WHOLE, &used->key));
    for (i = 0; i < WRITERS; i++)
        assert_ok(pp_shared_open(used->store, used->key, &used->shared[i]));
}

static void write_pieces(sharing *used)
{
    size_t at;
    for (at = 0; at < WHOLE; at += PIECE)
        assert_ok(pp_shared_write(used->shared[at / PIECE % WRITERS], at, used->bytes + at, PIECE));
}

static void close_shared(sharing *used)
{
    int i;
    for (i = 0; i < WRITERS; i++) {
        assert_ok(pp_shared_finish(used->shared[i]));
        pp_shared_free(used->shared[i]);
    }
}

/* And that nothing but the object is left. */
static void end(sharing *used)
{
    pp_writer_free(used->writer);
    assert_int_equal(entry_count(scratch_path(&used->made, "store")), 1);
    pp_free(used->key);
    pp_store_free(used->store);
    scratch_remove(&used->made);
}

static void check_whole(bool has_openat2)
{
    int descriptors = descriptor_count();
    char *data;
    size_t bytes;
    sharing used;
    begin(&used, has_openat2);
    write_pieces(&used);
    close_shared(&used);
    assert_file(scratch_path(&used.made, "store/whole"), "old");
    assert_ok(pp_writer_stage(used.writer));
    assert_ok(pp_writer_publish(used.writer, PP_PUBLISH_REPLACE));
    assert_ok(pp_store_read_all(used.store, "whole", WHOLE, &data, &bytes));
    assert_int_equal(bytes, WHOLE);
    assert_memory_equal(data, used.bytes, WHOLE);
    pp_free(data);
    end(&used);
    assert_int_equal(descriptor_count(), descriptors);
}

static void test_shared__what_several_have_written_is_published_whole(void **state)
{
    (void)state;
    check_whole(true);
    check_whole(false);
}

static void test_shared__what_is_not_published_leaves_the_old_object_alone(void **state)
{
    sharing used;
    (void)state;
    begin(&used, true);
    write_pieces(&used);
    close_shared(&used);
    assert_file(scratch_path(&used.made, "store/whole"), "old");
    end(&used);
}

static void test_shared__everybody_reads_what_the_others_wrote_and_zeros_elsewhere(void **state)
{
    static const unsigned char zeros[PIECE] = {0};
    unsigned char data[PIECE];
    sharing used;
    (void)state;
    begin(&used, true);
    assert_ok(pp_shared_write(used.shared[0], PIECE, used.bytes, PIECE));
    assert_ok(pp_shared_read(used.shared[1], PIECE, data, PIECE));
    assert_memory_equal(data, used.bytes, PIECE);
    assert_ok(pp_shared_read(used.shared[2], WHOLE - PIECE, data, PIECE));
    assert_memory_equal(data, zeros, PIECE);
    assert_int_equal(pp_shared_read(used.shared[2], WHOLE - 1, data, 2), PARAPET_ERR_IO);
    close_shared(&used);
    end(&used);
}

static void test_shared__a_file_that_others_do_not_see_is_told_as_such(void **state)
{
    pp_shared *shared = NULL;
    sharing used;
    (void)state;
    begin(&used, true);
    close_shared(&used);
    pp_writer_free(used.writer);
    used.writer = NULL;
    assert_int_equal(pp_shared_open(used.store, used.key, &shared), PARAPET_ERR_IO);
    assert_non_null(strstr(parapet_error_message(), "do all ranks see the same directory?"));
    assert_null(shared);
    end(&used);
}

static void test_shared__more_than_there_is_space_for_is_refused_at_once(void **state)
{
    pp_write_request request = {.key = "whole", .staging = "", .is_small = true};
    sharing used;
    char *key = NULL;
    pp_writer *writer;
    (void)state;
    begin(&used, true);
    close_shared(&used);
    assert_ok(pp_store_begin(used.store, &request, &writer));
    assert_int_not_equal(pp_store_posix_share(writer, UINT64_C(1) << 60, &key), PARAPET_OK);
    assert_non_null(strstr(parapet_error_message(), "space for whole"));
    assert_null(key);
    pp_writer_free(writer);
    end(&used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared__what_several_have_written_is_published_whole),
        cmocka_unit_test(test_shared__what_is_not_published_leaves_the_old_object_alone),
        cmocka_unit_test(test_shared__everybody_reads_what_the_others_wrote_and_zeros_elsewhere),
        cmocka_unit_test(test_shared__a_file_that_others_do_not_see_is_told_as_such),
        cmocka_unit_test(test_shared__more_than_there_is_space_for_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
