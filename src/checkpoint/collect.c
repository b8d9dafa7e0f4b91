/* collect.c - what crashes have left below a path: rank 0 finds and removes it, all ranks are told.
 *
 *     <checkpoint>/g00000008/         a generation that no commit record names
 *     <node>/__parapet/tmp/           temporary objects: of shards, manifests, commit records, documents of arrays,
 *                                     what a copy notes
 *     <group>/.parapet-<random>.tmp   the same of documents of groups
 *     <series>/__parapet/open/        steps of a row that was open
 *     <node>/__parapet/copy/          of a copy; stays as long as something in it says how to resume it
 *     <array>/c/...                   shards beyond the shape that a resize has set, while its mark says so
 *     __parapet-probe-<time>/         at the root: what a copy that was only planned has measured with
 *     <group>/__parapet/append        of an append that was interrupted: all ranks complete or undo it at the end
 *     <group>/__parapet/consolidate   of a copy or a removal that was interrupted: all ranks consolidate the group
 *
 * Only names that nobody but the library gives count, so that a wrong path is harmless. What cannot be removed does
 * not keep the rest from being removed: the first failure is told at the end. */
#include <string.h>

#include "array/around.h"
#include "array/children.h"
#include "array/hold.h"
#include "array/mark.h"
#include "array/node.h"
#include "array/path.h"
#include "array/rank0.h"
#include "array/store.h"
#include "array/trim.h"
#include "array/walk.h"
#include "base/choice.h"
#include "base/word_list.h"
#include "checkpoint/checkpoint.h"
#include "copy/append.h"

typedef enum reason {
    REASON_GENERATION,
    REASON_TEMPORARY,
    REASON_OPEN_STEPS,
    REASON_COPY,
    REASON_PROBE,
    REASON_CUT_OFF,
    REASON_APPEND,
    REASON_APPEND_COMPLETED,
    REASON_APPEND_UNDONE,
    REASON_METADATA,
    REASON_STAYS, /* it could not be put right */
    REASON_COUNT
} reason;

static const char *const reason_words[REASON_COUNT] = {"a generation that was never committed",
                                                       "a temporary object that was never published",
                                                       "open steps of a series that were not flushed",
                                                       "what is left of a copy that cannot be resumed",
                                                       "what is left of measuring the storage",
                                                       "cut off by a resize that did not finish",
                                                       "an append was interrupted",
                                                       "an append was interrupted, and is complete now",
                                                       "an append was interrupted, and is undone now",
                                                       "an interrupted change took consolidated metadata away; it is "
                                                       "made again",
                                                       NULL};

typedef struct collecting {
    parapet_store *store;
    char *path;
    bool is_dry;
    pp_word_list found; /* keys, each with its reason */
    pp_failure failure; /* on rank 0: the first */
} collecting;

static void note(collecting *self, parapet_status status)
{
    pp_failure_take(&self->failure, status);
}

/* ---- One thing that is to go ---- */

static parapet_status remove_thing(const collecting *self, const char *path, const char *name, const char *key,
                                   reason why)
{
    parapet_status status;
    switch (why) {
    case REASON_GENERATION:
        return pp_generation_erase(self->store, path, name);
    case REASON_COPY:
    case REASON_PROBE:
        return pp_store_remove_prefix(pp_store_backend(self->store), key);
    default:
        status = pp_store_remove(pp_store_backend(self->store), key);
        return pp_accept_absence(status);
    }
}

/* The word comes first: nothing is removed that nobody is told of. */
static void discard(collecting *self, const char *path, const char *name, reason why)
{
    char *key = NULL;
    parapet_status status;
    if ((status = pp_path_join(path, name, &key)) == PARAPET_OK &&
        (status = pp_word_list_add(&self->found, key, (int)why)) == PARAPET_OK && !self->is_dry &&
        (status = remove_thing(self, path, name, key, why)) != PARAPET_OK)
        pp_word_list_drop_last(&self->found);
    note(self, status);
    pp_free(key);
}

