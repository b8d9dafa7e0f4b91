#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_MEMORY 100

static unsigned char pattern_at(size_t place)
{
    return (unsigned char)(0xa5 ^ (place * 29));
}

/* Which dimension varies slowest in memory, which next, and so on. */
static void draw_nesting(int *nesting, draw *from, int ndim)
{
    int kind = (int)draw_between(from, 0, 2), i;
    for (i = 0; i < ndim; i++)
        nesting[i] = kind == 1 ? ndim - 1 - i : i;
    for (i = ndim - 1; kind == 2 && i > 0; i--) {
        int other = (int)draw_between(from, 0, i), kept = nesting[i];
        nesting[i] = nesting[other];
        nesting[other] = kept;
    }
}

static void lay_densely(part_memory *made, int ndim, size_t element_bytes)
{
    int64_t stride = (int64_t)element_bytes;
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        made->strides[d] = stride;
        stride *= made->held->count[d];
    }
    made->bytes = (size_t)stride;
}

/* Returns the place of the first element. A gap of some bytes between elements is an interleaved field. */
static size_t lay_at_random(part_memory *made, draw *from, int ndim, size_t element_bytes)
{
    bool has_margins = draw_chance(from, 50), has_backwards = draw_chance(from, 30);
    int64_t stride = (int64_t)element_bytes, place = 0;
    int nesting[MOST_NDIM], i;
    if (draw_chance(from, 25))
        stride += draw_between(from, 1, 2) * (int64_t)(draw_chance(from, 80) ? element_bytes : 1);
    draw_nesting(nesting, from, ndim);
    for (i = ndim - 1; i >= 0; i--) {
        int d = nesting[i];
        int64_t before = has_margins ? draw_between(from, 0, 2) : 0,
                after = has_margins ? draw_between(from, 0, 2) : 0;
        bool is_backwards = has_backwards && draw_chance(from, 50);
        int64_t count = made->held->count[d];
        made->strides[d] = is_backwards ? -stride : stride;
        place += (before + (is_backwards && count > 0 ? count - 1 : 0)) * stride;
        stride *= count + before + after;
    }
    made->bytes = (size_t)stride;
    return (size_t)place;
}

static void draw_memory(part_memory *made, parapet_part *part, draw *from, const part_list *list)
{
    int ndim = list->of->spec.ndim;
    bool is_plain = from == NULL || draw_chance(from, 30);
    size_t place = 0, i;
    if (is_plain)
        lay_densely(made, ndim, list->of->element_bytes);
    else
        place = lay_at_random(made, from, ndim, list->of->element_bytes);
    made->memory = malloc(made->bytes + 1);
    if (made->memory == NULL)
        abort();
    for (i = 0; i < made->bytes; i++)
        made->memory[i] = pattern_at(i);
    made->origin = made->memory + (made->bytes > 0 ? place : 0);
    part->ndim = ndim;
    part->start = made->held->start;
    part->count = made->held->count;
    part->data = made->bytes > 0 ? made->origin : NULL;
    part->strides_bytes = is_plain ? NULL : made->strides;
}

void part_list_build(part_list *made, const subject *of, const decomposition *by, int rank, bool is_plain)
{
    draw from = draw_start(of->seed, STREAM_MEMORY + (uint64_t)(rank + 1));
    int i;
    *made = (part_list){.of = of};
    made->parts = calloc((size_t)by->count + 1, sizeof made->parts[0]);
    made->memory = calloc((size_t)by->count + 1, sizeof made->memory[0]);
    if (made->parts == NULL || made->memory == NULL)
        abort();
    for (i = 0; i < by->count; i++) {
        if (rank != ALL_RANKS && by->holdings[i].rank != rank)
            continue;
        made->memory[made->count].held = &by->holdings[i].box;
        draw_memory(&made->memory[made->count], &made->parts[made->count], is_plain ? NULL : &from, made);
        made->count++;
    }
}

void part_list_clear(part_list *made)
{
    int i;
    for (i = 0; i < made->count; i++)
        free(made->memory[i].memory);
    free(made->memory);
    free(made->parts);
    *made = (part_list){0};
}

static unsigned char *element_of(const part_memory *memory, int ndim, const int64_t *position)
{
    unsigned char *element = memory->origin;
    int d;
    for (d = 0; d < ndim; d++)
        element += (position[d] - memory->held->start[d]) * memory->strides[d];
    return element;
}

/* Elements come from contents, or, if that is NULL, from a write. */
static void put_elements(const part_list *list, const part_memory *memory, const unsigned char *contents, int write)
{
    const subject *of = list->of;
    int64_t position[MOST_NDIM];
    if (box_element_count(memory->held, of->spec.ndim) == 0)
        return;
    memcpy(position, memory->held->start, sizeof position);
    do {
        unsigned char *element = element_of(memory, of->spec.ndim, position);
        if (contents == NULL)
            subject_value(of, write, position, element);
        else
            memcpy(element, contents + (size_t)subject_index(of, position) * of->element_bytes, of->element_bytes);
    } while (box_step(memory->held, of->spec.ndim, position));
}

void part_list_put(part_list *list, int write)
{
    int i;
    for (i = 0; i < list->count; i++)
        put_elements(list, &list->memory[i], NULL, write);
}

static void say_difference(const part_list *list, int part, const unsigned char *expected)
{
    const part_memory *memory = &list->memory[part];
    size_t i, wrong = 0, first = 0;
    int d;
    for (i = 0; i < memory->bytes; i++)
        if (memory->memory[i] != expected[i] && wrong++ == 0)
            first = i;
    fprintf(stderr, "part %d: %zu of %zu bytes differ, first %zu (the origin is at %td); box", part, wrong,
            memory->bytes, first, memory->origin - memory->memory);
    for (d = 0; d < list->of->spec.ndim; d++)
        fprintf(stderr, " %lld+%lld(stride %lld)", (long long)memory->held->start[d],
                (long long)memory->held->count[d], (long long)memory->strides[d]);
    fprintf(stderr, "\n");
}

/* Compares all memory with what it should be, margins and gaps included. */
static bool holds(const part_list *list, const unsigned char *contents, int write)
{
    bool is_equal = true;
    size_t byte;
    int i;
    for (i = 0; i < list->count && is_equal; i++) {
        part_memory expected = list->memory[i];
        expected.memory = malloc(expected.bytes + 1);
        if (expected.memory == NULL)
            abort();
        for (byte = 0; byte < expected.bytes; byte++)
            expected.memory[byte] = pattern_at(byte);
        expected.origin = expected.memory + (list->memory[i].origin - list->memory[i].memory);
        put_elements(list, &expected, contents, write);
        is_equal = memcmp(expected.memory, list->memory[i].memory, expected.bytes) == 0;
        if (!is_equal)
            say_difference(list, i, expected.memory);
        free(expected.memory);
    }
    return is_equal;
}

bool part_list_holds(const part_list *list, const unsigned char *contents)
{
    return holds(list, contents, 0);
}

bool part_list_holds_write(const part_list *list, int write)
{
    return holds(list, NULL, write);
}
