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
 *     <group>/__parapet/change        of an append that was interrupted: all ranks complete or undo it at the end
 *     <group>/__parapet/consolidate   of a copy or a removal that was interrupted: all ranks consolidate the group
 *
 * Only names that nobody but the library gives count, so that a wrong path is harmless (invariant 10 of
 * docs/design/change.md). What cannot be removed does not keep the rest from being removed: the first failure is told
 * at the end. */
#include <string.h>

#include "array/announcement.h"
#include "array/children.h"
#include "array/node.h"
#include "array/node_lock.h"
#include "array/node_path.h"
#include "array/rank0.h"
#include "array/reconsolidate.h"
#include "array/store_queries.h"
#include "array/trim.h"
#include "array/walk.h"
#include "base/choice.h"
#include "base/status.h"
#include "base/word_list.h"
#include "checkpoint/commits.h"
#include "copy/append_repair.h"

/* A name below __parapet, by its number in the registry, or one of these. */
typedef enum reason {
    REASON_GENERATION = PP_OWN_COUNT,
    REASON_PROBE,
    REASON_CUT_OFF,
    REASON_APPEND_COMPLETED,
    REASON_APPEND_UNDONE,
    REASON_STAYS, /* it could not be repaired */
    REASON_COUNT
} reason;

static const char *words_of(int why)
{
    static const char *const words[] = {
        [REASON_GENERATION - PP_OWN_COUNT] = "a generation that was never committed",
        [REASON_PROBE - PP_OWN_COUNT] = "what is left of measuring the storage",
        [REASON_CUT_OFF - PP_OWN_COUNT] = "cut off by a resize that did not finish",
        [REASON_APPEND_COMPLETED - PP_OWN_COUNT] = "an append was interrupted, and is complete now",
        [REASON_APPEND_UNDONE - PP_OWN_COUNT] = "an append was interrupted, and is undone now"};
    return why < PP_OWN_COUNT ? pp_own_row_of((pp_own)why)->left : words[why - PP_OWN_COUNT];
}

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
                                   int why)
{
    parapet_status status;
    switch (why) {
    case REASON_GENERATION:
        return pp_generation_erase(self->store, path, name);
    case PP_OWN_COPY:
    case REASON_PROBE:
        return pp_store_remove_prefix(pp_store_backend(self->store), key);
    default:
        status = pp_store_remove(pp_store_backend(self->store), key);
        return pp_accept_absence(status);
    }
}

/* The word comes first: nothing is removed that nobody is told of. */
static void discard(collecting *self, const char *path, const char *name, int why)
{
    char *key = NULL;
    parapet_status status;
    if ((status = pp_path_join(path, name, &key)) == PARAPET_OK &&
        (status = pp_word_list_add(&self->found, key, why)) == PARAPET_OK && !self->is_dry &&
        (status = remove_thing(self, path, name, key, why)) != PARAPET_OK)
        pp_word_list_drop_last(&self->found);
    note(self, status);
    pp_free(key);
}

/* ---- What the library keeps beside a node, in __parapet ---- */

typedef struct place {
    collecting *self;
    const char *prefix;
    int why;
} place;

static parapet_status discard_object(void *context, const char *key, uint64_t bytes)
{
    const place *where = context;
    (void)bytes;
    discard(where->self, where->prefix, key, where->why);
    return PARAPET_OK;
}

static void collect_objects(collecting *self, const char *path, pp_own own)
{
    place where = {.self = self, .why = (int)own};
    char *prefix = NULL;
    parapet_status status = pp_own_key(path, own, &prefix);
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
    pp_own own = pp_own_find_in(PP_OWN_COPY, listed->name);
    if (!listed->is_prefix && (own == PP_OWN_COPY_JOB || own == PP_OWN_COPY_TREE_LOG))
        *(bool *)context = true;
    return PARAPET_OK;
}

static void collect_copy(collecting *self, const char *path)
{
    char *prefix = NULL;
    bool is_resumable = false;
    parapet_status status = pp_own_key(path, PP_OWN_COPY, &prefix);
    if (status == PARAPET_OK)
        status = pp_store_list(pp_store_backend(self->store), prefix, find_job, &is_resumable);
    if (status == PARAPET_OK && !is_resumable)
        discard(self, "", prefix, PP_OWN_COPY);
    if (status != PARAPET_ERR_NOT_FOUND)
        note(self, status);
    pp_free(prefix);
}

