/* Texts of variable length. HDF5 keeps them apart from the dataset, with no place of their own: they are read here,
 * and told as the codec vlen-utf8 of Zarr stores them, in one chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

#define MOST_DATASET_BYTES ((size_t)64 << 20)
#define NUMBER_BYTES 4

/* What all datasets together may still take: the table has to fit into the memory of whoever wants it. */
static size_t file_bytes_left = SIZE_MAX;

void texts_limit(size_t most_bytes)
{
    file_bytes_left = most_bytes;
}

static size_t most_bytes(void)
{
    return file_bytes_left < MOST_DATASET_BYTES ? file_bytes_left : MOST_DATASET_BYTES;
}

static bool refuse_size(text_list *all)
{
    if (file_bytes_left < MOST_DATASET_BYTES)
        (void)snprintf(
            all->reason, sizeof all->reason,
            "its texts take more than %zu KiB, which the memory limit leaves for them: give it more memory",
            file_bytes_left >> 10);
    else
        (void)snprintf(all->reason, sizeof all->reason, "its texts take more than %zu MiB", MOST_DATASET_BYTES >> 20);
    return false;
}

static void add_number(text_list *all, size_t number)
{
    int i;
    for (i = 0; i < NUMBER_BYTES; i++)
        all->data[all->bytes++] = (unsigned char)(number >> 8 * i);
}

/* What they take together; false: too much, or some are not UTF-8. */
static bool measure(char *const *list, size_t count, text_list *all, size_t *bytes)
{
    size_t i, length;
    *bytes = NUMBER_BYTES * (count + 1);
    for (i = 0; i < count; i++) {
        length = list[i] != NULL ? strlen(list[i]) : 0;
        if (length > most_bytes() - *bytes)
            return refuse_size(all);
        if (!is_utf8((const unsigned char *)list[i], length)) {
            (void)snprintf(all->reason, sizeof all->reason, "its text %zu, counted from 0, is not UTF-8", i);
            return false;
        }
        *bytes += length;
    }
    return true;
}

static bool join(char *const *list, size_t count, text_list *all)
{
    size_t i, length, bytes;
    if (!measure(list, count, all, &bytes))
        return false;
    all->data = take_memory(1, bytes);
    add_number(all, count);
    for (i = 0; i < count; i++) {
        length = list[i] != NULL ? strlen(list[i]) : 0;
        add_number(all, length);
        if (length > 0)
            memcpy(all->data + all->bytes, list[i], length);
        all->bytes += length;
    }
    file_bytes_left -= bytes;
    return true;
}

/* ---- What HDF5 reads ----
 *
 * Nobody knows what the texts of a dataset take before they are read, so HDF5 takes memory for them here, and gets no
 * more than may be told. All of it is given back at once. */

#define BLOCK_BYTES ((size_t)1 << 20)

typedef struct block {
    struct block *next;
    size_t left;
    char data[];
} block;

typedef struct text_memory {
    block *blocks; /* the newest first */
    size_t left;   /* bytes that may still be taken */
    bool is_short; /* more were wanted */
} text_memory;

static void *take_text(size_t bytes, void *info)
{
    text_memory *memory = info;
    block *newest = memory->blocks;
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    if (bytes > memory->left) {
        memory->is_short = true;
        return NULL;
    }
    if (newest == NULL || newest->left < bytes) {
        newest = take_memory(1, sizeof *newest + room);
        *newest = (block){.next = memory->blocks, .left = room};
        memory->blocks = newest;
    }
    memory->left -= bytes;
    newest->left -= bytes;
    return newest->data + newest->left;
}

typedef struct text_reading {
    hid_t dataset, kind, transfer;
    layout cut;
} text_reading;

/* They are given back together. */
static void leave_text(void *text, void *info)
{
    (void)text;
    (void)info;
}

static void give_back(text_memory *memory)
{
    while (memory->blocks != NULL) {
        block *newest = memory->blocks;
        memory->blocks = newest->next;
        free(newest);
    }
}

static hid_t begin_transfer(text_memory *memory)
{
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (transfer < 0 || H5Pset_vlen_mem_manager(transfer, take_text, memory, leave_text, NULL) < 0)
        die("HDF5 cannot read texts");
    return transfer;
}

/* ---- Dimensions that are longer ---- */

static size_t count_elements(const hsize_t *shape, int ndim)
{
    size_t count = 1;
    int d;
    for (d = 0; d < ndim; d++)
        count = __builtin_mul_overflow(count, (size_t)shape[d], &count) ? SIZE_MAX / 2 : count;
    return count;
}

/* The number of an element of what is shown in what there is; false: it is beyond. */
static bool find_own(const layout *of, size_t number, size_t *own)
{
    size_t below = 1;
    int d;
    *own = 0;
    for (d = of->ndim - 1; d >= 0; d--) {
        size_t index = number % (size_t)of->whole[d];
        if (index >= of->shape[d])
            return false;
        *own += index * below;
        below *= (size_t)of->shape[d];
        number /= (size_t)of->whole[d];
    }
    return true;
}

