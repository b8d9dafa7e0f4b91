#include "array/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/store_handle.h"
#include "base/option.h"
#include "base/reserved.h"
#include "plan/owners.h"

#define NUMBER(field, low, high, fallback, meaning)                                                                  \
    PP_OPTION_NUMBER(parapet_store_options, field, low, high, fallback, meaning)
#define CHOICE(field, fallback) PP_OPTION_CHOICE(parapet_store_options, field, fallback)
#define TEXT(field, meaning) PP_OPTION_TEXT(parapet_store_options, field, meaning)
#define BOOLEAN(field, meaning) PP_OPTION_BOOLEAN(parapet_store_options, field, meaning)

/* The one table of options: the struct's fields, PARAPET_* variables, the tool's flags and what is printed back. */
static const pp_option option_rows[] = {
    NUMBER(memory_bytes, 1 << 20, INT64_MAX, 256 << 20, "limit on all buffers of a store on a rank"),
    NUMBER(threads, 1, 64, 1, "threads that encode and decode"),
    CHOICE(io_thread, PARAPET_IO_THREAD_OWN),
    CHOICE(direct_io, PARAPET_DIRECT_IO_CHOOSE),
    CHOICE(durability, PARAPET_DURABILITY_FLUSH),
    BOOLEAN(elide_fill, "whether chunks of sharded arrays that equal the fill value are not stored"),
    BOOLEAN(ignore_checksums, "whether data whose checksum is wrong is returned"),
    BOOLEAN(require_sealed, "whether an array must be sealed to be opened"),
    BOOLEAN(ignore_seal, "whether a sealed array that another program changed opens as not sealed"),
    NUMBER(expected_servers, 1, 1 << 20, 1, "default shapes give 16 shards to each of this many"),
    NUMBER(servers, 0, 1 << 20, 0, "ranks that access storage; 0: up to 16 per node"),
    CHOICE(owners, PARAPET_OWNERS_CHOOSE),
    CHOICE(sharing, PARAPET_SHARING_EQUAL),
    TEXT(weights, "a file with the speeds of the servers, for sharing by weights"),
    CHOICE(transport, PARAPET_TRANSPORT_DIRECT),
    BOOLEAN(ignore_launcher, "whether to open for change although the launcher belongs to another MPI"),
    NUMBER(deadline_seconds, 0, 1000000000, 0, "longest wait for another rank; 0: no limit"),
    NUMBER(wait_seconds, 0, 1000000000, 0, "longest wait for another job; 0: only for one that is publishing"),
    CHOICE(locks, PARAPET_LOCKS_CHOOSE),
    CHOICE(holes, PARAPET_HOLES_CHOOSE),
    BOOLEAN(keep_descriptions, "whether it is kept for the next calls who holds what"),
    NUMBER(cache_bytes, 0, INT64_MAX, 0, "stored chunks that a server keeps between calls; 0: none"),
    BOOLEAN(write_back, "whether what is written may stay in cache_bytes until it is flushed"),
    BOOLEAN(takeover, "whether owner records of other machines are taken over"),
    BOOLEAN(no_helper, "whether files that another program has to read first, as HDF5, are refused"),
    NUMBER(local_bytes, 1 << 20, INT64_MAX, 32 << 20, "limit on all buffers of local reads of a store on a rank"),
};

static const pp_option_table option_table = {option_rows, sizeof option_rows / sizeof option_rows[0]};

/* For tests of several nodes on one machine; no field of the options. */
static const pp_option ranks_per_node = {
    .name = "ranks_per_node", .high = 1 << 20, .meaning = "for tests: pretend that this many ranks share a node"};

parapet_status parapet_store_options_set(parapet_store_options *options, const char *name, const char *value)
{
    if (options == NULL || name == NULL || value == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_options_set needs options, a name and a value");
    return pp_outcome(pp_option_set(&option_table, options, name, value));
}

enum { VARIABLE_BYTES = 64 };

/* PARAPET_<NAME> */
static void name_variable(char variable[VARIABLE_BYTES], const pp_option *option)
{
    size_t i, used;
    (void)snprintf(variable, VARIABLE_BYTES, "PARAPET_%s", option->name);
    for (i = 0, used = strlen(variable); i < used; i++)
        variable[i] = (char)toupper((unsigned char)variable[i]);
}

/* The value of the variable; stays as it is where there is none. */
static parapet_status take_variable(const pp_option *option, int64_t *value)
{
    char variable[VARIABLE_BYTES];
    const char *text;
    parapet_status status;
    name_variable(variable, option);
    text = getenv(variable);
    if (text == NULL || text[0] == '\0')
        return PARAPET_OK;
    if ((status = pp_option_parse(option, text, value)) != PARAPET_OK)
        return pp_fail_within(status, "environment variable %s", variable);
    return PARAPET_OK;
}

static void resolve_text(parapet_store_options *resolved, const pp_option *option)
{
    char variable[VARIABLE_BYTES];
    const char *text;
    name_variable(variable, option);
    text = getenv(variable);
    if (pp_option_get_text(option, resolved) == NULL && text != NULL && text[0] != '\0')
        pp_option_put_text(option, resolved, text);
}

static parapet_status resolve_option(parapet_store_options *resolved, const pp_option *option)
{
    int64_t value = pp_option_get(option, resolved);
    parapet_status status;
    if (option->is_text) {
        resolve_text(resolved, option);
        return pp_option_check(option, resolved);
    }
    if (value == 0 && (status = take_variable(option, &value)) != PARAPET_OK)
        return status;
    pp_option_put(option, resolved, value != 0 ? value : option->fallback);
    return pp_option_check(option, resolved);
}

static parapet_status choose_owners(parapet_store_options *options)
{
    const char *kept = options->cache_bytes > 0 ? "cache_bytes" : "keep_descriptions";
    options->keep_descriptions |= options->cache_bytes > 0;
    return pp_owners_choose(&options->owners, options->sharing, options->keep_descriptions ? kept : NULL);
}

/* What an option is that nobody has set. */
static int64_t default_of(const pp_option *option, const parapet_store_options *options)
{
    if (option->choice == &pp_choice_owners)
        return pp_owners_for(options->sharing, options->keep_descriptions != 0);
    return option->offset == offsetof(parapet_store_options, keep_descriptions) ? options->cache_bytes > 0
                                                                                : option->fallback;
}

/* What waits to be written gives way to nothing: calls have only the rest. */
static parapet_status check_write_back(const parapet_store_options *options)
{
    if (options->cache_bytes == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "write_back needs cache_bytes, where what is written waits");
    if (options->memory_bytes - options->cache_bytes < option_rows[0].low)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "with write_back, cache_bytes, which is %lld, must leave at least %lld of memory_bytes, which "
                       "is %lld",
                       (long long)options->cache_bytes, (long long)option_rows[0].low,
                       (long long)options->memory_bytes);
    return PARAPET_OK;
}

