/* commits.c - commit records, and the directories of generations: which exist, and how one comes to exist and
 * goes.
 *
 *     reserved --write_group: zarr.json--> complete --pp_commit_publish: the record--> committed
 *     committed --pp_generation_drop: the record goes--> complete --erase--> none
 *     reserved, complete --pp_generation_erase--> none
 *
 * Invariants:
 *
 *  1. A generation exists if and only if its record does. The record is published exclusively, after all that
 *     it names is durable, and is removed, durably, before any of that.
 *  2. Should locks not have kept two jobs with neighbouring numbers apart, each publishes its own record before
 *     it looks for that of the other. So at least one sees the other: the lower number takes its record back
 *     (check_not_overtaken), or the higher one finds that record and leaves the directory alone
 *     (visit_if_stray).
 *  3. A record counts as our own if it names the directory that only this job has reserved (is_ours_already):
 *     over a network the answer to a request may be lost, and the repeated request then meets what the first
 *     one did.
 *  4. What is not certain is not removed: a record that cannot be read may name the directory (is_named), and
 *     one whose publication could not be taken back may exist (*is_certain).
 *  5. A directory without a record is removed only if it has a reservation, or nothing but empty directories of
 *     ours (is_ours). The reservation goes last: from then on the name may be another job's.
 *
 * Checkpoints of a group of arrays are Panda's (docs/design/papers.md, 3).
 * docs/guide/series-and-checkpoints.md; docs/design/durability.md, "The protocol" and "When things go wrong". */
#include "checkpoint/commits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/ancestors.h"
#include "array/children.h"
#include "array/node.h"
#include "array/node_lock.h"
#include "array/node_path.h"
#include "array/remove_node.h"
#include "array/store_queries.h"
#include "array/walk.h"
#include "base/status.h"
#include "change/registry.h"

static parapet_status commits_key(const char *path, const char *name, char **key)
{
    return pp_own_key_named(path, PP_OWN_COMMITS, name, key);
}

static parapet_status commit_key(const char *path, int64_t number, char **key)
{
    pp_text text = {0};
    char *name = NULL;
    parapet_status status;
    pp_text_add(&text, "%08lld", (long long)number);
    if ((status = pp_text_finish(&text, &name)) == PARAPET_OK)
        status = commits_key(path, name, key);
    pp_free(name);
    return status;
}

/* ---- Numbers ---- */

typedef struct numbers {
    int64_t *numbers;
    size_t count, capacity;
} numbers;

/* Decimal digits, at least eight; false for anything else. Moves text behind them. */
static bool parse_number(const char **text, int64_t *number)
{
    size_t digits = strspn(*text, "0123456789"), i;
    *number = 0;
    if (digits < 8 || digits > 18)
        return false;
    for (i = 0; i < digits; i++)
        *number = *number * 10 + ((*text)[i] - '0');
    *text += digits;
    return *number > 0;
}

static parapet_status add_number(void *context, const pp_listed *listed)
{
    numbers *list = context;
    const char *name = listed->name;
    int64_t number;
    parapet_status status;
    if (listed->is_prefix || !parse_number(&name, &number) || *name != '\0')
        return PARAPET_OK;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        if ((status = pp_reallocate(&list->numbers, capacity * sizeof list->numbers[0])) != PARAPET_OK)
            return status;
        list->capacity = capacity;
    }
    list->numbers[list->count++] = number;
    return PARAPET_OK;
}

static int compare_newest_first(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first < second) - (first > second);
}

