/* .zarray and .zattrs, told in the words of Zarr v3. */
#include <string.h>

#include "base/status.h"
#include "zarr/codecs_json.h"
#include "zarr/codecs_v2.h"
#include "zarr/document.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"

static parapet_status check_format(pp_json *json, const char *file)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_json *format;
    int64_t number;
    parapet_status status;
    if (pp_json_kind_of(json) != PP_JSON_OBJECT)
        return pp_fail(PARAPET_ERR_FORMAT, "%s must hold an object, not %s", file, pp_json_words(json, words));
    if ((status = pp_member_require(json, "zarr_format", &format)) != PARAPET_OK)
        return status;
    if (!pp_json_get_i64(format, &number) || number != 2)
        return pp_fail(PARAPET_ERR_FORMAT, "zarr_format of %s must be 2, not %s", file, pp_json_words(format, words));
    return PARAPET_OK;
}

static parapet_status parse_shapes(pp_array_document *document, pp_json *zarray)
{
    pp_json *shape, *chunks;
    int ndim;
    parapet_status status;
    if ((status = pp_member_require(zarray, "shape", &shape)) != PARAPET_OK ||
        (status = pp_member_require(zarray, "chunks", &chunks)) != PARAPET_OK ||
        (status = pp_shape_parse(shape, "shape", 0, &document->ndim, document->shape)) != PARAPET_OK ||
        (status = pp_shape_parse(chunks, "chunks", 1, &ndim, document->grid_shape)) != PARAPET_OK)
        return status;
    if (ndim != document->ndim)
        return pp_fail(PARAPET_ERR_FORMAT, "chunks has %d dimensions, but shape has %d", ndim, document->ndim);
    return PARAPET_OK;
}

static parapet_status parse_separator(pp_array_document *document, pp_json *zarray)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_json *separator = pp_json_member(zarray, "dimension_separator");
    document->keys = (pp_key_encoding){.is_v2 = true, .separator = '.'};
    if (separator == NULL || pp_json_is_text(separator, "."))
        return PARAPET_OK;
    if (!pp_json_is_text(separator, "/"))
        return pp_fail(PARAPET_ERR_FORMAT, "dimension_separator must be \".\" or \"/\", not %s",
                       pp_json_words(separator, words));
    document->keys.separator = '/';
    return PARAPET_OK;
}

/* Column-major chunks are chunks of the reversed array. */
static parapet_status parse_order(pp_array_document *document, pp_json *zarray)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_json *order = pp_json_member(zarray, "order");
    pp_codec_spec transpose = {.id = PP_CODEC_TRANSPOSE};
    int i;
    if (order == NULL || pp_json_is_text(order, "C"))
        return PARAPET_OK;
    if (!pp_json_is_text(order, "F"))
        return pp_fail(PARAPET_ERR_FORMAT, "order must be \"C\" or \"F\", not %s", pp_json_words(order, words));
    for (i = 0; i < document->ndim; i++)
        transpose.order[i] = (int8_t)(document->ndim - 1 - i);
    return document->ndim > 1 ? pp_codec_append(&document->codecs, &transpose) : PARAPET_OK;
}

static parapet_status parse_elements(pp_array_document *document, pp_json *zarray)
{
    pp_codec_spec bytes = {.id = PP_CODEC_BYTES};
    pp_json *dtype;
    parapet_status status;
    if ((status = pp_member_require(zarray, "dtype", &dtype)) != PARAPET_OK ||
        (status = pp_type_parse_v2(&document->type, dtype, &bytes.is_big_endian)) != PARAPET_OK ||
        (status = pp_allocate(&document->fill_value, document->type.element_bytes)) != PARAPET_OK ||
        (status = pp_fill_parse(&document->type, pp_json_member(zarray, "fill_value"), 2, document->fill_value,
                                &document->is_fill_defined)) != PARAPET_OK ||
        document->type.id == PARAPET_VARIABLE)
        return status;
    if ((status = parse_order(document, zarray)) != PARAPET_OK ||
        (status = pp_codec_append(&document->codecs, &bytes)) != PARAPET_OK)
        return status;
    return pp_codecs_parse_v2(&document->codecs, zarray, &document->type);
}

/* xarray keeps the names of dimensions in an attribute; anything else under that name is just an attribute. */
static bool are_names(pp_json *names, int ndim)
{
    const char *name;
    size_t bytes, i;
    if (pp_json_kind_of(names) != PP_JSON_ARRAY || pp_json_length(names) != (size_t)ndim)
        return false;
    for (i = 0; i < (size_t)ndim; i++)
        if (!pp_json_get_text(pp_json_element(names, i), &name, &bytes) || strlen(name) != bytes ||
            bytes > PP_MAX_NAME_BYTES)
            return false;
    return true;
}

static parapet_status take_dimension_names(pp_array_document *document)
{
    pp_json *names = pp_json_member(document->attributes, "_ARRAY_DIMENSIONS");
    parapet_status status = PARAPET_OK;
    int i;
    if (!are_names(names, document->ndim))
        return PARAPET_OK;
    document->has_dimension_names = true;
    for (i = 0; i < document->ndim && status == PARAPET_OK; i++) {
        const char *name = "";
        size_t bytes;
        (void)pp_json_get_text(pp_json_element(names, (size_t)i), &name, &bytes);
        status = pp_text_duplicate(&document->dimension_names[i], name);
    }
    return status;
}

parapet_status pp_array_document_parse_v2(pp_array_document *document, pp_json *zarray, pp_json *zattrs)
{
    parapet_status status;
    *document = (pp_array_document){.zarr_format = 2};
    if ((status = check_format(zarray, ".zarray")) != PARAPET_OK ||
        (status = parse_shapes(document, zarray)) != PARAPET_OK ||
        (status = parse_separator(document, zarray)) != PARAPET_OK ||
        (status = parse_elements(document, zarray)) != PARAPET_OK ||
        (status = pp_attributes_take(&document->attributes, zattrs, ".zattrs")) != PARAPET_OK ||
        (status = take_dimension_names(document)) != PARAPET_OK)
        pp_array_document_clear(document);
    return status;
}

parapet_status pp_group_document_parse_v2(pp_group_document *document, pp_json *zgroup, pp_json *zattrs)
{
    parapet_status status;
    *document = (pp_group_document){.zarr_format = 2};
    if ((status = check_format(zgroup, ".zgroup")) != PARAPET_OK ||
        (status = pp_attributes_take(&document->attributes, zattrs, ".zattrs")) != PARAPET_OK)
        pp_group_document_clear(document);
    return status;
}
