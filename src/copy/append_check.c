/* append_check.c - whether what is appended means the same as what is there: types, shapes, the attributes that give
 * numbers their meaning, and the values of everything that does not become longer. */
#include "copy/append_check.h"

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "array/attributes.h"
#include "array/membership.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/status.h"
#include "copy/append_blocks.h"
#include "copy/append_ranks.h"
#include "copy/append_task.h"

/* ---- Documents ---- */

/* Without these equal, equal numbers are other values, of another quantity, or at another place. */
static const char *const meaning[] = {
    "units",     "calendar",      "scale_factor", "add_offset",    "_FillValue",  "missing_value", "_Unsigned",
    "dtype",     "flag_masks",    "flag_values",  "flag_meanings", "valid_range", "valid_min",     "valid_max",
    "leap_year", "leap_month",    "positive",     "standard_name", "axis",        "grid_mapping",  "cell_methods",
    "bounds",    "formula_terms", "climatology",  "month_lengths", NULL,
};

/* An array that has one of these is there for its attributes, as one without dimensions is. */
static const char *const mapping[] = {"grid_mapping_name", "crs_wkt", "spatial_ref", NULL};

static void print_attribute(pp_json *attributes, const char *name, pp_text *text)
{
    if (pp_json_has(attributes, name))
        pp_json_print(pp_json_member(attributes, name), false, text);
    else
        pp_text_add(text, "missing");
}

static parapet_status refuse_attribute(const char *array, const char *name, pp_json *source, pp_json *target)
{
    pp_text here = {0}, there = {0};
    parapet_status status;
    print_attribute(source, name, &here);
    print_attribute(target, name, &there);
    if ((status = here.status) == PARAPET_OK && (status = there.status) == PARAPET_OK)
        status =
            pp_fail(PARAPET_ERR_ARGUMENT,
                    "\"%s\": the attribute %s is %.200s in the source and %.200s in the target, so their numbers "
                    "do not mean the same; convert the source first; nothing was changed",
                    array, name, here.data, there.data);
    pp_text_free(&here);
    pp_text_free(&there);
    return status;
}

/* The attributes of one array in both groups. */
typedef struct both_attributes {
    const char *array;
    pp_json *source, *target;
} both_attributes;

static parapet_status check_attribute(const both_attributes *both, const char *name)
{
    if (pp_json_has(both->source, name) == pp_json_has(both->target, name) &&
        pp_json_equals(pp_json_member(both->source, name), pp_json_member(both->target, name)))
        return PARAPET_OK;
    return refuse_attribute(both->array, name, both->source, both->target);
}

/* What is the library's own, such as a seal, says nothing of values. */
static parapet_status check_member(void *context, const char *name, pp_json *value)
{
    (void)value;
    return strcmp(name, PP_RESERVED_ATTRIBUTE) != 0 ? check_attribute(context, name) : PARAPET_OK;
}

static bool is_mapping(const pp_array_document *document)
{
    const char *const *name = mapping;
    while (*name != NULL && !pp_json_has(document->attributes, *name))
        name++;
    return document->ndim == 0 || *name != NULL;
}

static parapet_status check_attributes(const char *array, const pp_array_document *source,
                                       const pp_array_document *target)
{
    both_attributes both = {.array = array, .source = source->attributes, .target = target->attributes};
    parapet_status status = PARAPET_OK;
    const char *const *name;
    if ((is_mapping(source) || is_mapping(target)) &&
        (status = pp_json_each(both.source, check_member, &both)) == PARAPET_OK)
        status = pp_json_each(both.target, check_member, &both);
    for (name = meaning; *name != NULL && status == PARAPET_OK; name++)
        status = check_attribute(&both, *name);
    return status;
}

static bool has_same_names(const pp_array_document *a, const pp_array_document *b)
{
    int d;
    for (d = 0; d < a->ndim; d++) {
        const char *here = a->dimension_names[d], *there = b->dimension_names[d];
        if ((here == NULL) != (there == NULL) || (here != NULL && strcmp(here, there) != 0))
            return false;
    }
    return true;
}

