/* Collecting on many ranks: every rank is told the same things in the same order, only rank 0 touches storage, what
 * cannot be removed does not keep the rest, and nothing goes that is not left over. */
#include <parapet_store.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "array/open.h"
#include "checkpoint/checkpoint.h"
#include "launch.h"
#include "stores/faulty.h"
#include "tree.h"

/* A store of all ranks over a directory, with the operations of each rank counted and failed as planned. */
typedef struct bed {
    launch *run;
    pp_store *directory, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
    char folder[640];
} bed;

static void bed_open(bed *made, launch *run, const char *name, parapet_mode mode)
{
    pp_posix_options posix = {.create = true, .not_durable = true};
    *made = (bed){.run = run, .plan = {.fail_at = -1, .status = PARAPET_ERR_IO}};
    (void)snprintf(made->folder, sizeof made->folder, "%s/%s", run->folder, name);
    if (run->rank == 0)
        launch_expect(run, pp_store_posix_build(&made->directory, made->folder, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run->rank != 0)
        launch_expect(run, pp_store_posix_build(&made->directory, made->folder, &posix) == PARAPET_OK, "a directory");
    launch_expect(run, pp_store_faulty_build(&made->faulty, made->directory, &made->plan) == PARAPET_OK, "faults");
    LAUNCH_OK(run, pp_store_open_over(&made->store, MPI_COMM_WORLD, made->faulty, mode, NULL));
}

static void bed_close(bed *used)
{
    LAUNCH_OK(used->run, parapet_store_close(&used->store));
    pp_store_free(used->faulty);
    pp_store_free(used->directory);
}

/* One array, of which every rank has an element. */
static void put_array(launch *run, parapet_checkpoint *checkpoint)
{
    int64_t shape[1] = {run->ranks}, start[1] = {run->rank}, count[1] = {1}, value = run->rank;
    parapet_array_spec spec = {.type = PARAPET_INT64, .ndim = 1, .shape = shape};
    parapet_part part = {.ndim = 1, .start = start, .count = count, .data = &value};
    parapet_checkpoint_item item = {.name = "a", .spec = &spec, .parts = &part, .part_count = 1};
    LAUNCH_OK(run, parapet_checkpoint_put(checkpoint, &item, 1));
}

static void commit_generation(bed *used)
{
    parapet_checkpoint *checkpoint = NULL;
    LAUNCH_OK(used->run, parapet_checkpoint_begin(&checkpoint, used->store, "restart", NULL));
    put_array(used->run, checkpoint);
    LAUNCH_OK(used->run, parapet_checkpoint_commit(&checkpoint, NULL));
}

/* A generation as a kill leaves it: the handle is forgotten, and nobody hears of it. */
static void leave_generation(bed *used)
{
    parapet_checkpoint *checkpoint = NULL;
    LAUNCH_OK(used->run, parapet_checkpoint_begin(&checkpoint, used->store, "restart", NULL));
    put_array(used->run, checkpoint);
    pp_checkpoint_drop(&checkpoint);
}

static parapet_status find_temporary(void *context, const pp_listed *listed)
{
    if (strncmp(listed->name, ".parapet-", 9) == 0)
        (void)snprintf(context, 256, "%s", listed->name);
    return PARAPET_OK;
}

/* [rank 0] A temporary object, named by the store itself, that stays. Freeing its writer removes it: it has a second
 * name meanwhile. */
static void leave_temporary(bed *used, const char *key, const char *staging)
{
    pp_write_request request = {.key = key, .staging = staging, .is_small = true};
    char name[256] = "", path[1200], kept[1300];
    pp_writer *writer = NULL;
    bool is_begun = pp_store_begin(used->directory, &request, &writer) == PARAPET_OK;
    launch_expect(used->run, is_begun && pp_writer_append(writer, "left", 4) == PARAPET_OK, "a temporary object");
    launch_expect(used->run, pp_store_list(used->directory, staging, find_temporary, name) == PARAPET_OK, "its name");
    (void)snprintf(path, sizeof path, "%s/%s/%s", used->folder, staging, name);
    (void)snprintf(kept, sizeof kept, "%s.kept", path);
    launch_expect(used->run, link(path, kept) == 0, "a second name");
    pp_writer_free(writer);
    launch_expect(used->run, rename(kept, path) == 0, "its name again");
}

static void leave_all(bed *used)
{
    leave_generation(used);
    leave_generation(used);
    if (used->run->rank == 0) {
        leave_temporary(used, "zarr.json", "restart");
        leave_temporary(used, "restart/x", "restart/__parapet/tmp");
        leave_temporary(used, "restart/g00000001/a/c/0", "restart/g00000001/a/__parapet/tmp");
    }
    launch_barrier();
}

/* ---- What every rank is told ---- */

typedef struct told {
    int count, generations, temporaries, most;
    char first[256]; /* key */
    pp_call digest;  /* of all of it, in order */
} told;

static int take(void *context, const char *key, const char *reason)
{
    told *all = context;
    if (all->count++ == 0)
        (void)snprintf(all->first, sizeof all->first, "%s", key);
    all->generations += strstr(reason, "generation") != NULL;
    all->temporaries += strstr(reason, "temporary") != NULL;
    pp_call_add_text(&all->digest, "key", key);
    pp_call_add_text(&all->digest, "reason", reason);
    return all->most > 0 && all->count >= all->most;
}

static told told_init(void)
{
    told all = {0};
    pp_call_init(&all.digest, "told");
    return all;
}

static void expect_told(bed *used, const told *all, int generations, int temporaries)
{
    int64_t digest = (int64_t)(all->digest.digest >> 2);
    launch_expect(used->run, all->generations == generations, "as many generations");
    launch_expect(used->run, all->temporaries == temporaries, "as many temporary objects");
    launch_expect(used->run, all->count == generations + temporaries, "nothing else");
    launch_expect(used->run, launch_largest(digest) == -launch_largest(-digest), "the same on all ranks");
}

/* The files are the same as they were, which is told by rank 0. */
static void expect_files(bed *used, tree *before, bool is_same)
{
    tree after = {0};
    if (used->run->rank == 0) {
        tree_take(&after, used->folder);
        launch_expect(used->run, (tree_digest(before) == tree_digest(&after)) == is_same, "the right files");
        tree_clear(&after);
    }
    launch_barrier();
}

static void take_files(bed *used, tree *files)
{
    *files = (tree){0};
    launch_barrier();
    if (used->run->rank == 0)
        tree_take(files, used->folder);
    launch_barrier();
}

static void forget_files(bed *used, tree *files)
{
    if (used->run->rank == 0)
        tree_clear(files);
}

/* ---- The checks ---- */

static void check_collecting(launch *run)
{
    told dry = told_init(), done = told_init(), again = told_init();
    tree sound, left;
    long operations;
    bed all;
    launch_case_begin(run, 1);
    bed_open(&all, run, "collecting", PARAPET_CREATE);
    commit_generation(&all);
    commit_generation(&all);
    take_files(&all, &sound);
    leave_all(&all);
    take_files(&all, &left);
    operations = all.plan.operations;
    LAUNCH_OK(run, parapet_store_collect(all.store, "", 1, take, &dry));
    expect_told(&all, &dry, 2, 3);
    expect_files(&all, &left, true);
    LAUNCH_OK(run, parapet_store_collect(all.store, "/", 0, take, &done));
    expect_told(&all, &done, 2, 3);
    launch_expect(run, dry.digest.digest == done.digest.digest, "what the dry run told");
    expect_files(&all, &sound, true);
    launch_expect(run, run->rank == 0 || all.plan.operations == operations, "that only rank 0 touches storage");
    LAUNCH_OK(run, parapet_store_collect(all.store, "restart/g00000002", 0, take, &again));
    expect_told(&all, &again, 0, 0);
    forget_files(&all, &left);
    forget_files(&all, &sound);
    bed_close(&all);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "what is left goes, and nothing else");
}

