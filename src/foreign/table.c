#include "foreign/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "codec/crc32c.h"
#include "zarr/base64.h"

/* What compact storage of HDF5 can hold, and what texts of an array may take. */
#define MOST_DATA_BYTES ((size_t)64 << 10)
#define MOST_TEXT_BYTES ((size_t)64 << 20)

/* A text that is read line by line. */
typedef struct lines {
    const char *next;
    size_t left;
    uint64_t number;
    const char *line; /* the current one, without its end; not terminated */
    size_t bytes;
} lines;

static parapet_status refuse(const lines *text, const char *what)
{
    return pp_fail(PARAPET_ERR_FORMAT, "line %" PRIu64 " of the table of places %s", text->number, what);
}

static parapet_status take_line(lines *text)
{
    const char *end = text->left > 0 ? memchr(text->next, '\n', text->left) : NULL;
    text->number++;
    if (end == NULL)
        return refuse(text, "is missing: it was cut off");
    text->line = text->next;
    text->bytes = (size_t)(end - text->next);
    text->next = end + 1;
    text->left -= text->bytes + 1;
    return memchr(text->line, '\0', text->bytes) == NULL ? PARAPET_OK : refuse(text, "has a NUL");
}

/* Whether the line begins with this word; it is then cut off. */
static bool take_word(lines *text, const char *word)
{
    size_t bytes = strlen(word);
    if (text->bytes < bytes || memcmp(text->line, word, bytes) != 0)
        return false;
    text->line += bytes;
    text->bytes -= bytes;
    return true;
}

