/* Many new arrays in one call, which the servers make: the same is known of them on all ranks, and stored; what is in
 * the way of some of them is told, waited for or replaced as for a single array; groups are not held for long. With
 * locks and with owner records. Runs under the launcher. */
#include <parapet_store.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "array/state.h"
#include "base/clock.h"
#include "comm/internal.h"
#include "delay.h"
#include "launch.h"
#include "one_clock.h"
#include "stores/faulty.h"

enum { ARRAYS = 12, SHARE = 9, RANKS_MOST = 8 };

/* In an order in which neighbours have different groups. */
static const char *const fresh[ARRAYS] = {"a",        "fields/b",   "deep/er/c", "d",     "fields/e", "deep/f",
                                          "fields-g", "deep/er/hh", "i",         "deep2", "fields/k", "l"};
static const int64_t shape[2] = {40, 30}, chunks[2] = {10, 10};

typedef struct bed {
    launch *run;
    char place[640];
    parapet_store *store;
    parapet_store *alone; /* of another job, on the last rank */
    parapet_array *arrays[RANKS_MOST * SHARE];
    parapet_array_spec specs[RANKS_MOST * SHARE];
} bed;

static bool is_last(const bed *used)
{
    return used->run->rank == used->run->ranks - 1;
}

static int64_t count_rounds(const bed *used)
{
    return used->run->ranks > 1 ? used->store->comm->endpoint.round : 0;
}

static void set_overwrite(bed *used, int overwrite)
{
    int i;
    for (i = 0; i < RANKS_MOST * SHARE; i++)
        used->specs[i].overwrite = overwrite;
}

static void bed_open(bed *used, launch *run, const char *name, const parapet_store_options *options)
{
    int i;
    *used = (bed){.run = run};
    (void)snprintf(used->place, sizeof used->place, "%s/%s%d", run->folder, name,
                   options != NULL ? (int)options->locks : 0);
    for (i = 0; i < RANKS_MOST * SHARE; i++)
        used->specs[i] =
            (parapet_array_spec){.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .unsharded = 1};
    (void)LAUNCH_OK(run, parapet_store_open(&used->store, MPI_COMM_WORLD, used->place, PARAPET_CREATE, options));
    if (is_last(used))
        launch_expect(
            run, parapet_store_open(&used->alone, MPI_COMM_SELF, used->place, PARAPET_UPDATE, options) == PARAPET_OK,
            "another job");
}

static void bed_close(bed *used)
{
    if (is_last(used))
        launch_expect(used->run, parapet_store_close(&used->alone) == PARAPET_OK, "the other job ends");
    (void)LAUNCH_OK(used->run, parapet_store_close(&used->store));
}

static parapet_status make(bed *used, const char *const *paths, int count)
{
    return parapet_arrays_create(used->arrays, used->store, paths, used->specs, count);
}

static void expect_made(bed *used, const char *const *paths, int count)
{
    launch_phase(used->run, "creating");
    if (launch_ok(used->run, make(used, paths, count), paths[0]))
        (void)LAUNCH_OK(used->run, parapet_arrays_close(used->arrays, count));
}

static void expect_fails(bed *used, const char *const *paths, int count, parapet_status expected, const char *words)
{
    parapet_status status = launch_agreed(used->run, make(used, paths, count), words);
    launch_expect(used->run, status == expected, words);
    if (strstr(parapet_error_message(), words) == NULL) {
        fprintf(stderr, "the sentence is \"%s\"\n", parapet_error_message());
        launch_expect(used->run, false, words);
    }
    launch_expect(used->run, used->arrays[0] == NULL && used->arrays[count - 1] == NULL, "no handles");
}

/* ---- What is known of them ---- */

static bool is_same(const pp_text *bytes)
{
    pp_call call;
    int64_t digest;
    pp_call_init(&call, "digest");
    pp_call_add(&call, bytes->data, bytes->bytes);
    digest = (int64_t)(call.digest >> 2);
    return launch_largest(digest) == -launch_largest(-digest);
}

static void expect_same_arrays(bed *used, int count)
{
    pp_text bytes = {0};
    launch_expect(used->run, pp_array_states_print(used->arrays, count, &bytes) == PARAPET_OK, "states");
    launch_expect(used->run, is_same(&bytes), "the same handles on all ranks");
    pp_text_free(&bytes);
}

typedef struct known {
    unsigned char digest[PP_SHA256_BYTES];
    char incarnation[PP_INCARNATION_BYTES];
} known;

static void take_known(const bed *used, known list[ARRAYS])
{
    int i;
    for (i = 0; i < ARRAYS; i++) {
        memcpy(list[i].digest, used->arrays[i]->document_digest, PP_SHA256_BYTES);
        memcpy(list[i].incarnation, used->arrays[i]->incarnation, PP_INCARNATION_BYTES);
    }
}

