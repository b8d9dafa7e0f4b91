/* cases.c - single situations of two jobs on one store, one process each, made to happen: while a write has staged
 * its shards and not yet published them, something else happens to the store.
 *
 *     cases NAME
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parapet.h>

enum { LENGTH = 64, OLD = 1, NEW = 2, OTHER = 3, SKIPPED = 77 };

static const int64_t shape[1] = {LENGTH}, chunks[1] = {8}, shards[1] = {16}, origin[1] = {0}, grown[1] = {96};
static char folder[512];
static int failures;

static void expect(bool is_true, const char *what)
{
    if (is_true)
        return;
    failures++;
    fprintf(stderr, "expected %s; the last sentence is \"%s\"\n", what, parapet_error_message());
}

static void expect_status(parapet_status status, parapet_status wanted, const char *call)
{
    if (status == wanted)
        return;
    failures++;
    fprintf(stderr, "%s: expected %s, was told %s: %s\n", call, parapet_status_name(wanted),
            parapet_status_name(status), parapet_error_message());
}

#define OK(call) expect_status((call), PARAPET_OK, #call)
#define STATUS(call, wanted) expect_status((call), (wanted), #call)

/* ---- A store with an array "g/a", and a job that is disturbed ---- */

typedef struct job {
    parapet_store *store;
    parapet_array *array;
    void (*disturb)(struct job *other); /* called once, while a write of the job is under way */
    struct job *other;
} job;

static int progress(void *context, int64_t done_bytes, int64_t total_bytes)
{
    job *own = context;
    void (*disturb)(struct job * other) = own->disturb;
    (void)done_bytes;
    (void)total_bytes;
    own->disturb = NULL;
    if (disturb != NULL)
        disturb(own->other);
    return 0;
}

/* Opens the store, or what lies below it. */
static void enter(job *own, const char *below, const char *path)
{
    parapet_store_options options = {
        .durability = PARAPET_DURABILITY_LEAVE, .progress = progress, .progress_context = own};
    char url[600];
    (void)snprintf(url, sizeof url, "%s/store%s", folder, below);
    OK(parapet_store_open(&own->store, MPI_COMM_NULL, url, PARAPET_UPDATE, &options));
    OK(parapet_array_open(&own->array, own->store, path));
}

static void leave(job *own)
{
    OK(parapet_array_close(&own->array));
    OK(parapet_store_close(&own->store));
}

static parapet_status write_all(job *own, int64_t value)
{
    int64_t values[LENGTH];
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    int i;
    for (i = 0; i < LENGTH; i++)
        values[i] = value;
    return parapet_array_write(own->array, &part, 1);
}

static void make_store(void)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT64, .shape = shape, .chunks = chunks, .shards = shards};
    job own = {0};
    char url[600];
    (void)snprintf(url, sizeof url, "%s/store", folder);
    OK(parapet_store_open(&own.store, MPI_COMM_NULL, url, PARAPET_CREATE, NULL));
    OK(parapet_array_create(&own.array, own.store, "g/a", &spec));
    OK(write_all(&own, OLD));
    leave(&own);
}

/* Whoever opens it now sees one value everywhere. */
static void expect_value(int64_t value)
{
    int64_t values[LENGTH];
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    job own = {0};
    int i, others = 0;
    enter(&own, "", "g/a");
    OK(parapet_array_read(own.array, &part, 1));
    for (i = 0; i < LENGTH; i++)
        others += values[i] != value;
    expect(others == 0, "one value everywhere");
    leave(&own);
}

/* ---- Somebody removes the lock ---- */

static void remove_lock(job *other)
{
    char path[600];
    (void)other;
    (void)snprintf(path, sizeof path, "%s/store/g/a/__parapet/lock", folder);
    expect(unlink(path) == 0, "a lock to remove");
}

static void remove_lock_and_write(job *other)
{
    remove_lock(other);
    OK(write_all(other, OTHER));
}

/* The lock is gone when the shards are to be published: they are not. */
static void case_lock_removed(void)
{
    job own = {.disturb = remove_lock};
    enter(&own, "", "g/a");
    STATUS(write_all(&own, NEW), PARAPET_ERR_STALE);
    leave(&own);
    expect_value(OLD);
}

