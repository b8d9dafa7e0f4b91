/* Copies. */
#include "shim.h"

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
                              all->verified_bytes};
    memcpy(counts, listed, sizeof listed);
    seconds[0] = all->planned_seconds;
    seconds[1] = all->seconds;
}

parapet_status parapet_fortran_copy(parapet_store *source, parapet_store *target, parapet_store *temporary,
                                    const char *texts, const char *lines, int64_t *counts, double *seconds)
{
    parapet_copy_request request = {.source = source, .target = target, .temporary = temporary};
    parapet_copy_changes *changes = &request.changes;
    const char **fields[] = {&request.source_path, &request.target_path, &changes->chunks, &changes->shards,
                             &changes->order,      &changes->region,     &changes->codec};
    parapet_copy_result result = {0};
    parapet_status status;
    shim_begin();
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i] = texts;
        texts += strlen(texts) + 1;
    }
    if (shim_copy_options(&request, lines) != PARAPET_OK) {
        shim_refuse("%s", parapet_error_message());
        request.reserved[0] = 1; /* which the library refuses, on all ranks */
    }
    status = parapet_copy(&request, &result);
    list_result(&result, counts, seconds);
    return status;
}
