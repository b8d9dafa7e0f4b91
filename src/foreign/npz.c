/* npz.c - several NumPy arrays in a zip archive, as numpy.savez writes them: stored, not compressed. The directory at
 * the end of the archive lists the members; each is a file of NumPy's format. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "foreign/format.h"

#define END_BYTES 22
#define END64_BYTES 56
#define LOCATOR_BYTES 20
#define ENTRY_BYTES 46
#define LOCAL_BYTES 30
#define MOST_COMMENT_BYTES 65535

#define END_SIGNATURE 0x06054b50u
#define END64_SIGNATURE 0x06064b50u
#define LOCATOR_SIGNATURE 0x07064b50u
#define ENTRY_SIGNATURE 0x02014b50u
#define LOCAL_SIGNATURE 0x04034b50u

/* The list of members. */
typedef struct directory {
    uint64_t start, bytes;
    unsigned char *data;
} directory;

typedef struct entry {
    const unsigned char *name, *extra;
    size_t name_bytes, extra_bytes, entry_bytes;
    uint64_t stored_bytes, whole_bytes, local_start;
    unsigned flags, method;
} entry;

static unsigned load_u16le(const unsigned char *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static parapet_status refuse(const char *what)
{
    return pp_fail(PARAPET_ERR_FORMAT, "the zip archive %s", what);
}

/* ---- Finding the directory ---- */

static parapet_status read_at(pp_reader *file, uint64_t start, size_t bytes, unsigned char *target)
{
    if (start > file->bytes || bytes > file->bytes - start)
        return refuse("is cut off");
    return pp_reader_read(file, start, bytes, target);
}

/* Its end record may be followed by a comment. */
static parapet_status find_end(pp_reader *file, uint64_t *position, unsigned char end[END_BYTES])
{
    size_t tail = (size_t)pp_min_u64(file->bytes, END_BYTES + MOST_COMMENT_BYTES), i;
    unsigned char *data = NULL;
    parapet_status status = pp_allocate(&data, tail);
    if (status == PARAPET_OK && (status = read_at(file, file->bytes - tail, tail, data)) == PARAPET_OK) {
        status = tail < END_BYTES ? refuse("is cut off") : PARAPET_ERR_NOT_FOUND;
        for (i = tail - pp_min_size(tail, END_BYTES) + 1; status == PARAPET_ERR_NOT_FOUND && i-- > 0;)
            if (pp_load_u32le(data + i) == END_SIGNATURE) {
                memcpy(end, data + i, END_BYTES);
                *position = file->bytes - tail + i;
                status = PARAPET_OK;
            }
        if (status == PARAPET_ERR_NOT_FOUND)
            status = refuse("has no list of its members at its end: it is cut off");
    }
    pp_free(data);
    return status;
}

/* Archives of more than 4 GiB have a second end record before the first. */
static parapet_status take_end64(pp_reader *file, uint64_t position, directory *list)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    parapet_status status;
    if (position < LOCATOR_BYTES)
        return refuse("is cut off");
    if ((status = read_at(file, position - LOCATOR_BYTES, LOCATOR_BYTES, locator)) != PARAPET_OK)
        return status;
    if (pp_load_u32le(locator) != LOCATOR_SIGNATURE)
        return refuse("lacks a record about its length");
    if ((status = read_at(file, pp_load_u64le(locator + 8), END64_BYTES, end)) != PARAPET_OK)
        return status;
    if (pp_load_u32le(end) != END64_SIGNATURE)
        return refuse("lacks a record about its length");
    list->bytes = pp_load_u64le(end + 40);
    list->start = pp_load_u64le(end + 48);
    return PARAPET_OK;
}

static parapet_status read_directory(pp_reader *file, directory *list)
{
    unsigned char end[END_BYTES] = {0};
    uint64_t position = 0;
    parapet_status status = find_end(file, &position, end);
    if (status != PARAPET_OK)
        return status;
    list->bytes = pp_load_u32le(end + 12);
    list->start = pp_load_u32le(end + 16);
    if ((list->bytes == UINT32_MAX || list->start == UINT32_MAX || load_u16le(end + 10) == UINT16_MAX) &&
        (status = take_end64(file, position, list)) != PARAPET_OK)
        return status;
    if (list->bytes > PP_MAX_HEADER_BYTES)
        return refuse("has too many members");
    if ((status = pp_allocate(&list->data, (size_t)list->bytes)) != PARAPET_OK)
        return status;
    return read_at(file, list->start, (size_t)list->bytes, list->data);
}

/* ---- Members ---- */

static void widen(uint64_t *value, const unsigned char **next, size_t *left)
{
    if (*value != UINT32_MAX || *left < 8)
        return;
    *value = pp_load_u64le(*next);
    *next += 8;
    *left -= 8;
}

