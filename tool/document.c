#include "document.h"
#include "display.h"
#include "memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void document_key(tool_document *document, const char *key)
{
    if (document->depth > 0) {
        bool *has_members = &document->levels[document->depth - 1].has_members;
        fprintf(document->out, "%s\n%*s", *has_members ? "," : "", 2 * (int)document->depth, "");
        *has_members = true;
    }
    if (key != NULL) {
        json_print_string(document->out, key);
        fputs(": ", document->out);
    }
}

static void open_level(tool_document *document, const char *key, const char brackets[2])
{
    document_key(document, key);
    fputc(brackets[0], document->out);
    document->levels = memory_grow(document->levels, document->depth, sizeof *document->levels);
    document->levels[document->depth++] = (tool_level){.closer = brackets[1]};
}

void document_open_object(tool_document *document, const char *key)
{
    open_level(document, key, "{}");
}

void document_open_list(tool_document *document, const char *key)
{
    open_level(document, key, "[]");
}

void document_close(tool_document *document)
{
    tool_level level = document->levels[--document->depth];
    if (level.has_members)
        fprintf(document->out, "\n%*s", 2 * (int)document->depth, "");
    fputc(level.closer, document->out);
    if (document->depth > 0)
        return;
    fputc('\n', document->out);
    free(document->levels);
    document->levels = NULL;
}

void document_text(tool_document *document, const char *key, const char *text)
{
    document_key(document, key);
    if (text == NULL)
        fputs("null", document->out);
    else
        json_print_string(document->out, text);
}

void document_integer(tool_document *document, const char *key, int64_t value)
{
    document_key(document, key);
    fprintf(document->out, "%" PRId64, value);
}

void document_number(tool_document *document, const char *key, double value)
{
    document_key(document, key);
    if (isfinite(value))
        fprintf(document->out, "%.6g", value);
    else
        fputs("null", document->out);
}

void document_truth(tool_document *document, const char *key, bool value)
{
    document_key(document, key);
    fputs(value ? "true" : "false", document->out);
}

void document_null(tool_document *document, const char *key)
{
    document_key(document, key);
    fputs("null", document->out);
}

void document_integers(tool_document *document, const char *key, const int64_t *values, int count)
{
    document_key(document, key);
    fputc('[', document->out);
    for (int i = 0; i < count; i++)
        fprintf(document->out, "%s%" PRId64, i == 0 ? "" : ", ", values[i]);
    fputc(']', document->out);
}

void document_json(tool_document *document, const char *key, const char *json)
{
    document_key(document, key);
    json_print_line(document->out, json, true);
}

static void print_visible(FILE *out, char *text)
{
    char *visible = text_visible(text);
    fputs(visible, out);
    free(visible);
    free(text);
}

void json_print_string(FILE *out, const char *text)
{
    char *quoted = memory_get(2 * strlen(text) + 1), *to = quoted;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            *to++ = '\\';
        *to++ = *at;
    }
    fputc('"', out);
    print_visible(out, quoted);
    fputc('"', out);
}

/* Prints the string that starts at the quote, and returns what follows it. */
static const char *copy_string(FILE *out, const char *at)
{
    const char *end = at + 1;
    while (*end != '\0' && *end != '"')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    end += *end == '"' ? 1 : 0;
    print_visible(out, text_format("%.*s", (int)(end - at), at));
    return end;
}

/* Prints a number, a truth value, null, NaN or Infinity, and returns what follows it. */
static const char *copy_word(FILE *out, const char *at, bool is_strict)
{
    size_t length = strcspn(at, ",:{}[]\" \t\r\n");
    size_t sign = at[0] == '-' ? 1 : 0;
    bool is_foreign = at[sign] == 'N' || at[sign] == 'I';
    if (is_strict && is_foreign)
        fprintf(out, "\"%.*s\"", (int)length, at);
    else
        fwrite(at, 1, length, out);
    return at + length;
}

void json_print_line(FILE *out, const char *json, bool is_strict)
{
    const char *at = json;
    while (*at != '\0') {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (*at == '"') {
            at = copy_string(out, at);
        } else if (strchr(",:{}[]", *at) != NULL) {
            fputc(*at, out);
            if (*at == ',' || *at == ':')
                fputc(' ', out);
            at++;
        } else {
            at = copy_word(out, at, is_strict);
        }
    }
}
