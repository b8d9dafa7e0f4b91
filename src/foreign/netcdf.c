/* netcdf.c - netCDF in the classic format: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data).
 *
 * A variable whose first dimension is the record dimension is kept record by record, those of all such variables in
 * turn; every other one lies in one piece. The lengths of variables in the header are not used: they are wrong by
 * design where they do not fit. */
#include "foreign/netcdf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "foreign/format.h"

#define FIRST_HEADER_BYTES ((size_t)64 << 10)
#define MOST_DIMENSIONS 65536

typedef struct dimension {
    char *name;
    int64_t length; /* 0: the record dimension */
} dimension;

typedef struct variable {
    char *name;
    int ndim;
    int32_t *dimensions; /* numbers of them */
    size_t attributes;   /* where they are in the header */
    const pp_netcdf_type *type;
    uint64_t start;
    uint64_t record_bytes; /* of one record, or of the whole; not padded */
    bool has_records;
} variable;

typedef struct dataset {
    pp_netcdf_header header;
    dimension *dimensions;
    size_t dimension_count;
    variable *variables;
    size_t variable_count;
    uint64_t record_count;
    bool counts_records;   /* the header does not tell: the length of the file does */
    uint64_t record_bytes; /* of all variables together */
} dataset;

static void clear_dataset(dataset *set)
{
    size_t i;
    for (i = 0; i < set->dimension_count; i++)
        pp_free(set->dimensions[i].name);
    for (i = 0; i < set->variable_count; i++) {
        pp_free(set->variables[i].name);
        pp_free(set->variables[i].dimensions);
    }
    pp_free(set->dimensions);
    pp_free(set->variables);
    set->dimensions = NULL;
    set->variables = NULL;
    set->dimension_count = set->variable_count = 0;
}

/* ---- Dimensions ---- */

static parapet_status read_dimension(dataset *set, dimension *found)
{
    parapet_status status = pp_netcdf_name(&set->header, &found->name);
    uint64_t length = pp_netcdf_count(&set->header);
    if (status == PARAPET_OK && length > INT64_MAX)
        return pp_fail(PARAPET_ERR_FORMAT, "the dimension \"%s\" has %" PRIu64 " indices, more than any array",
                       found->name, length);
    found->length = (int64_t)length;
    return status;
}

static parapet_status check_one_record_dimension(const dataset *set)
{
    size_t i, count = 0;
    for (i = 0; i < set->dimension_count; i++)
        count += set->dimensions[i].length == 0;
    return count <= 1 ? PARAPET_OK
                      : pp_fail(PARAPET_ERR_FORMAT, "the header has %zu record dimensions, but may have one", count);
}

static parapet_status read_dimensions(dataset *set)
{
    static const pp_netcdf_list list = {PP_NETCDF_DIMENSIONS, 8, MOST_DIMENSIONS, "dimensions"};
    uint64_t count = 0;
    parapet_status status;
    if ((status = pp_netcdf_list_begin(&set->header, &list, &count)) != PARAPET_OK || set->header.is_short)
        return status;
    if ((status = pp_allocate_array(&set->dimensions, (size_t)count, sizeof set->dimensions[0])) != PARAPET_OK)
        return status;
    while (set->dimension_count < count && status == PARAPET_OK && !set->header.is_short)
        status = read_dimension(set, &set->dimensions[set->dimension_count++]);
    return status != PARAPET_OK || set->header.is_short ? status : check_one_record_dimension(set);
}

/* ---- Variables ---- */

static parapet_status read_dimension_numbers(dataset *set, variable *found)
{
    uint64_t ndim = pp_netcdf_count(&set->header);
    parapet_status status;
    int d;
    if (ndim > PARAPET_MAX_NDIM)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the variable \"%s\" has %" PRIu64 " dimensions, more than %d",
                       found->name, ndim, PARAPET_MAX_NDIM);
    if ((status = pp_allocate_array(&found->dimensions, (size_t)ndim, sizeof found->dimensions[0])) != PARAPET_OK)
        return status;
    for (found->ndim = (int)ndim, d = 0; d < found->ndim; d++) {
        uint64_t number = pp_netcdf_count(&set->header);
        if (!set->header.is_short && number >= set->dimension_count)
            return pp_fail(PARAPET_ERR_FORMAT,
                           "the variable \"%s\" has dimension number %" PRIu64 ", but there are only %zu",
                           found->name, number, set->dimension_count);
        found->dimensions[d] = (int32_t)number;
    }
    return PARAPET_OK;
}

