/* Sealing many arrays as one, from what the ranks remember of their writes: the bytes must be those that one process
 * finds by reading every shard. Then verifying: whatever happens to a shard's existence, length or index is found.
 * Runs under the launcher. */
#include <parapet_store.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array_handle.h"
#include "array/seal.h"
#include "base/bytes.h"
#include "codec/crc32c.h"
#include "launch.h"
#include "tree.h"

enum { SIDE = 24, SMALLER_SIDE = 15, ARRAYS = 5, LONG_SHARDS = 4200, LONG_WRITTEN = 30 };

static const char *const paths[ARRAYS] = {"plain", "packed", "loose", "fields/untouched", "long"};
static const int64_t square_shape[2] = {SIDE, SIDE}, square_chunks[2] = {3, 4}, square_shards[2] = {6, 8};
static const int64_t long_shape[1] = {LONG_SHARDS}, long_one[1] = {1};

/* Chunks with and without a checksum of their own; objects without an index; shards that were never written; more
 * shards than a page has records. */
static const parapet_array_spec specs[ARRAYS] = {
    {.type = PARAPET_INT32,
     .ndim = 2,
     .shape = square_shape,
     .chunks = square_chunks,
     .shards = square_shards,
     .codec = "none"},
    {.type = PARAPET_INT32,
     .ndim = 2,
     .shape = square_shape,
     .chunks = square_chunks,
     .shards = square_shards,
     .no_checksum = 1},
    {.type = PARAPET_INT32, .ndim = 2, .shape = square_shape, .chunks = square_chunks, .unsharded = 1},
    {.type = PARAPET_INT32, .ndim = 2, .shape = square_shape, .chunks = square_chunks, .shards = square_shards},
    {.type = PARAPET_INT32, .ndim = 1, .shape = long_shape, .chunks = long_one, .shards = long_one},
};

enum { WRITTEN = 3 }; /* of the square ones; "untouched" is not */

typedef struct bed {
    launch *run;
    MPI_Comm comm;
    int rank, ranks, servers;
    char place[600];
    parapet_store *store;
    parapet_array *arrays[ARRAYS];
} bed;

static int32_t value_of(int64_t i, int64_t j, int round)
{
    return (int32_t)(i % 5 == 0 || j > 15 ? 7 : i * 1000 + j * j) + round * 1000000;
}

/* On all ranks, or on one that is alone. */
static bool is_fine(bed *used, parapet_status status, const char *call)
{
    if (used->comm != MPI_COMM_SELF)
        return launch_ok(used->run, status, call);
    launch_expect(used->run, status == PARAPET_OK, call);
    return status == PARAPET_OK;
}

/* ---- What is written: rows of a square are dealt to the ranks in turn, from another one on in every round ---- */

typedef struct rows {
    int64_t starts[SIDE][2], count[2];
    int32_t values[SIDE][SIDE];
    parapet_part parts[SIDE];
    int part_count;
} rows;

/* A box within the square. */
typedef struct rows_box {
    int64_t start[2], count[2];
} rows_box;

static const rows_box whole = {{0, 0}, {SIDE, SIDE}}, middle = {{5, 2}, {9, 15}}, corner = {{18, 16}, {6, 8}};

static void deal_rows(rows *dealt, const bed *used, const rows_box *box, int round)
{
    int64_t i, j;
    *dealt = (rows){.count = {1, box->count[1]}};
    for (i = box->start[0]; i < box->start[0] + box->count[0]; i++) {
        int number = dealt->part_count;
        if ((i / 3 + round) % used->ranks != used->rank)
            continue;
        dealt->starts[number][0] = i;
        dealt->starts[number][1] = box->start[1];
        for (j = 0; j < box->count[1]; j++)
            dealt->values[number][j] = value_of(i, box->start[1] + j, round);
        dealt->parts[number] = (parapet_part){
            .ndim = 2, .start = dealt->starts[number], .count = dealt->count, .data = dealt->values[number]};
        dealt->part_count++;
    }
}

static bool write_squares(bed *used, const rows_box *box, int round)
{
    parapet_array_parts list[WRITTEN];
    rows dealt;
    int k;
    deal_rows(&dealt, used, box, round);
    for (k = 0; k < WRITTEN; k++)
        list[k] =
            (parapet_array_parts){.array = used->arrays[k], .parts = dealt.parts, .part_count = dealt.part_count};
    return is_fine(used, parapet_arrays_write(list, WRITTEN), "write");
}

