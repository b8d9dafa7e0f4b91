/* npy.c - NumPy's format for one array: a signature, the length of a text, the text, and the elements.
 *
 * The text is a dictionary of Python: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. It is turned into
 * JSON and then read by the parser that checks documents; descr is a dtype of Zarr v2. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "foreign/format.h"

#define SIGNATURE "\223NUMPY"
#define SIGNATURE_BYTES 6
#define PREFIX_BYTES 12 /* signature, two bytes of version, and at most four of a length */
#define MOST_TEXT_BYTES ((size_t)64 << 10)

typedef struct npy_text {
    char *data;
    size_t bytes;
    uint64_t end; /* in the member: where the elements begin */
} npy_text;

static parapet_status refuse(const char *what)
{
    return pp_fail(PARAPET_ERR_FORMAT, "the header of a NumPy array %s", what);
}

/* ---- A dictionary of Python as JSON ---- */

typedef struct translation {
    const char *next, *end;
    pp_text json;
} translation;

/* A string without escapes: names of types and fields have none. */
static parapet_status translate_string(translation *work)
{
    const char *start = work->next + 1, *end = memchr(start, *work->next, (size_t)(work->end - start));
    const char *at;
    if (end == NULL)
        return refuse("has a string without an end");
    for (at = start; at < end; at++)
        if (*at == '\\' || *at == '"' || (unsigned char)*at < 0x20)
            return refuse("has a string with an escape or a control character");
    pp_text_add(&work->json, "\"%.*s\"", (int)(end - start), start);
    work->next = end + 1;
    return PARAPET_OK;
}

static bool take_word(translation *work, const char *word, const char *json)
{
    size_t bytes = strlen(word);
    if ((size_t)(work->end - work->next) < bytes || memcmp(work->next, word, bytes) != 0)
        return false;
    pp_text_add(&work->json, "%s", json);
    work->next += bytes;
    return true;
}

/* Drops a comma that nothing follows, before a bracket closes. */
static void close_bracket(translation *work, char bracket)
{
    pp_text *json = &work->json;
    if (json->bytes > 0 && json->data[json->bytes - 1] == ',')
        json->data[--json->bytes] = '\0';
    pp_text_add_bytes(json, &bracket, 1);
    work->next++;
}

/* The last character so far; a blank does not count. */
static char last_of(const translation *work)
{
    return work->json.bytes > 0 ? work->json.data[work->json.bytes - 1] : '\0';
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static parapet_status translate_mark(translation *work)
{
    char mark = *work->next;
    if (mark == ',' && strchr("[{,", last_of(work)) != NULL)
        return refuse("has a comma that ends nothing");
    if (mark == ')' || mark == ']')
        close_bracket(work, ']');
    else if (mark == '}')
        close_bracket(work, '}');
    else if (strchr("{[,:0123456789-", mark) != NULL && mark != '\0') {
        pp_text_add_bytes(&work->json, &mark, 1);
        work->next++;
    } else if (mark == '(') {
        pp_text_add(&work->json, "[");
        work->next++;
    } else
        return refuse("is not a dictionary that NumPy writes");
    return PARAPET_OK;
}

/* Blanks and line breaks end numbers, as L does, which is behind integers of Python 2. */
static parapet_status skip(translation *work)
{
    bool ends_number = is_digit(last_of(work));
    if (*work->next == 'L' && !ends_number)
        return refuse("has an L that is not behind a number");
    while (work->next < work->end && strchr(" \nL", *work->next) != NULL && *work->next != '\0')
        work->next++;
    return ends_number && work->next < work->end && is_digit(*work->next) ? refuse("has two numbers without a comma")
                                                                          : PARAPET_OK;
}

static parapet_status translate_next(translation *work)
{
    if (*work->next == '\'' || *work->next == '"')
        return translate_string(work);
    if (strchr(" \nL", *work->next) != NULL && *work->next != '\0')
        return skip(work);
    if (take_word(work, "True", "true") || take_word(work, "False", "false"))
        return PARAPET_OK;
    return translate_mark(work);
}

static parapet_status parse_text(const npy_text *text, pp_json **json)
{
    translation work = {.next = text->data, .end = text->data + text->bytes};
    parapet_status status = PARAPET_OK;
    while (work.next < work.end && status == PARAPET_OK)
        if ((status = translate_next(&work)) == PARAPET_OK)
            status = work.json.status;
    if (status == PARAPET_OK &&
        (status = pp_json_parse(json, work.json.data != NULL ? work.json.data : "", work.json.bytes)) != PARAPET_OK)
        status = pp_fail_within(status, "the header of a NumPy array");
    pp_text_free(&work.json);
    return status;
}

/* ---- What the dictionary says ---- */

static parapet_status take_shape(pp_json *json, pp_array_document *document)
{
    pp_json *list = pp_json_member(json, "shape");
    size_t i;
    if (pp_json_kind_of(list) != PP_JSON_ARRAY)
        return refuse("has no shape");
    if (pp_json_length(list) > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "a NumPy array has %zu dimensions, more than %d",
                       pp_json_length(list), PARAPET_MAX_NDIM);
    document->ndim = (int)pp_json_length(list);
    for (i = 0; i < pp_json_length(list); i++)
        if (!pp_json_get_i64(pp_json_element(list, i), &document->shape[i]) || document->shape[i] < 0)
            return refuse("has an extent that is not an integer from 0");
    return PARAPET_OK;
}

static parapet_status take_type(pp_json *json, pp_array_document *document, bool *is_big_endian)
{
    pp_json *descr = pp_json_member(json, "descr");
    parapet_status status;
    if (descr == NULL)
        return refuse("has no descr");
    if ((status = pp_type_parse_v2(&document->type, descr, is_big_endian)) != PARAPET_OK)
        return status;
    if (document->type.id == PARAPET_VARIABLE)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "a NumPy array holds Python objects, which only Python can read");
    return pp_allocate(&document->fill_value, document->type.element_bytes);
}

