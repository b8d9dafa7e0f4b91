/* restore.c - generations that exist: found, verified, read. */
#include "checkpoint/restore.h"

#include <parapet_store.h>
#include <string.h>

#include "array/array.h"
#include "array/attributes.h"
#include "array/node.h"
#include "array/node_path.h"
#include "array/rank0.h"
#include "array/seal.h"
#include "array/store_queries.h"
#include "checkpoint/commits.h"
#include "checkpoint/health.h"
#include "checkpoint/items.h"

/* A generation that goes while it is looked at is no damage: the search begins anew, so many times. */
#define SEARCHES_MOST 1000
/* A directory that is listed while names come and go may show neither those that go nor those that come. */
#define LISTINGS_MOST 16

struct parapet_restore {
    parapet_store *store;
    char *path;       /* of the group that holds the generations */
    char *group_path; /* of this one */
    pp_commit commit;
    pp_json *attributes;    /* of its group */
    parapet_array **arrays; /* in the order of commit.arrays */
    const char **names;
    int64_t passed_over;
    pp_failure problem; /* of the newest that was passed over */
};

static void free_restore(parapet_restore *restore)
{
    if (restore == NULL)
        return;
    pp_commit_clear(&restore->commit);
    pp_json_free(restore->attributes);
    pp_free(restore->arrays);
    pp_free(restore->names);
    pp_free(restore->group_path);
    pp_free(restore->path);
    pp_free(restore);
}