/* What does not fit into 32 bits is in an extra field with the number 1. */
static void take_extra(entry *each)
{
    const unsigned char *next = each->extra;
    size_t left = each->extra_bytes;
    while (left >= 4) {
        size_t bytes = pp_min_size(load_u16le(next + 2), left - 4);
        const unsigned char *value = next + 4;
        size_t value_bytes = bytes;
        if (load_u16le(next) == 1) {
            widen(&each->whole_bytes, &value, &value_bytes);
            widen(&each->stored_bytes, &value, &value_bytes);
            widen(&each->local_start, &value, &value_bytes);
        }
        next += 4 + bytes;
        left -= 4 + bytes;
    }
}

static parapet_status parse_entry(const unsigned char *data, size_t left, entry *each)
{
    if (left < ENTRY_BYTES || pp_load_u32le(data) != ENTRY_SIGNATURE)
        return refuse("has a list of members that is damaged");
    *each = (entry){.name = data + ENTRY_BYTES,
                    .name_bytes = load_u16le(data + 28),
                    .extra_bytes = load_u16le(data + 30),
                    .stored_bytes = pp_load_u32le(data + 20),
                    .whole_bytes = pp_load_u32le(data + 24),
                    .local_start = pp_load_u32le(data + 42),
                    .flags = load_u16le(data + 8),
                    .method = load_u16le(data + 10)};
    each->entry_bytes = ENTRY_BYTES + each->name_bytes + each->extra_bytes + load_u16le(data + 32);
    if (each->entry_bytes > left)
        return refuse("has a list of members that is damaged");
    each->extra = each->name + each->name_bytes;
    take_extra(each);
    return PARAPET_OK;
}

static parapet_status check_entry(const entry *each)
{
    static const char suffix[] = ".npy";
    size_t bytes = strlen(suffix);
    if (each->name_bytes <= bytes || memcmp(each->name + each->name_bytes - bytes, suffix, bytes) != 0)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the zip archive has the member \"%.*s\", which is no NumPy array: unpack it first",
                       (int)pp_min_size(each->name_bytes, 64), (const char *)each->name);
    if (memchr(each->name, '\0', each->name_bytes) != NULL)
        return refuse("has a member with a NUL in its name");
    if (each->method != 0 || (each->flags & 1) != 0 || each->stored_bytes != each->whole_bytes)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the member \"%.*s\" is compressed or encrypted; Parapet reads what numpy.savez writes, not "
                       "what numpy.savez_compressed does",
                       (int)pp_min_size(each->name_bytes, 64), (const char *)each->name);
    return PARAPET_OK;
}

/* Where the bytes of a member begin: after a header of its own. */
static parapet_status find_start(pp_reader *file, const entry *each, uint64_t *start)
{
    unsigned char local[LOCAL_BYTES];
    parapet_status status = read_at(file, each->local_start, LOCAL_BYTES, local);
    if (status != PARAPET_OK)
        return status;
    if (pp_load_u32le(local) != LOCAL_SIGNATURE)
        return refuse("has no member where its list says that there is one");
    *start = each->local_start + LOCAL_BYTES + load_u16le(local + 26) + load_u16le(local + 28);
    if (*start > file->bytes || each->whole_bytes > file->bytes - *start)
        return refuse("is cut off");
    return PARAPET_OK;
}

static parapet_status add_member(pp_reader *file, const entry *each, pp_places *places)
{
    pp_npy_member member = {.bytes = each->whole_bytes};
    char *name = NULL;
    parapet_status status;
    if ((status = check_entry(each)) != PARAPET_OK ||
        (status = find_start(file, each, &member.start)) != PARAPET_OK ||
        (status = pp_allocate(&name, each->name_bytes)) != PARAPET_OK)
        return status;
    memcpy(name, each->name, each->name_bytes - 4);
    member.name = name;
    if ((status = pp_npy_add(file, &member, places)) != PARAPET_OK)
        status = pp_fail_within(status, "the member \"%.64s\"", name);
    pp_free(name);
    return status;
}

static parapet_status npz_read(pp_reader *file, pp_places *places)
{
    directory list = {0};
    uint64_t next = 0;
    entry each = {0};
    parapet_status status = read_directory(file, &list);
    while (status == PARAPET_OK && next < list.bytes) {
        if ((status = parse_entry(list.data + next, (size_t)(list.bytes - next), &each)) == PARAPET_OK)
            status = add_member(file, &each, places);
        next += each.entry_bytes;
    }
    pp_free(list.data);
    return status == PARAPET_OK ? pp_places_set_group(places, NULL, 0) : status;
}

const pp_format pp_format_npz = {.name = "a zip archive of NumPy arrays",
                                 .signatures = {"PK\003\004", "PK\005\006"},
                                 .signature_bytes = 4,
                                 .read = npz_read};
