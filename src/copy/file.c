/* file.c - the public function that writes an array, or the arrays of a group, to one file of another format.
 *
 *     the source is opened and outlined --> what the file cannot say is told
 *     rank 0 makes a temporary file of its full length beside it
 *     all ranks write boxes of the arrays, rank 0 also the header
 *     rank 0 gives the file its name
 *
 * A failure removes the temporary file. */
#include "copy/file.h"

#include <parapet_store.h>
#include <string.h>

#include "array/announcement.h"
#include "array/array.h"
#include "array/group.h"
#include "array/node_path.h"
#include "array/store_queries.h"
#include "base/choice.h"
#include "base/reserved.h"
#include "base/status.h"
#include "copy/copy.h"
#include "copy/selection.h"

typedef struct file_writing {
    const parapet_file_request *request;
    pp_comm *comm;
    const pp_outline_format *format;
    const char *path; /* of the file */
    pp_selection selection;
    parapet_group *group;
    char **names;           /* of the arrays */
    parapet_array **arrays; /* open */
    size_t count;
    parapet_status listed;
    pp_outline_array *places;
    pp_outline outline;
    pp_store *directory;
    char *key;
    pp_writer *writer; /* on rank 0 */
    pp_shared *file;
    pp_file_progress progress;
} file_writing;

/* ---- The source ---- */

static parapet_status add_name(file_writing *work, const char *name)
{
    parapet_status status = pp_reallocate(&work->names, (work->count + 1) * sizeof work->names[0]);
    if (status == PARAPET_OK && (status = pp_text_duplicate(&work->names[work->count], name)) == PARAPET_OK)
        work->count++;
    return status;
}

static bool is_taken(file_writing *work, const char *name)
{
    pp_taken taken = pp_selection_take(&work->selection, name);
    return taken == PP_TAKEN_WHOLE || (taken == PP_TAKEN_SOME && work->selection.included.count == 0);
}

static int take_child(void *context, const char *name, parapet_node_kind kind)
{
    file_writing *work = context;
    if (!is_taken(work, name))
        return 0;
    if (kind == PARAPET_NODE_ARRAY)
        work->listed = add_name(work, name);
    else
        work->listed = pp_fail(PARAPET_ERR_UNSUPPORTED,
                               "%s cannot hold \"%s\" (%s); leave it out with exclude, or write it to a file of its "
                               "own",
                               work->format->article, name,
                               kind == PARAPET_NODE_GROUP ? "a group" : "its metadata cannot be understood");
    return work->listed != PARAPET_OK;
}

/* [collective] */
static parapet_status list_group(file_writing *work, const char *path)
{
    parapet_status status = parapet_group_open(&work->group, work->request->source, path);
    if (status != PARAPET_OK || (status = parapet_group_list(work->group, take_child, work)) != PARAPET_OK)
        return status;
    if (work->listed == PARAPET_OK)
        work->listed = pp_selection_check_found(&work->selection);
    return pp_comm_agree(work->comm, "listing a group", work->listed);
}

/* [collective] */
static parapet_status open_arrays(file_writing *work, const char *path)
{
    parapet_status status = pp_comm_agree(work->comm, "opening arrays",
                                          pp_allocate_array(&work->arrays, work->count + 1, sizeof work->arrays[0]));
    size_t i;
    for (i = 0; i < work->count && status == PARAPET_OK; i++) {
        char *child = NULL;
        status = work->group != NULL ? pp_path_join(path, work->names[i], &child) : pp_text_duplicate(&child, path);
        status = pp_comm_agree(work->comm, "opening arrays", status);
        if (status == PARAPET_OK)
            status = parapet_array_open(&work->arrays[i], work->request->source, child);
        pp_free(child);
    }
    return status;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return path[0] == '\0' ? "data" : slash != NULL ? slash + 1 : path;
}

/* [collective] */
static parapet_status refuse_appended(const file_writing *work, const char *path)
{
    bool leads = pp_comm_rank(work->comm) == 0;
    return pp_comm_agree(work->comm, "preparing a file",
                         leads ? pp_announcement_refuse_above(work->request->source, path) : PARAPET_OK);
}

