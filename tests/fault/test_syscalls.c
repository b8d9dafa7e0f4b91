/* Every system call that the directory store makes for a call fails in turn, with several error numbers, once and
 * forever: the right status, no descriptor and no temporary file left, every shard old or new, and the call works
 * once the trouble is gone.
 *
 * fault_syscalls full|soak: full lets every fourth call fail, each manner beginning with another one. */
#include "scratch.h"

#include <errno.h>

#include "scenario.h"
#include "shim.h"

typedef struct manner {
    const char *name;
    int error_number;
    bool forever, is_short;
    parapet_status status;
} manner;

static const manner manners[] = {
    {"EIO once", EIO, false, false, PARAPET_ERR_IO},
    {"EIO forever", EIO, true, false, PARAPET_ERR_IO},
    {"ENOSPC once", ENOSPC, false, false, PARAPET_ERR_NO_SPACE},
    {"ENOSPC forever", ENOSPC, true, false, PARAPET_ERR_NO_SPACE},
    {"EDQUOT once", EDQUOT, false, false, PARAPET_ERR_NO_SPACE},
    {"EMFILE once", EMFILE, false, false, PARAPET_ERR_IO},
    {"EACCES once", EACCES, false, false, PARAPET_ERR_IO},
    {"EROFS forever", EROFS, true, false, PARAPET_ERR_IO},
    {"EINTR once", EINTR, false, false, PARAPET_ERR_IO},
    {"short once", 0, false, true, PARAPET_OK},
    {"short forever", 0, true, true, PARAPET_OK},
};

enum { MANNERS = sizeof manners / sizeof manners[0] };

static const char *const scenario_names[] = {
    "array_write, all", "array_write, sealed", "array_create, overwriting", "array_resize, shrinking",
    "array_seal",       "array_unseal",        "array_read, sealed",        "array_attribute_set, sealed",
    "group_create",     "group_list"};

enum { NAMES = sizeof scenario_names / sizeof scenario_names[0] };

typedef struct tally {
    long sites[SHIM_CALLS];
    long runs, accepted;
} tally;

static tally tallies[NAMES];

typedef struct run {
    const scenario *of;
    const image *before;
    const state *old, *new;
    const manner *how;
    shim_plan plan;
    parapet_status status;
    char message[PP_MESSAGE_BYTES];
} run;

static const char *name_of_run(const run *this)
{
    static char text[PP_MESSAGE_BYTES + 256];
    (void)snprintf(text, sizeof text, "%s: %s %ld, %s: returned %s (%s)", this->of->name,
                   shim_call_name(this->plan.call), this->plan.fail_at, this->how->name,
                   parapet_status_name(this->status), this->message);
    return text;
}

static long temporaries;

static int count_temporary(const char *path, const struct stat *found, int type, struct FTW *at)
{
    (void)found;
    (void)at;
    if (type == FTW_F && strstr(path, ".parapet-") != NULL)
        temporaries++;
    return 0;
}

static long count_temporaries(const char *root)
{
    temporaries = 0;
    (void)nftw(root, count_temporary, 16, FTW_PHYS);
    return temporaries;
}

/* What a failed call may hide: closing a directory that was only looked at, removing a temporary file, clearing away
 * a lock that is no longer needed, looking at one that this user may not read, and an interruption or a short
 * transfer, which are repeated. */
static bool may_succeed(const run *this)
{
    return this->plan.call == SHIM_CLOSE || this->how->error_number == EINTR || this->how->is_short ||
           this->plan.failures == this->plan.failures_beside;
}

/* ---- Locks are closed when the work is done, and looked at by those who may ---- */

static shim_plan *watched;
static pp_store_ops plain;

static void close_watched(pp_lock *lock)
{
    watched->is_beside = true;
    plain.close_lock(lock);
    watched->is_beside = false;
}

static parapet_status view_watched(pp_store *store, const char *key, pp_lock_view *view)
{
    parapet_status status;
    watched->is_beside = watched->error_number == EACCES;
    status = plain.view_lock(store, key, view);
    watched->is_beside = false;
    return status;
}

/* ops is where the changed operations are kept. */
static void watch_locks(pp_store *store, pp_store_ops *ops, shim_plan *plan)
{
    watched = plan;
    plain = *store->ops;
    *ops = plain;
    ops->close_lock = close_watched;
    ops->view_lock = view_watched;
    store->ops = ops;
}

static void check_status(const run *this, tally *counted)
{
    if (this->status == PARAPET_OK && may_succeed(this)) {
        counted->accepted++;
        return;
    }
    if (this->status != this->how->status)
        fail_msg("%s, but %s was to be expected", name_of_run(this), parapet_status_name(this->how->status));
    if (strstr(this->message, strerror(this->how->error_number)) == NULL)
        fail_msg("%s: the sentence does not give the reason", name_of_run(this));
}

static void check_stored(const run *this, pp_store *inner)
{
    state_rule rule = {.whole = this->of->kind == SCENARIO_REPLACES,
                       .may_vanish = this->of->kind == SCENARIO_REPLACES};
    char problem[256];
    state seen;
    state_take(&seen, inner);
    if (this->status == PARAPET_OK ? !state_equals(&seen, this->new, problem)
                                   : !state_is_between(&seen, this->old, this->new, rule, problem))
        fail_msg("%s: %s", name_of_run(this), problem);
}