/* ---- What the library keeps beside a node, in __parapet ---- */

typedef struct place {
    collecting *self;
    const char *prefix;
    reason why;
} place;

static parapet_status discard_object(void *context, const char *key, uint64_t bytes)
{
    const place *where = context;
    (void)bytes;
    discard(where->self, where->prefix, key, where->why);
    return PARAPET_OK;
}

static void collect_objects(collecting *self, const char *own, const char *folder, reason why)
{
    place where = {.self = self, .why = why};
    char *prefix = NULL;
    parapet_status status = pp_path_join(own, folder, &prefix);
    if (status == PARAPET_OK) {
        where.prefix = prefix;
        status = pp_walk_objects(self->store, prefix, discard_object, &where);
    }
    if (status != PARAPET_ERR_NOT_FOUND)
        note(self, status);
    pp_free(prefix);
}

static parapet_status find_job(void *context, const pp_listed *listed)
{
    if (!listed->is_prefix && (strcmp(listed->name, "job") == 0 || strcmp(listed->name, "finished") == 0))
        *(bool *)context = true;
    return PARAPET_OK;
}

static void collect_copy(collecting *self, const char *own)
{
    char *prefix = NULL;
    bool is_resumable = false;
    parapet_status status = pp_path_join(own, "copy", &prefix);
    if (status == PARAPET_OK)
        status = pp_store_list(pp_store_backend(self->store), prefix, find_job, &is_resumable);
    if (status == PARAPET_OK && !is_resumable)
        discard(self, own, "copy", REASON_COPY);
    if (status != PARAPET_ERR_NOT_FOUND)
        note(self, status);
    pp_free(prefix);
}

/* What is to be done about it is done by all ranks, when nothing is held any more. */
static void note_mark(collecting *self, const char *own, const char *name, reason why)
{
    char *key = NULL;
    parapet_status status = pp_path_join(own, name, &key);
    if (status == PARAPET_OK)
        status = pp_word_list_add(&self->found, key, (int)why);
    note(self, status);
    pp_free(key);
}

/* A dry run holds nothing: it has to look whether another job is appending. */
static void note_append(collecting *self, const char *path, const char *own)
{
    parapet_status status = self->is_dry ? pp_mark_refuse_append(self->store, path) : PARAPET_ERR_EXISTS;
    if (status == PARAPET_ERR_EXISTS)
        note_mark(self, own, PP_MARK_APPEND, REASON_APPEND);
    else
        note(self, status);
}

typedef struct own_folders {
    bool has_temporaries, has_open_steps, has_copy;
} own_folders;

static parapet_status find_folder(void *context, const pp_listed *listed)
{
    own_folders *found = context;
    found->has_temporaries = found->has_temporaries || strcmp(listed->name, "tmp") == 0;
    found->has_open_steps = found->has_open_steps || strcmp(listed->name, "open") == 0;
    found->has_copy = found->has_copy || strcmp(listed->name, "copy") == 0;
    return PARAPET_OK;
}

/* A mark that is no plain file keeps others from their work, and is not listed: it is looked for by its name. */
static bool has_mark(collecting *self, const char *path, const char *name)
{
    bool is_there;
    note(self, pp_mark_is_there(&(pp_mark){.store = self->store, .group = path, .name = name}, &is_there));
    return is_there;
}

static void collect_own(collecting *self, const char *path, bool is_array)
{
    own_folders found = {0};
    char *own = NULL;
    parapet_status status = pp_path_join(path, "__parapet", &own);
    if (status == PARAPET_OK)
        status = pp_store_list(pp_store_backend(self->store), own, find_folder, &found);
    if (found.has_temporaries)
        collect_objects(self, own, "tmp", REASON_TEMPORARY);
    if (found.has_open_steps)
        collect_objects(self, own, "open", REASON_OPEN_STEPS);
    if (found.has_copy)
        collect_copy(self, own);
    if (status == PARAPET_OK && !is_array && has_mark(self, path, PP_MARK_APPEND))
        note_append(self, path, own);
    if (status == PARAPET_OK && !is_array && has_mark(self, path, PP_MARK_CONSOLIDATE))
        note_mark(self, own, PP_MARK_CONSOLIDATE, REASON_METADATA);
    if (status != PARAPET_ERR_NOT_FOUND)
        note(self, status);
    pp_free(own);
}