/* Another job has come in through the new lock: its work stays. */
static void case_lock_removed_and_taken(void)
{
    job other = {0}, own = {.disturb = remove_lock_and_write, .other = &other};
    enter(&other, "", "g/a");
    enter(&own, "", "g/a");
    STATUS(write_all(&own, NEW), PARAPET_ERR_STALE);
    leave(&own);
    leave(&other);
    expect_value(OTHER);
}

/* ---- A child that was forked ---- */

static pid_t child;

static void fork_child(job *other)
{
    (void)other;
    if ((child = fork()) == 0) {
        (void)pause();
        _exit(0);
    }
}

/* The child lives on, and keeps nobody out. */
static void case_forked_child(void)
{
    job own = {.disturb = fork_child}, other = {0};
    enter(&own, "", "g/a");
    OK(write_all(&own, NEW));
    leave(&own);
    enter(&other, "", "g/a");
    OK(parapet_array_resize(other.array, grown));
    leave(&other);
    expect(child > 0, "a child");
    if (child > 0 && kill(child, SIGKILL) == 0)
        (void)waitpid(child, NULL, 0);
    expect_value(NEW);
}

/* ---- Stores opened at different places ---- */

static void resize_other(job *other)
{
    STATUS(parapet_array_resize(other->array, grown), PARAPET_ERR_BUSY);
    expect(strstr(parapet_error_message(), "this process") != NULL, "a sentence that says who has it");
}

/* One job has opened the store, another one the group in it as a store of its own: the array has one lock. */
static void case_parent_and_child(void)
{
    job below = {0}, above = {.disturb = resize_other, .other = &below};
    enter(&below, "/g", "a");
    enter(&above, "", "g/a");
    OK(write_all(&above, NEW));
    OK(parapet_array_resize(below.array, grown));
    leave(&above);
    leave(&below);
    expect_value(NEW);
}

/* ---- Consolidated metadata and the commit of a checkpoint ---- */

static parapet_status consolidate(parapet_store *store)
{
    parapet_group *root = NULL;
    parapet_status status = parapet_group_open(&root, store, "");
    if (status == PARAPET_OK)
        status = parapet_group_consolidate(root);
    (void)parapet_group_close(&root);
    return status;
}

/* 0: the root is not consolidated; 1: it is, and tells of the name; -1: it is, and does not. */
static int consolidated_tells(const char *name)
{
    static char text[65536];
    char path[600];
    size_t bytes = 0;
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/store/zarr.json", folder);
    if ((file = fopen(path, "r")) != NULL) {
        bytes = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
    }
    text[bytes] = '\0';
    if (strstr(text, "consolidated_metadata") == NULL)
        return 0;
    return strstr(text, name) != NULL ? 1 : -1;
}

/* Consolidated before the commit or behind it: a generation that is committed is not hidden. */
static void case_consolidate_and_commit(void)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT64, .shape = shape};
    int64_t values[LENGTH] = {0};
    parapet_part part = {.ndim = 1, .start = origin, .count = shape, .data = values};
    parapet_checkpoint_item item = {.name = "x", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    job own = {0}, other = {0};
    enter(&own, "", "g/a");
    enter(&other, "", "g/a");
    OK(parapet_checkpoint_begin(&checkpoint, own.store, "c", NULL));
    OK(parapet_checkpoint_put(checkpoint, &item, 1));
    OK(consolidate(other.store));
    expect(consolidated_tells("g00000001") == -1, "nothing of a generation that is not committed");
    OK(parapet_checkpoint_commit(&checkpoint, NULL));
    expect(consolidated_tells("g00000001") != -1, "no consolidated metadata that hide a generation");
    OK(consolidate(other.store));
    expect(consolidated_tells("g00000001") == 1, "consolidated metadata with the generation");
    leave(&own);
    leave(&other);
}

/* ---- A copy that was interrupted ---- */

static int stop_half_way(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)context;
    return total_bytes > 0 && done_bytes * 2 >= total_bytes;
}

static void begin_copy(void)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = stop_half_way};
    parapet_copy_request request = {.source_path = "g/a",
                                    .target_path = "t",
                                    .changes = {.chunks = "4", .shards = "16"},
                                    .unit_bytes = 128,
                                    .no_probe = 1};
    parapet_store *store = NULL;
    char url[600];
    (void)snprintf(url, sizeof url, "%s/store", folder);
    OK(parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_UPDATE, &options));
    request.source = request.target = store;
    STATUS(parapet_copy(&request, NULL), PARAPET_ERR_CANCELLED);
    OK(parapet_store_close(&store));
}

