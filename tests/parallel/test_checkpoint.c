/* Generations on many ranks: what is put is got, what is given up or fails leaves nothing, as many stay as were asked
 * for, and of what is damaged the one before is opened. Every rank gets the same answer to everything. */
#include <dirent.h>
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch.h"
#include "marked.h"
#include "tree.h"

#define GROUP "run/restart"

enum { LISTED_MOST = 16, MANY = 200, MANY_LENGTH = 8, SENTENCE_BYTES = 1024 };

/* A store of its own for each case. */
typedef struct bed {
    launch *run;
    parapet_store *store;
    char folder[600];
} bed;

static void bed_open(bed *made, launch *run, const char *name)
{
    static uint64_t number;
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    *made = (bed){.run = run};
    launch_case_begin(run, ++number);
    (void)snprintf(made->folder, sizeof made->folder, "%s/%s", run->folder, name);
    (void)LAUNCH_OK(run, parapet_store_open(&made->store, MPI_COMM_WORLD, made->folder, PARAPET_CREATE, &options));
}

static void bed_close(bed *used, const char *description)
{
    (void)LAUNCH_OK(used->run, parapet_store_close(&used->store));
    (void)launch_case_end(used->run, description);
}

/* The same failure on all ranks, with this word in its sentence. */
static void expect_fails(launch *run, parapet_status status, parapet_status expected, const char *word)
{
    char sentence[SENTENCE_BYTES];
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    if (launch_agreed(run, status, word) != expected) {
        fprintf(stderr, "%s: %s\n", parapet_status_name(status), status != PARAPET_OK ? sentence : "");
        launch_expect(run, false, parapet_status_name(expected));
    } else if (strstr(sentence, word) == NULL) {
        fprintf(stderr, "the sentence is \"%s\"\n", sentence);
        launch_expect(run, false, word);
    }
}

static bool commit_mark(bed *all, const parapet_checkpoint_options *options, int64_t mark, int64_t expected)
{
    launch *run = all->run;
    marked state;
    int64_t generation = -1;
    marked_fill(&state, run->rank, run->ranks, mark);
    if (!LAUNCH_OK(run, marked_commit(&state, all->store, GROUP, options, &generation)))
        return false;
    launch_expect(run, generation == expected, "the number of the generation");
    return generation == expected;
}

static void expect_restores(bed *all, int64_t generation, int64_t expected)
{
    int64_t mark;
    if (LAUNCH_OK(all->run, marked_restore(all->store, GROUP, generation, &mark)))
        launch_expect(all->run, mark == expected, "the values that were put");
}

/* ---- What is listed, and what lies in the directory ---- */

typedef struct listed {
    int count;
    int64_t numbers[LISTED_MOST];
    char paths[LISTED_MOST][64];
} listed;

static int take_listed(void *context, int64_t generation, const char *path)
{
    listed *list = context;
    list->numbers[list->count] = generation;
    (void)snprintf(list->paths[list->count], sizeof list->paths[0], "%s", path);
    return ++list->count == LISTED_MOST;
}

/* Names of generations' directories that lie there, listed or not. */
static int count_directories(const bed *all)
{
    char path[700];
    const struct dirent *entry;
    int count = 0;
    DIR *directory;
    (void)snprintf(path, sizeof path, "%s/" GROUP, all->folder);
    if ((directory = opendir(path)) == NULL)
        return 0;
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] == 'g';
    (void)closedir(directory);
    return count;
}

/* The newest first. */
static void expect_listed(bed *all, int count, const int64_t *numbers)
{
    launch *run = all->run;
    listed list = {0};
    int i;
    (void)LAUNCH_OK(run, parapet_checkpoint_list(all->store, GROUP, take_listed, &list));
    launch_expect(run, list.count == count, "as many generations");
    for (i = 0; i < count && i < list.count; i++)
        launch_expect(run, list.numbers[i] == numbers[i], "their numbers");
}

/* As many directories of generations, and nothing temporary. */
static void expect_clean(bed *all, int directories)
{
    tree files;
    launch_barrier();
    launch_expect(all->run, count_directories(all) == directories, "directories of these generations only");
    tree_take(&files, all->folder);
    launch_expect(all->run, !tree_has_leftovers(&files), "nothing temporary");
    tree_clear(&files);
    launch_barrier();
}

/* ---- What is put is got ---- */