/* ---- Arrays ---- */

/* What is cut off the shards at the edge goes with the next write. */
static void collect_cut_off(collecting *self, const char *path, pp_json *json)
{
    place where = {.self = self, .prefix = path, .why = REASON_CUT_OFF};
    pp_array_document document = {0};
    parapet_status status;
    if (!pp_trim_is_marked(pp_json_member(json, "attributes")))
        return;
    if ((status = pp_array_document_parse(&document, json)) == PARAPET_OK)
        status = pp_trim_visit_beyond(self->store, path, &document, discard_object, &where);
    note(self, status);
    pp_array_document_clear(&document);
}

/* ---- Groups ---- */

/* As the store names what it writes where no name is given. */
static parapet_status discard_if_left(void *context, const pp_listed *listed)
{
    const place *where = context;
    if (!listed->is_prefix && pp_store_is_temporary_name(listed->name))
        discard(where->self, where->prefix, listed->name, REASON_TEMPORARY);
    if (listed->is_prefix && pp_node_is_probe(where->prefix, listed->name))
        discard(where->self, where->prefix, listed->name, REASON_PROBE);
    return PARAPET_OK;
}

static parapet_status discard_generation(void *context, const char *group, int64_t number)
{
    const place *where = context;
    (void)number;
    discard(where->self, where->prefix, group, REASON_GENERATION);
    return PARAPET_OK;
}

static void collect_beside(collecting *self, const char *path)
{
    place where = {.self = self, .prefix = path};
    pp_edit edit = {0};
    parapet_status status = self->is_dry ? PARAPET_OK : pp_edit_begin(&edit, self->store, path);
    if (status != PARAPET_OK) { /* somebody is publishing a document: what lies there is his */
        note(self, status);
        return;
    }
    note(self, pp_store_list(pp_store_backend(self->store), path, discard_if_left, &where));
    pp_edit_end(&edit);
    note(self, pp_generations_stray(self->store, path, discard_generation, &where));
}

/* A generation that a dry run has told of is told of as a whole. */
static bool is_listed(const collecting *self, const char *key)
{
    size_t i;
    for (i = 0; i < pp_word_list_count(&self->found); i++)
        if (strcmp(pp_word_list_text(&self->found, i), key) == 0)
            return true;
    return false;
}

static parapet_status collect_node(collecting *self, const char *path);

static void collect_below(collecting *self, const char *path)
{
    pp_children children = {0};
    size_t i;
    note(self, pp_children_list(&children, self->store, path));
    for (i = 0; i < children.count; i++) {
        char *child = NULL;
        int64_t number;
        parapet_status status = pp_path_join(path, children.names[i], &child);
        note(self, status);
        if (status == PARAPET_OK && !(pp_generation_parse(children.names[i], &number) && is_listed(self, child)))
            (void)collect_node(self, child);
        pp_free(child);
    }
    pp_children_clear(&children);
}

/* Directories count as groups; those of chunks, below an array, are not looked at. What has no document may be an
 * array whose creation did not come so far. PARAPET_ERR_NOT_FOUND when there is nothing; other failures are noted. */
