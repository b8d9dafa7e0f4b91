/* tool.h - what the verbs of the command-line tool share: the request, and the few things they all print.
 *
 * Does not know: how a store keeps its data; everything it learns, it learns through parapet.h.
 * Depends on: parapet.h and the C library. Only ranks.c calls MPI. */
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
    TOOL_DIFFERS = 3, /* diff, copy --verify */
    TOOL_MISSING = 3, /* check */
    TOOL_TORN = 4,
    TOOL_STRAY = 5,
    TOOL_SIGNALLED = 128 /* copy: and the number of the signal that ended it */
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
    TOOL_QUIET = 1 << 9,
    TOOL_DRY_RUN = 1 << 10,
    TOOL_RESUME = 1 << 11,
    TOOL_VERIFY = 1 << 12,
    TOOL_OVERWRITE = 1 << 13,
    TOOL_NO_CHECKSUM = 1 << 14,
    TOOL_NO_PROBE = 1 << 15,
    TOOL_RESTORE_TEST = 1 << 16,
    TOOL_TAKEOVER = 1 << 17
};

typedef struct tool_flag {
    unsigned bit;
    char letter; /* 0: only the long form */
    const char *name;
    const char *help;
} tool_flag;

/* A flag with a value that means something to one verb only. If it has the name of a choice of the library, the help
 * lists its words. */
typedef struct tool_value {
    char letter; /* 0: only the long form */
    const char *name;
    const char *usage; /* "--shape N,N"; NULL: another name for something, which the help leaves out */
    const char *help;
} tool_value;

enum { TOOL_VALUES_MOST = 32 };

typedef struct tool_request tool_request;

typedef struct tool_verb tool_verb;

struct tool_verb {
    const char *name;     /* "plan", or of two words "plan copy" */
    const char *operands; /* as the usage line shows them */
    const char *summary;  /* one line */
    const char *details;  /* whole lines, or "" */
    const char *exit_codes;
    const tool_flag *flags;   /* of this verb only, ended by a name of NULL */
    const tool_value *values; /* the same; NULL: none */
    int operands_min;
    int operands_max;
    bool is_parallel;        /* every rank runs it; else rank 0 alone, */
    unsigned parallel_flags; /* unless one of these is given */
    int (*run)(const tool_request *request);
};

typedef enum tool_ranks {
    RANKS_NONE = 0,  /* no launcher, and no MPI: this process alone */
    RANKS_FIRST = 1, /* rank 0, while the others wait */
    RANKS_ALL = 2
} tool_ranks;

struct tool_request {
    const tool_verb *verb;
    char **words; /* after the verb, as given */
    int word_count;
    tool_ranks working;
    int rank, rank_count;
    parapet_store_options options;
    unsigned flags;
    const char **operands; /* the verb's, as many as it takes */
    int operand_count;
    const char *values[TOOL_VALUES_MOST]; /* as given, in the order of the verb's list; NULL: not given */
};

/* The verbs in the order of the help: verb_plan_copy is in cmd_plan_copy.c, is called as "plan copy", and has the
 * page docs/man/parapet-plan-copy.1. */
#define TOOL_VERBS(ROW)                                                                                              \
    ROW(info)                                                                                                        \
    ROW(ls)                                                                                                          \
    ROW(tree)                                                                                                        \
    ROW(dump)                                                                                                        \
    ROW(stats)                                                                                                       \
    ROW(show)                                                                                                        \
    ROW(attr)                                                                                                        \
    ROW(consolidate)                                                                                                 \
    ROW(check)                                                                                                       \
    ROW(rm)                                                                                                          \
    ROW(gc)                                                                                                          \
    ROW(diff)                                                                                                        \
    ROW(append)                                                                                                      \
    ROW(copy)                                                                                                        \
    ROW(plan_write)                                                                                                  \
    ROW(plan_read)                                                                                                   \
    ROW(plan_copy)                                                                                                   \
    ROW(places)                                                                                                      \
    ROW(bench_disks)                                                                                                 \
    ROW(completion)                                                                                                  \
    ROW(selftest)

