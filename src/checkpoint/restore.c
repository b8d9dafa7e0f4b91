/* restore.c - generations that exist: found, verified, read. */
#include "checkpoint/checkpoint.h"

#include <string.h>

#include "array/array.h"
#include "array/attributes.h"
#include "array/node.h"
#include "array/path.h"
#include "array/rank0.h"
#include "array/seal.h"
#include "array/store.h"
#include "base/reserved.h"

/* A generation that goes while it is looked at is no damage: the search begins anew, so many times. */
#define SEARCHES_MOST 1000
/* A directory that is listed while names come and go may show neither those that go nor those that come. */
#define LISTINGS_MOST 16

/* ---- Looking for a generation, on rank 0 ---- */

typedef struct search {
    parapet_checkpoint *checkpoint;
    int64_t wanted; /* 0: the newest that verifies */
    int64_t below;  /* only older ones are left to try */
    int searches;
} search;

/* What a generation is found out by, not the machine that looks at it. */
static bool is_of_the_generation(parapet_status status)
{
    return status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING || status == PARAPET_ERR_FORMAT ||
           status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_UNSUPPORTED || status == PARAPET_ERR_IO;
}

static void forget_candidate(parapet_checkpoint *checkpoint)
{
    pp_commit_clear(&checkpoint->commit);
    pp_free(checkpoint->group_path);
    checkpoint->group_path = NULL;
}

static parapet_status load_group(parapet_checkpoint *checkpoint)
{
    pp_group_document document = {0};
    pp_node node = {0};
    parapet_status status = pp_node_load(checkpoint->store, checkpoint->group_path, &node);
    if (status == PARAPET_ERR_NOT_FOUND ||
        (status == PARAPET_OK && (node.kind != PARAPET_NODE_GROUP || node.is_implicit)))
        status = pp_fail(PARAPET_ERR_MISSING, "%s/zarr.json is missing, although the generation is committed",
                         checkpoint->group_path);
    if (status == PARAPET_OK && memcmp(node.digest, checkpoint->commit.document, PP_SHA256_BYTES) != 0)
        status =
            pp_fail(PARAPET_ERR_CORRUPT, "%s/zarr.json is not the one that was committed", checkpoint->group_path);
    if (status == PARAPET_OK && (status = pp_group_document_parse(&document, node.json)) == PARAPET_OK) {
        pp_json_free(checkpoint->attributes);
        checkpoint->attributes = pp_json_share(document.attributes);
    }
    pp_group_document_clear(&document);
    pp_node_clear(&node);
    return status;
}

static parapet_status load_candidate(parapet_checkpoint *checkpoint, int64_t number)
{
    parapet_status status;
    forget_candidate(checkpoint);
    if ((status = pp_commit_load(checkpoint->store, checkpoint->path, number, &checkpoint->commit)) != PARAPET_OK ||
        (status = pp_path_join(checkpoint->path, checkpoint->commit.group, &checkpoint->group_path)) != PARAPET_OK)
        return status;
    return load_group(checkpoint);
}

/* A generation that does not verify is passed over; unless it has been removed meanwhile. */
static void pass_over(search *self, int64_t number, parapet_status status)
{
    parapet_checkpoint *checkpoint = self->checkpoint;
    pp_commit still = {0};
    pp_failure failure = {0};
    pp_failure_take(&failure, status);
    if (pp_commit_load(checkpoint->store, checkpoint->path, number, &still) == PARAPET_ERR_NOT_FOUND &&
        self->searches++ < SEARCHES_MOST) {
        self->below = INT64_MAX;
        checkpoint->passed_over = 0;
        checkpoint->problem = (pp_failure){0};
    } else {
        self->below = number;
        checkpoint->passed_over++;
        (void)pp_failure_put(&failure);
        pp_failure_take(&checkpoint->problem, status);
    }
    pp_commit_clear(&still);
}

static parapet_status newest_below(const search *self, int64_t *number)
{
    const parapet_checkpoint *checkpoint = self->checkpoint;
    int64_t *list = NULL;
    size_t count, i;
    int attempt = 0;
    parapet_status status = pp_commits_list(checkpoint->store, checkpoint->path, &list, &count);
    while (status == PARAPET_OK && count == 0 && ++attempt < LISTINGS_MOST)
        status = pp_commits_list(checkpoint->store, checkpoint->path, &list, &count);
    *number = 0;
    for (i = 0; i < count && *number == 0; i++)
        if (list[i] < self->below)
            *number = list[i];
    pp_free(list);
    if (status != PARAPET_OK || *number != 0)
        return status;
    if (checkpoint->passed_over == 0)
        return pp_fail(PARAPET_ERR_NOT_FOUND, "there is no checkpoint at \"%s\"", checkpoint->path);
    return pp_fail(PARAPET_ERR_CORRUPT, "none of the %lld generations at \"%s\" verifies; the newest: %s",
                   (long long)checkpoint->passed_over, checkpoint->path, checkpoint->problem.message);
}

