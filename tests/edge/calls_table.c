/* calls_table.c - every public function, called where a program must not, or may just so.
 *
 *     calls_table PLACE FOLDER [FUNCTION]
 *
 * Prints one line for each function on each rank: place, rank, function, whether it is on a store, status, sentence.
 * calls_table.py makes a table of them and judges it. */
#include "calls_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 30 };

static int rank, ranks;

/* ---- The call ---- */

static void make_call(bed *all, const row *wanted)
{
    parapet_status status = wanted->call(all);
    all->found = (outcome){.was_called = true, .status = status};
    if (wanted->has_status && status != PARAPET_OK)
        (void)snprintf(all->found.message, sizeof all->found.message, "%s", parapet_error_message());
}

typedef struct errand {
    bed *all;
    const row *wanted;
} errand;

static void *run_errand(void *context)
{
    const errand *self = context;
    make_call(self->all, self->wanted);
    return NULL;
}

/* Once, in the first callback that comes: not in those of the call itself, if it is let in. */
static void called_back(bed *all)
{
    errand self = {.all = all, .wanted = all->wanted_row};
    pthread_t thread;
    if (all->wanted_row == NULL)
        return;
    all->wanted_row = NULL;
    if (!all->is_on_thread)
        (void)run_errand(&self);
    else if (pthread_create(&thread, NULL, run_errand, &self) == 0)
        (void)pthread_join(thread, NULL);
}

static int in_progress(void *context, int64_t done_bytes, int64_t total_bytes)
{
    (void)done_bytes, (void)total_bytes;
    called_back(context);
    return 0;
}

static int in_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)name, (void)kind;
    called_back(context);
    return 0;
}

static int in_box(void *context, const int64_t *start, const int64_t *count)
{
    (void)start, (void)count;
    called_back(context);
    return 0;
}

/* ---- The bed ---- */

static void must(parapet_status status, const char *what)
{
    if (status == PARAPET_OK)
        return;
    printf("FAILED\t%d\t%s\t%s\n", rank, what, parapet_error_message());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define MUST(call) must((call), #call)

static void describe(bed *all)
{
    int i;
    for (i = 0; i < EXTENT; i++)
        all->values[i] = rank * EXTENT + i;
    all->datatype = MPI_INT32_T;
    all->shape[0] = all->step_shape[1] = (int64_t)ranks * EXTENT;
    all->start[0] = (int64_t)rank * EXTENT;
    all->count[0] = EXTENT;
    all->mesh[0] = 1;
    all->paths[0] = "a";
    all->names[0] = "u";
    all->spec = (parapet_array_spec){.type = PARAPET_INT32, .ndim = 1, .shape = all->shape, .chunks = all->count};
    all->step_spec = (parapet_array_spec){.type = PARAPET_INT32, .ndim = 2, .shape = all->step_shape};
    all->series_spec = (parapet_series_spec){.count = 1, .names = all->names, .specs = &all->step_spec};
    all->part = (parapet_part){.ndim = 1, .start = all->start, .count = all->count, .data = all->values};
    all->step = (parapet_step){.parts = &all->part, .part_count = 1};
    all->points = (parapet_points){.ndim = 1, .count = 1, .coordinates = all->start, .data = all->values};
    all->runs = (parapet_runs){.count = 1, .starts = all->start, .data = all->values};
    all->item = (parapet_checkpoint_item){.name = "x", .spec = &all->spec, .parts = &all->part, .part_count = 1};
    all->distribution = (parapet_distribution){.ndim = 1, .shape = all->shape, .mesh = all->mesh};
    all->transfer_plan.spec = all->copy_plan.source = all->spec;
    all->transfer_plan.distribution = all->distribution;
}

/* What refers to handles. */
static void refer(bed *all)
{
    all->list = (parapet_array_parts){.array = all->array, .parts = &all->part, .part_count = 1};
    all->copy = (parapet_copy_request){
        .source = all->store, .source_path = "a", .target = all->target, .target_path = "a", .no_probe = 1};
    all->file =
        (parapet_file_request){.source = all->store, .source_path = "a", .file = all->file_name, .overwrite = 1};
}

static void start_request(bed *all)
{
    int is_done = 0;
    MUST(parapet_array_start_write(&all->request, all->second, &all->part, 1, PARAPET_BUFFERING_COPY));
    while (!is_done)
        MUST(parapet_request_test(all->request, &is_done));
}

static void open_bed(bed *all, const char *folder, int number)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE, .progress = in_progress};
    *all = (bed){.comm = MPI_COMM_WORLD};
    options.progress_context = all;
    (void)snprintf(all->url, sizeof all->url, "%s/%d", folder, number);
    (void)snprintf(all->other_url, sizeof all->other_url, "%s-other", all->url);
    (void)snprintf(all->file_name, sizeof all->file_name, "npy:%s.npy", all->url);
    describe(all);
    MUST(parapet_store_open(&all->store, all->comm, all->url, PARAPET_CREATE, &options));
    (void)snprintf(all->room, sizeof all->room, "%s", "");
    MUST(parapet_store_open(&all->target, all->comm, all->other_url, PARAPET_CREATE, NULL));
    MUST(parapet_group_open(&all->root, all->store, ""));
    MUST(parapet_group_create(&all->group, all->store, "g", NULL));
    MUST(parapet_array_create(&all->array, all->store, "a", &all->spec));
    MUST(parapet_array_create(&all->second, all->store, "b", &all->spec));
    MUST(parapet_array_write(all->array, &all->part, 1));
    MUST(parapet_checkpoint_begin(&all->checkpoint, all->store, "r", NULL));
    MUST(parapet_checkpoint_put(all->checkpoint, &all->item, 1));
    MUST(parapet_checkpoint_commit(&all->checkpoint, NULL));
    MUST(parapet_restore_open(&all->restore, all->store, "r", 0));
    MUST(parapet_checkpoint_begin(&all->checkpoint, all->store, "c", NULL));
    MUST(parapet_series_create(&all->series, all->store, "s", &all->series_spec));
    MUST(parapet_series_append(all->series, 1, &all->step));
    start_request(all);
    refer(all);
}

