/* Stores, and options given as lines of text, "name=value", as the environment and the tool give them. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

typedef parapet_status (*option_setter)(void *struct_of_options, const char *name, const char *value);

/* Cuts the lines up; options may refer to texts in them. NULL: there was no memory for them. */
static parapet_status set_lines(option_setter set, void *options, char *lines)
{
    char *rest = NULL, *line;
    parapet_status status = lines == NULL ? PARAPET_ERR_MEMORY : PARAPET_OK;
    for (line = lines == NULL ? NULL : strtok_r(lines, "\n", &rest); line != NULL && status == PARAPET_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '=');
        if (value != NULL)
            *value++ = '\0';
        status = set(options, line, value != NULL ? value : ""); /* what follows a newline in a text is no option */
    }
    return status;
}

static parapet_status set_store_option(void *options, const char *name, const char *value)
{
    return parapet_store_options_set(options, name, value);
}

static parapet_status set_copy_option(void *request, const char *name, const char *value)
{
    return parapet_copy_request_set(request, name, value);
}

parapet_status shim_copy_options(parapet_copy_request *request, const char *lines)
{
    char *copy = shim_duplicate(lines);
    parapet_status status = set_lines(set_copy_option, request, copy); /* none of them is a text */
    free(copy);
    return status;
}

/* An option that cannot be set is kept as one that the library refuses, so that no rank is left waiting. */
static parapet_status open_store(parapet_store **store, MPI_Comm comm, const char *path, int mode,
                                 parapet_store_options *options, const char *lines)
{
    char *copy = shim_duplicate(lines);
    parapet_status status;
    shim_begin();
    if ((status = set_lines(set_store_option, options, copy)) != PARAPET_OK) {
        shim_refuse("%s", parapet_error_message());
        options->reserved[0] = 1;
    }
    if (shim_is_taken(*store, "store"))
        status = PARAPET_ERR_ARGUMENT;
    else
        status = parapet_store_open(store, comm, path, (parapet_mode)mode, options);
    free(copy);
    return status;
}

parapet_status parapet_fortran_store_open_alone(parapet_store **store, const char *path, int mode, const char *lines,
                                                parapet_progress_callback progress, void *context)
{
    parapet_store_options options = {.progress = progress, .progress_context = context};
    return open_store(store, MPI_COMM_NULL, path, mode, &options, lines);
}

#if !defined(PARAPET_SERIAL)
parapet_status parapet_fortran_store_open(parapet_store **store, int comm, const char *path, int mode,
                                          const char *lines, parapet_progress_callback progress, void *context)
{
    parapet_store_options options = {.progress = progress, .progress_context = context};
    return open_store(store, MPI_Comm_f2c((MPI_Fint)comm), path, mode, &options, lines);
}
#endif

parapet_status parapet_fortran_store_close(parapet_store **store)
{
    shim_begin();
    return parapet_store_close(store);
}

parapet_status parapet_fortran_store_flush(parapet_store *store)
{
    shim_begin();
    return parapet_store_flush(store);
}

parapet_status parapet_fortran_store_options(parapet_store *store, char **text)
{
    shim_begin();
    return parapet_store_options_print(store, text);
}

parapet_status parapet_fortran_store_statistics(parapet_store *store, int64_t *counts, double *seconds)
{
    parapet_statistics all = {0};
    parapet_status status;
    shim_begin();
    status = parapet_store_get_statistics(store, &all);
    const int64_t listed[] = {all.read_bytes,           all.written_bytes,       all.read_requests,
                              all.objects_written,      all.chunks_decoded,      all.chunks_encoded,
                              all.chunks_copied,        all.chunks_missing,      all.memory_peak_bytes,
                              all.memory_planned_bytes, all.messages_sent,       all.message_bytes,
                              all.direct_bytes,         all.shards_owned,        all.shards_taken,
                              all.description_messages, all.descriptions_reused, all.cache_hits,
                              all.cache_misses,         all.cache_bytes,         all.local_peak_bytes};
    memcpy(counts, listed, sizeof listed);
    *seconds = all.storage_seconds;
    return status;
}

static int add_removal(void *context, const char *key, const char *reason)
{
    return shim_notes_add(context, 0, key, reason);
}

parapet_status parapet_fortran_store_collect(parapet_store *store, const char *path, int dry_run,
                                             shim_notes **removals)
{
    shim_notes all = {0};
    shim_begin();
    return shim_notes_finish(removals, &all, parapet_store_collect(store, path, dry_run, add_removal, &all));
}

parapet_status parapet_fortran_store_remove(parapet_store *store, const char *path, int recursive, int dry_run,
                                            shim_notes **removals)
{
    shim_notes all = {0};
    shim_begin();
    return shim_notes_finish(removals, &all,
                             parapet_store_remove(store, path, recursive, dry_run, add_removal, &all));
}