static void expect_info(launch *run, parapet_restore *restore, int64_t generation, const char *path)
{
    parapet_restore_info info;
    launch_expect(run, parapet_restore_get_info(restore, &info) == PARAPET_OK, "info");
    launch_expect(run, info.generation == generation && info.array_count == MARKED_ARRAYS, "its number and arrays");
    launch_expect(run, strcmp(info.path, path) == 0, "its path");
    launch_expect(run, strcmp(info.names[0], "field") == 0 && strcmp(info.names[2], "number") == 0, "its names");
    launch_expect(run, info.passed_over == 0 && info.problem[0] == '\0', "nothing was passed over");
}

static void check_round_trip(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    int64_t generation = 0;
    marked state;
    bed all;
    bed_open(&all, run, "round_trip");
    expect_fails(run, parapet_restore_open(&restore, all.store, GROUP, 0), PARAPET_ERR_NOT_FOUND, GROUP);
    expect_listed(&all, 0, NULL);
    marked_fill(&state, run->rank, run->ranks, 5);
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    (void)LAUNCH_OK(run, parapet_checkpoint_put(checkpoint, &state.items[1], 2));
    (void)LAUNCH_OK(run, parapet_checkpoint_put(checkpoint, NULL, 0));
    (void)LAUNCH_OK(run, parapet_checkpoint_put(checkpoint, &state.items[0], 1));
    expect_listed(&all, 0, NULL);
    (void)LAUNCH_OK(run, parapet_checkpoint_commit(&checkpoint, &generation));
    launch_expect(run, checkpoint == NULL && generation == 1, "generation 1");
    expect_listed(&all, 1, (int64_t[]){1});
    expect_clean(&all, 1);
    (void)LAUNCH_OK(run, parapet_restore_open(&restore, all.store, "/" GROUP "/", 0));
    expect_info(run, restore, 1, GROUP "/g00000001");
    (void)LAUNCH_OK(run, parapet_restore_close(&restore));
    expect_restores(&all, 0, 5);
    expect_restores(&all, 1, 5);
    bed_close(&all, "a round trip");
}

/* At the root of the store, and in two groups beside each other. */
static void check_paths(launch *run)
{
    static const char *const paths[] = {"", "a", "a/b"};
    int64_t mark;
    marked state;
    bed all;
    int i, turn;
    bed_open(&all, run, "paths");
    for (turn = 1; turn <= 3; turn++)
        for (i = 0; i < 3; i++) {
            marked_fill(&state, run->rank, run->ranks, 10 * turn + i);
            (void)LAUNCH_OK(run, marked_commit(&state, all.store, paths[i], NULL, NULL));
        }
    for (i = 0; i < 3; i++)
        if (LAUNCH_OK(run, marked_restore(all.store, paths[i], 0, &mark)))
            launch_expect(run, mark == 30 + i, "the state that was put there");
    bed_close(&all, "checkpoints at several paths");
}

static void check_no_arrays(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    parapet_restore_info info;
    char *json = NULL;
    bed all;
    bed_open(&all, run, "no_arrays");
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    (void)LAUNCH_OK(run, parapet_checkpoint_attribute_set(checkpoint, "step", "4711"));
    (void)LAUNCH_OK(run, parapet_checkpoint_commit(&checkpoint, NULL));
    if (LAUNCH_OK(run, parapet_restore_open(&restore, all.store, GROUP, 0))) {
        launch_expect(run, parapet_restore_get_info(restore, &info) == PARAPET_OK && info.array_count == 0,
                      "no arrays");
        (void)LAUNCH_OK(run, parapet_restore_get(restore, NULL, 0));
        launch_expect(run, parapet_restore_attribute_get(restore, "step", &json) == PARAPET_OK, "a step");
        launch_expect(run, json != NULL && strcmp(json, "4711") == 0, "its value");
        parapet_free(json);
    }
    (void)LAUNCH_OK(run, parapet_restore_close(&restore));
    bed_close(&all, "a generation without arrays");
}