parapet_status pp_commits_list(parapet_store *store, const char *path, int64_t **list, size_t *count)
{
    numbers found = {0};
    char *prefix = NULL;
    parapet_status status = pp_own_key(path, PP_OWN_COMMITS, &prefix);
    *list = NULL;
    *count = 0;
    if (status == PARAPET_OK)
        status = pp_store_list(pp_store_backend(store), prefix, add_number, &found);
    pp_free(prefix);
    if (status == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    if (status != PARAPET_OK) {
        pp_free(found.numbers);
        return status;
    }
    if (found.count > 0)
        qsort(found.numbers, found.count, sizeof found.numbers[0], compare_newest_first);
    *list = found.numbers;
    *count = found.count;
    return PARAPET_OK;
}

/* ---- Records ---- */

/* A record leads to no directory but those of its own generation: what it names may be removed. */
static parapet_status check_is_of(const pp_commit *commit, int64_t number)
{
    int64_t named;
    if (commit->generation != number)
        return pp_fail(PARAPET_ERR_CORRUPT, "it belongs to generation %lld", (long long)commit->generation);
    if (!pp_generation_parse(commit->group, &named) || named != number)
        return pp_fail(PARAPET_ERR_CORRUPT, "it names the group \"%s\"", commit->group);
    return PARAPET_OK;
}

parapet_status pp_commit_load(parapet_store *store, const char *path, int64_t number, pp_commit *commit)
{
    char *key = NULL, *data = NULL;
    size_t bytes;
    parapet_status status = commit_key(path, number, &key);
    *commit = (pp_commit){0};
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_store_read_all(pp_store_backend(store), key, PP_COMMIT_MOST_BYTES, &data, &bytes)) ==
            PARAPET_OK &&
        (status = pp_commit_parse(commit, data, bytes)) == PARAPET_OK)
        status = check_is_of(commit, number);
    if (status != PARAPET_OK)
        status = pp_fail_within(status, "%s", key);
    pp_free(data);
    pp_free(key);
    return status;
}

parapet_status pp_commits_check_newest(parapet_store *store, const char *path, int64_t number)
{
    int64_t *list = NULL;
    size_t count;
    parapet_status status = pp_commits_list(store, path, &list, &count);
    if (status == PARAPET_OK && count > 0 && list[0] >= number)
        status =
            pp_fail(PARAPET_ERR_EXISTS, "\"%s\" has generation %lld by now, so generation %lld cannot be committed",
                    path, (long long)list[0], (long long)number);
    pp_free(list);
    return status;
}

static parapet_status write_record(parapet_store *store, const char *path, const char *key, const pp_text *text)
{
    char *staging = NULL;
    parapet_status status = pp_own_key(path, PP_OWN_TEMPORARIES, &staging);
    if (status == PARAPET_OK)
        status = pp_store_write_all(
            pp_store_backend(store),
            &(pp_write_request){.key = key, .staging = staging, .budget = pp_store_budget(store), .is_small = true},
            text->data, text->bytes, PP_PUBLISH_EXCLUSIVE);
    pp_free(staging);
    return status;
}

/* A record whose publication failed may be there all the same: takes it away, if it is ours. */
static bool take_back(parapet_store *store, const char *path, const char *key, const pp_commit *commit)
{
    pp_commit found = {0};
    bool is_certain = false;
    parapet_status status = pp_commit_load(store, path, commit->generation, &found);
    if (status == PARAPET_ERR_NOT_FOUND)
        is_certain = pp_store_sync_dirs(pp_store_backend(store)) == PARAPET_OK;
    else if (status == PARAPET_OK && strcmp(found.group, commit->group) != 0)
        is_certain = true;
    else if (status == PARAPET_OK)
        is_certain = pp_store_remove(pp_store_backend(store), key) == PARAPET_OK &&
                     pp_store_sync_dirs(pp_store_backend(store)) == PARAPET_OK;
    pp_commit_clear(&found);
    return is_certain;
}

/* Over a network, an answer may be lost and the request sent again, which then meets what it has done itself. */
static bool is_ours_already(parapet_store *store, const char *path, const pp_commit *commit)
{
    pp_commit found = {0};
    bool is_ours = pp_commit_load(store, path, commit->generation, &found) == PARAPET_OK &&
                   strcmp(found.group, commit->group) == 0;
    pp_commit_clear(&found);
    return is_ours;
}

