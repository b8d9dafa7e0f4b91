/* Options: the table, the text forms, the environment, and what is printed back. */
#include "support.h"

#include <limits.h>

#include "array/options.h"
#include "array/store_handle.h"
#include "scratch.h"

extern char **environ; /* POSIX leaves the declaration to the program */

static const char *const names[] = {"memory_bytes", "threads",          "io_thread",        "direct_io",
                                    "durability",   "elide_fill",       "ignore_checksums", "require_sealed",
                                    "ignore_seal",  "ignore_launcher",  "expected_servers", "servers",
                                    "owners",       "transport",        "deadline_seconds", "locks",
                                    "takeover",     "weights",          "local_bytes",      "cache_bytes",
                                    "sharing",      "keep_descriptions"};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

enum { WORDS_MOST = 4 };

/* Of the enums: all values, in words. */
typedef struct words_case {
    const char *name;
    size_t offset;
    const char *words[WORDS_MOST]; /* by value; the last ones may be missing */
} words_case;

static const words_case words_cases[] = {
    {"io_thread", offsetof(parapet_store_options, io_thread), {"choose", "own", "none"}},
    {"direct_io", offsetof(parapet_store_options, direct_io), {"choose", "always", "never"}},
    {"durability", offsetof(parapet_store_options, durability), {"choose", "flush", "leave"}},
    {"owners", offsetof(parapet_store_options, owners), {"choose", "nearest", "in_turn"}},
    {"sharing", offsetof(parapet_store_options, sharing), {"choose", "equal", "weights", "stealing"}},
    {"transport", offsetof(parapet_store_options, transport), {"choose", "direct", "messages"}},
    {"locks", offsetof(parapet_store_options, locks), {"choose", "trusted", "record"}},
};
enum { WORDS_COUNT = sizeof words_cases / sizeof words_cases[0] };

static void variable_of(const char *name, char variable[64])
{
    size_t i;
    (void)snprintf(variable, 64, "PARAPET_%s", name);
    for (i = 0; variable[i] != '\0'; i++)
        if (variable[i] >= 'a' && variable[i] <= 'z')
            variable[i] = (char)(variable[i] - 'a' + 'A');
}

static int clear_environment(void **state)
{
    char variable[64];
    size_t i;
    (void)state;
    for (i = 0; i < NAME_COUNT; i++) {
        variable_of(names[i], variable);
        (void)unsetenv(variable);
    }
    (void)unsetenv("PARAPET_RANKS_PER_NODE");
    return 0;
}

static parapet_status set_memory(const char *text, int64_t *value)
{
    parapet_store_options options = {0};
    parapet_status status = parapet_store_options_set(&options, "memory_bytes", text);
    *value = options.memory_bytes;
    return status;
}

static void assert_memory(const char *text, int64_t expected)
{
    int64_t value;
    assert_ok(set_memory(text, &value));
    assert_int_equal(value, expected);
}

static void test_options__sizes_take_units_of_1000_and_of_1024(void **state)
{
    (void)state;
    assert_memory("1048576", 1048576);
    assert_memory("1048576B", 1048576);
    assert_memory("2000K", 2000000);
    assert_memory("2000k", 2000000);
    assert_memory("2000KB", 2000000);
    assert_memory("2048KiB", 2097152);
    assert_memory("3M", 3000000);
    assert_memory("3MiB", 3 << 20);
    assert_memory("5G", INT64_C(5000000000));
    assert_memory("5GiB", INT64_C(5) << 30);
    assert_memory("1T", INT64_C(1000000000000));
    assert_memory("1TiB", INT64_C(1) << 40);
    assert_memory("9223372036854775807", INT64_MAX);
}

static void test_options__what_is_no_number_with_unit_is_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "K",
                                        "MiB",
                                        "12 M",
                                        "12X",
                                        "12Kib",
                                        "12MiBx",
                                        "1.5G",
                                        "0x10",
                                        "1e9",
                                        "12MM",
                                        "-5M",
                                        "twelve",
                                        "12KK",
                                        "9223372036854775808",
                                        "9223372036854775807K",
                                        "99999999999T",
                                        "1048575",
                                        "0"};
    int64_t value;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(set_memory(wrong[i], &value), PARAPET_ERR_ARGUMENT, "option memory_bytes cannot be");
}