/* A generation with one attribute of each kind. */
static const struct {
    const char *name, *json;
} attributes[] = {
    {"time", "0.1234567890123456"},
    {"third", "0.33333333333333331"},
    {"large", "1.7976931348623157e+308"},
    {"least", "4.9406564584124654e-324"},
    {"integer", "-9223372036854775807"},
    {"text", "\"m/s \\u00e9 \\\" \\\\ \\n\""},
    {"nothing", "null"},
    {"truth", "true"},
    {"nested", "{\"a\": [1, 2.5, {\"b\": [], \"c\": {}}], \"d\": \"e\"}"},
};
enum { ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

/* Blanks aside, the text is the same; a number is the same number. */
static bool is_same_json(const char *one, const char *other)
{
    char *end_one, *end_other;
    double first = strtod(one, &end_one), second = strtod(other, &end_other);
    if (end_one != one && *end_one == '\0')
        return end_other != other && *end_other == '\0' && first == second;
    for (; *one != '\0' || *other != '\0'; one++, other++) {
        one += strspn(one, " \n");
        other += strspn(other, " \n");
        if (*one != *other)
            return false;
        if (*one == '\0')
            break;
    }
    return true;
}

static void expect_attribute(launch *run, parapet_restore *restore, int i)
{
    char *json = NULL;
    bool is_there = parapet_restore_attribute_get(restore, attributes[i].name, &json) == PARAPET_OK;
    if (!is_there || strstr(attributes[i].json, "\\u") != NULL) /* escapes may be written in another way */
        launch_expect(run, is_there && strlen(json) > 4, attributes[i].name);
    else
        launch_expect(run, is_same_json(json, attributes[i].json), attributes[i].name);
    parapet_free(json);
}

static void check_attributes(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    char *json = NULL;
    bed all;
    int i;
    bed_open(&all, run, "attributes");
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    for (i = 0; i < ATTRIBUTES; i++)
        (void)LAUNCH_OK(run, parapet_checkpoint_attribute_set(checkpoint, attributes[i].name, attributes[i].json));
    (void)LAUNCH_OK(run, parapet_checkpoint_attribute_set(checkpoint, "gone", "1"));
    (void)LAUNCH_OK(run, parapet_checkpoint_attribute_set(checkpoint, "gone", NULL));
    expect_fails(run, parapet_checkpoint_attribute_set(checkpoint, "broken", "{1"), PARAPET_ERR_ARGUMENT, "");
    expect_fails(run, parapet_checkpoint_attribute_set(checkpoint, "_parapet", "1"), PARAPET_ERR_ARGUMENT, "");
    if (run->ranks > 1)
        expect_fails(run, parapet_checkpoint_attribute_set(checkpoint, "rank", run->rank > 0 ? "1" : "0"),
                     PARAPET_ERR_ARGUMENT, "");
    (void)LAUNCH_OK(run, parapet_checkpoint_commit(&checkpoint, NULL));
    if (LAUNCH_OK(run, parapet_restore_open(&restore, all.store, GROUP, 1))) {
        for (i = 0; i < ATTRIBUTES; i++)
            expect_attribute(run, restore, i);
        launch_expect(run, parapet_restore_attribute_get(restore, "gone", &json) == PARAPET_ERR_NOT_FOUND,
                      "no attribute that was removed");
        launch_expect(run, parapet_restore_attribute_get(restore, "rank", &json) == PARAPET_ERR_NOT_FOUND,
                      "no attribute that was refused");
    }
    (void)LAUNCH_OK(run, parapet_restore_close(&restore));
    bed_close(&all, "attributes");
}

typedef struct many {
    char names[MANY][24];
    int64_t starts[MANY], values[MANY][MANY_LENGTH];
    parapet_part parts[MANY];
    parapet_checkpoint_item items[MANY];
} many;

/* Array i is rank i modulo ranks' alone, or everybody's to get. */
static void many_fill(many *all, const launch *run, bool is_put)
{
    static const int64_t shape[1] = {MANY_LENGTH};
    static const parapet_array_spec spec = {.type = PARAPET_INT64, .ndim = 1, .shape = shape};
    int i, j;
    for (i = 0; i < MANY; i++) {
        (void)snprintf(all->names[i], sizeof all->names[i], "array_%d", i);
        all->starts[i] = 0;
        for (j = 0; j < MANY_LENGTH; j++)
            all->values[i][j] = is_put ? 1000 * i + j : -1;
        all->parts[i] = (parapet_part){.ndim = 1, .start = &all->starts[i], .count = shape, .data = all->values[i]};
        all->items[i] = (parapet_checkpoint_item){.name = all->names[i], .spec = &spec, .parts = &all->parts[i]};
        all->items[i].part_count = !is_put || i % run->ranks == run->rank ? 1 : 0;
    }
}

static bool many_is_right(const many *all)
{
    int i, j;
    for (i = 0; i < MANY; i++)
        for (j = 0; j < MANY_LENGTH; j++)
            if (all->values[i][j] != 1000 * i + j)
                return false;
    return true;
}

static void check_many(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    many *items = malloc(sizeof *items);
    bed all;
    bed_open(&all, run, "many");
    many_fill(items, run, true);
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    (void)LAUNCH_OK(run, parapet_checkpoint_put(checkpoint, items->items, MANY));
    (void)LAUNCH_OK(run, parapet_checkpoint_commit(&checkpoint, NULL));
    many_fill(items, run, false);
    (void)LAUNCH_OK(run, parapet_restore_open(&restore, all.store, GROUP, 0));
    (void)LAUNCH_OK(run, parapet_restore_get(restore, items->items, MANY));
    (void)LAUNCH_OK(run, parapet_restore_close(&restore));
    launch_expect(run, many_is_right(items), "what was put into 200 arrays");
    free(items);
    bed_close(&all, "200 arrays in one put");
}

/* ---- Numbers, and how many stay ---- */

static void check_keep(launch *run)
{
    static const int64_t keeps[] = {1, 2, 3, 0, -1}, newest_first[] = {6, 5, 4, 3, 2, 1};
    int i;
    for (i = 0; i < 5; i++) {
        parapet_checkpoint_options options = {.keep = keeps[i]};
        int stay = keeps[i] == 0 ? 2 : keeps[i] < 0 ? 6 : (int)keeps[i], generation;
        char name[32];
        bed all;
        (void)snprintf(name, sizeof name, "keep%d", i);
        bed_open(&all, run, name);
        for (generation = 1; generation <= 6; generation++)
            (void)commit_mark(&all, &options, 10 + generation, generation);
        expect_listed(&all, stay, newest_first);
        expect_clean(&all, stay);
        for (generation = 6; generation > 6 - stay; generation--)
            expect_restores(&all, generation, 10 + generation);
        bed_close(&all, "how many generations stay");
    }
}

static void expect_begin_fails(bed *all, const parapet_checkpoint_options *options, parapet_status expected,
                               const char *word)
{
    parapet_checkpoint *checkpoint = NULL;
    expect_fails(all->run, parapet_checkpoint_begin(&checkpoint, all->store, GROUP, options), expected, word);
    launch_expect(all->run, checkpoint == NULL, "no handle");
}

static void check_numbers(launch *run)
{
    static const int64_t last = INT64_C(999999999999999999);
    bed all;
    bed_open(&all, run, "numbers");
    (void)commit_mark(&all, &(parapet_checkpoint_options){.generation = 10}, 1, 10);
    (void)commit_mark(&all, NULL, 2, 11);
    expect_begin_fails(&all, &(parapet_checkpoint_options){.generation = 11}, PARAPET_ERR_EXISTS, "11");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.generation = 7}, PARAPET_ERR_EXISTS, "7");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.generation = -1}, PARAPET_ERR_ARGUMENT, "-1");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.keep = -2}, PARAPET_ERR_ARGUMENT, "-2");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.generation = last + 1}, PARAPET_ERR_ARGUMENT,
                       "generation");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.generation = INT64_MAX}, PARAPET_ERR_ARGUMENT,
                       "generation");
    (void)commit_mark(&all, &(parapet_checkpoint_options){.generation = 123456789}, 3, 123456789);
    (void)commit_mark(&all, &(parapet_checkpoint_options){.generation = last}, 4, last);
    expect_begin_fails(&all, NULL, PARAPET_ERR_ARGUMENT, "generation");
    expect_listed(&all, 2, (int64_t[]){last, 123456789});
    expect_clean(&all, 2);
    expect_restores(&all, 0, 4);
    expect_restores(&all, 123456789, 3);
    expect_fails(run, marked_restore(all.store, GROUP, 11, &(int64_t){0}), PARAPET_ERR_NOT_FOUND, "11");
    expect_fails(run, marked_restore(all.store, GROUP, -1, &(int64_t){0}), PARAPET_ERR_ARGUMENT, "-1");
    bed_close(&all, "numbers that are given");
}

