/* netcdf_header.c - numbers, names, lists and types of a header. */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/status.h"
#include "foreign/netcdf.h"

static const pp_netcdf_type types[] = {
    {1, 1, 'i', "|i1"}, {2, 1, 'c', "|S1"},  {3, 2, 'i', ">i2"},  {4, 4, 'i', ">i4"},
    {5, 4, 'f', ">f4"}, {6, 8, 'f', ">f8"},  {7, 1, 'u', "|u1"},  {8, 2, 'u', ">u2"},
    {9, 4, 'u', ">u4"}, {10, 8, 'i', ">i8"}, {11, 8, 'u', ">u8"},
};

parapet_status pp_netcdf_type_find(uint32_t number, const pp_netcdf_type **type)
{
    size_t i;
    for (i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number) {
            *type = &types[i];
            return PARAPET_OK;
        }
    return pp_fail(PARAPET_ERR_FORMAT,
                   "the header has a type with the number %" PRIu32 ", which netCDF does not have", number);
}

const unsigned char *pp_netcdf_bytes(pp_netcdf_header *header, uint64_t bytes)
{
    const unsigned char *found = header->data + header->next;
    uint64_t left = header->bytes - header->next, padded = bytes + (4 - bytes % 4) % 4;
    if (header->is_short || bytes > left || padded > left) {
        header->is_short = true;
        return NULL;
    }
    header->next += (size_t)padded;
    return found;
}

uint32_t pp_netcdf_u32(pp_netcdf_header *header)
{
    const unsigned char *bytes = pp_netcdf_bytes(header, 4);
    return bytes != NULL ? pp_load_u32be(bytes) : 0;
}

uint64_t pp_netcdf_count(pp_netcdf_header *header)
{
    const unsigned char *bytes;
    if (header->version < 5)
        return pp_netcdf_u32(header);
    bytes = pp_netcdf_bytes(header, 8);
    return bytes != NULL ? pp_load_u64be(bytes) : 0;
}

parapet_status pp_netcdf_list_begin(pp_netcdf_header *header, const pp_netcdf_list *list, uint64_t *count)
{
    uint32_t tag = pp_netcdf_u32(header);
    *count = pp_netcdf_count(header);
    if (header->is_short || (tag == 0 && *count == 0))
        return PARAPET_OK;
    if (tag != list->tag)
        return pp_fail(PARAPET_ERR_FORMAT, "the header has %" PRIu32 " where its list of %s should begin", tag,
                       list->what);
    if (*count > list->most)
        return pp_fail(PARAPET_ERR_UNSUPPORTED,
                       "the header says that there are %" PRIu64 " %s; at most %" PRIu64 " are supported", *count,
                       list->what, list->most);
    if (*count > (header->bytes - header->next) / list->least_bytes)
        header->is_short = true;
    return PARAPET_OK;
}