static int count_node(void *context, const char *name, parapet_node_kind kind)
{
    (void)name;
    (void)kind;
    ++*(int *)context;
    return 0;
}

/* What is not finished is not there: not as a group either, for others that open, list and consolidate. */
static void case_unfinished(void)
{
    parapet_array *array = NULL;
    parapet_group *group = NULL;
    job own = {0};
    int nodes = 0;
    begin_copy();
    enter(&own, "", "g/a");
    STATUS(parapet_array_open(&array, own.store, "t"), PARAPET_ERR_NOT_FOUND);
    STATUS(parapet_group_open(&group, own.store, "t"), PARAPET_ERR_NOT_FOUND);
    OK(parapet_group_open(&group, own.store, ""));
    OK(parapet_group_list(group, count_node, &nodes));
    expect(nodes == 1, "one group in the root");
    OK(parapet_group_close(&group));
    OK(consolidate(own.store));
    leave(&own);
}

/* ---- A copy into a tree ---- */

static void copy_tree(job *other)
{
    parapet_copy_request request = {.source = other->store,
                                    .source_path = "h",
                                    .target = other->store,
                                    .target_path = "g",
                                    .overwrite = 1,
                                    .no_probe = 1};
    STATUS(parapet_copy(&request, NULL), PARAPET_ERR_BUSY);
}

/* A copy of a group would replace an array that is being written: it is told so, and the write is there. */
static void case_copy_into_tree(void)
{
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT64, .shape = shape};
    job other = {0}, own = {.disturb = copy_tree, .other = &other};
    parapet_array *source = NULL;
    enter(&other, "", "g/a");
    OK(parapet_array_create(&source, other.store, "h/a", &spec));
    OK(parapet_array_close(&source));
    enter(&own, "", "g/a");
    OK(write_all(&own, NEW));
    leave(&own);
    leave(&other);
    expect_value(NEW);
}

/* ---- Two users of one group of users ---- */

enum { FIRST_USER = 23001, SECOND_USER = 23002, COMMON_GROUP = 23000 };

static void act_as(uid_t user, void (*act)(void))
{
    int ended = 1;
    pid_t process = fork();
    if (process == 0) {
        if (setgroups(0, NULL) != 0 || setgid(COMMON_GROUP) != 0 || setuid(user) != 0)
            exit(SKIPPED);
        (void)umask(002);
        act();
        exit(failures > 0);
    }
    (void)waitpid(process, &ended, 0);
    expect(WIFEXITED(ended) && WEXITSTATUS(ended) == 0, "a user who can work");
}

static void write_as_second(void)
{
    job own = {0};
    enter(&own, "", "g/a");
    OK(write_all(&own, NEW));
    OK(parapet_array_resize(own.array, grown));
    OK(parapet_array_attribute_set(own.array, "note", "1"));
    leave(&own);
}

static void write_as_first(void)
{
    job own = {0};
    enter(&own, "", "g/a");
    OK(write_all(&own, OTHER));
    leave(&own);
}

/* Each of them may change what the other one has made, and the lock of it. */
static void case_second_user(void)
{
    if (geteuid() != 0 || chmod(folder, 02775) != 0 || chown(folder, FIRST_USER, COMMON_GROUP) != 0) {
        fprintf(stderr, "needs the right to be another user\n");
        exit(SKIPPED);
    }
    act_as(FIRST_USER, make_store);
    act_as(SECOND_USER, write_as_second);
    act_as(FIRST_USER, write_as_first);
    expect_value(OTHER);
}

/* ---- Owner records in place of locks ---- */

static void record_path(char path[600])
{
    (void)snprintf(path, 600, "%s/store/g/a/__parapet/lock.long", folder);
}

static void remove_record(job *other)
{
    char path[600];
    (void)other;
    record_path(path);
    expect(unlink(path) == 0, "an owner record to remove");
}

/* The record is gone when the shards are to be published: they are not. */
static void case_record_removed(void)
{
    job own = {.disturb = remove_record};
    enter(&own, "", "g/a");
    STATUS(write_all(&own, NEW), PARAPET_ERR_STALE);
    leave(&own);
    expect_value(OLD);
}