/* While one is in the making nobody begins another. */
static void check_two_at_once(launch *run)
{
    parapet_checkpoint *first = NULL, *second = NULL;
    marked state;
    bed all;
    bed_open(&all, run, "two");
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&first, all.store, GROUP, NULL));
    expect_fails(run, parapet_checkpoint_begin(&second, all.store, GROUP, NULL), PARAPET_ERR_BUSY, "this process");
    launch_expect(run, second == NULL, "no handle");
    marked_fill(&state, run->rank, run->ranks, 2);
    (void)LAUNCH_OK(run, parapet_checkpoint_put(first, state.items, MARKED_ARRAYS));
    (void)LAUNCH_OK(run, parapet_checkpoint_commit(&first, NULL));
    expect_listed(&all, 1, (int64_t[]){1});
    expect_clean(&all, 1);
    expect_restores(&all, 0, 2);
    (void)commit_mark(&all, NULL, 3, 2);
    expect_restores(&all, 0, 3);
    bed_close(&all, "two that are open at once");
}

/* ---- What is given up or fails leaves nothing ---- */

/* What one attempt to make a generation does, until it is given up or refused. */
typedef void (*attempt)(bed *all, parapet_checkpoint *checkpoint);

static void do_nothing(bed *all, parapet_checkpoint *checkpoint)
{
    (void)all;
    (void)checkpoint;
}