static parapet_status find_candidate(void *subject, const void *failed)
{
    search *self = subject;
    parapet_checkpoint *checkpoint = self->checkpoint;
    const pp_failure *last = failed;
    int64_t number = checkpoint->commit.generation;
    parapet_status status;
    if (last->status != PARAPET_OK)
        pass_over(self, number, pp_failure_put(last));
    if (self->wanted != 0) {
        status = load_candidate(checkpoint, self->wanted);
        return status == PARAPET_ERR_NOT_FOUND
                   ? pp_fail(PARAPET_ERR_NOT_FOUND, "there is no generation %lld at \"%s\"", (long long)self->wanted,
                             checkpoint->path)
                   : status;
    }
    for (;;) {
        if ((status = newest_below(self, &number)) != PARAPET_OK ||
            (status = load_candidate(checkpoint, number)) == PARAPET_OK || !is_of_the_generation(status))
            return status;
        pass_over(self, number, status);
    }
}

/* ---- What the other ranks learn of it ---- */

static parapet_status print_candidate(void *subject, pp_text *bytes)
{
    const search *self = subject;
    parapet_checkpoint *checkpoint = self->checkpoint;
    pp_text record = {0}, attributes = {0};
    parapet_status status;
    pp_commit_print(&checkpoint->commit, &record);
    pp_json_print(checkpoint->attributes, false, &attributes);
    pp_bytes_add_u64(bytes, (uint64_t)checkpoint->passed_over);
    pp_bytes_add_block(bytes, &checkpoint->problem, sizeof checkpoint->problem);
    pp_bytes_add_block(bytes, record.data, record.bytes);
    pp_bytes_add_block(bytes, attributes.data, attributes.bytes);
    status = record.status != PARAPET_OK ? record.status : attributes.status;
    pp_text_free(&record);
    pp_text_free(&attributes);
    return status;
}

static parapet_status adopt_candidate(void *subject, pp_cursor *bytes)
{
    parapet_checkpoint *checkpoint = ((search *)subject)->checkpoint;
    const void *problem, *record, *attributes;
    size_t problem_bytes, record_bytes, attributes_bytes;
    pp_json *parsed = NULL;
    parapet_status status;
    forget_candidate(checkpoint);
    checkpoint->passed_over = (int64_t)pp_cursor_u64(bytes);
    problem = pp_cursor_block(bytes, &problem_bytes);
    record = pp_cursor_block(bytes, &record_bytes);
    attributes = pp_cursor_block(bytes, &attributes_bytes);
    if ((status = pp_cursor_finish(bytes)) != PARAPET_OK)
        return status;
    memcpy(&checkpoint->problem, problem, problem_bytes);
    if ((status = pp_commit_parse(&checkpoint->commit, record, record_bytes)) != PARAPET_OK ||
        (status = pp_json_parse(&parsed, attributes, attributes_bytes)) != PARAPET_OK)
        return status;
    pp_json_free(checkpoint->attributes);
    checkpoint->attributes = parsed;
    return pp_path_join(checkpoint->path, checkpoint->commit.group, &checkpoint->group_path);
}

/* ---- Verifying, on all ranks ---- */

static parapet_status prepare_names(parapet_checkpoint *checkpoint, char ***paths)
{
    size_t count = checkpoint->commit.array_count, i;
    parapet_status status;
    if ((status = pp_allocate_array(&checkpoint->arrays, count, sizeof checkpoint->arrays[0])) != PARAPET_OK ||
        (status = pp_allocate_array(&checkpoint->names, count, sizeof checkpoint->names[0])) != PARAPET_OK ||
        (status = pp_allocate_array(paths, count, sizeof **paths)) != PARAPET_OK)
        return status;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        checkpoint->names[i] = checkpoint->commit.arrays[i].name;
        status = pp_path_join(checkpoint->group_path, checkpoint->names[i], &(*paths)[i]);
    }
    return status;
}

static parapet_status compare_documents(const parapet_checkpoint *checkpoint)
{
    size_t i;
    for (i = 0; i < checkpoint->commit.array_count; i++) {
        const parapet_array *array = checkpoint->arrays[i];
        if (memcmp(pp_array_document_digest(array), checkpoint->commit.arrays[i].document, PP_SHA256_BYTES) != 0)
            return pp_fail(PARAPET_ERR_CORRUPT, "%s/zarr.json is not the one that was committed",
                           pp_array_path(array));
        if (!pp_array_is_sealed(array) && !pp_store_options(checkpoint->store)->ignore_seal)
            return pp_fail(PARAPET_ERR_CORRUPT, "\"%s\" is not sealed any more", pp_array_path(array));
    }
    return PARAPET_OK;
}