/* The bytes of one record, or of everything. */
static parapet_status count_record_bytes(const dataset *set, variable *found)
{
    int64_t bytes = (int64_t)found->type->bytes;
    int d;
    for (d = 0; d < found->ndim; d++) {
        int64_t length = set->dimensions[found->dimensions[d]].length;
        if (length == 0 && d > 0)
            return pp_fail(PARAPET_ERR_FORMAT, "the variable \"%s\" has the record dimension, but not first",
                           found->name);
        found->has_records |= length == 0;
        if (!pp_multiply_fits(bytes, length > 0 ? length : 1, &bytes) || bytes > INT64_MAX / 2)
            return pp_fail(PARAPET_ERR_FORMAT, "the variable \"%s\" has more elements than any file", found->name);
    }
    found->record_bytes = (uint64_t)bytes;
    return PARAPET_OK;
}

static parapet_status skip_attributes(dataset *set, size_t *position)
{
    pp_netcdf_attributes attributes = {.is_skipped = true};
    parapet_status status;
    *position = set->header.next;
    status = pp_netcdf_attributes_read(&set->header, &attributes);
    pp_text_free(&attributes.json);
    return status;
}

static parapet_status read_variable(dataset *set, variable *found)
{
    pp_netcdf_header *header = &set->header;
    uint32_t number;
    parapet_status status;
    if ((status = pp_netcdf_name(header, &found->name)) != PARAPET_OK ||
        (status = read_dimension_numbers(set, found)) != PARAPET_OK ||
        (status = skip_attributes(set, &found->attributes)) != PARAPET_OK)
        return status;
    number = pp_netcdf_u32(header);
    (void)pp_netcdf_count(header); /* its length, which may not fit */
    found->start = header->version == 1 ? pp_netcdf_u32(header) : 0;
    if (header->version > 1) {
        const unsigned char *bytes = pp_netcdf_bytes(header, 8);
        found->start = bytes != NULL ? pp_load_u64be(bytes) : 0;
    }
    if (header->is_short)
        return PARAPET_OK;
    if ((status = pp_netcdf_type_find(number, &found->type)) != PARAPET_OK)
        return pp_fail_within(status, "the variable \"%s\"", found->name);
    return count_record_bytes(set, found);
}

static parapet_status read_variables(dataset *set)
{
    static const pp_netcdf_list list = {PP_NETCDF_VARIABLES, 28, PP_MAX_FOREIGN_ARRAYS, "variables"};
    uint64_t count = 0;
    parapet_status status;
    if ((status = pp_netcdf_list_begin(&set->header, &list, &count)) != PARAPET_OK || set->header.is_short)
        return status;
    if ((status = pp_allocate_array(&set->variables, (size_t)count, sizeof set->variables[0])) != PARAPET_OK)
        return status;
    while (set->variable_count < count && status == PARAPET_OK && !set->header.is_short)
        status = read_variable(set, &set->variables[set->variable_count++]);
    return status;
}

/* ---- Records ---- */

static uint64_t padded(uint64_t bytes)
{
    return bytes + (4 - bytes % 4) % 4;
}

/* Records are padded to 4 bytes, unless there is only one variable that has any. */
static parapet_status count_records(dataset *set, uint64_t file_bytes)
{
    uint64_t sum = 0, first = UINT64_MAX;
    size_t i, count = 0, last = 0;
    for (i = 0; i < set->variable_count; i++) {
        const variable *each = &set->variables[i];
        if (!each->has_records)
            continue;
        if (!pp_add_u64_fits(sum, padded(each->record_bytes), &sum) || sum > INT64_MAX)
            return pp_fail(PARAPET_ERR_FORMAT, "a record has more bytes than any file");
        first = pp_min_u64(first, each->start);
        last = i;
        count++;
    }
    set->record_bytes = count == 1 ? set->variables[last].record_bytes : sum;
    if (set->counts_records)
        set->record_count = count > 0 && first < file_bytes ? (file_bytes - first) / set->record_bytes : 0;
    if (set->record_count > INT64_MAX)
        return pp_fail(PARAPET_ERR_FORMAT, "the header says that there are %" PRIu64 " records", set->record_count);
    return PARAPET_OK;
}

/* ---- Arrays ---- */

static parapet_status describe_dimensions(const dataset *set, const variable *from, pp_array_document *document)
{
    parapet_status status = PARAPET_OK;
    int d;
    document->ndim = from->ndim;
    document->has_dimension_names = true;
    for (d = 0; d < from->ndim && status == PARAPET_OK; d++) {
        const dimension *along = &set->dimensions[from->dimensions[d]];
        document->shape[d] = along->length > 0 ? along->length : (int64_t)set->record_count;
        status = pp_text_duplicate(&document->dimension_names[d], along->name);
    }
    return status;
}

static parapet_status describe_type(const pp_netcdf_type *type, pp_array_document *document)
{
    char text[16];
    pp_json *dtype = NULL;
    bool is_big_endian;
    parapet_status status;
    (void)snprintf(text, sizeof text, "\"%s\"", type->dtype);
    if ((status = pp_json_parse(&dtype, text, strlen(text))) == PARAPET_OK &&
        (status = pp_type_parse_v2(&document->type, dtype, &is_big_endian)) == PARAPET_OK)
        status = pp_allocate(&document->fill_value, document->type.element_bytes);
    pp_json_free(dtype);
    return status;
}

