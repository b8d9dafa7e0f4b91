/* checkpoint.c - a generation in the making: begin, put, commit or abort. */
#include "checkpoint/checkpoint.h"

#include <parapet_store.h>
#include <stdlib.h>
#include <string.h>

#include "array/ancestors.h"
#include "array/array.h"
#include "array/attributes.h"
#include "array/consolidate.h"
#include "array/create.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/part_calls.h"
#include "array/seal.h"
#include "array/store_queries.h"
#include "base/reserved.h"
#include "change/registry.h"
#include "checkpoint/checkpoint_handle.h"
#include "checkpoint/commits.h"
#include "checkpoint/health.h"
#include "checkpoint/items.h"
#include "checkpoint/restore.h"

#define KEEP_DEFAULT 2
/* Directories left by crashes at one and the same generation. */
#define ATTEMPTS_MOST 10000
/* Reservations that other jobs may undo by removing the directory meanwhile. */
#define TRIES_MOST 5

static void free_checkpoint(parapet_checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    pp_node_locks_release(&checkpoint->hold, 1);
    pp_commit_clear(&checkpoint->commit);
    pp_json_free(checkpoint->attributes);
    pp_free(checkpoint->group_path);
    pp_free(checkpoint->path);
    pp_free(checkpoint);
}

/* Where any generation can be named later, when nothing may fail any more. */
static parapet_status make_room_for_name(parapet_checkpoint *checkpoint)
{
    size_t bytes = strlen(checkpoint->path) + 1 + PP_GENERATION_NAME_BYTES;
    parapet_status status = pp_allocate(&checkpoint->commit.group, PP_GENERATION_NAME_BYTES);
    return status == PARAPET_OK ? pp_allocate(&checkpoint->group_path, bytes) : status;
}