/* From the last one on, so that none is lost: each moves to a place that is not before its own. */
static void spread(const layout *of, char **list, size_t count, char *fill)
{
    size_t own;
    while (count-- > 0)
        list[count] = find_own(of, count, &own) ? list[own] : fill;
}

char *texts_fill(hid_t dataset, hid_t kind)
{
    char *text = NULL;
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    hid_t plist = H5Dget_create_plist(dataset);
    if (plist >= 0 && H5Pfill_value_defined(plist, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
        H5Pget_fill_value(plist, kind, &text) < 0)
        text = NULL;
    if (plist >= 0)
        H5Pclose(plist);
    return text;
}

/* ---- Texts of which some are not stored ----
 *
 * Versions of HDF5 before 2 fail where a chunk is not stored: those that are are read alone. */

/* One cell of the grid of a dataset, wherever it ends; in memory the list is as the dataset. */
static bool read_cell(const text_reading *from, const hsize_t *offset, char **list)
{
    const layout *of = &from->cut;
    hid_t space = H5Screate_simple(of->ndim, of->shape, NULL);
    hsize_t extent[H5S_MAX_RANK], bytes = 0;
    bool is_read;
    int d;
    limits_note_step();
    for (d = 0; d < of->ndim; d++)
        extent[d] = of->chunk[d] < of->shape[d] - offset[d] ? of->chunk[d] : of->shape[d] - offset[d];
    is_read = H5Dget_chunk_storage_size(from->dataset, offset, &bytes) < 0 || bytes == 0 ||
              (space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, NULL, extent, NULL) >= 0 &&
               H5Dread(from->dataset, from->kind, space, space, from->transfer, list) >= 0);
    if (space >= 0)
        H5Sclose(space);
    return is_read;
}

static bool has_chunks(text_reading *from)
{
    hid_t plist = H5Dget_create_plist(from->dataset);
    bool has = plist >= 0 && H5Pget_layout(plist) == H5D_CHUNKED &&
               H5Pget_chunk(plist, H5S_MAX_RANK, from->cut.chunk) == from->cut.ndim;
    int d;
    for (d = 0; d < from->cut.ndim; d++)
        has = has && from->cut.chunk[d] > 0;
    if (plist >= 0)
        H5Pclose(plist);
    return has;
}

static bool read_stored(text_reading *from, char **list)
{
    size_t count = count_elements(from->cut.shape, from->cut.ndim), i;
    char *fill = texts_fill(from->dataset, from->kind);
    hsize_t offset[H5S_MAX_RANK];
    bool is_read = has_chunks(from);
    uint64_t cells = is_read ? count_cells(&from->cut) : 0, cell;
    for (i = 0; i < count; i++)
        list[i] = fill;
    for (cell = 0; cell < cells && is_read; cell++) {
        offset_of(&from->cut, cell, offset);
        is_read = read_cell(from, offset, list);
    }
    return is_read;
}

static bool read_list(text_reading *from, text_memory *memory, char **list)
{
    const size_t most = memory->left;
    bool is_read = H5Dread(from->dataset, from->kind, H5S_ALL, H5S_ALL, from->transfer, list) >= 0;
    if (is_read || memory->is_short)
        return is_read;
    give_back(memory);
    memory->left = most;
    return read_stored(from, list);
}

bool texts_read(hid_t dataset, hid_t kind, const layout *of, text_list *all)
{
    text_reading from = {.dataset = dataset, .kind = kind, .cut = *of};
    size_t count = count_elements(of->whole, of->ndim);
    text_memory memory = {0};
    char **list;
    bool is_read;
    *all = (text_list){.count = count};
    if (most_bytes() < NUMBER_BYTES || count > (most_bytes() - NUMBER_BYTES) / NUMBER_BYTES)
        return refuse_size(all);
    memory.left = most_bytes() + count; /* each has a NUL */
    list = take_memory(count, sizeof list[0]);
    from.transfer = begin_transfer(&memory);
    is_read = read_list(&from, &memory, list);
    H5Pclose(from.transfer);
    if (!is_read && memory.is_short)
        (void)refuse_size(all);
    else if (!is_read)
        (void)snprintf(all->reason, sizeof all->reason,
                       "HDF5 cannot read its texts: they are too many, damaged, or have a filter that HDF5 lacks");
    if (is_read && count > count_elements(of->shape, of->ndim))
        spread(of, list, count, texts_fill(dataset, kind));
    is_read = is_read && join(list, count, all);
    give_back(&memory);
    free(list);
    return is_read;
}

void put_texts(text_list *all)
{
    if (all->count == 0)
        put("chunks 0\n");
    else {
        put("data ");
        put_base64(all->data, all->bytes);
        put("\n");
    }
    free(all->data);
}