static parapet_status check_shape(const char *array, const pp_array_document *source, const pp_array_document *target,
                                  bool grows)
{
    int d;
    if (source->ndim != target->ndim || !has_same_names(source, target))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "\"%s\" has other dimensions in the source than in the target; nothing was changed", array);
    for (d = grows ? 1 : 0; d < source->ndim; d++)
        if (source->shape[d] != target->shape[d])
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "\"%s\": dimension %d (%s) has the length %lld in the source and %lld in the target; "
                           "nothing was changed",
                           array, d,
                           source->dimension_names[d] != NULL ? source->dimension_names[d] : "without a name",
                           (long long)source->shape[d], (long long)target->shape[d]);
    return PARAPET_OK;
}

/* Missing values that are not stored are fill value. */
static parapet_status check_type(const char *array, const pp_array_document *source, const pp_array_document *target)
{
    if (strcmp(source->type.name, target->type.name) != 0)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "\"%s\" is of type %s in the source and %s in the target; nothing was changed", array,
                       source->type.name, target->type.name);
    if (source->type.element_bytes > 0 &&
        memcmp(source->fill_value, target->fill_value, source->type.element_bytes) != 0)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "\"%s\" has another fill value in the source than in the target; nothing was changed", array);
    return PARAPET_OK;
}

static parapet_status check_documents(const pp_append_pairs *pairs, int i, bool grows)
{
    const char *name = pairs->names[i];
    const pp_array_document *source = pp_array_document_of(pairs->sources[i]);
    const pp_array_document *target = pp_array_document_of(pairs->targets[i]);
    parapet_status status;
    if ((status = check_type(name, source, target)) != PARAPET_OK ||
        (status = check_shape(name, source, target, grows)) != PARAPET_OK)
        return status;
    return check_attributes(name, source, target);
}

/* ---- What becomes longer ---- */

static parapet_status check_growing(const pp_append *append, int i)
{
    const pp_append_pairs *pairs = &append->growing;
    const pp_array_document *target = pp_array_document_of(pairs->targets[i]);
    const char *first = target->dimension_names[0];
    parapet_status status = pp_append_may_change(append) ? pp_array_check_writable(pairs->targets[i]) : PARAPET_OK;
    int d;
    if (status != PARAPET_OK)
        return status;
    if (target->type.element_bytes == 0)
        return pp_fail(
            PARAPET_ERR_UNSUPPORTED,
            "\"%s\" has text of variable length along %s, which can be copied but not made longer; exclude it, "
            "from the first source on",
            pairs->names[i], append->dimension);
    if (first == NULL || strcmp(first, append->dimension) != 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "\"%s\" has another first dimension than %s, and only the first can become longer",
                       pairs->names[i], append->dimension);
    for (d = 1; d < target->ndim; d++)
        if (target->dimension_names[d] != NULL && strcmp(target->dimension_names[d], append->dimension) == 0)
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" has the dimension %s twice", pairs->names[i],
                           append->dimension);
    return check_documents(pairs, i, true);
}

/* What is kept as a whole finds steps that it has not made, or an array without its seal. A record may name anything
 * (invariant 11 of docs/design/change.md). */
static parapet_status check_membership(const pp_append *append, const char *name)
{
    char *path = NULL;
    parapet_status status = pp_path_join(append->target_root, name, &path);
    if (status == PARAPET_OK && (status = pp_membership_check(append->request->target, path)) == PARAPET_ERR_ARGUMENT)
        status = pp_fail(
            status, "\"%s\" is a part of a series or a checkpoint, which only their own functions make longer", path);
    pp_free(path);
    return status;
}

parapet_status pp_append_check_membership(const pp_append *append)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < append->growing.count && status == PARAPET_OK; i++)
        status = check_membership(append, append->growing.names[i]);
    return status;
}

/* Whether there is a coordinate of the dimension beside an array in a group below. */
static bool has_own_coordinate(const pp_append *append, const char *name)
{
    const pp_append_pairs *pairs = &append->growing;
    const char *slash = strrchr(name, '/');
    size_t bytes = slash != NULL ? (size_t)(slash + 1 - name) : 0;
    int i;
    for (i = 0; i < pairs->count && slash != NULL; i++)
        if (strncmp(pairs->names[i], name, bytes) == 0 && strcmp(pairs->names[i] + bytes, append->dimension) == 0)
            return true;
    return false;
}

