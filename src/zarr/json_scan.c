/* The scan before parsing: json-c keeps the last of two equal keys, saturates integers and takes what memory it
 * needs, none of which can be found out afterwards. One pass, recursion bounded by the depth limit. */
#include "zarr/json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/utf8.h"
#include "zarr/json.h"

/* What json-c takes for a value, measured generously; the sum is bounded before anything is built. */
#define OBJECT_BYTES 832
#define MEMBER_BYTES 160
#define ARRAY_BYTES 352
#define ELEMENT_BYTES 16
#define VALUE_BYTES 64

typedef struct key_bucket {
    uint64_t hash;
    uint32_t offset; /* of the key's first byte; 0 is an empty bucket, since no key starts a document */
    uint32_t object;
} key_bucket;

typedef struct scanner {
    const unsigned char *text;
    size_t bytes;
    size_t at;
    int depth;
    size_t tree_bytes;
    const char *excepted; /* a member of the outermost object; NULL: none */
    bool is_excepted;     /* inside it */
    pp_json_span span;    /* where it was found */
    uint64_t seed;
    uint32_t object_count;
    key_bucket *buckets; /* open addressing; a power of two */
    size_t bucket_count;
    size_t key_count;
} scanner;

static parapet_status scan_value(scanner *scan);

static parapet_status refuse(const scanner *scan, const char *what)
{
    return pp_fail(PARAPET_ERR_FORMAT, "not valid JSON at byte %zu: %s", scan->at, what);
}

static int peek(const scanner *scan)
{
    return scan->at < scan->bytes ? scan->text[scan->at] : -1;
}

static void skip_space(scanner *scan)
{
    while (peek(scan) == ' ' || peek(scan) == '\n' || peek(scan) == '\r' || peek(scan) == '\t')
        scan->at++;
}

static bool skip_digits(scanner *scan)
{
    size_t start = scan->at;
    while (peek(scan) >= '0' && peek(scan) <= '9')
        scan->at++;
    return scan->at > start;
}

