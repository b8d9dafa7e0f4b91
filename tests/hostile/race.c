/* race.c - one process swaps pieces of a store with links to the outside, as fast as it can, while this one reads and
 * writes: no byte may come from there or go there.
 *
 *     race SWAPS
 *
 * Inside, elements are 0, 1 or 3; outside, all are 7. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include <parapet.h>

#include "scratch.h"

#define TOP "race.scratch"
#define ROOT TOP "/store"
#define OUTSIDE TOP "/outside"
#define SIDE 8
#define CHUNK_BYTES 16

/* What is swapped: a name in the store, and what outside the link in its place leads to. */
typedef struct target {
    const char *name;
    const char *spare;
    const char *link;
} target;

static const target targets[] = {
    {ROOT "/a/c/0/0", ROOT "/a/c/0/spare", "../../../../outside/a/c/0/0"},
    {ROOT "/a/c/0", ROOT "/a/c/spare", "../../../outside/a/c/0"},
    {ROOT "/a/c", ROOT "/a/spare", "../../outside/a/c"},
    {ROOT "/a", ROOT "/spare", "../outside/a"},
    {ROOT "/a/zarr.json", ROOT "/a/spare.json", "../../outside/a/zarr.json"},
    {ROOT "/a/__parapet", ROOT "/a/spare.parapet", "../../outside/a/c"},
    {ROOT "/a/__parapet/tmp", ROOT "/a/__parapet/spare", "../../../outside/a/c"},
};

typedef struct tally {
    long reads, reads_refused, writes, writes_refused, opens_refused;
    int outside_before;
} tally;

static bool fail(const char *what)
{
    printf("%s: %s\n", what, parapet_error_message());
    return false;
}

static bool make_array(const char *root, unsigned char fill, unsigned char value)
{
    static const int64_t shape[2] = {SIDE, SIDE}, chunks[2] = {4, 4}, start[2] = {0, 0};
    unsigned char elements[CHUNK_BYTES];
    const parapet_array_spec spec = {.type = PARAPET_UINT8,
                                     .ndim = 2,
                                     .shape = shape,
                                     .chunks = chunks,
                                     .unsharded = 1,
                                     .codec = "none",
                                     .no_checksum = 1,
                                     .fill_value = &fill};
    const parapet_part part = {.ndim = 2, .start = start, .count = chunks, .data = elements};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    bool is_made;
    memset(elements, value, sizeof elements);
    is_made = parapet_store_open(&store, MPI_COMM_NULL, root, PARAPET_CREATE, NULL) == PARAPET_OK &&
              parapet_array_create(&array, store, "a", &spec) == PARAPET_OK &&
              parapet_array_write(array, &part, 1) == PARAPET_OK;
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return is_made || fail("cannot make the arrays");
}

/* ---- The process that swaps ---- */

static void provide_link(const target *one)
{
    struct stat found;
    if (lstat(one->spare, &found) == 0 && S_ISLNK(found.st_mode))
        return;
    scratch_remove(one->spare);
    (void)symlink(one->link, one->spare);
}

static long swap_twice(const target *one)
{
    long swaps = 0;
    provide_link(one);
    if (renameat2(AT_FDCWD, one->name, AT_FDCWD, one->spare, RENAME_EXCHANGE) == 0)
        swaps++;
    if (swaps == 1 && renameat2(AT_FDCWD, one->name, AT_FDCWD, one->spare, RENAME_EXCHANGE) == 0)
        swaps++;
    return swaps;
}

/* Ends by itself when it can swap no more: everything it needs may be gone for a moment, but not for ever. */
static int swap_all(long wanted)
{
    size_t count = sizeof targets / sizeof targets[0], i;
    long done = 0, idle = 0;
    while (done < wanted && idle < 1000000) {
        for (i = 0; i < count; i++) {
            long swaps = swap_twice(&targets[i]);
            done += swaps;
            idle = swaps > 0 ? 0 : idle + 1;
        }
    }
    return done >= wanted ? 0 : 1;
}

/* ---- The process that reads and writes ---- */

static bool check_elements(const unsigned char *elements)
{
    size_t i;
    for (i = 0; i < SIDE * SIDE; i++)
        if (elements[i] != 0 && elements[i] != 1 && elements[i] != 3) {
            printf("element %zu is %u, which is stored only outside\n", i, elements[i]);
            return false;
        }
    return true;
}