static void put_state(bed *all, parapet_checkpoint *checkpoint)
{
    marked state;
    marked_fill(&state, all->run->rank, all->run->ranks, 77);
    (void)LAUNCH_OK(all->run, parapet_checkpoint_put(checkpoint, state.items, MARKED_ARRAYS));
}

static void put_outside(bed *all, parapet_checkpoint *checkpoint)
{
    launch *run = all->run;
    marked state;
    marked_fill(&state, run->rank, run->ranks, 77);
    if (run->rank == (run->ranks > 1 ? 1 : 0))
        state.start[1][0] = MARKED_LENGTH;
    expect_fails(run, parapet_checkpoint_put(checkpoint, state.items, MARKED_ARRAYS), PARAPET_ERR_ARGUMENT,
                 "reaches");
    marked_fill(&state, run->rank, run->ranks, 77);
    expect_fails(run, parapet_checkpoint_put(checkpoint, state.items, 1), PARAPET_ERR_ARGUMENT,
                 "an earlier call on it failed");
    expect_fails(run, parapet_checkpoint_attribute_set(checkpoint, "a", "1"), PARAPET_ERR_ARGUMENT,
                 "an earlier call on it failed");
}

static void put_twice(bed *all, parapet_checkpoint *checkpoint)
{
    marked state;
    put_state(all, checkpoint);
    marked_fill(&state, all->run->rank, all->run->ranks, 77);
    expect_fails(all->run, parapet_checkpoint_put(checkpoint, state.items, 1), PARAPET_ERR_EXISTS, "field");
}

static void put_same_name(bed *all, parapet_checkpoint *checkpoint)
{
    parapet_status status;
    marked state;
    marked_fill(&state, all->run->rank, all->run->ranks, 77);
    state.items[1].name = "field";
    status = LAUNCH_AGREED(all->run, parapet_checkpoint_put(checkpoint, state.items, MARKED_ARRAYS));
    launch_expect(all->run, status == PARAPET_ERR_EXISTS || status == PARAPET_ERR_ARGUMENT, "each name once");
}

/* Also with a spec that would replace the first. */
static void put_over(bed *all, parapet_checkpoint *checkpoint)
{
    parapet_array_spec spec;
    marked state;
    put_state(all, checkpoint);
    marked_fill(&state, all->run->rank, all->run->ranks, 77);
    spec = *state.items[0].spec;
    spec.overwrite = 1;
    state.items[0].spec = &spec;
    expect_fails(all->run, parapet_checkpoint_put(checkpoint, state.items, 1), PARAPET_ERR_EXISTS, "field");
}

static void put_bad_name(bed *all, parapet_checkpoint *checkpoint, const char *name)
{
    marked state;
    marked_fill(&state, all->run->rank, all->run->ranks, 77);
    state.items[2].name = name;
    expect_fails(all->run, parapet_checkpoint_put(checkpoint, state.items, MARKED_ARRAYS), PARAPET_ERR_ARGUMENT, "");
}

static void put_below(bed *all, parapet_checkpoint *checkpoint)
{
    put_bad_name(all, checkpoint, "a/b");
}

static void put_reserved(bed *all, parapet_checkpoint *checkpoint)
{
    put_bad_name(all, checkpoint, "__parapet");
}

static void put_nameless(bed *all, parapet_checkpoint *checkpoint)
{
    put_bad_name(all, checkpoint, NULL);
}

