/* append_order.c - where the values of the coordinate that are appended belong: behind those of the target, or where
 * the very same values are already. Anything in between is refused. */
#include "copy/append_order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/store_queries.h"
#include "base/checked.h"
#include "base/status.h"
#include "copy/append_ranks.h"
#include "copy/append_task.h"

/* ---- Numbers of a coordinate ---- */

typedef struct coordinate_number {
    bool is_real, is_unsigned;
    double real;
    int64_t integer;
    uint64_t natural;
} coordinate_number;

#define FIRST_WINDOW 4096

/* Both coordinates are looked at in windows: how long a document says that they are decides nothing about memory. On
 * rank 0; the others only take part in reading. */
typedef struct order {
    const pp_append *append;
    parapet_array *source, *target;
    parapet_type type;
    size_t element_bytes;
    unsigned char *values;         /* of the source */
    unsigned char *window;         /* of the target */
    int64_t window_count;          /* elements in each */
    coordinate_number first, last; /* of the source, as far as it was looked at */
    coordinate_number end;         /* the last value of the target */
    int64_t place;                 /* in the target, of the source's first value; -1: not found */
    int64_t differing;             /* the first of the source that differs from its place; -1: none */
    coordinate_number other;       /* that value */
} order;

#define TAKE(type, field)                                                                                            \
    do {                                                                                                             \
        type value;                                                                                                  \
        memcpy(&value, element, sizeof value);                                                                       \
        number->field = value;                                                                                       \
        return true;                                                                                                 \
    } while (0)

static bool take_integer(size_t bytes, const void *element, coordinate_number *number)
{
    if (bytes == 1)
        TAKE(int8_t, integer);
    if (bytes == 2)
        TAKE(int16_t, integer);
    if (bytes == 4)
        TAKE(int32_t, integer);
    TAKE(int64_t, integer);
}

static bool take_natural(size_t bytes, const void *element, coordinate_number *number)
{
    if (bytes == 1)
        TAKE(uint8_t, natural);
    if (bytes == 2)
        TAKE(uint16_t, natural);
    if (bytes == 4)
        TAKE(uint32_t, natural);
    TAKE(uint64_t, natural);
}

/* False: elements of this type have no order. */
static bool take_number(const order *search, const void *element, coordinate_number *number)
{
    parapet_type type = search->type;
    *number = (coordinate_number){.is_real = type == PARAPET_FLOAT32 || type == PARAPET_FLOAT64,
                                  .is_unsigned = type >= PARAPET_UINT8 && type <= PARAPET_UINT64};
    if (type == PARAPET_FLOAT32)
        TAKE(float, real);
    if (type == PARAPET_FLOAT64)
        TAKE(double, real);
    if (number->is_unsigned)
        return take_natural(search->element_bytes, element, number);
    if ((type >= PARAPET_INT8 && type <= PARAPET_INT64) || type == PARAPET_DATETIME64 || type == PARAPET_TIMEDELTA64)
        return take_integer(search->element_bytes, element, number);
    return false;
}

/* Never true of NaN. */
static bool is_less(const coordinate_number *a, const coordinate_number *b)
{
    if (a->is_real)
        return a->real < b->real;
    return a->is_unsigned ? a->natural < b->natural : a->integer < b->integer;
}

#define NUMBER_BYTES 32

static const char *print_number(const coordinate_number *number, char text[NUMBER_BYTES])
{
    if (number->is_real)
        (void)snprintf(text, NUMBER_BYTES, "%.15g", number->real);
    else if (number->is_unsigned)
        (void)snprintf(text, NUMBER_BYTES, "%" PRIu64, number->natural);
    else
        (void)snprintf(text, NUMBER_BYTES, "%" PRId64, number->integer);
    return text;
}

/* ---- The search ---- */

/* [collective] Rank 0 gets so many values. */
static parapet_status read_values(const order *search, parapet_array *array, int64_t start, int64_t count, void *data)
{
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = data};
    return parapet_array_read(array, &part, pp_append_leads(search->append) ? 1 : 0);
}

static coordinate_number number_at(const order *search, const unsigned char *values, int64_t index)
{
    coordinate_number number;
    (void)take_number(search, values + (size_t)index * search->element_bytes, &number);
    return number;
}

/* NaN, or NaT, which is stored as the least integer. */
static bool is_missing(const order *search, const coordinate_number *number)
{
    bool is_time = search->type == PARAPET_DATETIME64 || search->type == PARAPET_TIMEDELTA64;
    return number->is_real ? isnan(number->real) : is_time && number->integer == INT64_MIN;
}