static void check_refusals(launch *run)
{
    parapet_group *group = NULL;
    told one = told_init();
    bed all;
    launch_case_begin(run, 2);
    bed_open(&all, run, "refusals", PARAPET_CREATE);
    commit_generation(&all);
    leave_generation(&all);
    launch_expect(run, parapet_store_collect(NULL, "", 0, NULL, NULL) == PARAPET_ERR_ARGUMENT, "a store");
    launch_expect(
        run, LAUNCH_AGREED(run, parapet_store_collect(all.store, "none", 0, NULL, NULL)) == PARAPET_ERR_NOT_FOUND,
        "PARAPET_ERR_NOT_FOUND");
    launch_expect(run,
                  LAUNCH_AGREED(run, parapet_store_collect(all.store, "__a", 0, NULL, NULL)) == PARAPET_ERR_ARGUMENT,
                  "a path");
    if (run->ranks > 1)
        launch_expect(run,
                      LAUNCH_AGREED(run, parapet_store_collect(all.store, "", run->rank == 1, NULL, NULL)) ==
                          PARAPET_ERR_ARGUMENT,
                      "the same call on all ranks");
    LAUNCH_OK(run, parapet_group_open(&group, all.store, ""));
    launch_expect(run,
                  LAUNCH_AGREED(run, parapet_store_collect(all.store, "", 0, NULL, NULL)) == PARAPET_ERR_ARGUMENT,
                  "no open handle");
    LAUNCH_OK(run, parapet_store_collect(all.store, "", 1, take, &one));
    LAUNCH_OK(run, parapet_group_close(&group));
    expect_told(&all, &one, 1, 0);
    bed_close(&all);
    bed_open(&all, run, "refusals", PARAPET_READ);
    launch_expect(run,
                  LAUNCH_AGREED(run, parapet_store_collect(all.store, "", 0, NULL, NULL)) == PARAPET_ERR_ARGUMENT,
                  "a store for writing");
    LAUNCH_OK(run, parapet_store_collect(all.store, "", 1, NULL, NULL));
    bed_close(&all);
    (void)launch_case_end(run, "what is refused");
}