static bool is_expected(parapet_status status)
{
    return status == PARAPET_OK || status == PARAPET_ERR_IO || status == PARAPET_ERR_NOT_FOUND ||
           status == PARAPET_ERR_FORMAT || status == PARAPET_ERR_ARGUMENT || status == PARAPET_ERR_STALE ||
           status == PARAPET_ERR_BUSY;
}

static bool read_all(parapet_array *array, tally *count)
{
    static const int64_t start[2] = {0, 0}, shape[2] = {SIDE, SIDE};
    unsigned char elements[SIDE * SIDE] = {0};
    const parapet_part part = {.ndim = 2, .start = start, .count = shape, .data = elements};
    parapet_status status = parapet_array_read(array, &part, 1);
    count->reads += status == PARAPET_OK;
    count->reads_refused += status != PARAPET_OK;
    if (!is_expected(status))
        return fail("a read fails in another way");
    return check_elements(elements);
}

/* Whole chunks in turn with parts of one, which read what was there before. */
static bool write_some(parapet_array *array, tally *count)
{
    static const int64_t start[2] = {0, 0}, whole[2] = {4, 4}, some[2] = {2, 3};
    unsigned char elements[CHUNK_BYTES];
    const parapet_part part = {
        .ndim = 2, .start = start, .count = count->writes % 2 == 0 ? whole : some, .data = elements};
    parapet_status status;
    memset(elements, 3, sizeof elements);
    status = parapet_array_write(array, &part, 1);
    count->writes += status == PARAPET_OK;
    count->writes_refused += status != PARAPET_OK;
    return is_expected(status) || fail("a write fails in another way");
}

static bool visit(parapet_store *store, tally *count)
{
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, "a");
    bool is_sound = true;
    if (status != PARAPET_OK) {
        count->opens_refused++;
        return is_expected(status) || fail("opening fails in another way");
    }
    is_sound = read_all(array, count) && write_some(array, count) && read_all(array, count);
    (void)parapet_array_close(&array);
    return is_sound;
}

static bool is_running(pid_t child, int *wait_status)
{
    return waitpid(child, wait_status, WNOHANG) == 0;
}

static bool is_outside_whole(const tally *count)
{
    unsigned char seven[CHUNK_BYTES];
    memset(seven, 7, sizeof seven);
    if (!scratch_holds(OUTSIDE "/a/c/0/0", seven, sizeof seven)) {
        printf("a chunk outside was changed\n");
        return false;
    }
    if (scratch_count(OUTSIDE) != count->outside_before) {
        printf("something was made or removed outside\n");
        return false;
    }
    return true;
}

static bool race(long swaps, tally *count)
{
    const parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE,
                                           .io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store = NULL;
    int wait_status = 0;
    bool is_sound = true, is_over = false;
    pid_t child;
    if (parapet_store_open(&store, MPI_COMM_NULL, ROOT, PARAPET_UPDATE, &options) != PARAPET_OK)
        return fail("cannot open the store");
    if ((child = fork()) == 0)
        _exit(swap_all(swaps));
    while (is_sound && !is_over) {
        is_sound = visit(store, count);
        is_over = !is_running(child, &wait_status);
    }
    if (!is_over) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &wait_status, 0);
    }
    (void)parapet_store_close(&store);
    if (is_sound && wait_status != 0)
        printf("not enough could be swapped\n");
    return is_sound && wait_status == 0;
}

int main(int argc, char **argv)
{
    long swaps = argc > 1 ? atol(argv[1]) : 10000;
    tally count = {0};
    bool is_sound;
    scratch_remove(TOP);
    if (mkdir(TOP, 0777) != 0 || !make_array(ROOT, 0, 1) || !make_array(OUTSIDE, 7, 7))
        return 1;
    count.outside_before = scratch_count(OUTSIDE);
    is_sound = race(swaps, &count) && is_outside_whole(&count);
    printf("%ld swaps; %ld reads and %ld writes went well, %ld and %ld were refused, and %ld opens\n", swaps,
           count.reads, count.writes, count.reads_refused, count.writes_refused, count.opens_refused);
    if (is_sound && (count.reads == 0 || count.writes == 0 || count.reads_refused + count.opens_refused == 0)) {
        printf("the race never took place\n");
        is_sound = false;
    }
    scratch_remove(TOP);
    return is_sound ? 0 : 1;
}