/* An empty handle, not counted as open yet; free it also after a failure. */
static parapet_status build_checkpoint(parapet_checkpoint **checkpoint, parapet_store *store, const char *path)
{
    parapet_status status;
    if (checkpoint != NULL)
        *checkpoint = NULL;
    if (checkpoint == NULL || store == NULL || path == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_checkpoint_begin needs a store, a path and a pointer for the handle");
    if ((status = pp_allocate(checkpoint, sizeof **checkpoint)) != PARAPET_OK)
        return status;
    (*checkpoint)->store = store;
    if ((status = pp_json_object_build(&(*checkpoint)->attributes)) != PARAPET_OK)
        return status;
    if ((status = pp_path_normalize(path, &(*checkpoint)->path)) != PARAPET_OK)
        return status;
    return make_room_for_name(*checkpoint);
}

void pp_checkpoint_call(pp_call *call, const char *verb, const parapet_checkpoint *checkpoint)
{
    pp_call_init(call, "checkpoint_%s(%s)", verb, checkpoint->group_path);
}

void pp_checkpoint_drop(parapet_checkpoint **checkpoint)
{
    pp_store_drop_handles((*checkpoint)->store, 1);
    free_checkpoint(*checkpoint);
    *checkpoint = NULL;
}

/* ---- Begin ---- */

/* Of an attempt at the generation whose number is known. */
static void name_generation(parapet_checkpoint *checkpoint, int attempt)
{
    size_t bytes = strlen(checkpoint->path);
    char *name = checkpoint->group_path + bytes;
    memcpy(checkpoint->group_path, checkpoint->path, bytes);
    if (bytes > 0)
        *name++ = '/';
    pp_generation_print(checkpoint->commit.generation, attempt, checkpoint->commit.group);
    memcpy(name, checkpoint->commit.group, PP_GENERATION_NAME_BYTES);
}

static parapet_status choose_number(parapet_checkpoint *checkpoint, int64_t wanted)
{
    int64_t *list = NULL, newest;
    size_t count;
    parapet_status status = pp_commits_list(checkpoint->store, checkpoint->path, &list, &count);
    newest = count > 0 ? list[0] : 0;
    pp_free(list);
    if (status != PARAPET_OK)
        return status;
    if (wanted == 0 && newest == PP_COMMIT_LAST_GENERATION)
        return pp_fail(PARAPET_ERR_ARGUMENT, "\"%s\" has generation %lld, which is the largest number possible",
                       checkpoint->path, (long long)newest);
    checkpoint->commit.generation = wanted > 0 ? wanted : newest + 1;
    if (checkpoint->commit.generation <= newest)
        return pp_fail(PARAPET_ERR_EXISTS, "\"%s\" already has generation %lld; generation %lld is not newer",
                       checkpoint->path, (long long)newest, (long long)wanted);
    return PARAPET_OK;
}

static parapet_status ignore(void *context, const pp_listed *listed)
{
    (void)context;
    (void)listed;
    return PARAPET_OK;
}

/* Whether a reservation failed because another job, which gives up the same name, removed the directory meanwhile.
 * The error message of the failure stays. */
static bool is_directory_gone(const parapet_checkpoint *checkpoint, parapet_status status)
{
    pp_failure failure = {0};
    char *own = NULL;
    bool is_gone = false;
    if (status != PARAPET_ERR_IO)
        return false;
    pp_failure_take(&failure, status);
    if (pp_own_folder(checkpoint->group_path, &own) == PARAPET_OK)
        is_gone = pp_store_list(pp_store_backend(checkpoint->store), own, ignore, NULL) == PARAPET_ERR_NOT_FOUND;
    pp_free(own);
    (void)pp_failure_put(&failure);
    return is_gone;
}

static parapet_status reserve_directory(parapet_checkpoint *checkpoint, int attempt, bool *is_gone)
{
    static const char words[] = "a checkpoint in the making, or made\n";
    parapet_store *store = checkpoint->store;
    char *key = NULL, *staging = NULL;
    parapet_status status;
    name_generation(checkpoint, attempt);
    if ((status = pp_generation_check_free(store, checkpoint->group_path)) != PARAPET_OK ||
        (status = pp_own_key(checkpoint->group_path, PP_OWN_CLAIM, &key)) != PARAPET_OK ||
        (status = pp_own_key(checkpoint->path, PP_OWN_TEMPORARIES, &staging)) != PARAPET_OK)
        goto done;
    status = pp_store_write_all(
        pp_store_backend(store),
        &(pp_write_request){.key = key, .staging = staging, .budget = pp_store_budget(store), .is_small = true},
        words, sizeof words - 1, PP_PUBLISH_EXCLUSIVE);
    if (status == PARAPET_OK)
        status = pp_store_sync_dirs(pp_store_backend(store));
    else
        *is_gone = is_directory_gone(checkpoint, status);
done:
    pp_free(staging);
    pp_free(key);
    return status;
}

static parapet_status reserve_any_directory(parapet_checkpoint *checkpoint, int64_t *attempt, bool *is_gone)
{
    parapet_status status = PARAPET_OK;
    *is_gone = false;
    for (*attempt = 0; *attempt < ATTEMPTS_MOST; ++*attempt)
        if ((status = reserve_directory(checkpoint, (int)*attempt, is_gone)) != PARAPET_ERR_EXISTS)
            break;
    return status;
}

static parapet_status make_group(const parapet_checkpoint *checkpoint)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, checkpoint->store, checkpoint->path);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_ancestors_prepare(checkpoint->store, checkpoint->path)) == PARAPET_OK)
        status = pp_ancestors_ensure_group(checkpoint->store, checkpoint->path);
    pp_edit_end(&edit);
    return status;
}

static parapet_status begin_generation(parapet_checkpoint *checkpoint, int64_t wanted, int64_t *attempt)
{
    parapet_status status;
    bool is_gone = true;
    int tries;
    if ((status = make_group(checkpoint)) != PARAPET_OK)
        return status;
    for (tries = 0; is_gone && tries < TRIES_MOST; tries++) {
        if ((status = choose_number(checkpoint, wanted)) != PARAPET_OK)
            return status;
        status = reserve_any_directory(checkpoint, attempt, &is_gone);
    }
    return status;
}