/* All are as long as the coordinate. */
static parapet_status check_lengths(const pp_append *append, int i)
{
    const pp_append_pairs *pairs = &append->growing;
    int64_t added = pp_array_document_of(pairs->sources[i])->shape[0];
    int64_t before = pp_array_document_of(pairs->targets[i])->shape[0];
    if ((added != append->added || before != append->before) && has_own_coordinate(append, pairs->names[i]))
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "\"%s\" is in a group with a coordinate %s of its own; append such groups one by one; nothing "
                       "was changed",
                       pairs->names[i], append->dimension);
    if (added != append->added)
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "in the source \"%s\" has the length %lld along %s, and the coordinate %lld; nothing was changed",
            pairs->names[i], (long long)added, append->dimension, (long long)append->added);
    if (before != append->before)
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "in the target \"%s\" has the length %lld along %s, and the coordinate %lld: another program has "
            "changed it; nothing was changed",
            pairs->names[i], (long long)before, append->dimension, (long long)append->before);
    return PARAPET_OK;
}

static parapet_status check_all_documents(pp_append *append)
{
    int last = append->growing.count - 1, i;
    parapet_status status = PARAPET_OK;
    append->added = pp_array_document_of(append->growing.sources[last])->shape[0];
    append->before = pp_array_document_of(append->growing.targets[last])->shape[0];
    for (i = 0; i <= last && status == PARAPET_OK; i++)
        if ((status = check_growing(append, i)) == PARAPET_OK)
            status = check_lengths(append, i);
    for (i = 0; i < append->fixed.count && status == PARAPET_OK; i++)
        status = check_documents(&append->fixed, i, false);
    return status;
}

/* ---- What stays as it is ---- */

static parapet_status refuse_value(const char *array, const pp_box *box, int64_t element)
{
    pp_text index = {0};
    parapet_status status;
    int64_t at[PARAPET_MAX_NDIM];
    int d;
    for (d = box->ndim - 1; d >= 0; d--) {
        at[d] = box->start[d] + element % box->count[d];
        element /= box->count[d];
    }
    for (d = 0; d < box->ndim; d++)
        pp_text_add(&index, "%s%lld", d > 0 ? ", " : "", (long long)at[d]);
    pp_text_add(&index, "]");
    if ((status = index.status) == PARAPET_OK)
        status = pp_fail(PARAPET_ERR_ARGUMENT,
                         "\"%s\" differs between source and target, first at [%s: they cannot be joined; if it does "
                         "not matter, exclude it; nothing was changed",
                         array, index.data);
    pp_text_free(&index);
    return status;
}

/* As numbers: zeros of both signs are one, and NaN is NaN, whatever its bits. */
static bool is_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_same_element(const pp_type *type, const unsigned char *a, const unsigned char *b)
{
    double doubles[2];
    float floats[2];
    if (memcmp(a, b, type->element_bytes) == 0)
        return true;
    if (type->id == PARAPET_FLOAT64) {
        memcpy(&doubles[0], a, sizeof doubles[0]);
        memcpy(&doubles[1], b, sizeof doubles[1]);
        return is_same_number(doubles[0], doubles[1]);
    }
    if (type->id != PARAPET_FLOAT32)
        return false;
    memcpy(&floats[0], a, sizeof floats[0]);
    memcpy(&floats[1], b, sizeof floats[1]);
    return is_same_number(floats[0], floats[1]);
}

static parapet_status compare_block(const char *array, const pp_box *box, const unsigned char *a,
                                    const unsigned char *b, const pp_type *type)
{
    int64_t count = pp_box_element_count(box), i;
    size_t bytes = type->element_bytes;
    if (memcmp(a, b, (size_t)count * bytes) == 0)
        return PARAPET_OK;
    for (i = 0; i < count; i++)
        if (!is_same_element(type, a + (size_t)i * bytes, b + (size_t)i * bytes))
            return refuse_value(array, box, i);
    return PARAPET_OK;
}