static void check_leaves_nothing(launch *run)
{
    static const struct {
        attempt run;
        bool is_refused;
    } attempts[] = {{do_nothing, false}, {put_state, false},    {put_outside, true},
                    {put_twice, true},   {put_same_name, true}, {put_over, true},
                    {put_below, true},   {put_reserved, true},  {put_nameless, true}};
    bed all;
    int i, turn;
    bed_open(&all, run, "nothing");
    (void)commit_mark(&all, NULL, 1, 1);
    for (i = 0; i < 2 * (int)(sizeof attempts / sizeof attempts[0]); i++) {
        parapet_checkpoint *checkpoint = NULL;
        tree before, after;
        turn = i / 2;
        tree_take(&before, all.folder);
        launch_barrier();
        (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
        attempts[turn].run(&all, checkpoint);
        if (i % 2 == 0 || !attempts[turn].is_refused)
            (void)LAUNCH_OK(run, parapet_checkpoint_abort(&checkpoint));
        else
            expect_fails(run, parapet_checkpoint_commit(&checkpoint, NULL), PARAPET_ERR_ARGUMENT,
                         "an earlier call on it failed");
        launch_expect(run, checkpoint == NULL, "no handle");
        launch_barrier();
        tree_take(&after, all.folder);
        launch_expect(run, tree_equals(&before, &after), "the files as they were");
        launch_expect(run, count_directories(&all) == 1, "no directory");
        launch_barrier();
        tree_clear(&before);
        tree_clear(&after);
    }
    expect_restores(&all, 0, 1);
    (void)commit_mark(&all, NULL, 2, 2);
    bed_close(&all, "what is given up or fails");
}

/* ---- Ranks that ask for different things, and handles of both kinds ---- */

static void check_mismatch(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_restore *restore = NULL;
    int odd = run->rank == run->ranks - 1;
    marked state;
    bed all;
    if (run->ranks == 1)
        return;
    bed_open(&all, run, "mismatch");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.keep = odd ? 2 : 1}, PARAPET_ERR_ARGUMENT, "");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.generation = odd ? 2 : 1}, PARAPET_ERR_ARGUMENT, "");
    expect_begin_fails(&all, &(parapet_checkpoint_options){.keep = odd ? -2 : 1}, PARAPET_ERR_ARGUMENT, "");
    expect_fails(run, parapet_checkpoint_begin(&checkpoint, all.store, odd ? "b" : "a", NULL), PARAPET_ERR_ARGUMENT,
                 "");
    expect_listed(&all, 0, NULL);
    expect_clean(&all, 0);
    marked_fill(&state, run->rank, run->ranks, 1);
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&checkpoint, all.store, GROUP, NULL));
    expect_fails(run, parapet_checkpoint_put(checkpoint, state.items, odd ? 2 : 3), PARAPET_ERR_ARGUMENT, "");
    (void)LAUNCH_OK(run, parapet_checkpoint_abort(&checkpoint));
    (void)commit_mark(&all, &(parapet_checkpoint_options){.keep = -1}, 1, 1);
    (void)commit_mark(&all, &(parapet_checkpoint_options){.keep = -1}, 2, 2);
    expect_fails(run, parapet_restore_open(&restore, all.store, GROUP, odd ? 1 : 2), PARAPET_ERR_ARGUMENT, "");
    launch_expect(run, restore == NULL, "no handle");
    bed_close(&all, "ranks that ask for different things");
}

static void check_both_kinds(launch *run)
{
    parapet_checkpoint *begun = NULL;
    parapet_restore *opened = NULL;
    parapet_store *same;
    marked state;
    bed all;
    bed_open(&all, run, "kinds");
    (void)commit_mark(&all, NULL, 1, 1);
    same = all.store;
    marked_fill(&state, run->rank, run->ranks, 2);
    (void)LAUNCH_OK(run, parapet_checkpoint_begin(&begun, all.store, GROUP, NULL));
    (void)LAUNCH_OK(run, parapet_restore_open(&opened, all.store, GROUP, 0));
    expect_fails(run, parapet_store_close(&all.store), PARAPET_ERR_ARGUMENT, "");
    launch_expect(run, begun != NULL && opened != NULL && all.store == same, "handles as they were");
    state.items[0].name = "velocity";
    expect_fails(run, parapet_restore_get(opened, state.items, 1), PARAPET_ERR_NOT_FOUND, "velocity");
    (void)LAUNCH_OK(run, parapet_restore_close(&opened));
    (void)LAUNCH_OK(run, parapet_checkpoint_abort(&begun));
    (void)LAUNCH_OK(run, parapet_restore_close(&opened));
    (void)LAUNCH_OK(run, parapet_checkpoint_abort(&begun));
    bed_close(&all, "a generation being made while another is read");
}

static void check_read_only(launch *run)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_store *store = NULL;
    int64_t mark;
    bed all;
    bed_open(&all, run, "read_only");
    (void)commit_mark(&all, NULL, 1, 1);
    if (LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_WORLD, all.folder, PARAPET_READ, NULL))) {
        expect_fails(run, parapet_checkpoint_begin(&checkpoint, store, GROUP, NULL), PARAPET_ERR_ARGUMENT, "");
        (void)LAUNCH_OK(run, marked_restore(store, GROUP, 0, &mark));
        launch_expect(run, mark == 1, "the values that were put");
        (void)LAUNCH_OK(run, parapet_store_close(&store));
    }
    bed_close(&all, "a store that may not be changed");
}