#define TOOL_VERB_DECLARE(name) extern const tool_verb verb_##name;
TOOL_VERBS(TOOL_VERB_DECLARE)
#undef TOOL_VERB_DECLARE

/* All of them, ended by NULL. */
extern const tool_verb *const tool_verbs[];

/* Fills the request from its words. False: a usage error, already reported. Clear it in either case. */
bool arguments_parse(tool_request *request);
void arguments_clear(tool_request *request);

/* What was given for the flag of the verb with that name; NULL: nothing. */
const char *request_value(const tool_request *request, const char *name);

/* The verb that the first words name, or NULL. */
const tool_verb *verb_find(int count, char **words);

/* How many words its name has: 1 or 2. */
int verb_word_count(const tool_verb *verb);

/* Whether the name has two words of which this is the first. */
bool verb_begins_with(const tool_verb *verb, const char *word);

void help_print(FILE *out);
void help_print_verb(FILE *out, const tool_verb *verb);

/* ---- Spelling: what somebody may have meant ------------------------------------------------------------- */

/* Letters to insert, remove, replace or exchange with the next to turn one word into the other; SIZE_MAX: b is too
 * long to tell. */
size_t spelling_distance(const char *a, const char *b);

/* Whether a word at that distance may have been meant. */
bool spelling_is_near(const char *word, size_t distance);

/* The verb that the first words, which name none, may mean, "info" or "ls -R"; NULL: nobody can tell. */
const char *spelling_suggest_verb(int count, char **words);

/* ---- Quantity: numbers and sizes as people type them --------------------------------------------------- */

/* Says that the value of a flag is not what is expected, "a number of 1 or more"; returns false. */
bool value_refuse(const char *name, const char *text, const char *expected);

/* A number from 0 on that ends where end says. */
bool number_parse(const char *text, const char **end, int64_t *number);

/* The value of a flag as a number from low on; not given: number stays as it is. False: already reported. */
bool integer_parse(const tool_request *request, const char *name, int64_t low, int64_t *number);

/* Numbers with commas between them; returns how many, -1: a usage error, already reported. */
int list_parse(const tool_request *request, const char *name, int64_t *numbers);

/* The same, one number per dimension of a shape. */
bool extents_parse(const tool_request *request, const char *name, int ndim, int64_t *numbers);

/* As integer_parse, for bytes or bytes per second: "1.5G", "300 MB/s", "64KiB". */
bool size_parse(const tool_request *request, const char *name, double *bytes);

char *text_of_rate(double bytes_per_second); /* "12.3 MB/s", powers of 1000 as for disks and networks */
char *text_of_clock(double seconds);         /* "0:01:23" */
char *text_of_seconds(double seconds);       /* "0.05 s", "123 s" */

/* ---- Report: sentences and sizes for people ------------------------------------------------------------ */

/* Whether anything was printed on standard output. */
bool screen_is_used(void);

/* From now on all that goes to standard output is made visible, whoever prints it; ASCII is left as it is. */
void screen_standard_output(void);

/* While muted nothing is reported: another rank says the same. */
void report_mute(bool is_muted);

