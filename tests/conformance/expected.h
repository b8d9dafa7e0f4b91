/* expected.h - what a case must read as: the contents of its <case>.expected.json.
 *
 * Compares exactly: floats bit by bit (but any NaN is a NaN), 64-bit integers without going through doubles. */
#ifndef PARAPET_CONFORMANCE_EXPECTED_H
#define PARAPET_CONFORMANCE_EXPECTED_H

#include <json-c/json.h>
#include <parapet.h>
#include <stdbool.h>

typedef struct expected_values {
    struct json_object *json;
    const char *path; /* of the array, below the folder of cases */
    const char *dtype;
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    size_t element_count;
    size_t element_bytes;
} expected_values;

/* Loads a file; false and a line on the output when it is none. Free with expected_clear. */
bool expected_load(expected_values *expected, const char *file_name);
void expected_clear(expected_values *expected);

/* The type that the dtype must show up as; PARAPET_TYPE_OF_ARRAY when several would do. */
parapet_type expected_type(const expected_values *expected);

/* Compares element_count elements; prints the first that differs and returns false. */
bool expected_equals(const expected_values *expected, const void *elements);

#endif
