/* Copies. */
#include "shim.h"

#include <parapet_plan.h>
#include <string.h>

static void list_result(const parapet_copy_result *all, int64_t *counts, double *seconds)
{
    const int64_t listed[] = {all->arrays,
                              all->groups,
                              all->passes,
                              all->array_bytes,
                              all->read_requests,
                              all->index_reads,
                              all->decoded_bytes,
                              all->chunks_written,
                              all->shards_written,
                              all->memory_peak_bytes,
                              all->memory_planned_bytes,
                              all->templates_resumed,
                              all->verified_bytes,
                              all->extent_before,
                              all->extent_after,
                              all->repaired};
    memcpy(counts, listed, sizeof listed);
    seconds[0] = all->planned_seconds;
    seconds[1] = all->seconds;
}

/* Describes a copy; what cannot be described is refused by the library, on all ranks. */
static parapet_copy_request describe(const shim_stores *stores, const char *texts, const char *lines)
{
    parapet_copy_request request = {
        .source = stores->source, .target = stores->target, .temporary = stores->temporary};
    parapet_copy_changes *changes = &request.changes;
    const char **fields[] = {&request.source_path, &request.target_path, &changes->chunks, &changes->shards,
                             &changes->order,      &changes->region,     &changes->codec,  &request.include,
                             &request.exclude,     &request.append};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i] = texts;
        texts += strlen(texts) + 1;
    }
    changes->no_checksum = stores->no_checksum;
    if (shim_copy_options(&request, lines) != PARAPET_OK) {
        shim_refuse("%s", parapet_error_message());
        request.reserved[0] = 1;
    }
    return request;
}

parapet_status parapet_fortran_copy(const shim_stores *stores, const char *texts, const char *lines, int64_t *counts,
                                    double *seconds)
{
    parapet_copy_result result = {0};
    parapet_copy_request request;
    parapet_status status;
    shim_begin();
    request = describe(stores, texts, lines);
    status = parapet_copy(&request, &result);
    list_result(&result, counts, seconds);
    return status;
}

parapet_status parapet_fortran_copy_plan(const shim_stores *stores, const char *texts, const char *lines, char **plan)
{
    parapet_copy_request request;
    shim_begin();
    request = describe(stores, texts, lines);
    return parapet_copy_request_plan_print(&request, 0, plan, NULL);
}

parapet_status parapet_fortran_file_write(parapet_store *source, const char *texts, const int *flags, char **left_out)
{
    parapet_file_request request = {.source = source, .overwrite = flags[0], .verify = flags[1], .dry_run = flags[2]};
    const char **fields[] = {&request.source_path, &request.file, &request.include, &request.exclude};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i] = texts;
        texts += strlen(texts) + 1;
    }
    shim_begin();
    return parapet_file_write(&request, left_out);
}
