#include "bed.h"

#include <parapet_store.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "array/store_queries.h"
#include "codec/crc32c.h"

static pp_store *memory;

void require(bool is_true)
{
    if (!is_true)
        abort();
}

static parapet_status read_bytes(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    const bed_object *object = (const bed_object *)reader;
    if (bytes > 0)
        memcpy(target, object->data + offset, bytes);
    return PARAPET_OK;
}

pp_reader *bed_open(bed_object *object, const void *data, size_t bytes)
{
    static const pp_store_ops ops = {.name = "bytes", .read = read_bytes};
    static pp_store bytes_alone = {.ops = &ops};
    *object = (bed_object){.reader = {.store = &bytes_alone, .bytes = bytes}, .data = data};
    return &object->reader;
}

bool bed_is_chosen(const void *data, size_t bytes, uint32_t one_of)
{
    return pp_crc32c(0, data, bytes) % one_of == 0;
}

parapet_store *bed_store(void)
{
    static parapet_store *store;
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .threads = 1, .memory_bytes = 8 << 20};
    if (store != NULL)
        return store;
    require(pp_store_memory_build(&memory, NULL) == PARAPET_OK);
    require(pp_store_open_over(&store, MPI_COMM_NULL, memory, PARAPET_CREATE, &options) == PARAPET_OK);
    return store;
}

void bed_put(const char *key, const void *data, size_t bytes)
{
    pp_write_request request = {.key = key, .staging = "", .is_small = true};
    (void)bed_store();
    require(pp_store_write_all(memory, &request, data, bytes, PP_PUBLISH_REPLACE) == PARAPET_OK);
}

void bed_put_text(const char *key, const pp_text *text)
{
    require(text->status == PARAPET_OK);
    bed_put(key, text->bytes > 0 ? text->data : "", text->bytes);
}

static void append_step(parapet_series *series, int number)
{
    static const int64_t start[1] = {0}, count[1] = {4};
    double values[4] = {number, 1, 2, 3};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step steps[2] = {{.parts = &part, .part_count = 1}, {.parts = &part, .part_count = 1}};
    require(parapet_series_append(series, number, steps) == PARAPET_OK);
}

static void make_series(void)
{
    static const int64_t shape[2] = {0, 4}, chunks[2] = {1, 4}, shards[2] = {2, 4};
    static const char *const names[2] = {"u", "v"};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    const parapet_array_spec specs[2] = {spec, spec};
    parapet_series_spec given = {.count = 2, .names = names, .specs = specs};
    parapet_series *series;
    int i;
    require(parapet_series_create(&series, bed_store(), "run", &given) == PARAPET_OK);
    for (i = 0; i < BED_STEPS; i++)
        append_step(series, i);
    require(parapet_series_close(&series) == PARAPET_OK);
}

parapet_series *bed_series(void)
{
    static parapet_series *series;
    if (series != NULL)
        return series;
    make_series();
    require(parapet_series_open(&series, bed_store(), "run") == PARAPET_OK);
    return series;
}