static pp_node_lock_wish wish_of(const parapet_checkpoint *checkpoint)
{
    return (pp_node_lock_wish){.store = checkpoint->store,
                               .paths = (const char *const *)&checkpoint->path,
                               .count = 1,
                               .mode = PP_LOCK_EXCLUSIVE,
                               .purpose = "a checkpoint"};
}

/* [collective] From here on no other job makes a generation in the group, or collects what lies in it. The
 * other ranks become delegates when they have something to publish. */
static parapet_status begin_held(parapet_checkpoint *checkpoint, int64_t wanted)
{
    pp_comm *comm = pp_store_comm(checkpoint->store);
    pp_node_lock_wish wish = wish_of(checkpoint);
    int64_t chosen[2] = {0}; /* number and attempt */
    parapet_status status = PARAPET_OK;
    if (pp_comm_rank(comm) == 0) {
        if ((status = pp_node_locks_take(&checkpoint->hold, &wish)) == PARAPET_OK)
            status = begin_generation(checkpoint, wanted, &chosen[1]);
        chosen[0] = checkpoint->commit.generation;
    }
    if ((status = pp_comm_agree_bcast(comm, "beginning a checkpoint", status, chosen)) != PARAPET_OK)
        return status;
    checkpoint->commit.generation = chosen[0];
    if (pp_store_options(checkpoint->store)->keep_descriptions == 0)
        checkpoint->homes.phase = chosen[0]; /* not always the same server for a small array */
    name_generation(checkpoint, (int)chosen[1]);
    return PARAPET_OK;
}

/* Before this rank publishes anything: from then on no other job takes the group over, even if rank 0 dies. */
static parapet_status lend_a_hand(parapet_checkpoint *checkpoint)
{
    pp_node_lock_wish wish = wish_of(checkpoint);
    parapet_status status =
        checkpoint->is_lent ? PARAPET_OK : pp_node_locks_delegate_if_due(&checkpoint->hold, &wish);
    checkpoint->is_lent = status == PARAPET_OK;
    return status;
}

static parapet_status check_options(const parapet_checkpoint_options *options)
{
    parapet_status status = PP_RESERVED_CHECK(parapet_checkpoint_options, options);
    if (status != PARAPET_OK)
        return status;
    if (options->generation < 0 || options->generation > PP_COMMIT_LAST_GENERATION)
        return pp_fail(PARAPET_ERR_ARGUMENT, "generation is %lld, but must be from 1 to %lld, or 0 for the next one",
                       (long long)options->generation, (long long)PP_COMMIT_LAST_GENERATION);
    if (options->keep < -1)
        return pp_fail(PARAPET_ERR_ARGUMENT, "keep is %lld, but must be 1 or more, 0 for %d, or -1 for all",
                       (long long)options->keep, KEEP_DEFAULT);
    return PARAPET_OK;
}