static bool skip_word(scanner *scan, const char *word)
{
    size_t length = strlen(word);
    if (scan->bytes - scan->at < length || memcmp(scan->text + scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static parapet_status charge(scanner *scan, size_t bytes)
{
    scan->tree_bytes += scan->is_excepted ? 0 : bytes;
    if (scan->tree_bytes > PP_JSON_MAX_TREE_BYTES)
        return pp_fail(PARAPET_ERR_FORMAT, "the JSON document holds more values than %u MiB of memory can",
                       PP_JSON_MAX_TREE_BYTES >> 20);
    return PARAPET_OK;
}

/* ---- Numbers ---- */

static parapet_status check_integer(const scanner *scan, size_t start)
{
    bool is_negative = scan->text[start] == '-';
    uint64_t limit = is_negative ? UINT64_C(1) << 63 : UINT64_MAX;
    uint64_t value = 0;
    size_t i;
    for (i = start + is_negative; i < scan->at; i++) {
        uint64_t digit = (uint64_t)(scan->text[i] - '0');
        if (value > (limit - digit) / 10)
            return pp_fail(PARAPET_ERR_FORMAT, "the integer at byte %zu of the JSON document does not fit 64 bits",
                           start);
        value = value * 10 + digit;
    }
    return PARAPET_OK;
}

static parapet_status scan_number(scanner *scan)
{
    size_t start = scan->at;
    bool is_integer = true;
    if (peek(scan) == '-')
        scan->at++;
    if (skip_word(scan, "Infinity"))
        return PARAPET_OK;
    if (peek(scan) == '0')
        scan->at++;
    else if (!skip_digits(scan))
        return refuse(scan, "a value was expected");
    if (peek(scan) == '.') {
        is_integer = false;
        scan->at++;
        if (!skip_digits(scan))
            return refuse(scan, "a digit must follow the decimal point");
    }
    if (peek(scan) == 'e' || peek(scan) == 'E') {
        is_integer = false;
        scan->at++;
        if (peek(scan) == '+' || peek(scan) == '-')
            scan->at++;
        if (!skip_digits(scan))
            return refuse(scan, "an exponent needs digits");
    }
    return is_integer ? check_integer(scan, start) : PARAPET_OK;
}

/* ---- Strings ---- */

static int hex_digit(int byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* The four digits of a \u escape; -1 when they are not there. */
static int32_t hex_unit(const unsigned char *text, size_t available)
{
    int32_t unit = 0;
    int i;
    if (available < 4)
        return -1;
    for (i = 0; i < 4; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static parapet_status scan_unicode_escape(scanner *scan)
{
    const unsigned char *text = scan->text + scan->at;
    size_t available = scan->bytes - scan->at;
    int32_t unit = hex_unit(text, available), second;
    if (unit < 0)
        return refuse(scan, "\\u needs four hexadecimal digits");
    scan->at += 4;
    if (unit < 0xD800 || unit > 0xDFFF)
        return PARAPET_OK;
    second = available >= 10 && text[4] == '\\' && text[5] == 'u' ? hex_unit(text + 6, 4) : -1;
    if (unit > 0xDBFF || second < 0xDC00 || second > 0xDFFF)
        return refuse(scan, "half of a surrogate pair is not a character");
    scan->at += 6;
    return PARAPET_OK;
}

static parapet_status scan_escape(scanner *scan)
{
    int letter;
    scan->at++;
    letter = peek(scan);
    if (letter < 0 || strchr("\"\\/bfnrtu", letter) == NULL || letter == 0)
        return refuse(scan, "an escape that JSON does not have");
    scan->at++;
    return letter == 'u' ? scan_unicode_escape(scan) : PARAPET_OK;
}

static parapet_status scan_string(scanner *scan)
{
    parapet_status status;
    scan->at++;
    while (peek(scan) != '"') {
        size_t length;
        if (peek(scan) == '\\') {
            if ((status = scan_escape(scan)) != PARAPET_OK)
                return status;
            continue;
        }
        if (scan->at >= scan->bytes)
            return refuse(scan, "a string does not end");
        if (peek(scan) < 0x20)
            return refuse(scan, "a control character inside a string");
        length = pp_utf8_character_bytes(scan->text + scan->at, scan->bytes - scan->at);
        if (length == 0)
            return refuse(scan, "text that is not UTF-8");
        scan->at += length;
    }
    scan->at++;
    return PARAPET_OK;
}

/* ---- Keys: a set of (object, key), hashed with a secret so that no document can make it slow ---- */

/* The next byte of a key that was scanned, escapes undone, or -1 at its end. */
typedef struct key_reader {
    const unsigned char *at;
    unsigned char pending[4];
    int pending_count;
} key_reader;

static void pend(key_reader *reader, uint32_t point)
{
    static const uint32_t first_of_length[] = {0, 0x80, 0x800, 0x10000};
    static const unsigned char lead[] = {0x00, 0xC0, 0xE0, 0xF0};
    int length = 3, i;
    while (length > 0 && point < first_of_length[length])
        length--;
    for (i = 0; i < length; i++)
        reader->pending[i] = (unsigned char)(0x80 | (point >> (6 * i) & 0x3F));
    reader->pending[length] = (unsigned char)(lead[length] | point >> (6 * length));
    reader->pending_count = length + 1;
}

static void read_escape(key_reader *reader)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    unsigned char letter = reader->at[1];
    const char *found = strchr(letters, letter);
    uint32_t unit;
    reader->at += 2;
    if (letter != 'u') {
        pend(reader, found != NULL ? (uint32_t)(unsigned char)meanings[found - letters] : letter);
        return;
    }
    unit = (uint32_t)hex_unit(reader->at, 4);
    reader->at += 4;
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + ((uint32_t)hex_unit(reader->at + 2, 4) - 0xDC00);
        reader->at += 6;
    }
    pend(reader, unit);
}

static int key_next(key_reader *reader)
{
    if (reader->pending_count == 0) {
        if (*reader->at == '"')
            return -1;
        if (*reader->at != '\\')
            return *reader->at++;
        read_escape(reader);
    }
    return reader->pending[--reader->pending_count];
}

static bool keys_equal(const unsigned char *a, const unsigned char *b)
{
    key_reader left = {.at = a}, right = {.at = b};
    int byte;
    do {
        byte = key_next(&left);
        if (byte != key_next(&right))
            return false;
    } while (byte >= 0);
    return true;
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static parapet_status grow_buckets(scanner *scan)
{
    size_t count = scan->bucket_count > 0 ? scan->bucket_count * 2 : 256, i;
    key_bucket *fresh;
    parapet_status status = pp_allocate_array(&fresh, count, sizeof *fresh);
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < scan->bucket_count; i++) {
        size_t place = scan->buckets[i].hash & (count - 1);
        if (scan->buckets[i].offset == 0)
            continue;
        while (fresh[place].offset != 0)
            place = (place + 1) & (count - 1);
        fresh[place] = scan->buckets[i];
    }
    pp_free(scan->buckets);
    scan->buckets = fresh;
    scan->bucket_count = count;
    return PARAPET_OK;
}

static parapet_status refuse_repeated(const scanner *scan, size_t offset, size_t end)
{
    int shown = end - offset < 64 ? (int)(end - offset) : 64;
    return pp_fail(PARAPET_ERR_FORMAT, "the key \"%.*s\" appears twice in one JSON object", shown,
                   (const char *)scan->text + offset);
}

static parapet_status remember_key(scanner *scan, size_t offset, uint32_t object)
{
    key_reader reader = {.at = scan->text + offset};
    uint64_t hash = mix(scan->seed ^ object);
    size_t place;
    int byte;
    parapet_status status;
    while ((byte = key_next(&reader)) >= 0) {
        if (byte == 0)
            return refuse(scan, "a key contains NUL");
        hash = mix(hash ^ (uint64_t)byte);
    }
    if (scan->is_excepted)
        return PARAPET_OK;
    if (scan->key_count * 2 >= scan->bucket_count && (status = grow_buckets(scan)) != PARAPET_OK)
        return status;
    for (place = hash & (scan->bucket_count - 1); scan->buckets[place].offset != 0;
         place = (place + 1) & (scan->bucket_count - 1)) {
        const key_bucket *bucket = &scan->buckets[place];
        if (bucket->hash == hash && bucket->object == object &&
            keys_equal(scan->text + bucket->offset, scan->text + offset))
            return refuse_repeated(scan, offset, scan->at - 1);
    }
    scan->buckets[place] = (key_bucket){hash, (uint32_t)offset, object};
    scan->key_count++;
    return PARAPET_OK;
}

/* ---- Values ---- */

/* The outermost object is number 0. */
static bool is_excepted_member(const scanner *scan, uint32_t object, size_t start, size_t end)
{
    size_t length = scan->excepted != NULL ? strlen(scan->excepted) : 0;
    return length > 0 && object == 0 && end - start == length &&
           memcmp(scan->text + start, scan->excepted, length) == 0;
}

static parapet_status scan_excepted(scanner *scan)
{
    parapet_status status;
    skip_space(scan);
    if (peek(scan) != '{')
        return scan_value(scan);
    scan->span.start = scan->at;
    scan->is_excepted = true;
    status = scan_value(scan);
    scan->is_excepted = false;
    scan->span.end = scan->at;
    return status;
}

static parapet_status scan_member(scanner *scan, uint32_t object)
{
    size_t start = scan->at, end;
    parapet_status status;
    if (peek(scan) != '"')
        return refuse(scan, "a key was expected");
    if ((status = scan_string(scan)) != PARAPET_OK ||
        (status = charge(scan, MEMBER_BYTES + (scan->at - start))) != PARAPET_OK ||
        (status = remember_key(scan, start + 1, object)) != PARAPET_OK)
        return status;
    end = scan->at - 1;
    skip_space(scan);
    if (peek(scan) != ':')
        return refuse(scan, "a colon was expected");
    scan->at++;
    return is_excepted_member(scan, object, start + 1, end) ? scan_excepted(scan) : scan_value(scan);
}

static parapet_status scan_element(scanner *scan)
{
    parapet_status status = charge(scan, ELEMENT_BYTES);
    return status != PARAPET_OK ? status : scan_value(scan);
}

/* The inside of [ ] or { } up to and with close. */
static parapet_status scan_items(scanner *scan, int close)
{
    uint32_t object = scan->object_count++;
    parapet_status status;
    scan->at++;
    skip_space(scan);
    if (peek(scan) == close) {
        scan->at++;
        return PARAPET_OK;
    }
    for (;;) {
        skip_space(scan);
        status = close == '}' ? scan_member(scan, object) : scan_element(scan);
        if (status != PARAPET_OK)
            return status;
        skip_space(scan);
        if (peek(scan) != ',' && peek(scan) != close)
            return refuse(scan, close == '}' ? "a comma or } was expected" : "a comma or ] was expected");
        if (scan->text[scan->at++] == close)
            return PARAPET_OK;
    }
}

static parapet_status scan_nested(scanner *scan, int close)
{
    parapet_status status;
    if (scan->depth == PP_JSON_MAX_DEPTH)
        return pp_fail(PARAPET_ERR_FORMAT, "the JSON document is nested deeper than %d levels", PP_JSON_MAX_DEPTH);
    if ((status = charge(scan, close == '}' ? OBJECT_BYTES : ARRAY_BYTES)) != PARAPET_OK)
        return status;
    scan->depth++;
    status = scan_items(scan, close);
    scan->depth--;
    return status;
}

static parapet_status scan_scalar(scanner *scan)
{
    size_t start = scan->at;
    parapet_status status = PARAPET_OK;
    if (peek(scan) == '"')
        status = scan_string(scan);
    else if (!skip_word(scan, "true") && !skip_word(scan, "false") && !skip_word(scan, "null") &&
             !skip_word(scan, "NaN"))
        status = scan_number(scan);
    return status != PARAPET_OK ? status : charge(scan, VALUE_BYTES + (scan->at - start));
}

static parapet_status scan_value(scanner *scan)
{
    skip_space(scan);
    if (peek(scan) == '{')
        return scan_nested(scan, '}');
    if (peek(scan) == '[')
        return scan_nested(scan, ']');
    return scan_scalar(scan);
}

static uint64_t secret(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)pp_clock_now_ns() ^ (uint64_t)(uintptr_t)&seed;
    return seed;
}

parapet_status pp_json_scan_except(const char *text, size_t bytes, const char *member, pp_json_span *span)
{
    scanner scan = {.text = (const unsigned char *)text, .bytes = bytes, .excepted = member, .seed = secret()};
    parapet_status status = scan_value(&scan);
    if (status == PARAPET_OK) {
        skip_space(&scan);
        if (scan.at < bytes)
            status = refuse(&scan, "text after the end of the value");
    }
    pp_free(scan.buckets);
    *span = scan.span;
    return status;
}

parapet_status pp_json_scan(const char *text, size_t bytes)
{
    pp_json_span span;
    return pp_json_scan_except(text, bytes, NULL, &span);
}
