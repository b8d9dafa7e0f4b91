/* The log of the arrays of a hierarchy that are copied: only whole lines count. */
#include "support.h"

#include "copy/tree_log.h"

#define KEY "g/__parapet/copy/finished"
#define HEAD                                                                                                         \
    "chunks: as the source; shards: as the source; order: as the source; region: as the source; codec: as the "      \
    "source; no_checksum: 0; unit_bytes: 0; intermediate store: the target's\n"

static parapet_status look_for(const char *lines, size_t bytes, const char *path)
{
    static const parapet_copy_request request = {.resume = 1};
    pp_copy_tree_log log = {0};
    parapet_status status;
    assert_ok(pp_store_memory_build(&log.store, NULL));
    assert_ok(pp_store_write_all(log.store, &(pp_write_request){.key = KEY, .staging = "", .is_small = true}, lines,
                                 bytes, PP_PUBLISH_REPLACE));
    assert_ok(pp_text_duplicate(&log.key, KEY));
    status = pp_copy_tree_log_open(&log, &request, "g");
    if (status == PARAPET_OK)
        status = pp_copy_tree_log_check(&log, path, 0x1234);
    pp_copy_tree_log_clear(&log);
    pp_store_free(log.store);
    return status;
}

static void test_tree_log__knows_what_is_copied(void **state)
{
    static const char lines[] = HEAD "0000000000001234 g/a\n0000000000005678 g/b\n0000000000001234 g/c";
    (void)state;
    assert_ok(look_for(lines, sizeof lines - 1, "g/a"));
    assert_int_equal(look_for(lines, sizeof lines - 1, "g/b"), PARAPET_ERR_ARGUMENT);
    assert_int_equal(look_for(lines, sizeof lines - 1, "g/c"), PARAPET_ERR_EXISTS);
    assert_int_equal(look_for("x\n", 2, "g/a"), PARAPET_ERR_ARGUMENT);
    assert_int_equal(look_for("x", 1, "g/a"), PARAPET_ERR_EXISTS); /* nothing was begun */
}

/* A line that damage has cut short is not whole because another one ends behind it. */
static void test_tree_log__ends_at_a_zero_byte(void **state)
{
    static const char lines[] = HEAD "0000000000001234 g/a\0 0000000000001234 g/b\n";
    (void)state;
    assert_int_equal(look_for(lines, sizeof lines - 1, "g/a"), PARAPET_ERR_EXISTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_log__knows_what_is_copied),
        cmocka_unit_test(test_tree_log__ends_at_a_zero_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