/* ---- Damage ---- */

typedef enum harm { HARM_FLIP, HARM_SHORTEN, HARM_HALVE, HARM_LENGTHEN, HARM_EMPTY, HARM_REMOVE, HARM_KINDS } harm;

static const char *const harms[HARM_KINDS] = {"flipped", "shortened", "halved", "lengthened", "emptied", "removed"};

static void flip_byte(const char *path, off_t at)
{
    FILE *file = fopen(path, "r+b");
    int byte;
    if (file == NULL)
        return;
    (void)fseek(file, at, SEEK_SET);
    byte = fgetc(file);
    (void)fseek(file, at, SEEK_SET);
    (void)fputc(byte ^ 4, file);
    (void)fclose(file);
}

/* On rank 0, with the others waiting. */
static bool harm_file(bed *all, const char *key, harm kind)
{
    char path[800];
    struct stat info;
    bool is_there = true;
    (void)snprintf(path, sizeof path, "%s/%s", all->folder, key);
    launch_barrier();
    if (all->run->rank == 0 && (is_there = stat(path, &info) == 0)) {
        if (kind == HARM_FLIP)
            flip_byte(path, info.st_size - 2);
        else if (kind == HARM_REMOVE)
            is_there = remove(path) == 0;
        else
            is_there = truncate(path, kind == HARM_SHORTEN    ? info.st_size - 1
                                      : kind == HARM_HALVE    ? info.st_size / 2
                                      : kind == HARM_LENGTHEN ? info.st_size + 1
                                                              : 0) == 0;
    }
    launch_expect(all->run, is_there, key);
    launch_barrier();
    return is_there;
}

/* An object of the newest generation, and how sentences may name it: the node and what it lacks. */
typedef struct object {
    const char *key, *node, *name;
} object;

static bool names(const char *sentence, const object *of)
{
    return strstr(sentence, of->key) != NULL ||
           (strstr(sentence, of->node) != NULL && strstr(sentence, of->name) != NULL);
}

/* Without a record there is no generation; with one that is damaged, or anything else that is, it is passed over. */
static void expect_passed_over(bed *all, const object *of, bool is_gone)
{
    launch *run = all->run;
    parapet_restore *restore = NULL;
    parapet_restore_info info;
    parapet_status status;
    if (LAUNCH_OK(run, parapet_restore_open(&restore, all->store, GROUP, 0))) {
        launch_expect(run, parapet_restore_get_info(restore, &info) == PARAPET_OK, "info");
        launch_expect(run, info.generation == 1, "the generation before");
        launch_expect(run, info.passed_over == (is_gone ? 0 : 1), "one passed over");
        launch_expect(run, is_gone ? info.problem[0] == '\0' : names(info.problem, of), info.problem);
        (void)LAUNCH_OK(run, parapet_restore_close(&restore));
    }
    expect_restores(all, 0, 101);
    status = LAUNCH_AGREED(run, parapet_restore_open(&restore, all->store, GROUP, 2));
    launch_expect(run,
                  is_gone ? status == PARAPET_ERR_NOT_FOUND
                          : status == PARAPET_ERR_CORRUPT || status == PARAPET_ERR_MISSING ||
                                status == PARAPET_ERR_FORMAT,
                  parapet_status_name(status));
    launch_expect(run, is_gone || names(parapet_error_message(), of), parapet_error_message());
}

static void check_damage_of(launch *run, const object *of, harm kind)
{
    static int number;
    char name[32], description[160];
    bed all;
    (void)snprintf(name, sizeof name, "damage%d", number++);
    (void)snprintf(description, sizeof description, "%s is %s", of->key, harms[kind]);
    bed_open(&all, run, name);
    if (commit_mark(&all, NULL, 101, 1) && commit_mark(&all, NULL, 102, 2) && harm_file(&all, of->key, kind))
        expect_passed_over(&all, of, kind == HARM_REMOVE && strstr(of->key, "commits") != NULL);
    bed_close(&all, description);
}

#define NEWEST GROUP "/g00000002/"