static parapet_status check_cache(const parapet_store_options *options)
{
    if (options->cache_bytes > options->memory_bytes)
        return pp_fail(PARAPET_ERR_ARGUMENT, "cache_bytes is %lld, more than memory_bytes, which is %lld",
                       (long long)options->cache_bytes, (long long)options->memory_bytes);
    return options->write_back ? check_write_back(options) : PARAPET_OK;
}

parapet_status pp_options_resolve(parapet_store_options *resolved, const parapet_store_options *given)
{
    parapet_status status;
    size_t i;
    *resolved = given != NULL ? *given : (parapet_store_options){0};
    if ((status = PP_RESERVED_CHECK(parapet_store_options, resolved)) != PARAPET_OK)
        return status;
    for (i = 0; i < option_table.count; i++)
        if ((status = resolve_option(resolved, &option_rows[i])) != PARAPET_OK)
            return status;
    status = choose_owners(resolved);
    return status == PARAPET_OK ? check_cache(resolved) : status;
}

parapet_status pp_options_ranks_per_node(int *ranks)
{
    int64_t value = 0;
    parapet_status status = take_variable(&ranks_per_node, &value);
    *ranks = (int)value;
    return status;
}

static void print_option(const parapet_store *store, const pp_option *option, pp_text *out)
{
    int64_t value = pp_option_get(option, store->options);
    const pp_choice_word *word = option->choice != NULL ? pp_choice_word_of(option->choice, (int)value) : NULL;
    const char *source = pp_option_get(option, store->given) != 0      ? "given"
                         : value != default_of(option, store->options) ? "environment"
                                                                       : "default";
    pp_text_add(out, "%s = ", option->name);
    if (word != NULL)
        pp_text_add(out, "%s", word->word);
    else if (option->is_text)
        pp_text_add(out, "%s", value != 0 ? pp_option_get_text(option, store->options) : "none");
    else
        pp_text_add(out, "%lld", (long long)value);
    pp_text_add(out, " (%s): ", source);
    if (option->choice == &pp_choice_locks)
        pp_text_add(out, store->uses_records ? "owner records (%s)" : "trusted (%s)", store->lock_source);
    else if (option->choice == &pp_choice_holes && value == PARAPET_HOLES_CHOOSE)
        pp_request_cost_print(&store->cost, out);
    else
        pp_text_add(out, "%s", option->meaning != NULL ? option->meaning : word->meaning);
    pp_text_add(out, "\n");
}

static bool is_variable_of(const pp_option *option, const char *entry)
{
    char variable[VARIABLE_BYTES];
    name_variable(variable, option);
    return strncmp(entry, variable, strlen(variable)) == 0 && entry[strlen(variable)] == '=';
}

/* Whether an entry of the environment looks as if it were meant for an option, and is not read. */
static bool is_unread(const char *entry)
{
    static const char *const others[] = {"PARAPET_MPI=", "PARAPET_PLACES=", "PARAPET_TEST_"};
    size_t i;
    if (strncmp(entry, "PARAPET_", 8) != 0 || is_variable_of(&ranks_per_node, entry))
        return false;
    for (i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(entry, others[i], strlen(others[i])) == 0)
            return false;
    for (i = 0; i < option_table.count; i++)
        if (is_variable_of(&option_rows[i], entry))
            return false;
    return true;
}

extern char **environ; /* POSIX leaves the declaration to the program */

/* A variable whose name is misspelt has no effect: this is where somebody looks who wonders why. */
static void print_unread(pp_text *out)
{
    char *const *entry;
    for (entry = environ; entry != NULL && *entry != NULL; entry++)
        if (is_unread(*entry))
            pp_text_add(out, "%.*s (environment): not read, because no option has this name\n",
                        (int)strcspn(*entry, "="), *entry);
}

parapet_status parapet_store_options_print(parapet_store *store, char **text)
{
    PP_TURN turn = {0};
    pp_text out = {0};
    parapet_status status;
    size_t i;
    if (store == NULL || text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_options_print needs a store and a pointer for the text");
    if ((status = pp_turn_take(&turn, store->comm, PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    for (i = 0; i < option_table.count; i++)
        print_option(store, &option_rows[i], &out);
    print_unread(&out);
    return pp_outcome(pp_text_finish(&out, text));
}