/* An empty handle, not counted as open yet; free it also after a failure. */
static parapet_status build_restore(parapet_restore **restore, parapet_store *store, const char *path)
{
    parapet_status status;
    if (restore != NULL)
        *restore = NULL;
    if (restore == NULL || store == NULL || path == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_restore_open needs a store, a path and a pointer for the handle");
    if ((status = pp_allocate(restore, sizeof **restore)) != PARAPET_OK)
        return status;
    (*restore)->store = store;
    return pp_path_normalize(path, &(*restore)->path);
}

/* Which call this is, and on which generation. */
static void init_call(pp_call *call, const char *verb, const parapet_restore *restore)
{
    pp_call_init(call, "restore_%s(%s)", verb, restore->group_path);
}

/* ---- Looking for a generation, on rank 0 ---- */

typedef struct search {
    parapet_restore *restore;
    int64_t wanted; /* 0: the newest that verifies */
    int64_t below;  /* only older ones are left to try */
    int searches;
} search;

/* What proves that a generation is damaged. Storage that did not answer proves nothing: the newest generation may be
 * whole, and its place is not for an older one to take unnoticed. Nor does what this version cannot read. */
static bool is_damage(parapet_status status)
{
    return status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING || status == PARAPET_ERR_FORMAT ||
           status == PARAPET_ERR_NOT_FOUND;
}

/* A document that is not the one that was committed proves it, whatever else is wrong with it. */
static parapet_status compare_document(const pp_node *node, const char *path, const unsigned char *committed)
{
    return memcmp(node->digest, committed, PP_SHA256_BYTES) == 0
               ? PARAPET_OK
               : pp_fail(PARAPET_ERR_CORRUPT, "%s/zarr.json is not the one that was committed", path);
}

static void forget_candidate(parapet_restore *restore)
{
    pp_commit_clear(&restore->commit);
    pp_free(restore->group_path);
    restore->group_path = NULL;
}

static parapet_status load_group(parapet_restore *restore)
{
    pp_group_document document = {0};
    pp_node node = {0};
    parapet_status status = pp_node_load(restore->store, restore->group_path, &node);
    if (status == PARAPET_ERR_NOT_FOUND ||
        (status == PARAPET_OK && (node.kind != PARAPET_NODE_GROUP || node.is_implicit)))
        status = pp_fail(PARAPET_ERR_MISSING, "%s/zarr.json is missing, although the generation is committed",
                         restore->group_path);
    if ((status == PARAPET_OK || status == PARAPET_ERR_UNSUPPORTED) &&
        compare_document(&node, restore->group_path, restore->commit.document) != PARAPET_OK)
        status = PARAPET_ERR_CORRUPT;
    if (status == PARAPET_OK && (status = pp_group_document_parse(&document, node.json)) == PARAPET_OK) {
        pp_json_free(restore->attributes);
        restore->attributes = pp_json_share(document.attributes);
    }
    pp_group_document_clear(&document);
    pp_node_clear(&node);
    return status;
}

static parapet_status load_candidate(parapet_restore *restore, int64_t number)
{
    parapet_status status;
    forget_candidate(restore);
    if ((status = pp_commit_load(restore->store, restore->path, number, &restore->commit)) != PARAPET_OK ||
        (status = pp_path_join(restore->path, restore->commit.group, &restore->group_path)) != PARAPET_OK)
        return status;
    return load_group(restore);
}

static void search_anew(search *self)
{
    self->below = INT64_MAX;
    self->restore->passed_over = 0;
    self->restore->problem = (pp_failure){0};
}

/* A generation that is damaged is passed over; unless it has been removed meanwhile, or goes just now. */
static parapet_status pass_over(search *self, int64_t number, parapet_status problem)
{
    parapet_restore *restore = self->restore;
    pp_commit still = {0};
    pp_failure failure = {0};
    parapet_status status;
    pp_failure_take(&failure, problem);
    status = pp_commit_load(restore->store, restore->path, number, &still);
    pp_commit_clear(&still);
    if (status != PARAPET_OK && !is_damage(status))
        return status;
    if ((status == PARAPET_ERR_NOT_FOUND || problem == PARAPET_ERR_STALE) && self->searches < SEARCHES_MOST) {
        self->searches++;
        search_anew(self);
        return PARAPET_OK;
    }
    if (problem == PARAPET_ERR_STALE)
        return pp_failure_put(&failure);
    pp_generation_set_health(restore->store, restore->path, number, PP_GENERATION_DAMAGED);
    self->below = number;
    restore->passed_over++;
    pp_failure_take(&restore->problem, pp_failure_put(&failure));
    return PARAPET_OK;
}

static parapet_status newest_below(const search *self, int64_t *number)
{
    const parapet_restore *restore = self->restore;
    int64_t *list = NULL;
    size_t count, i;
    int attempt = 0;
    parapet_status status = pp_commits_list(restore->store, restore->path, &list, &count);
    while (status == PARAPET_OK && count == 0 && ++attempt < LISTINGS_MOST)
        status = pp_commits_list(restore->store, restore->path, &list, &count);
    *number = 0;
    for (i = 0; i < count && *number == 0; i++)
        if (list[i] < self->below)
            *number = list[i];
    pp_free(list);
    if (status != PARAPET_OK || *number != 0)
        return status;
    if (restore->passed_over == 0)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no checkpoint at \"%s\"", restore->path);
    return pp_fail(PARAPET_ERR_CORRUPT, "none of the %lld generations at \"%s\" verifies; the newest: %s",
                   (long long)restore->passed_over, restore->path, restore->problem.message);
}

static parapet_status find_candidate(void *subject, const void *failed)
{
    search *self = subject;
    parapet_restore *restore = self->restore;
    const pp_failure *last = failed;
    int64_t number = restore->commit.generation;
    parapet_status status;
    if (last->status != PARAPET_OK && (status = pass_over(self, number, pp_failure_put(last))) != PARAPET_OK)
        return status;
    if (self->wanted != 0) {
        status = load_candidate(restore, self->wanted);
        return status == PARAPET_ERR_NOT_FOUND
                   ? pp_fail(PARAPET_ERR_NOT_FOUND, "there is no generation %lld at \"%s\"", (long long)self->wanted,
                             restore->path)
                   : status;
    }
    for (;;) {
        if ((status = newest_below(self, &number)) != PARAPET_OK ||
            (status = load_candidate(restore, number)) == PARAPET_OK || !is_damage(status) ||
            (status = pass_over(self, number, status)) != PARAPET_OK)
            return status;
    }
}

/* ---- What the other ranks learn of it ---- */

