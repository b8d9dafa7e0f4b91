/* Where the chunks of a dataset are, by their number in the grid. */
#include <inttypes.h>
#include <stdlib.h>

#include "places.h"

#define MOST_CHUNKS ((hsize_t)1 << 24)

/* A grid of which at least this part is stored is tried cell by cell; the chunks of another one are listed first. */
#define STORED_PART 16

typedef struct found {
    uint64_t index;
    seen_chunk seen;
} found;

typedef struct found_list {
    found *chunks;
    size_t count;
} found_list;

static uint64_t cells_of(const layout *of, const hsize_t *shape, int d)
{
    return shape[d] / of->chunk[d] + (shape[d] % of->chunk[d] != 0);
}

static uint64_t cells_along(const layout *of, int d)
{
    return cells_of(of, of->shape, d);
}

uint64_t count_cells(const layout *of)
{
    uint64_t cells = 1;
    int d;
    for (d = 0; d < of->ndim; d++)
        if (__builtin_mul_overflow(cells, cells_along(of, d), &cells))
            return UINT64_MAX;
    return cells;
}

void offset_of(const layout *of, uint64_t index, hsize_t *offset)
{
    int d;
    for (d = of->ndim - 1; d >= 0; d--) {
        offset[d] = index % cells_along(of, d) * of->chunk[d];
        index /= cells_along(of, d);
    }
}

/* False: it lies outside the array. */
static bool index_of(const layout *of, const hsize_t *offset, uint64_t *index)
{
    int d;
    *index = 0;
    for (d = 0; d < of->ndim; d++) {
        if (offset[d] >= of->shape[d])
            return false;
        *index = *index * cells_along(of, d) + offset[d] / of->chunk[d];
    }
    return true;
}

/* The number of the same cell in the grid of what is shown. */
static uint64_t shown_index(const layout *of, uint64_t index)
{
    uint64_t shown = 0, below = 1;
    int d;
    for (d = of->ndim - 1; d >= 0; d--) {
        shown += index % cells_along(of, d) * below;
        index /= cells_along(of, d);
        if (__builtin_mul_overflow(below, cells_of(of, of->whole, d), &below))
            die("an array has more than 2^64 chunks");
    }
    return shown;
}

static bool is_at_edge(const layout *of, const hsize_t *offset)
{
    int d;
    for (d = 0; d < of->ndim; d++)
        if (of->shape[d] - offset[d] < of->chunk[d])
            return true;
    return false;
}

static void find_chunk(hid_t dataset, const layout *of, uint64_t index, found_list *list)
{
    hsize_t offset[H5S_MAX_RANK];
    found each = {.index = index};
    offset_of(of, index, offset);
    if (!driver_find_chunk(dataset, offset, &each.seen))
        return;
    each.seen.left_out &= (1u << of->filter_count) - 1;
    if (of->leaves_edges && is_at_edge(of, offset))
        each.seen.left_out = (1u << of->filter_count) - 1;
    list->chunks[list->count++] = each;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* The numbers of all chunks, ascending; those outside the array are left out. */
typedef struct numbers {
    const layout *of;
    uint64_t *list;
    size_t count, most;
} numbers;

#if H5_VERSION_GE(1, 14, 0)
static int note_chunk(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t bytes, void *context)
{
    numbers *all = context;
    (void)mask;
    (void)address;
    (void)bytes;
    limits_note_step();
    if (all->count < all->most && index_of(all->of, offset, &all->list[all->count]))
        all->count++;
    return 0;
}

static void number_chunks(hid_t dataset, hid_t space, numbers *all)
{
    (void)space;
    if (H5Dchunk_iter(dataset, H5P_DEFAULT, note_chunk, all) < 0)
        die("the chunks of an array cannot be listed: the file is damaged");
}
#else
static void number_chunks(hid_t dataset, hid_t space, numbers *all)
{
    hsize_t offset[H5S_MAX_RANK], bytes, i;
    unsigned mask;
    haddr_t address;
    for (i = 0; i < all->most; i++) {
        limits_note_step();
        if (H5Dget_chunk_info(dataset, space, i, offset, &mask, &address, &bytes) < 0)
            die("the chunks of an array cannot be listed: the file is damaged");
        if (index_of(all->of, offset, &all->list[all->count]))
            all->count++;
    }
}
#endif

static void find_listed(hid_t dataset, hid_t space, const layout *of, hsize_t stored, found_list *list)
{
    numbers all = {.of = of, .list = take_memory(stored, sizeof(uint64_t)), .most = stored};
    size_t i;
    number_chunks(dataset, space, &all);
    qsort(all.list, all.count, sizeof all.list[0], compare);
    for (i = 0; i < all.count; i++)
        if (i == 0 || all.list[i] != all.list[i - 1])
            find_chunk(dataset, of, all.list[i], list);
    free(all.list);
}

static hsize_t count_stored(hid_t dataset, hid_t space)
{
    hsize_t stored = 0;
    if (space < 0 || H5Dget_num_chunks(dataset, space, &stored) < 0)
        die("the chunks of an array cannot be counted: the file is damaged");
    if (stored > MOST_CHUNKS)
        die("an array has more than %" PRIu64 " chunks", (uint64_t)MOST_CHUNKS);
    return stored;
}

/* What the last chunks have beyond the end of the dataset is not what is shown there. */
static void put_within(const layout *of)
{
    bool is_beyond = false;
    int d;
    for (d = 0; d < of->ndim; d++)
        is_beyond = is_beyond || (of->whole[d] > of->shape[d] && of->shape[d] % of->chunk[d] != 0);
    if (!is_beyond)
        return;
    put("within");
    for (d = 0; d < of->ndim; d++)
        put(" %" PRIu64, (uint64_t)of->shape[d]);
    put("\n");
}

void put_chunks(hid_t dataset, const layout *of)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t stored = count_stored(dataset, space);
    uint64_t cells = count_cells(of), i;
    size_t room = (size_t)(cells < stored ? cells : stored);
    found_list list = {.chunks = take_memory(room, sizeof list.chunks[0])};
    if (stored > 0 && cells / STORED_PART <= stored)
        for (i = 0; i < cells && list.count < room; i++)
            find_chunk(dataset, of, i, &list);
    else if (stored > 0)
        find_listed(dataset, space, of, stored, &list);
    put_within(of);
    put("chunks %zu\n", list.count);
    for (i = 0; i < list.count; i++)
        put("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", shown_index(of, list.chunks[i].index),
            list.chunks[i].seen.start, list.chunks[i].seen.bytes, list.chunks[i].seen.left_out);
    free(list.chunks);
    H5Sclose(space);
}

void put_pieces(const layout *of, uint64_t start, size_t element_bytes)
{
    uint64_t cells = count_cells(of), bytes = element_bytes, i;
    int d;
    for (d = 0; d < of->ndim; d++)
        bytes *= of->chunk[d];
    put("chunks %" PRIu64 "\n", cells);
    for (i = 0; i < cells; i++)
        put("%" PRIu64 " %" PRIu64 " %" PRIu64 " 0\n", shown_index(of, i), start + i * bytes, bytes);
}