/* Every 140th shard of the long array. */
static bool write_long(bed *used)
{
    int64_t starts[LONG_WRITTEN][1];
    int32_t values[LONG_WRITTEN];
    parapet_part parts[LONG_WRITTEN];
    int i, count = 0;
    for (i = 0; i < LONG_WRITTEN; i++) {
        if (i % used->ranks != used->rank)
            continue;
        starts[count][0] = (int64_t)i * (LONG_SHARDS / LONG_WRITTEN);
        values[count] = i + 1;
        parts[count] = (parapet_part){.ndim = 1, .start = starts[count], .count = long_one, .data = &values[count]};
        count++;
    }
    return is_fine(used, parapet_array_write(used->arrays[4], parts, count), "write the long array");
}

/* ---- Stores ---- */

static bool open_store(bed *used, parapet_mode mode)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .servers = used->servers};
    return is_fine(used, parapet_store_open(&used->store, used->comm, used->place, mode, &options), "open the store");
}

static bool create_all(bed *used)
{
    return open_store(used, PARAPET_CREATE) &&
           is_fine(used, parapet_arrays_create(used->arrays, used->store, paths, specs, ARRAYS), "create");
}

static bool open_all(bed *used, parapet_mode mode)
{
    return open_store(used, mode) &&
           is_fine(used, parapet_arrays_open(used->arrays, used->store, paths, ARRAYS), "open");
}

static void close_all(bed *used)
{
    (void)is_fine(used, parapet_arrays_close(used->arrays, ARRAYS), "close the arrays");
    (void)is_fine(used, parapet_store_close(&used->store), "close the store");
}

/* The steps of a case, before the seal. */
typedef bool (*case_steps)(bed *used);

static bool write_once(bed *used)
{
    return write_squares(used, &whole, 0);
}

/* Shards change their owners from write to write, and some are written only in the first. */
static bool write_again(bed *used)
{
    return write_squares(used, &whole, 0) && write_squares(used, &middle, 1) && write_long(used) &&
           write_squares(used, &corner, 2) && write_squares(used, &middle, 3);
}

static bool shrink(bed *used)
{
    static const int64_t smaller[2] = {SMALLER_SIDE, SIDE};
    return write_again(used) && is_fine(used, parapet_array_resize(used->arrays[0], smaller), "resize") &&
           is_fine(used, parapet_array_resize(used->arrays[0], square_shape), "resize back");
}

static parapet_status begin(bed *used, const char *verb)
{
    pp_call call;
    pp_call_init(&call, "%s", verb);
    return pp_comm_begin(used->store->comm, &call, PARAPET_OK);
}

static parapet_status seal_all(bed *used)
{
    parapet_status status = begin(used, "seal");
    return status == PARAPET_OK ? pp_arrays_seal(used->arrays, ARRAYS) : status;
}

static parapet_status verify_all(bed *used)
{
    parapet_status status = begin(used, "verify");
    return status == PARAPET_OK ? pp_arrays_verify(used->arrays, ARRAYS) : status;
}

/* ---- Against one process that reads every shard ---- */

/* Alone, the parts of all ranks are one rank's; sealed through handles that have not written. */
static void make_reference(bed *used, case_steps steps)
{
    bed alone = {.run = used->run, .comm = MPI_COMM_SELF, .ranks = 1};
    bool is_made;
    int k;
    (void)snprintf(alone.place, sizeof alone.place, "%s/alone", used->run->folder);
    is_made = create_all(&alone) && steps(&alone);
    close_all(&alone);
    is_made = is_made && open_all(&alone, PARAPET_UPDATE);
    for (k = 0; k < ARRAYS && is_made; k++)
        is_made = is_fine(&alone, parapet_array_seal(alone.arrays[k]), "seal alone");
    close_all(&alone);
}

static void compare_with_reference(bed *used, case_steps steps)
{
    char place[640];
    tree sealed, alone;
    launch_phase(used->run, "one process alone");
    if (used->rank == 0) {
        make_reference(used, steps);
        (void)snprintf(place, sizeof place, "%s/alone", used->run->folder);
        tree_take(&sealed, used->place);
        tree_take(&alone, place);
        launch_expect(used->run, !tree_has_leftovers(&sealed), "nothing under temporary names");
        launch_expect(used->run, tree_equals(&sealed, &alone), "the seals of one process that reads");
        tree_clear(&sealed);
        tree_clear(&alone);
        tree_remove(place);
    }
    launch_barrier();
}