parapet_status parapet_checkpoint_begin(parapet_checkpoint **checkpoint, parapet_store *store, const char *path,
                                        const parapet_checkpoint_options *options)
{
    parapet_checkpoint_options given = options != NULL ? *options : (parapet_checkpoint_options){0};
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (checkpoint != NULL)
        *checkpoint = NULL;
    if ((status = pp_turn_take(&turn, store != NULL ? pp_store_comm(store) : NULL, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    status = build_checkpoint(checkpoint, store, path);
    if (store == NULL)
        return pp_outcome(status);
    pp_call_init(&call, "checkpoint_begin(%s)", path != NULL ? path : "");
    pp_call_add_text(&call, "path", path);
    pp_call_add_integer(&call, "generation", given.generation);
    pp_call_add_integer(&call, "keep", given.keep);
    if (status == PARAPET_OK && (status = check_options(&given)) == PARAPET_OK)
        status = pp_store_check_writable(store);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK) {
        (*checkpoint)->keep = given.keep == 0 ? KEEP_DEFAULT : given.keep;
        (*checkpoint)->commit.is_durable = pp_store_options(store)->durability != PARAPET_DURABILITY_LEAVE;
        status = begin_held(*checkpoint, given.generation);
    }
    if (status == PARAPET_OK) {
        pp_store_add_handles(store, 1);
    } else if (checkpoint != NULL) {
        free_checkpoint(*checkpoint);
        *checkpoint = NULL;
    }
    return pp_outcome(status);
}

/* ---- Put ---- */

/* Paths of arrays in the generation; free with pp_paths_free. */
static parapet_status gather_paths(const parapet_checkpoint *checkpoint, const parapet_checkpoint_item *items,
                                   int count, char ***paths)
{
    parapet_status status = pp_allocate_array(paths, (size_t)count, sizeof **paths);
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++)
        status = pp_path_join(checkpoint->group_path, items[i].name, &(*paths)[i]);
    return status;
}

static parapet_status check_sound(const parapet_checkpoint *checkpoint)
{
    return !checkpoint->is_failed ? PARAPET_OK
                                  : pp_fail(PARAPET_ERR_ARGUMENT,
                                            "generation %lld of \"%s\" cannot be used any further because an earlier "
                                            "call on it failed; begin a new one",
                                            (long long)checkpoint->commit.generation, checkpoint->path);
}

static parapet_status take_turn(pp_turn *turn, const parapet_checkpoint *checkpoint, const char *verb)
{
    if (checkpoint == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_%s needs a checkpoint", verb);
    return pp_turn_take(turn, pp_store_comm(checkpoint->store), PP_TURN_COLLECTIVE);
}

static int compare_names(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Two servers would store it. */
static parapet_status check_names_differ(const parapet_checkpoint_item *items, int count)
{
    const char **names = NULL;
    parapet_status status = pp_allocate_array(&names, (size_t)count, sizeof names[0]);
    int i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        names[i] = items[i].name;
    qsort(names, (size_t)count, sizeof names[0], compare_names);
    for (i = 1; i < count && status == PARAPET_OK; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = pp_fail(PARAPET_ERR_EXISTS, "\"%s\" is in the list of items twice", names[i]);
    pp_free((void *)names);
    return status;
}

static parapet_status check_items(const parapet_checkpoint_item *items, int count)
{
    parapet_status status = pp_checkpoint_check_list(items, count);
    int i;
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++) {
        if (items[i].name == NULL || items[i].spec == NULL)
            return pp_fail(PARAPET_ERR_ARGUMENT, "item %d has no %s", i, items[i].name == NULL ? "name" : "spec");
        if (items[i].name[0] == '\0' || strchr(items[i].name, '/') != NULL)
            return pp_fail(PARAPET_ERR_ARGUMENT, "item %d: \"%s\" is not a single name without slashes", i,
                           items[i].name);
    }
    return count > 1 ? check_names_differ(items, count) : PARAPET_OK;
}

static parapet_status gather_specs(const parapet_checkpoint_item *items, int count, parapet_array_spec **specs)
{
    parapet_status status = pp_allocate_array(specs, (size_t)count, sizeof **specs);
    int i;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        (*specs)[i] = *items[i].spec;
        (*specs)[i].overwrite = 0; /* each name once: the record would have two of it */
    }
    return status;
}

/* [local] */
static parapet_status define_arrays(pp_filling *filling, const parapet_checkpoint_item *items, pp_call *call)
{
    parapet_checkpoint *checkpoint = filling->checkpoint;
    pp_definitions given = {.store = checkpoint->store, .count = filling->count, .homes = &filling->homes};
    parapet_array_spec *specs = NULL;
    char **paths = NULL;
    parapet_status status;
    if ((status = gather_paths(checkpoint, items, filling->count, &paths)) == PARAPET_OK &&
        (status = gather_specs(items, filling->count, &specs)) == PARAPET_OK) {
        given.paths = (const char *const *)paths;
        given.specs = specs;
        status = pp_arrays_define(filling->arrays, &given, call);
    }
    pp_paths_free(paths, (size_t)filling->count);
    pp_free(specs);
    return status;
}

parapet_status pp_filling_init(pp_filling *filling, parapet_checkpoint *checkpoint,
                               const parapet_checkpoint_item *items, int count, pp_call *call)
{
    size_t room = count > 0 ? (size_t)count : 1;
    parapet_status status;
    int i;
    *filling = (pp_filling){.checkpoint = checkpoint, .homes = checkpoint->homes};
    pp_call_add_integer(call, "count", count);
    if ((status = check_sound(checkpoint)) != PARAPET_OK || (status = check_items(items, count)) != PARAPET_OK ||
        (status = pp_allocate_array(&filling->arrays, room, sizeof filling->arrays[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&filling->list, room, sizeof filling->list[0])) != PARAPET_OK)
        return status;
    filling->count = count;
    if ((status = define_arrays(filling, items, call)) != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++)
        filling->list[i] = (parapet_array_parts){
            .array = filling->arrays[i], .parts = items[i].parts, .part_count = items[i].part_count};
    return lend_a_hand(checkpoint);
}

void pp_filling_clear(pp_filling *filling)
{
    pp_arrays_free(filling->arrays, filling->count);
    pp_free(filling->arrays);
    pp_free(filling->list);
    *filling = (pp_filling){0};
}

static parapet_status store_arrays(void *context)
{
    const pp_filling *filling = context;
    return pp_arrays_store_documents(filling->arrays, filling->count);
}

static parapet_status add_to_record(const pp_filling *filling)
{
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < filling->count && status == PARAPET_OK; i++)
        status = pp_commit_add(&filling->checkpoint->commit, strrchr(pp_array_path(filling->arrays[i]), '/') + 1,
                               pp_array_document_digest(filling->arrays[i]));
    return status;
}

/* [collective] The record is that of rank 0, to which the others send the digests. */
static void seal_arrays(void *context, pp_failure *failure)
{
    const pp_filling *filling = context;
    pp_arrays_seal_apart(filling->arrays, filling->count, failure);
    if (pp_comm_rank(pp_store_comm(filling->checkpoint->store)) == 0 && failure->status == PARAPET_OK)
        pp_failure_take(failure, add_to_record(filling));
}

parapet_status pp_checkpoint_fill(pp_filling *filling, const pp_call *call, parapet_status mine)
{
    parapet_checkpoint *checkpoint = filling->checkpoint;
    pp_comm *comm = pp_store_comm(checkpoint->store);
    pp_making making = {.store = checkpoint->store,
                        .list = filling->list,
                        .count = filling->count,
                        .begin = store_arrays,
                        .end = seal_arrays,
                        .context = filling};
    bool has_begun = false;
    parapet_status status = mine == PARAPET_OK && filling->count == 0
                                ? pp_comm_begin_at_once(comm, call, mine)
                                : pp_arrays_make(&making, call, mine, &has_begun);
    if (has_begun)
        checkpoint->homes = filling->homes;
    if (status != PARAPET_OK && (has_begun || pp_comm_is_same_call(comm)))
        checkpoint->is_failed = true;
    return status;
}

parapet_status parapet_checkpoint_put(parapet_checkpoint *checkpoint, const parapet_checkpoint_item *items, int count)
{
    PP_TURN turn = {0};
    pp_filling filling;
    pp_call call;
    parapet_status status = take_turn(&turn, checkpoint, "put");
    if (status != PARAPET_OK)
        return pp_outcome(status);
    pp_checkpoint_call(&call, "put", checkpoint);
    status = pp_filling_init(&filling, checkpoint, items, count, &call);
    status = pp_checkpoint_fill(&filling, &call, status);
    pp_filling_clear(&filling);
    return pp_outcome(status);
}

parapet_status parapet_checkpoint_attribute_set(parapet_checkpoint *checkpoint, const char *name, const char *json)
{
    pp_attribute attribute = {.name = name, .json = json};
    pp_json *changed = NULL;
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if ((status = take_turn(&turn, checkpoint, "attribute_set")) != PARAPET_OK)
        return pp_outcome(status);
    pp_checkpoint_call(&call, "attribute_set", checkpoint);
    pp_attribute_add(&attribute, &call);
    if ((status = check_sound(checkpoint)) == PARAPET_OK)
        status = pp_attributes_changed(checkpoint->attributes, &attribute, &changed);
    if ((status = pp_comm_begin_at_once(pp_store_comm(checkpoint->store), &call, status)) != PARAPET_OK) {
        pp_json_free(changed);
        return pp_outcome(status);
    }
    pp_json_free(checkpoint->attributes);
    checkpoint->attributes = changed;
    return pp_outcome(PARAPET_OK);
}

/* ---- Commit ---- */

/* Documents of a generation as they are stored when it is committed, against its record. */
typedef struct comparison {
    const pp_commit *commit;
    size_t same;
} comparison;

/* What the record does not name was made by others. */
static parapet_status compare_with_record(void *context, const char *name,
                                          const unsigned char digest[PP_SHA256_BYTES])
{
    comparison *self = context;
    const pp_commit_array *array = pp_commit_find(self->commit, name);
    if (array == NULL)
        return PARAPET_OK;
    if (memcmp(array->document, digest, PP_SHA256_BYTES) != 0)
        return pp_fail(PARAPET_ERR_STALE,
                       "%s/%s/zarr.json is not what this checkpoint has put there: something else has changed it",
                       self->commit->group, name);
    self->same++;
    return PARAPET_OK;
}

static parapet_status check_complete(const comparison *compared)
{
    if (compared->same == compared->commit->array_count)
        return PARAPET_OK;
    return pp_fail(PARAPET_ERR_STALE,
                   "%s has %zu of the %zu arrays that were put into it: something else has removed "
                   "the others",
                   compared->commit->group, compared->same, compared->commit->array_count);
}

/* The generation's own document, and its digest for the record. */
static parapet_status write_group(parapet_checkpoint *checkpoint)
{
    pp_group_document document = {.zarr_format = 3, .attributes = pp_json_share(checkpoint->attributes)};
    comparison compared = {.commit = &checkpoint->commit};
    pp_gathered gathered = {.visit = compare_with_record, .context = &compared};
    pp_text text = {0};
    parapet_status status;
    pp_commit_sort(&checkpoint->commit);
    status = pp_metadata_print(checkpoint->store, checkpoint->group_path, true, &document, &gathered, &text);
    if (status == PARAPET_OK && (status = check_complete(&compared)) == PARAPET_OK) {
        pp_sha256_of(text.data, text.bytes, checkpoint->commit.document);
        status = pp_node_write(checkpoint->store, checkpoint->group_path, PARAPET_NODE_GROUP, text.data, text.bytes,
                               PP_PUBLISH_EXCLUSIVE);
    }
    pp_text_free(&text);
    pp_group_document_clear(&document);
    return status;
}

/* A directory of an older number that was never committed cannot be any more. */
static parapet_status erase_older(void *context, const char *group, int64_t number)
{
    const parapet_checkpoint *checkpoint = context;
    return number < checkpoint->commit.generation ? pp_generation_erase(checkpoint->store, checkpoint->path, group)
                                                  : PARAPET_OK;
}

static pp_generation_health health_of(const parapet_checkpoint *checkpoint, int64_t number)
{
    return pp_generation_get_health(checkpoint->store, checkpoint->path, number);
}

/* This generation and those before it, the newest first; free with pp_free. A later one is another job's, and perhaps
 * not durable yet: it is none of those that stay. */
static parapet_status list_up_to_own(const parapet_checkpoint *checkpoint, int64_t **list, size_t *count)
{
    parapet_status status = pp_commits_list(checkpoint->store, checkpoint->path, list, count);
    size_t later = 0;
    if (status != PARAPET_OK)
        return status;
    while (later < *count && (*list)[later] > checkpoint->commit.generation)
        later++;
    *count -= later;
    memmove(*list, *list + later, *count * sizeof **list);
    return PARAPET_OK;
}

/* The first generation that has to be verified before older ones may go: one that would be kept, and of which
 * it is not known whether it verifies. 0: none. */
static int64_t find_unknown(const int64_t *list, size_t count, const parapet_checkpoint *checkpoint)
{
    int64_t missing = checkpoint->keep;
    size_t i;
    for (i = 0; i < count && missing > 0 && (int64_t)(count - i) > missing; i++) {
        if (health_of(checkpoint, list[i]) == PP_GENERATION_UNKNOWN)
            return list[i];
        missing -= health_of(checkpoint, list[i]) == PP_GENERATION_VERIFIES;
    }
    return 0;
}

/* Rank 0. What cannot be looked at stays unknown, and nothing goes on its account. */
static int64_t next_to_verify(const parapet_checkpoint *checkpoint)
{
    int64_t *list = NULL, next = 0;
    size_t count = 0;
    if (checkpoint->keep >= 0 && list_up_to_own(checkpoint, &list, &count) == PARAPET_OK)
        next = find_unknown(list, count, checkpoint);
    pp_free(list);
    return next;
}

/* [collective] Once for every process, as a rule: what it commits itself it knows. */
static void verify_those_kept(parapet_checkpoint *checkpoint, int64_t first)
{
    pp_comm *comm = pp_store_comm(checkpoint->store);
    int64_t told[2] = {first, 0}, before = 0;
    while (told[0] != 0 && told[0] != before) {
        before = told[0];
        pp_generation_verify(checkpoint->store, checkpoint->path, before);
        if (pp_comm_rank(comm) == 0)
            told[0] = next_to_verify(checkpoint);
        if (pp_comm_agree_bcast(comm, "verifying checkpoints", PARAPET_OK, told) != PARAPET_OK)
            return;
    }
}

/* A generation goes when as many newer ones as shall be kept are known to verify. What fails here is done again after
 * the next commit. */
static void tidy_up(parapet_checkpoint *checkpoint)
{
    int64_t *list = NULL, kept = 0;
    size_t count, i;
    if (list_up_to_own(checkpoint, &list, &count) != PARAPET_OK)
        count = 0;
    for (i = 0; i < count; i++) {
        if (kept >= checkpoint->keep)
            (void)pp_generation_drop(checkpoint->store, checkpoint->path, list[i]);
        kept += health_of(checkpoint, list[i]) == PP_GENERATION_VERIFIES;
    }
    pp_free(list);
    (void)pp_generations_stray(checkpoint->store, checkpoint->path, erase_older, checkpoint);
}

/* [collective] The other ranks do not wait for the removal itself. */
static void keep_the_newest(parapet_checkpoint *checkpoint, int64_t first_to_verify)
{
    if (checkpoint->keep < 0)
        return;
    verify_those_kept(checkpoint, first_to_verify);
    if (pp_comm_rank(pp_store_comm(checkpoint->store)) == 0)
        tidy_up(checkpoint);
}

/* A job that has committed a later number removes what it takes for remains: then that is what happened. */
static void tell_if_overtaken(const parapet_checkpoint *checkpoint, pp_failure *failure)
{
    parapet_status status =
        pp_commits_check_newest(checkpoint->store, checkpoint->path, checkpoint->commit.generation);
    if (status != PARAPET_ERR_EXISTS || failure->status == PARAPET_ERR_EXISTS)
        return;
    *failure = (pp_failure){0};
    pp_failure_take(failure, status);
}

/* Consolidated metadata above, which another job may have made meanwhile, does not have the generation. */
static parapet_status publish_record(parapet_checkpoint *checkpoint, bool *is_certain)
{
    pp_edit edit;
    parapet_status status = pp_edit_begin(&edit, checkpoint->store, checkpoint->path);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_ancestors_drop_consolidated_with(checkpoint->store, checkpoint->path)) == PARAPET_OK &&
        (status = pp_edit_prove(&edit)) == PARAPET_OK &&
        (status = pp_node_lock_prove(&checkpoint->hold)) == PARAPET_OK)
        status = pp_commit_publish(checkpoint->store, checkpoint->path, &checkpoint->commit, is_certain);
    pp_edit_end(&edit);
    return status;
}

