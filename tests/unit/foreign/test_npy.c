#include "file.h"

#include "base/status.h"

/* A header of version 1, and elements 0, 1, 2, ... of two bytes each. */
static file_bytes write_npy(const char *text, int count)
{
    file_bytes file = {.count = 0};
    int i;
    add_bytes(&file, "\223NUMPY\001\000", 8);
    add_little(&file, strlen(text), 2);
    add_bytes(&file, text, strlen(text));
    for (i = 0; i < count; i++)
        add_little(&file, (uint64_t)i, 2);
    return file;
}

static void assert_refused(const char *text, parapet_status expected, const char *word)
{
    file_bytes file = write_npy(text, 6);
    opened_file opened = open_bytes(file.data, file.count, NULL);
    assert_null(opened.store);
    assert_fails(opened.status, expected, word);
    close_file(&opened);
}

static void test_npy__the_array_is_the_root(void **state)
{
    file_bytes file = write_npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }   \n", 6);
    opened_file opened = open_bytes(file.data, file.count, NULL);
    (void)state;
    assert_ok(opened.status);
    assert_says(&opened, "zarr.json", "\"data_type\": \"int16\"");
    assert_says(&opened, "zarr.json", "\"endian\": \"little\"");
    assert_chunk(&opened, "c/0/0", file.data + file.count - 12, 12);
    assert_fails(pp_store_open_object(opened.store, "c/0/1", &(pp_reader *){NULL}), PARAPET_ERR_NOT_FOUND, "c/0/1");
    close_file(&opened);
}

static void test_npy__fortran_order_is_a_transposition(void **state)
{
    file_bytes file = write_npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2L, 3L)}", 6);
    opened_file opened = open_bytes(file.data, file.count, NULL);
    (void)state;
    assert_ok(opened.status);
    assert_says(&opened, "zarr.json", "transpose");
    assert_says(&opened, "zarr.json", "\"endian\": \"big\"");
    assert_chunk(&opened, "c/0/0", file.data + file.count - 12, 12);
    close_file(&opened);
}

static void test_npy__a_scalar_is_one_chunk(void **state)
{
    file_bytes file = write_npy("{'descr': '<i2', 'fortran_order': False, 'shape': ()}", 1);
    opened_file opened = open_bytes(file.data, file.count, NULL);
    (void)state;
    assert_ok(opened.status);
    assert_chunk(&opened, "c", file.data + file.count - 2, 2);
    close_file(&opened);
}

static void test_npy__what_is_wrong_is_named(void **state)
{
    (void)state;
    assert_refused("{'descr': '|O', 'fortran_order': False, 'shape': (6,)}", PARAPET_ERR_UNSUPPORTED,
                   "Python objects");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (7,)}", PARAPET_ERR_CORRUPT, "cut off");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (-1,)}", PARAPET_ERR_FORMAT, "extent");
    assert_refused("{'descr': '<i2', 'fortran_order': 3, 'shape': (6,)}", PARAPET_ERR_FORMAT, "fortran_order");
    assert_refused("{'descr': '<q2', 'fortran_order': False, 'shape': (6,)}", PARAPET_ERR_UNSUPPORTED, "q2");
    assert_refused("{'fortran_order': False, 'shape': (6,)}", PARAPET_ERR_FORMAT, "descr");
    assert_refused("{'descr': '<i2', 'fortran_order': False}", PARAPET_ERR_FORMAT, "shape");
    assert_refused("{'descr': '<i\\x32', 'fortran_order': False, 'shape': (6,)}", PARAPET_ERR_FORMAT, "escape");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (1 2,)}", PARAPET_ERR_FORMAT, "two numbers");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (1L 2,)}", PARAPET_ERR_FORMAT, "two numbers");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (,)}", PARAPET_ERR_FORMAT, "comma");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (1,,)}", PARAPET_ERR_FORMAT, "comma");
    assert_refused("{'descr': '<i2', 'fortran_order': FalseL, 'shape': (1,)}", PARAPET_ERR_FORMAT, "an L");
    assert_refused("{'descr: 3}", PARAPET_ERR_FORMAT, "string");
    assert_refused("os.system('x')", PARAPET_ERR_FORMAT, "dictionary");
    assert_refused("", PARAPET_ERR_FORMAT, "");
    assert_refused("{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807, 9)}", PARAPET_ERR_FORMAT,
                   "more elements");
}

static const char *const sound[] = {
    "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }   \n",
    "{'descr': '>i2', 'fortran_order': True, 'shape': (2L, 3L)}",
};

/* All that a sound header shows, or less. */
static void assert_survived(const file_bytes *file)
{
    static const char *const keys[] = {"zarr.json", "c/0/0", "c/0", "c"};
    opened_file opened = open_bytes(file->data, file->count, NULL);
    size_t i, bytes;
    char *data;
    if (opened.store == NULL)
        assert_true(pp_failure_message()[0] != '\0');
    for (i = 0; opened.store != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        (void)pp_store_read_all(opened.store, keys[i], 16 << 20, &data, &bytes);
        pp_free(data);
    }
    close_file(&opened);
}

static void test_npy__every_cut_is_refused(void **state)
{
    const long live = pp_memory_live_count();
    size_t i, bytes;
    (void)state;
    for (i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        file_bytes file = write_npy(sound[i], 6);
        for (bytes = 0; bytes < file.count; bytes++) {
            opened_file opened = open_bytes(file.data, bytes, NULL);
            assert_int_not_equal(opened.status, PARAPET_OK);
            assert_true(pp_failure_message()[0] != '\0');
            close_file(&opened);
        }
    }
    assert_int_equal(pp_memory_live_count(), live);
}

static void test_npy__every_flipped_bit_is_survived(void **state)
{
    const long live = pp_memory_live_count();
    size_t i, bit;
    (void)state;
    for (i = 0; i < sizeof sound / sizeof sound[0]; i++) {
        file_bytes file = write_npy(sound[i], 6);
        for (bit = 0; bit < 8 * file.count; bit++) {
            file.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_survived(&file);
            file.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
    assert_int_equal(pp_memory_live_count(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy__the_array_is_the_root),
        cmocka_unit_test(test_npy__fortran_order_is_a_transposition),
        cmocka_unit_test(test_npy__a_scalar_is_one_chunk),
        cmocka_unit_test(test_npy__what_is_wrong_is_named),
        cmocka_unit_test(test_npy__every_cut_is_refused),
        cmocka_unit_test(test_npy__every_flipped_bit_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