static void test_options__a_failed_setting_changes_nothing(void **state)
{
    parapet_store_options options = {.threads = 3};
    (void)state;
    assert_fails(parapet_store_options_set(&options, "threads", "65"), PARAPET_ERR_ARGUMENT, "from 1 to 64");
    assert_int_equal(options.threads, 3);
    assert_fails(parapet_store_options_set(&options, "threads", "0"), PARAPET_ERR_ARGUMENT, "from 1 to 64");
    assert_int_equal(options.threads, 3);
    assert_fails(parapet_store_options_set(&options, "threads", "x"), PARAPET_ERR_ARGUMENT, "\"x\"");
    assert_int_equal(options.threads, 3);
}

static bool is_size(const char *name)
{
    return strcmp(name, "memory_bytes") == 0 || strcmp(name, "local_bytes") == 0;
}

static bool is_boolean(size_t name)
{
    return (name >= 5 && name < 10) || name == 16 || name == NAME_COUNT - 1;
}

static void test_options__every_field_can_be_set_by_its_name(void **state)
{
    parapet_store_options options = {0}, expected = {.memory_bytes = 2 << 20,
                                                     .threads = 2,
                                                     .io_thread = PARAPET_IO_THREAD_NONE,
                                                     .direct_io = PARAPET_DIRECT_IO_NEVER,
                                                     .durability = PARAPET_DURABILITY_LEAVE,
                                                     .elide_fill = 1,
                                                     .ignore_checksums = 1,
                                                     .require_sealed = 1,
                                                     .ignore_seal = 1,
                                                     .ignore_launcher = 1,
                                                     .expected_servers = 2,
                                                     .servers = 2,
                                                     .owners = PARAPET_OWNERS_IN_TURN,
                                                     .transport = PARAPET_TRANSPORT_MESSAGES,
                                                     .deadline_seconds = 2,
                                                     .locks = PARAPET_LOCKS_RECORD,
                                                     .cache_bytes = 2,
                                                     .takeover = 1,
                                                     .weights = "2",
                                                     .sharing = PARAPET_SHARING_WEIGHTS,
                                                     .keep_descriptions = 1,
                                                     .local_bytes = 2 << 20};
    size_t i;
    (void)state;
    for (i = 0; i < NAME_COUNT; i++) {
        const char *value = is_size(names[i]) ? "2MiB" : is_boolean(i) ? "1" : "2";
        assert_ok(parapet_store_options_set(&options, names[i], value));
    }
    assert_string_equal(options.weights, expected.weights);
    expected.weights = options.weights;
    assert_memory_equal(&options, &expected, sizeof options);
}

static void test_options__a_misspelt_name_lists_all_names(void **state)
{
    parapet_store_options options = {0};
    size_t i;
    (void)state;
    assert_fails(parapet_store_options_set(&options, "thread", "2"), PARAPET_ERR_ARGUMENT, "no option \"thread\"");
    for (i = 0; i < NAME_COUNT; i++)
        assert_non_null(strstr(pp_failure_message(), names[i]));
    assert_fails(parapet_store_options_set(&options, "", "2"), PARAPET_ERR_ARGUMENT, "threads");
    assert_fails(parapet_store_options_set(&options, "THREADS", "2"), PARAPET_ERR_ARGUMENT, "threads");
    assert_fails(parapet_store_options_set(&options, "progress", "2"), PARAPET_ERR_ARGUMENT, "no option");
}

static void test_options__refuses_null(void **state)
{
    parapet_store_options options = {0};
    (void)state;
    assert_fails(parapet_store_options_set(NULL, "threads", "1"), PARAPET_ERR_ARGUMENT, "needs");
    assert_fails(parapet_store_options_set(&options, NULL, "1"), PARAPET_ERR_ARGUMENT, "needs");
    assert_fails(parapet_store_options_set(&options, "threads", NULL), PARAPET_ERR_ARGUMENT, "needs");
}

