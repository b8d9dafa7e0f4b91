/* make_store.c - makes the small stores that the tests of the command-line tool look at.
 *
 *     make_store tree STORE                           groups and arrays of several kinds
 *     make_store types STORE                          one array per type, with a fill value that is hard to print
 *     make_store grid STORE CODEC CHUNK [INDEX VALUE]...   "data", 8 x 8 float64: 0, 1, 2, ... with changes
 *     make_store wide STORE CODEC CHUNK [INDEX VALUE]...   the same with 600 x 600
 *     make_store attribute STORE ARRAY NAME JSON
 *     make_store resize STORE ARRAY LENGTH            changes the first dimension
 *     make_store seal STORE ARRAY
 *     make_store checkpoint STORE PATH GENERATION...  commits them, and keeps all
 *     make_store begin STORE PATH GENERATION          the same up to the commit, as a crash would leave it
 *     make_store series STORE PATH STEPS              "u" and "v" along "time" */
#include <math.h>
#include <parapet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int require(parapet_status status)
{
    if (status != PARAPET_OK) {
        fprintf(stderr, "make_store: %s: %s\n", parapet_status_name(status), parapet_error_message());
        exit(1);
    }
    return 0;
}

static void make_array(parapet_store *store, const char *path, const parapet_array_spec *spec, void *data,
                       const int64_t *count)
{
    static const int64_t start[PARAPET_MAX_NDIM] = {0};
    parapet_part part = {.ndim = spec->ndim, .start = start, .count = count, .data = data};
    parapet_array *array = NULL;
    require(parapet_array_create(&array, store, path, spec));
    require(parapet_array_write(array, &part, data == NULL ? 0 : 1));
    require(parapet_array_close(&array));
}

static void make_tree(parapet_store *store)
{
    int64_t shape[2] = {4, 6}, chunks[2] = {2, 3}, mask_shape[1] = {5}, mask_chunks[1] = {2}, mask_count[1] = {2};
    const char *names[2] = {"lat", "lon"};
    double density[24];
    unsigned char mask[2] = {0, 1};
    int64_t time = 7;
    unsigned char fill = 1;
    parapet_group *group = NULL;
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shape};
    parapet_array_spec mask_spec = {.type = PARAPET_BOOL, .ndim = 1, .shape = mask_shape, .chunks = mask_chunks};
    parapet_array_spec time_spec = {.type = PARAPET_INT64, .unsharded = 1, .codec = "none", .no_checksum = 1};
    for (int i = 0; i < 24; i++)
        density[i] = i / 4.0;
    spec.codec = mask_spec.codec = "none";
    spec.dimension_names = names;
    spec.attributes = "{\"units\": \"kg m-3\", \"valid_range\": [0, 10], \"odd\": {\"b\": 1, \"a\": null}}";
    mask_spec.unsharded = 1;
    mask_spec.fill_value = &fill;
    require(parapet_group_create(&group, store, "deep", "{\"note\": \"below\"}"));
    require(parapet_group_close(&group));
    require(parapet_group_create(&group, store, "deep/empty", NULL));
    require(parapet_group_close(&group));
    make_array(store, "density", &spec, density, shape);
    make_array(store, "deep/mask", &mask_spec, mask, mask_count);
    make_array(store, "time", &time_spec, &time, NULL);
}

static void make_type(parapet_store *store, parapet_type type, const void *fill, size_t raw_bytes)
{
    int64_t shape[1] = {3};
    char path[64];
    const char *name = type == PARAPET_RAW           ? "raw"
                       : type == PARAPET_DATETIME64  ? "datetime64"
                       : type == PARAPET_TIMEDELTA64 ? "timedelta64"
                                                     : parapet_type_name(type);
    parapet_array_spec spec = {
        .type = type, .ndim = 1, .shape = shape, .fill_value = fill, .element_bytes = raw_bytes};
    (void)snprintf(path, sizeof path, "%s", name);
    make_array(store, path, &spec, NULL, NULL);
}

static void make_types(parapet_store *store)
{
    static const unsigned char raw[5] = {0xde, 0xad, 0xbe, 0xef, 0x01};
    make_type(store, PARAPET_BOOL, &(unsigned char){1}, 0);
    make_type(store, PARAPET_INT8, &(int8_t){INT8_MIN}, 0);
    make_type(store, PARAPET_INT16, &(int16_t){-12345}, 0);
    make_type(store, PARAPET_INT32, &(int32_t){INT32_MIN}, 0);
    make_type(store, PARAPET_INT64, &(int64_t){INT64_MIN}, 0);
    make_type(store, PARAPET_UINT8, &(uint8_t){255}, 0);
    make_type(store, PARAPET_UINT16, &(uint16_t){UINT16_MAX}, 0);
    make_type(store, PARAPET_UINT32, &(uint32_t){UINT32_MAX}, 0);
    make_type(store, PARAPET_UINT64, &(uint64_t){UINT64_MAX}, 0);
    make_type(store, PARAPET_FLOAT16, &(uint16_t){0x3555}, 0); /* one third */
    make_type(store, PARAPET_BFLOAT16, &(uint16_t){0xff80}, 0);
    make_type(store, PARAPET_FLOAT32, &(uint32_t){0x7fc00000}, 0);
    make_type(store, PARAPET_FLOAT64, &(double){0.1}, 0);
    make_type(store, PARAPET_COMPLEX64, &(float[2]){-0.0f, 1.5f}, 0);
    make_type(store, PARAPET_COMPLEX128, &(double[2]){INFINITY, 1e300}, 0);
    make_type(store, PARAPET_DATETIME64, &(int64_t){INT64_MIN}, 0);
    make_type(store, PARAPET_TIMEDELTA64, &(int64_t){86400}, 0);
    make_type(store, PARAPET_RAW, raw, sizeof raw);
}

