#include "file.h"

#include "base/status.h"

enum { DIMENSIONS = 10, VARIABLES = 11, ATTRIBUTES = 12, BYTE = 1, TEXT = 2, SHORT = 3, FLOAT = 5, DOUBLE = 6 };

/* A file in the making: version 1, 2 or 5. */
typedef struct writing {
    file_bytes file;
    int version;
} writing;

static void add_count(writing *w, uint64_t value)
{
    add_big(&w->file, value, w->version == 5 ? 8 : 4);
}

static void add_list(writing *w, uint32_t tag, uint64_t count)
{
    add_big(&w->file, tag, 4);
    add_count(w, count);
}

static void add_padding(writing *w)
{
    while (w->file.count % 4 != 0)
        add_big(&w->file, 0, 1);
}

static void add_name(writing *w, const char *name)
{
    add_count(w, strlen(name));
    add_bytes(&w->file, name, strlen(name));
    add_padding(w);
}

static void add_dimension(writing *w, const char *name, uint64_t length)
{
    add_name(w, name);
    add_count(w, length);
}

static void add_text_attribute(writing *w, const char *name, const char *text, size_t bytes)
{
    add_name(w, name);
    add_big(&w->file, TEXT, 4);
    add_count(w, bytes);
    add_bytes(&w->file, text, bytes);
    add_padding(w);
}

static void add_place(writing *w, uint32_t type, uint64_t bytes, uint64_t start)
{
    add_big(&w->file, type, 4);
    add_count(w, bytes);
    add_big(&w->file, start, w->version == 1 ? 4 : 8);
}

static void begin(writing *w, int version, uint64_t records)
{
    const unsigned char magic[4] = {'C', 'D', 'F', (unsigned char)version};
    *w = (writing){.version = version};
    add_bytes(&w->file, magic, 4);
    add_count(w, records);
}

#define DATA 1024 /* where elements begin: headers here are shorter */

/* x(3) of shorts, and two record variables: r(time, x) of shorts with a fill value, b(time) of bytes. */
static void write_dataset(writing *w, int version, uint64_t records)
{
    int i;
    begin(w, version, records);
    add_list(w, DIMENSIONS, 2);
    add_dimension(w, "time", 0);
    add_dimension(w, "x", 3);
    add_list(w, ATTRIBUTES, 1);
    add_text_attribute(w, "title", "caf\351\0", 5);
    add_list(w, VARIABLES, 3);
    add_name(w, "x");
    add_count(w, 1);
    add_count(w, 1);
    add_list(w, 0, 0);
    add_place(w, SHORT, 8, DATA);
    add_name(w, "r");
    add_count(w, 2);
    add_count(w, 0);
    add_count(w, 1);
    add_list(w, ATTRIBUTES, 2);
    add_name(w, "_FillValue");
    add_big(&w->file, SHORT, 4);
    add_count(w, 1);
    add_big(&w->file, 0xfff9, 2);
    add_padding(w);
    add_name(w, "range");
    add_big(&w->file, DOUBLE, 4);
    add_count(w, 2);
    add_big(&w->file, UINT64_C(0x3fe0000000000000), 8);
    add_big(&w->file, UINT64_C(0xc000000000000000), 8);
    add_place(w, SHORT, 8, DATA + 8);
    add_name(w, "b");
    add_count(w, 1);
    add_count(w, 0);
    add_list(w, 0, 0);
    add_place(w, BYTE, 4, DATA + 16);
    while (w->file.count < DATA)
        add_big(&w->file, 0, 1);
    for (i = 0; i < 8 + 2 * 12; i++)
        add_big(&w->file, (uint64_t)i, 1);
}

static void check_dataset(int version, uint64_t records)
{
    static const unsigned char r[12] = {8, 9, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25}, b[2] = {16, 28};
    writing w;
    opened_file opened;
    write_dataset(&w, version, records);
    opened = open_bytes(w.file.data, w.file.count, NULL);
    assert_ok(opened.status);
    assert_says(&opened, "zarr.json", "\"title\": \"caf\303\251\"");
    assert_says(&opened, "r/zarr.json", "\"fill_value\": -7");
    assert_says(&opened, "r/zarr.json", "\"_FillValue\": -7");
    assert_says(&opened, "r/zarr.json", "0.5,");
    assert_says(&opened, "r/zarr.json", "\"time\",");
    assert_chunk(&opened, "x/c/0", w.file.data + DATA, 6);
    assert_chunk(&opened, "r/c/0/0", r, sizeof r);
    assert_chunk(&opened, "b/c/0", b, sizeof b);
    close_file(&opened);
}

static void test_netcdf__three_versions_are_read(void **state)
{
    (void)state;
    check_dataset(1, 2);
    check_dataset(2, 2);
    check_dataset(5, 2);
}

static void test_netcdf__records_are_counted_where_the_header_does_not_tell(void **state)
{
    (void)state;
    check_dataset(1, UINT32_MAX);
    check_dataset(5, UINT64_MAX);
}

