/* soak.c - what the driver of the soak starts.
 *
 *     soak make URL SEED                 a store with an array, a series and checkpoints
 *     soak look URL LEFT                 what is in it; LEFT 1: killed jobs may have left things over
 *     soak collect URL                   removes those
 *     soak job FOLDER URL JOB SEED MARK COUNT OPERATIONS STOPPING
 *                                        one job, under a launcher: see soak.h
 *
 * make and look print the world as one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "soak.h"

static void print_list(const char *name, const int64_t *values, int64_t count)
{
    int64_t i;
    printf("\"%s\": [", name);
    for (i = 0; i < count; i++)
        printf("%s%" PRId64, i > 0 ? ", " : "", values[i]);
    printf("]");
}

static void print_array(const char *name, const world_array *of)
{
    printf("\"%s\": ", name);
    if (!of->exists) {
        printf("null, ");
        return;
    }
    printf("{\"length\": %" PRId64 ", \"sealed\": %d, \"made\": %" PRId64 ", \"set\": [%" PRId64 ", %" PRId64 "], ",
           of->length, of->is_sealed, of->made, of->set[0], of->set[1]);
    print_list("values", of->values, of->length);
    printf("}, ");
}

void soak_world_print(const world *of)
{
    printf("{");
    print_array("a", &of->array);
    print_array("t", &of->target);
    print_list("steps", of->steps, of->step_count);
    printf(", ");
    print_list("generations", of->generations, of->generation_count);
    printf(", ");
    print_list("marks", of->marks, of->generation_count);
    printf("}\n");
}

static int make(const char *url, uint64_t seed)
{
    draw from = draw_start(seed, 0);
    race run = {.has_array = draw_chance(&from, 80)};
    world made;
    run.is_sealed = run.has_array && draw_chance(&from, 30);
    run.is_consolidated = draw_chance(&from, 40);
    run.is_begun = !run.has_array && draw_chance(&from, 50);
    if (!world_make(url, &run, &made))
        return 1;
    soak_world_print(&made);
    return 0;
}

/* What a killed job has left of a step is gone when the series is opened. */
static bool open_series(const char *url)
{
    race run = {.jobs = {{.does = OP_SERIES_OPEN}}};
    actor own = {.ranks = 1};
    outcome told = {0};
    if (parapet_store_open(&own.store, MPI_COMM_NULL, url, PARAPET_UPDATE, NULL) != PARAPET_OK) {
        fprintf(stderr, "the store cannot be opened: %s\n", parapet_error_message());
        return false;
    }
    operation_run(&own, &run, &told);
    if (told.status != PARAPET_OK)
        fprintf(stderr, "the series cannot be opened: %s\n", told.sentence);
    (void)parapet_store_close(&own.store);
    return told.status == PARAPET_OK;
}

static int look(const char *url, bool may_leave)
{
    world found;
    if (!open_series(url) || !world_look(url, may_leave, &found))
        return 1;
    soak_world_print(&found);
    return 0;
}

static int collect(const char *url)
{
    parapet_store *store = NULL;
    parapet_status status = parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_UPDATE, NULL);
    if (status == PARAPET_OK)
        status = parapet_store_collect(store, "", 0, NULL, NULL);
    if (status != PARAPET_OK)
        fprintf(stderr, "collecting: %s\n", parapet_error_message());
    (void)parapet_store_close(&store);
    return status != PARAPET_OK;
}

static int run_job(char **words, int *argc, char ***argv)
{
    soak_script script = {.folder = words[0],
                          .url = words[1],
                          .job = (int)strtol(words[2], NULL, 10),
                          .seed = strtoull(words[3], NULL, 10),
                          .mark = strtoll(words[4], NULL, 10),
                          .count = strtoll(words[5], NULL, 10),
                          .operations = strtoll(words[6], NULL, 10),
                          .stopping_in_1000 = (int)strtol(words[7], NULL, 10)};
    return soak_job_run(&script, argc, argv);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        return make(argv[2], strtoull(argv[3], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "look") == 0)
        return look(argv[2], strcmp(argv[3], "1") == 0);
    if (argc == 3 && strcmp(argv[1], "collect") == 0)
        return collect(argv[2]);
    if (argc == 10 && strcmp(argv[1], "job") == 0)
        return run_job(argv + 2, &argc, &argv);
    fprintf(stderr, "soak make | look | collect | job: see soak.c\n");
    return 2;
}