static parapet_status collect_held(collecting *self, const char *path)
{
    size_t before = pp_word_list_count(&self->found);
    pp_node node = {0};
    parapet_status status = pp_node_load(self->store, path, &node);
    bool is_group = status == PARAPET_OK && node.kind == PARAPET_NODE_GROUP;
    bool is_array = status == PARAPET_OK && node.kind == PARAPET_NODE_ARRAY;
    if (is_array)
        collect_cut_off(self, path, node.json);
    pp_node_clear(&node);
    if (status != PARAPET_ERR_NOT_FOUND)
        note(self, status);
    collect_own(self, path, is_array);
    if (status == PARAPET_ERR_NOT_FOUND)
        return pp_word_list_count(&self->found) > before ? PARAPET_OK : status;
    if (is_group) {
        collect_beside(self, path);
        collect_below(self, path);
    }
    return PARAPET_OK;
}

/* What another job is changing is left alone, with all that lies below it, and told. */
static parapet_status collect_node(collecting *self, const char *path)
{
    const pp_hold_wish wish = {.store = self->store,
                               .paths = &path,
                               .count = 1,
                               .mode = PP_LOCK_EXCLUSIVE,
                               .purpose = "collecting what crashes left"};
    pp_hold hold = {0};
    parapet_status status = PARAPET_OK;
    if (!self->is_dry && (status = pp_holds_take(&hold, &wish)) == PARAPET_OK) {
        /* Whoever holds SHORT removes the record of a job that died with it. */
        if ((status = pp_holds_begin_publishing(&hold, &wish)) == PARAPET_OK)
            pp_holds_end_publishing(&hold, 1);
        else
            pp_holds_release(&hold, 1);
    }
    if (status != PARAPET_OK) {
        note(self, status);
        return PARAPET_OK;
    }
    status = collect_held(self, path);
    pp_holds_release(&hold, 1);
    return status;
}

/* ---- What all ranks put right ---- */

/* The group that a mark is about. */
static parapet_status group_of(const collecting *self, const char *key, const char *name, char **group)
{
    size_t bytes = strlen(key) - strlen("__parapet/") - strlen(name);
    parapet_status status = pp_text_duplicate(group, key);
    if (status == PARAPET_OK)
        (*group)[bytes > 0 ? bytes - 1 : 0] = '\0';
    return pp_comm_agree(pp_store_comm(self->store), "collecting", status);
}

/* [collective] */
static parapet_status repair_append(const collecting *self, const char *key, reason *why)
{
    static const reason reasons[] = {[PARAPET_REPAIR_NONE] = REASON_STAYS,
                                     [PARAPET_REPAIR_COMPLETED] = REASON_APPEND_COMPLETED,
                                     [PARAPET_REPAIR_UNDONE] = REASON_APPEND_UNDONE};
    char *group = NULL;
    parapet_repair repair = PARAPET_REPAIR_NONE;
    parapet_status status = group_of(self, key, PP_MARK_APPEND, &group);
    if (status == PARAPET_OK)
        status = pp_append_repair_group(self->store, group, &repair);
    *why = reasons[status == PARAPET_OK ? repair : PARAPET_REPAIR_NONE];
    pp_free(group);
    return status;
}

/* [collective] */
static parapet_status renew_metadata(const collecting *self, const char *key, reason *why)
{
    char *group = NULL;
    parapet_status status = group_of(self, key, PP_MARK_CONSOLIDATE, &group);
    if (status == PARAPET_OK)
        status = pp_around_renew(self->store, group);
    if (status != PARAPET_OK)
        *why = REASON_STAYS;
    pp_free(group);
    return status;
}

/* [collective] From the inside out: metadata of a group cannot be renewed as long as one below it is not put right.
 */
static void repair_each(collecting *self, reason which,
                        parapet_status (*repair)(const collecting *self, const char *key, reason *why))
{
    size_t i;
    for (i = pp_word_list_count(&self->found); i-- > 0 && !pp_comm_is_lost(pp_store_comm(self->store));) {
        reason why = (reason)pp_word_list_number(&self->found, i);
        if (why != which)
            continue;
        note(self, repair(self, pp_word_list_text(&self->found, i), &why));
        pp_word_list_set_number(&self->found, i, (int)why);
    }
}

