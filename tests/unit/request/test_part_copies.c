#include "request/part_copies.h"

#include "support.h"

enum { ROWS = 3, COLUMNS = 4 };

static parapet_part part_of(int64_t *numbers, void *data)
{
    return (parapet_part){
        .ndim = 2, .start = numbers, .count = numbers + 2, .data = data, .strides_bytes = numbers + 4};
}

/* Every other column of a block, and a scalar behind it. */
static void check_copies(parapet_buffering buffering)
{
    int32_t block[ROWS][2 * COLUMNS], scalar = 77;
    int64_t numbers[6] = {5, 6, ROWS, COLUMNS, sizeof block[0], 2 * sizeof(int32_t)};
    parapet_part given[2] = {part_of(numbers, block), {.data = &scalar}};
    pp_parts parts[3] = {{.given = &given[0], .count = 1, .element_bytes = sizeof(int32_t)},
                         {.element_bytes = 8},
                         {.given = &given[1], .count = 1, .element_bytes = sizeof(int32_t)}};
    parapet_array_parts list[3] = {{.part_count = 1}, {0}, {.part_count = 1}};
    pp_part_copies copies = {0};
    pp_budget budget;
    int r, c;
    for (r = 0; r < ROWS; r++)
        for (c = 0; c < 2 * COLUMNS; c++)
            block[r][c] = 100 * r + c;
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_part_copies_init(
        &copies, &(pp_part_copying){.budget = &budget, .parts = parts, .count = 3, .buffering = buffering}));
    pp_part_copies_list(&copies, list, 3);
    memset(numbers, 0xff, sizeof numbers);
    memset(given, 0xff, sizeof given);
    assert_true(pp_budget_used(&budget) > 0);
    assert_int_equal(list[0].parts->start[0], 5);
    assert_int_equal(list[0].parts->count[1], COLUMNS);
    assert_int_equal(list[2].parts->ndim, 0);
    if (buffering == PARAPET_BUFFERING_BORROW) {
        assert_ptr_equal(list[0].parts->data, block);
        assert_ptr_equal(list[2].parts->data, &scalar);
        assert_int_equal(list[0].parts->strides_bytes[1], 2 * sizeof(int32_t));
    } else {
        memset(block, 0xff, sizeof block);
        for (r = 0; r < ROWS; r++)
            for (c = 0; c < COLUMNS; c++)
                assert_int_equal(((const int32_t *)list[0].parts->data)[r * COLUMNS + c], 100 * r + 2 * c);
        assert_int_equal(*(const int32_t *)list[2].parts->data, 77);
    }
    pp_part_copies_clear(&copies);
    assert_int_equal(pp_budget_used(&budget), 0);
    pp_budget_clear(&budget);
}

static void test_part_copies__outlive_the_lists_that_they_are_made_of(void **state)
{
    (void)state;
    check_copies(PARAPET_BUFFERING_COPY);
    check_copies(PARAPET_BUFFERING_BORROW);
}

static void test_part_copies__beyond_the_limit_are_refused_before_anything_is_taken(void **state)
{
    int64_t numbers[6] = {0, 0, INT64_C(1) << 32, 1 << 20, 1, 1};
    parapet_part given = part_of(numbers, numbers);
    pp_parts parts = {.given = &given, .count = 1, .element_bytes = 16};
    pp_part_copying copying = {.parts = &parts, .count = 1, .buffering = PARAPET_BUFFERING_COPY};
    pp_part_copies copies = {0};
    pp_budget budget;
    (void)state;
    pp_budget_init(&budget, 1 << 16);
    copying.budget = &budget;
    assert_fails(pp_part_copies_init(&copies, &copying), PARAPET_ERR_MEMORY, "the parts that a request is given");
    assert_int_equal(pp_budget_used(&budget), 0);
    pp_part_copies_clear(&copies);
    numbers[3] = INT64_C(1) << 30;
    assert_fails(pp_part_copies_init(&copies, &copying), PARAPET_ERR_MEMORY, "than any machine has");
    pp_part_copies_clear(&copies);
    assert_fails(pp_buffering_check((parapet_buffering)2), PARAPET_ERR_ARGUMENT, "buffering is 2");
    pp_budget_clear(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_part_copies__outlive_the_lists_that_they_are_made_of),
        cmocka_unit_test(test_part_copies__beyond_the_limit_are_refused_before_anything_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
