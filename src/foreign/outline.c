#include "foreign/outline.h"

#include <string.h>

#include "base/checked.h"
#include "base/status.h"

bool pp_outline_is_hidden(const pp_outline_array *array, const char *attribute)
{
    bool has_old_names = array != NULL && array->document->zarr_format == 2 && array->document->has_dimension_names;
    return strcmp(attribute, "_parapet") == 0 || (has_old_names && strcmp(attribute, "_ARRAY_DIMENSIONS") == 0);
}

bool pp_outline_has_fill(const pp_array_document *document)
{
    const unsigned char *value = document->fill_value;
    size_t i = 0;
    while (i < document->type.element_bytes && value[i] == 0)
        i++;
    return document->is_fill_defined && i < document->type.element_bytes;
}

void pp_outline_refuse(pp_outline *outline, const pp_outline_array *array, const char *why)
{
    pp_text_add(&outline->refused, "%s\"%s\" (%s)", outline->refused.bytes > 0 ? ", " : "", array->name, why);
}

static parapet_status count_bytes(pp_outline_array *array)
{
    const pp_array_document *document = array->document;
    int64_t bytes = (int64_t)document->type.element_bytes;
    int d;
    for (d = 0; d < document->ndim; d++)
        if (!pp_multiply_fits(bytes, document->shape[d], &bytes) || bytes > INT64_MAX / 4)
            return pp_fail(PARAPET_ERR_UNSUPPORTED, "\"%s\" has more elements than any file", array->name);
    array->bytes = (uint64_t)bytes;
    return PARAPET_OK;
}

parapet_status pp_outline_place(pp_outline *outline, uint64_t header_bytes, uint64_t multiple)
{
    uint64_t end = header_bytes;
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < outline->count && status == PARAPET_OK; i++) {
        pp_outline_array *array = &outline->arrays[i];
        if ((status = count_bytes(array)) != PARAPET_OK)
            break;
        array->start = (end + multiple - 1) / multiple * multiple;
        end = array->start + array->bytes;
        if (end > INT64_MAX / 2)
            status = pp_fail(PARAPET_ERR_UNSUPPORTED, "the arrays together are larger than any file");
    }
    outline->file_bytes = (end + multiple - 1) / multiple * multiple;
    return status;
}

parapet_status pp_outline_lay_out(pp_outline *outline, const pp_outline_format *format)
{
    parapet_status status = format->lay_out(outline);
    if (status == PARAPET_OK && (status = outline->header.status) == PARAPET_OK &&
        (status = outline->left_out.status) == PARAPET_OK)
        status = outline->refused.status;
    if (status == PARAPET_OK && outline->refused.bytes > 0)
        status = pp_fail(PARAPET_ERR_UNSUPPORTED, "%s cannot hold %s%s", format->article, outline->refused.data,
                         outline->count > 1 ? "; leave out with exclude what it cannot hold" : "");
    return status;
}

void pp_outline_clear(pp_outline *outline)
{
    pp_text_free(&outline->header);
    pp_text_free(&outline->left_out);
    pp_text_free(&outline->refused);
}
