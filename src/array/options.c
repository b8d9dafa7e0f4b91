#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/options.h"
#include "array/store_handle.h"
#include "base/checked.h"
#include "base/reserved.h"

/* The one table of options: the struct's fields, PARAPET_* variables, the tool's flags and what is printed back. */
typedef struct option_row {
    const char *name;
    size_t offset;
    int64_t low, high;
    int64_t fallback; /* what 0 becomes */
    const char *meaning;
} option_row;

#define OPTION(field) #field, offsetof(parapet_store_options, field)

static const option_row option_table[] = {
    {OPTION(memory_bytes), 1 << 20, INT64_MAX, 256 << 20, "limit on all buffers of a store on a rank"},
    {OPTION(threads), 1, 64, 1, "threads that encode and decode"},
    {OPTION(io_thread), 1, 2, 1, "1: storage calls on a helper thread, 2: no threads at all"},
    {OPTION(direct_io), 0, 2, 0, "0: where it pays, 1: always try, 2: never"},
    {OPTION(durability), 1, 2, 1, "1: flush to the device before returning, 2: leave it to the system"},
    {OPTION(elide_fill), 0, 1, 0, "1: chunks of shards that equal the fill value are not stored"},
    {OPTION(ignore_checksums), 0, 1, 0, "1: deliver data whose checksum is wrong"},
    {OPTION(require_sealed), 0, 1, 0, "1: an array must be sealed to be opened"},
    {OPTION(ignore_seal), 0, 1, 0, "1: open a sealed array that others changed as not sealed"},
    {OPTION(expected_servers), 1, 1 << 20, 1, "default shapes give at least this many shards"},
    {OPTION(servers), 0, 1 << 20, 0, "ranks that touch storage; 0: 16 per node"},
    {OPTION(ownership), 1, 2, 2, "1: shards go round the servers, 2: to the server that holds most of them"},
    {OPTION(transport), 1, 2, 1, "1: ranks of a node copy from each other's memory where allowed, 2: messages"},
    {OPTION(ignore_launcher), 0, 1, 0, "1: open for change although the launcher is that of another MPI"},
    {OPTION(deadline_seconds), 0, 1000000000, 0, "longest wait for another rank; 0: for ever"},
    {OPTION(ranks_per_node), 0, 1 << 20, 0, "pretend that so many ranks share a node; 0: as it is"},
};

enum { OPTION_COUNT = sizeof option_table / sizeof option_table[0] };

static int64_t *field_of(parapet_store_options *options, const option_row *row)
{
    return (int64_t *)(void *)((char *)options + row->offset);
}

static const option_row *find_row(const char *name)
{
    size_t i;
    for (i = 0; i < OPTION_COUNT; i++)
        if (strcmp(option_table[i].name, name) == 0)
            return &option_table[i];
    return NULL;
}

static parapet_status refuse_name(const char *name)
{
    pp_text text = {0};
    char *known;
    parapet_status status;
    size_t i;
    for (i = 0; i < OPTION_COUNT; i++)
        pp_text_add(&text, "%s%s", i > 0 ? ", " : "", option_table[i].name);
    if ((status = pp_text_finish(&text, &known)) != PARAPET_OK)
        return status;
    status = pp_fail(PARAPET_ERR_ARGUMENT, "there is no option \"%s\"; there are %s", name, known);
    pp_free(known);
    return status;
}

/* 1 for "", 1000 for "K", 1024 for "KiB" and so on; 0 for anything else. */
static int64_t unit_of(const char *suffix)
{
    static const char letters[] = "KMGT";
    const char *found = suffix[0] != '\0' ? strchr(letters, toupper((unsigned char)suffix[0])) : NULL;
    int64_t unit = 1, base;
    ptrdiff_t i;
    if (suffix[0] == '\0' || strcmp(suffix, "B") == 0)
        return 1;
    if (found == NULL)
        return 0;
    if (suffix[1] == '\0' || strcmp(suffix + 1, "B") == 0)
        base = 1000;
    else if (strcmp(suffix + 1, "iB") == 0)
        base = 1024;
    else
        return 0;
    for (i = 0; i <= found - letters; i++)
        unit *= base;
    return unit;
}

static parapet_status parse_value(const option_row *row, const char *text, int64_t *value)
{
    char *end;
    long long number;
    int64_t unit, parsed;
    errno = 0;
    number = strtoll(text, &end, 10);
    unit = unit_of(end);
    if (end == text || errno != 0 || unit == 0 || !pp_multiply_fits(number, unit, &parsed) || parsed < row->low ||
        parsed > row->high)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "option %s cannot be \"%s\": it takes a number from %lld to %lld, with K, M, G (powers of "
                       "1000) or KiB, MiB, GiB (powers of 1024) behind it if wanted (%s)",
                       row->name, text, (long long)row->low, (long long)row->high, row->meaning);
    *value = parsed;
    return PARAPET_OK;
}

parapet_status parapet_store_options_set(parapet_store_options *options, const char *name, const char *value)
{
    const option_row *row;
    if (options == NULL || name == NULL || value == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_options_set needs options, a name and a value");
    row = find_row(name);
    return pp_outcome(row != NULL ? parse_value(row, value, field_of(options, row)) : refuse_name(name));
}

static void name_variable(const option_row *row, char variable[64])
{
    size_t i, used;
    (void)snprintf(variable, 64, "PARAPET_%s", row->name);
    for (i = 0, used = strlen(variable); i < used; i++)
        variable[i] = (char)toupper((unsigned char)variable[i]);
}

static parapet_status resolve_row(parapet_store_options *resolved, const option_row *row)
{
    int64_t *field = field_of(resolved, row);
    char variable[64];
    const char *text;
    parapet_status status;
    name_variable(row, variable);
    text = getenv(variable);
    if (*field == 0 && text != NULL && text[0] != '\0') {
        if ((status = parse_value(row, text, field)) != PARAPET_OK)
            status = pp_fail_within(status, "environment variable %s", variable);
        return status;
    }
    if (*field == 0)
        *field = row->fallback;
    if (*field < row->low || *field > row->high)
        return pp_fail(PARAPET_ERR_ARGUMENT, "option %s is %lld, but must lie between %lld and %lld", row->name,
                       (long long)*field, (long long)row->low, (long long)row->high);
    return PARAPET_OK;
}

parapet_status pp_options_resolve(parapet_store_options *resolved, const parapet_store_options *given)
{
    parapet_status status;
    size_t i;
    *resolved = given != NULL ? *given : (parapet_store_options){0};
    if ((status = PP_RESERVED_CHECK(parapet_store_options, resolved)) != PARAPET_OK)
        return status;
    for (i = 0; i < OPTION_COUNT; i++)
        if ((status = resolve_row(resolved, &option_table[i])) != PARAPET_OK)
            return status;
    return PARAPET_OK;
}

parapet_status parapet_store_options_print(parapet_store *store, char **text)
{
    pp_text out = {0};
    size_t i;
    if (store == NULL || text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_options_print needs a store and a place for the text");
    for (i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        int64_t value = *field_of(&store->options, row);
        const char *source = *field_of(&store->given, row) != 0 ? "given"
                             : value != row->fallback           ? "environment"
                                                                : "default";
        pp_text_add(&out, "%s = %lld (%s): %s\n", row->name, (long long)value, source, row->meaning);
    }
    return pp_outcome(pp_text_finish(&out, text));
}