/* Everything through handles that check the seal. */
static void read_back(bed *used)
{
    static int32_t values[SIDE][SIDE], line[LONG_SHARDS];
    parapet_part square = {.ndim = 2, .start = whole.start, .count = whole.count, .data = values};
    parapet_part all = {.ndim = 1, .start = (const int64_t[]){0}, .count = long_shape, .data = line};
    int k;
    for (k = 0; k < ARRAYS; k++)
        (void)is_fine(used, parapet_array_read(used->arrays[k], k < 4 ? &square : &all, 1), "read");
}

static int64_t reads_of_all_ranks(bed *used)
{
    parapet_statistics statistics = {0};
    int64_t sum;
    (void)parapet_store_get_statistics(used->store, &statistics);
    sum = statistics.read_requests;
    launch_sum(&sum, 1);
    return sum;
}

static void place_bed(bed *used, launch *run, const char *name)
{
    *used = (bed){.run = run, .comm = MPI_COMM_WORLD, .rank = run->rank, .ranks = run->ranks};
    (void)snprintf(used->place, sizeof used->place, "%s/%s", run->folder, name);
}

static void test_seal_many__bytes_are_those_of_one_process_that_reads(launch *run, const char *name, case_steps steps)
{
    bed used;
    place_bed(&used, run, name);
    used.servers = steps == write_again ? (run->ranks + 1) / 2 : 0;
    if (create_all(&used) && steps(&used)) {
        (void)LAUNCH_OK(run, seal_all(&used));
        (void)LAUNCH_OK(run, seal_all(&used)); /* of sealed arrays: nothing */
    }
    close_all(&used);
    compare_with_reference(&used, steps);
    if (open_all(&used, PARAPET_READ)) {
        read_back(&used);
        (void)LAUNCH_OK(run, verify_all(&used));
    }
    close_all(&used);
}

static void test_seal_many__what_was_just_written_is_not_read(launch *run)
{
    bed used;
    int64_t before;
    int k;
    place_bed(&used, run, "unread");
    if (create_all(&used) && write_squares(&used, &whole, 0)) {
        for (k = 0; k < WRITTEN; k++)
            used.arrays[k]->is_detached = true; /* no reads of the groups above */
        before = reads_of_all_ranks(&used);
        (void)LAUNCH_OK(run, begin(&used, "seal"));
        (void)LAUNCH_OK(run, pp_arrays_seal(used.arrays, WRITTEN));
        launch_expect(run, reads_of_all_ranks(&used) == before, "no reads");
    }
    close_all(&used);
}

/* Notes that are wrong are not believed once a rank has lost those of a later write, whichever rank that is. */
static void test_seal_many__lost_notes_are_read_instead(launch *run)
{
    bed used;
    int k;
    place_bed(&used, run, "lost");
    if (create_all(&used) && write_once(&used)) {
        for (k = 0; k < WRITTEN; k++) {
            pp_shard_notes *notes = &used.arrays[k]->notes;
            launch_expect(run, notes->serial == 1, "one write");
            if (notes->count > 0)
                notes->list[0].record.bytes += 1;
            pp_shard_notes_begin(notes);
            if (run->rank == run->ranks - 1)
                pp_shard_notes_add(notes, 0, NULL, 0);
            pp_shard_notes_end(notes);
        }
        (void)LAUNCH_OK(run, seal_all(&used));
    }
    close_all(&used);
    compare_with_reference(&used, write_once);
}

/* ---- Damage ---- */

typedef struct damage {
    const char *key; /* below the store */
    void (*harm)(const char *file);
    parapet_status status;
} damage;

static void harm_remove(const char *file)
{
    (void)unlink(file);
}

static void harm_truncate(const char *file)
{
    struct stat found;
    if (stat(file, &found) == 0 && truncate(file, found.st_size - 1) != 0)
        perror(file);
}

static void harm_empty(const char *file)
{
    if (truncate(file, 0) != 0)
        perror(file);
}

