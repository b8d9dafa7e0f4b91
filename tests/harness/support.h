/* support.h - what every unit test needs: cmocka, and a seeded generator of random numbers. */
#ifndef PARAPET_TESTS_SUPPORT_H
#define PARAPET_TESTS_SUPPORT_H

#include <parapet_status.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "thinning.h"

/* Asserts success and shows the sentence when there is none. */
#define assert_ok(call)                                                                                              \
    do {                                                                                                             \
        parapet_status assert_status_ = (call);                                                                      \
        if (assert_status_ != PARAPET_OK)                                                                            \
            fail_msg("%s: %s: %s", #call, parapet_status_name(assert_status_), parapet_error_message());             \
    } while (0)

/* Asserts a failure of that kind whose sentence contains word. */
#define assert_fails(call, expected, word)                                                                           \
    do {                                                                                                             \
        parapet_status assert_status_ = (call);                                                                      \
        if (assert_status_ != (expected))                                                                            \
            fail_msg("%s: %s instead of %s", #call, parapet_status_name(assert_status_),                             \
                     parapet_status_name(expected));                                                                 \
        if (strstr(parapet_error_message(), (word)) == NULL)                                                         \
            fail_msg("%s: sentence \"%s\" lacks \"%s\"", #call, parapet_error_message(), (word));                    \
    } while (0)

/* xorshift64*: the same sequence everywhere for the same seed. */
typedef struct test_random {
    uint64_t state;
} test_random;

static inline uint64_t test_random_next(test_random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(2685821657736338717);
}

/* A number from low to high, both included. */
static inline int64_t test_random_between(test_random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(test_random_next(random) % (uint64_t)(high - low + 1));
}

/* The seed of this run: PARAPET_TEST_SEED, or a fixed one; printed so that a failure can be repeated. */
static inline test_random test_random_start(void)
{
    const char *text = getenv("PARAPET_TEST_SEED");
    test_random random = {text != NULL ? strtoull(text, NULL, 0) : UINT64_C(20261115)};
    printf("seed %llu\n", (unsigned long long)random.state);
    random.state = random.state * 2 + 1;
    return random;
}

/* How much slower than usual this build may be: with sanitizers, and beside other tests, much slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SLOWNESS 20
#else
#define TEST_SLOWNESS 1
#endif

#endif