static parapet_status print_candidate(void *subject, pp_text *bytes)
{
    const search *self = subject;
    parapet_restore *restore = self->restore;
    pp_text record = {0}, attributes = {0};
    parapet_status status;
    pp_commit_print(&restore->commit, &record);
    pp_json_print(restore->attributes, false, &attributes);
    pp_bytes_add_u64(bytes, (uint64_t)restore->passed_over);
    pp_text_add_bytes(bytes, &restore->problem, sizeof restore->problem);
    pp_bytes_add_block(bytes, record.data, record.bytes);
    pp_bytes_add_block(bytes, attributes.data, attributes.bytes);
    status = record.status != PARAPET_OK ? record.status : attributes.status;
    pp_text_free(&record);
    pp_text_free(&attributes);
    return status;
}

static parapet_status adopt_candidate(void *subject, pp_cursor *bytes)
{
    parapet_restore *restore = ((search *)subject)->restore;
    const void *record, *attributes;
    size_t record_bytes, attributes_bytes;
    pp_json *parsed = NULL;
    parapet_status status;
    forget_candidate(restore);
    restore->passed_over = (int64_t)pp_cursor_u64(bytes);
    pp_cursor_copy(bytes, &restore->problem, sizeof restore->problem);
    record = pp_cursor_block(bytes, &record_bytes);
    attributes = pp_cursor_block(bytes, &attributes_bytes);
    if ((status = pp_commit_parse(&restore->commit, record, record_bytes)) != PARAPET_OK ||
        (status = pp_json_parse(&parsed, attributes, attributes_bytes)) != PARAPET_OK)
        return status;
    pp_json_free(restore->attributes);
    restore->attributes = parsed;
    return pp_path_join(restore->path, restore->commit.group, &restore->group_path);
}

/* ---- Verifying, on all ranks ---- */

static parapet_status prepare_names(parapet_restore *restore, char ***paths)
{
    size_t count = restore->commit.array_count, i;
    parapet_status status;
    if ((status = pp_allocate_array(&restore->arrays, count, sizeof restore->arrays[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&restore->names, count, sizeof restore->names[0])) != PARAPET_OK ||
        (status = pp_allocate_array(paths, count, sizeof **paths)) != PARAPET_OK)
        return status;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        restore->names[i] = restore->commit.arrays[i].name;
        status = pp_path_join(restore->group_path, restore->names[i], &(*paths)[i]);
    }
    return status;
}

static parapet_status compare_documents(const parapet_restore *restore)
{
    size_t i;
    for (i = 0; i < restore->commit.array_count; i++) {
        const parapet_array *array = restore->arrays[i];
        if (memcmp(pp_array_document_digest(array), restore->commit.arrays[i].document, PP_SHA256_BYTES) != 0)
            return pp_fail(PARAPET_ERR_CORRUPT, "%s/zarr.json is not the one that was committed",
                           pp_array_path(array));
        if (!pp_array_is_sealed(array) && !pp_store_options(restore->store)->ignore_seal)
            return pp_fail(PARAPET_ERR_CORRUPT, "\"%s\" is no longer sealed", pp_array_path(array));
    }
    return PARAPET_OK;
}

/* Rank 0: whether documents that cannot be read are those that were committed. */
static parapet_status compare_stored(const parapet_restore *restore)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < restore->commit.array_count && status == PARAPET_OK; i++) {
        pp_node node = {0};
        char *path = NULL;
        if ((status = pp_path_join(restore->group_path, restore->commit.arrays[i].name, &path)) == PARAPET_OK &&
            ((status = pp_node_load(restore->store, path, &node)) == PARAPET_OK || is_damage(status) ||
             status == PARAPET_ERR_UNSUPPORTED))
            status = compare_document(&node, path, restore->commit.arrays[i].document);
        pp_node_clear(&node);
        pp_free(path);
    }
    return status;
}

/* [collective] A flipped bit can make a document one that this version cannot read. If they are all as they were
 * committed, they are of another version, and no damage. */
static parapet_status judge_unsupported(const parapet_restore *restore)
{
    pp_comm *comm = pp_store_comm(restore->store);
    pp_failure failure = {0};
    parapet_status status;
    pp_call call;
    pp_failure_take(&failure, PARAPET_ERR_UNSUPPORTED);
    init_call(&call, "verify", restore);
    if ((status = pp_comm_begin(comm, &call, PARAPET_OK)) == PARAPET_OK)
        status = pp_comm_agree(comm, "looking again", pp_comm_rank(comm) == 0 ? compare_stored(restore) : PARAPET_OK);
    return status == PARAPET_OK ? pp_failure_put(&failure) : status;
}

