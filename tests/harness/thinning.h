/* thinning.h - searches try fewer cases where a sanitizer makes each of them slow. */
#ifndef PARAPET_TESTS_THINNING_H
#define PARAPET_TESTS_THINNING_H

/* How many times fewer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_THINNING 5
#else
#define TEST_THINNING 1
#endif

#endif