static parapet_status begin_ascending(order *search)
{
    search->first = search->last = number_at(search, search->values, 0);
    if (!is_missing(search, &search->first))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "\"%s\" of the source begins with %s, which nothing can follow; nothing was changed",
                   search->append->dimension, search->first.is_real ? "NaN" : "NaT");
}

/* The values of the source from `start` on, which are in the window. */
static parapet_status check_ascending(order *search, int64_t start, int64_t count)
{
    char text[2][NUMBER_BYTES];
    parapet_status status = start == 0 ? begin_ascending(search) : PARAPET_OK;
    int64_t i;
    for (i = start == 0 ? 1 : 0; i < count && status == PARAPET_OK; i++) {
        coordinate_number next = number_at(search, search->values, i);
        if (!is_less(&search->last, &next))
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "\"%s\" of the source does not ascend: %s at %lld is followed by %s; nothing was changed",
                           search->append->dimension, print_number(&search->last, text[0]),
                           (long long)(start + i) - 1, print_number(&next, text[1]));
        search->last = next;
    }
    return status;
}

/* Windows double: of a coordinate whose length is a lie, the first values tell. */
static int64_t window_at(const order *search, int64_t start)
{
    return pp_min_i64(search->window_count, pp_max_i64(FIRST_WINDOW, start));
}

/* [collective] */
static parapet_status check_source(order *search)
{
    pp_comm *comm = pp_append_comm(search->append);
    int64_t length = search->append->added, start, count;
    parapet_status status = PARAPET_OK;
    for (start = 0; start < length && status == PARAPET_OK; start += count) {
        count = pp_min_i64(window_at(search, start), length - start);
        status = read_values(search, search->source, start, count, search->values);
        if (status == PARAPET_OK && pp_append_leads(search->append))
            status = check_ascending(search, start, count);
        status = pp_comm_agree(comm, "comparing", status);
        if (status == PARAPET_OK)
            status = pp_append_tick(search->append);
    }
    return status;
}

static parapet_status refuse_overlap(const order *search)
{
    const pp_append *append = search->append;
    char text[2][NUMBER_BYTES];
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "the source overlaps the target in part: its %s begins with %s, which the target has at %lld, but "
                   "its value at %lld, %s, is not there; nothing was changed",
                   append->dimension, print_number(&search->first, text[0]), (long long)search->place,
                   (long long)search->differing, print_number(&search->other, text[1]));
}

static parapet_status refuse_order(const order *search)
{
    char text[2][NUMBER_BYTES];
    return pp_fail(
        PARAPET_ERR_ARGUMENT,
        "%s of the source begins with %s, but must follow the target, which ends with %s; append sources in "
        "their order; nothing was changed",
        search->append->dimension, print_number(&search->first, text[0]), print_number(&search->end, text[1]));
}

/* Whether two numbers of a coordinate have the same bytes. */
static bool is_same(const coordinate_number *a, const coordinate_number *b)
{
    return memcmp(&a->real, &b->real, sizeof a->real) == 0 && a->integer == b->integer && a->natural == b->natural;
}

/* Looks for the first value of the source in a window of the target. True: it is there, or can no longer come, as
 * values ascend. */
static bool look_for_first(order *search, int64_t start, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++) {
        coordinate_number number = number_at(search, search->window, i);
        if (is_same(&number, &search->first))
            search->place = start + i;
        if (search->place >= 0 || is_less(&search->first, &number))
            return true;
    }
    return false;
}

/* [collective] Where the target has the first value of the source. */
static parapet_status find_first(order *search)
{
    pp_comm *comm = pp_append_comm(search->append);
    int64_t length = search->append->before, start, count, goes_on = 1;
    parapet_status status = PARAPET_OK;
    for (start = 0; start < length && status == PARAPET_OK && goes_on; start += count) {
        count = pp_min_i64(window_at(search, start), length - start);
        status = read_values(search, search->target, start, count, search->window);
        if (status == PARAPET_OK && pp_append_leads(search->append))
            goes_on = !look_for_first(search, start, count);
        if ((status = pp_comm_agree_min(comm, "comparing", status, &goes_on)) == PARAPET_OK)
            status = pp_append_tick(search->append);
    }
    return status;
}

/* Values that are in both windows, from that one of the source on. */
static void look_at_windows(order *search, int64_t start, int64_t count)
{
    int64_t i;
    for (i = 0; i < count && search->differing < 0; i++) {
        coordinate_number ours = number_at(search, search->values, i);
        coordinate_number theirs = number_at(search, search->window, i);
        if (is_same(&ours, &theirs))
            continue;
        search->differing = start + i;
        search->other = ours;
    }
}

