#include "support.h"

#include "codec/crc32c.h"
#include "codec/internal.h"

typedef uint32_t (*crc32c_function)(uint32_t, const void *, size_t);

static const crc32c_function all_means[] = {pp_crc32c, pp_crc32c_portable, pp_crc32c_sse42};
#define MEANS_COUNT (sizeof all_means / sizeof all_means[0])

static bool is_usable(size_t means)
{
    return all_means[means] != pp_crc32c_sse42 || pp_crc32c_sse42_is_available();
}

static void check(const void *data, size_t bytes, uint32_t expected)
{
    size_t means;
    for (means = 0; means < MEANS_COUNT; means++)
        if (is_usable(means))
            assert_int_equal(all_means[means](0, data, bytes), expected);
}

/* The definition, bit by bit. */
static uint32_t crc32c_by_definition(const unsigned char *data, size_t bytes)
{
    uint32_t state = UINT32_MAX;
    size_t i;
    int bit;
    for (i = 0; i < bytes; i++) {
        state ^= data[i];
        for (bit = 0; bit < 8; bit++)
            state = state & 1 ? state >> 1 ^ UINT32_C(0x82F63B78) : state >> 1;
    }
    return ~state;
}

static void test_crc32c__gives_the_published_values(void **state)
{
    unsigned char data[1024];
    size_t i;
    (void)state;
    check("", 0, 0);
    check("a", 1, 0xc1d04330);
    check("123456789", 9, 0xe3069283);
    memset(data, 0, sizeof data);
    check(data, 32, 0x8a9136aa);
    memset(data, 0xff, sizeof data);
    check(data, 32, 0x62a8ab43);
    check(data, 16, 0xef2f4c10);
    check(data, 64, 0x2fcd4e66);
    check(data, 1024, 0x47e5cde4);
    for (i = 0; i < 32; i++)
        data[i] = (unsigned char)i;
    check(data, 32, 0x46dd794e);
}

static void test_crc32c__is_its_definition_for_every_length_and_alignment(void **state)
{
    static unsigned char data[20000];
    test_random random = test_random_start();
    size_t bytes, offset, i;
    (void)state;
    for (i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)test_random_next(&random);
    for (offset = 0; offset < 8; offset++)
        for (bytes = 0; bytes < 300; bytes++)
            check(data + offset, bytes, crc32c_by_definition(data + offset, bytes));
    for (bytes = 6100; bytes < sizeof data - 8; bytes += 611)
        check(data + bytes % 8, bytes, crc32c_by_definition(data + bytes % 8, bytes));
}

static void test_crc32c__continues_from_any_cut(void **state)
{
    static unsigned char data[14000];
    size_t means, cut, i;
    (void)state;
    for (i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i >> 3);
    for (means = 0; means < MEANS_COUNT; means++) {
        uint32_t whole;
        if (!is_usable(means))
            continue;
        whole = all_means[means](0, data, sizeof data);
        for (cut = 0; cut <= sizeof data; cut += 77) {
            uint32_t first = all_means[means](0, data, cut);
            assert_int_equal(all_means[means](first, data + cut, sizeof data - cut), whole);
        }
    }
}

static void test_crc32c__says_what_it_uses(void **state)
{
    const char *name = pp_crc32c_name();
    (void)state;
    assert_true(strcmp(name, "ISA-L") == 0 || strcmp(name, "SSE4.2") == 0 || strcmp(name, "portable") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32c__gives_the_published_values),
        cmocka_unit_test(test_crc32c__is_its_definition_for_every_length_and_alignment),
        cmocka_unit_test(test_crc32c__continues_from_any_cut),
        cmocka_unit_test(test_crc32c__says_what_it_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