/* What rank 0 finds stored is what all ranks know without having been told. */
static void expect_stored(bed *used, const known made[ARRAYS])
{
    known found[ARRAYS];
    int i;
    if (!LAUNCH_OK(used->run, parapet_arrays_open(used->arrays, used->store, fresh, ARRAYS)))
        return;
    take_known(used, found);
    for (i = 0; i < ARRAYS; i++) {
        launch_expect(used->run, memcmp(made[i].digest, found[i].digest, PP_SHA256_BYTES) == 0, "the document");
        launch_expect(used->run, strcmp(made[i].incarnation, found[i].incarnation) == 0, "the incarnation");
        launch_expect(used->run, strlen(found[i].incarnation) == PP_INCARNATION_BYTES - 1, "there is one");
    }
    (void)LAUNCH_OK(used->run, parapet_arrays_close(used->arrays, ARRAYS));
}

static void make_and_look(bed *used, known made[ARRAYS])
{
    if (!LAUNCH_OK(used->run, make(used, fresh, ARRAYS)))
        return;
    expect_same_arrays(used, ARRAYS);
    take_known(used, made);
    (void)LAUNCH_OK(used->run, parapet_arrays_close(used->arrays, ARRAYS));
    expect_stored(used, made);
}

/* Once new, then in place of those; and of the same array twice, nobody has the first one any more. */
static void check_fresh(launch *run, const parapet_store_options *options)
{
    known first[ARRAYS], second[ARRAYS];
    int64_t before;
    int i, same = 0;
    bed used;
    launch_case_begin(run, 1);
    bed_open(&used, run, "fresh", options);
    before = count_rounds(&used);
    expect_made(&used, (const char *const[]){"one"}, 1);
    launch_expect(run, count_rounds(&used) - before == (run->ranks > 1 ? 4 : 0), "a single array, closed: 4");
    before = count_rounds(&used);
    expect_made(&used, (const char *const[]){"two", "three"}, 2);
    launch_expect(run, count_rounds(&used) - before == (run->ranks > 1 ? 5 : 0), "one more for several");
    make_and_look(&used, first);
    expect_fails(&used, fresh, ARRAYS, PARAPET_ERR_EXISTS, "there is an array at \"a\" already");
    set_overwrite(&used, 1);
    make_and_look(&used, second);
    for (i = 0; i < ARRAYS; i++)
        same += strcmp(first[i].incarnation, second[i].incarnation) == 0;
    launch_expect(run, same == 0, "what is overwritten is another array");
    bed_close(&used);
    (void)launch_case_end(run, "new and overwritten");
}

/* One server makes all of them in the same way. */
static void check_one_server(launch *run, const parapet_store_options *options)
{
    parapet_store_options few = *options;
    known made[ARRAYS];
    int64_t before;
    bed used;
    launch_case_begin(run, 2);
    few.servers = 1;
    bed_open(&used, run, "one_server", &few);
    before = count_rounds(&used);
    expect_made(&used, (const char *const[]){"two", "three"}, 2);
    launch_expect(run, count_rounds(&used) - before == (run->ranks > 1 ? 5 : 0), "as with several servers");
    make_and_look(&used, made);
    bed_close(&used);
    (void)launch_case_end(run, "one server");
}

/* ---- What is in the way ---- */

static void check_conflicts(launch *run, const parapet_store_options *options)
{
    static const char *const inside[] = {"x", "x-y", "x/y"}, *const outside[] = {"u/v/w", "t", "u"};
    static const char *const twice[] = {"s", "r", "s"}, *const below[] = {"q0", "x/a", "x/b"};
    static const char *const late[] = {"n0", "n1", "n2", "n3", "n4", "n5", "t", "n7"};
    static const char *const root[] = {"m", ""};
    bed used;
    launch_case_begin(run, 3);
    bed_open(&used, run, "conflicts", options);
    expect_fails(&used, inside, 3, PARAPET_ERR_EXISTS,
                 "cannot create array \"x/y\": \"x\" is an array; nothing can be below it");
    expect_fails(&used, outside, 3, PARAPET_ERR_EXISTS,
                 "cannot create array \"u\": there is a group at \"u\", which is never replaced");
    expect_fails(&used, twice, 3, PARAPET_ERR_EXISTS,
                 "cannot create array \"s\": there is an array at \"s\" already");
    expect_fails(&used, below, 3, PARAPET_ERR_EXISTS,
                 "cannot create array \"x/a\": \"x\" is an array; nothing can be below it");
    expect_fails(&used, late, 8, PARAPET_ERR_EXISTS, "cannot create array \"t\": there is an array at \"t\" already");
    expect_fails(&used, root, 2, PARAPET_ERR_EXISTS,
                 "cannot create array \"\": there is a group at \"\", which is never replaced");
    set_overwrite(&used, 1);
    expect_made(&used, twice, 3);
    expect_made(&used, late, 8);
    bed_close(&used);
    (void)launch_case_end(run, "conflicts");
}

