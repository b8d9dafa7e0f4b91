#include "base/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

/* Rows larger than this are sorted by pointers to them, of which there are two sets. */
#define INDIRECT_ROW_BYTES 32

void pp_list_init(pp_list *list, size_t row_bytes, pp_budget *budget, const char *purpose)
{
    *list = (pp_list){.row_bytes = row_bytes, .budget = budget, .purpose = purpose};
}

void pp_list_clear(pp_list *list)
{
    if (list->capacity > 0 && list->budget != NULL)
        pp_budget_release(list->budget, list->capacity * list->row_bytes);
    pp_free(list->rows);
    list->rows = NULL;
    list->count = list->capacity = 0;
}

void *pp_list_at(const pp_list *list, size_t index)
{
    return list->rows != NULL ? list->rows + index * list->row_bytes : NULL;
}

/* capacity is more than the list has. */
static parapet_status grow(pp_list *list, size_t capacity)
{
    size_t more = (capacity - list->capacity) * list->row_bytes;
    parapet_status status;
    if (capacity > SIZE_MAX / list->row_bytes)
        return pp_fail(PARAPET_ERR_MEMORY, "%s need more memory than any machine has", list->purpose);
    if ((status = pp_budget_reserve(list->budget, more, list->purpose)) != PARAPET_OK)
        return status;
    if ((status = pp_reallocate(&list->rows, capacity * list->row_bytes)) != PARAPET_OK)
        pp_budget_release(list->budget, more);
    else
        list->capacity = capacity;
    return status;
}

parapet_status pp_list_reserve(pp_list *list, size_t more)
{
    size_t wanted;
    if (!pp_add_size_fits(list->count, more, &wanted))
        return pp_fail(PARAPET_ERR_MEMORY, "%s need more memory than any machine has", list->purpose);
    return wanted <= list->capacity ? PARAPET_OK : grow(list, wanted);
}

parapet_status pp_list_add(pp_list *list, const void *row)
{
    size_t more = list->capacity / 2 + 1;
    parapet_status status;
    /* Near the limit only what is needed, so that a row is refused only if there is no room for it. */
    if (list->count == list->capacity && more > pp_budget_available(list->budget) / list->row_bytes)
        more = 1;
    if (list->count == list->capacity && (status = grow(list, list->capacity + more)) != PARAPET_OK)
        return status;
    memcpy(pp_list_at(list, list->count), row, list->row_bytes);
    list->count++;
    return PARAPET_OK;
}

parapet_status pp_list_trim(pp_list *list)
{
    size_t spare = (list->capacity - list->count) * list->row_bytes;
    parapet_status status;
    if (spare == 0 || list->budget == NULL)
        return PARAPET_OK;
    if ((status = pp_reallocate(&list->rows, list->count * list->row_bytes)) != PARAPET_OK)
        return status;
    pp_budget_release(list->budget, spare);
    list->capacity = list->count;
    return PARAPET_OK;
}

/* ---- Sorting ---- */

static size_t sort_bytes(size_t count, size_t row_bytes)
{
    return row_bytes > INDIRECT_ROW_BYTES ? count * 2 * sizeof(void *) + row_bytes : count * row_bytes;
}

static bool is_sorted(const unsigned char *rows, size_t count, size_t row_bytes, pp_compare compare)
{
    size_t i;
    for (i = 1; i < count; i++)
        if (compare(rows + (i - 1) * row_bytes, rows + i * row_bytes) > 0)
            return false;
    return true;
}

parapet_status pp_sort_within(pp_budget *budget, void *rows, size_t count, size_t row_bytes, pp_compare compare,
                              const char *purpose)
{
    size_t bytes = sort_bytes(count, row_bytes);
    parapet_status status;
    if (is_sorted(rows, count, row_bytes, compare))
        return PARAPET_OK;
    if ((status = pp_budget_reserve(budget, bytes, purpose)) != PARAPET_OK)
        return status;
    qsort(rows, count, row_bytes, compare);
    pp_budget_release(budget, bytes);
    return PARAPET_OK;
}

parapet_status pp_list_sort(pp_list *list, pp_compare compare)
{
    return pp_sort_within(list->budget, list->rows, list->count, list->row_bytes, compare, list->purpose);
}

void pp_list_drop_equal(pp_list *list, pp_compare compare)
{
    size_t i, kept = 0;
    for (i = 0; i < list->count; i++) {
        if (kept > 0 && compare(pp_list_at(list, kept - 1), pp_list_at(list, i)) == 0)
            continue;
        if (kept != i)
            memcpy(pp_list_at(list, kept), pp_list_at(list, i), list->row_bytes);
        kept++;
    }
    list->count = kept;
}
