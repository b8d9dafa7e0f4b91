/* limits.c - sizes where 31 or 32 bits end, arrays that are mostly holes, and memory that may not be exceeded.
 *
 *     limits PATTERN      the tests whose names match
 *
 * Only the public API. Every value that is read back is compared. Each test prints its figures in one line: what the
 * buffers took (parapet_statistics) and what the process grew by (VmHWM) beyond the caller's own memory. */
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <parapet.h>

/* Under sanitizers the resident size says nothing. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#define ROOT "limits.scratch"
#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)
#define LIMIT_BYTES (64 * MIB)

/* What a process may grow by beyond the limit: contexts of the codec libraries, stacks, the allocator's own. */
#define SLACK_BYTES (24 * MIB)

#define assert_ok(call)                                                                                              \
    do {                                                                                                             \
        parapet_status assert_status_ = (call);                                                                      \
        if (assert_status_ != PARAPET_OK)                                                                            \
            fail_msg("%s: %s: %s", #call, parapet_status_name(assert_status_), parapet_error_message());             \
    } while (0)

typedef struct bed {
    parapet_store *store;
    parapet_array *array;
    int64_t limit_bytes;
    double start_s;
    int64_t before_bytes; /* resident */
} bed;

/* ---- Measuring ---- */

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A line "NAME:   123 kB" of /proc/self/status. */
static int64_t status_bytes(const char *name)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = atol(line + strlen(name) + 1);
    (void)fclose(file);
    return (int64_t)kib << 10;
}

/* Makes the peak of the resident size count from now on. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL)
        return;
    (void)fputs("5", file);
    (void)fclose(file);
}

static void begin(bed *self)
{
    self->start_s = now_s();
    self->before_bytes = status_bytes("VmRSS");
    reset_peak();
}

static void finish(bed *self, const char *what)
{
    parapet_statistics statistics;
    double seconds = now_s() - self->start_s;
    int64_t growth = status_bytes("VmHWM") - self->before_bytes;
    assert_ok(parapet_store_get_statistics(self->store, &statistics));
    printf("FIGURE | %s | %.1f | %.1f | %.1f | %.0f |\n", what, seconds,
           (double)statistics.memory_peak_bytes / (double)MIB, (double)growth / (double)MIB,
           (double)self->limit_bytes / (double)MIB);
    (void)fflush(stdout);
    assert_true(statistics.memory_peak_bytes > 0);
    assert_true(statistics.memory_peak_bytes <= self->limit_bytes);
    if (!IS_SANITIZED)
        assert_true(growth <= self->limit_bytes + SLACK_BYTES);
}

/* ---- Stores and arrays ---- */