/* "parapet: <what>: <sentence>" on the error stream. */
void report_error(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the sentence of the last failed library call. */
void report_failure(const char *what);

/* The same, where the status is known: a document then has it too. */
void report_status(parapet_status status, const char *what);

/* The first error as a JSON document on standard output, unless something is there already. */
void report_document(void);

/* Memory that is always there: the tool ends with a sentence when there is none. Free with free(). */
void *memory_get(size_t bytes);

/* Room for one more entry than count; grows by doubling. */
void *memory_grow(void *entries, size_t count, size_t entry_bytes);
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text for people, as the library makes it visible: a name cannot move the cursor, nor hide. Free with free(). */
char *text_visible(const char *text);

/* Text that is longer than so many columns cut to about them, with its length in bytes, so that byte first shows.
 * Free with free(). */
char *text_shortened(const char *text, size_t first, size_t columns);

/* A word as a shell takes it; free with free(). */
char *text_quoted(const char *word);
char *text_of_size(int64_t bytes);                     /* "1.5 MiB" */
char *text_of_shape(const int64_t *extents, int ndim); /* "4 x 6", or "scalar" */
char *text_of_index(const int64_t *index, int ndim);   /* "[1, 2]" */
char *text_of_names(const parapet_array_info *info);   /* "y, x"; a dimension without a name is "-" */
char *text_join_path(const char *parent, const char *name);

/* Writes a whole file. False: already reported. */
bool file_write(const char *path, const char *text);

/* A fresh directory in another one, named after the verb; NULL: already reported. Free with free(). */
char *scratch_make(const char *parent, const char *verb);

/* Removes it, with everything below it. */
void scratch_remove(const char *directory);

/* shape times element size; INT64_MAX where that does not fit. */
int64_t logical_bytes(const parapet_array_info *info);
int64_t element_count(const parapet_array_info *info);

/* How wide a line may be: the terminal, or 80 columns where output goes elsewhere. */
size_t screen_columns(void);

/* Columns of text, as wide as their widest cell. */
typedef struct tool_table {
    char **cells;
    size_t count;
    size_t columns;
    const size_t *spare; /* columns that go, the first of these first, if all the rest then fits on a line */
    size_t spare_count;
} tool_table;

void table_add(tool_table *table, char *cell); /* takes the cell over */
void table_print(const tool_table *table, const char *indent);
void table_free(tool_table *table);

/* Prints lines; one that is too long continues under its last column. */
void text_print_folded(const char *text);

/* ---- Document: JSON for programs ----------------------------------------------------------------------- */

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

/* The first error, as a member of a document that tells what was done before it; nothing if there was none. */
void report_add_error(tool_document *document);

/* A JSON string, of which nothing is hidden; bytes that are not UTF-8 become U+FFFD. */
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

/* The characters of an element that is text, without quotes; NULL: elements of this type are none. */
char *element_text(const parapet_array_info *info, const void *element);

/* The value as a number; false: elements of this type are none. */
bool element_number(const parapet_array_info *info, const void *element, double *number);

/* An integer as it is, which a double may round: negative ones as two's complement of 64 bits. parse: false, if the
 * text is no integer, or elements cannot have its sign. */
bool element_is_integer(const parapet_array_info *info);
uint64_t element_integer(const parapet_array_info *info, const void *element);
bool element_integer_parse(const parapet_array_info *info, const char *text, uint64_t *integer);

/* ---- Node: a group or an array, opened for looking at it ----------------------------------------------- */

typedef struct tool_node {
    parapet_group *group; /* one of the two is not NULL */
    parapet_array *array;
    parapet_array_info info; /* of an array */
    char *text;              /* of the texts that were read last */
} tool_node;

/* Opens the store that an operand names; NULL: it failed, or is not a store, and that is reported. */
parapet_store *store_open(const tool_request *request, const char *url, parapet_mode mode);

/* If the operand is a file of Zarr metadata: says what to name instead. False: it is none, nothing is said. */
bool foreign_report_file(const char *path);

/* If there is no Zarr metadata in the directory, below it or around it: says so. False: there is, or it is no
 * directory; nothing is said. */
bool foreign_refuse_directory(const char *path);

/* If the operand names a place that is no directory, such as "s3://bucket/x": says so. */
bool foreign_refuse_url(const char *operand);

/* Whether a copy into this directory was begun and is not complete; the command that goes on with it. Free with
 * free(). */
bool unfinished_is_here(const char *directory);
char *unfinished_command(const char *directory);

/* If such a copy is all that there is: says so. */
bool unfinished_refuse(const char *directory);

/* Tells of copies into the directory, and into those directly below it, that are not complete. */
void unfinished_report(const char *directory);

/* What keeps other jobs out of the store: "trusted (ext4)", "owner records (nfs, nolock)". Free with free(). */
char *text_of_locks(parapet_store *store);

/* "group", "array" or "invalid". */
const char *node_kind_name(parapet_node_kind kind);

/* Opens what is at path, whichever it is. On failure the sentence of the library says why. */
parapet_status node_open(tool_node *node, parapet_store *store, const char *path);
void node_close(tool_node *node);

/* All attributes as JSON text; free with parapet_free. */
parapet_status node_attributes(tool_node *node, char **json);

/* Whether it is an array whose values can be read; if not, that is reported. */
bool node_is_readable(const tool_node *node, const char *label);

/* ---- Missing: values that stand for none ---------------------------------------------------------------- */

typedef struct tool_missing_value {
    double number;
    uint64_t integer; /* of an array of integers */
} tool_missing_value;

typedef struct tool_missing {
    const parapet_array_info *info;
    tool_missing_value *values;
    size_t count;
} tool_missing;

/* What the node, an array that stays open meanwhile, declares to be missing. */
void missing_init(tool_missing *missing, tool_node *node);
void missing_free(tool_missing *missing);

/* Whether an element, and the number that it is, is missing: NaN always is. */
bool missing_is(const tool_missing *missing, const void *element, double number);

/* ---- Packing: what the stored numbers of an array stand for --------------------------------------------- */

typedef struct tool_packing {
    bool is_packed; /* by its attributes scale_factor and add_offset */
    double scale, offset;
} tool_packing;

tool_packing packing_of(tool_node *node);
double packing_undo(const tool_packing *packing, double stored);

/* ---- Region: a part of an array, and its values --------------------------------------------------------- */

typedef struct tool_region {
    int ndim;
    int64_t start[PARAPET_MAX_NDIM], count[PARAPET_MAX_NDIM];
    bool is_index[PARAPET_MAX_NDIM]; /* given as one index, not as a range */
} tool_region;

/* --region, or all of the array. False: a usage error, already reported. */
bool region_parse(const tool_request *request, const parapet_array_info *info, tool_region *region);
int64_t region_elements(const tool_region *region);

/* Takes the values of a piece of a region. */
typedef void (*tool_region_visitor)(void *context, const tool_region *piece, const void *data);

/* Reads a region. visit: piece by piece, in the order of the elements, with one buffer of about that size. */
parapet_status region_read(tool_node *node, const tool_region *region, void *data);

/* The halves follow each other in the order of the elements; false: it has but one. */
bool region_halve(const tool_region *region, tool_region *first, tool_region *second);
parapet_status region_visit(tool_node *node, const tool_region *region, size_t buffer_bytes,
                            tool_region_visitor visit, void *context);

/* ---- Picture --------------------------------------------------------------------------------------------- */

/* A picture of three bytes a pixel, red, green and blue, as PNG in base64; free with free(). */
char *text_of_png(const unsigned char *colours, size_t width, size_t height);

/* ---- Hierarchy: the tree below a group ----------------------------------------------------------------- */

typedef struct tool_tree_entry {
    char *path; /* relative to the store */
    parapet_node_kind kind;
} tool_tree_entry;

typedef struct tool_tree {
    tool_tree_entry *entries; /* parents before children, siblings in the order of their names */
    size_t count;
    int64_t failures; /* groups that could not be listed and invalid nodes, already reported */
} tool_tree;

/* Lists the store: its root, then everything below it, or only the direct children. */
void tree_init(tool_tree *tree, parapet_store *store, const char *url, bool is_recursive);
void tree_free(tool_tree *tree);

/* Orders paths as the tree does. */
int tree_compare_paths(const char *a, const char *b);

/* How a path of a store is shown: "run.zarr", "run.zarr/density". */
char *tree_label(const char *url, const char *path);

/* A group with an append that was begun and is not complete. */
typedef struct tool_append {
    char *path;
    bool is_under_way; /* by another job; else it was interrupted */
} tool_append;

typedef struct tool_appends {
    tool_append *list;
    size_t count;
} tool_appends;

/* The one that the operand is or lies in, and those of a tree below it, which may be NULL. */
void appends_find(tool_appends *appends, const tool_request *request, const tool_tree *tree);
void appends_free(tool_appends *appends);

/* Tells of one that is under way, or of one that was interrupted, with the command that puts it right. */
void append_report(const tool_append *append);

/* Tells of all. */
void appends_report(const tool_request *request, const tool_tree *tree);

/* ---- Holding: what a group is beside a group ---------------------------------------------------------- */

typedef struct tool_generation {
    int64_t number;
    char *path; /* of its group, in the store; "": its commit record cannot be read */
} tool_generation;

typedef struct tool_holding {
    tool_generation *generations; /* of a checkpoint, the newest first */
    size_t generation_count;
    char *dimension; /* of a series, as JSON text; NULL: it is none */
    char *arrays;    /* the same */
    int64_t steps;   /* -1: its creation did not come to its end */
} tool_holding;

/* Free it also after a failure. */
parapet_status holding_init(tool_holding *holding, parapet_store *store, const char *path);
void holding_free(tool_holding *holding);

/* "checkpoint, generations 7 6, newest 7", "series along time: 120 steps, arrays u v"; NULL: neither. */
char *text_of_holding(const tool_holding *holding);

/* The members "checkpoint" and "series", where it is one. */
void holding_write(tool_document *document, const tool_holding *holding);

/* The exit code of check for what a library call has found out: torn, missing, or failed. */
int exit_code_of_finding(parapet_status status);
const char *name_of_exit_code(int exit_code);

/* [collective] check --restore-test: restores as a program would, and tells; the exit code. */
int restore_test_run(const tool_request *request);

/* ---- Texts: elements without a fixed length ------------------------------------------------------------- */

typedef struct tool_text {
    const char *data;
    size_t bytes;
} tool_text;

/* Gives texts the memory that they need, unless there is a limit. */
void texts_allow(tool_request *request);

bool texts_are_in(const tool_node *node);

/* From now on the elements of an array of texts are tool_text, as far as its info says. */
void texts_take(tool_node *node);

/* They are valid until the next are read. */
parapet_status texts_read(tool_node *node, const tool_region *region, tool_text *texts);
bool texts_are_same(const tool_text *a, const tool_text *b);
tool_text *text_element_copy(const tool_text *text); /* with its characters; free it */
char *text_of_text(const tool_text *text);

/* ---- Values: comparing two arrays ---------------------------------------------------------------------- */

typedef struct tool_values_difference {
    int64_t compared;  /* elements */
    int64_t differing; /* elements whose bits differ */
    int64_t first[PARAPET_MAX_NDIM];
    unsigned char *first_a; /* one element each; NULL when none differs */
    unsigned char *first_b;
    const char *refusal; /* why they are not compared; NULL: they are, or the library says why */
} tool_values_difference;

/* Compares two arrays of the same shape and type box by box, with two buffers of at most buffer_bytes each. */
parapet_status values_compare(tool_values_difference *difference, tool_node *a, tool_node *b, size_t buffer_bytes);
void values_difference_free(tool_values_difference *difference);

/* ---- Verdict: how two stores differ --------------------------------------------------------------------- */

typedef enum tool_difference {
    DIFFERENCE_VALUES,
    DIFFERENCE_SHAPE,
    DIFFERENCE_TYPE,
    DIFFERENCE_NAMES,
    DIFFERENCE_FILL_VALUE,
    DIFFERENCE_ATTRIBUTE,
    DIFFERENCE_KIND,
    DIFFERENCE_ARRAY_ONLY_A,
    DIFFERENCE_ARRAY_ONLY_B,
    DIFFERENCE_GROUP_ONLY_A,
    DIFFERENCE_GROUP_ONLY_B,
    DIFFERENCE_LAYOUT,
    DIFFERENCE_KINDS
} tool_difference;

typedef struct tool_verdict_counts {
    int64_t differing[DIFFERENCE_KINDS];
    int64_t uncounted; /* differences in layout that nobody asked for */
    int64_t arrays;    /* compared */
    int64_t elements;
    int64_t failures; /* nodes that could not be compared, already reported */
} tool_verdict_counts;

/* All that differs. */
int64_t verdict_sum(const tool_verdict_counts *counts);

/* "differ: 1 attribute, 2 arrays only in A" or "the same: 3 arrays, 25 elements"; before it what was not counted. */
void verdict_print(const tool_verdict_counts *counts);

/* ---- Ranks: the processes that a launcher started ------------------------------------------------------ */

/* The rank that a launcher says this process is; -1: there is no launcher. */
int ranks_launched(void);

/* What else the launcher says; a rank of -1: there is none, or it has started the rank that started this process. */
const parapet_launch *ranks_launch(void);

/* The rest calls MPI, and is compiled once per flavour of the library: ranks_mpi.c, or ranks_serial.c without MPI. */

/* Under a launcher the serial tool executes that of the launcher's MPI, and does not return. TOOL_OK: go on here. */
int ranks_hand_over(char **words);

/* Runs the verb of the request, on all ranks or on rank 0; starts MPI only under a launcher. */
int ranks_run(tool_request *request);

/* [collective] Opens a store for those who work. */
parapet_status ranks_open_store(const tool_request *request, parapet_store **store, const char *url,
                                parapet_mode mode, const parapet_store_options *options);

/* [collective] Gives every rank what rank 0 has. */
void ranks_share(const tool_request *request, void *memory, size_t bytes);

/* [collective] The least and the most that any rank brings. */
int64_t ranks_least(const tool_request *request, int64_t number);
int64_t ranks_most(const tool_request *request, int64_t number);

/* [collective] Gives every rank what all have, in the order of the ranks. */
void ranks_gather(const tool_request *request, const void *mine, void *all, size_t bytes);

/* [collective] How many ranks there are on the node of this one. */
int ranks_on_node(const tool_request *request);

/* ---- Planning: what plan write and plan read have in common -------------------------------------------- */

extern const tool_flag plan_transfer_flags[];
extern const tool_value plan_transfer_values[];
int plan_transfer_run(const tool_request *request, bool is_read);

/* Prints the plan of a copy, or of all arrays of a group; the table of the ways that were weighed only with -v. */
void plan_print(const tool_request *request, char *text, bool is_group);

/* ---- Copying ------------------------------------------------------------------------------------------- */

enum { TOOL_PLACE_BYTES = 4096 };

/* Where a copy goes: a store, and the path of the node in it. */
typedef struct tool_place {
    char store[TOOL_PLACE_BYTES];
    char path[TOOL_PLACE_BYTES];
    bool exists;  /* there is a directory where the store is to be */
    bool is_zarr; /* and a Zarr hierarchy in it */
    bool is_node; /* and something at the path */
    bool is_made; /* this run has made it */
} tool_place;

/* [collective] Finds the outermost hierarchy around a source, or the file that it is a part of, so that sentences
 * tell its path. False: already reported. */
bool place_init_source(tool_place *place, const tool_request *request, const char *source);

/* Opens the outermost store around a node that is to be changed, so that groups around it learn of the change; place
 * tells the path of the node in it. NULL: it failed, already reported. */
parapet_store *place_open_around(tool_place *place, const tool_request *request, const char *node);

/* [collective] Finds the store that a target belongs to: the outermost hierarchy around it, else the first component
 * that ends in .zarr, else the whole. False: it is the source, or inside of it, or around it, or cannot become a
 * store; already reported. */
bool place_init(tool_place *place, const tool_request *request, const char *source, const char *target);

/* [collective] A store for what lies between two passes, in a directory and named after the target. */
bool place_init_temporary(tool_place *place, const tool_request *request, const char *directory, const char *target);

/* [collective] Opens the store, and makes it if there is none: with a group at its root, unless an array is to be
 * there. NULL: it failed, already reported. */
parapet_store *place_open(tool_place *place, const tool_request *request, const parapet_store_options *options,
                          bool is_array);

/* Whether it holds the metadata of a node, or what the library keeps beside nodes. */
bool place_has_metadata(const char *directory);

/* Whether it, or a directory around it, is a group or an array. */
bool place_is_in_hierarchy(const char *path);

/* Complains if a target is the source, inside it, or around it. */
bool place_refuse_overlap(const char *source, const char *target);

/* Removes what this run has made, if nothing is in it. */
void place_remove_bare(const tool_place *place, const tool_request *request);

/* [collective] Whether a copy goes to a file of another format, and writes it; answers with the exit code. */
bool file_target_is(const tool_request *request);
int file_target_write(const tool_request *request);

/* How the target is to differ: from the flags that copy and plan copy have in common. */
void changes_init(parapet_copy_changes *changes, const tool_request *request);

/* --reading; not given: it stays as it is. False: already reported. */
bool reading_parse(const tool_request *request, parapet_reading *reading);

/* [collective] Sets memory_bytes, unless it is given, to what one rank may take of this machine, the same on all
 * ranks, and says in words where the limit is from; free with free(). False: already reported. */
bool memory_limit_choose(const tool_request *request, parapet_store_options *options, char **origin);

/* Shares --max-mem between so many stores, whose options these become, and a buffer beside each: an eighth of the
 * limit, or 32 MiB without one. False: that is too little for a store, already reported. */
bool memory_share(tool_request *request, int stores, size_t *buffer_bytes);

/* [collective] Sets threads, unless they are given, to the cores that one rank has in this job, as far as the memory
 * limit is enough for them. True: they were chosen here. */
bool threads_choose(const tool_request *request, parapet_store_options *options);

/* SIGINT and SIGTERM from now on leave their number. What is under way should come to its end then; if it does not,
 * the words are printed by rank 0, with a document for --json, and the process ends. */
void interrupt_watch(const tool_request *request, const char *words);
int interrupt_signal(void); /* 0: none came */

/* It has come to its end: the process may say so at leisure. */
void interrupt_end_orderly(void);

/* One line that says how far a verb is: redrawn on a terminal, added now and then elsewhere. */
typedef struct tool_progress {
    const char *verb;
    bool is_shown, is_terminal, is_drawn;
    bool is_begun;
    double start_seconds, shown_seconds;
    int shown_tenth;     /* of the work, when it was last shown */
    int64_t first_bytes; /* already done at the start */
} tool_progress;

void progress_init(tool_progress *progress, const char *verb, bool is_shown);

/* A parapet_progress_callback; asks to stop when a signal came. */
int progress_report(void *context, int64_t done_bytes, int64_t total_bytes);

/* Takes the line away. */
void progress_end(tool_progress *progress);

/* What one run of copy is, for its reports; only rank 0 prints. */
typedef struct tool_copying {
    const tool_request *request;
    tool_place source, target, temporary;
    parapet_store_options options;
    char *memory_origin;
    tool_node node; /* the source */
    parapet_copy_request copy;
    parapet_copy_result result;
    int signal; /* that ended it on any rank; 0: none */
} tool_copying;

/* [collective] Whether there may be space for the copy; a dry run also tells it. False: there is not, already
 * reported. Where there is little, the storage is not measured. */
bool space_check(tool_copying *copying);

/* What is copied, to where, and within which memory. */
void copying_print_header(const tool_copying *copying);

/* How it ended. */
void copying_print_result(const tool_copying *copying);
void copying_print_document(const tool_copying *copying, parapet_status status);

/* The command that goes on with a copy that was interrupted. */
char *copying_resume_command(const tool_copying *copying);

#endif
