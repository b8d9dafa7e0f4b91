/* append_order.c - where the values of the coordinate that are appended belong: behind those of the target, or where
 * the very same values are already. Anything in between is refused. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/store.h"
#include "base/checked.h"
#include "copy/append.h"

/* ---- Numbers of a coordinate ---- */

typedef struct coordinate_number {
    bool is_real, is_unsigned;
    double real;
    int64_t integer;
    uint64_t natural;
} coordinate_number;

/* On rank 0; the others only take part in reading. */
typedef struct order {
    const pp_append *append;
    parapet_type type;
    size_t element_bytes;
    unsigned char *values; /* of the source */
    unsigned char *window; /* of the target */
    int64_t window_count;
    int64_t place;     /* in the target, of the source's first value; -1: not found */
    int64_t differing; /* the first of the source that differs from its place; -1: none */
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

static const void *value_at(const order *search, int64_t index)
{
    return search->values + (size_t)index * search->element_bytes;
}

/* NaN, or NaT, which is stored as the least integer. */
static bool is_missing(const order *search, const coordinate_number *number)
{
    bool is_time = search->type == PARAPET_DATETIME64 || search->type == PARAPET_TIMEDELTA64;
    return number->is_real ? isnan(number->real) : is_time && number->integer == INT64_MIN;
}

static parapet_status check_ascending(const order *search)
{
    const char *name = search->append->dimension;
    coordinate_number last, next;
    char text[2][NUMBER_BYTES];
    int64_t i;
    if (!take_number(search, value_at(search, 0), &last))
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the coordinate \"%s\" has elements without an order; nothing was changed", name);
    if (is_missing(search, &last))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "\"%s\" of the source begins with %s, which nothing can follow; nothing was changed", name,
                       last.is_real ? "NaN" : "NaT");
    for (i = 1; i < search->append->added; i++) {
        (void)take_number(search, value_at(search, i), &next);
        if (!is_less(&last, &next))
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "\"%s\" of the source does not ascend: %s at %lld is followed by %s; nothing was changed",
                           name, print_number(&last, text[0]), (long long)i - 1, print_number(&next, text[1]));
        last = next;
    }
    return PARAPET_OK;
}

/* Whether the source begins behind the last value of the target, which is in the window. */
static bool follows(const order *search)
{
    coordinate_number last, first;
    (void)take_number(search, search->window, &last);
    (void)take_number(search, value_at(search, 0), &first);
    return is_less(&last, &first);
}

static void look_at_window(order *search, int64_t start, int64_t count)
{
    size_t bytes = search->element_bytes;
    int64_t i;
    for (i = 0; i < count; i++) {
        const unsigned char *there = search->window + (size_t)i * bytes;
        int64_t index;
        if (search->place < 0 && memcmp(there, search->values, bytes) == 0)
            search->place = start + i;
        index = start + i - search->place;
        if (search->place >= 0 && search->differing < 0 && index < search->append->added &&
            memcmp(there, value_at(search, index), bytes) != 0)
            search->differing = index;
    }
}

static parapet_status refuse_overlap(const order *search, int64_t index)
{
    const pp_append *append = search->append;
    coordinate_number first, other;
    char text[2][NUMBER_BYTES];
    (void)take_number(search, value_at(search, 0), &first);
    (void)take_number(search, value_at(search, index), &other);
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "the source overlaps the target in part: its %s begins with %s, which the target has at %lld, but "
                   "its value at %lld, %s, is not there; nothing was changed",
                   append->dimension, print_number(&first, text[0]), (long long)search->place, (long long)index,
                   print_number(&other, text[1]));
}

static parapet_status refuse_order(const order *search)
{
    coordinate_number first, last;
    char text[2][NUMBER_BYTES];
    (void)take_number(search, value_at(search, 0), &first);
    (void)take_number(search, search->window, &last);
    return pp_fail(
        PARAPET_ERR_ARGUMENT,
        "%s of the source begins with %s, but must follow the target, which ends with %s; append sources in "
        "their order; nothing was changed",
        search->append->dimension, print_number(&first, text[0]), print_number(&last, text[1]));
}

/* Rank 0, when the whole target has been looked at. */
static parapet_status judge(const order *search)
{
    const pp_append *append = search->append;
    if (search->place < 0)
        return refuse_order(search);
    if (search->differing >= 0)
        return refuse_overlap(search, search->differing);
    if (search->place + append->added > append->before)
        return refuse_overlap(search, append->before - search->place);
    return PARAPET_OK;
}

/* [collective] The last value of the target is in the window again at the end. */
static parapet_status search_target(order *search, parapet_array *target)
{
    int64_t length = search->append->before, start;
    parapet_status status = PARAPET_OK;
    for (start = 0; start < length && status == PARAPET_OK; start += search->window_count) {
        int64_t count = pp_min_i64(search->window_count, length - start);
        status = read_values(search, target, start, count, search->window);
        if (status == PARAPET_OK && pp_append_leads(search->append))
            look_at_window(search, start, count);
        if (status == PARAPET_OK)
            status = pp_append_tick(search->append);
    }
    return status == PARAPET_OK ? read_values(search, target, length - 1, 1, search->window) : status;
}

/* [collective] */
static parapet_status find_place(pp_append *append, order *search)
{
    parapet_array *source = append->growing.sources[append->growing.count - 1];
    parapet_array *target = append->growing.targets[append->growing.count - 1];
    pp_comm *comm = pp_append_comm(append);
    bool leads = pp_append_leads(append);
    int64_t is_there = 1;
    parapet_status status = read_values(search, source, 0, append->added, search->values);
    if (status == PARAPET_OK)
        status = pp_comm_agree(comm, "comparing", leads ? check_ascending(search) : PARAPET_OK);
    append->is_there = append->is_alone;
    if (status == PARAPET_OK && append->before > 0 && !append->is_alone)
        status = read_values(search, target, append->before - 1, 1, search->window);
    if (status != PARAPET_OK || append->is_alone)
        return status;
    if (append->before == 0 || (leads && follows(search)))
        is_there = 0;
    if ((status = pp_comm_agree_least(comm, "comparing", PARAPET_OK, &is_there)) != PARAPET_OK || !is_there)
        return status;
    append->is_there = true;
    status = search_target(search, target);
    return pp_comm_agree(comm, "comparing", status == PARAPET_OK && leads ? judge(search) : status);
}

parapet_status pp_append_check_order(pp_append *append)
{
    const pp_array_document *document = pp_array_document_of(append->growing.targets[append->growing.count - 1]);
    size_t bytes = document->type.element_bytes, bytes_added = (size_t)append->added * bytes;
    order search = {.append = append,
                    .type = document->type.id,
                    .element_bytes = bytes,
                    .window_count = pp_max_i64(1, append->buffer_bytes / (int64_t)bytes),
                    .place = -1,
                    .differing = -1};
    pp_buffer buffer = {0};
    parapet_status status = PARAPET_OK;
    append->is_there = append->added == 0;
    if (append->is_there)
        return PARAPET_OK;
    search.window_count = pp_max_i64(1, pp_min_i64(search.window_count, append->before));
    if (pp_append_leads(append))
        status = pp_buffer_init(&buffer, pp_store_budget(append->request->target),
                                bytes_added + (size_t)search.window_count * bytes, "values of the coordinate");
    status = pp_comm_agree(pp_append_comm(append), "comparing", status);
    search.values = buffer.data;
    search.window = buffer.data != NULL ? buffer.data + bytes_added : NULL;
    if (status == PARAPET_OK)
        status = find_place(append, &search);
    pp_buffer_free(&buffer);
    return status;
}