/* [collective] From that place on, as far as the target goes; all ranks know the place. */
static parapet_status compare_there(order *search)
{
    const pp_append *append = search->append;
    int64_t length = pp_min_i64(append->added, append->before - search->place), start;
    parapet_status status = PARAPET_OK;
    for (start = 0; start < length && status == PARAPET_OK; start += search->window_count) {
        int64_t count = pp_min_i64(search->window_count, length - start);
        if ((status = read_values(search, search->source, start, count, search->values)) != PARAPET_OK ||
            (status = read_values(search, search->target, search->place + start, count, search->window)) !=
                PARAPET_OK)
            break;
        if (pp_append_leads(append))
            look_at_windows(search, start, count);
        status = pp_append_tick(append);
    }
    if (status != PARAPET_OK || length == append->added)
        return status;
    status = read_values(search, search->source, length, 1, search->values);
    if (status == PARAPET_OK && pp_append_leads(append) && search->differing < 0) {
        search->differing = length;
        search->other = number_at(search, search->values, 0);
    }
    return status;
}

/* [collective] The source begins at or before the end of the target: all of it must be there. */
static parapet_status search_target(order *search)
{
    pp_comm *comm = pp_append_comm(search->append);
    parapet_status status = find_first(search);
    int64_t place = search->place >= 0 ? search->place : INT64_MAX;
    status = pp_comm_agree_min(comm, "comparing", status, &place);
    if (status != PARAPET_OK)
        return status;
    if (place == INT64_MAX)
        return pp_comm_agree(comm, "comparing", pp_append_leads(search->append) ? refuse_order(search) : PARAPET_OK);
    search->place = place;
    status = compare_there(search);
    if (status == PARAPET_OK && search->differing >= 0)
        status = refuse_overlap(search);
    return pp_comm_agree(comm, "comparing", status);
}

/* [collective] */
static parapet_status find_place(pp_append *append, order *search)
{
    pp_comm *comm = pp_append_comm(append);
    int64_t is_there = 1;
    parapet_status status = check_source(search);
    append->is_there = append->is_alone;
    if (status == PARAPET_OK && append->before > 0 && !append->is_alone)
        status = read_values(search, search->target, append->before - 1, 1, search->window);
    if (status != PARAPET_OK || append->is_alone)
        return status;
    if (append->before > 0 && pp_append_leads(append))
        search->end = number_at(search, search->window, 0);
    if (append->before == 0 || (pp_append_leads(append) && is_less(&search->end, &search->first)))
        is_there = 0;
    if ((status = pp_comm_agree_min(comm, "comparing", PARAPET_OK, &is_there)) != PARAPET_OK || !is_there)
        return status;
    append->is_there = true;
    return search_target(search);
}

/* Of both coordinates so many values are looked at together. */
static int64_t window_of(const pp_append *append, size_t element_bytes)
{
    int64_t longest = pp_max_i64(append->added, append->before);
    return pp_max_i64(1, pp_min_i64(longest, append->buffer_bytes / 2 / (int64_t)element_bytes));
}

static bool has_order(const order *search)
{
    static const unsigned char any[16];
    coordinate_number number;
    return search->element_bytes <= sizeof any && take_number(search, any, &number);
}

parapet_status pp_append_check_order(pp_append *append)
{
    parapet_array *target = append->growing.targets[append->growing.count - 1];
    const pp_array_document *document = pp_array_document_of(target);
    size_t bytes = document->type.element_bytes, window_bytes;
    order search = {.append = append,
                    .source = append->growing.sources[append->growing.count - 1],
                    .target = target,
                    .type = document->type.id,
                    .element_bytes = bytes,
                    .place = -1,
                    .differing = -1};
    pp_buffer buffer = {0};
    parapet_status status = PARAPET_OK;
    append->is_there = append->added == 0;
    if (append->is_there)
        return PARAPET_OK;
    if (!has_order(&search))
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the coordinate \"%s\" has elements without an order; nothing was changed", append->dimension);
    search.window_count = window_of(append, bytes);
    window_bytes = (size_t)search.window_count * bytes;
    if (pp_append_leads(append))
        status = pp_buffer_init(&buffer, pp_store_budget(append->request->target), 2 * window_bytes,
                                "values of the coordinate");
    status = pp_comm_agree(pp_append_comm(append), "comparing", status);
    search.values = buffer.data;
    search.window = buffer.data != NULL ? buffer.data + window_bytes : NULL;
    if (status == PARAPET_OK)
        status = find_place(append, &search);
    pp_buffer_free(&buffer);
    return status;
}