/* Handles that a call may have made or ended; all of it still works. */
static void close_bed(bed *all)
{
    if (all->made_request != NULL)
        MUST(parapet_request_wait(&all->made_request));
    if (all->request != NULL)
        MUST(parapet_request_wait(&all->request));
    MUST(parapet_series_close(&all->made_series));
    MUST(parapet_series_close(&all->series));
    MUST(parapet_checkpoint_abort(&all->made_checkpoint));
    MUST(parapet_checkpoint_abort(&all->checkpoint));
    MUST(parapet_restore_close(&all->made_restore));
    MUST(parapet_restore_close(&all->restore));
    MUST(parapet_array_close(&all->made_array));
    MUST(parapet_array_close(&all->array));
    MUST(parapet_array_close(&all->second));
    MUST(parapet_group_close(&all->made_group));
    MUST(parapet_group_close(&all->group));
    MUST(parapet_group_close(&all->root));
    MUST(parapet_store_close(&all->made_store));
    MUST(parapet_store_close(&all->target));
    MUST(parapet_store_close(&all->store));
    parapet_array_parts_free(&all->built);
    parapet_free(all->text);
    all->text = NULL;
}

/* ---- The places ---- */

static void in_progress_callback(bed *all, const row *wanted)
{
    all->wanted_row = wanted;
    MUST(parapet_array_write(all->second, &all->part, 1));
    close_bed(all);
}

static void in_visitor(bed *all, const row *wanted)
{
    all->wanted_row = wanted;
    MUST(parapet_group_list(all->root, in_child, all));
    close_bed(all);
}

/* It is listed by each rank for itself, so the ranks are free to talk. */
static void in_local_visitor(bed *all, const row *wanted)
{
    all->wanted_row = wanted;
    MUST(parapet_array_list(all->second, in_box, all));
    close_bed(all);
}

static void on_second_thread(bed *all, const row *wanted)
{
    all->is_on_thread = true;
    in_progress_callback(all, wanted);
}

static void after_close(bed *all, const row *wanted)
{
    close_bed(all);
    refer(all);
    all->copy.target = NULL;
    make_call(all, wanted);
    parapet_free(all->text);
    parapet_array_parts_free(&all->built);
    MUST(parapet_store_close(&all->made_store));
}

static void after_fork(bed *all, const row *wanted)
{
    int ends[2];
    pid_t child = -1;
    if (pipe(ends) != 0 || (child = fork()) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (child == 0) {
        (void)alarm(SECONDS);
        if (strcmp(wanted->name, "parapet_store_open") == 0)
            all->comm = MPI_COMM_NULL; /* MPI is not for a child */
        make_call(all, wanted);
        (void)!write(ends[1], &all->found, sizeof all->found);
        _exit(0);
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &all->found, sizeof all->found);
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* What a child has changed, its parent finds changed. */
}

typedef struct place {
    const char *name;
    void (*call)(bed *all, const row *wanted);
} place;

static const place places[] = {
    {"progress", in_progress_callback}, {"visitor", in_visitor}, {"local visitor", in_local_visitor},
    {"thread", on_second_thread},       {"closed", after_close}, {"forked", after_fork}};

static void print_outcome(const char *where, const row *wanted, const outcome *found)
{
    char line[1400];
    int bytes =
        snprintf(line, sizeof line, "CELL\t%s\t%d\t%s\t%d\t%s\t%s\n", where, rank, wanted->name, wanted->is_on_store,
                 !found->was_called                                  ? "nothing"
                 : wanted->has_status && found->status != PARAPET_OK ? parapet_status_name(found->status)
                                                                     : "works",
                 found->message);
    (void)!write(STDOUT_FILENO, line, (size_t)bytes);
}

static void run_place(const place *where, const char *folder, const char *only)
{
    static bed all;
    int i;
    for (i = 0; i < row_count; i++) {
        if (only != NULL && strcmp(only, rows[i].name) != 0)
            continue;
        printf("BEGIN\t%s\t%d\t%s\n", where->name, rank, rows[i].name);
        (void)fflush(stdout);
        (void)alarm(2 * SECONDS);
        open_bed(&all, folder, i);
        where->call(&all, &rows[i]);
        print_outcome(where->name, &rows[i], &all.found);
    }
}

/* What ends something comes last, the store behind all others. */
static int ending(const row *one)
{
    if (strcmp(one->name, "parapet_store_close") == 0)
        return 2;
    return strstr(one->name, "close") != NULL || strstr(one->name, "abort") != NULL;
}

static void run_finalized(const char *folder)
{
    static bed all;
    int i, pass;
    open_bed(&all, folder, 0);
    MPI_Finalize();
    for (pass = 0; pass < 3; pass++)
        for (i = 0; i < row_count; i++)
            if (ending(&rows[i]) == pass) {
                printf("BEGIN\tfinalized\t%d\t%s\n", rank, rows[i].name);
                (void)fflush(stdout);
                (void)alarm(SECONDS);
                make_call(&all, &rows[i]);
                print_outcome("finalized", &rows[i], &all.found);
            }
}

int main(int argc, char **argv)
{
    size_t i;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "finalized") == 0) {
        run_finalized(argv[2]);
        return 0;
    }
    for (i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strcmp(argv[1], places[i].name) == 0)
            run_place(&places[i], argv[2], argc > 3 ? argv[3] : NULL);
    MPI_Finalize();
    return 0;
}
