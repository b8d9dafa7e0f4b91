/* figures.h - numbers in the JSON text of a plan, found by their keys. */
#ifndef PARAPET_TESTS_FIGURES_H
#define PARAPET_TESTS_FIGURES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sum of all numbers with this key, of passes above all; -1: there is none. */
static inline int64_t figures_sum(const char *json, const char *key)
{
    char quoted[64];
    int length = snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    int64_t sum = -1;
    while (json != NULL && (json = strstr(json, quoted)) != NULL) {
        json += length;
        sum = (sum < 0 ? 0 : sum) + strtoll(json, NULL, 10);
    }
    return sum;
}

#endif
