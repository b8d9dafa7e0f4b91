#include "support.h"

#include "geometry/nontemporal.h"

#define MOST 300

/* Every start within two cache lines, and every length up to several of them. */
static void test_nontemporal__copies_every_length_at_every_alignment(void **state)
{
    unsigned char source[MOST + 1], target[MOST + 256], expected[sizeof target];
    size_t start, bytes, i;
    (void)state;
    for (i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 7 + 1);
    for (start = 0; start < 128; start++)
        for (bytes = 0; bytes <= MOST - 64; bytes++) {
            memset(target, 0, sizeof target);
            memset(expected, 0, sizeof expected);
            memcpy(expected + start, source + start % 2, bytes);
            pp_nontemporal_copy(target + start, source + start % 2, bytes);
            pp_nontemporal_end();
            assert_memory_equal(target, expected, sizeof target);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nontemporal__copies_every_length_at_every_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