/* Each operation of rank 0 fails in turn: all ranks are told so, committed generations stay, and the next call does
 * the rest. Counts the failures that kept the first of the five things, and no other, from going. */
static bool fail_at(bed *all, long site, int *alone)
{
    told some = told_init(), whole = told_init();
    parapet_status status;
    bool is_reached;
    leave_all(all);
    LAUNCH_OK(all->run, parapet_store_collect(all->store, "", 1, take, &whole));
    all->plan.operations = all->plan.failures = 0;
    all->plan.fail_at = all->run->rank == 0 ? site : -1;
    status = LAUNCH_AGREED(all->run, parapet_store_collect(all->store, "", 0, take, &some));
    is_reached = launch_largest(all->plan.failures) > 0;
    all->plan.fail_at = -1;
    launch_expect(all->run, (status != PARAPET_OK) == is_reached, "a failure that is told");
    launch_expect(all->run, !is_reached || launch_largest(some.count) == -launch_largest(-some.count),
                  "the same on all ranks");
    *alone += is_reached && some.count == 4 && strcmp(some.first, whole.first) != 0;
    LAUNCH_OK(all->run, parapet_store_collect(all->store, "", 0, NULL, NULL));
    return is_reached;
}

static void check_failures(launch *run)
{
    tree sound;
    long site = 0;
    int alone = 0;
    bed all;
    launch_case_begin(run, 3);
    bed_open(&all, run, "failures", PARAPET_CREATE);
    commit_generation(&all);
    take_files(&all, &sound);
    while (fail_at(&all, site, &alone) && site < 1000) {
        expect_files(&all, &sound, true);
        site++;
    }
    launch_expect(run, site > 10 && site < 1000, "that many failures");
    launch_expect(run, alone > 0, "that what cannot be removed does not keep the rest");
    if (run->rank == 0)
        printf("%d ranks: %ld failures injected, %d kept only the first thing\n", run->ranks, site, alone);
    forget_files(&all, &sound);
    bed_close(&all);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "failures of storage");
}

/* One rank ends its own listing, and nobody else's. */
static void check_ends(launch *run)
{
    told some = told_init();
    bed all;
    launch_case_begin(run, 4);
    bed_open(&all, run, "ends", PARAPET_CREATE);
    commit_generation(&all);
    leave_all(&all);
    some.most = run->rank == 0 ? 2 : 0;
    LAUNCH_OK(run, parapet_store_collect(all.store, "", 0, take, &some));
    launch_expect(run, some.count == (run->rank == 0 ? 2 : 5), "as much as was wanted");
    bed_close(&all);
    (void)launch_case_end(run, "a listing that ends early");
}

static bool has_text(const bed *used, const char *key, const char *text)
{
    char *data = NULL;
    size_t bytes;
    bool has =
        pp_store_read_all(used->directory, key, 1 << 20, &data, &bytes) == PARAPET_OK && strstr(data, text) != NULL;
    pp_free(data);
    return has;
}

/* A group as a copy leaves it that was killed when it had taken the metadata away. */
static void leave_mark(bed *used)
{
    pp_write_request request = {.key = "g/__parapet/consolidate", .staging = "g", .is_small = true};
    parapet_group *group = NULL;
    LAUNCH_OK(used->run, parapet_group_create(&group, used->store, "g/below", NULL));
    LAUNCH_OK(used->run, parapet_group_close(&group));
    if (used->run->rank == 0)
        launch_expect(used->run,
                      pp_store_write_all(used->directory, &request, "", 0, PP_PUBLISH_REPLACE) == PARAPET_OK,
                      "a mark");
    launch_barrier();
}

/* All ranks consolidate, unless something else has failed. */
static void check_metadata(launch *run)
{
    told some = told_init();
    bed all;
    launch_case_begin(run, 5);
    bed_open(&all, run, "metadata", PARAPET_CREATE);
    leave_mark(&all);
    LAUNCH_OK(run, parapet_store_collect(all.store, "", 0, take, &some));
    launch_barrier();
    launch_expect(run, some.count == 1 && strcmp(some.first, "g/__parapet/consolidate") == 0, "the mark");
    launch_expect(run, has_text(&all, "g/zarr.json", "consolidated_metadata"), "the metadata");
    launch_expect(run, !has_text(&all, "g/__parapet/consolidate", ""), "no mark");
    bed_close(&all);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "metadata that was taken away");
}

int main(int argc, char **argv)
{
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    check_collecting(&run);
    check_refusals(&run);
    check_failures(&run);
    check_ends(&run);
    check_metadata(&run);
    return launch_finish(&run);
}
