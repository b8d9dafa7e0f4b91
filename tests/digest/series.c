/* series.c - series that were closed, reopened, and left as a killed process leaves them. */
#include <stdlib.h>

#include "bed.h"

enum { ARRAYS = 2 };

typedef struct digest_series {
    parapet_series *series;
    parapet_array_info infos[ARRAYS]; /* of one step */
    digest_box boxes[ARRAYS];
} digest_series;

static const int64_t field[3] = {0, 12, 10}, field_chunks[3] = {1, 6, 5}, line[2] = {0, 7}, line_chunks[2] = {1, 7};

/* "u" of 12 x 10 float64 and "v" of 7 int16 in each step. */
static void create_series(parapet_store *store, const char *path, int64_t steps_per_row, const char *codec,
                          digest_series *made)
{
    static const char *const names[ARRAYS] = {"u", "v"}, *const dimensions[3] = {"time", "y", "x"};
    int64_t field_shards[3] = {steps_per_row, 12, 5}, line_shards[2] = {steps_per_row, 7};
    parapet_array_spec specs[ARRAYS] = {
        {.type = PARAPET_FLOAT64, .ndim = 3, .shape = field, .chunks = field_chunks, .shards = field_shards},
        {.type = PARAPET_INT16, .ndim = 2, .shape = line, .chunks = line_chunks, .shards = line_shards}};
    parapet_series_spec spec = {.count = ARRAYS, .names = names, .specs = specs};
    spec.attributes = "{\"Conventions\": \"CF-1.11\"}";
    spec.coordinate_attributes = "{\"units\": \"hours since 2000-01-01\"}";
    specs[0].codec = specs[1].codec = codec;
    specs[0].dimension_names = dimensions;
    specs[0].attributes = "{\"units\": \"m s-1\"}";
    require(parapet_series_create(&made->series, store, path, &spec));
    made->infos[0] = (parapet_array_info){.type = PARAPET_FLOAT64, .element_bytes = 8, .ndim = 2};
    made->infos[1] = (parapet_array_info){.type = PARAPET_INT16, .element_bytes = 2, .ndim = 1};
    made->boxes[0] = (digest_box){.count = {12, 10}};
    made->boxes[1] = (digest_box){.count = {7}};
}

static void append(const digest_bed *bed, digest_series *to, int first, int end)
{
    for (; first < end; first++) {
        parapet_part parts[ARRAYS] = {{0}, {0}};
        parapet_step steps[ARRAYS] = {{0}, {0}};
        digest_box shares[ARRAYS];
        int i;
        for (i = 0; i < ARRAYS; i++) {
            shares[i] = share_of(bed, to->infos[i].ndim, &to->boxes[i]);
            parts[i].ndim = to->infos[i].ndim;
            parts[i].start = shares[i].start;
            parts[i].count = shares[i].count;
            parts[i].data = make_elements(&to->infos[i], &shares[i], (uint64_t)(first + 100 * i));
            steps[i].parts = &parts[i];
            steps[i].part_count = 1;
        }
        require(parapet_series_append(to->series, 0.25 * first, steps));
        free(parts[0].data);
        free(parts[1].data);
    }
}

static void make_series_in(const digest_bed *bed, const char *name, const char *codec)
{
    parapet_store *store = open_store(bed, name);
    digest_series made = {0};
    create_series(store, "none", 4, codec, &made);
    require(parapet_series_close(&made.series));
    create_series(store, "ones", 1, codec, &made);
    append(bed, &made, 0, 3);
    require(parapet_series_close(&made.series));
    create_series(store, "rows", 4, codec, &made);
    append(bed, &made, 0, 8);
    require(parapet_series_close(&made.series));
    create_series(store, "below/flushed", 4, codec, &made);
    append(bed, &made, 0, 6);
    require(parapet_series_flush(made.series));
    append(bed, &made, 6, 7);
    require(parapet_series_close(&made.series));
    require(parapet_series_open(&made.series, store, "below/flushed"));
    append(bed, &made, 7, 10);
    require(parapet_series_close(&made.series));
    require(parapet_store_close(&store));
}

void make_series(const digest_bed *bed)
{
    make_series_in(bed, "series", "none");
    make_series_in(bed, "compressed_series", "zstd:3");
}

/* Steps of 128 KiB, eight to a row, where half of the memory is 512 KiB: they are staged. */
static void create_large(parapet_store *store, digest_series *made)
{
    static const char *const names[1] = {"large"};
    static const int64_t shape[3] = {0, 128, 128}, chunks[3] = {1, 32, 128}, shards[3] = {8, 32, 128};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 3, .shape = shape, .chunks = chunks, .shards = shards};
    parapet_series_spec series = {.count = 1, .names = names, .specs = &spec};
    spec.codec = "none";
    require(parapet_series_create(&made->series, store, "staged", &series));
    made->infos[0] = (parapet_array_info){.type = PARAPET_FLOAT64, .element_bytes = 8, .ndim = 2};
    made->boxes[0] = (digest_box){.count = {128, 128}};
}

static void append_large(const digest_series *to, int first, int end)
{
    for (; first < end; first++) {
        parapet_part part = {.ndim = 2, .start = to->boxes[0].start, .count = to->boxes[0].count};
        parapet_step step = {.parts = &part, .part_count = 1};
        part.data = make_elements(&to->infos[0], &to->boxes[0], (uint64_t)first);
        require(parapet_series_append(to->series, first, &step));
        free(part.data);
    }
}

static void abandon_staged(const digest_bed *bed)
{
    parapet_store_options options = plain_options(bed);
    parapet_series_info info = {0};
    digest_series made = {0};
    parapet_store *store;
    options.memory_bytes = 1 << 20;
    store = open_store_with(bed, "abandoned_staged", &options);
    create_large(store, &made);
    append_large(&made, 0, 11);
    require(parapet_series_get_info(made.series, &info));
    require_true(info.is_staged && info.steps == 11 && info.steps_committed == 8, "the open row is not staged");
}

static void abandon_open(const digest_bed *bed)
{
    parapet_store *store = open_store(bed, "abandoned_series");
    digest_series made = {0};
    create_series(store, "created", 4, "none", &made);
    create_series(store, "open", 4, "none", &made);
    append(bed, &made, 0, 7);
    create_series(store, "flushed", 4, "none", &made);
    append(bed, &made, 0, 6);
    require(parapet_series_flush(made.series));
    append(bed, &made, 6, 7);
}

void abandon_series(const digest_bed *bed)
{
    abandon_open(bed);
    abandon_staged(bed);
}