static parapet_status take_members(pp_json *json, pp_array_document *document, pp_flat *flat)
{
    parapet_status status;
    if (!pp_json_get_bool(pp_json_member(json, "fortran_order"), &flat->is_reversed))
        return refuse("has no fortran_order");
    if ((status = take_shape(json, document)) != PARAPET_OK)
        return status;
    return take_type(json, document, &flat->is_big_endian);
}

static parapet_status describe(const npy_text *text, pp_array_document *document, pp_flat *flat)
{
    pp_json *json = NULL;
    parapet_status status = parse_text(text, &json);
    if (status == PARAPET_OK)
        status = take_members(json, document, flat);
    pp_json_free(json);
    return status;
}

/* ---- The file ---- */

static parapet_status read_text(pp_reader *file, const pp_npy_member *member, npy_text *text)
{
    unsigned char prefix[PREFIX_BYTES] = {0};
    size_t prefix_bytes = 10;
    parapet_status status;
    if (member->bytes < PREFIX_BYTES)
        return refuse("is cut off");
    if ((status = pp_reader_read(file, member->start, PREFIX_BYTES, prefix)) != PARAPET_OK)
        return status;
    if (memcmp(prefix, SIGNATURE, SIGNATURE_BYTES) != 0)
        return refuse("does not begin with its signature");
    if (prefix[6] < 1 || prefix[6] > 3)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "a NumPy array has version %d of the format, which is not known",
                       prefix[6]);
    if (prefix[6] > 1)
        prefix_bytes = PREFIX_BYTES;
    text->bytes = prefix[6] > 1 ? pp_load_u32le(prefix + 8) : (size_t)(prefix[8] | prefix[9] << 8);
    if (text->bytes > member->bytes - prefix_bytes || text->bytes > MOST_TEXT_BYTES)
        return refuse("is longer than the file, or than any that NumPy writes");
    text->end = prefix_bytes + text->bytes;
    if ((status = pp_allocate(&text->data, text->bytes + 1)) != PARAPET_OK || text->bytes == 0)
        return status;
    return pp_reader_read(file, member->start + prefix_bytes, text->bytes, text->data);
}

parapet_status pp_npy_add(pp_reader *file, const pp_npy_member *member, pp_places *places)
{
    pp_array_document document = {0};
    npy_text text = {0};
    pp_flat flat = {0};
    parapet_status status;
    if ((status = read_text(file, member, &text)) != PARAPET_OK ||
        (status = describe(&text, &document, &flat)) != PARAPET_OK)
        goto done;
    flat.start = member->start + text.end;
    flat.end = member->start + member->bytes;
    status = pp_places_add(places, member->name, &document, &flat);
done:
    pp_free(text.data);
    pp_array_document_clear(&document);
    return status;
}

static parapet_status npy_read(pp_reader *file, pp_places *places)
{
    const pp_npy_member whole = {.name = "", .bytes = file->bytes};
    return pp_npy_add(file, &whole, places);
}

const pp_format pp_format_npy = {
    .name = "a NumPy array", .signatures = {SIGNATURE}, .signature_bytes = SIGNATURE_BYTES, .read = npy_read};
