/* registry.c - the table of names below __parapet: see registry.h. */
#include "change/registry.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define DIGITS "0123456789"
#define HEX DIGITS "abcdef"
enum { ID_DIGITS = 16 };

#define NAMES(...)                                                                                                   \
    (const char *const[])                                                                                            \
    {                                                                                                                \
        __VA_ARGS__, NULL                                                                                            \
    }

/* In the order in which gc looks at them. */
static const pp_own_row rows[PP_OWN_COUNT] = {
    [PP_OWN_LOCK] = {NAMES("lock"), "a lock", PP_OWN_GC_NEVER, PP_OWN_END_LAST, NULL},
    [PP_OWN_OWNER_RECORD] = {NAMES("lock.long", "lock.short", "lock.long.#", "lock.short.#", "lock.delegates.#",
                                   "lock.publishing.#", "lock.new.#"),
                             "a lock", PP_OWN_GC_NEVER, PP_OWN_END_LAST, NULL},
    [PP_OWN_TEMPORARIES] = {NAMES("tmp/*"), "whoever writes", PP_OWN_GC_ALL, PP_OWN_END_ANY,
                            "a temporary object that was never published"},
    [PP_OWN_OPEN_STEPS] = {NAMES("open/%"), "a series", PP_OWN_GC_ALL, PP_OWN_END_ANY,
                           "open steps of a series that were not flushed"},
    [PP_OWN_COPY] = {NAMES("copy"), "a copy", PP_OWN_GC_UNLESS_RESUMABLE, PP_OWN_END_ANY,
                     "what is left of a copy that cannot be resumed"},
    [PP_OWN_COPY_JOB] = {NAMES("copy/job"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_FIRST, NULL},
    [PP_OWN_COPY_MAKES] = {NAMES("copy/makes"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_REPLACES] = {NAMES("copy/replaces"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_COMPLETE] = {NAMES("copy/complete"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_NEW] = {NAMES("copy/new/*"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_PROBE] = {NAMES("copy/probe/*"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_PASS] = {NAMES("copy/pass-%/done-%", "copy/pass-%/lot-%", "copy/pass-%/shard-%"), "a copy",
                          PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_PASS_FINISHED] = {NAMES("copy/finished-%"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_BETWEEN] = {NAMES("copy/between-%/*"), "a copy", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COPY_TREE_LOG] = {NAMES("copy/finished"), "a copy of a group", PP_OWN_GC_NEVER, PP_OWN_END_FIRST, NULL},
    [PP_OWN_CHANGE] = {NAMES("change"), "an append", PP_OWN_GC_RECOVER, PP_OWN_END_WITH_NODE,
                       "an append was interrupted"},
    [PP_OWN_CONSOLIDATE] = {NAMES("consolidate"), "a copy or a removal", PP_OWN_GC_RECOVER, PP_OWN_END_ANY,
                            "an interrupted change took consolidated metadata away; it is made again"},
    [PP_OWN_SEAL] = {NAMES("seal"), "a seal", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_PAGES] = {NAMES("manifest/%"), "a seal", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_OLD_DOCUMENT] = {NAMES("old.json"), "an overwriting or a removal", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_CHANGES] = {NAMES("changes"), "a series", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_CLAIM] = {NAMES("claim"), "a checkpoint", PP_OWN_GC_NEVER, PP_OWN_END_ANY, NULL},
    [PP_OWN_COMMITS] = {NAMES("commits/%"), "a checkpoint", PP_OWN_GC_NEVER, PP_OWN_END_FIRST, NULL},
};

const pp_own_row *pp_own_row_of(pp_own own)
{
    return &rows[own];
}

/* ---- Which name it is ---- */

/* How much of a name the character of a pattern takes; 0: it does not fit. */
static size_t taken_by(char pattern, const char *name)
{
    switch (pattern) {
    case '%':
        return strspn(name, DIGITS);
    case '#':
        return strspn(name, HEX) >= ID_DIGITS ? ID_DIGITS : 0;
    case '*':
        return strlen(name);
    default:
        return name[0] == pattern;
    }
}

/* Whether the name fits, or ends where a folder of the pattern does. */
static bool fits(const char *pattern, const char *name)
{
    while (pattern[0] != '\0' && name[0] != '\0') {
        size_t taken = taken_by(pattern[0], name);
        if (taken == 0)
            return false;
        name += taken;
        pattern++;
    }
    return name[0] == '\0' && (pattern[0] == '\0' || pattern[0] == '/');
}

pp_own pp_own_find(const char *name)
{
    int own;
    for (own = 0; own < PP_OWN_COUNT; own++) {
        const char *const *pattern;
        for (pattern = rows[own].patterns; *pattern != NULL; pattern++)
            if (fits(*pattern, name))
                return (pp_own)own;
    }
    return PP_OWN_COUNT;
}

/* What a pattern says of names in a folder; NULL: nothing. */
static const char *pattern_in(const char *pattern, const char *folder)
{
    size_t bytes = strlen(folder);
    return strncmp(pattern, folder, bytes) == 0 && pattern[bytes] == '/' ? pattern + bytes + 1 : NULL;
}

pp_own pp_own_find_in(pp_own folder, const char *name)
{
    int own;
    for (own = 0; own < PP_OWN_COUNT; own++) {
        const char *const *pattern;
        for (pattern = rows[own].patterns; *pattern != NULL; pattern++) {
            const char *rest = pattern_in(*pattern, rows[folder].patterns[0]);
            if (rest != NULL && fits(rest, name))
                return (pp_own)own;
        }
    }
    return PP_OWN_COUNT;
}

/* ---- Keys ---- */

bool pp_own_is_folder(const char *name)
{
    return strcmp(name, PP_OWN_FOLDER) == 0;
}

static void add_folder(pp_text *text, const char *node)
{
    pp_text_add(text, "%s%s" PP_OWN_FOLDER, node, node[0] != '\0' ? "/" : "");
}

/* Up to what differs from object to object. */
static void add_name(pp_text *text, pp_own own)
{
    const char *pattern = rows[own].patterns[0];
    size_t bytes = strcspn(pattern, "%#*");
    if (bytes > 0 && pattern[bytes - 1] == '/')
        bytes--;
    pp_text_add(text, "/");
    pp_text_add_bytes(text, pattern, bytes);
}

parapet_status pp_own_folder(const char *node, char **key)
{
    pp_text text = {0};
    add_folder(&text, node);
    return pp_text_finish(&text, key);
}

parapet_status pp_own_key(const char *node, pp_own own, char **key)
{
    pp_text text = {0};
    add_folder(&text, node);
    add_name(&text, own);
    return pp_text_finish(&text, key);
}

parapet_status pp_own_key_numbered(const char *node, pp_own own, int64_t number, char **key)
{
    const char *pattern = rows[own].patterns[0];
    pp_text text = {0};
    add_folder(&text, node);
    pp_text_add(&text, "/%.*s%lld", (int)strcspn(pattern, "%"), pattern, (long long)number);
    return pp_text_finish(&text, key);
}

parapet_status pp_own_key_named(const char *node, pp_own own, const char *name, char **key)
{
    pp_text text = {0};
    add_folder(&text, node);
    add_name(&text, own);
    pp_text_add(&text, "/%s", name);
    return pp_text_finish(&text, key);
}