typedef struct other_job {
    bed *used;
    pthread_t thread;
    pp_node_lock hold;
    pp_edit edit;
    bool has_thread;
} other_job;

static void *let_go_soon(void *context)
{
    other_job *job = context;
    (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    pp_node_locks_release(&job->hold, 1);
    pp_edit_end(&job->edit);
    return NULL;
}

/* An array that somebody creates, or a group that somebody changes. */
static void other_job_begin(other_job *job, bed *used, const char *array, const char *group)
{
    parapet_status status = PARAPET_OK;
    *job = (other_job){.used = used};
    if (is_last(used) && array != NULL)
        status = pp_node_locks_take(
            &job->hold,
            &(pp_node_lock_wish){
                .store = used->alone, .paths = &array, .count = 1, .mode = PP_LOCK_EXCLUSIVE, .purpose = "creating"});
    if (is_last(used) && group != NULL)
        status = pp_edit_begin(&job->edit, used->alone, group);
    launch_expect(used->run, status == PARAPET_OK, "another job holds it");
    launch_barrier();
}

static void other_job_let_go(other_job *job)
{
    job->has_thread = is_last(job->used);
    if (job->has_thread && pthread_create(&job->thread, NULL, let_go_soon, job) != 0)
        abort();
}

static void other_job_end(other_job *job)
{
    if (job->has_thread)
        (void)pthread_join(job->thread, NULL);
    pp_node_locks_release(&job->hold, 1);
    pp_edit_end(&job->edit);
    launch_barrier();
}

static void check_others(launch *run, const parapet_store_options *options)
{
    parapet_store_options patient = *options;
    known made[ARRAYS];
    other_job job;
    bed used;
    launch_case_begin(run, 4);
    bed_open(&used, run, "others", options);
    other_job_begin(&job, &used, fresh[7], NULL);
    expect_fails(&used, fresh, ARRAYS, PARAPET_ERR_BUSY,
                 "cannot create array \"deep/er/hh\": \"deep/er/hh\" is being");
    other_job_end(&job);
    set_overwrite(&used, 1);
    make_and_look(&used, made);
    bed_close(&used);
    patient.wait_seconds = 60;
    bed_open(&used, run, "patient", &patient);
    other_job_begin(&job, &used, fresh[7], NULL);
    other_job_let_go(&job);
    make_and_look(&used, made);
    other_job_end(&job);
    set_overwrite(&used, 1);
    other_job_begin(&job, &used, NULL, "fields");
    other_job_let_go(&job);
    make_and_look(&used, made);
    other_job_end(&job);
    bed_close(&used);
    (void)launch_case_end(run, "other jobs");
}

/* ---- A slow server ---- */

typedef struct lookout {
    pp_store *backend;   /* of another job */
    parapet_group *root; /* the same */
    atomic_bool is_over, has_seen;
    bool is_let_in;
} lookout;

static lookout other; /* on the last rank */

/* If rank 0 died now, nobody could change the group before the slow server has ended; but others change the groups in
 * between. Those in whose way they are wait as long as that takes: then more time passes. */
static void *look_for_publishing(void *context)
{
    lookout *self = context;
    bool is_held = false;
    while (!atomic_load(&self->has_seen) && !self->is_over) {
        pp_lock *lock = NULL;
        if (pp_store_open_lock(self->backend, "k/__parapet/lock", &lock) == PARAPET_OK &&
            pp_lock_test(lock, PP_LOCK_PUBLISHING, &is_held) == PARAPET_OK)
            atomic_store(&self->has_seen, is_held);
        pp_lock_close(lock);
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    self->is_let_in = parapet_group_attribute_set(self->root, "waited", "true") == PARAPET_OK && !self->is_over;
    for (; !self->is_over; (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL))
        one_clock_move(0.01);
    return NULL;
}

/* Not before it has been seen. */
static void take_long(void *context, const char *operation, const char *key)
{
    (void)context;
    (void)operation;
    (void)key;
    (void)delay_until(&other.has_seen, DELAY_PATIENCE_SECONDS);
    one_clock_move(0.2);
}

static parapet_status make_and_watch(bed *used, const char *const *paths, int count)
{
    pthread_t thread;
    parapet_status status;
    other = (lookout){0};
    if (is_last(used)) {
        other.backend = used->alone->backend;
        launch_expect(used->run, parapet_group_open(&other.root, used->alone, "") == PARAPET_OK, "the root");
        if (pthread_create(&thread, NULL, look_for_publishing, &other) != 0)
            abort();
    }
    status = make(used, paths, count);
    other.is_over = true;
    if (is_last(used)) {
        (void)pthread_join(thread, NULL);
        launch_expect(used->run, other.has_seen, "a server that shows that it is publishing");
        launch_expect(used->run, other.is_let_in, "a change of a group meanwhile");
        (void)parapet_group_close(&other.root);
    }
    return status;
}

static void name_shares(char names[][16], const char **paths, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "k/%d", i);
        paths[i] = names[i];
    }
}