/* A job with a later number that has found no record of ours removes our directory. Then its own record was
 * there before it looked, so it is seen now (2). */
static parapet_status check_not_overtaken(parapet_store *store, const char *path, int64_t number)
{
    return pp_commits_check_newest(store, path, number + 1);
}

parapet_status pp_commit_publish(parapet_store *store, const char *path, pp_commit *commit, bool *is_certain)
{
    pp_text text = {0};
    char *key = NULL;
    pp_failure failure = {0};
    parapet_status status;
    *is_certain = true;
    pp_commit_print(commit, &text);
    if ((status = text.status) != PARAPET_OK || (status = commit_key(path, commit->generation, &key)) != PARAPET_OK ||
        (status = pp_commits_check_newest(store, path, commit->generation)) != PARAPET_OK)
        goto done;
    status = write_record(store, path, key, &text);
    if (status == PARAPET_ERR_EXISTS && is_ours_already(store, path, commit)) {
        status = PARAPET_OK;
    } else if (status == PARAPET_ERR_EXISTS) {
        status = pp_fail(PARAPET_ERR_EXISTS, "another job has committed generation %lld of \"%s\"",
                         (long long)commit->generation, path);
        goto done;
    }
    /* After our record is published, and not before: else two jobs could both look too early (2). */
    if (status == PARAPET_OK && (status = pp_store_sync_dirs(pp_store_backend(store))) == PARAPET_OK)
        status = check_not_overtaken(store, path, commit->generation);
    if (status != PARAPET_OK) {
        pp_failure_take(&failure, status);
        *is_certain = take_back(store, path, key, commit);
        status = pp_failure_put(&failure);
    }
done:
    pp_text_free(&text);
    pp_free(key);
    return status;
}

/* ---- Directories ---- */

bool pp_generation_parse(const char *group, int64_t *number)
{
    if (*group++ != 'g' || !parse_number(&group, number))
        return false;
    if (*group == '-' && strspn(group + 1, "123456789") > 0)
        group += 1 + strspn(group + 1, "0123456789");
    return *group == '\0';
}

void pp_generation_print(int64_t number, int attempt, char group[PP_GENERATION_NAME_BYTES])
{
    int bytes = snprintf(group, PP_GENERATION_NAME_BYTES, "g%08lld", (long long)number);
    if (attempt > 0)
        (void)snprintf(group + bytes, PP_GENERATION_NAME_BYTES - (size_t)bytes, "-%d", attempt);
}

/* A job may have died before an array of its generation had a document. What has one that cannot be read is not ours
 * to judge. */
static parapet_status remove_begun_array(parapet_store *store, const char *path)
{
    pp_node node = {0};
    parapet_status status = pp_node_load(store, path, &node);
    pp_node_clear(&node);
    if (status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_CORRUPT)
        return PARAPET_OK;
    return status == PARAPET_ERR_NOT_FOUND ? pp_node_remove_own(store, path) : status;
}

static parapet_status remove_array(parapet_store *store, const char *group_path, const char *name, bool is_recorded)
{
    char *path = NULL;
    parapet_status status = pp_path_join(group_path, name, &path);
    if (status == PARAPET_OK)
        status = is_recorded ? pp_remove_array(store, path) : pp_remove_array_of_checkpoint(store, path);
    if (status == PARAPET_OK)
        status = remove_begun_array(store, path);
    pp_free(path);
    return status;
}

/* Of one that is committed, the arrays that it was committed with; else those that are there and that it can have
 * made. */
