/* copy_request.c - the fields of a request for a copy: what they may be, and how they are set by name. */
#include "copy/copy_request.h"

#include "base/option.h"
#include "base/reserved.h"
#include "base/status.h"
#include "rechunk/rechunk.h"

#define NUMBER(field, most, meaning) PP_OPTION_NUMBER(parapet_copy_request, field, 0, most, 0, meaning)
#define CHOICE(field) PP_OPTION_CHOICE(parapet_copy_request, field, 0)
#define BOOLEAN(field, meaning) PP_OPTION_BOOLEAN(parapet_copy_request, field, meaning)

static const pp_option option_rows[] = {
    NUMBER(memory_bytes, INT64_MAX, "limit on all buffers of the copy on a rank; 0: that of the target store"),
    NUMBER(unit_bytes, INT64_MAX, "limit, in bytes of elements, on what a rank repeats after a kill; 0: chosen"),
    BOOLEAN(overwrite, "whether an array at the target's path is replaced"),
    BOOLEAN(resume, "whether an interrupted copy is continued"),
    BOOLEAN(verify, "whether source and target are read again and compared"),
    BOOLEAN(no_probe, "whether the time is predicted for an ordinary disk"),
    NUMBER(passes, PP_RECHUNK_PASSES_MOST, "number of passes; 0: chosen"),
    CHOICE(reading),
    CHOICE(cooperation),
};

static const pp_option_table option_table = {option_rows, sizeof option_rows / sizeof option_rows[0]};

parapet_status parapet_copy_request_set(parapet_copy_request *request, const char *name, const char *value)
{
    if (request == NULL || name == NULL || value == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_copy_request_set needs a request, a name and a value");
    return pp_outcome(pp_option_set(&option_table, request, name, value));
}

parapet_status pp_copy_changes_check(const parapet_copy_changes *changes)
{
    parapet_status status = PP_RESERVED_CHECK(parapet_copy_changes, changes);
    return status == PARAPET_OK ? pp_boolean_check("no_checksum", changes->no_checksum) : status;
}

parapet_status pp_copy_request_check(const parapet_copy_request *request)
{
    parapet_status status = PP_RESERVED_CHECK(parapet_copy_request, request);
    size_t i;
    for (i = 0; i < option_table.count && status == PARAPET_OK; i++)
        status = pp_option_check(&option_rows[i], request);
    return status == PARAPET_OK ? pp_copy_changes_check(&request->changes) : status;
}
