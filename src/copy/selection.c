/* selection.c - which arrays and groups below the source a copy takes. */
#include "copy/selection.h"

#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* ---- Lists of names ---- */

static size_t count_names(const char *list)
{
    size_t count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

static parapet_status add_name(pp_names *names, const char *what, const char *name, size_t bytes)
{
    char *pattern = NULL;
    parapet_status status;
    if (bytes == 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s: a name is empty; names are separated by single commas", what);
    if (memchr(name, '\n', bytes) != NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s: a name has a line break in it", what);
    if ((status = pp_allocate(&pattern, bytes + 1)) != PARAPET_OK)
        return status;
    memcpy(pattern, name, bytes);
    pattern[bytes] = '\0';
    names->patterns[names->count++] = pattern;
    return PARAPET_OK;
}

static parapet_status parse_names(pp_names *names, const char *what, const char *list)
{
    size_t count;
    parapet_status status;
    if (list == NULL || list[0] == '\0')
        return PARAPET_OK;
    count = count_names(list);
    if ((status = pp_allocate_array(&names->patterns, count, sizeof names->patterns[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&names->is_found, count, sizeof names->is_found[0])) != PARAPET_OK)
        return status;
    for (; status == PARAPET_OK && count > 0; count--) {
        size_t bytes = strcspn(list, ",");
        status = add_name(names, what, list, bytes);
        list += bytes + 1;
    }
    return status;
}

static void clear_names(pp_names *names)
{
    size_t i;
    for (i = 0; i < names->count; i++)
        pp_free(names->patterns[i]);
    pp_free(names->patterns);
    pp_free(names->is_found);
}

/* ---- Matching ---- */

/* Whether a pattern names the node at a path itself. */
static bool names_node(const char *pattern, const char *path)
{
    const char *name = strrchr(path, '/');
    if (strchr(pattern, '/') == NULL)
        return fnmatch(pattern, name != NULL ? name + 1 : path, 0) == 0;
    return fnmatch(pattern + (pattern[0] == '/'), path, FNM_PATHNAME) == 0;
}

/* Notes every pattern that names the node, so that none is taken for misspelt because another came first. */
static bool match(pp_names *names, const char *path)
{
    bool is_matched = false;
    size_t i;
    for (i = 0; i < names->count; i++)
        if (names_node(names->patterns[i], path)) {
            names->is_found[i] = true;
            is_matched = true;
        }
    return is_matched;
}

parapet_status pp_selection_init(pp_selection *selection, const char *include, const char *exclude)
{
    parapet_status status;
    *selection = (pp_selection){0};
    status = parse_names(&selection->included, "include", include);
    return status == PARAPET_OK ? parse_names(&selection->excluded, "exclude", exclude) : status;
}

void pp_selection_clear(pp_selection *selection)
{
    clear_names(&selection->included);
    clear_names(&selection->excluded);
    *selection = (pp_selection){0};
}

pp_taken pp_selection_take(pp_selection *selection, const char *path)
{
    bool is_included = match(&selection->included, path), is_excluded = match(&selection->excluded, path);
    if (is_excluded)
        return PP_TAKEN_NOT;
    return is_included ? PP_TAKEN_WHOLE : PP_TAKEN_SOME;
}

static parapet_status refuse_unfound(const pp_names *names, const char *what)
{
    size_t i;
    for (i = 0; i < names->count; i++)
        if (!names->is_found[i])
            return pp_fail(PARAPET_ERR_ARGUMENT,
                           "%s: there is nothing named \"%s\" among what is copied; names are those of arrays and "
                           "groups, such as \"*_bnds\", or paths from the source, such as \"ocean/salt\"",
                           what, names->patterns[i]);
    return PARAPET_OK;
}

parapet_status pp_selection_check_found(const pp_selection *selection)
{
    parapet_status status = refuse_unfound(&selection->included, "include");
    return status == PARAPET_OK ? refuse_unfound(&selection->excluded, "exclude") : status;
}
