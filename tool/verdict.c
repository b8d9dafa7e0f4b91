#include "verdict.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What is counted, in the order in which it is told: "values of 2 arrays", "1 attribute". */
static const struct {
    const char *before, *one, *many;
} words[DIFFERENCE_KINDS] = {
    [DIFFERENCE_VALUES] = {"values of ", "array", "arrays"},
    [DIFFERENCE_SHAPE] = {"", "shape", "shapes"},
    [DIFFERENCE_TYPE] = {"", "type", "types"},
    [DIFFERENCE_NAMES] = {"dimension names of ", "array", "arrays"},
    [DIFFERENCE_FILL_VALUE] = {"", "fill value", "fill values"},
    [DIFFERENCE_ATTRIBUTE] = {"", "attribute", "attributes"},
    [DIFFERENCE_KIND] = {"", "array against group", "arrays against groups"},
    [DIFFERENCE_ARRAY_ONLY_A] = {"", "array only in A", "arrays only in A"},
    [DIFFERENCE_ARRAY_ONLY_B] = {"", "array only in B", "arrays only in B"},
    [DIFFERENCE_GROUP_ONLY_A] = {"", "group only in A", "groups only in A"},
    [DIFFERENCE_GROUP_ONLY_B] = {"", "group only in B", "groups only in B"},
    [DIFFERENCE_LAYOUT] = {"", "difference in layout", "differences in layout"},
};

int64_t verdict_sum(const tool_verdict_counts *counts)
{
    int64_t sum = 0;
    for (int kind = 0; kind < DIFFERENCE_KINDS; kind++)
        sum += counts->differing[kind];
    return sum;
}

/* "values of 1 array, 2 attributes"; free with free(). */
static char *text_of_differences(const tool_verdict_counts *counts)
{
    char *text = text_format("%s", "");
    for (int kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        int64_t count = counts->differing[kind];
        char *longer;
        if (count == 0)
            continue;
        longer = text_format("%s%s%s%" PRId64 " %s", text, text[0] == '\0' ? "" : ", ", words[kind].before, count,
                             count == 1 ? words[kind].one : words[kind].many);
        free(text);
        text = longer;
    }
    return text;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static char *text_of_verdict(const tool_verdict_counts *counts)
{
    char *differences = text_of_differences(counts), *text;
    if (differences[0] != '\0' && counts->failures > 0)
        text = text_format("differ: %s; not compared: %" PRId64, differences, counts->failures);
    else if (differences[0] != '\0')
        text = text_format("differ: %s", differences);
    else if (counts->failures > 0)
        text = text_format("not compared: %" PRId64, counts->failures);
    else
        text = text_format("the same: %" PRId64 " array%s, %" PRId64 " element%s", counts->arrays,
                           plural(counts->arrays), counts->elements, plural(counts->elements));
    free(differences);
    return text;
}

void verdict_print(const tool_verdict_counts *counts)
{
    char *verdict = text_of_verdict(counts);
    if (counts->uncounted > 0)
        printf("not counted: %" PRId64 " difference%s in chunks, shards, codecs, seals, format (--layout)\n",
               counts->uncounted, plural(counts->uncounted));
    printf("%s\n", verdict);
    free(verdict);
}