/* [collective] Opens and verifies the arrays; afterwards they are open, or none is. */
static parapet_status verify_candidate(parapet_restore *restore)
{
    pp_comm *comm = pp_store_comm(restore->store);
    int count = (int)restore->commit.array_count;
    char **paths = NULL;
    pp_failure failure = {0};
    pp_call call;
    parapet_status status = pp_comm_agree(comm, "opening", prepare_names(restore, &paths));
    if (status == PARAPET_OK)
        status = parapet_arrays_open(restore->arrays, restore->store, (const char *const *)paths, count);
    if (status == PARAPET_ERR_UNSUPPORTED)
        status = judge_unsupported(restore);
    if (status == PARAPET_ERR_ARGUMENT || status == PARAPET_ERR_NOT_FOUND) /* or what lies there looks like a group */
        status = pp_fail_within(PARAPET_ERR_MISSING, "zarr.json of an array that was committed is missing");
    pp_paths_free(paths, (size_t)count);
    if (status == PARAPET_OK) {
        init_call(&call, "verify", restore);
        if ((status = pp_comm_begin(comm, &call, compare_documents(restore))) == PARAPET_OK &&
            !pp_store_options(restore->store)->ignore_seal)
            status = pp_arrays_verify(restore->arrays, count);
        if (status != PARAPET_OK) {
            pp_failure_take(&failure, status);
            (void)parapet_arrays_close(restore->arrays, count);
            status = pp_failure_put(&failure);
        }
    }
    if (status != PARAPET_OK) {
        pp_free(restore->arrays);
        pp_free(restore->names);
        restore->arrays = NULL;
        restore->names = NULL;
    }
    return status;
}

static parapet_status search_generations(search *self)
{
    parapet_restore *restore = self->restore;
    pp_comm *comm = pp_store_comm(restore->store);
    pp_failure failure = {0};
    pp_call call;
    pp_rank0_task task = {.subject = self,
                          .argument = &failure,
                          .work = find_candidate,
                          .print = print_candidate,
                          .adopt = adopt_candidate};
    parapet_status status;
    for (;;) {
        if ((status = pp_rank0_do(comm, "looking for a checkpoint", &task)) != PARAPET_OK ||
            (status = verify_candidate(restore)) == PARAPET_OK || self->wanted != 0 ||
            (!is_damage(status) && status != PARAPET_ERR_STALE))
            return status;
        failure = (pp_failure){0};
        pp_failure_take(&failure, status);
        pp_call_init(&call, "restore_open(%s)", restore->path);
        if ((status = pp_comm_begin(comm, &call, PARAPET_OK)) != PARAPET_OK)
            return status;
    }
}

static void note_health(const parapet_restore *restore, pp_generation_health health)
{
    if (pp_generation_get_health(restore->store, restore->path, restore->commit.generation) != PP_GENERATION_DAMAGED)
        pp_generation_set_health(restore->store, restore->path, restore->commit.generation, health);
}