static void test_options__zero_becomes_the_default(void **state)
{
    parapet_store_options resolved;
    (void)state;
    assert_ok(pp_options_resolve(&resolved, NULL));
    assert_int_equal(resolved.memory_bytes, 256 << 20);
    assert_int_equal(resolved.local_bytes, 32 << 20);
    assert_int_equal(resolved.threads, 1);
    assert_int_equal(resolved.io_thread, 1);
    assert_int_equal(resolved.direct_io, 0);
    assert_int_equal(resolved.durability, 1);
    assert_int_equal(resolved.elide_fill, 0);
    assert_int_equal(resolved.expected_servers, 1);
    assert_int_equal(resolved.servers, 0);
    assert_int_equal(resolved.owners, PARAPET_OWNERS_NEAREST);
    assert_int_equal(resolved.sharing, PARAPET_SHARING_EQUAL);
    assert_int_equal(resolved.keep_descriptions, 0);
    assert_int_equal(resolved.transport, 1);
    assert_int_equal(resolved.deadline_seconds, 0);
}

static void test_options__environment_fills_what_is_not_given(void **state)
{
    parapet_store_options resolved, given = {.threads = 5};
    char variable[64];
    size_t i;
    (void)state;
    for (i = 0; i < NAME_COUNT; i++) {
        variable_of(names[i], variable);
        (void)setenv(variable, is_size(names[i]) ? "8MiB" : is_boolean(i) ? "1" : "2", 1);
    }
    (void)setenv("PARAPET_SHARING", "equal", 1); /* which cache_bytes needs */
    assert_ok(pp_options_resolve(&resolved, &given));
    assert_int_equal(resolved.memory_bytes, 8 << 20);
    assert_int_equal(resolved.local_bytes, 8 << 20);
    assert_int_equal(resolved.threads, 5);
    assert_int_equal(resolved.io_thread, 2);
    assert_int_equal(resolved.direct_io, 2);
    assert_int_equal(resolved.durability, 2);
    assert_int_equal(resolved.elide_fill, 1);
    assert_int_equal(resolved.ignore_checksums, 1);
    assert_int_equal(resolved.require_sealed, 1);
    assert_int_equal(resolved.ignore_seal, 1);
    assert_int_equal(resolved.ignore_launcher, 1);
    assert_int_equal(resolved.expected_servers, 2);
    assert_int_equal(resolved.servers, 2);
    assert_int_equal(resolved.owners, PARAPET_OWNERS_IN_TURN);
    assert_int_equal(resolved.sharing, PARAPET_SHARING_EQUAL);
    assert_int_equal(resolved.keep_descriptions, 1);
    assert_int_equal(resolved.transport, 2);
    assert_int_equal(resolved.deadline_seconds, 2);
    assert_int_equal(resolved.locks, PARAPET_LOCKS_RECORD);
    assert_int_equal(resolved.takeover, 1);
    assert_string_equal(resolved.weights, "2");
    assert_int_equal(resolved.cache_bytes, 2);
}

static void test_options__an_empty_variable_counts_as_none(void **state)
{
    parapet_store_options resolved;
    (void)state;
    (void)setenv("PARAPET_THREADS", "", 1);
    (void)setenv("PARAPET_WEIGHTS", "", 1);
    assert_ok(pp_options_resolve(&resolved, NULL));
    assert_int_equal(resolved.threads, 1);
    assert_null(resolved.weights);
}

static void test_options__a_wrong_variable_is_an_error_that_names_it(void **state)
{
    parapet_store_options resolved;
    parapet_store *store;
    (void)state;
    (void)setenv("PARAPET_THREADS", "many", 1);
    assert_fails(pp_options_resolve(&resolved, NULL), PARAPET_ERR_ARGUMENT, "PARAPET_THREADS");
    assert_fails(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, NULL),
                 PARAPET_ERR_ARGUMENT, "threads");
    assert_null(store);
    assert_ok(pp_options_resolve(&resolved, &(parapet_store_options){.threads = 2}));
}

