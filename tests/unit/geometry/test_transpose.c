#include "support.h"

#include "geometry/transpose.h"

#define ROOM 4096

/* Element (row, column) of the target comes from (column, row) of the source; bytes between the rows stay. */
static void check_tile(size_t element_bytes, int64_t target_stride, int64_t source_stride)
{
    unsigned char source[ROOM], target[ROOM], expected[ROOM];
    int64_t side = pp_transpose_side(element_bytes), row, column, size = (int64_t)element_bytes;
    size_t i;
    for (i = 0; i < ROOM; i++)
        source[i] = (unsigned char)((i * 2654435761U) >> 13);
    memset(target, 0xEE, sizeof target);
    memset(expected, 0xEE, sizeof expected);
    for (row = 0; row < side; row++)
        for (column = 0; column < side; column++)
            memcpy(expected + 1 + row * target_stride + column * size,
                   source + 3 + column * source_stride + row * size, element_bytes);
    pp_transpose_tile(&(pp_tile){target + 1, target_stride, source + 3, source_stride}, element_bytes);
    assert_memory_equal(target, expected, sizeof target);
}

static void test_transpose__turns_rows_into_columns(void **state)
{
    size_t element_bytes;
    int64_t stride;
    (void)state;
    for (element_bytes = 1; element_bytes <= 64; element_bytes++)
        if (pp_transpose_side(element_bytes) > 0)
            for (stride = 16; stride <= 200; stride += 23)
                check_tile(element_bytes, stride, 216 - stride);
}

static void test_transpose__has_tiles_only_for_small_elements(void **state)
{
    (void)state;
    assert_int_equal(pp_transpose_side(3), 0);
    assert_int_equal(pp_transpose_side(8), 0);
    assert_int_equal(pp_transpose_side(16), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose__turns_rows_into_columns),
        cmocka_unit_test(test_transpose__has_tiles_only_for_small_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