/* [collective] */
static parapet_status open_source(file_writing *work, const char *path)
{
    parapet_node_kind kind;
    parapet_status status = pp_copy_find_kind(work->request->source, path, work->comm, &kind);
    if (status != PARAPET_OK || (status = refuse_appended(work, path)) != PARAPET_OK)
        return status;
    status = kind == PARAPET_NODE_GROUP
                 ? list_group(work, path)
                 : pp_comm_agree(work->comm, "opening arrays", add_name(work, last_name(path)));
    if (status == PARAPET_OK)
        status = open_arrays(work, path);
    return status == PARAPET_OK ? refuse_appended(work, path) : status;
}

/* ---- The outline, equal on all ranks ---- */

static parapet_status outline(file_writing *work)
{
    size_t i;
    parapet_status status = pp_allocate_array(&work->places, work->count + 1, sizeof work->places[0]);
    if (status != PARAPET_OK)
        return status;
    for (i = 0; i < work->count; i++)
        work->places[i] =
            (pp_outline_array){.name = work->names[i], .document = pp_array_document_of(work->arrays[i])};
    work->outline.arrays = work->places;
    work->outline.count = work->count;
    if (work->group != NULL)
        work->outline.attributes = pp_group_document_of(work->group)->attributes;
    status = pp_outline_lay_out(&work->outline, work->format);
    for (i = 0; i < work->count && status == PARAPET_OK; i++)
        status = pp_array_check_readable(work->arrays[i]);
    return status;
}

static parapet_status tell(const file_writing *work, char **left_out)
{
    const pp_text *lines = &work->outline.left_out;
    return left_out != NULL ? pp_text_duplicate(left_out, lines->bytes > 0 ? lines->data : "") : PARAPET_OK;
}

/* ---- The file ---- */

static parapet_status name_directory(const char *path, char **directory)
{
    const char *slash = strrchr(path, '/');
    parapet_status status = pp_text_duplicate(directory, slash != NULL ? path : ".");
    if (status == PARAPET_OK && slash != NULL)
        (*directory)[slash == path ? 1 : slash - path] = '\0';
    return status;
}

static parapet_status open_directory(file_writing *work)
{
    pp_posix_options options = {.not_durable =
                                    pp_store_options(work->request->source)->durability == PARAPET_DURABILITY_LEAVE,
                                .direct_io = PP_DIRECT_IO_NEVER};
    const char *slash = strrchr(work->path, '/');
    char *directory = NULL;
    parapet_status status = name_directory(work->path, &directory);
    if (status == PARAPET_OK &&
        (status = pp_text_duplicate(&work->key, slash != NULL ? slash + 1 : work->path)) == PARAPET_OK)
        status = pp_key_check(work->key);
    if (status == PARAPET_OK)
        status = pp_store_posix_build(&work->directory, directory, &options);
    pp_free(directory);
    return status;
}

/* Whether something is there; only a plain file may be. */
static parapet_status look_up(const file_writing *work, const char *key, bool *is_there)
{
    pp_reader *reader = NULL;
    parapet_status status = pp_store_open_object(work->directory, key, &reader);
    pp_reader_free(reader);
    *is_there = status == PARAPET_OK;
    return pp_accept_absence(status);
}

/* A store would lose its metadata or chunks, or have something among them that is neither. */
static parapet_status refuse_store(const file_writing *work)
{
    static const char *const documents[] = {"zarr.json", ".zarray", ".zgroup"};
    char *directory = NULL, *found = NULL;
    parapet_status status = name_directory(work->path, &directory);
    if (status == PARAPET_OK)
        status = pp_posix_find_above(directory, documents, sizeof documents / sizeof documents[0], &found);
    if (status == PARAPET_OK && found != NULL)
        status = pp_fail(PARAPET_ERR_ARGUMENT,
                         "the file %s would lie inside a Zarr store, which has %s; choose another directory",
                         work->path, found);
    pp_free(found);
    pp_free(directory);
    return status;
}

static parapet_status fail_exists(const file_writing *work)
{
    return pp_fail(PARAPET_ERR_EXISTS, "there is a file %s already; set overwrite to replace it", work->path);
}