/* A number without sign or leading zeros, and the space after it, unless it ends the line. */
static bool take_number(lines *text, uint64_t *number)
{
    size_t i;
    *number = 0;
    for (i = 0; i < text->bytes && text->line[i] >= '0' && text->line[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(text->line[i] - '0');
        if (*number > (UINT64_MAX - digit) / 10 || (i == 1 && *number == 0))
            return false;
        *number = 10 * *number + digit;
    }
    if (i == 0 || (i < text->bytes && text->line[i] != ' '))
        return false;
    i += i < text->bytes;
    text->line += i;
    text->bytes -= i;
    return true;
}

static parapet_status take_only_number(lines *text, const char *word, uint64_t *number)
{
    if (!take_word(text, word) || !take_number(text, number) || text->bytes > 0)
        return refuse(text, "does not say what it should");
    return PARAPET_OK;
}

/* ---- Checksum ---- */

/* The last line has the CRC-32C of all before it, which then are all there is. */
static parapet_status check_end(lines *text)
{
    static const char word[] = "end ";
    size_t bytes = strlen(word) + 8 + 1;
    const char *end = text->next + (text->left > bytes ? text->left - bytes : 0);
    char expected[16];
    if (text->left <= bytes || text->next[text->left - 1] != '\n' || memcmp(end, word, strlen(word)) != 0 ||
        end[-1] != '\n')
        return pp_fail(PARAPET_ERR_FORMAT, "the table of places has no end: it was cut off");
    (void)snprintf(expected, sizeof expected, "%08x", pp_crc32c(0, text->next, text->left - bytes));
    if (memcmp(expected, end + strlen(word), 8) != 0)
        return pp_fail(PARAPET_ERR_CORRUPT, "the table of places is damaged: its checksum is %s, but %.8s is stored",
                       expected, end + strlen(word));
    text->left -= bytes;
    return PARAPET_OK;
}

/* ---- Nodes ---- */

/* The path after the word; "/" is the root, which is "". */
static parapet_status take_path(lines *text, char **path)
{
    parapet_status status;
    if (text->bytes == 0 || text->line[0] != '/')
        return refuse(text, "has no path");
    if ((status = pp_allocate(path, text->bytes)) == PARAPET_OK)
        memcpy(*path, text->line + 1, text->bytes - 1);
    return status;
}

static parapet_status parse_document(lines *text, pp_json **json)
{
    parapet_status status = take_line(text);
    if (status == PARAPET_OK && (status = pp_json_parse(json, text->line, text->bytes)) != PARAPET_OK)
        status = pp_fail_within(status, "line %" PRIu64 " of the table of places", text->number);
    return status;
}

/* Prints it again: what is kept is then what we understood. */
static parapet_status print_group(pp_json *json, pp_text *printed)
{
    pp_group_document group = {0};
    parapet_status status = pp_group_document_parse(&group, json);
    if (status == PARAPET_OK)
        status = pp_group_document_print(&group, printed);
    pp_group_document_clear(&group);
    return status;
}

static parapet_status add_group(lines *text, const char *path, pp_places *places)
{
    pp_json *json = NULL;
    pp_text printed = {0};
    parapet_status status = parse_document(text, &json);
    if (status == PARAPET_OK && (status = print_group(json, &printed)) == PARAPET_OK) {
        if (path[0] != '\0')
            status =
                pp_places_add_node(places, path, PP_FOREIGN_GROUP, (pp_foreign_text){printed.data, printed.bytes});
        else if (places->group != NULL)
            status = refuse(text, "has a second root");
        else
            status = pp_text_finish(&printed, &places->group);
    }
    pp_text_free(&printed);
    pp_json_free(json);
    return status;
}

static parapet_status add_refused(lines *text, const char *path, pp_places *places)
{
    parapet_status status = take_line(text);
    if (status != PARAPET_OK)
        return status;
    return pp_places_add_node(places, path, PP_FOREIGN_REFUSED, (pp_foreign_text){text->line, text->bytes});
}

/* ---- Arrays ---- */

static parapet_status read_chunk(lines *text, pp_foreign_chunks *chunks)
{
    pp_chunk_place place;
    uint64_t bytes, left_out;
    parapet_status status = take_line(text);
    if (status != PARAPET_OK)
        return status;
    if (!take_number(text, &place.index) || !take_number(text, &place.start) || !take_number(text, &bytes) ||
        !take_number(text, &left_out) || text->bytes > 0 || bytes > UINT32_MAX || left_out > UINT32_MAX)
        return refuse(text, "is not a chunk: its number, its first byte, its bytes and the filters that it lacks");
    place.bytes = (uint32_t)bytes;
    place.left_out = (uint32_t)left_out;
    return pp_foreign_chunks_add(chunks, &place);
}

/* The extents beyond which chunks have nothing to show, and the line after them. */
static parapet_status read_within(lines *text, const pp_array_document *document, pp_foreign_beyond *beyond)
{
    parapet_status status = pp_foreign_beyond_begin(beyond, document->ndim);
    uint64_t extent;
    int d;
    for (d = 0; d < document->ndim && status == PARAPET_OK; d++) {
        if (!take_number(text, &extent) || extent > INT64_MAX)
            return refuse(text, "lacks an extent");
        beyond->within[d] = (int64_t)extent;
    }
    if (status != PARAPET_OK)
        return status;
    return text->bytes == 0 ? take_line(text) : refuse(text, "has too many extents");
}

static parapet_status read_chunks(lines *text, pp_foreign_chunks *chunks)
{
    uint64_t count, i;
    parapet_status status = take_only_number(text, "chunks ", &count);
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = read_chunk(text, chunks);
    return status;
}

/* The only chunk, whose bytes are in the table. */
static parapet_status read_data(lines *text, size_t most, pp_foreign_chunks *chunks)
{
    pp_chunk_place place = {0};
    size_t bytes = 0, room = pp_min_size(most, text->bytes / 4 * 3 + 3);
    parapet_status status = pp_allocate(&chunks->data, room);
    if (status != PARAPET_OK)
        return status;
    if (!pp_base64_parse(text->line, text->bytes, chunks->data, room, &bytes))
        return refuse(text, "has data that are not base64, or too many");
    place.bytes = (uint32_t)bytes;
    return bytes > 0 ? pp_foreign_chunks_add(chunks, &place) : PARAPET_OK;
}

static parapet_status add_flat(lines *text, const char *path, pp_array_document *document, pp_places *places)
{
    const pp_chain_spec *codecs = &document->codecs;
    pp_flat flat = {.is_big_endian = codecs->count > 0 && codecs->codecs[0].is_big_endian};
    parapet_status status = take_only_number(text, "", &flat.start);
    if (status == PARAPET_OK && codecs->count != 1)
        status = refuse(text, "has an array that is flat, but encoded");
    return status == PARAPET_OK ? pp_places_add(places, path, document, &flat) : status;
}

static parapet_status read_texts(lines *text, pp_foreign_chunks *chunks)
{
    uint64_t none = 0;
    parapet_status status;
    if (take_word(text, "data "))
        return read_data(text, MOST_TEXT_BYTES, chunks);
    if ((status = take_only_number(text, "chunks ", &none)) == PARAPET_OK && none != 0)
        status = refuse(text, "has chunks of texts that are not in the table");
    return status;
}

static parapet_status read_elements(lines *text, const pp_array_document *document, pp_foreign_chunks *chunks)
{
    parapet_status status;
    if (take_word(text, "data "))
        return read_data(text, MOST_DATA_BYTES, chunks);
    if (take_word(text, "within ") && (status = read_within(text, document, &chunks->beyond)) != PARAPET_OK)
        return status;
    return read_chunks(text, chunks);
}

static parapet_status add_places(lines *text, const char *path, pp_array_document *document, pp_places *places)
{
    bool is_text = document->type.element_bytes == 0;
    pp_foreign_chunks chunks = {0};
    parapet_status status = take_line(text);
    if (status != PARAPET_OK)
        return status;
    if (!is_text && take_word(text, "flat "))
        return add_flat(text, path, document, places);
    status = is_text ? read_texts(text, &chunks) : read_elements(text, document, &chunks);
    if (status == PARAPET_OK)
        return pp_places_add_chunked(places, path, document, &chunks);
    pp_foreign_chunks_clear(&chunks);
    return status;
}

static parapet_status add_array(lines *text, const char *path, pp_places *places)
{
    pp_array_document document = {0};
    pp_json *json = NULL;
    parapet_status status = parse_document(text, &json);
    if (status == PARAPET_OK && (status = pp_array_document_parse(&document, json)) == PARAPET_OK)
        status = add_places(text, path, &document, places);
    pp_array_document_clear(&document);
    pp_json_free(json);
    return status != PARAPET_OK ? pp_fail_within(status, "the array \"%.64s\"", path) : PARAPET_OK;
}

/* ---- All of it ---- */

static parapet_status add_node(lines *text, pp_places *places)
{
    parapet_status (*add)(lines * text, const char *path, pp_places *places) = NULL;
    char *path = NULL;
    parapet_status status = take_line(text);
    if (status != PARAPET_OK)
        return status;
    if (take_word(text, "group "))
        add = add_group;
    else if (take_word(text, "array "))
        add = add_array;
    else if (take_word(text, "refused "))
        add = add_refused;
    else
        return refuse(text, "is neither a group nor an array");
    if ((status = take_path(text, &path)) == PARAPET_OK)
        status = add(text, path, places);
    pp_free(path);
    return status;
}

static parapet_status read_beginning(lines *text, const pp_places *places)
{
    uint64_t file_bytes;
    parapet_status status;
    if ((status = take_line(text)) != PARAPET_OK)
        return status;
    if (!take_word(text, PP_TABLE_FIRST_LINE) || text->bytes > 0)
        return refuse(text, "is not \"" PP_TABLE_FIRST_LINE "\": it is no table of this version");
    if ((status = take_line(text)) != PARAPET_OK ||
        (status = take_only_number(text, "file ", &file_bytes)) != PARAPET_OK)
        return status;
    if (file_bytes != places->file_bytes)
        return pp_fail(PARAPET_ERR_STALE,
                       "the table of places is of a file of %" PRIu64 " bytes, but the file has %" PRIu64
                       ": make it again",
                       file_bytes, places->file_bytes);
    return PARAPET_OK;
}

parapet_status pp_table_read(const char *text, size_t bytes, pp_places *places)
{
    lines all = {.next = text, .left = bytes};
    parapet_status status = check_end(&all);
    places->is_tree = true;
    if (status == PARAPET_OK)
        status = read_beginning(&all, places);
    while (status == PARAPET_OK && all.left > 0)
        status = add_node(&all, places);
    if (status == PARAPET_OK && places->group == NULL)
        status = pp_fail(PARAPET_ERR_FORMAT, "the table of places has no root");
    return status;
}