/* "data" of side x side float64, with changes. words: codec, chunk, then index and value any number of times. */
static void make_grid(parapet_store *store, int64_t side, int count, char **words)
{
    int64_t shape[2] = {side, side}, chunks[2] = {atoi(words[1]), atoi(words[1])}, shards[2] = {side, side / 2};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks};
    double *values = malloc((size_t)(side * side) * sizeof *values);
    if (values == NULL)
        exit(1);
    spec.shards = shards;
    spec.codec = words[0];
    for (int64_t i = 0; i < side * side; i++)
        values[i] = (double)i;
    for (int i = 2; i + 1 < count; i += 2)
        values[atoi(words[i])] = strtod(words[i + 1], NULL);
    make_array(store, "data", &spec, values, shape);
    free(values);
}

static void change_array(parapet_store *store, const char *verb, char **words)
{
    int64_t shape[PARAPET_MAX_NDIM] = {0};
    parapet_array_info info = {0};
    parapet_array *array = NULL;
    require(parapet_array_open(&array, store, words[0]));
    require(parapet_array_get_info(array, &info));
    for (int d = 0; d < info.ndim; d++)
        shape[d] = info.shape[d];
    if (strcmp(verb, "seal") == 0)
        require(parapet_array_seal(array));
    if (strcmp(verb, "attribute") == 0)
        require(parapet_array_attribute_set(array, words[1], words[2]));
    if (strcmp(verb, "resize") == 0) {
        shape[0] = atoi(words[1]);
        require(parapet_array_resize(array, shape));
    }
    require(parapet_array_close(&array));
}

/* "u" of 4 x 6 doubles, all equal to the generation, and "v" of 3 integers. */
static void put_generation(parapet_checkpoint *checkpoint, int64_t generation)
{
    static const int64_t start[2] = {0, 0};
    int64_t shape[2] = {4, 6}, chunks[2] = {2, 6}, length[1] = {3}, v[3] = {generation, 2, 3};
    double u[24];
    parapet_array_spec specs[2] = {{.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks},
                                   {.type = PARAPET_INT64, .ndim = 1, .shape = length}};
    parapet_part parts[2] = {{.ndim = 2, .start = start, .count = shape, .data = u},
                             {.ndim = 1, .start = start, .count = length, .data = v}};
    parapet_checkpoint_item items[2] = {{.name = "u", .spec = &specs[0], .parts = &parts[0], .part_count = 1},
                                        {.name = "v", .spec = &specs[1], .parts = &parts[1], .part_count = 1}};
    specs[0].shards = chunks;
    specs[0].codec = specs[1].codec = "none";
    for (int i = 0; i < 24; i++)
        u[i] = (double)generation;
    require(parapet_checkpoint_put(checkpoint, items, 2));
}

static void make_checkpoint(parapet_store *store, const char *path, const char *generation, bool is_committed)
{
    parapet_checkpoint_options options = {.generation = atoi(generation), .keep = -1};
    parapet_checkpoint *checkpoint = NULL;
    require(parapet_checkpoint_begin(&checkpoint, store, path, &options));
    put_generation(checkpoint, options.generation);
    if (!is_committed)
        _Exit(0);
    require(parapet_checkpoint_attribute_set(checkpoint, "step", generation));
    require(parapet_checkpoint_commit(&checkpoint, NULL));
}

static void make_series(parapet_store *store, const char *path, int64_t steps)
{
    static const int64_t start[1] = {0};
    static const char *const names[2] = {"u", "v"};
    int64_t shape[2] = {0, 5}, chunks[2] = {2, 5}, count[1] = {5};
    float values[5] = {1, 2, 3, 4, 5};
    parapet_array_spec specs[2] = {{.type = PARAPET_FLOAT32, .ndim = 2, .shape = shape, .chunks = chunks}};
    parapet_series_spec spec = {.count = 2, .names = names, .specs = specs};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = values};
    parapet_step step[2] = {{.parts = &part, .part_count = 1}, {.parts = &part, .part_count = 1}};
    parapet_series *series = NULL;
    specs[1] = specs[0];
    require(parapet_series_create(&series, store, path, &spec));
    for (int64_t i = 0; i < steps; i++)
        require(parapet_series_append(series, (double)i, step));
    require(parapet_series_close(&series));
}

int main(int count, char **words)
{
    parapet_store *store = NULL;
    if (count < 3)
        return 2;
    require(parapet_store_open(&store, MPI_COMM_NULL, words[2], PARAPET_CREATE, NULL));
    if (strcmp(words[1], "tree") == 0)
        make_tree(store);
    else if (strcmp(words[1], "types") == 0)
        make_types(store);
    else if (strcmp(words[1], "grid") == 0)
        make_grid(store, 8, count - 3, words + 3);
    else if (strcmp(words[1], "wide") == 0)
        make_grid(store, 600, count - 3, words + 3);
    else if (strcmp(words[1], "checkpoint") == 0)
        for (int i = 4; i < count; i++)
            make_checkpoint(store, words[3], words[i], true);
    else if (strcmp(words[1], "begin") == 0 && count == 5)
        make_checkpoint(store, words[3], words[4], false);
    else if (strcmp(words[1], "series") == 0 && count == 5)
        make_series(store, words[3], atoi(words[4]));
    else
        change_array(store, words[1], words + 3);
    return require(parapet_store_close(&store));
}
