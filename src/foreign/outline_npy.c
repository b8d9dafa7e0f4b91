/* outline_npy.c - one array as NumPy's format has it, or without any header. */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "foreign/outline.h"

/* As NumPy does: the elements begin at a multiple of this. */
#define ALIGNMENT 64
#define PREFIX_BYTES 10

static const char *const type_words[] = {
    [PARAPET_BOOL] = "|b1",      [PARAPET_INT8] = "|i1",        [PARAPET_INT16] = "<i2",   [PARAPET_INT32] = "<i4",
    [PARAPET_INT64] = "<i8",     [PARAPET_UINT8] = "|u1",       [PARAPET_UINT16] = "<u2",  [PARAPET_UINT32] = "<u4",
    [PARAPET_UINT64] = "<u8",    [PARAPET_FLOAT16] = "<f2",     [PARAPET_FLOAT32] = "<f4", [PARAPET_FLOAT64] = "<f8",
    [PARAPET_COMPLEX64] = "<c8", [PARAPET_COMPLEX128] = "<c16",
};

/* NULL: NumPy has none that is known here. */
static const char *word_of(const pp_type *type)
{
    return (size_t)type->id < sizeof type_words / sizeof type_words[0] ? type_words[type->id] : NULL;
}

static parapet_status note_member(void *context, const char *name, pp_json *value)
{
    pp_outline *outline = context;
    (void)value;
    if (!pp_outline_is_hidden(&outline->arrays[0], name))
        pp_text_add(&outline->left_out, "the attribute \"%s\"\n", name);
    return PARAPET_OK;
}

static parapet_status note_group_member(void *context, const char *name, pp_json *value)
{
    pp_outline *outline = context;
    (void)value;
    if (!pp_outline_is_hidden(NULL, name))
        pp_text_add(&outline->left_out, "the attribute \"%s\" of the group\n", name);
    return PARAPET_OK;
}

static parapet_status note_left_out(pp_outline *outline, const pp_outline_array *array)
{
    const pp_array_document *document = array->document;
    parapet_status status = PARAPET_OK;
    bool is_named = false;
    int d;
    for (d = 0; d < document->ndim && document->has_dimension_names; d++)
        is_named = is_named || document->dimension_names[d] != NULL;
    if (is_named)
        pp_text_add(&outline->left_out, "the names of the dimensions\n");
    if (pp_outline_has_fill(document))
        pp_text_add(&outline->left_out, "the fill value\n");
    if (outline->attributes != NULL)
        status = pp_json_each(outline->attributes, note_group_member, outline);
    if (status == PARAPET_OK && document->attributes != NULL)
        status = pp_json_each(document->attributes, note_member, outline);
    return status;
}

static parapet_status check_one(const pp_outline *outline, const char *what)
{
    if (outline->count != 1)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "%s holds one array, but there are %zu; name one of them", what,
                       outline->count);
    return PARAPET_OK;
}

static void print_header(const pp_array_document *document, pp_text *header)
{
    pp_text words = {0};
    size_t bytes;
    int d;
    pp_text_add(&words, "{'descr': '%s', 'fortran_order': False, 'shape': (", word_of(&document->type));
    for (d = 0; d < document->ndim; d++)
        pp_text_add(&words, "%s%" PRId64 "%s", d > 0 ? " " : "", document->shape[d],
                    d + 1 < document->ndim || document->ndim == 1 ? "," : "");
    pp_text_add(&words, "), }");
    bytes = (PREFIX_BYTES + words.bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT - PREFIX_BYTES;
    pp_text_add(&words, "%*s\n", (int)(bytes - words.bytes - 1), "");
    pp_text_add_bytes(header, "\223NUMPY\001\000", 8);
    pp_text_add_bytes(header, (const char[]){(char)(bytes & 255), (char)(bytes >> 8)}, 2);
    pp_text_add_bytes(header, words.data != NULL ? words.data : "", words.bytes);
    if (words.status != PARAPET_OK)
        header->status = words.status;
    pp_text_free(&words);
}

static parapet_status lay_out_npy(pp_outline *outline)
{
    parapet_status status = check_one(outline, "a NumPy file");
    if (status != PARAPET_OK)
        return status;
    if (word_of(&outline->arrays[0].document->type) == NULL) {
        pp_outline_refuse(outline, &outline->arrays[0], outline->arrays[0].document->type.name);
        return PARAPET_OK;
    }
    print_header(outline->arrays[0].document, &outline->header);
    if ((status = pp_outline_place(outline, outline->header.bytes, 1)) != PARAPET_OK)
        return status;
    return note_left_out(outline, &outline->arrays[0]);
}

static parapet_status lay_out_raw(pp_outline *outline)
{
    parapet_status status = check_one(outline, "a file without a header");
    if (status != PARAPET_OK)
        return status;
    if (outline->arrays[0].document->type.element_bytes == 0)
        pp_outline_refuse(outline, &outline->arrays[0], outline->arrays[0].document->type.name);
    pp_text_add(&outline->left_out, "type and shape\n");
    if ((status = pp_outline_place(outline, 0, 1)) != PARAPET_OK)
        return status;
    return note_left_out(outline, &outline->arrays[0]);
}

const pp_outline_format pp_outline_npy = {
    .word = "npy", .suffix = ".npy", .article = "a NumPy file", .lay_out = lay_out_npy};
const pp_outline_format pp_outline_raw = {
    .word = "raw", .article = "a file without a header", .lay_out = lay_out_raw};
