#include "foreign/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"

/* Equal slabs as far as possible, so that the last one is not a small rest. */
static int64_t slab_extent(int64_t extent, int64_t most)
{
    return extent <= most ? pp_max_i64(extent, 1) : pp_divide_up(extent, pp_divide_up(extent, most));
}

void pp_slab_choose(int ndim, const int64_t *extent, size_t element_bytes, int64_t *slab)
{
    int64_t most = pp_max_i64((int64_t)(PP_SLAB_BYTES / element_bytes), 1);
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        slab[d] = slab_extent(extent[d], most);
        most = slab[d] < extent[d] ? 1 : pp_max_i64(most / slab[d], 1);
    }
}

static const int64_t *slab_of(const pp_foreign_array *array)
{
    return array->extent + array->ndim;
}

/* The dimension of the file that readers see as this one. */
static int dimension_in_file(const pp_foreign_array *array, int dimension)
{
    return array->is_reversed ? array->ndim - 1 - dimension : dimension;
}

/* Bytes of everything faster than a dimension; pp_places_add has made sure that they fit. */
static uint64_t bytes_below(const pp_foreign_array *array, int dimension)
{
    uint64_t bytes = array->element_bytes;
    int d;
    for (d = dimension + 1; d < array->ndim; d++)
        bytes *= (uint64_t)array->extent[d];
    return bytes;
}

static uint64_t distance_in(const pp_foreign_array *array, int dimension)
{
    return dimension == 0 ? array->distance : bytes_below(array, dimension);
}

/* The slowest dimension of which a slab may have several indices. */
static int split_dimension(const pp_foreign_array *array)
{
    int d = array->ndim - 1;
    while (d > 0 && slab_of(array)[d] >= array->extent[d])
        d--;
    return d < 0 ? 0 : d;
}

int64_t pp_foreign_array_slabs(const pp_foreign_array *array, int dimension)
{
    int d = dimension_in_file(array, dimension);
    return pp_divide_up(array->extent[d], slab_of(array)[d]);
}

uint64_t pp_foreign_array_slab_bytes(const pp_foreign_array *array)
{
    uint64_t bytes = array->element_bytes;
    int d;
    for (d = 0; d < array->ndim; d++)
        bytes *= (uint64_t)slab_of(array)[d];
    return bytes;
}

void pp_foreign_array_locate(const pp_foreign_array *array, const int64_t *position, pp_place *place)
{
    int split = split_dimension(array), d;
    *place = (pp_place){.start = array->start, .run_bytes = array->element_bytes, .run_count = 1};
    for (d = 0; d < array->ndim && d <= split; d++) {
        int64_t first = position[dimension_in_file(array, d)] * slab_of(array)[d];
        place->start += (uint64_t)first * distance_in(array, d);
        place->run_count = (uint64_t)pp_min_i64(slab_of(array)[d], array->extent[d] - first);
    }
    if (array->ndim > 0)
        place->run_bytes = bytes_below(array, split);
    place->distance = array->ndim > 0 ? distance_in(array, split) : place->run_bytes;
}

/* ---- Adding an array ---- */

static parapet_status refuse_size(const char *name)
{
    return pp_fail(PARAPET_ERR_FORMAT, "the array%s%s has more elements than any file", name[0] != '\0' ? " " : "",
                   name);
}

/* What its elements take, each extent counted as 1 at least, so that nothing overflows later. */
static bool count_bytes(pp_foreign_array *array, uint64_t wanted_distance)
{
    int64_t bytes = (int64_t)array->element_bytes;
    int d;
    for (d = array->ndim - 1; d >= 0; d--) {
        if (d == 0)
            array->distance = wanted_distance > 0 ? wanted_distance : (uint64_t)bytes;
        if (!pp_multiply_fits(bytes, pp_max_i64(array->extent[d], 1), &bytes))
            return false;
    }
    return true;
}

static bool is_empty(const pp_foreign_array *array)
{
    int d;
    for (d = 0; d < array->ndim; d++)
        if (array->extent[d] == 0)
            return true;
    return false;
}

/* The first byte after the last element; false: no file is that long. */
static bool find_end(const pp_foreign_array *array, uint64_t *end)
{
    int64_t last = 0;
    *end = array->start;
    if (is_empty(array))
        return true;
    if (array->ndim > 0 &&
        (array->distance > INT64_MAX || !pp_multiply_fits((int64_t)array->distance, array->extent[0] - 1, &last)))
        return false;
    return pp_add_u64_fits(*end, (uint64_t)last, end) &&
           pp_add_u64_fits(*end, array->ndim > 0 ? bytes_below(array, 0) : array->element_bytes, end);
}

