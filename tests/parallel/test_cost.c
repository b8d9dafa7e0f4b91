/* What a small call costs beside its data: agreements of all ranks, and files that are open because of locks. Other
 * jobs are kept out at this price and not at a higher one; docs/results/benchmarks.md has it in milliseconds. Runs
 * under the launcher. */
#include <dirent.h>
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "array/store_handle.h"
#include "comm/endpoint.h"
#include "launch.h"

enum { MANY = 100, EDGE = 4, ROOM = 40 };

/* Beginning, describing, staging and publishing, or the first three to read. Keeping others out adds one to a write
 * if rank 0 has all shards, otherwise two; seeing whether they have changed something meanwhile adds one to a read.
 */
enum { WRITE_AGREEMENTS = 5, WRITE_AGREEMENTS_MANY = 6, READ_AGREEMENTS = 4, ATTRIBUTE_AGREEMENTS = 4 };

typedef struct bed {
    launch *run;
    int most_locks; /* that were open at once in a call */
    parapet_store *store;
    int64_t shape[1], start[1], count[1];
    double data[EDGE];
    parapet_part part;
    char names[MANY][16];
    const char *paths[MANY];
    parapet_array_spec specs[MANY];
    parapet_array *arrays[MANY];
    parapet_array_parts list[MANY];
} bed;

static int count_open_locks(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    int count = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char link[600], target[4096];
        ssize_t bytes;
        (void)snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        if ((bytes = readlink(link, target, sizeof target - 1)) > 0) {
            target[bytes] = '\0';
            count += strstr(target, "/__parapet/lock") != NULL;
        }
    }
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

static int watch_locks(void *context, int64_t done_bytes, int64_t total_bytes)
{
    bed *used = context;
    int count = count_open_locks();
    (void)done_bytes;
    (void)total_bytes;
    used->most_locks = count > used->most_locks ? count : used->most_locks;
    return 0;
}

static bool make_bed(bed *used, launch *run, const char *name)
{
    parapet_store_options options = {.progress = watch_locks, .progress_context = used};
    char place[600];
    *used = (bed){.run = run, .shape = {run->ranks * EDGE}, .start = {run->rank * EDGE}, .count = {EDGE}};
    used->part = (parapet_part){.ndim = 1, .start = used->start, .count = used->count, .data = used->data};
    (void)snprintf(place, sizeof place, "%s/%s.zarr", run->folder, name);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(used->names[i], sizeof used->names[i], "a%d", i);
        used->paths[i] = used->names[i];
        used->specs[i] = (parapet_array_spec){
            .type = PARAPET_FLOAT64, .ndim = 1, .shape = used->shape, .chunks = used->shape, .codec = "none"};
    }
    if (!LAUNCH_OK(run, parapet_store_open(&used->store, MPI_COMM_WORLD, place, PARAPET_CREATE, &options)) ||
        !LAUNCH_OK(run, parapet_arrays_create(used->arrays, used->store, used->paths, used->specs, MANY)))
        return false;
    for (int i = 0; i < MANY; i++)
        used->list[i] = (parapet_array_parts){.array = used->arrays[i], .parts = &used->part, .part_count = 1};
    return true;
}

static void clear_bed(bed *used)
{
    if (used->arrays[0] != NULL)
        (void)LAUNCH_OK(used->run, parapet_arrays_close(used->arrays, MANY));
    if (used->store != NULL)
        (void)LAUNCH_OK(used->run, parapet_store_close(&used->store));
}

static int64_t agreements(const bed *used)
{
    return used->run->ranks > 1 ? pp_comm_endpoint(used->store->comm)->round : 0;
}

static void expect_agreements(const bed *used, int64_t before, int64_t most, const char *call)
{
    char text[160];
    int64_t found = agreements(used) - before;
    (void)snprintf(text, sizeof text, "at most %lld agreements in %s, not %lld", (long long)most, call,
                   (long long)found);
    launch_expect(used->run, found <= most, text);
}

static void test_cost__agreements_do_not_grow_in_number(launch *run)
{
    bed used;
    int64_t before;
    if (make_bed(&used, run, "agreements")) {
        for (int count = 1; count <= MANY; count += MANY - 1) {
            before = agreements(&used);
            (void)LAUNCH_OK(run, parapet_arrays_write(used.list, count));
            expect_agreements(&used, before, count == 1 ? WRITE_AGREEMENTS : WRITE_AGREEMENTS_MANY, "a write");
            before = agreements(&used);
            (void)LAUNCH_OK(run, parapet_arrays_read(used.list, count));
            expect_agreements(&used, before, READ_AGREEMENTS, "a read");
        }
        before = agreements(&used);
        (void)LAUNCH_OK(run, parapet_array_attribute_set(used.arrays[0], "step", "1"));
        expect_agreements(&used, before, ATTRIBUTE_AGREEMENTS, "setting an attribute");
    }
    clear_bed(&used);
}

static void test_cost__one_open_file_for_each_array_on_rank_0(launch *run)
{
    bed used;
    if (make_bed(&used, run, "files")) {
        for (int count = 1; count <= MANY; count += MANY - 1) {
            used.most_locks = 0;
            (void)LAUNCH_OK(run, parapet_arrays_write(used.list, count));
            launch_expect(run, used.most_locks == (run->rank == 0 ? count : 0), "a lock for each array, on rank 0");
            launch_expect(run, count_open_locks() == 0, "no lock open after the call");
        }
        used.most_locks = 0;
        (void)LAUNCH_OK(run, parapet_arrays_read(used.list, MANY));
        launch_expect(run, used.most_locks == 0, "no lock open in a read");
    }
    clear_bed(&used);
}

/* As many as are open now, and some. */
static struct rlimit restrict_files(void)
{
    struct rlimit before, now;
    int lowest = dup(0);
    (void)close(lowest);
    (void)getrlimit(RLIMIT_NOFILE, &before);
    now = before;
    now.rlim_cur = (rlim_t)(lowest + ROOM);
    (void)setrlimit(RLIMIT_NOFILE, &now);
    return before;
}

static void test_cost__too_few_files_are_refused_with_advice(launch *run)
{
    bed used;
    if (make_bed(&used, run, "limit") && LAUNCH_OK(run, parapet_arrays_write(used.list, MANY))) {
        struct rlimit before = restrict_files();
        launch_expect(run,
                      LAUNCH_AGREED(run, parapet_arrays_write(used.list, MANY)) == PARAPET_ERR_IO &&
                          strstr(parapet_error_message(), "raise ulimit -n, or change fewer arrays in one call") !=
                              NULL,
                      "advice");
        (void)LAUNCH_OK(run, parapet_arrays_write(used.list, ROOM / 4));
        (void)LAUNCH_OK(run, parapet_arrays_read(used.list, MANY));
        (void)setrlimit(RLIMIT_NOFILE, &before);
        (void)LAUNCH_OK(run, parapet_arrays_write(used.list, MANY));
        launch_expect(run, count_open_locks() == 0, "no lock open after the call");
    }
    clear_bed(&used);
}

int main(int argc, char **argv)
{
    static void (*const tests[])(launch * run) = {test_cost__agreements_do_not_grow_in_number,
                                                  test_cost__one_open_file_for_each_array_on_rank_0,
                                                  test_cost__too_few_files_are_refused_with_advice};
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        launch_case_begin(&run, i);
        tests[i](&run);
        (void)launch_case_end(&run, "what a small call costs");
    }
    return launch_finish(&run);
}