static void leave_record(const char *text)
{
    char path[600];
    FILE *file;
    record_path(path);
    file = fopen(path, "w");
    expect(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "a record to be left");
}

static bool has_record(void)
{
    char path[600];
    record_path(path);
    return access(path, F_OK) == 0;
}

/* One attempt to write, which is BUSY, with a sentence that says this. */
static void expect_busy(const char *words)
{
    job own = {0};
    enter(&own, "", "g/a");
    STATUS(write_all(&own, NEW), PARAPET_ERR_BUSY);
    expect(strstr(parapet_error_message(), words) != NULL, words);
    STATUS(parapet_array_resize(own.array, grown), PARAPET_ERR_BUSY);
    leave(&own);
    expect(has_record(), "a record that has stayed");
    expect_value(OLD);
}

/* Whether its holder lives cannot be seen: it keeps everybody out until somebody says that it does not. */
static void case_record_of_another_machine(void)
{
    job own = {0};
    leave_record("parapet owner 1\nid 0123456789abcdef\nprocess 4711 99 on node12\n"
                 "boot 00000000-1111-2222-3333-444444444444 1 1\nsince 1000000000\n");
    expect_busy("process 4711 on node12 since 2001-09-09T01:46:40Z");
    expect_busy("--takeover");
    expect(setenv("PARAPET_TAKEOVER", "yes", 1) == 0, "a setting");
    enter(&own, "", "g/a");
    OK(write_all(&own, NEW));
    leave(&own);
    expect(!has_record(), "no record any more");
    expect(unsetenv("PARAPET_TAKEOVER") == 0, "a setting");
    expect_value(NEW);
}

static void die(job *other)
{
    (void)other;
    (void)kill(getpid(), SIGKILL);
}

/* Its process is seen to be gone: the next job enters at once. */
static void case_record_of_a_killed_job(void)
{
    job own = {0};
    int ended = 0;
    pid_t process = fork();
    if (process == 0) {
        own.disturb = die;
        enter(&own, "", "g/a");
        (void)write_all(&own, OTHER);
        _exit(1);
    }
    (void)waitpid(process, &ended, 0);
    expect(WIFSIGNALED(ended), "a job that was killed");
    expect(has_record(), "its record");
    expect_value(OLD);
    enter(&own, "", "g/a");
    OK(write_all(&own, NEW));
    OK(parapet_array_resize(own.array, grown));
    leave(&own);
    expect(!has_record(), "no record any more");
    expect_value(NEW);
}

/* What is no record may be anything: nobody enters, and nobody removes it, not even who takes over. */
static void case_record_damaged(void)
{
    leave_record("");
    expect_busy("__parapet/lock.long is not an owner record");
    leave_record("parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on \033[2J\n");
    expect_busy("__parapet/lock.long is not an owner record");
    expect(setenv("PARAPET_TAKEOVER", "yes", 1) == 0, "a setting");
    leave_record("notes of somebody");
    expect_busy("__parapet/lock.long is not an owner record");
}

/* ---- */

typedef struct named {
    const char *name;
    void (*run)(void);
    bool makes_store; /* by itself */
} named;

static const named cases[] = {
    {"lock_removed", case_lock_removed, false},
    {"lock_removed_and_taken", case_lock_removed_and_taken, false},
    {"forked_child", case_forked_child, false},
    {"parent_and_child", case_parent_and_child, false},
    {"consolidate_and_commit", case_consolidate_and_commit, false},
    {"unfinished", case_unfinished, false},
    {"copy_into_tree", case_copy_into_tree, false},
    {"second_user", case_second_user, true},
    {"record_removed", case_record_removed, false},
    {"record_of_another_machine", case_record_of_another_machine, false},
    {"record_of_a_killed_job", case_record_of_a_killed_job, false},
    {"record_damaged", case_record_damaged, false},
};

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    const char *given = getenv("TMPDIR");
    size_t i, count = sizeof cases / sizeof cases[0];
    for (i = 0; i < count && (argc != 2 || strcmp(argv[1], cases[i].name) != 0); i++)
        ;
    (void)snprintf(folder, sizeof folder, "%s/parapet-case-XXXXXX", given != NULL ? given : "/tmp");
    if (i == count || mkdtemp(folder) == NULL)
        return 2;
    if (!cases[i].makes_store)
        make_store();
    cases[i].run();
    (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failures > 0;
}