static parapet_status check_end(const pp_places *places, const pp_foreign_array *array, uint64_t limit)
{
    const char *name = array->name;
    uint64_t end;
    if (!find_end(array, &end))
        return refuse_size(name);
    if (is_empty(array))
        return PARAPET_OK;
    if (end > places->file_bytes)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "the file has %" PRIu64 " bytes, but the array%s%s ends at byte %" PRIu64
                       ": it was cut off, or is still being written",
                       places->file_bytes, name[0] != '\0' ? " " : "", name, end);
    if (limit != 0 && end > limit)
        return pp_fail(PARAPET_ERR_CORRUPT,
                       "the array %s ends at byte %" PRIu64 " of the file, but its part of the file at byte %" PRIu64,
                       name, end, limit);
    return PARAPET_OK;
}

static uint64_t stored_bytes(const pp_foreign_array *array)
{
    uint64_t bytes = array->element_bytes;
    int d;
    if (array->kind == PP_FOREIGN_CHUNKED)
        return array->chunks.stored_bytes;
    for (d = 0; d < array->ndim; d++)
        bytes *= (uint64_t)array->extent[d];
    return bytes;
}

static parapet_status check_sum(pp_places *places, const pp_foreign_array *array)
{
    uint64_t bytes = stored_bytes(array);
    if (!pp_add_u64_fits(places->array_bytes, bytes, &places->array_bytes) ||
        places->array_bytes > places->file_bytes)
        return pp_fail(PARAPET_ERR_FORMAT, "the arrays together are larger than the file: some share their bytes");
    return PARAPET_OK;
}

static void set_codecs(pp_array_document *document, const pp_flat *flat)
{
    pp_chain_spec *codecs = &document->codecs;
    int d;
    codecs->count = 0;
    if (flat->is_reversed && document->ndim > 1) {
        codecs->codecs[codecs->count] = (pp_codec_spec){.id = PP_CODEC_TRANSPOSE};
        for (d = 0; d < document->ndim; d++)
            codecs->codecs[codecs->count].order[d] = (int8_t)(document->ndim - 1 - d);
        codecs->count++;
    }
    codecs->codecs[codecs->count++] =
        (pp_codec_spec){.id = PP_CODEC_BYTES, .is_big_endian = flat->is_big_endian && document->type.swap_bytes > 1};
}

static parapet_status check_documents(const pp_places *places)
{
    if (places->document_bytes > PP_MAX_FOREIGN_DOCUMENTS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the metadata of all arrays would take more than %zu MiB",
                       PP_MAX_FOREIGN_DOCUMENTS >> 20);
    return PARAPET_OK;
}

static parapet_status print_document(pp_places *places, pp_array_document *document, pp_foreign_array *array)
{
    pp_text text = {0};
    parapet_status status;
    int d;
    document->zarr_format = 3;
    document->keys = (pp_key_encoding){.separator = '/'};
    for (d = 0; d < document->ndim; d++)
        document->grid_shape[d] = slab_of(array)[dimension_in_file(array, d)];
    if ((status = pp_array_document_print(document, &text)) != PARAPET_OK) {
        pp_text_free(&text);
        return status;
    }
    array->document_bytes = text.bytes;
    places->document_bytes += text.bytes;
    if ((status = pp_text_finish(&text, &array->document)) != PARAPET_OK)
        return status;
    return check_documents(places);
}

static parapet_status make_room(pp_places *places)
{
    size_t capacity = places->capacity > 0 ? 2 * places->capacity : 8;
    parapet_status status;
    if (places->count == PP_MAX_FOREIGN_ARRAYS)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the file has more than %d arrays", PP_MAX_FOREIGN_ARRAYS);
    if (places->count < places->capacity)
        return PARAPET_OK;
    if ((status = pp_reallocate(&places->arrays, capacity * sizeof places->arrays[0])) == PARAPET_OK)
        places->capacity = capacity;
    return status;
}

static void clear_array(pp_foreign_array *array)
{
    pp_free(array->name);
    pp_free(array->document);
    pp_free(array->extent);
    pp_foreign_chunks_clear(&array->chunks);
}

