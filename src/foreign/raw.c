/* raw.c - files that hold nothing but elements. What they are, the user says:
 * type=float32,shape=100x200[,endian=big][,order=F][,offset=16] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "foreign/format.h"

#define MOST_VALUE_BYTES 256

typedef struct raw_array {
    pp_array_document document;
    pp_flat flat;
    bool has_shape, has_type;
} raw_array;

static parapet_status refuse_value(const char *name, const char *value, const char *wanted)
{
    return pp_fail(PARAPET_ERR_ARGUMENT, "raw: %s is \"%.64s\", but must be %s", name, value, wanted);
}

static bool parse_number(const char **text, int64_t *value)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *value = strtoll(*text, &end, 10);
    *text = end;
    return *value < INT64_MAX;
}

static parapet_status set_shape(raw_array *raw, const char *value)
{
    pp_array_document *document = &raw->document;
    const char *next = value;
    bool is_number = true;
    document->ndim = 0;
    raw->has_shape = true;
    while (is_number && document->ndim < PARAPET_MAX_NDIM) {
        is_number = parse_number(&next, &document->shape[document->ndim++]);
        if (*next != 'x')
            break;
        next++;
    }
    return is_number && *next == '\0' ? PARAPET_OK : refuse_value("shape", value, "1 to 32 extents: 100x200");
}

static parapet_status set_type(raw_array *raw, const char *value)
{
    parapet_type id = parapet_type_from_name(value);
    parapet_status status;
    if (id == PARAPET_TYPE_OF_ARRAY || raw->has_type)
        return refuse_value("type", value, "a name such as float32, once");
    if ((status = pp_type_init(&raw->document.type, id, 0, NULL)) != PARAPET_OK)
        return status;
    raw->has_type = true;
    return pp_allocate(&raw->document.fill_value, raw->document.type.element_bytes);
}

/* One of two words; *is_second tells which. */
static parapet_status set_word(const char *name, const char *value, const char *const words[2], bool *is_second)
{
    char wanted[32];
    if (strcmp(value, words[0]) != 0 && strcmp(value, words[1]) != 0) {
        (void)snprintf(wanted, sizeof wanted, "%s or %s", words[0], words[1]);
        return refuse_value(name, value, wanted);
    }
    *is_second = strcmp(value, words[1]) == 0;
    return PARAPET_OK;
}

static parapet_status set_offset(raw_array *raw, const char *value)
{
    const char *next = value;
    int64_t offset;
    if (!parse_number(&next, &offset) || *next != '\0')
        return refuse_value("offset", value, "a number of bytes");
    raw->flat.start = (uint64_t)offset;
    return PARAPET_OK;
}

static parapet_status set_member(raw_array *raw, const char *name, const char *value)
{
    static const char *const byte_orders[2] = {"little", "big"}, *const orders[2] = {"C", "F"};
    if (strcmp(name, "shape") == 0)
        return set_shape(raw, value);
    if (strcmp(name, "type") == 0)
        return set_type(raw, value);
    if (strcmp(name, "endian") == 0)
        return set_word(name, value, byte_orders, &raw->flat.is_big_endian);
    if (strcmp(name, "order") == 0)
        return set_word(name, value, orders, &raw->flat.is_reversed);
    if (strcmp(name, "offset") == 0)
        return set_offset(raw, value);
    return pp_fail(PARAPET_ERR_ARGUMENT, "raw: \"%s\" is not one of type, shape, endian, order and offset", name);
}

/* "name=value", bytes long. */
static parapet_status set_from_words(raw_array *raw, const char *words, size_t bytes)
{
    char name[MOST_VALUE_BYTES];
    char *value;
    if (bytes >= sizeof name)
        return pp_fail(PARAPET_ERR_ARGUMENT, "raw: \"%.64s...\" is too long", words);
    memcpy(name, words, bytes);
    name[bytes] = '\0';
    if ((value = strchr(name, '=')) == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "raw: \"%s\" must be name=value, such as type=float32", name);
    *value++ = '\0';
    return set_member(raw, name, value);
}

static parapet_status parse_words(raw_array *raw, const char *words, size_t bytes)
{
    parapet_status status = PARAPET_OK;
    size_t start = 0;
    while (start < bytes && status == PARAPET_OK) {
        const char *comma = memchr(words + start, ',', bytes - start);
        size_t end = comma != NULL ? (size_t)(comma - words) : bytes;
        status = set_from_words(raw, words + start, end - start);
        start = end + 1;
    }
    if (status == PARAPET_OK && (!raw->has_shape || !raw->has_type))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "raw: a file without a header needs type and shape: raw:type=float32,shape=100x200:FILE");
    return status;
}

parapet_status pp_raw_read(const char *words, size_t words_bytes, pp_places *places)
{
    raw_array raw = {0};
    parapet_status status = parse_words(&raw, words, words_bytes);
    if (status == PARAPET_OK)
        status = pp_places_add(places, "", &raw.document, &raw.flat);
    pp_array_document_clear(&raw.document);
    return status;
}
