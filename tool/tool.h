/* tool.h - what the verbs of the command-line tool share: the request, and the few things they all print.
 *
 * Does not know: how a store keeps its data; everything it learns, it learns through parapet.h.
 * Depends on: parapet.h and the C library. Only main.c calls MPI. */
#ifndef PARAPET_TOOL_H
#define PARAPET_TOOL_H

#include <parapet.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit codes. Where several apply, check says the worst: failed, torn, missing, stray. */
enum tool_exit {
    TOOL_OK = 0,
    TOOL_FAILED = 1,
    TOOL_USAGE = 2,
    TOOL_DIFFERS = 3, /* diff */
    TOOL_MISSING = 3, /* check */
    TOOL_TORN = 4,
    TOOL_STRAY = 5
};

/* ---- Request: what the command line asks for ----------------------------------------------------------- */

enum tool_flag_bit {
    TOOL_JSON = 1 << 0,
    TOOL_VERBOSE = 1 << 1,
    TOOL_HELP = 1 << 2,
    TOOL_LONG = 1 << 3,
    TOOL_RECURSIVE = 1 << 4,
    TOOL_INDEX = 1 << 5,
    TOOL_SURVEY = 1 << 6,
    TOOL_STRICT = 1 << 7,
    TOOL_LAYOUT = 1 << 8,
    TOOL_QUIET = 1 << 9
};

typedef struct tool_flag {
    unsigned bit;
    char letter; /* 0: only the long form */
    const char *name;
    const char *help;
} tool_flag;

/* A flag with a value that means something to one verb only. */
typedef struct tool_value {
    const char *name;
    const char *usage; /* "--shape N,N" */
    const char *help;
} tool_value;

enum { TOOL_VALUES_MOST = 16 };

typedef struct tool_request tool_request;

typedef struct tool_verb {
    const char *name;
    const char *operands; /* as the usage line shows them */
    const char *summary;  /* one line */
    const char *details;  /* whole lines, or "" */
    const char *exit_codes;
    const tool_flag *flags;   /* of this verb only, ended by a name of NULL */
    const tool_value *values; /* the same; NULL: none */
    int operands_min;
    int operands_max;
    int (*run)(const tool_request *request);
} tool_verb;

struct tool_request {
    const tool_verb *verb;
    MPI_Comm comm;
    parapet_options options;
    unsigned flags;
    const char *operands[2];
    int operand_count;
    const char *values[TOOL_VALUES_MOST]; /* as given, in the order of the verb's list; NULL: not given */
};

extern const tool_verb verb_info, verb_ls, verb_check, verb_diff, verb_plan, verb_selftest;

/* The verbs in the order of the help, ended by NULL. */
extern const tool_verb *const tool_verbs[];

/* Fills the request from the words after the verb. False: a usage error, already reported. */
bool arguments_parse(tool_request *request, int count, char **words);

/* The verb of that name, or NULL; nearest, unless NULL, then gets the verb that is spelt most like it. */
const tool_verb *verb_find(const char *name, const tool_verb **nearest);

void help_print(FILE *out);
void help_print_verb(FILE *out, const tool_verb *verb);

/* ---- Report: sentences and sizes for people ------------------------------------------------------------ */