/* Nothing but a plain file is replaced, and that only if it is asked for. */
static parapet_status check_target(const file_writing *work)
{
    parapet_status status = refuse_store(work);
    bool is_there;
    if (status != PARAPET_OK)
        return status;
    if (pp_posix_is_link(work->path))
        return pp_fail(PARAPET_ERR_EXISTS, "%s is a symbolic link, which stays; name the file itself", work->path);
    if ((status = look_up(work, work->key, &is_there)) != PARAPET_OK)
        return pp_fail_within(status == PARAPET_ERR_FORMAT ? PARAPET_ERR_EXISTS : status, "no file can be made at %s",
                              work->path);
    return is_there && !work->request->overwrite ? fail_exists(work) : PARAPET_OK;
}

/* Rank 0. */
static parapet_status begin_file(file_writing *work, char **staged)
{
    pp_write_request request = {.key = work->key, .staging = "", .is_small = true};
    parapet_status status;
    if ((status = check_target(work)) != PARAPET_OK ||
        (status = pp_store_begin(work->directory, &request, &work->writer)) != PARAPET_OK)
        return status;
    return pp_store_posix_share(work->writer, work->outline.file_bytes, staged);
}

/* [collective] */
static parapet_status open_file(file_writing *work)
{
    char *staged = NULL;
    void *data;
    size_t bytes = 0;
    parapet_status status = open_directory(work);
    if (status == PARAPET_OK && pp_comm_rank(work->comm) == 0 && (status = begin_file(work, &staged)) == PARAPET_OK)
        bytes = strlen(staged) + 1;
    data = staged;
    if ((status = pp_comm_share(work->comm, "making a file", status, &data, &bytes)) == PARAPET_OK)
        status = pp_comm_agree(work->comm, "making a file", pp_shared_open(work->directory, data, &work->file));
    pp_free(pp_comm_rank(work->comm) == 0 ? staged : data);
    return status;
}

/* [collective] */
static parapet_status pass_on_arrays(file_writing *work, bool is_compared)
{
    parapet_status status = PARAPET_OK;
    size_t i;
    for (i = 0; i < work->count && status == PARAPET_OK; i++) {
        status = pp_file_array_write(&(pp_file_array){.array = work->arrays[i],
                                                      .place = &work->places[i],
                                                      .is_big_endian = work->outline.is_big_endian,
                                                      .file = work->file,
                                                      .is_compared = is_compared,
                                                      .progress = &work->progress});
        work->progress.done_bytes += (int64_t)work->places[i].bytes;
    }
    return status;
}

static void begin_progress(file_writing *work)
{
    size_t i;
    for (i = 0; i < work->count; i++)
        work->progress.total_bytes += (int64_t)work->places[i].bytes * (work->request->verify ? 2 : 1);
}

/* [collective] */
static parapet_status fill_file(file_writing *work)
{
    const pp_text *header = &work->outline.header;
    parapet_status status = PARAPET_OK;
    if (pp_comm_rank(work->comm) == 0 && header->bytes > 0)
        status = pp_shared_write(work->file, 0, header->data, header->bytes);
    if ((status = pp_comm_agree(work->comm, "writing a file", status)) != PARAPET_OK ||
        (status = pass_on_arrays(work, false)) != PARAPET_OK ||
        (work->request->verify && (status = pass_on_arrays(work, true)) != PARAPET_OK))
        return status;
    return pp_comm_agree(work->comm, "writing a file", pp_shared_finish(work->file));
}

/* Rank 0. Something may have come there meanwhile. */
static parapet_status publish(const file_writing *work)
{
    parapet_status status = check_target(work);
    if (status == PARAPET_OK && (status = pp_writer_stage(work->writer)) == PARAPET_OK)
        status =
            pp_writer_publish(work->writer, work->request->overwrite ? PP_PUBLISH_REPLACE : PP_PUBLISH_EXCLUSIVE);
    if (status == PARAPET_ERR_EXISTS)
        return fail_exists(work);
    return status == PARAPET_OK ? pp_store_sync_dirs(work->directory) : status;
}

/* [collective] */
static parapet_status write_file(file_writing *work)
{
    parapet_status status = open_file(work);
    begin_progress(work);
    if (status != PARAPET_OK || (status = fill_file(work)) != PARAPET_OK)
        return status;
    pp_shared_free(work->file);
    work->file = NULL;
    return pp_comm_agree(work->comm, "naming a file", pp_comm_rank(work->comm) == 0 ? publish(work) : PARAPET_OK);
}

/* ---- The call ---- */

