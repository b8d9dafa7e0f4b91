#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require(parapet_status status)
{
    if (status == PARAPET_OK)
        return;
    fprintf(stderr, "make_digest_stores: %s: %s\n", parapet_status_name(status), parapet_error_message());
    exit(1);
}

void require_true(bool is_true, const char *sentence)
{
    if (is_true)
        return;
    fprintf(stderr, "make_digest_stores: %s\n", sentence);
    exit(1);
}

parapet_store_options plain_options(const digest_bed *bed)
{
    return (parapet_store_options){.memory_bytes = 64 << 20,
                                   .threads = 1,
                                   .io_thread = bed->is_alone ? 2 : 1,
                                   .direct_io = PARAPET_DIRECT_IO_NEVER,
                                   .durability = PARAPET_DURABILITY_LEAVE};
}

parapet_store *open_store_with(const digest_bed *bed, const char *name, const parapet_store_options *options)
{
    parapet_store *store = NULL;
    char url[2000];
    (void)snprintf(url, sizeof url, "%s/%s", bed->folder, name);
    require(parapet_store_open(&store, bed->comm, url, PARAPET_CREATE, options));
    return store;
}

parapet_store *open_store(const digest_bed *bed, const char *name)
{
    parapet_store_options options = plain_options(bed);
    return open_store_with(bed, name, &options);
}

digest_box share_of(const digest_bed *bed, int ndim, const digest_box *box)
{
    digest_box share = *box;
    int64_t first, end;
    if (ndim == 0)
        return share;
    first = box->count[0] * bed->rank / bed->rank_count;
    end = box->count[0] * (bed->rank + 1) / bed->rank_count;
    share.start[0] += first;
    share.count[0] = end - first;
    return share;
}

/* Values that compress, in bytes that differ: each byte changes at its own pace. */
static void fill_element(parapet_type type, size_t bytes, uint64_t place, unsigned char *element)
{
    size_t i;
    for (i = 0; i < bytes; i++) {
        element[i] = (unsigned char)(place * 37 % 251 + i);
        place /= 11;
    }
    if (type == PARAPET_BOOL)
        element[0] %= 2;
}

static uint64_t place_of(int ndim, const digest_box *box, int64_t index, uint64_t seed)
{
    uint64_t place = seed * 10007;
    int d;
    for (d = ndim - 1; d >= 0; d--) {
        place += (uint64_t)(box->start[d] + index % box->count[d]) * (uint64_t)(d == ndim - 1 ? 1 : 101 + 12 * d);
        index /= box->count[d];
    }
    return place;
}

static int64_t element_count(int ndim, const digest_box *box)
{
    int64_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count *= box->count[d];
    return count;
}

void *make_elements(const parapet_array_info *info, const digest_box *box, uint64_t seed)
{
    int64_t count = element_count(info->ndim, box), i;
    unsigned char *elements = malloc((size_t)count * info->element_bytes + 1);
    require_true(elements != NULL, "no memory");
    for (i = 0; i < count; i++)
        fill_element(info->type, info->element_bytes, place_of(info->ndim, box, i, seed),
                     elements + (size_t)i * info->element_bytes);
    return elements;
}

void write_box(const digest_bed *bed, parapet_array *array, const digest_box *box, uint64_t seed)
{
    parapet_array_info info = {0};
    digest_box share;
    parapet_part part = {0};
    bool has_some;
    require(parapet_array_get_info(array, &info));
    share = share_of(bed, info.ndim, box);
    has_some = info.ndim > 0 || bed->rank == 0;
    part.ndim = info.ndim;
    part.start = share.start;
    part.count = share.count;
    part.data = make_elements(&info, &share, seed);
    require(parapet_array_write(array, &part, has_some ? 1 : 0));
    free(part.data);
}

void write_whole(const digest_bed *bed, parapet_array *array, uint64_t seed)
{
    parapet_array_info info = {0};
    digest_box box = {0};
    require(parapet_array_get_info(array, &info));
    memcpy(box.count, info.shape, (size_t)info.ndim * sizeof box.count[0]);
    write_box(bed, array, &box, seed);
}

parapet_array *make_array(const digest_bed *bed, parapet_store *store, const char *path,
                          const parapet_array_spec *spec, uint64_t seed)
{
    parapet_array *array = NULL;
    require(parapet_array_create(&array, store, path, spec));
    write_whole(bed, array, seed);
    return array;
}

void leave_array(const digest_bed *bed, parapet_store *store, const char *path, const parapet_array_spec *spec,
                 uint64_t seed)
{
    parapet_array *array = make_array(bed, store, path, spec, seed);
    require(parapet_array_close(&array));
}