static parapet_status fill_array(pp_foreign_array *array, const char *name, const pp_array_document *document,
                                 const pp_flat *flat)
{
    parapet_status status;
    int d;
    *array = (pp_foreign_array){.ndim = document->ndim,
                                .is_reversed = flat->is_reversed,
                                .element_bytes = document->type.element_bytes,
                                .start = flat->start};
    if ((status = pp_text_duplicate(&array->name, name)) != PARAPET_OK ||
        (status = pp_allocate_array(&array->extent, 2 * (size_t)document->ndim, sizeof array->extent[0])) !=
            PARAPET_OK)
        return status;
    for (d = 0; d < document->ndim; d++)
        array->extent[dimension_in_file(array, d)] = document->shape[d];
    pp_slab_choose(array->ndim, array->extent, array->element_bytes, array->extent + array->ndim);
    return count_bytes(array, flat->distance) ? PARAPET_OK : refuse_size(name);
}

static parapet_status check_name(const pp_places *places, const char *name)
{
    parapet_status status = pp_path_check(name);
    if (status == PARAPET_OK && (places->is_tree || strchr(name, '/') == NULL))
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_UNSUPPORTED,
                   "the array \"%.64s\" has a name that Zarr does not allow: rename it in the file", name);
}

parapet_status pp_places_add(pp_places *places, const char *name, pp_array_document *document, const pp_flat *flat)
{
    pp_foreign_array *array;
    parapet_status status;
    if ((status = check_name(places, name)) != PARAPET_OK || (status = make_room(places)) != PARAPET_OK)
        return status;
    array = &places->arrays[places->count];
    set_codecs(document, flat);
    if ((status = fill_array(array, name, document, flat)) != PARAPET_OK ||
        (status = check_end(places, array, flat->end)) != PARAPET_OK ||
        (status = check_sum(places, array)) != PARAPET_OK ||
        (status = print_document(places, document, array)) != PARAPET_OK) {
        clear_array(array);
        return status;
    }
    places->count++;
    return PARAPET_OK;
}

/* ---- Adding other nodes ---- */

static parapet_status fill_chunked(pp_foreign_array *array, const char *name, const pp_array_document *document)
{
    parapet_status status;
    int d;
    array->ndim = document->ndim;
    array->element_bytes = document->type.element_bytes;
    if ((status = pp_text_duplicate(&array->name, name)) != PARAPET_OK ||
        (status = pp_allocate_array(&array->extent, 2 * (size_t)document->ndim, sizeof array->extent[0])) !=
            PARAPET_OK)
        return status;
    for (d = 0; d < document->ndim; d++) {
        array->extent[d] = document->shape[d];
        array->extent[d + document->ndim] = document->grid_shape[d];
    }
    return PARAPET_OK;
}

static parapet_status finish_chunks(const pp_places *places, pp_foreign_chunks *chunks, pp_array_document *document)
{
    return document->type.element_bytes == 0 ? pp_foreign_chunks_finish_texts(chunks, document)
                                             : pp_foreign_chunks_finish(chunks, document, places->file_bytes);
}

parapet_status pp_places_add_chunked(pp_places *places, const char *name, pp_array_document *document,
                                     pp_foreign_chunks *chunks)
{
    pp_foreign_array *array;
    parapet_status status;
    if ((status = check_name(places, name)) != PARAPET_OK || (status = make_room(places)) != PARAPET_OK) {
        pp_foreign_chunks_clear(chunks);
        return status;
    }
    array = &places->arrays[places->count];
    *array = (pp_foreign_array){.kind = PP_FOREIGN_CHUNKED, .chunks = *chunks};
    *chunks = (pp_foreign_chunks){0};
    if ((status = fill_chunked(array, name, document)) != PARAPET_OK ||
        (status = finish_chunks(places, &array->chunks, document)) != PARAPET_OK ||
        (status = check_sum(places, array)) != PARAPET_OK ||
        (status = print_document(places, document, array)) != PARAPET_OK) {
        clear_array(array);
        return pp_fail_within(status, "the array %s", name);
    }
    places->count++;
    return PARAPET_OK;
}

parapet_status pp_places_add_node(pp_places *places, const char *name, pp_foreign_kind kind, pp_foreign_text text)
{
    pp_foreign_array *node;
    parapet_status status;
    places->document_bytes += text.bytes;
    if ((status = check_name(places, name)) != PARAPET_OK || (status = make_room(places)) != PARAPET_OK ||
        (status = check_documents(places)) != PARAPET_OK)
        return status;
    node = &places->arrays[places->count];
    *node = (pp_foreign_array){.kind = kind, .document_bytes = text.bytes};
    if ((status = pp_text_duplicate(&node->name, name)) != PARAPET_OK ||
        (status = pp_allocate(&node->document, text.bytes + 1)) != PARAPET_OK) {
        clear_array(node);
        return status;
    }
    memcpy(node->document, text.data, text.bytes);
    places->count++;
    return PARAPET_OK;
}

