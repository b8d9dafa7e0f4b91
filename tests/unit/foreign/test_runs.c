#include "file.h"

#include "foreign/runs.h"

/* A file of which every byte is known. */
static pp_reader *open_pattern(pp_store **files, size_t bytes)
{
    unsigned char *data = malloc(bytes);
    pp_budget budget;
    pp_write_request request = {.key = "file", .staging = "tmp", .budget = &budget, .is_small = true};
    pp_reader *reader;
    size_t i;
    assert_non_null(data);
    for (i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i % 251);
    pp_budget_init(&budget, 1 << 20);
    assert_ok(pp_store_memory_build(files, NULL));
    assert_ok(pp_store_write_all(*files, &request, data, bytes, PP_PUBLISH_REPLACE));
    assert_ok(pp_store_open_object(*files, "file", &reader));
    pp_budget_clear(&budget);
    free(data);
    return reader;
}

static unsigned char expected_byte(const pp_place *place, uint64_t offset)
{
    if (offset >= place->run_bytes * place->run_count)
        return 0;
    return (unsigned char)((place->start + offset / place->run_bytes * place->distance + offset % place->run_bytes) %
                           251);
}

static void check_range(pp_reader *file, const pp_place *place, uint64_t offset, size_t bytes)
{
    unsigned char *target = malloc(bytes + 1);
    size_t i;
    assert_non_null(target);
    target[bytes] = 77;
    assert_ok(pp_place_read(file, place, offset, bytes, target));
    for (i = 0; i < bytes && target[i] == expected_byte(place, offset + i); i++)
        continue;
    assert_int_equal(i, bytes);
    assert_int_equal(target[bytes], 77);
    free(target);
}

static void test_runs__any_range_of_any_place_is_read(void **state)
{
    test_random random = test_random_start();
    pp_store *files;
    pp_reader *file = open_pattern(&files, 2 << 20);
    int round;
    (void)state;
    for (round = 0; round < 40; round++) {
        pp_place place = {.start = (uint64_t)test_random_between(&random, 0, 1000),
                          .run_bytes = (uint64_t)test_random_between(&random, 1, 9000)};
        uint64_t most;
        place.distance = place.run_bytes + (uint64_t)test_random_between(&random, 0, round % 3 == 0 ? 40000 : 200);
        most = ((2u << 20) - place.start - place.run_bytes) / place.distance + 1;
        place.run_count = (uint64_t)test_random_between(&random, 1, (int64_t)most);
        most = place.run_bytes * place.run_count;
        check_range(file, &place, (uint64_t)test_random_between(&random, 0, (int64_t)most + 10),
                    (size_t)test_random_between(&random, 1, (int64_t)most + 10));
    }
    pp_reader_free(file);
    pp_store_free(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs__any_range_of_any_place_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