/* A byte of the index, which is at the end and has its checksum behind it. */
static void harm_index(const char *file)
{
    FILE *stream = fopen(file, "r+b");
    int byte;
    if (stream == NULL || fseek(stream, -12, SEEK_END) != 0 || (byte = fgetc(stream)) == EOF ||
        fseek(stream, -12, SEEK_END) != 0 || fputc(byte ^ 1, stream) == EOF || fclose(stream) != 0)
        perror(file);
}

/* Two chunks change places: an index as good as the one before, of a shard as long as the one before. */
static void harm_exchange(const char *file)
{
    enum { INDEX_BYTES = 4 * 16 };
    unsigned char index[INDEX_BYTES + 4], entry[16];
    FILE *stream = fopen(file, "r+b");
    if (stream == NULL || fseek(stream, -(long)sizeof index, SEEK_END) != 0 ||
        fread(index, 1, sizeof index, stream) != sizeof index)
        perror(file);
    memcpy(entry, index, 16);
    memcpy(index, index + 16, 16);
    memcpy(index + 16, entry, 16);
    pp_store_u32le(index + INDEX_BYTES, pp_crc32c(0, index, INDEX_BYTES));
    if (stream == NULL || fseek(stream, -(long)sizeof index, SEEK_END) != 0 ||
        fwrite(index, 1, sizeof index, stream) != sizeof index || fclose(stream) != 0)
        perror(file);
}

/* Shards of compressed chunks, whose lengths differ. */
static void harm_swap(const char *file)
{
    char other[700], spare[700];
    (void)snprintf(other, sizeof other, "%.*s2", (int)strlen(file) - 1, file);
    (void)snprintf(spare, sizeof spare, "%s-spare", file);
    if (rename(file, spare) != 0 || rename(other, file) != 0 || rename(spare, other) != 0)
        perror(file);
}

static void harm_add(const char *file)
{
    char folder[700];
    FILE *stream;
    (void)snprintf(folder, sizeof folder, "%s", file);
    *strrchr(folder, '/') = '\0';
    (void)mkdir(folder, 0777);
    stream = fopen(file, "wb");
    if (stream == NULL || fputs("anything", stream) < 0 || fclose(stream) != 0)
        perror(file);
}

static const damage damages[] = {
    {"plain/c/1/2", harm_remove, PARAPET_ERR_MISSING},   {"plain/c/3/2", harm_truncate, PARAPET_ERR_CORRUPT},
    {"plain/c/0/0", harm_empty, PARAPET_ERR_CORRUPT},    {"plain/c/2/1", harm_index, PARAPET_ERR_CORRUPT},
    {"plain/c/2/0", harm_exchange, PARAPET_ERR_CORRUPT}, {"packed/c/1/1", harm_swap, PARAPET_ERR_CORRUPT},
    {"loose/c/7/5", harm_remove, PARAPET_ERR_MISSING},   {"loose/c/2/3", harm_truncate, PARAPET_ERR_CORRUPT},
    {"long/c/140", harm_remove, PARAPET_ERR_MISSING},    {"long/c/4199", harm_add, PARAPET_ERR_CORRUPT},
};

/* A file as it was; swapping concerns its neighbour too. */
typedef struct kept_file {
    char name[700];
    unsigned char bytes[4096];
    size_t count;
    bool is_there;
} kept_file;

static void keep_file(kept_file *kept, const char *place, const char *key, char last)
{
    FILE *stream;
    (void)snprintf(kept->name, sizeof kept->name, "%s/%s", place, key);
    kept->name[strlen(kept->name) - 1] = last;
    stream = fopen(kept->name, "rb");
    kept->is_there = stream != NULL;
    if (stream == NULL)
        return;
    kept->count = fread(kept->bytes, 1, sizeof kept->bytes, stream);
    (void)fclose(stream);
}

static void put_back(const kept_file *kept)
{
    FILE *stream;
    (void)unlink(kept->name);
    if (!kept->is_there)
        return;
    stream = fopen(kept->name, "wb");
    if (stream == NULL || fwrite(kept->bytes, 1, kept->count, stream) != kept->count || fclose(stream) != 0)
        perror(kept->name);
}

static void verify_anew(bed *used, const damage *done)
{
    parapet_status status;
    if (open_all(used, PARAPET_READ)) {
        status = LAUNCH_AGREED(used->run, verify_all(used));
        launch_expect(used->run, status == done->status, done->key);
        launch_expect(used->run, strstr(parapet_error_message(), done->key) != NULL, "the key in the sentence");
    }
    close_all(used);
}