/* The last rank takes longer than others may be kept waiting: all let go of the group in between. */
static void check_slow(launch *run)
{
    static char names[RANKS_MOST * SHARE][16];
    static const char *paths[RANKS_MOST * SHARE];
    delay_plan plan = {.operation = "stage", .wait = take_long};
    pp_posix_options posix = {.not_durable = true};
    pp_store *directory = NULL, *slow = NULL;
    int count = SHARE * run->ranks;
    int64_t before;
    bed used;
    launch_case_begin(run, 5);
    one_clock_take(run);
    bed_open(&used, run, "slow", NULL);
    (void)LAUNCH_OK(run, parapet_store_close(&used.store));
    launch_expect(run, pp_store_posix_build(&directory, used.place, &posix) == PARAPET_OK, "a directory");
    if (is_last(&used))
        launch_expect(run, delay_store_build(&slow, directory, &plan) == PARAPET_OK, "a slow one");
    (void)LAUNCH_OK(
        run, pp_store_open_over(&used.store, MPI_COMM_WORLD, slow != NULL ? slow : directory, PARAPET_UPDATE, NULL));
    name_shares(names, paths, count);
    before = count_rounds(&used);
    if (LAUNCH_OK(run, make_and_watch(&used, paths, count))) {
        launch_expect(run, count_rounds(&used) - before >= 7, "two rounds");
        expect_same_arrays(&used, count);
        (void)LAUNCH_OK(run, parapet_arrays_close(used.arrays, count));
    }
    bed_close(&used);
    pp_store_free(slow);
    pp_store_free(directory);
    pp_clock_use(NULL);
    (void)launch_case_end(run, "a slow server");
}

/* ---- A flush that fails ---- */

/* Where rank 0 has to replace an array, all go on after a round in which not everything was made; but not after one
 * in which the last rank could not make durable what others have published. */
static void check_flush(launch *run)
{
    static char names[RANKS_MOST * SHARE][16];
    static const char *paths[RANKS_MOST * SHARE];
    pp_fault_plan plan = {.only = "sync_dirs", .fail_at = -1};
    pp_posix_options posix = {0};
    pp_store *directory = NULL, *faulty = NULL;
    int count = SHARE * run->ranks;
    parapet_array *old = NULL;
    bed used;
    launch_case_begin(run, 6);
    bed_open(&used, run, "flush", NULL);
    (void)LAUNCH_OK(run, parapet_store_close(&used.store));
    name_shares(names, paths, count);
    set_overwrite(&used, 1);
    launch_expect(run, pp_store_posix_build(&directory, used.place, &posix) == PARAPET_OK, "a directory");
    if (is_last(&used)) {
        launch_expect(run, parapet_array_create(&old, used.alone, paths[0], used.specs) == PARAPET_OK, "an old one");
        (void)parapet_array_close(&old);
        launch_expect(run, pp_store_faulty_build(&faulty, directory, &plan) == PARAPET_OK, "one that fails");
    }
    (void)LAUNCH_OK(run, pp_store_open_over(&used.store, MPI_COMM_WORLD, faulty != NULL ? faulty : directory,
                                            PARAPET_UPDATE, NULL));
    plan.fail_at = plan.operations;
    expect_fails(&used, paths, count, PARAPET_ERR_IO, "injected failure of sync_dirs");
    bed_close(&used);
    pp_store_free(faulty);
    pp_store_free(directory);
    (void)launch_case_end(run, "a flush that fails");
}

int main(int argc, char **argv)
{
    parapet_store_options options[2] = {{.locks = PARAPET_LOCKS_TRUSTED}, {.locks = PARAPET_LOCKS_RECORD}};
    launch run;
    int i;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    for (i = 0; i < 2; i++) {
        check_fresh(&run, &options[i]);
        check_one_server(&run, &options[i]);
        check_conflicts(&run, &options[i]);
        check_others(&run, &options[i]);
    }
    if (run.ranks > 1) {
        check_slow(&run);
        check_flush(&run);
    }
    return launch_finish(&run);
}