/* A flip falls into the last bytes: of a shard, into its index. */
static void check_damage(launch *run)
{
    static const object objects[] = {
        {GROUP "/__parapet/commits/00000002", "commits", "00000002"},
        {NEWEST "zarr.json", "g00000002", "zarr.json"},
        {NEWEST "field/zarr.json", "g00000002/field", "zarr.json"},
        {NEWEST "number/zarr.json", "g00000002/number", "zarr.json"},
        {NEWEST "field/c/1/1", "g00000002/field", "c/1/1"},
        {NEWEST "line/c/1", "g00000002/line", "c/1"},
        {NEWEST "field/__parapet/seal", "g00000002/field", "__parapet/seal"},
        {NEWEST "line/__parapet/seal", "g00000002/line", "__parapet/seal"},
    };
    int i, kind;
    for (i = 0; i < (int)(sizeof objects / sizeof objects[0]); i++)
        for (kind = 0; kind < HARM_KINDS; kind++)
            check_damage_of(run, &objects[i], (harm)kind);
}

/* Data is verified as it is read: of what is in no index, the get tells. */
static void check_damaged_data(launch *run)
{
    parapet_restore *restore = NULL;
    char path[800];
    marked state;
    bed all;
    bed_open(&all, run, "data");
    (void)commit_mark(&all, NULL, 1, 1);
    (void)snprintf(path, sizeof path, "%s/" GROUP "/g00000001/line/c/1", all.folder);
    launch_barrier();
    if (run->rank == 0)
        flip_byte(path, 3);
    launch_barrier();
    if (LAUNCH_OK(run, parapet_restore_open(&restore, all.store, GROUP, 0))) {
        marked_want(&state);
        expect_fails(run, parapet_restore_get(restore, state.items, MARKED_ARRAYS), PARAPET_ERR_CORRUPT, "line/c/1");
        (void)LAUNCH_OK(run, parapet_restore_get(restore, state.items, 1));
        (void)LAUNCH_OK(run, parapet_restore_close(&restore));
    }
    bed_close(&all, "data that is damaged");
}

static void remove_directory(bed *all, const char *key)
{
    char path[800];
    (void)snprintf(path, sizeof path, "%s/%s", all->folder, key);
    launch_barrier();
    if (all->run->rank == 0)
        tree_remove(path);
    launch_barrier();
}

static void check_all_damaged(launch *run)
{
    bed all;
    bed_open(&all, run, "all_damaged");
    (void)commit_mark(&all, NULL, 101, 1);
    (void)commit_mark(&all, NULL, 102, 2);
    remove_directory(&all, NEWEST);
    expect_passed_over(&all, &(object){NEWEST "zarr.json", "g00000002", "zarr.json"}, false);
    (void)harm_file(&all, GROUP "/g00000001/line/c/0", HARM_REMOVE);
    expect_fails(run, marked_restore(all.store, GROUP, 0, &(int64_t){0}), PARAPET_ERR_CORRUPT, "none of the 2");
    (void)commit_mark(&all, NULL, 103, 3);
    expect_restores(&all, 0, 103);
    (void)commit_mark(&all, NULL, 104, 4);
    expect_listed(&all, 2, (int64_t[]){4, 3});
    expect_clean(&all, 2);
    bed_close(&all, "all generations damaged");
}

/* One generation in the place of another: whole, and yet not what was committed. */
static void check_swapped(launch *run)
{
    char from[800], to[800];
    bed all;
    bed_open(&all, run, "swapped");
    (void)commit_mark(&all, NULL, 101, 1);
    (void)commit_mark(&all, NULL, 102, 2);
    remove_directory(&all, NEWEST "field");
    (void)snprintf(from, sizeof from, "%s/" GROUP "/g00000001/field", all.folder);
    (void)snprintf(to, sizeof to, "%s/" NEWEST "field", all.folder);
    if (run->rank == 0)
        launch_expect(run, rename(from, to) == 0, "a field in the place of another");
    launch_barrier();
    expect_fails(run, marked_restore(all.store, GROUP, 2, &(int64_t){0}), PARAPET_ERR_CORRUPT, "field/zarr.json");
    bed_close(&all, "an array of another generation");
}

int main(int argc, char **argv)
{
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    check_round_trip(&run);
    check_paths(&run);
    check_no_arrays(&run);
    check_attributes(&run);
    check_many(&run);
    check_keep(&run);
    check_numbers(&run);
    check_two_at_once(&run);
    check_leaves_nothing(&run);
    check_mismatch(&run);
    check_both_kinds(&run);
    check_read_only(&run);
    check_damage(&run);
    check_damaged_data(&run);
    check_all_damaged(&run);
    check_swapped(&run);
    return launch_finish(&run);
}