static parapet_status remove_arrays(parapet_store *store, const char *group_path, const pp_commit *commit)
{
    pp_children list = {0};
    parapet_status status = PARAPET_OK;
    size_t i;
    if (commit == NULL && (status = pp_children_list(&list, store, group_path)) == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    for (i = 0; commit != NULL && i < commit->array_count && status == PARAPET_OK; i++)
        status = remove_array(store, group_path, commit->arrays[i].name, true);
    for (i = 0; i < list.count && status == PARAPET_OK; i++)
        status = remove_array(store, group_path, list.names[i], false);
    pp_children_clear(&list);
    return status;
}

/* Without its document the directory is no group any more. Consolidated metadata above it, which another job
 * may have made meanwhile, goes first, since it may show it. */
static parapet_status remove_document(parapet_store *store, const char *path, const char *group_path)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, store, path);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_ancestors_drop_consolidated_with(store, path)) == PARAPET_OK)
        status = pp_walk_remove(store, group_path, "zarr.json");
    pp_edit_end(&edit);
    return status;
}

/* A group with its path, of which something is listed. */
typedef struct listed_group {
    parapet_store *store;
    const char *path;
} listed_group;

static parapet_status remove_if_temporary(void *context, const pp_listed *listed)
{
    const listed_group *group = context;
    return !listed->is_prefix && pp_store_is_temporary_name(listed->name)
               ? pp_walk_remove(group->store, group->path, listed->name)
               : PARAPET_OK;
}

/* Of the group's document. */
static parapet_status remove_temporaries(parapet_store *store, const char *group_path)
{
    listed_group group = {store, group_path};
    parapet_status status = pp_store_list(pp_store_backend(store), group_path, remove_if_temporary, &group);
    return pp_accept_absence(status);
}

/* The reservation goes last: once it is gone, another job may take the name, and nothing may be left to remove then.
 */
static parapet_status remove_generation(parapet_store *store, const char *group_path, const pp_commit *commit)
{
    pp_store *backend = pp_store_backend(store);
    parapet_status status;
    if ((status = pp_store_sync_dirs(backend)) != PARAPET_OK ||
        (status = remove_arrays(store, group_path, commit)) != PARAPET_OK ||
        (status = remove_temporaries(store, group_path)) != PARAPET_OK ||
        (status = pp_store_sync_dirs(backend)) != PARAPET_OK ||
        (status = pp_node_remove_own(store, group_path)) != PARAPET_OK ||
        (status = pp_store_remove_empty(backend, group_path)) != PARAPET_OK)
        return status;
    return pp_store_sync_dirs(backend);
}

static parapet_status erase(parapet_store *store, const char *path, const char *group, const pp_commit *commit)
{
    char *group_path = NULL;
    parapet_status status = pp_path_join(path, group, &group_path);
    if (status == PARAPET_OK && (status = remove_document(store, path, group_path)) == PARAPET_OK)
        status = remove_generation(store, group_path, commit);
    pp_free(group_path);
    return status;
}

parapet_status pp_generation_erase(parapet_store *store, const char *path, const char *group)
{
    return erase(store, path, group, NULL);
}

parapet_status pp_generation_drop(parapet_store *store, const char *path, int64_t number)
{
    pp_commit commit = {0};
    char *key = NULL;
    parapet_status loaded = pp_commit_load(store, path, number, &commit), status = commit_key(path, number, &key);
    if (status == PARAPET_OK && (status = pp_store_remove(pp_store_backend(store), key)) == PARAPET_ERR_NOT_FOUND)
        status = PARAPET_OK;
    if (status == PARAPET_OK && (status = pp_store_sync_dirs(pp_store_backend(store))) == PARAPET_OK &&
        loaded == PARAPET_OK)
        status = erase(store, path, commit.group, &commit);
    pp_commit_clear(&commit);
    pp_free(key);
    return status;
}

/* Whether a record names the directory. What is not certain counts as yes (4). */
static parapet_status is_named(parapet_store *store, const char *path, const char *group, int64_t number, bool *named)
{
    pp_commit commit = {0};
    parapet_status status = pp_commit_load(store, path, number, &commit);
    *named = status != PARAPET_ERR_NOT_FOUND && (status != PARAPET_OK || strcmp(commit.group, group) == 0);
    pp_commit_clear(&commit);
    return status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_CORRUPT ? PARAPET_OK : status;
}