/* A store whose directory could not be flushed never promises anything again: another handle on it does. */
static void repeat(const run *this, const char *root)
{
    parapet_status status;
    state seen;
    char problem[256];
    bed work;
    pp_store *inner;
    assert_ok(pp_store_posix_build(&inner, root, &(pp_posix_options){.not_durable = true}));
    bed_build(&work, inner);
    bed_open_handles(&work, this->of);
    status = this->of->run(&work);
    if (status != PARAPET_OK && status != PARAPET_ERR_EXISTS)
        fail_msg("%s: repeated, it returned %s: %s", name_of_run(this), parapet_status_name(status),
                 parapet_error_message());
    state_take(&seen, inner);
    if (!state_equals(&seen, this->new, problem))
        fail_msg("%s: repeated, but %s", name_of_run(this), problem);
    bed_free(&work);
}

static void run_armed(run *this, const char *root, tally *counted)
{
    pp_store *inner;
    pp_store_ops ops;
    bed work;
    assert_ok(pp_store_posix_build(&inner, root, &(pp_posix_options){.direct_io = PP_DIRECT_IO_NEVER}));
    watch_locks(inner, &ops, &this->plan);
    bed_build(&work, inner);
    bed_open_handles(&work, this->of);
    shim_arm(&this->plan);
    this->status = this->of->run(&work);
    shim_arm(NULL);
    (void)snprintf(this->message, sizeof this->message, "%s", parapet_error_message());
    if (this->plan.failures > 0) {
        check_status(this, counted);
        check_stored(this, inner);
    }
    bed_free(&work);
}

/* Nobody can remove a temporary file when removing fails, or opening the directory that holds it. */
static bool may_leave_temporary(const run *this)
{
    return this->plan.call == SHIM_UNLINK || (this->plan.call == SHIM_OPEN && this->how->forever);
}

/* Whether the point was reached. */
static bool run_once(run *this, tally *counted)
{
    scratch made = scratch_make(SCRATCH_HERE);
    long live = pp_memory_live_count();
    int descriptors = descriptor_count();
    pp_store *inner;
    assert_ok(pp_store_posix_build(&inner, made.root, &(pp_posix_options){.create = true, .not_durable = true}));
    image_put(this->before, inner);
    pp_store_free(inner);
    run_armed(this, made.root, counted);
    if (this->plan.failures > 0) {
        if (!may_leave_temporary(this) && count_temporaries(made.path) != 0)
            fail_msg("%s: %ld temporary files are left", name_of_run(this), temporaries);
        repeat(this, made.root);
    }
    if (descriptor_count() != descriptors)
        fail_msg("%s: %d descriptors are left", name_of_run(this), descriptor_count() - descriptors);
    if (pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations are left", name_of_run(this), pp_memory_live_count() - live);
    scratch_remove(&made);
    counted->runs++;
    return this->plan.failures > 0;
}

/* Which calls may report that error at all. Those that locks and logs need fail in fault_store_calls. */
static bool is_applicable(shim_call call, const manner *how)
{
    if (call == SHIM_CONTROL || call == SHIM_CUT || call == SHIM_PERMIT)
        return false;
    if (how->is_short)
        return call == SHIM_READ || call == SHIM_WRITE;
    switch (how->error_number) {
    case EMFILE:
        return call == SHIM_OPEN;
    case EDQUOT:
        return call == SHIM_OPEN || call == SHIM_WRITE || call == SHIM_FLUSH || call == SHIM_MAKE_DIRECTORY;
    case EACCES:
    case EROFS:
        return call == SHIM_OPEN || call == SHIM_RENAME || call == SHIM_UNLINK || call == SHIM_MAKE_DIRECTORY;
    default:
        return true;
    }
}

static long stride = 4;

static void run_sites(run *this, shim_call call, tally *counted)
{
    long at, last = -1;
    for (at = (this->how - manners) % stride;; at += stride) {
        this->plan = (shim_plan){.call = call,
                                 .fail_at = at,
                                 .forever = this->how->forever,
                                 .is_short = this->how->is_short,
                                 .error_number = this->how->error_number};
        if (!run_once(this, counted))
            break;
        last = at;
    }
    counted->sites[call] = last + 1 > counted->sites[call] ? last + 1 : counted->sites[call];
}

static void test_scenario(void **context)
{
    long index = (long)(intptr_t)*context;
    image before;
    state old, new;
    run this = {.of = scenario_find(scenario_names[index]), .before = &before, .old = &old, .new = &new};
    int call, i;
    scenario_prepare(this.of, &before);
    scenario_bounds(this.of, &before, &old, &new);
    for (call = 0; call < SHIM_CALLS; call++)
        for (i = 0; i < MANNERS; i++) {
            this.how = &manners[i];
            if (is_applicable((shim_call)call, this.how))
                run_sites(&this, (shim_call)call, &tallies[index]);
        }
    image_free(&before);
}

static void print_table(void)
{
    int i, call;
    printf("\n%-32s", "call");
    for (call = 0; call < SHIM_CALLS; call++)
        printf(" %7s", shim_call_name((shim_call)call));
    printf(" %8s %9s\n", "runs", "unharmed");
    for (i = 0; i < NAMES; i++) {
        printf("%-32s", scenario_names[i]);
        for (call = 0; call < SHIM_CALLS; call++)
            printf(" %7ld", tallies[i].sites[call]);
        printf(" %8ld %9ld\n", tallies[i].runs, tallies[i].accepted);
    }
}

int main(int argc, char **argv)
{
    struct CMUnitTest list[NAMES];
    int i, failed;
    if (argc > 1 && strcmp(argv[1], "soak") == 0)
        stride = 1;
    for (i = 0; i < NAMES; i++)
        list[i] = (struct CMUnitTest){
            .name = scenario_names[i], .test_func = test_scenario, .initial_state = (void *)(intptr_t)i};
    failed = _cmocka_run_group_tests("fault_syscalls", list, NAMES, NULL, NULL);
    print_table();
    return failed;
}
