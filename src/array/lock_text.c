/* lock_text.c - the text of a lock: see lock_text.h. */
#include "array/lock_text.h"

#include <stdio.h>
#include <string.h>

#include "array/store_handle.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/random.h"
#include "change/registry.h"

#define INCARNATION_WORD "\nincarnation "
#define HOLDER_WORD "\nheld by "

parapet_status pp_lock_text_view(parapet_store *store, const char *path, pp_lock_view *view)
{
    char *key = NULL;
    parapet_status status = pp_own_key(path, PP_OWN_LOCK, &key);
    *view = (pp_lock_view){0};
    if (status == PARAPET_OK)
        status = pp_store_view_lock(store->backend, key, view);
    pp_free(key);
    return status;
}

void pp_lock_text_incarnation(const char *text, char incarnation[PP_INCARNATION_BYTES])
{
    const char *found = strstr(text, INCARNATION_WORD);
    incarnation[0] = '\0';
    if (found == NULL)
        return;
    found += strlen(INCARNATION_WORD);
    if (strspn(found, "0123456789abcdef") == PP_INCARNATION_BYTES - 1)
        (void)snprintf(incarnation, PP_INCARNATION_BYTES, "%.16s", found);
}

parapet_status pp_incarnation_read(parapet_store *store, const char *path, char incarnation[PP_INCARNATION_BYTES])
{
    pp_lock_view view;
    parapet_status status = pp_lock_text_view(store, path, &view);
    pp_lock_text_incarnation(view.text, incarnation);
    return status;
}

void pp_lock_text_print(const char *purpose, char line[PP_LOCK_LINE_BYTES])
{
    char name[PP_PROCESS_BYTES], when[PP_CLOCK_TEXT_BYTES];
    pp_process_name(name);
    pp_clock_print(pp_clock_wall_ns() / PP_SECOND_NS, when);
    (void)snprintf(line, PP_LOCK_LINE_BYTES, "%s since %s for %s", name, when, purpose);
}

static parapet_status write_text(pp_node_lock *hold, const char *incarnation, const char *holder)
{
    char text[PP_LOCK_TEXT_BYTES];
    (void)snprintf(text, sizeof text, "parapet lock 1%s%s%s%s\n", incarnation[0] != '\0' ? INCARNATION_WORD : "",
                   incarnation, HOLDER_WORD, holder);
    hold->is_named = true;
    hold->is_kept = incarnation[0] != '\0';
    return pp_lock_write(hold->lock, text);
}

parapet_status pp_lock_text_write(pp_node_lock *hold, parapet_store *store, const char *path, const char *holder)
{
    char incarnation[PP_INCARNATION_BYTES], text[PP_LOCK_TEXT_BYTES + 1];
    parapet_status status;
    if (!pp_lock_is_readable(hold->lock))
        status = pp_incarnation_read(store, path, incarnation);
    else if ((status = pp_lock_read(hold->lock, text)) == PARAPET_OK)
        pp_lock_text_incarnation(text, incarnation);
    return status == PARAPET_OK ? write_text(hold, incarnation, holder) : status;
}

void pp_incarnation_print(uint64_t number, char incarnation[PP_INCARNATION_BYTES])
{
    (void)snprintf(incarnation, PP_INCARNATION_BYTES, "%016llx", (unsigned long long)number);
}

parapet_status pp_node_lock_write_incarnation(pp_node_lock *hold, const char *incarnation)
{
    char holder[PP_LOCK_LINE_BYTES];
    pp_lock_text_print("creating", holder);
    return write_text(hold, incarnation, holder);
}

parapet_status pp_node_lock_renew_incarnation(pp_node_lock *hold, char incarnation[PP_INCARNATION_BYTES])
{
    uint64_t number;
    parapet_status status = pp_random_number(&number);
    if (status != PARAPET_OK)
        return status;
    pp_incarnation_print(number, incarnation);
    return pp_node_lock_write_incarnation(hold, incarnation);
}

/* "process 4711 on node12 since ... for copying", or "". */
static void take_holder(const char *text, char *line, size_t bytes)
{
    const char *found = strstr(text, HOLDER_WORD);
    line[0] = '\0';
    if (found == NULL)
        return;
    found += strlen(HOLDER_WORD);
    (void)snprintf(line, bytes, "%.*s", (int)pp_min_size(strcspn(found, "\n"), bytes - 1), found);
}

static bool is_this_process(const char *line)
{
    char name[PP_PROCESS_BYTES];
    pp_process_name(name);
    return strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ' ';
}

/* "process 4711 on node12" and the rest of a line begin alike. */
static bool names_same_process(const char *line, const char *other)
{
    const char *end = strstr(other, " since ");
    return end != NULL && strncmp(line, other, (size_t)(end - other)) == 0;
}

/* The text of a lock also says what for; but where there is an owner record, that says who. */
static void name_holder(const pp_lock_view *view, char *line, size_t bytes)
{
    take_holder(view->text, line, bytes);
    if (view->holder[0] != '\0' && !names_same_process(line, view->holder))
        (void)snprintf(line, bytes, "%s", view->holder);
}

bool pp_lock_text_is_own(const pp_lock_view *view)
{
    char line[PP_LOCK_LINE_BYTES];
    name_holder(view, line, sizeof line);
    return is_this_process(line);
}

parapet_status pp_lock_text_fail_seen(const char *path, const pp_lock_view *view)
{
    char line[PP_LOCK_LINE_BYTES];
    const char *advice = view->advice[0] != '\0' ? view->advice : "try again later, or set wait_seconds";
    name_holder(view, line, sizeof line);
    if (line[0] == '\0')
        return pp_fail(PARAPET_ERR_BUSY, "\"%s\" is being changed by another job; %s", path, advice);
    return pp_fail(PARAPET_ERR_BUSY, "\"%s\" is being changed by %s%s; %s", path,
                   is_this_process(line) ? "this process, through another handle: " : "", line, advice);
}

parapet_status pp_lock_text_fail_busy(parapet_store *store, const char *path)
{
    pp_lock_view view;
    (void)pp_lock_text_view(store, path, &view); /* what cannot be seen is not told */
    return pp_lock_text_fail_seen(path, &view);
}