/* What is to be done about it is done by all ranks, when nothing is held any more. */
static void note_mark(collecting *self, const char *path, pp_own own)
{
    char *key = NULL;
    parapet_status status = pp_own_key(path, own, &key);
    if (status == PARAPET_OK)
        status = pp_word_list_add(&self->found, key, (int)own);
    note(self, status);
    pp_free(key);
}

/* A dry run holds nothing: it has to look whether another job is appending. */
static void note_append(collecting *self, const char *path)
{
    parapet_status status = self->is_dry ? pp_announcement_refuse(self->store, path) : PARAPET_ERR_EXISTS;
    if (status == PARAPET_ERR_EXISTS)
        note_mark(self, path, PP_OWN_CHANGE);
    else
        note(self, status);
}

/* Which names of the registry there are, or folders of them. */
static parapet_status find_own(void *context, const pp_listed *listed)
{
    bool *is_there = context;
    is_there[pp_own_find(listed->name)] = true;
    return PARAPET_OK;
}

/* A mark that is no plain file keeps others from their work, and is not listed: it is looked for by its name. */
static bool has_mark(collecting *self, const char *path, pp_own own)
{
    bool is_there;
    note(self, pp_node_has_own(self->store, path, own, &is_there));
    return is_there;
}

static void collect_one(collecting *self, const char *path, pp_own own, bool is_listed)
{
    switch (pp_own_row_of(own)->gc) {
    case PP_OWN_GC_ALL:
        if (is_listed)
            collect_objects(self, path, own);
        break;
    case PP_OWN_GC_UNLESS_RESUMABLE:
        if (is_listed)
            collect_copy(self, path);
        break;
    case PP_OWN_GC_RECOVER:
        if (has_mark(self, path, own))
            (own == PP_OWN_CHANGE ? note_append(self, path) : note_mark(self, path, own));
        break;
    default:
        break;
    }
}

static void collect_own(collecting *self, const char *path, bool is_array)
{
    bool is_there[PP_OWN_COUNT + 1] = {false};
    char *folder = NULL;
    int own;
    parapet_status status = pp_own_folder(path, &folder);
    if (status == PARAPET_OK)
        status = pp_store_list(pp_store_backend(self->store), folder, find_own, is_there);
    for (own = 0; own < PP_OWN_COUNT && status == PARAPET_OK; own++)
        if (!is_array || pp_own_row_of((pp_own)own)->gc != PP_OWN_GC_RECOVER)
            collect_one(self, path, (pp_own)own, is_there[own]);
    if (status != PARAPET_ERR_NOT_FOUND)
        note(self, status);
    pp_free(folder);
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
        discard(where->self, where->prefix, listed->name, PP_OWN_TEMPORARIES);
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
    const pp_node_lock_wish wish = {.store = self->store,
                                    .paths = &path,
                                    .count = 1,
                                    .mode = PP_LOCK_EXCLUSIVE,
                                    .purpose = "collecting what crashes left"};
    pp_node_lock hold = {0};
    parapet_status status = PARAPET_OK;
    if (!self->is_dry && (status = pp_node_locks_take(&hold, &wish)) == PARAPET_OK) {
        /* Whoever holds SHORT removes the record of a job that died with it. */
        if ((status = pp_node_locks_begin_publishing(&hold, &wish)) == PARAPET_OK)
            pp_node_locks_end_publishing(&hold, 1);
        else
            pp_node_locks_release(&hold, 1);
    }
    if (status != PARAPET_OK) {
        note(self, status);
        return PARAPET_OK;
    }
    status = collect_held(self, path);
    pp_node_locks_release(&hold, 1);
    return status;
}

/* ---- What all ranks repair ---- */

/* The group that a mark is about. */
static parapet_status group_of(const collecting *self, const char *key, pp_own own, char **group)
{
    char *tail = NULL;
    parapet_status status = pp_own_key("", own, &tail);
    if (status == PARAPET_OK && (status = pp_text_duplicate(group, key)) == PARAPET_OK) {
        size_t bytes = strlen(key) - strlen(tail);
        (*group)[bytes > 0 ? bytes - 1 : 0] = '\0';
    }
    pp_free(tail);
    return pp_comm_agree(pp_store_comm(self->store), "collecting", status);
}

