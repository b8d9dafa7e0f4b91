/* calls_table.h - the handles and arguments with which calls_make.py calls every public function. */
#ifndef PARAPET_TESTS_CALLS_TABLE_H
#define PARAPET_TESTS_CALLS_TABLE_H

#include <mpi.h>
#include <parapet_plan.h>
#include <stdbool.h>

enum { EXTENT = 16 };

typedef struct outcome {
    bool was_called;
    parapet_status status;
    char message[1024];
} outcome;

typedef struct bed bed;

typedef struct row {
    const char *name;
    parapet_status (*call)(bed *all);
    int is_on_store, has_status;
} row;

struct bed {
    MPI_Comm comm;
    MPI_Datatype datatype;
    char url[700], other_url[720], file_name[720], room[64];
    parapet_store *store, *target, *made_store;
    parapet_group *root, *group, *made_group;
    parapet_array *array, *second, *made_array;
    parapet_checkpoint *checkpoint, *made_checkpoint;
    parapet_restore *restore, *made_restore;
    parapet_series *series, *made_series;
    parapet_request *request, *made_request;
    parapet_array_spec spec, step_spec;
    parapet_series_spec series_spec;
    parapet_part part;
    parapet_step step;
    parapet_points points;
    parapet_runs runs;
    parapet_array_parts list, built;
    parapet_checkpoint_item item;
    parapet_distribution distribution;
    parapet_copy_request copy;
    parapet_file_request file;
    parapet_transfer_plan_request transfer_plan;
    parapet_copy_plan_request copy_plan;
    const char *paths[1], *names[1];
    char *text;
    int64_t shape[1], step_shape[2], start[1], count[1], mesh[1], place[EXTENT];
    int32_t values[EXTENT], wanted[EXTENT];
    int answer;
    const row *wanted_row; /* to be called in the callback that comes next; NULL: none */
    bool is_on_thread;
    outcome found;
};

/* What calls_make.py has written. */
extern const row rows[];
extern const int row_count;

/* ---- Visitors, which are arguments here ---- */

static inline int visit_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)context, (void)name, (void)kind;
    return 0;
}

static inline int visit_box(void *context, const int64_t *start, const int64_t *count)
{
    (void)context, (void)start, (void)count;
    return 0;
}

static inline int visit_generation(void *context, int64_t generation, const char *path)
{
    (void)context, (void)generation, (void)path;
    return 0;
}

static inline int visit_removal(void *context, const char *key, const char *reason)
{
    (void)context, (void)key, (void)reason;
    return 0;
}

static inline int visit_finding(void *context, const parapet_finding *finding)
{
    (void)context, (void)finding;
    return 0;
}

#endif
