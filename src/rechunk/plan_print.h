/* plan_print.h - the plan of a copy in words for people, or as JSON for programs. Pure; depends on base and geometry.
 */
#ifndef PARAPET_RECHUNK_PLAN_PRINT_H
#define PARAPET_RECHUNK_PLAN_PRINT_H

#include "base/text.h"
#include "rechunk/rechunk.h"

/* What the plan itself does not know. A field that is NULL is not printed. */
typedef struct pp_rechunk_labels {
    const char *type_name;
    const char *const *dimension_names; /* of the target, one for each dimension, of which any may be NULL */
    const char *source_codecs, *target_codecs;
    const char *permutation; /* "time,lat,lon to lat,lon,-time" */
} pp_rechunk_labels;

/* labels may be NULL. Fails only when there is no memory for the text. */
parapet_status pp_rechunk_print(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *text);
parapet_status pp_rechunk_print_json(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *text);

/* Bytes of the elements of the array, and of the largest template of all passes, which is what is repeated after a
 * kill. */
int64_t pp_rechunk_plan_array_bytes(const pp_rechunk_plan *plan);
int64_t pp_rechunk_plan_redone_bytes(const pp_rechunk_plan *plan);

/* The memory of a pass by what it is for; adds up to pass->memory.memory_bytes. */
typedef struct pp_rechunk_parts {
    int64_t chunk_buffers; /* open target chunks; 0 when cooperating */
    int64_t indexes, writers;
    int64_t rest; /* source chunks in transit, decoding and encoding; cooperating: the template and reading it */
} pp_rechunk_parts;

pp_rechunk_parts pp_rechunk_memory_parts(const pp_rechunk_pass *pass);

/* "lat", or "dimension 0" where there is no name. */
void pp_rechunk_print_dimension(const pp_rechunk_labels *labels, int d, pp_text *text);

#endif