/* "parapet: <what>: <sentence>" on the error stream. */
void report_error(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the sentence of the last failed library call. */
void report_failure(const char *what);

/* Memory that is always there: the tool ends with a sentence when there is none. Free with free(). */
void *memory_get(size_t bytes);

/* Room for one more entry than count; grows by doubling. */
void *memory_grow(void *entries, size_t count, size_t entry_bytes);
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text for people: control characters become '?', so that a name cannot move the cursor. */
char *text_visible(const char *text);
char *text_of_size(int64_t bytes);                     /* "1.5 MiB" */
char *text_of_shape(const int64_t *extents, int ndim); /* "4 x 6", or "scalar" */
char *text_of_index(const int64_t *index, int ndim);   /* "[1, 2]" */
char *text_of_names(const parapet_array_info *info);   /* "y, x"; a dimension without a name is "-" */
char *text_join_path(const char *parent, const char *name);

/* shape times element size; INT64_MAX where that does not fit. */
int64_t logical_bytes(const parapet_array_info *info);
int64_t element_count(const parapet_array_info *info);

/* Columns of text, as wide as their widest cell. */
typedef struct tool_table {
    char **cells;
    size_t count;
    size_t columns;
} tool_table;

void table_add(tool_table *table, char *cell); /* takes the cell over */
void table_print(const tool_table *table, const char *indent);
void table_free(tool_table *table);

/* ---- Document: JSON for programs ----------------------------------------------------------------------- */

enum { DOCUMENT_MAX_DEPTH = 8 };

typedef struct tool_document {
    FILE *out;
    int depth;
    char closers[DOCUMENT_MAX_DEPTH];
    bool has_members[DOCUMENT_MAX_DEPTH];
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

/* A JSON string; bytes that are not UTF-8 become U+FFFD. */
void json_print_string(FILE *out, const char *text);

/* JSON text on one line. Bare NaN and Infinity, which stores may hold but JSON does not know, are kept for
 * people and become strings when is_strict. */
void json_print_line(FILE *out, const char *json, bool is_strict);

/* ---- Attributes: JSON text taken apart ----------------------------------------------------------------- */

typedef struct tool_attribute {
    char *name;  /* as JSON text, with its quotes */
    char *value; /* as JSON text on one line, members in the order of their names */
} tool_attribute;

/* Where the library notes a seal; shown as "sealed", not as an attribute of the user's. */
#define TOOL_SEAL_ATTRIBUTE "\"_parapet\""

typedef struct tool_attribute_list {
    tool_attribute *entries;
    size_t count;
} tool_attribute_list;

/* The members of a JSON object in the order of their names, without the library's own. */
void attributes_init(tool_attribute_list *list, const char *json);
void attributes_free(tool_attribute_list *list);

/* ---- Element: one value of an array -------------------------------------------------------------------- */

/* "none" or null where element is NULL or the type has no fixed length. */
void element_print(FILE *out, const parapet_array_info *info, const void *element);
void element_print_json(FILE *out, const parapet_array_info *info, const void *element);
char *text_of_element(const parapet_array_info *info, const void *element);

/* ---- Node: a group or an array, opened for looking at it ----------------------------------------------- */

typedef struct tool_node {
    parapet_group *group; /* one of the two is not NULL */
    parapet_array *array;
    parapet_array_info info; /* of an array */
} tool_node;

/* Opens the store that an operand names; NULL: it failed, already reported. */
parapet_store *store_open(const tool_request *request, const char *url);

/* Opens what is at path, whichever it is. On failure the sentence of the library says why. */
parapet_status node_open(tool_node *node, parapet_store *store, const char *path);
void node_close(tool_node *node);

/* All attributes as JSON text; free with parapet_free. */
parapet_status node_attributes(tool_node *node, char **json);

/* ---- Tree: what is below a group ----------------------------------------------------------------------- */

typedef struct tool_tree_entry {
    char *path; /* relative to the store */
    parapet_node kind;
} tool_tree_entry;

typedef struct tool_tree {
    tool_tree_entry *entries; /* parents before children, siblings in the order of their names */
    size_t count;
    int64_t failures; /* groups that could not be listed, already reported */
} tool_tree;

/* Lists the store: its root, then everything below it, or only the direct children. */
void tree_init(tool_tree *tree, parapet_store *store, const char *url, bool is_recursive);
void tree_free(tool_tree *tree);

/* Orders paths as the tree does. */
int tree_compare_paths(const char *a, const char *b);

/* How a path of a store is shown: "run.zarr", "run.zarr/density". */
char *tree_label(const char *url, const char *path);

/* ---- Values: comparing two arrays ---------------------------------------------------------------------- */

typedef struct tool_values_difference {
    int64_t compared;  /* elements */
    int64_t differing; /* elements whose bits differ */
    int64_t first[PARAPET_MAX_NDIM];
    unsigned char *first_a; /* one element each; NULL when none differs */
    unsigned char *first_b;
} tool_values_difference;

/* Compares two arrays of the same shape and type box by box, with two buffers of at most buffer_bytes each. */
parapet_status values_compare(tool_values_difference *difference, tool_node *a, tool_node *b, size_t buffer_bytes);
void values_difference_free(tool_values_difference *difference);

#endif