static int remove_entry(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

static int remove_scratch(void **state)
{
    (void)state;
    (void)nftw(ROOT, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static void open_store(bed *self, int64_t limit_bytes)
{
    const parapet_store_options options = {.memory_bytes = limit_bytes, .durability = PARAPET_DURABILITY_LEAVE};
    *self = (bed){.limit_bytes = limit_bytes};
    assert_ok(parapet_store_open(&self->store, MPI_COMM_NULL, ROOT, PARAPET_CREATE, &options));
}

static void create(bed *self, const parapet_array_spec *spec)
{
    parapet_array_spec own = *spec;
    own.overwrite = 1;
    assert_ok(parapet_array_create(&self->array, self->store, "a", &own));
}

static void close_all(bed *self)
{
    assert_ok(parapet_array_close(&self->array));
    assert_ok(parapet_store_close(&self->store));
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static unsigned char *make_memory(size_t bytes)
{
    unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

/* Random bytes, from which a band is a window that moves by one byte per row: element (i, j) is bytes[i + j]. A box
 * of any number of rows needs no more memory than that, and every row is another. */
static unsigned char *make_band(int64_t rows, int64_t columns)
{
    uint64_t state = 20261115;
    int64_t i;
    unsigned char *bytes = make_memory((size_t)(rows + columns));
    for (i = 0; i < rows + columns; i++)
        bytes[i] = (unsigned char)(random_next(&state) >> 56);
    return bytes;
}

static void write_band(bed *self, unsigned char *band, int64_t rows, int64_t columns)
{
    const int64_t start[2] = {0, 0}, count[2] = {rows, columns}, strides[2] = {1, 1};
    const parapet_part part = {.ndim = 2, .start = start, .count = count, .data = band, .strides_bytes = strides};
    assert_ok(parapet_array_write(self->array, &part, 1));
}

static void check_rows(const unsigned char *found, const unsigned char *band, int64_t first, int64_t rows,
                       int64_t columns)
{
    int64_t i;
    for (i = 0; i < rows; i++)
        if (memcmp(found + i * columns, band + first + i, (size_t)columns) != 0)
            fail_msg("row %lld is wrong", (long long)(first + i));
}

static void check_band_in_slabs(bed *self, const unsigned char *band, int64_t rows, int64_t columns)
{
    const int64_t slab_rows = 32 * MIB / columns;
    unsigned char *slab = make_memory((size_t)(slab_rows * columns));
    int64_t first;
    for (first = 0; first < rows; first += slab_rows) {
        const int64_t start[2] = {first, 0};
        const int64_t count[2] = {first + slab_rows < rows ? slab_rows : rows - first, columns};
        const parapet_part part = {.ndim = 2, .start = start, .count = count, .data = slab};
        memset(slab, 0x5a, (size_t)(slab_rows * columns));
        assert_ok(parapet_array_read(self->array, &part, 1));
        check_rows(slab, band, first, count[0], columns);
    }
    (void)munmap(slab, (size_t)(slab_rows * columns));
    self->before_bytes += slab_rows * columns; /* the caller's own */
}

static int64_t file_bytes(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return found.st_size;
}

/* ---- Boxes and shards beyond 31 and 32 bits ---- */

static void test_limits__one_box_of_2_gib_and_a_bit(void **state)
{
    const int64_t rows = 2 * GIB / 4096 + 1, columns = 4096;
    const int64_t shape[2] = {rows, columns}, chunks[2] = {256, 4096}, shards[2] = {65536, 4096}, start[2] = {0, 0};
    const size_t bytes = (size_t)(rows * columns);
    bed self;
    unsigned char *band = make_band(rows, columns), *found;
    (void)state;
    open_store(&self, LIMIT_BYTES);
    create(
        &self,
        &(parapet_array_spec){
            .type = PARAPET_UINT8, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"});
    begin(&self);
    write_band(&self, band, rows, columns);
    finish(&self, "write one box | 2 GiB + 4 KiB");
    found = make_memory(bytes);
    memset(found, 0x5a, bytes);
    begin(&self);
    assert_ok(
        parapet_array_read(self.array, &(parapet_part){.ndim = 2, .start = start, .count = shape, .data = found}, 1));
    finish(&self, "read one box | 2 GiB + 4 KiB");
    check_rows(found, band, 0, rows, columns);
    (void)munmap(found, bytes);
    (void)munmap(band, (size_t)(rows + columns));
    close_all(&self);
}

/* One dimension, so that the box is one run of memory whose length itself is the limit. */
static void check_run(int64_t elements)
{
    const int64_t chunk = MIB, shard = 256 * MIB, start = 0;
    const size_t bytes = (size_t)elements;
    char what[64];
    uint64_t seed = (uint64_t)elements, last;
    int64_t i;
    bed self;
    uint64_t *memory = (uint64_t *)(void *)make_memory(bytes + 8);
    open_store(&self, LIMIT_BYTES);
    create(&self, &(parapet_array_spec){.type = PARAPET_UINT8,
                                        .ndim = 1,
                                        .shape = &elements,
                                        .chunks = &chunk,
                                        .shards = &shard,
                                        .codec = "none"});
    for (i = 0; i <= elements / 8; i++)
        memory[i] = random_next(&seed);
    (void)snprintf(what, sizeof what, "one run, both ways | %lld B", (long long)elements);
    begin(&self);
    assert_ok(parapet_array_write(
        self.array, &(parapet_part){.ndim = 1, .start = &start, .count = &elements, .data = memory}, 1));
    memset(memory, 0x5a, bytes);
    assert_ok(parapet_array_read(self.array,
                                 &(parapet_part){.ndim = 1, .start = &start, .count = &elements, .data = memory}, 1));
    finish(&self, what);
    seed = (uint64_t)elements;
    for (i = 0; i < elements / 8; i++)
        if (memory[i] != random_next(&seed))
            fail_msg("bytes from %lld on are wrong", (long long)(8 * i));
    last = random_next(&seed);
    assert_memory_equal(&memory[i], &last, (size_t)(elements % 8));
    close_all(&self);
    (void)munmap(memory, bytes + 8);
    (void)remove_scratch(NULL);
}

static void test_limits__runs_around_2_gib(void **state)
{
    (void)state;
    check_run(2 * GIB - 1);
    check_run(2 * GIB + 1);
}

static void test_limits__runs_from_2_to_4_gib(void **state)
{
    (void)state;
    check_run(2 * GIB - 4096);
    check_run(2 * GIB);
    check_run(4 * GIB - 1);
    check_run(4 * GIB);
    check_run(4 * GIB + 1);
}

/* Row 1,048,576 starts at byte 2^32 of the shard. */
static void change_beyond_4_gib(bed *self, unsigned char *band, int64_t columns)
{
    const int64_t start[2] = {4 * GIB / columns + 100, 17}, count[2] = {3, 1000};
    unsigned char change[3][1000], found[3][1000];
    memset(change, 0xc3, sizeof change);
    assert_ok(parapet_array_write(self->array,
                                  &(parapet_part){.ndim = 2, .start = start, .count = count, .data = change}, 1));
    assert_ok(parapet_array_read(self->array,
                                 &(parapet_part){.ndim = 2, .start = start, .count = count, .data = found}, 1));
    assert_memory_equal(found, change, sizeof change);
    for (int i = 0; i < 3; i++)
        memcpy(change[i], band + start[0] + i + start[1], sizeof change[i]);
    assert_ok(parapet_array_write(self->array,
                                  &(parapet_part){.ndim = 2, .start = start, .count = count, .data = change}, 1));
}

static void check_large_shard(const char *codec, bool changes)
{
    const int64_t columns = 4096, rows = 4 * GIB / columns + 51201;
    const int64_t shape[2] = {rows, columns}, chunks[2] = {256, 4096}, shards[2] = {0, 0};
    bed self;
    unsigned char *band = make_band(rows, columns);
    char what[96];
    open_store(&self, LIMIT_BYTES);
    create(&self,
           &(parapet_array_spec){
               .type = PARAPET_UINT8, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = codec});
    begin(&self);
    write_band(&self, band, rows, columns);
    (void)snprintf(what, sizeof what, "write one shard, %s | %.2f GiB", codec,
                   (double)file_bytes(ROOT "/a/c/0/0") / (double)GIB);
    finish(&self, what);
    assert_true(file_bytes(ROOT "/a/c/0/0") > 4 * GIB);
    if (changes) {
        begin(&self);
        change_beyond_4_gib(&self, band, columns);
        finish(&self, "change it beyond 2^32, twice | 4.2 GiB");
    }
    begin(&self);
    check_band_in_slabs(&self, band, rows, columns);
    finish(&self, "read it back in slabs of 32 MiB | 4.2 GiB");
    close_all(&self);
    (void)munmap(band, (size_t)(rows + columns));
}

static void test_limits__one_shard_of_more_than_4_gib(void **state)
{
    (void)state;
    check_large_shard("none", false);
}

static void test_limits__a_shard_of_more_than_4_gib_is_changed(void **state)
{
    (void)state;
    check_large_shard("none", true);
}

/* ---- Numbers of elements, dimensions and chunks ---- */

static void test_limits__more_than_2_31_elements(void **state)
{
    const int64_t elements = 2 * GIB + 5, chunk = MIB, shard = 64 * MIB, zero = 0, no_stride = 0;
    const int64_t start = 2 * GIB - 500, count = 505, wide_start = 2 * GIB - 10000, wide_count = 10005;
    const int32_t value = 0x01020304;
    int32_t *found = malloc((size_t)wide_count * sizeof *found), numbers[505];
    int64_t i;
    bed self;
    (void)state;
    open_store(&self, LIMIT_BYTES);
    create(&self, &(parapet_array_spec){.type = PARAPET_INT32,
                                        .ndim = 1,
                                        .shape = &elements,
                                        .chunks = &chunk,
                                        .shards = &shard,
                                        .codec = "zstd:1"});
    for (i = 0; i < count; i++)
        numbers[i] = (int32_t)(i * i);
    begin(&self);
    assert_ok(parapet_array_write(self.array,
                                  &(parapet_part){.ndim = 1,
                                                  .start = &zero,
                                                  .count = &elements,
                                                  .data = (void *)(uintptr_t)&value,
                                                  .strides_bytes = &no_stride},
                                  1));
    assert_ok(parapet_array_write(self.array,
                                  &(parapet_part){.ndim = 1, .start = &start, .count = &count, .data = numbers}, 1));
    finish(&self, "write int32, one value and 505 others | 2^31 + 5 elements");
    assert_ok(parapet_array_read(
        self.array, &(parapet_part){.ndim = 1, .start = &wide_start, .count = &wide_count, .data = found}, 1));
    for (i = 0; i < wide_count; i++) {
        int64_t inside = wide_start + i - start;
        assert_int_equal(found[i], inside >= 0 && inside < count ? numbers[inside] : value);
    }
    assert_ok(parapet_array_read(self.array,
                                 &(parapet_part){.ndim = 1, .start = &zero, .count = &wide_count, .data = found}, 1));
    for (i = 0; i < wide_count; i++)
        assert_int_equal(found[i], value);
    free(found);
    close_all(&self);
}

/* A small box at a place of a huge square, and what lies around it. */
static void check_place(bed *self, const int64_t *start)
{
    const int64_t count[2] = {50, 70}, around[2] = {start[0] - 20, start[1] - 30}, wide[2] = {70, 100};
    double given[50][70], found[70][100];
    int64_t i, j;
    for (i = 0; i < 50; i++)
        for (j = 0; j < 70; j++)
            given[i][j] = (double)(i * 1000 + j);
    assert_ok(parapet_array_write(self->array,
                                  &(parapet_part){.ndim = 2, .start = start, .count = count, .data = given}, 1));
    assert_ok(parapet_array_read(self->array,
                                 &(parapet_part){.ndim = 2, .start = around, .count = wide, .data = found}, 1));
    for (i = 0; i < 70; i++)
        for (j = 0; j < 100; j++)
            assert_true(found[i][j] == (i >= 20 && j >= 30 ? given[i - 20][j - 30] : -1.0));
}

static void resize_square(bed *self, int64_t side)
{
    const int64_t smaller[2] = {side - 5000, side - 7}, larger[2] = {side, side}, corner[2] = {side - 50, side - 70};
    const int64_t count[2] = {50, 70};
    double found[50][70];
    assert_ok(parapet_array_resize(self->array, smaller));
    assert_ok(parapet_array_resize(self->array, larger));
    assert_ok(parapet_array_read(self->array,
                                 &(parapet_part){.ndim = 2, .start = corner, .count = count, .data = found}, 1));
    for (size_t i = 0; i < 50 * 70; i++)
        assert_true(found[i / 70][i % 70] == -1.0);
}

static void check_sparse(int power)
{
    const int64_t side = (int64_t)1 << power / 2, shape[2] = {side, side}, chunks[2] = {256, 256};
    const int64_t shards[2] = {4096, 4096},
                  places[3][2] = {{20, 30}, {side / 2 + 1234, side / 3}, {side - 50, side - 70}};
    const double fill = -1.0;
    parapet_check_summary summary;
    char what[96];
    bed self;
    double start_s;
    open_store(&self, LIMIT_BYTES);
    create(&self, &(parapet_array_spec){.type = PARAPET_FLOAT64,
                                        .ndim = 2,
                                        .shape = shape,
                                        .chunks = chunks,
                                        .shards = shards,
                                        .fill_value = &fill});
    begin(&self);
    for (int i = 0; i < 3; i++)
        check_place(&self, places[i]);
    start_s = now_s();
    assert_ok(parapet_array_check(self.array, PARAPET_CHECK_SURVEY, NULL, NULL, &summary));
    assert_true(now_s() - start_s < 1.0);
    assert_true(summary.shards_present == 3 && summary.torn == 0 && summary.stray == 0);
    resize_square(&self, side);
    (void)snprintf(what, sizeof what, "sparse: 3 boxes, survey, shrink, grow | 2^%d elements", power);
    finish(&self, what);
    close_all(&self);
}

static void test_limits__a_sparse_array_of_2_40_elements(void **state)
{
    (void)state;
    check_sparse(40);
}

static void test_limits__a_sparse_array_of_2_50_elements(void **state)
{
    (void)state;
    check_sparse(50);
}

/* One dimension with an end that no double can tell. */
static void test_limits__a_sparse_line_of_2_62_elements(void **state)
{
    const int64_t elements = (int64_t)1 << 62, chunk = 4096, shard = 4096 * 256;
    const int64_t start = elements - 3, count = 3, wide_start = elements - 9, wide_count = 9;
    const uint8_t given[3] = {1, 2, 3}, expected[9] = {0, 0, 0, 0, 0, 0, 1, 2, 3};
    uint8_t found[9];
    bed self;
    (void)state;
    open_store(&self, LIMIT_BYTES);
    create(&self, &(parapet_array_spec){
                      .type = PARAPET_UINT8, .ndim = 1, .shape = &elements, .chunks = &chunk, .shards = &shard});
    begin(&self);
    assert_ok(parapet_array_write(
        self.array, &(parapet_part){.ndim = 1, .start = &start, .count = &count, .data = (void *)(uintptr_t)given},
        1));
    assert_ok(parapet_array_read(
        self.array, &(parapet_part){.ndim = 1, .start = &wide_start, .count = &wide_count, .data = found}, 1));
    finish(&self, "sparse: the last 3 elements of a line | 2^62 elements");
    assert_memory_equal(found, expected, sizeof expected);
    close_all(&self);
}

static void test_limits__32_dimensions(void **state)
{
    enum { ELEMENTS = 1 << 20, BOX = 1 << 10 };
    int64_t shape[32], chunks[32], shards[32], start[32] = {0}, count[32], reversed[32], stride = 2;
    uint16_t *given = malloc(ELEMENTS * sizeof *given), *found = calloc(ELEMENTS, sizeof *found);
    bed self;
    int d, i;
    (void)state;
    for (d = 0; d < 32; d++) {
        shape[d] = d % 8 < 5 ? 2 : 1;
        chunks[d] = d % 2 == 0 ? shape[d] : 1;
        shards[d] = d % 8 == 1 ? chunks[d] : shape[d];
        count[d] = d < 16 ? shape[d] : 1;
    }
    for (i = 0; i < ELEMENTS; i++)
        given[i] = (uint16_t)((unsigned)i * 2654435761u >> 16);
    open_store(&self, LIMIT_BYTES);
    create(&self, &(parapet_array_spec){
                      .type = PARAPET_UINT16, .ndim = 32, .shape = shape, .chunks = chunks, .shards = shards});
    begin(&self);
    assert_ok(parapet_array_write(self.array,
                                  &(parapet_part){.ndim = 32, .start = start, .count = shape, .data = given}, 1));
    assert_ok(parapet_array_read(self.array,
                                 &(parapet_part){.ndim = 32, .start = start, .count = shape, .data = found}, 1));
    assert_memory_equal(found, given, ELEMENTS * sizeof *given);
    for (d = 0; d < 32; d++) { /* Fortran order, of a box of the first 16 dimensions */
        reversed[d] = stride;
        stride *= count[d];
    }
    assert_ok(parapet_array_read(
        self.array,
        &(parapet_part){.ndim = 32, .start = start, .count = count, .data = found, .strides_bytes = reversed}, 1));
    finish(&self, "32 dimensions, whole and a box | 2^20 elements");
    for (i = 0; i < BOX; i++) {
        int turned = 0, bit;
        for (bit = 0; bit < 10; bit++)
            turned |= (i >> bit & 1) << (9 - bit);
        assert_int_equal(found[turned], given[(size_t)i * (ELEMENTS / BOX)]);
    }
    free(given);
    free(found);
    close_all(&self);
}

static void check_million_chunks(const int64_t *shards, const char *what)
{
    const int64_t shape[2] = {8000, 8000}, chunks[2] = {8, 8};
    bed self;
    unsigned char *band = make_band(shape[0], shape[1]);
    parapet_check_summary summary;
    open_store(&self, LIMIT_BYTES);
    create(
        &self,
        &(parapet_array_spec){
            .type = PARAPET_UINT8, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"});
    begin(&self);
    write_band(&self, band, shape[0], shape[1]);
    check_band_in_slabs(&self, band, shape[0], shape[1]);
    assert_ok(parapet_array_check(self.array, PARAPET_CHECK_INDEX, NULL, NULL, &summary));
    finish(&self, what);
    assert_int_equal(summary.chunks_present, 1000000);
    close_all(&self);
    (void)munmap(band, (size_t)(shape[0] + shape[1]));
}

static void test_limits__a_million_chunks(void **state)
{
    const int64_t shards[2] = {800, 800};
    (void)state;
    check_million_chunks(shards, "write, read in slabs, check | 10^6 chunks in 100 shards");
}

static void test_limits__a_million_chunks_in_one_shard(void **state)
{
    const int64_t shards[2] = {0, 0};
    (void)state;
    check_million_chunks(shards, "write, read in slabs, check | 10^6 chunks in one shard");
}

/* ---- Memory ---- */

static char sentence[1200]; /* of the transfer that was tried last */

static parapet_status try_transfer(int64_t limit_bytes, bool writes, const parapet_part *part)
{
    const parapet_store_options options = {.memory_bytes = limit_bytes, .durability = PARAPET_DURABILITY_LEAVE};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_statistics statistics;
    parapet_status status;
    assert_ok(parapet_store_open(&store, MPI_COMM_NULL, ROOT, PARAPET_UPDATE, &options));
    assert_ok(parapet_array_open(&array, store, "a"));
    status = writes ? parapet_array_write(array, part, 1) : parapet_array_read(array, part, 1);
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    assert_ok(parapet_store_get_statistics(store, &statistics));
    assert_true(statistics.memory_peak_bytes <= limit_bytes);
    if (status != PARAPET_OK) /* refused before anything was read or written of the array's data */
        assert_int_equal(statistics.chunks_encoded + statistics.chunks_decoded + statistics.chunks_copied, 0);
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return status;
}

/* The limit that the last sentence names. */
static int64_t named_limit(void)
{
    const char *at = strstr(sentence, "at least ");
    if (at == NULL)
        fail_msg("no limit is named: %s", sentence);
    return strtoll(at + strlen("at least "), NULL, 10);
}

/* Refused at once; what the sentence names is enough, and not by much too much: how far chunks shrink is not known
 * beforehand. */
static void check_named_limit(const char *what, int64_t too_little, bool writes, const parapet_part *part)
{
    int64_t limit;
    if (try_transfer(too_little, writes, part) != PARAPET_ERR_MEMORY)
        fail_msg("%s: %lld bytes are enough", what, (long long)too_little);
    limit = named_limit();
    if (try_transfer(limit / 4 * 3, writes, part) != PARAPET_ERR_MEMORY)
        fail_msg("%s: %lld bytes are named, but less is enough", what, (long long)limit);
    if (try_transfer(limit, writes, part) != PARAPET_OK)
        fail_msg("%s: %lld bytes are named, but are not enough: %s", what, (long long)limit, sentence);
    printf("NAMED | %s | %.2f MiB |\n", what, (double)limit / (double)MIB);
}

static void test_limits__a_chunk_beyond_the_limit_is_refused_naming_one_that_would_do(void **state)
{
    static const char *const codecs[] = {"none", "zstd:1", "gzip:1", "blosc:lz4:5:shuffle"};
    const int64_t elements = 16 * MIB, chunk = 8 * MIB, start = 0, some = 5 * MIB;
    unsigned char *memory = make_band(elements, 1);
    size_t i;
    (void)state;
    for (i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        const parapet_part whole = {.ndim = 1, .start = &start, .count = &elements, .data = memory};
        const parapet_part part = {.ndim = 1, .start = &start, .count = &some, .data = memory};
        char what[96];
        bed self;
        (void)remove_scratch(NULL);
        open_store(&self, LIMIT_BYTES);
        create(&self,
               &(parapet_array_spec){
                   .type = PARAPET_UINT8, .ndim = 1, .shape = &elements, .chunks = &chunk, .codec = codecs[i]});
        close_all(&self);
        (void)snprintf(what, sizeof what, "write chunks of 8 MiB, %s", codecs[i]);
        check_named_limit(what, 4 * MIB, true, &whole);
        (void)snprintf(what, sizeof what, "change chunks of 8 MiB, %s", codecs[i]);
        check_named_limit(what, 4 * MIB, true, &part);
        (void)snprintf(what, sizeof what, "read chunks of 8 MiB, %s", codecs[i]);
        if (i > 0)
            check_named_limit(what, 4 * MIB, false, &whole);
        else if (try_transfer(MIB, false, &whole) != PARAPET_OK) /* in bands */
            fail_msg("%s: the smallest limit of all is not enough: %s", what, sentence);
    }
    (void)munmap(memory, (size_t)elements + 1);
}

/* Lists of chunks that outweigh the chunks, of several shards at a time. */
static void test_limits__large_indexes_are_refused_naming_a_limit_that_would_do(void **state)
{
    const int64_t shape[2] = {4, 60000}, chunks[2] = {1, 1}, shards[2] = {1, 60000}, start[2] = {0, 0};
    const int64_t column[2] = {4, 3};
    unsigned char *memory = make_memory((size_t)(shape[0] * shape[1]));
    const parapet_part whole = {.ndim = 2, .start = start, .count = shape, .data = memory};
    const parapet_part part = {.ndim = 2, .start = start, .count = column, .data = memory};
    bed self;
    (void)state;
    open_store(&self, LIMIT_BYTES);
    create(
        &self,
        &(parapet_array_spec){
            .type = PARAPET_UINT8, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"});
    close_all(&self);
    check_named_limit("write 4 shards of 60,000 chunks", MIB, true, &whole);
    check_named_limit("change 3 chunks of each", MIB, true, &part);
    check_named_limit("read 3 chunks of each", MIB, false, &part);
    (void)munmap(memory, (size_t)(shape[0] * shape[1]));
}

/* Half a gigabyte through eight megabytes, by every codec. */
static void test_limits__a_small_limit_holds_for_every_codec(void **state)
{
    static const char *const codecs[] = {"none", "zstd:1", "gzip:1", "blosc:lz4:5:shuffle"};
    const int64_t rows = 65536, columns = 4096, shape[2] = {rows, columns}, chunks[2] = {128, 4096};
    const int64_t shards[2] = {16384, 4096};
    unsigned char *band = make_band(rows, columns);
    size_t i;
    (void)state;
    for (i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        char what[96];
        bed self;
        (void)remove_scratch(NULL);
        open_store(&self, 8 * MIB);
        create(&self, &(parapet_array_spec){.type = PARAPET_UINT8,
                                            .ndim = 2,
                                            .shape = shape,
                                            .chunks = chunks,
                                            .shards = shards,
                                            .codec = codecs[i]});
        begin(&self);
        write_band(&self, band, rows, columns);
        (void)snprintf(what, sizeof what, "write, %s | 256 MiB", codecs[i]);
        finish(&self, what);
        begin(&self);
        check_band_in_slabs(&self, band, rows, columns);
        (void)snprintf(what, sizeof what, "read, %s | 256 MiB", codecs[i]);
        finish(&self, what);
        close_all(&self);
    }
    (void)munmap(band, (size_t)(rows + columns));
}

#define LIMITS_TEST(name) cmocka_unit_test_setup_teardown(name, remove_scratch, remove_scratch)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        LIMITS_TEST(test_limits__one_box_of_2_gib_and_a_bit),
        LIMITS_TEST(test_limits__runs_around_2_gib),
        LIMITS_TEST(test_limits__runs_from_2_to_4_gib),
        LIMITS_TEST(test_limits__one_shard_of_more_than_4_gib),
        LIMITS_TEST(test_limits__a_shard_of_more_than_4_gib_is_changed),
        LIMITS_TEST(test_limits__more_than_2_31_elements),
        LIMITS_TEST(test_limits__a_sparse_array_of_2_40_elements),
        LIMITS_TEST(test_limits__a_sparse_array_of_2_50_elements),
        LIMITS_TEST(test_limits__a_sparse_line_of_2_62_elements),
        LIMITS_TEST(test_limits__32_dimensions),
        LIMITS_TEST(test_limits__a_million_chunks),
        LIMITS_TEST(test_limits__a_million_chunks_in_one_shard),
        LIMITS_TEST(test_limits__a_chunk_beyond_the_limit_is_refused_naming_one_that_would_do),
        LIMITS_TEST(test_limits__large_indexes_are_refused_naming_a_limit_that_would_do),
        LIMITS_TEST(test_limits__a_small_limit_holds_for_every_codec),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