static parapet_status commit_generation(parapet_checkpoint *checkpoint)
{
    pp_failure failure = {0};
    bool is_certain = true;
    parapet_status status = write_group(checkpoint);
    if (status == PARAPET_OK)
        status = publish_record(checkpoint, &is_certain);
    if (status == PARAPET_OK)
        return PARAPET_OK;
    pp_failure_take(&failure, status);
    if (is_certain) {
        tell_if_overtaken(checkpoint, &failure);
        (void)pp_generation_erase(checkpoint->store, checkpoint->path, checkpoint->commit.group);
    }
    return pp_failure_put(&failure);
}

static parapet_status erase_own(const parapet_checkpoint *checkpoint)
{
    return pp_generation_erase(checkpoint->store, checkpoint->path, checkpoint->commit.group);
}

/* Rank 0. What it commits itself it knows. */
static parapet_status commit_and_look(parapet_checkpoint *checkpoint, int64_t *to_verify)
{
    parapet_status status = commit_generation(checkpoint);
    if (status != PARAPET_OK)
        return status;
    pp_generation_set_health(checkpoint->store, checkpoint->path, checkpoint->commit.generation,
                             PP_GENERATION_VERIFIES);
    *to_verify = next_to_verify(checkpoint);
    return PARAPET_OK;
}