/* Every third row, so that something of every shard is kept. */
static parapet_status write_thinly(bed *used)
{
    parapet_array_parts list[WRITTEN];
    rows dealt;
    int i, k, count = 0;
    deal_rows(&dealt, used, &whole, 1);
    for (i = 0; i < dealt.part_count; i++)
        if (dealt.starts[i][0] % 3 == 1)
            dealt.parts[count++] = dealt.parts[i];
    for (k = 0; k < WRITTEN; k++)
        list[k] = (parapet_array_parts){.array = used->arrays[k], .parts = dealt.parts, .part_count = count};
    return parapet_arrays_write(list, WRITTEN);
}

/* Ranks that keep something of a damaged shard would have to invent it: nobody writes, and the seals stay. */
static void write_anew(bed *used, const damage *done)
{
    parapet_status status;
    int k, sealed = 0;
    if (done->harm == harm_add || strncmp(done->key, "long", 4) == 0) /* nothing of those is kept */
        return;
    if (open_all(used, PARAPET_UPDATE)) {
        status = LAUNCH_AGREED(used->run, write_thinly(used));
        launch_expect(used->run, status == done->status, "a write that keeps some of what is damaged");
        launch_expect(used->run, done->harm == harm_swap || strstr(parapet_error_message(), done->key) != NULL,
                      "the key in the sentence of a write");
        for (k = 0; k < ARRAYS; k++)
            sealed += used->arrays[k]->is_sealed;
        launch_expect(used->run, sealed == ARRAYS, "seals that stay");
    }
    close_all(used);
}

static void check_damage(bed *used, const damage *done)
{
    static kept_file file, neighbour;
    if (used->rank == 0) {
        keep_file(&file, used->place, done->key, done->key[strlen(done->key) - 1]);
        keep_file(&neighbour, used->place, done->key, '2');
        done->harm(file.name);
    }
    launch_barrier();
    verify_anew(used, done);
    write_anew(used, done);
    if (used->rank == 0) {
        put_back(&file);
        put_back(&neighbour);
    }
    launch_barrier();
}

static void test_seal_many__verifying_and_writing_find_damage(launch *run)
{
    bed used;
    size_t i;
    place_bed(&used, run, "damaged");
    if (create_all(&used) && write_once(&used) && write_long(&used))
        (void)LAUNCH_OK(run, seal_all(&used));
    close_all(&used);
    for (i = 0; i < sizeof damages / sizeof damages[0]; i++)
        check_damage(&used, &damages[i]);
    if (open_all(&used, PARAPET_UPDATE)) {
        (void)LAUNCH_OK(run, write_thinly(&used));
        launch_expect(run, !used.arrays[0]->is_sealed && used.arrays[3]->is_sealed, "a seal that a write takes off");
        read_back(&used);
    }
    close_all(&used);
}

/* Of sharded arrays the index of every shard; of others nothing. Their pages came with the heads. */
static void test_seal_many__verifying_reads_indexes_only(launch *run)
{
    bed used;
    int64_t before;
    place_bed(&used, run, "indexes");
    if (create_all(&used) && write_once(&used) && LAUNCH_OK(run, seal_all(&used))) {
        before = reads_of_all_ranks(&used);
        (void)LAUNCH_OK(run, begin(&used, "verify"));
        (void)LAUNCH_OK(run, pp_arrays_verify(used.arrays, WRITTEN));
        launch_expect(run, reads_of_all_ranks(&used) - before == 12 + 12, "24 indexes");
    }
    close_all(&used);
}

int main(int argc, char **argv)
{
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    launch_case_begin(&run, 1);
    test_seal_many__bytes_are_those_of_one_process_that_reads(&run, "once", write_once);
    test_seal_many__bytes_are_those_of_one_process_that_reads(&run, "again", write_again);
    test_seal_many__bytes_are_those_of_one_process_that_reads(&run, "shrunk", shrink);
    test_seal_many__what_was_just_written_is_not_read(&run);
    test_seal_many__lost_notes_are_read_instead(&run);
    test_seal_many__verifying_and_writing_find_damage(&run);
    test_seal_many__verifying_reads_indexes_only(&run);
    (void)launch_case_end(&run, "sealing and verifying many arrays");
    return launch_finish(&run);
}
