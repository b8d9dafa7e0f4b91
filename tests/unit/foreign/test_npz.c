#include "file.h"

#include "base/status.h"

#define NPY                                                                                                          \
    "\223NUMPY\001\000"                                                                                              \
    "\063\000{'descr': '<i2','fortran_order':False,'shape':(2,)}"
#define NPY_BYTES (sizeof NPY - 1)

typedef struct archive {
    file_bytes file;
    const char *name;
    unsigned method;
    bool is_wide;     /* lengths and start in the extra field */
    unsigned missing; /* bytes of the member, by its entry */
} archive;

static void add_local(archive *a)
{
    add_bytes(&a->file, "PK\003\004", 4);
    add_little(&a->file, 0, 22);
    add_little(&a->file, strlen(a->name), 2);
    add_little(&a->file, 0, 2);
    add_bytes(&a->file, a->name, strlen(a->name));
    add_bytes(&a->file, NPY, NPY_BYTES);
    add_little(&a->file, 258, 2);
    add_little(&a->file, 772, 2);
}

static void add_entry(archive *a)
{
    const uint64_t length = NPY_BYTES + 4 - a->missing, hidden = UINT32_MAX;
    add_bytes(&a->file, "PK\001\002", 4);
    add_little(&a->file, 0, 4);
    add_little(&a->file, 0, 2);
    add_little(&a->file, a->method, 2);
    add_little(&a->file, 0, 8);
    add_little(&a->file, a->is_wide ? hidden : length, 4);
    add_little(&a->file, a->is_wide ? hidden : length, 4);
    add_little(&a->file, strlen(a->name), 2);
    add_little(&a->file, a->is_wide ? 28 : 0, 2);
    add_little(&a->file, 0, 8);
    add_little(&a->file, 0, 2);
    add_little(&a->file, a->is_wide ? hidden : 0, 4);
    add_bytes(&a->file, a->name, strlen(a->name));
    if (!a->is_wide)
        return;
    add_little(&a->file, 1, 2);
    add_little(&a->file, 24, 2);
    add_little(&a->file, length, 8);
    add_little(&a->file, length, 8);
    add_little(&a->file, 0, 8);
}

static void write_archive(archive *a)
{
    uint64_t start;
    a->file.count = 0;
    add_local(a);
    start = a->file.count;
    add_entry(a);
    add_bytes(&a->file, "PK\005\006", 4);
    add_little(&a->file, 0, 6);
    add_little(&a->file, 1, 2);
    add_little(&a->file, a->file.count - 12 - start, 4);
    add_little(&a->file, start, 4);
    add_little(&a->file, 0, 2);
}

static void check_archive(bool is_wide)
{
    archive a = {.name = "t.npy", .is_wide = is_wide};
    opened_file opened;
    write_archive(&a);
    opened = open_bytes(a.file.data, a.file.count, NULL);
    assert_ok(opened.status);
    assert_says(&opened, "zarr.json", "group");
    assert_says(&opened, "t/zarr.json", "int16");
    assert_chunk(&opened, "t/c/0", "\002\001\004\003", 4);
    close_file(&opened);
}

static void test_npz__members_are_arrays(void **state)
{
    (void)state;
    check_archive(false);
    check_archive(true);
}

static void assert_refused(archive *a, parapet_status expected, const char *word)
{
    opened_file opened;
    write_archive(a);
    opened = open_bytes(a->file.data, a->file.count, NULL);
    assert_fails(opened.status, expected, word);
    close_file(&opened);
}

static void test_npz__what_is_compressed_or_no_array_is_named(void **state)
{
    archive deflated = {.name = "t.npy", .method = 8}, other = {.name = "t.txt"};
    (void)state;
    assert_refused(&deflated, PARAPET_ERR_UNSUPPORTED, "savez_compressed");
    assert_refused(&other, PARAPET_ERR_UNSUPPORTED, "t.txt");
}

static void test_npz__an_array_ends_where_its_member_does(void **state)
{
    archive shorter = {.name = "t.npy", .missing = 2}, wide = {.name = "t.npy", .missing = 1, .is_wide = true};
    (void)state;
    assert_refused(&shorter, PARAPET_ERR_CORRUPT, "its part of the file");
    assert_refused(&wide, PARAPET_ERR_CORRUPT, "its part of the file");
}

static void test_npz__every_cut_and_every_flipped_bit_is_survived(void **state)
{
    const long live = pp_memory_live_count();
    archive a = {.name = "t.npy", .is_wide = true};
    size_t i;
    (void)state;
    write_archive(&a);
    for (i = 4; i < a.file.count; i++) {
        opened_file opened = open_bytes(a.file.data, i, NULL);
        assert_int_not_equal(opened.status, PARAPET_OK);
        close_file(&opened);
    }
    for (i = 0; i < 8 * a.file.count; i++) {
        opened_file opened;
        a.file.data[i / 8] ^= (unsigned char)(1 << i % 8);
        opened = open_bytes(a.file.data, a.file.count, NULL);
        assert_true(opened.store != NULL || pp_failure_message()[0] != '\0');
        close_file(&opened);
        a.file.data[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    assert_int_equal(pp_memory_live_count(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npz__members_are_arrays),
        cmocka_unit_test(test_npz__what_is_compressed_or_no_array_is_named),
        cmocka_unit_test(test_npz__an_array_ends_where_its_member_does),
        cmocka_unit_test(test_npz__every_cut_and_every_flipped_bit_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