static void test_options__out_of_range_fields_are_refused_with_the_range(void **state)
{
    parapet_store_options resolved;
    (void)state;
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.threads = 65}), PARAPET_ERR_ARGUMENT,
                 "threads is 65, but must be between 1 and 64");
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.threads = -1}), PARAPET_ERR_ARGUMENT,
                 "threads");
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.memory_bytes = 1}), PARAPET_ERR_ARGUMENT,
                 "memory_bytes");
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.io_thread = 3}), PARAPET_ERR_ARGUMENT,
                 "io_thread is 3, but must be choose (0), own (1) or none (2)");
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.elide_fill = 2}), PARAPET_ERR_ARGUMENT,
                 "elide_fill is 2, but must be no (false, 0) or yes (true, 1)");
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.ignore_seal = -1}), PARAPET_ERR_ARGUMENT,
                 "ignore_seal is -1");
    assert_fails(pp_options_resolve(&resolved, &(parapet_store_options){.durability = (parapet_durability)INT_MIN}),
                 PARAPET_ERR_ARGUMENT, "durability is -2147483648, but must be choose (0), flush (1) or leave (2)");
}

static int field_of(const parapet_store_options *options, const words_case *of)
{
    return *(const int *)(const void *)((const char *)options + of->offset);
}

/* What is chosen where one of the two is given, or nothing is but that something be kept. */
static void test_options__owners_are_those_that_the_other_options_need(void **state)
{
    static const struct {
        parapet_store_options given;
        parapet_owners owners;
        parapet_sharing sharing;
        int keeps;
    } cases[] = {
        {{0}, PARAPET_OWNERS_NEAREST, PARAPET_SHARING_EQUAL, 0},
        {{.owners = PARAPET_OWNERS_IN_TURN}, PARAPET_OWNERS_IN_TURN, PARAPET_SHARING_EQUAL, 0},
        {{.sharing = PARAPET_SHARING_STEALING}, PARAPET_OWNERS_NEAREST, PARAPET_SHARING_STEALING, 0},
        {{.sharing = PARAPET_SHARING_WEIGHTS}, PARAPET_OWNERS_IN_TURN, PARAPET_SHARING_WEIGHTS, 0},
        {{.keep_descriptions = 1}, PARAPET_OWNERS_IN_TURN, PARAPET_SHARING_EQUAL, 1},
        {{.cache_bytes = 1}, PARAPET_OWNERS_IN_TURN, PARAPET_SHARING_EQUAL, 1},
    };
    parapet_store_options resolved;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(pp_options_resolve(&resolved, &cases[i].given));
        assert_int_equal(resolved.owners, cases[i].owners);
        assert_int_equal(resolved.sharing, cases[i].sharing);
        assert_int_equal(resolved.keep_descriptions, cases[i].keeps);
    }
}

static void test_options__owners_that_cannot_do_what_is_asked_are_refused(void **state)
{
    static const struct {
        parapet_store_options given;
        const char *sentence;
    } cases[] = {
        {{.owners = PARAPET_OWNERS_NEAREST, .sharing = PARAPET_SHARING_WEIGHTS},
         "sharing weights needs owners in_turn, not nearest"},
        {{.owners = PARAPET_OWNERS_IN_TURN, .sharing = PARAPET_SHARING_STEALING},
         "sharing stealing needs owners nearest, not in_turn"},
        {{.owners = PARAPET_OWNERS_NEAREST, .keep_descriptions = 1},
         "keep_descriptions needs owners in_turn, not nearest"},
        {{.sharing = PARAPET_SHARING_WEIGHTS, .keep_descriptions = 1},
         "keep_descriptions needs sharing equal, not weights"},
        {{.sharing = PARAPET_SHARING_STEALING, .cache_bytes = 1}, "cache_bytes needs sharing equal, not stealing"},
    };
    parapet_store_options resolved;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(pp_options_resolve(&resolved, &cases[i].given), PARAPET_ERR_ARGUMENT, cases[i].sentence);
}

/* Nobody has set what others need: it is a default, whatever it is. */
static void test_options__what_others_need_is_printed_as_a_default(void **state)
{
    parapet_store_options options = {.cache_bytes = 1 << 20};
    parapet_store *store;
    char *text;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, &options));
    assert_ok(parapet_store_options_print(store, &text));
    assert_non_null(strstr(text, "owners = in_turn (default): the servers take turns\n"));
    assert_non_null(strstr(text, "keep_descriptions = yes (default): "));
    parapet_free(text);
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("options");
}