parapet_status parapet_restore_open(parapet_restore **restore, parapet_store *store, const char *path,
                                    int64_t generation)
{
    search self = {.wanted = generation, .below = INT64_MAX};
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (restore != NULL)
        *restore = NULL;
    if ((status = pp_turn_take(&turn, store != NULL ? pp_store_comm(store) : NULL, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    status = build_restore(restore, store, path);
    if (store == NULL)
        return pp_outcome(status);
    pp_call_init(&call, "restore_open(%s)", path != NULL ? path : "");
    pp_call_add_integer(&call, "generation", generation);
    if (status == PARAPET_OK && generation < 0)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "generation is %lld, but must be 1 or more, or 0 for the newest",
                         (long long)generation);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK) {
        self.restore = *restore;
        status = search_generations(&self);
        if (generation != 0 && is_damage(status) && status != PARAPET_ERR_NOT_FOUND)
            pp_generation_set_health(store, (*restore)->path, generation, PP_GENERATION_DAMAGED);
    }
    if (status == PARAPET_OK) {
        note_health(*restore, PP_GENERATION_VERIFIES);
        pp_store_add_handles(store, 1);
    } else if (restore != NULL) {
        free_restore(*restore);
        *restore = NULL;
    }
    return pp_outcome(status);
}

/* ---- Reading ---- */

static parapet_array *find_array(const parapet_restore *restore, const char *name)
{
    size_t i;
    for (i = 0; i < restore->commit.array_count; i++)
        if (name != NULL && strcmp(restore->names[i], name) == 0)
            return restore->arrays[i];
    return NULL;
}

static parapet_status list_wanted(const parapet_restore *restore, const parapet_checkpoint_item *items, int count,
                                  parapet_array_parts **list)
{
    parapet_status status = pp_checkpoint_check_list(items, count);
    int i;
    if (status != PARAPET_OK ||
        (status = pp_allocate_array(list, count > 0 ? (size_t)count : 1, sizeof **list)) != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++) {
        (*list)[i] = (parapet_array_parts){
            .array = find_array(restore, items[i].name), .parts = items[i].parts, .part_count = items[i].part_count};
        if ((*list)[i].array == NULL)
            return pp_fail(PARAPET_ERR_NOT_FOUND, "generation %lld of \"%s\" has no array \"%s\"",
                           (long long)restore->commit.generation, restore->path,
                           items[i].name != NULL ? items[i].name : "");
    }
    return PARAPET_OK;
}

parapet_status parapet_restore_get(parapet_restore *restore, const parapet_checkpoint_item *items, int count)
{
    parapet_array_parts *list = NULL;
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (restore == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_restore_get needs a restore");
    if ((status = pp_turn_take(&turn, pp_store_comm(restore->store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    init_call(&call, "get", restore);
    pp_call_add_integer(&call, "count", count);
    status = list_wanted(restore, items, count, &list);
    /* A flush that fails would be taken for damage of the generation. */
    if ((status = pp_comm_begin_at_once(pp_store_comm(restore->store), &call, status)) == PARAPET_OK && count > 0)
        status = parapet_arrays_read(list, count);
    if (status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING)
        note_health(restore, PP_GENERATION_DAMAGED);
    pp_free(list);
    return pp_outcome(status);
}

void pp_generation_verify(parapet_store *store, const char *path, int64_t number)
{
    parapet_restore *restore = NULL;
    if (parapet_restore_open(&restore, store, path, number) == PARAPET_OK)
        (void)parapet_restore_close(&restore);
}

parapet_status parapet_restore_attribute_get(parapet_restore *restore, const char *name, char **json)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (restore == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_restore_attribute_get needs a restore");
    if ((status = pp_turn_take(&turn, pp_store_comm(restore->store), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    return pp_outcome(pp_attributes_get(restore->attributes, name, json));
}

parapet_status parapet_restore_get_info(parapet_restore *restore, parapet_restore_info *info)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (restore == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_restore_get_info needs a restore and a pointer for the result");
    if ((status = pp_turn_take(&turn, pp_store_comm(restore->store), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    *info = (parapet_restore_info){
        .generation = restore->commit.generation,
        .path = restore->group_path,
        .array_count = (int)restore->commit.array_count,
        .names = restore->names,
        .passed_over = restore->passed_over,
        .problem = restore->problem.message,
    };
    return pp_outcome(PARAPET_OK);
}

parapet_status parapet_restore_get_array_info(parapet_restore *restore, int index, parapet_array_info *info)
{
    PP_TURN turn = {0};
    parapet_status status;
    if (restore == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "parapet_restore_get_array_info needs a restore and a pointer for the result");
    if ((status = pp_turn_take(&turn, pp_store_comm(restore->store), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    if (index < 0 || index >= (int)restore->commit.array_count)
        return pp_fail(PARAPET_ERR_ARGUMENT, "generation \"%s\" has no array number %d, counted from 0: it has %d",
                       restore->group_path, index, (int)restore->commit.array_count);
    return parapet_array_get_info(restore->arrays[index], info);
}

parapet_status parapet_restore_close(parapet_restore **restore)
{
    PP_TURN turn = {0};
    parapet_status status, closed;
    pp_call call;
    if (restore == NULL || *restore == NULL)
        return PARAPET_OK;
    if ((status = pp_turn_take(&turn, pp_store_comm((*restore)->store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    init_call(&call, "close", *restore);
    if (!pp_comm_is_lost(pp_store_comm((*restore)->store)))
        status = pp_comm_begin_at_once(pp_store_comm((*restore)->store), &call, PARAPET_OK);
    if (status == PARAPET_ERR_ARGUMENT)
        return status; /* the ranks called different things: nobody closes */
    closed = parapet_arrays_close((*restore)->arrays, (int)(*restore)->commit.array_count);
    pp_store_drop_handles((*restore)->store, 1);
    free_restore(*restore);
    *restore = NULL;
    return status == PARAPET_OK ? closed : status;
}

/* ---- Listing ---- */

typedef struct listing {
    parapet_store *store;
    char *path;
    size_t count;
    int64_t *numbers;
    char **groups; /* paths; "" for a record that cannot be read */
} listing;

static parapet_status name_group(listing *job, size_t i)
{
    pp_commit commit = {0};
    parapet_status status = pp_commit_load(job->store, job->path, job->numbers[i], &commit);
    if (status == PARAPET_OK)
        status = pp_path_join(job->path, commit.group, &job->groups[i]);
    else if (is_damage(status))
        status = pp_text_duplicate(&job->groups[i], "");
    pp_commit_clear(&commit);
    return status;
}

static parapet_status list_generations(void *subject, const void *argument)
{
    listing *job = subject;
    parapet_status status = pp_commits_list(job->store, job->path, &job->numbers, &job->count);
    size_t i;
    (void)argument;
    if (status == PARAPET_OK)
        status = pp_allocate_array(&job->groups, job->count, sizeof job->groups[0]);
    for (i = 0; i < job->count && status == PARAPET_OK; i++)
        status = name_group(job, i);
    return status;
}

static parapet_status print_listing(void *subject, pp_text *bytes)
{
    const listing *job = subject;
    size_t i;
    pp_bytes_add_u64(bytes, job->count);
    for (i = 0; i < job->count; i++) {
        pp_bytes_add_u64(bytes, (uint64_t)job->numbers[i]);
        pp_bytes_add_block(bytes, job->groups[i], strlen(job->groups[i]) + 1);
    }
    return PARAPET_OK;
}

static parapet_status adopt_listing(void *subject, pp_cursor *bytes)
{
    listing *job = subject;
    size_t i, length;
    parapet_status status;
    job->count = (size_t)pp_cursor_u64(bytes);
    if ((status = pp_allocate_array(&job->groups, job->count, sizeof job->groups[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&job->numbers, job->count, sizeof job->numbers[0])) != PARAPET_OK)
        return status;
    for (i = 0; i < job->count && status == PARAPET_OK; i++) {
        job->numbers[i] = (int64_t)pp_cursor_u64(bytes);
        status = pp_text_duplicate(&job->groups[i], pp_cursor_block(bytes, &length));
    }
    return status;
}

static void tell(const listing *job, parapet_generation_visitor generation, void *context)
{
    bool has_ended = false;
    size_t i;
    for (i = 0; i < job->count && !has_ended; i++) {
        pp_callback_begin();
        has_ended = generation(context, job->numbers[i], job->groups[i]) != 0;
        pp_callback_end();
    }
}

parapet_status parapet_checkpoint_list(parapet_store *store, const char *path, parapet_generation_visitor generation,
                                       void *context)
{
    listing job = {.store = store};
    pp_rank0_task task = {.subject = &job, .work = list_generations, .print = print_listing, .adopt = adopt_listing};
    PP_TURN turn = {0};
    parapet_status status;
    pp_call call;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_list needs a store");
    if ((status = pp_turn_take(&turn, pp_store_comm(store), PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    pp_call_init(&call, "checkpoint_list(%s)", path != NULL ? path : "");
    if ((status = pp_path_normalize(path, &job.path)) == PARAPET_OK && generation == NULL)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_list needs a visitor");
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK)
        status = pp_rank0_do(pp_store_comm(store), "listing checkpoints", &task);
    if (status == PARAPET_OK)
        tell(&job, generation, context);
    pp_paths_free(job.groups, job.count);
    pp_free(job.numbers);
    pp_free(job.path);
    return pp_outcome(status);
}