/* [collective] */
static parapet_status repair_append(const collecting *self, const char *key, int *why)
{
    static const reason reasons[] = {[PARAPET_REPAIR_NONE] = REASON_STAYS,
                                     [PARAPET_REPAIR_COMPLETED] = REASON_APPEND_COMPLETED,
                                     [PARAPET_REPAIR_UNDONE] = REASON_APPEND_UNDONE};
    char *group = NULL;
    parapet_repair repair = PARAPET_REPAIR_NONE;
    parapet_status status = group_of(self, key, PP_OWN_CHANGE, &group);
    if (status == PARAPET_OK)
        status = pp_append_repair_group(self->store, group, &repair);
    *why = (int)reasons[status == PARAPET_OK ? repair : PARAPET_REPAIR_NONE];
    pp_free(group);
    return status;
}

/* [collective] Which takes the metadata of the groups around it away, and makes it again. */
static parapet_status renew_metadata(const collecting *self, const char *key, int *why)
{
    pp_reconsolidate around = {0};
    char *group = NULL;
    parapet_status status = group_of(self, key, PP_OWN_CONSOLIDATE, &group);
    if (status == PARAPET_OK && (status = pp_reconsolidate_find(&around, self->store, group)) == PARAPET_OK)
        status = pp_reconsolidate_restore(&around, self->store, "an interrupted change was put right",
                                          pp_reconsolidate_renew(self->store, group));
    if (status != PARAPET_OK)
        *why = REASON_STAYS;
    pp_reconsolidate_clear(&around);
    pp_free(group);
    return status;
}

/* [collective] From the inside out: metadata of a group cannot be renewed as long as one below it is not repaired
 * (invariant 9 of docs/design/change.md). */
static void repair_each(collecting *self, int which,
                        parapet_status (*repair)(const collecting *self, const char *key, int *why))
{
    size_t i;
    for (i = pp_word_list_count(&self->found); i-- > 0 && !pp_comm_is_lost(pp_store_comm(self->store));) {
        int why = pp_word_list_number(&self->found, i);
        if (why != which)
            continue;
        note(self, repair(self, pp_word_list_text(&self->found, i), &why));
        pp_word_list_set_number(&self->found, i, why);
    }
}

static bool has_any(const collecting *self, int which)
{
    size_t i;
    for (i = 0; i < pp_word_list_count(&self->found); i++)
        if (pp_word_list_number(&self->found, i) == which)
            return true;
    return false;
}

/* They stay, and nobody is told of them. */
static void forget_each(collecting *self, int which)
{
    size_t i;
    for (i = 0; i < pp_word_list_count(&self->found); i++)
        if (pp_word_list_number(&self->found, i) == which)
            pp_word_list_set_number(&self->found, i, REASON_STAYS);
}

/* ---- The call ---- */

static parapet_status collect(void *subject, const void *argument)
{
    collecting *self = subject;
    parapet_status status = collect_node(self, self->path);
    (void)argument;
    if (status == PARAPET_OK && !self->is_dry)
        note(self, pp_store_sync_dirs(pp_store_backend(self->store)));
    return status;
}

/* [collective] Where anything failed, as beside another job, metadata waits: that job may still need the mark. */
static void repair_all(collecting *self)
{
    int64_t is_sound;
    repair_each(self, PP_OWN_CHANGE, repair_append);
    if (!has_any(self, PP_OWN_CONSOLIDATE))
        return;
    is_sound = self->failure.status == PARAPET_OK;
    if (pp_comm_agree_min(pp_store_comm(self->store), "collecting", PARAPET_OK, &is_sound) == PARAPET_OK && is_sound)
        repair_each(self, PP_OWN_CONSOLIDATE, renew_metadata);
    else
        forget_each(self, PP_OWN_CONSOLIDATE);
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
        has_ended = why != REASON_STAYS && removal(context, pp_word_list_text(&self->found, i), words_of(why)) != 0;
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
            repair_all(&self);
        tell(&self, removal, context);
        status = pp_comm_agree(pp_store_comm(store), "collecting", pp_failure_put(&self.failure));
    }
    clear(&self);
    return pp_outcome(status);
}