static void test_options__a_cache_needs_memory(void **state)
{
    parapet_store_options given = {.cache_bytes = 1 << 20, .memory_bytes = 1 << 20}, resolved;
    (void)state;
    assert_ok(pp_options_resolve(&resolved, &given));
    given.cache_bytes++;
    assert_fails(pp_options_resolve(&resolved, &given), PARAPET_ERR_ARGUMENT, "more than memory_bytes");
    given.write_back = 1;
    given.cache_bytes = 1 << 20;
    assert_fails(pp_options_resolve(&resolved, &given), PARAPET_ERR_ARGUMENT, "write_back");
    given.memory_bytes = 4 << 20;
    assert_ok(pp_options_resolve(&resolved, &given));
    given.cache_bytes = 0;
    assert_fails(pp_options_resolve(&resolved, &given), PARAPET_ERR_ARGUMENT, "write_back needs cache_bytes");
}

/* Locks of a directory are what somebody says, whatever its file system is. */
static void test_options__locks_are_as_told(void **state)
{
    static const struct {
        parapet_locks locks;
        const char *words;
    } cases[] = {
        {PARAPET_LOCKS_TRUSTED, "trusted (as told)"},
        {PARAPET_LOCKS_RECORD, "owner records (as told)"},
    };
    scratch place = scratch_make(SCRATCH_MEMORY);
    size_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        parapet_store_options options = {.locks = cases[i].locks};
        parapet_group *group;
        parapet_store *store;
        char *text;
        assert_ok(parapet_store_open(&store, MPI_COMM_NULL, place.root, PARAPET_CREATE, &options));
        assert_ok(parapet_store_options_print(store, &text));
        assert_non_null(strstr(text, cases[i].words));
        parapet_free(text);
        assert_ok(parapet_group_open(&group, store, ""));
        assert_ok(parapet_group_attribute_set(group, "title", "\"held\""));
        assert_ok(parapet_group_close(&group));
        assert_ok(parapet_store_close(&store));
    }
    scratch_remove(&place);
}

static void test_options__choices_take_their_words_and_their_numbers(void **state)
{
    size_t i;
    int value;
    (void)state;
    for (i = 0; i < WORDS_COUNT; i++)
        for (value = 0; value < WORDS_MOST && words_cases[i].words[value] != NULL; value++) {
            parapet_store_options by_word = {0}, by_number = {0};
            char number[2] = {(char)('0' + value), '\0'};
            assert_ok(parapet_store_options_set(&by_word, words_cases[i].name, words_cases[i].words[value]));
            assert_int_equal(field_of(&by_word, &words_cases[i]), value);
            assert_ok(parapet_store_options_set(&by_number, words_cases[i].name, number));
            assert_int_equal(field_of(&by_number, &words_cases[i]), value);
        }
}

/* "choose (0), own (1) or none (2)" */
static void list_words(const char *const *words, char *list, size_t bytes)
{
    size_t used = 0;
    int value;
    for (value = 0; value < WORDS_MOST && words[value] != NULL; value++) {
        bool is_last = value + 1 == WORDS_MOST || words[value + 1] == NULL;
        used += (size_t)snprintf(list + used, bytes - used, "%s%s (%d)",
                                 value == 0 ? ""
                                 : is_last  ? " or "
                                            : ", ",
                                 words[value], value);
    }
}

static void test_options__an_unknown_word_lists_what_is_accepted(void **state)
{
    static const char *const wrong[] = {"", "9", "-1", "01", " 1", "1 ", "Choose", "CHOOSE", "choose ", "yes", "1K"};
    parapet_store_options options = {0};
    char expected[256], list[160];
    size_t i, j;
    (void)state;
    for (i = 0; i < WORDS_COUNT; i++)
        for (j = 0; j < sizeof wrong / sizeof wrong[0]; j++) {
            list_words(words_cases[i].words, list, sizeof list);
            (void)snprintf(expected, sizeof expected, "option %s cannot be \"%s\": it takes %s", words_cases[i].name,
                           wrong[j], list);
            assert_fails(parapet_store_options_set(&options, words_cases[i].name, wrong[j]), PARAPET_ERR_ARGUMENT,
                         expected);
            assert_int_equal(field_of(&options, &words_cases[i]), 0);
        }
}