parapet_status pp_checkpoint_conclude(parapet_checkpoint *checkpoint)
{
    pp_comm *comm = pp_store_comm(checkpoint->store);
    int64_t told[2] = {0};
    parapet_status status = PARAPET_OK;
    if (checkpoint->is_failed) {
        if (pp_comm_rank(comm) == 0)
            (void)erase_own(checkpoint);
        return check_sound(checkpoint);
    }
    if (pp_comm_rank(comm) == 0)
        status = commit_and_look(checkpoint, &told[0]);
    if ((status = pp_comm_agree_bcast(comm, "committing a checkpoint", status, told)) == PARAPET_OK)
        keep_the_newest(checkpoint, told[0]);
    return status;
}

/* [collective] PARAPET_ERR_ARGUMENT: the ranks called different things; the handle stays. */
static parapet_status begin_end(parapet_checkpoint *checkpoint, const char *verb)
{
    pp_call call;
    pp_checkpoint_call(&call, verb, checkpoint);
    return pp_comm_begin_at_once(pp_store_comm(checkpoint->store), &call, PARAPET_OK);
}

parapet_status parapet_checkpoint_commit(parapet_checkpoint **checkpoint, int64_t *generation)
{
    PP_TURN turn = {0};
    parapet_status status;
    if ((status = take_turn(&turn, checkpoint != NULL ? *checkpoint : NULL, "commit")) != PARAPET_OK ||
        (status = begin_end(*checkpoint, "commit")) == PARAPET_ERR_ARGUMENT)
        return pp_outcome(status);
    if (status == PARAPET_OK)
        status = pp_checkpoint_conclude(*checkpoint);
    if (generation != NULL)
        *generation = status == PARAPET_OK ? (*checkpoint)->commit.generation : 0;
    pp_checkpoint_drop(checkpoint);
    return pp_outcome(status);
}

parapet_status parapet_checkpoint_abort(parapet_checkpoint **checkpoint)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_sentence before;
    pp_comm *comm;
    bool is_lost;
    if (checkpoint == NULL || *checkpoint == NULL)
        return PARAPET_OK;
    pp_sentence_take(&before);
    comm = pp_store_comm((*checkpoint)->store);
    if ((status = pp_turn_take(&turn, comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    is_lost = pp_comm_is_lost(comm);
    if (!is_lost && (status = begin_end(*checkpoint, "abort")) == PARAPET_ERR_ARGUMENT)
        return status;
    if (!is_lost && status == PARAPET_OK)
        status = pp_comm_agree(comm, "giving up a checkpoint",
                               pp_comm_rank(comm) == 0 ? erase_own(*checkpoint) : PARAPET_OK);
    pp_checkpoint_drop(checkpoint);
    return pp_sentence_put(&before, status);
}