typedef struct contents {
    bool has_own, has_temporaries, has_others;
} contents;

static parapet_status note_content(void *context, const pp_listed *listed)
{
    contents *found = context;
    bool is_own = pp_own_is_folder(listed->name);
    bool is_temporary = !listed->is_prefix && pp_store_is_temporary_name(listed->name);
    found->has_own = found->has_own || is_own;
    found->has_temporaries = found->has_temporaries || is_temporary;
    found->has_others = found->has_others || (!is_own && !is_temporary);
    return PARAPET_OK;
}

static parapet_status look_into(parapet_store *store, const char *group_path, contents *found)
{
    parapet_status status;
    *found = (contents){0};
    status = pp_store_list(pp_store_backend(store), group_path, note_content, found);
    return pp_accept_absence(status);
}

parapet_status pp_generation_check_free(parapet_store *store, const char *group_path)
{
    contents found;
    parapet_status status = look_into(store, group_path, &found);
    return status == PARAPET_OK && (found.has_temporaries || found.has_others)
               ? pp_fail(PARAPET_ERR_EXISTS, "there is already something at \"%s\"", group_path)
               : status;
}

static parapet_status note_object(void *context, const char *key, uint64_t bytes)
{
    (void)key;
    (void)bytes;
    *(bool *)context = true;
    return PARAPET_OK;
}

/* Whether there are only empty directories that the library makes, and what was to become the group's document. */
static parapet_status is_bare(parapet_store *store, const char *group_path, bool *bare)
{
    contents found;
    char *own = NULL;
    bool has_objects = false;
    parapet_status status = look_into(store, group_path, &found);
    if (status == PARAPET_OK && found.has_own && !found.has_others &&
        (status = pp_own_folder(group_path, &own)) == PARAPET_OK)
        status = pp_walk_objects(store, own, note_object, &has_objects);
    pp_free(own);
    *bare = status == PARAPET_OK && found.has_own && !found.has_others && !has_objects;
    return pp_accept_absence(status);
}

/* A reservation, or nothing at all but directories of ours: a job may have died before its reservation had a name.
 * Everything else was made by others, and is only named like a generation: a date is. */
static parapet_status is_ours(parapet_store *store, const char *path, const char *group, bool *ours)
{
    char *group_path = NULL, *key = NULL;
    pp_reader *reader = NULL;
    parapet_status status;
    if ((status = pp_path_join(path, group, &group_path)) == PARAPET_OK &&
        (status = pp_own_key(group_path, PP_OWN_CLAIM, &key)) == PARAPET_OK)
        status = pp_store_open_object(pp_store_backend(store), key, &reader);
    *ours = status == PARAPET_OK;
    if (status == PARAPET_ERR_NOT_FOUND)
        status = is_bare(store, group_path, ours);
    pp_reader_free(reader);
    pp_free(group_path);
    pp_free(key);
    return status;
}

static parapet_status visit_if_stray(parapet_store *store, const char *path, const char *group,
                                     pp_stray_visitor visit, void *context)
{
    int64_t number;
    bool named, ours;
    parapet_status status;
    if (!pp_generation_parse(group, &number))
        return PARAPET_OK;
    if ((status = is_named(store, path, group, number, &named)) != PARAPET_OK || named ||
        (status = is_ours(store, path, group, &ours)) != PARAPET_OK || !ours)
        return status;
    return visit(context, group, number);
}

parapet_status pp_generations_stray(parapet_store *store, const char *path, pp_stray_visitor visit, void *context)
{
    pp_children list = {0};
    parapet_status status = pp_children_list(&list, store, path);
    size_t i;
    for (i = 0; i < list.count && status == PARAPET_OK; i++)
        status = visit_if_stray(store, path, list.names[i], visit, context);
    pp_children_clear(&list);
    return status;
}