static void test_options__booleans_take_yes_and_no(void **state)
{
    static const char *const words[2][3] = {{"no", "false", "0"}, {"yes", "true", "1"}};
    parapet_store_options options = {0};
    int value, i;
    (void)state;
    for (value = 1; value >= 0; value--)
        for (i = 0; i < 3; i++) {
            options.require_sealed = 1 - value;
            assert_ok(parapet_store_options_set(&options, "require_sealed", words[value][i]));
            assert_int_equal(options.require_sealed, value);
        }
    assert_fails(parapet_store_options_set(&options, "require_sealed", "on"), PARAPET_ERR_ARGUMENT,
                 "option require_sealed cannot be \"on\": it takes no (false, 0) or yes (true, 1)");
    assert_fails(parapet_store_options_set(&options, "require_sealed", "2"), PARAPET_ERR_ARGUMENT, "\"2\"");
}

static void test_options__variables_take_words(void **state)
{
    parapet_store_options resolved;
    (void)state;
    (void)setenv("PARAPET_DURABILITY", "leave", 1);
    (void)setenv("PARAPET_TRANSPORT", "choose", 1);
    (void)setenv("PARAPET_ELIDE_FILL", "yes", 1);
    (void)setenv("PARAPET_REQUIRE_SEALED", "false", 1);
    assert_ok(pp_options_resolve(&resolved, NULL));
    assert_int_equal(resolved.durability, PARAPET_DURABILITY_LEAVE);
    assert_int_equal(resolved.transport, PARAPET_TRANSPORT_DIRECT);
    assert_int_equal(resolved.elide_fill, 1);
    assert_int_equal(resolved.require_sealed, 0);
    (void)setenv("PARAPET_DURABILITY", "maybe", 1);
    assert_fails(
        pp_options_resolve(&resolved, NULL), PARAPET_ERR_ARGUMENT,
        "environment variable PARAPET_DURABILITY: option durability cannot be \"maybe\": it takes choose (0)");
}

static void test_options__words_of_a_choice_can_be_asked_for(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < WORDS_COUNT; i++)
        assert_non_null(strstr(parapet_option_words(words_cases[i].name), words_cases[i].words[2]));
    assert_string_equal(parapet_option_words("reading"), "choose (0), chunks (1) or runs (2)");
    assert_string_equal(parapet_option_words("cooperation"), "choose (0), alone (1) or together (2)");
    assert_null(parapet_option_words("threads"));
    assert_null(parapet_option_words("elide_fill"));
    assert_null(parapet_option_words(NULL));
}

static void test_options__ranks_per_node_are_a_variable_only(void **state)
{
    parapet_store_options options = {0};
    int ranks = -1;
    (void)state;
    assert_fails(parapet_store_options_set(&options, "ranks_per_node", "2"), PARAPET_ERR_ARGUMENT, "no option");
    assert_ok(pp_options_ranks_per_node(&ranks));
    assert_int_equal(ranks, 0);
    (void)setenv("PARAPET_RANKS_PER_NODE", "2", 1);
    assert_ok(pp_options_ranks_per_node(&ranks));
    assert_int_equal(ranks, 2);
    (void)setenv("PARAPET_RANKS_PER_NODE", "-1", 1);
    assert_fails(pp_options_ranks_per_node(&ranks), PARAPET_ERR_ARGUMENT, "PARAPET_RANKS_PER_NODE");
}

static void test_options__reserved_words_must_be_zero(void **state)
{
    parapet_store_options resolved, given = {0};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof given.reserved / sizeof given.reserved[0]; i++) {
        given.reserved[i] = 1;
        assert_fails(pp_options_resolve(&resolved, &given), PARAPET_ERR_ARGUMENT, "reserved");
        given.reserved[i] = 0;
    }
    assert_ok(pp_options_resolve(&resolved, &given));
}