static parapet_status describe_attributes(dataset *set, const variable *from, pp_array_document *document)
{
    pp_netcdf_attributes attributes = {0};
    parapet_status status;
    set->header.next = from->attributes;
    if ((status = pp_netcdf_attributes_read(&set->header, &attributes)) == PARAPET_OK)
        status = pp_netcdf_attributes_give(&attributes, from->type, document);
    pp_text_free(&attributes.json);
    return status;
}

static parapet_status add_variable(dataset *set, const variable *from, pp_places *places)
{
    pp_array_document document = {0};
    pp_flat flat = {
        .start = from->start, .distance = from->has_records ? set->record_bytes : 0, .is_big_endian = true};
    parapet_status status;
    if ((status = describe_dimensions(set, from, &document)) != PARAPET_OK ||
        (status = describe_type(from->type, &document)) != PARAPET_OK ||
        (status = describe_attributes(set, from, &document)) != PARAPET_OK)
        status = pp_fail_within(status, "the variable \"%s\"", from->name);
    else
        status = pp_places_add(places, from->name, &document, &flat);
    pp_array_document_clear(&document);
    return status;
}

static parapet_status add_group(dataset *set, size_t attributes_position, pp_places *places)
{
    pp_netcdf_attributes attributes = {0};
    parapet_status status;
    set->header.next = attributes_position;
    if ((status = pp_netcdf_attributes_read(&set->header, &attributes)) == PARAPET_OK &&
        (status = pp_netcdf_attributes_finish(&attributes)) == PARAPET_OK)
        status = pp_places_set_group(places, attributes.json.data, attributes.json.bytes);
    pp_text_free(&attributes.json);
    return status != PARAPET_OK ? pp_fail_within(status, "the attributes of the file") : PARAPET_OK;
}

static parapet_status add_all(dataset *set, size_t attributes_position, pp_places *places)
{
    parapet_status status = add_group(set, attributes_position, places);
    size_t i;
    for (i = 0; i < set->variable_count && status == PARAPET_OK; i++)
        status = add_variable(set, &set->variables[i], places);
    return status;
}

/* ---- The header ---- */

static void read_record_count(dataset *set)
{
    set->record_count = pp_netcdf_count(&set->header);
    set->counts_records = set->record_count == (set->header.version < 5 ? UINT32_MAX : UINT64_MAX);
}

/* With is_short set, places are left alone: more of the file has to be read. */
static parapet_status read_header(dataset *set, pp_places *places)
{
    size_t attributes = 0;
    parapet_status status;
    const unsigned char *signature = pp_netcdf_bytes(&set->header, 4);
    if (signature == NULL)
        return PARAPET_OK;
    set->header.version = signature[3];
    read_record_count(set);
    if ((status = read_dimensions(set)) != PARAPET_OK || set->header.is_short ||
        (status = skip_attributes(set, &attributes)) != PARAPET_OK || set->header.is_short ||
        (status = read_variables(set)) != PARAPET_OK || set->header.is_short)
        return status;
    if ((status = count_records(set, places->file_bytes)) != PARAPET_OK)
        return status;
    return add_all(set, attributes, places);
}

static parapet_status try_header(pp_reader *file, size_t bytes, pp_places *places, bool *is_short)
{
    dataset set = {.header = {.bytes = bytes, .version = 1}};
    unsigned char *data = NULL;
    parapet_status status;
    if ((status = pp_allocate(&data, bytes)) == PARAPET_OK &&
        (status = pp_reader_read(file, 0, bytes, data)) == PARAPET_OK) {
        set.header.data = data;
        status = read_header(&set, places);
    }
    *is_short = set.header.is_short;
    clear_dataset(&set);
    pp_free(data);
    return status;
}

static parapet_status netcdf_read(pp_reader *file, pp_places *places)
{
    size_t most = (size_t)pp_min_u64(file->bytes, PP_MAX_HEADER_BYTES);
    size_t bytes = pp_min_size(most, FIRST_HEADER_BYTES);
    bool is_short = false;
    parapet_status status;
    while ((status = try_header(file, bytes, places, &is_short)) == PARAPET_OK && is_short && bytes < most)
        bytes = pp_min_size(most, 2 * bytes);
    if (status != PARAPET_OK || !is_short)
        return status;
    if (file->bytes > PP_MAX_HEADER_BYTES)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "the header takes more than %zu MiB", PP_MAX_HEADER_BYTES >> 20);
    return pp_fail(PARAPET_ERR_CORRUPT, "the file ends at byte %" PRIu64 ", inside its header", file->bytes);
}

const pp_format pp_format_netcdf = {.name = "netCDF in the classic format",
                                    .signatures = {"CDF\001", "CDF\002", "CDF\005"},
                                    .signature_bytes = 4,
                                    .read = netcdf_read};