/* [collective] Ranks take blocks in turn. */
static parapet_status compare_blocks(const pp_append *append, int i, const pp_append_blocks *blocks,
                                     unsigned char *data)
{
    const pp_append_pairs *pairs = &append->fixed;
    pp_comm *comm = pp_append_comm(append);
    size_t element_bytes = pp_array_layout(pairs->targets[i])->tiling.element_bytes;
    unsigned char *other = data + (size_t)blocks->elements_most * element_bytes;
    int64_t rank = pp_comm_rank(comm), first;
    parapet_status status = PARAPET_OK;
    pp_box box;
    for (first = 0; first < blocks->count && status == PARAPET_OK; first += pp_comm_size(comm)) {
        int part_count = first + rank < blocks->count ? 1 : 0;
        parapet_part part = {.start = box.start, .count = box.count, .data = data};
        pp_append_block(blocks, part_count > 0 ? first + rank : 0, &box);
        part.ndim = box.ndim;
        if ((status = parapet_array_read(pairs->sources[i], &part, part_count)) != PARAPET_OK)
            return status;
        part.data = other;
        if ((status = parapet_array_read(pairs->targets[i], &part, part_count)) != PARAPET_OK)
            return status;
        if (part_count > 0)
            status =
                compare_block(pairs->names[i], &box, data, other, &pp_array_document_of(pairs->targets[i])->type);
        if ((status = pp_comm_agree(comm, "comparing", status)) == PARAPET_OK)
            status = pp_append_tick(append);
    }
    return status;
}

static pp_box whole_of(const pp_array_document *document)
{
    pp_box box = {.ndim = document->ndim};
    memcpy(box.count, document->shape, sizeof box.count);
    return box;
}

/* [collective] Both are of the same type, which has elements of fixed length. */
static parapet_status compare_values(const pp_append *append, int i)
{
    parapet_array *source = append->fixed.sources[i], *target = append->fixed.targets[i];
    const pp_tiling *tiling = &pp_array_layout(target)->tiling;
    pp_append_blocks blocks;
    pp_buffer buffer = {0};
    pp_box region = whole_of(pp_array_document_of(target));
    parapet_status status;
    pp_append_blocks_init(&blocks, &region, tiling, &pp_array_layout(source)->tiling,
                          &(pp_append_share){append->buffer_bytes / 2, pp_comm_size(pp_append_comm(append))});
    status = pp_buffer_init(&buffer, pp_store_budget(append->request->target),
                            2 * (size_t)blocks.elements_most * tiling->element_bytes, "values to compare");
    status = pp_comm_agree(pp_append_comm(append), "comparing", status);
    if (status == PARAPET_OK)
        status = compare_blocks(append, i, &blocks, buffer.data);
    pp_buffer_free(&buffer);
    return status;
}

/* The texts of an array, one behind the other, and where each ends. */
typedef struct all_texts {
    char *text;
    int64_t *ends;
} all_texts;

static parapet_status read_texts(parapet_array *array, int64_t count, all_texts *all)
{
    const pp_array_document *document = pp_array_document_of(array);
    const int64_t start[PARAPET_MAX_NDIM] = {0};
    parapet_status status = pp_allocate_array(&all->ends, (size_t)count, sizeof all->ends[0]);
    return status == PARAPET_OK ? parapet_array_read_texts_local(array, start, document->shape, &all->text, all->ends)
                                : status;
}

/* Rank 0. */
static parapet_status compare_texts(const pp_append *append, int i)
{
    all_texts here = {0}, there = {0};
    pp_box box = whole_of(pp_array_document_of(append->fixed.targets[i]));
    int64_t count = pp_box_element_count(&box), k;
    parapet_status status;
    if ((status = read_texts(append->fixed.sources[i], count, &here)) == PARAPET_OK)
        status = read_texts(append->fixed.targets[i], count, &there);
    for (k = 0; k < count && status == PARAPET_OK; k++) {
        int64_t start = k > 0 ? here.ends[k - 1] : 0;
        if (here.ends[k] != there.ends[k] ||
            memcmp(here.text + start, there.text + start, (size_t)(here.ends[k] - start)) != 0)
            status = refuse_value(append->fixed.names[i], &box, k);
    }
    pp_free(here.ends);
    pp_free(there.ends);
    parapet_free(here.text);
    parapet_free(there.text);
    return status;
}

/* [collective] */
static parapet_status compare_fixed(const pp_append *append, int i)
{
    if (pp_array_document_of(append->fixed.targets[i])->type.element_bytes > 0)
        return compare_values(append, i);
    return pp_comm_agree(pp_append_comm(append), "comparing",
                         pp_append_leads(append) ? compare_texts(append, i) : PARAPET_OK);
}

parapet_status pp_append_check(pp_append *append)
{
    parapet_status status = pp_comm_agree(pp_append_comm(append), "comparing", check_all_documents(append));
    int i;
    for (i = 0; i < append->fixed.count && status == PARAPET_OK && !append->is_alone; i++)
        status = compare_fixed(append, i);
    return status;
}