static void test_options__are_printed_with_value_and_source(void **state)
{
    parapet_store_options given = {.threads = 4, .io_thread = PARAPET_IO_THREAD_OWN};
    parapet_store *store;
    char *text, line[64];
    size_t i;
    (void)state;
    (void)setenv("PARAPET_MEMORY_BYTES", "4MiB", 1);
    (void)setenv("PARAPET_THREADS", "2", 1);
    (void)setenv("PARAPET_DURABILITY", "leave", 1);
    (void)setenv("PARAPET_ELIDE_FILL", "true", 1);
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, &given));
    (void)setenv("PARAPET_DIRECT_IO", "2", 1); /* too late to have any effect */
    assert_ok(parapet_store_options_print(store, &text));
    for (i = 0; i < NAME_COUNT; i++) {
        (void)snprintf(line, sizeof line, "%s = ", names[i]);
        assert_non_null(strstr(text, line));
    }
    assert_non_null(strstr(text, "memory_bytes = 4194304 (environment)"));
    assert_non_null(strstr(text, "threads = 4 (given)"));
    assert_non_null(strstr(text, "io_thread = own (given): storage calls run on a separate thread\n"));
    assert_non_null(strstr(text, "durability = leave (environment): left to the system\n"));
    assert_non_null(strstr(text, "elide_fill = yes (environment)"));
    assert_non_null(strstr(text, "ignore_seal = no (default)"));
    assert_non_null(strstr(text, "direct_io = choose (default): large writes"));
    assert_non_null(strstr(text, "locks = choose (default): trusted (of this process)\n"));
    parapet_free(text);
    assert_fails(parapet_store_options_print(NULL, &text), PARAPET_ERR_ARGUMENT, "needs");
    assert_fails(parapet_store_options_print(store, NULL), PARAPET_ERR_ARGUMENT, "needs");
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("options");
}

/* Which is what a program is left with by clearenv(). */
static void test_options__are_printed_without_any_environment(void **state)
{
    parapet_store_options given = {.holes = PARAPET_HOLES_READ};
    char **before = environ, *text;
    parapet_store *store;
    (void)state;
    environ = NULL;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, &given));
    assert_ok(parapet_store_options_print(store, &text));
    environ = before;
    assert_non_null(strstr(text, "holes = read (given): always read with what is wanted\n"));
    assert_null(strstr(text, "(environment)"));
    parapet_free(text);
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("options");
}

static void assert_weights_printed(const parapet_store_options *given, const char *expected)
{
    parapet_store *store;
    char *text;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, given));
    (void)setenv("PARAPET_WEIGHTS", "changed.txt", 1); /* too late to have any effect */
    assert_ok(parapet_store_options_print(store, &text));
    assert_non_null(strstr(text, expected));
    parapet_free(text);
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("options");
    (void)unsetenv("PARAPET_WEIGHTS");
}

static void test_options__a_text_is_kept_by_the_store(void **state)
{
    parapet_store_options options = {0};
    char name[] = "disks.txt";
    (void)state;
    assert_fails(parapet_store_options_set(&options, "weights", ""), PARAPET_ERR_ARGUMENT, "weights cannot be empty");
    assert_weights_printed(&options, "weights = none (default): a file with the speeds of the servers");
    assert_ok(parapet_store_options_set(&options, "weights", name));
    assert_weights_printed(&options, "weights = disks.txt (given)");
    (void)setenv("PARAPET_WEIGHTS", "other.txt", 1);
    assert_weights_printed(&options, "weights = disks.txt (given)");
    (void)setenv("PARAPET_WEIGHTS", "other.txt", 1);
    assert_weights_printed(NULL, "weights = other.txt (environment)");
    options.weights = "";
    assert_fails(pp_options_resolve(&options, &options), PARAPET_ERR_ARGUMENT, "weights cannot be empty");
}

/* One server has nobody to share with, so that nobody asks how fast it is. */
static void test_options__the_speed_of_one_server_is_not_asked_for(void **state)
{
    parapet_store_options options = {.sharing = PARAPET_SHARING_WEIGHTS, .weights = "there/is/no/such/file"};
    parapet_store *store;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, &options));
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("options");
}