static bool has_any(const collecting *self, reason which)
{
    size_t i;
    for (i = 0; i < pp_word_list_count(&self->found); i++)
        if (pp_word_list_number(&self->found, i) == (int)which)
            return true;
    return false;
}

/* They stay, and nobody is told of them. */
static void forget_each(collecting *self, reason which)
{
    size_t i;
    for (i = 0; i < pp_word_list_count(&self->found); i++)
        if (pp_word_list_number(&self->found, i) == (int)which)
            pp_word_list_set_number(&self->found, i, REASON_STAYS);
}

/* ---- The call ---- */

static parapet_status collect(void *subject, const void *argument)
{
    collecting *self = subject;
    parapet_status status = collect_node(self, self->path);
    (void)argument;
    if (status == PARAPET_OK && !self->is_dry)
        note(self, pp_store_settle(pp_store_backend(self->store)));
    return status;
}

/* [collective] Where anything failed, as beside another job, metadata waits: that job may still need the mark. */
static void put_right(collecting *self)
{
    int64_t is_sound;
    repair_each(self, REASON_APPEND, repair_append);
    if (!has_any(self, REASON_METADATA))
        return;
    is_sound = self->failure.status == PARAPET_OK;
    if (pp_comm_agree_least(pp_store_comm(self->store), "collecting", PARAPET_OK, &is_sound) == PARAPET_OK &&
        is_sound)
        repair_each(self, REASON_METADATA, renew_metadata);
    else
        forget_each(self, REASON_METADATA);
}

static parapet_status print_removed(void *subject, pp_text *bytes)
{
    pp_word_list_print(&((const collecting *)subject)->found, bytes);
    return PARAPET_OK;
}

static parapet_status adopt_removed(void *subject, pp_cursor *bytes)
{
    return pp_word_list_adopt(&((collecting *)subject)->found, bytes);
}

static parapet_status check_call(collecting *self, const char *path)
{
    parapet_status status = pp_path_normalize(path, &self->path);
    if (status != PARAPET_OK || self->is_dry || (status = pp_store_check_writable(self->store)) != PARAPET_OK)
        return status;
    /* Among them may be a checkpoint in the making, or a series. */
    if (pp_store_handle_count(self->store) > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "%d arrays, groups, checkpoints or series of the store are open; close them first",
                       pp_store_handle_count(self->store));
    return PARAPET_OK;
}

static void tell(const collecting *self, parapet_removal_visitor removal, void *context)
{
    bool has_ended = removal == NULL;
    size_t i;
    for (i = 0; i < pp_word_list_count(&self->found) && !has_ended; i++) {
        int why = pp_word_list_number(&self->found, i);
        pp_callback_begin();
        has_ended =
            why != REASON_STAYS && removal(context, pp_word_list_text(&self->found, i), reason_words[why]) != 0;
        pp_callback_end();
    }
}

static void clear(collecting *self)
{
    pp_word_list_clear(&self->found);
    pp_free(self->path);
}

parapet_status parapet_store_collect(parapet_store *store, const char *path, int dry_run,
                                     parapet_removal_visitor removal, void *context)
{
    collecting self = {.store = store, .is_dry = dry_run};
    pp_rank0_task task = {.subject = &self, .work = collect, .print = print_removed, .adopt = adopt_removed};
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_store_collect needs a store");
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_word_list_init(&self.found, pp_store_budget(store), "the list of what is collected");
    pp_call_init(&call, "collect(%s)", path != NULL ? path : "");
    pp_call_add_integer(&call, "dry_run", dry_run);
    if ((status = pp_boolean_check("dry_run", dry_run)) == PARAPET_OK)
        status = check_call(&self, path);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK &&
        (status = pp_rank0_do(pp_store_comm(store), "collecting", &task)) == PARAPET_OK) {
        if (!self.is_dry)
            put_right(&self);
        tell(&self, removal, context);
        status = pp_comm_agree(pp_store_comm(store), "collecting", pp_failure_put(&self.failure));
    }
    clear(&self);
    return pp_outcome(status);
}