parapet_status pp_places_set_group(pp_places *places, const char *attributes, size_t bytes)
{
    pp_group_document group = {.zarr_format = 3};
    pp_text text = {0};
    parapet_status status;
    if ((status = attributes != NULL ? pp_json_parse(&group.attributes, attributes, bytes)
                                     : pp_json_object_build(&group.attributes)) == PARAPET_OK)
        status = pp_group_document_print(&group, &text);
    pp_group_document_clear(&group);
    if (status != PARAPET_OK) {
        pp_text_free(&text);
        return status;
    }
    return pp_text_finish(&text, &places->group);
}

static int compare_names(const void *left, const void *right)
{
    const pp_foreign_array *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static parapet_status check_parents(const pp_places *places)
{
    size_t i;
    for (i = 0; i < places->count; i++) {
        const char *name = places->arrays[i].name, *slash = strrchr(name, '/');
        const pp_foreign_array *above;
        if (slash == NULL)
            continue;
        above = pp_places_find(places, name, (size_t)(slash - name));
        if (above == NULL || above->kind != PP_FOREIGN_GROUP)
            return pp_fail(PARAPET_ERR_FORMAT, "\"%s\" is in no group", name);
    }
    return PARAPET_OK;
}

parapet_status pp_places_finish(pp_places *places)
{
    size_t i;
    if (places->count > 1)
        qsort(places->arrays, places->count, sizeof places->arrays[0], compare_names);
    if (places->group != NULL && places->count > 0 && places->arrays[0].name[0] == '\0')
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the file has an array without a name: name it in the file");
    for (i = 1; i < places->count; i++)
        if (compare_names(&places->arrays[i - 1], &places->arrays[i]) == 0)
            return pp_fail(PARAPET_ERR_FORMAT, "the file has two arrays with the name \"%s\"",
                           places->arrays[i].name);
    return check_parents(places);
}

void pp_places_free(pp_places *places)
{
    size_t i;
    for (i = 0; i < places->count; i++)
        clear_array(&places->arrays[i]);
    pp_free(places->arrays);
    pp_free(places->group);
    *places = (pp_places){0};
}

static void keep_array(pp_places *places, size_t number)
{
    pp_foreign_array kept = places->arrays[number];
    places->arrays[number] = places->arrays[0];
    places->arrays[0] = kept;
    while (places->count > 1)
        clear_array(&places->arrays[--places->count]);
    pp_free(places->group);
    places->group = NULL;
    places->arrays[0].name[0] = '\0';
}

/* What stays is in the same order without the part of its path that is gone. */
static void keep_group(pp_places *places, size_t number, const char *name)
{
    size_t bytes = strlen(name), count = 0, i;
    pp_free(places->group);
    places->group = places->arrays[number].document;
    places->arrays[number].document = NULL;
    for (i = 0; i < places->count; i++) {
        pp_foreign_array *node = &places->arrays[i];
        if (strncmp(node->name, name, bytes) != 0 || node->name[bytes] != '/') {
            clear_array(node);
            continue;
        }
        memmove(node->name, node->name + bytes + 1, strlen(node->name + bytes + 1) + 1);
        places->arrays[count++] = *node;
    }
    places->count = count;
}

parapet_status pp_places_keep_only(pp_places *places, const char *name)
{
    const pp_foreign_array *found = places->group != NULL ? pp_places_find(places, name, strlen(name)) : NULL;
    if (found == NULL)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "the file has no array \"%s\"", name);
    if (found->kind == PP_FOREIGN_GROUP)
        keep_group(places, (size_t)(found - places->arrays), name);
    else
        keep_array(places, (size_t)(found - places->arrays));
    return PARAPET_OK;
}

const pp_foreign_array *pp_places_find(const pp_places *places, const char *name, size_t name_bytes)
{
    size_t low = 0, high = places->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const pp_foreign_array *array = &places->arrays[middle];
        int order = strncmp(array->name, name, name_bytes);
        if (order == 0 && array->name[name_bytes] == '\0')
            return array;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