/* [collective] Opens and verifies the arrays; afterwards they are open, or none is. */
static parapet_status verify_candidate(parapet_checkpoint *checkpoint)
{
    pp_comm *comm = pp_store_comm(checkpoint->store);
    int count = (int)checkpoint->commit.array_count;
    char **paths = NULL;
    pp_failure failure = {0};
    pp_call call;
    parapet_status status = pp_comm_agree(comm, "opening", prepare_names(checkpoint, &paths));
    if (status == PARAPET_OK)
        status = parapet_arrays_open(checkpoint->arrays, checkpoint->store, (const char *const *)paths, count);
    if (status == PARAPET_ERR_ARGUMENT) /* an array without its document looks like a group */
        status = pp_fail_within(PARAPET_ERR_MISSING, "zarr.json of an array that was committed is missing");
    pp_paths_free(paths, (size_t)count);
    if (status == PARAPET_OK) {
        pp_checkpoint_call(&call, "verify", checkpoint);
        if ((status = pp_comm_begin(comm, &call, compare_documents(checkpoint))) == PARAPET_OK &&
            !pp_store_options(checkpoint->store)->ignore_seal)
            status = pp_arrays_verify(checkpoint->arrays, count);
        if (status != PARAPET_OK) {
            pp_failure_take(&failure, status);
            (void)parapet_arrays_close(checkpoint->arrays, count);
            status = pp_failure_put(&failure);
        }
    }
    if (status != PARAPET_OK) {
        pp_free(checkpoint->arrays);
        pp_free(checkpoint->names);
        checkpoint->arrays = NULL;
        checkpoint->names = NULL;
    }
    return status;
}

static parapet_status search_generations(search *self)
{
    parapet_checkpoint *checkpoint = self->checkpoint;
    pp_comm *comm = pp_store_comm(checkpoint->store);
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
            (status = verify_candidate(checkpoint)) == PARAPET_OK || !is_of_the_generation(status) ||
            self->wanted != 0)
            return status;
        failure = (pp_failure){0};
        pp_failure_take(&failure, status);
        pp_call_init(&call, "checkpoint_open(%s)", checkpoint->path);
        if ((status = pp_comm_begin(comm, &call, PARAPET_OK)) != PARAPET_OK)
            return status;
    }
}

parapet_status parapet_checkpoint_open(parapet_checkpoint **checkpoint, parapet_store *store, const char *path,
                                       int64_t generation)
{
    search self = {.wanted = generation, .below = INT64_MAX};
    parapet_status status = pp_checkpoint_build(checkpoint, store, path);
    pp_call call;
    if (store == NULL)
        return pp_outcome(status);
    pp_call_init(&call, "checkpoint_open(%s)", path != NULL ? path : "");
    pp_call_add_integer(&call, "generation", generation);
    if (status == PARAPET_OK && generation < 0)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "generation is %lld, but must be 1 or more, or 0 for the newest",
                         (long long)generation);
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK) {
        self.checkpoint = *checkpoint;
        (*checkpoint)->is_restore = true;
        status = search_generations(&self);
    }
    if (status == PARAPET_OK) {
        pp_store_add_handles(store, 1);
    } else if (checkpoint != NULL) {
        pp_checkpoint_free(*checkpoint);
        *checkpoint = NULL;
    }
    return pp_outcome(status);
}

/* ---- Reading ---- */

static parapet_status check_opened(const parapet_checkpoint *checkpoint)
{
    return checkpoint->is_restore
               ? PARAPET_OK
               : pp_fail(PARAPET_ERR_ARGUMENT, "generation %lld of \"%s\" was begun, not opened to restore from it",
                         (long long)checkpoint->commit.generation, checkpoint->path);
}

static parapet_array *find_array(const parapet_checkpoint *checkpoint, const char *name)
{
    size_t i;
    for (i = 0; i < checkpoint->commit.array_count; i++)
        if (name != NULL && strcmp(checkpoint->names[i], name) == 0)
            return checkpoint->arrays[i];
    return NULL;
}

static parapet_status list_wanted(const parapet_checkpoint *checkpoint, const parapet_checkpoint_item *items,
                                  int count, parapet_array_parts **list)
{
    parapet_status status = check_opened(checkpoint);
    int i;
    if (status == PARAPET_OK && (count < 0 || (count > 0 && items == NULL)))
        status = pp_fail(PARAPET_ERR_ARGUMENT, "there are %d items%s", count, count > 0 ? ", but no list" : "");
    if (status != PARAPET_OK ||
        (status = pp_allocate_array(list, count > 0 ? (size_t)count : 1, sizeof **list)) != PARAPET_OK)
        return status;
    for (i = 0; i < count; i++) {
        if ((status = PP_RESERVED_CHECK(parapet_checkpoint_item, &items[i])) != PARAPET_OK)
            return pp_fail_within(status, "item %d", i);
        (*list)[i] = (parapet_array_parts){.array = find_array(checkpoint, items[i].name),
                                           .parts = items[i].parts,
                                           .part_count = items[i].part_count};
        if ((*list)[i].array == NULL)
            return pp_fail(PARAPET_ERR_NOT_FOUND, "generation %lld of \"%s\" has no array \"%s\"",
                           (long long)checkpoint->commit.generation, checkpoint->path,
                           items[i].name != NULL ? items[i].name : "");
    }
    return PARAPET_OK;
}