static parapet_status check(file_writing *work)
{
    const parapet_file_request *request = work->request;
    parapet_status status;
    if (request->source_path == NULL || request->file == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_file_write needs a path in the source and a file");
    if ((status = PP_RESERVED_CHECK(parapet_file_request, request)) != PARAPET_OK ||
        (status = pp_boolean_check("overwrite", request->overwrite)) != PARAPET_OK ||
        (status = pp_boolean_check("verify", request->verify)) != PARAPET_OK ||
        (status = pp_boolean_check("dry_run", request->dry_run)) != PARAPET_OK)
        return status;
    if ((work->format = pp_outline_format_find(request->file, &work->path)) == NULL)
        return pp_fail(
            PARAPET_ERR_ARGUMENT,
            "the name of the file %s does not tell its format; end it in .nc or .npy, or put netcdf:, npy: "
            "or raw: before it",
            request->file);
    return pp_selection_init(&work->selection, request->include, request->exclude);
}

static void describe(const parapet_file_request *request, pp_call *call)
{
    pp_call_init(call, "file_write(%s)", request->source_path != NULL ? request->source_path : "");
    pp_call_add_text(call, "file", request->file);
    pp_call_add_text(call, "include", request->include);
    pp_call_add_text(call, "exclude", request->exclude);
    pp_call_add_integer(call, "overwrite", request->overwrite);
    pp_call_add_integer(call, "verify", request->verify);
    pp_call_add_integer(call, "dry_run", request->dry_run);
}

/* [collective] What is open is closed by all ranks alike. */
static void clear(file_writing *work)
{
    size_t i;
    pp_shared_free(work->file);
    pp_writer_free(work->writer);
    pp_store_free(work->directory);
    for (i = 0; i < work->count && work->arrays != NULL; i++)
        (void)parapet_array_close(&work->arrays[i]);
    (void)parapet_group_close(&work->group);
    for (i = 0; i < work->count; i++)
        pp_free(work->names[i]);
    pp_free(work->names);
    pp_free(work->arrays);
    pp_free(work->places);
    pp_free(work->key);
    pp_outline_clear(&work->outline);
    pp_selection_clear(&work->selection);
}

/* [collective] Part of a call that has begun. */
static parapet_status outline_and_write(file_writing *work, char **left_out)
{
    char *path = NULL;
    parapet_status status =
        pp_comm_agree(work->comm, "preparing a file", pp_path_normalize(work->request->source_path, &path));
    if (status == PARAPET_OK && (status = open_source(work, path)) == PARAPET_OK &&
        (status = pp_comm_agree(work->comm, "preparing a file", outline(work))) == PARAPET_OK &&
        (status = pp_comm_agree(work->comm, "preparing a file", tell(work, left_out))) == PARAPET_OK &&
        !work->request->dry_run)
        status = write_file(work);
    pp_free(path);
    return status;
}

/* [collective] Ranks may wait long for the slowest, and only this call reports progress. */
static parapet_status outline_and_write_undisturbed(file_writing *work, char **left_out)
{
    parapet_store *source = work->request->source;
    parapet_status status;
    work->progress.callback = pp_store_options(source)->progress;
    work->progress.context = pp_store_options(source)->progress_context;
    pp_store_suspend_deadline(source);
    pp_store_suspend_progress(source);
    status = outline_and_write(work, left_out);
    pp_store_resume_progress(source);
    pp_store_resume_deadline(source);
    return status;
}

parapet_status parapet_file_write(const parapet_file_request *request, char **left_out)
{
    PP_TURN turn = {0};
    file_writing work = {.request = request};
    pp_failure failure = {0};
    parapet_status status;
    pp_call call;
    if (left_out != NULL)
        *left_out = NULL;
    if (request == NULL || request->source == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_file_write needs a request with a source");
    work.comm = pp_store_comm(request->source);
    if ((status = pp_turn_take(&turn, work.comm, PP_TURN_COLLECTIVE)) != PARAPET_OK)
        return status;
    describe(request, &call);
    if ((status = pp_comm_begin(work.comm, &call, check(&work))) == PARAPET_OK)
        status = outline_and_write_undisturbed(&work, left_out);
    pp_failure_take(&failure, status);
    clear(&work);
    if (status != PARAPET_OK && left_out != NULL) {
        pp_free(*left_out);
        *left_out = NULL;
    }
    return pp_outcome(pp_failure_put(&failure));
}
