#include "copy_stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKSUM_BYTES 4
#define ENTRY_BYTES 16

/* The bytes of one object. */
typedef struct file {
    unsigned char *data;
    size_t bytes;
} file;

/* The chunks of an array, and how its shards hold them. */
typedef struct grid {
    int ndim;
    const copy_layout *layout;
    int64_t chunks[COPY_NDIM_MOST], shards[COPY_NDIM_MOST], per_shard[COPY_NDIM_MOST];
    int64_t in_shard;
} grid;

static void *checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static uint64_t digest_bytes(const unsigned char *data, size_t bytes)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = 0; i < bytes; i++)
        digest = (digest ^ data[i]) * UINT64_C(0x100000001b3);
    return digest | 1;
}

/* data is NULL when there is no such file. */
static file read_whole(const char *path)
{
    FILE *stream = fopen(path, "rb");
    file whole = {NULL, 0};
    long bytes;
    if (stream == NULL)
        return whole;
    (void)fseek(stream, 0, SEEK_END);
    bytes = ftell(stream);
    rewind(stream);
    whole.bytes = (size_t)bytes;
    whole.data = checked(malloc(whole.bytes + 1));
    if (fread(whole.data, 1, whole.bytes, stream) != whole.bytes)
        abort();
    (void)fclose(stream);
    return whole;
}

static uint64_t word_at(const unsigned char *data)
{
    uint64_t word = 0;
    int i;
    for (i = 7; i >= 0; i--)
        word = word << 8 | data[i];
    return word;
}

static void set_grid(grid *of, int ndim, const copy_layout *layout)
{
    int d;
    *of = (grid){.ndim = ndim, .layout = layout, .in_shard = 1};
    for (d = 0; d < ndim; d++) {
        of->chunks[d] = (layout->shape[d] + layout->chunks[d] - 1) / layout->chunks[d];
        of->shards[d] = (layout->shape[d] + layout->shards[d] - 1) / layout->shards[d];
        of->per_shard[d] = layout->shards[d] / layout->chunks[d];
        of->in_shard *= of->per_shard[d];
    }
}

/* The number of a chunk in the array; -1: it lies beyond it. */
static int64_t number_of(const grid *of, const int64_t *shard, const int64_t *inside)
{
    int64_t number = 0;
    int d;
    for (d = 0; d < of->ndim; d++) {
        int64_t cell = shard[d] * of->per_shard[d] + inside[d];
        if (cell >= of->chunks[d])
            return -1;
        number = number * of->chunks[d] + cell;
    }
    return number;
}

static bool complain(const char *path, const char *problem)
{
    fprintf(stderr, "%s: %s\n", path, problem);
    return false;
}

/* Digests of the chunks of one shard; every byte of it belongs to one chunk, or to the index. */
static bool take_shard(copy_stored *taken, const grid *of, const int64_t *shard, const char *path, const file *object)
{
    size_t index_bytes = (size_t)of->in_shard * ENTRY_BYTES + CHECKSUM_BYTES, used = index_bytes;
    int64_t inside[COPY_NDIM_MOST] = {0}, number;
    const unsigned char *entry;
    if (object->bytes < index_bytes)
        return complain(path, "shorter than its index");
    entry = object->data + object->bytes - index_bytes;
    do {
        uint64_t offset = word_at(entry), bytes = word_at(entry + 8);
        entry += ENTRY_BYTES;
        if (offset == UINT64_MAX && bytes == UINT64_MAX)
            continue;
        if (offset > object->bytes || bytes > object->bytes - index_bytes - offset)
            return complain(path, "a chunk reaches beyond the others");
        if ((number = number_of(of, shard, inside)) < 0)
            return complain(path, "a chunk beyond the array");
        taken->digests[number] = digest_bytes(object->data + offset, (size_t)bytes);
        taken->stored_chunks++;
        used += (size_t)bytes;
    } while (copy_step(of->ndim, of->per_shard, inside));
    if (used != object->bytes)
        return complain(path, "bytes that belong to no chunk");
    return used > index_bytes || complain(path, "a shard without chunks");
}

static bool take_object(copy_stored *taken, const grid *of, const int64_t *cell, const char *path)
{
    file object = read_whole(path);
    bool is_good = true;
    if (object.data == NULL)
        return true;
    taken->objects++;
    if (of->layout->is_sharded)
        is_good = take_shard(taken, of, cell, path, &object);
    else {
        taken->digests[number_of(of, cell, (int64_t[COPY_NDIM_MOST]){0})] = digest_bytes(object.data, object.bytes);
        taken->stored_chunks++;
    }
    free(object.data);
    return is_good;
}

bool copy_stored_take(copy_stored *taken, const char *path, int ndim, const copy_layout *layout)
{
    int64_t cell[COPY_NDIM_MOST] = {0};
    bool is_good = true;
    file metadata;
    char name[1024];
    grid of;
    set_grid(&of, ndim, layout);
    *taken = (copy_stored){.chunk_count = copy_element_count(ndim, of.chunks)};
    taken->digests = checked(calloc((size_t)taken->chunk_count + 1, sizeof taken->digests[0]));
    (void)snprintf(name, sizeof name, "%s/zarr.json", path);
    metadata = read_whole(name);
    if (metadata.data == NULL)
        return complain(name, "is not there");
    taken->metadata = digest_bytes(metadata.data, metadata.bytes);
    free(metadata.data);
    if (taken->chunk_count == 0)
        return true;
    do {
        size_t used = (size_t)snprintf(name, sizeof name, "%s/c", path);
        int d;
        for (d = 0; d < ndim; d++)
            used += (size_t)snprintf(name + used, sizeof name - used, "/%lld", (long long)cell[d]);
        is_good = take_object(taken, &of, cell, name) && is_good;
    } while (copy_step(ndim, of.shards, cell));
    return is_good;
}

void copy_stored_clear(copy_stored *taken)
{
    free(taken->digests);
    *taken = (copy_stored){0};
}

bool copy_stored_equals(const copy_stored *left, const copy_stored *right)
{
    int64_t i;
    if (left->metadata != right->metadata)
        return complain("zarr.json", "differs");
    if (left->chunk_count != right->chunk_count)
        return complain("the array", "has another number of chunks");
    for (i = 0; i < left->chunk_count; i++)
        if (left->digests[i] != right->digests[i]) {
            fprintf(stderr, "chunk %lld of %lld: %s\n", (long long)i, (long long)left->chunk_count,
                    left->digests[i] == 0    ? "only in the second"
                    : right->digests[i] == 0 ? "only in the first"
                                             : "differs");
            return false;
        }
    return true;
}