static void test_options__variables_that_no_option_reads_are_named(void **state)
{
    static const char *const misspelt[] = {"PARAPET_MEMORY_BYTE", "PARAPET_MEMORY_BYTES_", "PARAPET_"};
    char *known, *text, line[128];
    parapet_store *store;
    size_t i;
    (void)state;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, "memory:options", PARAPET_CREATE, NULL));
    (void)setenv("PARAPET_MPI", "serial", 1);
    (void)setenv("PARAPET_TEST_ANYTHING", "1", 1);
    (void)setenv("PARAPET_RANKS_PER_NODE", "2", 1);
    (void)setenv("PARAPET_THREADS", "2", 1);
    (void)setenv("OTHER_PARAPET_THREADS", "2", 1);
    assert_ok(parapet_store_options_print(store, &known));
    assert_null(strstr(known, "not read"));
    parapet_free(known);
    for (i = 0; i < sizeof misspelt / sizeof misspelt[0]; i++) {
        (void)setenv(misspelt[i], "4MiB", 1);
        assert_ok(parapet_store_options_print(store, &text));
        (void)snprintf(line, sizeof line, "\n%s (environment): not read, because no option has this name\n",
                       misspelt[i]);
        assert_non_null(strstr(text, line));
        parapet_free(text);
        (void)unsetenv(misspelt[i]);
    }
    (void)unsetenv("PARAPET_MPI");
    (void)unsetenv("PARAPET_TEST_ANYTHING");
    (void)unsetenv("OTHER_PARAPET_THREADS");
    assert_ok(parapet_store_close(&store));
    pp_store_memory_drop("options");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_options__locks_are_as_told, clear_environment),
        cmocka_unit_test_setup(test_options__sizes_take_units_of_1000_and_of_1024, clear_environment),
        cmocka_unit_test_setup(test_options__what_is_no_number_with_unit_is_refused, clear_environment),
        cmocka_unit_test_setup(test_options__a_failed_setting_changes_nothing, clear_environment),
        cmocka_unit_test_setup(test_options__every_field_can_be_set_by_its_name, clear_environment),
        cmocka_unit_test_setup(test_options__a_misspelt_name_lists_all_names, clear_environment),
        cmocka_unit_test_setup(test_options__refuses_null, clear_environment),
        cmocka_unit_test_setup(test_options__zero_becomes_the_default, clear_environment),
        cmocka_unit_test_setup(test_options__environment_fills_what_is_not_given, clear_environment),
        cmocka_unit_test_setup(test_options__an_empty_variable_counts_as_none, clear_environment),
        cmocka_unit_test_setup(test_options__a_wrong_variable_is_an_error_that_names_it, clear_environment),
        cmocka_unit_test_setup(test_options__out_of_range_fields_are_refused_with_the_range, clear_environment),
        cmocka_unit_test_setup(test_options__owners_are_those_that_the_other_options_need, clear_environment),
        cmocka_unit_test_setup(test_options__owners_that_cannot_do_what_is_asked_are_refused, clear_environment),
        cmocka_unit_test_setup(test_options__what_others_need_is_printed_as_a_default, clear_environment),
        cmocka_unit_test_setup(test_options__a_cache_needs_memory, clear_environment),
        cmocka_unit_test_setup(test_options__choices_take_their_words_and_their_numbers, clear_environment),
        cmocka_unit_test_setup(test_options__an_unknown_word_lists_what_is_accepted, clear_environment),
        cmocka_unit_test_setup(test_options__booleans_take_yes_and_no, clear_environment),
        cmocka_unit_test_setup(test_options__variables_take_words, clear_environment),
        cmocka_unit_test_setup(test_options__words_of_a_choice_can_be_asked_for, clear_environment),
        cmocka_unit_test_setup(test_options__ranks_per_node_are_a_variable_only, clear_environment),
        cmocka_unit_test_setup(test_options__reserved_words_must_be_zero, clear_environment),
        cmocka_unit_test_setup(test_options__are_printed_with_value_and_source, clear_environment),
        cmocka_unit_test_setup(test_options__are_printed_without_any_environment, clear_environment),
        cmocka_unit_test_setup(test_options__a_text_is_kept_by_the_store, clear_environment),
        cmocka_unit_test_setup(test_options__the_speed_of_one_server_is_not_asked_for, clear_environment),
        cmocka_unit_test_setup(test_options__variables_that_no_option_reads_are_named, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, clear_environment);
}