parapet_status parapet_checkpoint_get(parapet_checkpoint *checkpoint, const parapet_checkpoint_item *items, int count)
{
    parapet_array_parts *list = NULL;
    parapet_status status;
    pp_call call;
    if (checkpoint == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_get needs a checkpoint");
    if (checkpoint->job != NULL) /* all ranks know that, and a thread is using what they would say it with */
        return pp_outcome(pp_checkpoint_check_begun(checkpoint));
    pp_checkpoint_call(&call, "get", checkpoint);
    pp_call_add_integer(&call, "count", count);
    status = list_wanted(checkpoint, items, count, &list);
    if ((status = pp_comm_begin(pp_store_comm(checkpoint->store), &call, status)) == PARAPET_OK && count > 0)
        status = parapet_arrays_read(list, count);
    pp_free(list);
    return pp_outcome(status);
}

parapet_status parapet_checkpoint_attribute_get(parapet_checkpoint *checkpoint, const char *name, char **json)
{
    if (checkpoint == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_attribute_get needs a checkpoint");
    return pp_outcome(pp_attributes_get(checkpoint->attributes, name, json));
}

parapet_status parapet_checkpoint_get_info(parapet_checkpoint *checkpoint, parapet_checkpoint_info *info)
{
    if (checkpoint == NULL || info == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_get_info needs a checkpoint and a place");
    *info = (parapet_checkpoint_info){
        .generation = checkpoint->commit.generation,
        .path = checkpoint->group_path,
        .array_count = checkpoint->is_restore ? (int)checkpoint->commit.array_count : 0,
        .names = checkpoint->names,
        .passed_over = checkpoint->passed_over,
        .problem = checkpoint->problem.message,
    };
    return pp_outcome(PARAPET_OK);
}

parapet_status parapet_checkpoint_close(parapet_checkpoint **checkpoint)
{
    parapet_status status, closed;
    pp_call call;
    if (checkpoint == NULL || *checkpoint == NULL)
        return PARAPET_OK;
    if ((*checkpoint)->job != NULL)
        return pp_checkpoint_check_begun(*checkpoint);
    pp_checkpoint_call(&call, "close", *checkpoint);
    status = check_opened(*checkpoint);
    if (!pp_comm_is_lost(pp_store_comm((*checkpoint)->store)))
        status = pp_comm_begin(pp_store_comm((*checkpoint)->store), &call, status);
    if (status == PARAPET_ERR_ARGUMENT)
        return status; /* the ranks called different things, or it was begun: nobody closes */
    closed = parapet_arrays_close((*checkpoint)->arrays, (int)(*checkpoint)->commit.array_count);
    pp_checkpoint_drop(checkpoint);
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
    else if (is_of_the_generation(status))
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
        const char *group;
        job->numbers[i] = (int64_t)pp_cursor_u64(bytes);
        group = pp_cursor_block(bytes, &length);
        if ((status = pp_cursor_finish(bytes)) == PARAPET_OK)
            status = pp_text_duplicate(&job->groups[i], group);
    }
    return status;
}

parapet_status parapet_checkpoint_list(parapet_store *store, const char *path, parapet_generation_visitor generation,
                                       void *context)
{
    listing job = {.store = store};
    pp_rank0_task task = {.subject = &job, .work = list_generations, .print = print_listing, .adopt = adopt_listing};
    parapet_status status;
    pp_call call;
    size_t i;
    if (store == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_list needs a store");
    pp_call_init(&call, "checkpoint_list(%s)", path != NULL ? path : "");
    if ((status = pp_path_normalize(path, &job.path)) == PARAPET_OK && generation == NULL)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "parapet_checkpoint_list needs somebody to tell");
    if ((status = pp_comm_begin(pp_store_comm(store), &call, status)) == PARAPET_OK)
        status = pp_rank0_do(pp_store_comm(store), "listing checkpoints", &task);
    for (i = 0; status == PARAPET_OK && i < job.count; i++)
        if (generation(context, job.numbers[i], job.groups[i]) != 0)
            break;
    pp_paths_free(job.groups, job.count);
    pp_free(job.numbers);
    pp_free(job.path);
    return pp_outcome(status);
}
