/* document.h - JSON for programs. */
#ifndef PARAPET_TOOL_DOCUMENT_H
#define PARAPET_TOOL_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An object or a list that is not closed yet. */
typedef struct tool_level {
    char closer;
    bool has_members;
} tool_level;

/* {.out = stdout} is a document before its first level; nothing is left to free when that is closed. */
typedef struct tool_document {
    FILE *out;
    tool_level *levels;
    size_t depth;
} tool_document;

/* key is NULL inside a list and for the document itself. */
void document_open_object(tool_document *document, const char *key);
void document_open_list(tool_document *document, const char *key);
void document_close(tool_document *document);
void document_key(tool_document *document, const char *key); /* the caller prints the value */
void document_text(tool_document *document, const char *key, const char *text);
void document_integer(tool_document *document, const char *key, int64_t value);
void document_number(tool_document *document, const char *key, double value);
void document_truth(tool_document *document, const char *key, bool value);
void document_null(tool_document *document, const char *key);
void document_integers(tool_document *document, const char *key, const int64_t *values, int count);
void document_json(tool_document *document, const char *key, const char *json);

/* A JSON string, of which nothing is hidden; bytes that are not UTF-8 become U+FFFD. */
void json_print_string(FILE *out, const char *text);

/* JSON text on one line. Bare NaN and Infinity, which stores may hold but JSON does not know, are kept for
 * people and become strings when is_strict. */
void json_print_line(FILE *out, const char *json, bool is_strict);

#endif