static void test_netcdf__records_of_a_sole_variable_are_not_padded(void **state)
{
    static const unsigned char data[3] = {1, 2, 3};
    writing w;
    opened_file opened;
    (void)state;
    begin(&w, 1, 3);
    add_list(&w, DIMENSIONS, 1);
    add_dimension(&w, "time", 0);
    add_list(&w, 0, 0);
    add_list(&w, VARIABLES, 1);
    add_name(&w, "b");
    add_count(&w, 1);
    add_count(&w, 0);
    add_list(&w, 0, 0);
    add_place(&w, BYTE, 4, w.file.count + 12);
    add_bytes(&w.file, data, sizeof data);
    opened = open_bytes(w.file.data, w.file.count, NULL);
    assert_ok(opened.status);
    assert_chunk(&opened, "b/c/0", data, sizeof data);
    close_file(&opened);
}

static void test_netcdf__a_float_fill_value_is_written_as_xarray_does(void **state)
{
    writing w;
    opened_file opened;
    (void)state;
    begin(&w, 1, 0);
    add_list(&w, 0, 0);
    add_list(&w, 0, 0);
    add_list(&w, VARIABLES, 1);
    add_name(&w, "f");
    add_count(&w, 0);
    add_list(&w, ATTRIBUTES, 1);
    add_name(&w, "_FillValue");
    add_big(&w.file, FLOAT, 4);
    add_count(&w, 1);
    add_big(&w.file, 0x7fc00000, 4);
    add_place(&w, FLOAT, 4, w.file.count + 12);
    add_big(&w.file, 0x40400000, 4);
    opened = open_bytes(w.file.data, w.file.count, NULL);
    assert_ok(opened.status);
    assert_says(&opened, "f/zarr.json", "\"_FillValue\": \"AAAAAAAA+H8=\"");
    assert_says(&opened, "f/zarr.json", "\"fill_value\": \"NaN\"");
    assert_chunk(&opened, "f/c", w.file.data + w.file.count - 4, 4);
    close_file(&opened);
}

static void test_netcdf__every_truncation_is_refused(void **state)
{
    writing w;
    size_t bytes;
    (void)state;
    write_dataset(&w, 5, 2);
    for (bytes = 4; bytes < DATA + 29; bytes++) {
        opened_file opened = open_bytes(w.file.data, bytes, NULL);
        assert_fails(opened.status, PARAPET_ERR_CORRUPT, "");
        close_file(&opened);
    }
}

/* Whatever a header says, it is refused with a sentence, or what it shows can be read. */
static void try_all(const opened_file *opened)
{
    static const char *const keys[] = {"zarr.json", "x/zarr.json", "x/c/0", "r/zarr.json", "r/c/0/0", "b/c/0", "c/0"};
    size_t i, bytes;
    char *data;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        (void)pp_store_read_all(opened->store, keys[i], 16 << 20, &data, &bytes);
        pp_free(data);
    }
}

static void test_netcdf__every_flipped_bit_is_survived(void **state)
{
    const long live = pp_memory_live_count();
    writing w;
    size_t bit;
    int version;
    (void)state;
    for (version = 1; version <= 5; version += version == 1 ? 1 : 3) {
        write_dataset(&w, version, 2);
        for (bit = 0; bit < 8 * 560; bit += version == 5 ? 1 : 7) {
            opened_file opened;
            w.file.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            opened = open_bytes(w.file.data, w.file.count, NULL);
            if (opened.store != NULL)
                try_all(&opened);
            else
                assert_true(pp_failure_message()[0] != '\0');
            close_file(&opened);
            w.file.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_netcdf__a_changed_file_is_stale(void **state)
{
    writing w;
    opened_file opened;
    pp_budget budget;
    pp_write_request request = {.key = "file", .staging = "tmp", .budget = &budget, .is_small = true};
    char *data;
    size_t bytes;
    (void)state;
    write_dataset(&w, 1, 2);
    opened = open_bytes(w.file.data, w.file.count, NULL);
    assert_ok(opened.status);
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_store_write_all(opened.files, &request, w.file.data, w.file.count, PP_PUBLISH_REPLACE));
    assert_fails(pp_store_read_all(opened.store, "x/c/0", 1 << 20, &data, &bytes), PARAPET_ERR_STALE,
                 "open it again");
    pp_budget_clear(&budget);
    close_file(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_netcdf__three_versions_are_read),
        cmocka_unit_test(test_netcdf__records_are_counted_where_the_header_does_not_tell),
        cmocka_unit_test(test_netcdf__records_of_a_sole_variable_are_not_padded),
        cmocka_unit_test(test_netcdf__a_float_fill_value_is_written_as_xarray_does),
        cmocka_unit_test(test_netcdf__every_truncation_is_refused),
        cmocka_unit_test(test_netcdf__every_flipped_bit_is_survived),
        cmocka_unit_test(test_netcdf__a_changed_file_is_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
