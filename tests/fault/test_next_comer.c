/* A change is interrupted at each of its storage operations, and somebody else comes next: whoever it is, what
 * readers see is old or new, whoever only reads changes nothing, who is refused is told what to do, and the same
 * change then ends as if nothing had happened in between. One process, storage in memory.
 *
 * What may be there is not written down here: for each pair of a change and a next comer, both are made without
 * faults, the next comer first or second. After a crash it must be as after one of these two. */
#include "next_comers.h"

#include <inttypes.h>

#include "crash.h"
#include "image.h"

enum { LINES_MOST = 40, TEXT = 400, SENTENCE = 1024, CLIENTS_MOST = 20 };

static bool is_full;

/* ---- Stores ---- */

typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
} bed;

static void bed_build(bed *work, const image *before)
{
    *work = (bed){.plan = {.fail_at = -1}};
    assert_ok(pp_store_memory_build(&work->inner, NULL));
    if (before != NULL)
        image_put(before, work->inner);
    crash_prepare(work->inner, &work->plan);
    assert_ok(pp_store_faulty_build(&work->faulty, work->inner, &work->plan));
}

static void bed_free(bed *work)
{
    pp_store_free(work->faulty);
    pp_store_free(work->inner);
}

/* ---- What readers see ---- */

/* A line for each node. */
typedef struct view {
    char lines[LINES_MOST][TEXT];
    int count;
} view;

typedef struct children {
    char names[LINES_MOST][64];
    parapet_node_kind kinds[LINES_MOST];
    int64_t generations[LINES_MOST];
    int count;
} children;

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    children *all = context;
    assert_true(all->count < LINES_MOST);
    (void)snprintf(all->names[all->count], sizeof all->names[0], "%s", name);
    all->kinds[all->count++] = kind;
    return 0;
}

static void add_line(view *seen, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(view *seen, const char *format, ...)
{
    va_list rest;
    assert_true(seen->count < LINES_MOST);
    va_start(rest, format);
    (void)vsnprintf(seen->lines[seen->count++], TEXT, format, rest);
    va_end(rest);
}

static uint64_t sum_of(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = UINT64_C(14695981039346656037);
    while (bytes-- > 0)
        sum = (sum ^ *at++) * UINT64_C(1099511628211);
    return sum;
}

static void see_array(view *seen, parapet_store *store, const char *path, const char *label)
{
    const int64_t start[2] = {0};
    double values[2 * NEXT_VALUES_MOST];
    parapet_array_info info;
    parapet_array *array = NULL;
    parapet_part part = {.start = start, .data = values};
    char *attributes = NULL;
    size_t bytes;
    if (parapet_array_open(&array, store, path) != PARAPET_OK) {
        add_line(seen, "%s: cannot be opened: %s", label, parapet_error_message());
        return;
    }
    assert_ok(parapet_array_get_info(array, &info));
    assert_ok(parapet_array_attribute_get(array, NULL, &attributes));
    bytes = (size_t)(info.shape[0] * (info.ndim == 2 ? info.shape[1] : 1)) * info.element_bytes;
    assert_true(bytes <= sizeof values);
    part.ndim = info.ndim;
    part.count = info.shape;
    if (parapet_array_read(array, &part, 1) != PARAPET_OK)
        add_line(seen, "%s: cannot be read: %s", label, parapet_error_message());
    else
        add_line(seen, "%s: array, %" PRId64 " long, %s, values %016" PRIx64 ", %s", label, info.shape[0],
                 info.is_sealed ? "sealed" : "not sealed", sum_of(values, bytes), attributes);
    parapet_free(attributes);
    assert_ok(parapet_array_close(&array));
}

static void see_group(view *seen, parapet_store *store, const char *path, const client *of);

static void see_child(view *seen, parapet_store *store, const char *path, parapet_node_kind kind, const client *of)
{
    if (kind == PARAPET_NODE_ARRAY)
        see_array(seen, store, path, path);
    else if (kind == PARAPET_NODE_GROUP)
        see_group(seen, store, path, of);
    else
        add_line(seen, "%s: cannot be understood", path);
}

static int add_generation(void *context, int64_t generation, const char *path)
{
    children *all = context;
    (void)add_child(all, path, PARAPET_NODE_GROUP);
    all->generations[all->count - 1] = generation;
    return 0;
}

static void see_generation(view *seen, parapet_store *store, int64_t generation, const char *path)
{
    static const char *const names[] = {"t", "v"};
    parapet_restore *restore = NULL;
    char array[100], label[100];
    int i;
    if (parapet_restore_open(&restore, store, NEXT_NODE, generation) != PARAPET_OK) {
        add_line(seen, "generation %" PRId64 ": cannot be opened: %s", generation, parapet_error_message());
        return;
    }
    assert_ok(parapet_restore_close(&restore));
    for (i = 0; i < 2; i++) {
        (void)snprintf(array, sizeof array, "%s/%s", path, names[i]);
        (void)snprintf(label, sizeof label, "%s of generation %" PRId64, names[i], generation);
        see_array(seen, store, array, label);
    }
}

/* Only what was committed, whatever the folder is called. */
static void see_generations(view *seen, parapet_store *store)
{
    children all = {0};
    int i;
    assert_ok(parapet_checkpoint_list(store, NEXT_NODE, add_generation, &all));
    for (i = 0; i < all.count; i++)
        see_generation(seen, store, all.generations[i], all.names[i]);
}

static void see_children(view *seen, parapet_store *store, const char *path, const children *all, const client *of)
{
    int i;
    for (i = 0; i < all->count; i++) {
        char child[128];
        (void)snprintf(child, sizeof child, "%s%s%s", path, path[0] != '\0' ? "/" : "", all->names[i]);
        see_child(seen, store, child, all->kinds[i], of);
    }
}

static void see_group(view *seen, parapet_store *store, const char *path, const client *of)
{
    children all = {0};
    parapet_group *group = NULL;
    char *attributes = NULL;
    if (parapet_group_open(&group, store, path) != PARAPET_OK) {
        add_line(seen, "%s: cannot be opened: %s", path, parapet_error_message());
        return;
    }
    assert_ok(parapet_group_attribute_get(group, NULL, &attributes));
    assert_ok(parapet_group_list(group, add_child, &all));
    assert_ok(parapet_group_close(&group));
    add_line(seen, "%s: group, %s", path, attributes);
    parapet_free(attributes);
    if (of->has_generations && strcmp(path, NEXT_NODE) == 0)
        see_generations(seen, store);
    else
        see_children(seen, store, path, &all, of);
}

/* Through a store that is open for reading, which changes nothing. */
static void view_take(view *seen, pp_store *backend, const client *of)
{
    parapet_store *store;
    image before, after;
    image_take(&before, backend);
    *seen = (view){0};
    assert_ok(next_store_open(backend, &store, PARAPET_READ));
    see_group(seen, store, "", of);
    assert_ok(parapet_store_close(&store));
    image_take(&after, backend);
    assert_true(image_equals(&before, &after));
    image_free(&before);
    image_free(&after);
}

static const char *view_find(const view *seen, const char *text, size_t bytes)
{
    int i;
    for (i = 0; i < seen->count; i++)
        if (strncmp(seen->lines[i], text, bytes) == 0)
            return seen->lines[i];
    return NULL;
}

static bool view_equals(const view *a, const view *b)
{
    int i;
    for (i = 0; i < a->count; i++)
        if (view_find(b, a->lines[i], strlen(a->lines[i]) + 1) == NULL)
            return false;
    return a->count == b->count;
}

/* ---- What it is like without faults ---- */

typedef struct outcome {
    parapet_status came, ended; /* of the next comer, and of the change that is made again */
    char sentence[SENTENCE];    /* of the next comer */
    view seen, last;            /* in between, and in the end */
    image stored;               /* in the end */
    image consolidated;         /* the same, with consolidated metadata in all groups */
} outcome;

/* The next comer comes before the change; after it; where there is nothing, if the change may leave that; after it,
 * and resuming it ends what was complete already. */
enum { FIRST, SECOND, GONE, DONE, ORDERS };

static bool has_order(const client *of, int order)
{
    return order < GONE || (order == GONE ? of->may_vanish : of->is_resumed);
}

typedef struct subject {
    const client *of;
    image before;
    view seen[ORDERS];
    outcome right[COMERS][ORDERS];
    long operations;
} subject;

static void keep_sentence(char sentence[SENTENCE], parapet_status status)
{
    (void)snprintf(sentence, SENTENCE, "%s", status == PARAPET_OK ? "" : parapet_error_message());
}

static parapet_status run_client(bed *work, const client *of, bool again)
{
    parapet_store *store = NULL;
    pp_failure failure = {0};
    parapet_status status = next_store_open(work->faulty, &store, PARAPET_UPDATE);
    if (status == PARAPET_OK)
        status = of->run(store, again);
    pp_failure_take(&failure, status);
    (void)parapet_store_close(&store);
    return pp_failure_put(&failure);
}

static parapet_status run_comer(bed *work, const comer *next, const client *of, char sentence[SENTENCE])
{
    parapet_store *store = NULL;
    parapet_status status;
    assert_ok(next_store_open(work->faulty, &store, next->reads ? PARAPET_READ : PARAPET_UPDATE));
    status = next->run(store, of);
    keep_sentence(sentence, status);
    assert_ok(parapet_store_close(&store));
    return status;
}

static void consolidate_all(pp_store *backend)
{
    static const char *const paths[] = {NEXT_NODE "/deep", NEXT_NODE, "g", ""};
    parapet_store *store;
    size_t i;
    assert_ok(next_store_open(backend, &store, PARAPET_UPDATE));
    for (i = 0; i < sizeof paths / sizeof paths[0]; i++)
        (void)next_consolidate(store, paths[i]);
    assert_ok(parapet_store_close(&store));
}

/* Made when it is first asked for. */
static const image *consolidated_of(outcome *right)
{
    bed work;
    if (right->consolidated.count > 0)
        return &right->consolidated;
    bed_build(&work, &right->stored);
    consolidate_all(work.inner);
    image_take(&right->consolidated, work.inner);
    bed_free(&work);
    return &right->consolidated;
}

static void go_first(bed *work, const client *of, int order)
{
    parapet_store *store;
    if (order == SECOND || order == DONE)
        assert_ok(run_client(work, of, false));
    if (order == GONE) {
        assert_ok(next_store_open(work->inner, &store, PARAPET_UPDATE));
        assert_ok(next_remove(store));
        assert_ok(parapet_store_close(&store));
    }
}

static void build_right(subject *made, const comer *next, int order)
{
    outcome *right = &made->right[next - comers][order];
    bed work;
    bed_build(&work, &made->before);
    go_first(&work, made->of, order);
    view_take(&made->seen[order], work.inner, made->of);
    right->came = run_comer(&work, next, made->of, right->sentence);
    view_take(&right->seen, work.inner, made->of);
    right->ended = order == DONE ? PARAPET_OK : run_client(&work, made->of, true);
    view_take(&right->last, work.inner, made->of);
    image_take(&right->stored, work.inner);
    bed_free(&work);
}

static void prepare(subject *made)
{
    parapet_store *store;
    bed work;
    bed_build(&work, NULL);
    assert_ok(next_store_open(work.inner, &store, PARAPET_CREATE));
    next_prepare(store, made->of);
    assert_ok(parapet_store_close(&store));
    image_take(&made->before, work.inner);
    bed_free(&work);
}

static void subject_build(subject *made, const client *of)
{
    bed work;
    int c, order;
    *made = (subject){.of = of};
    prepare(made);
    bed_build(&work, &made->before);
    work.plan.operations = 0;
    assert_ok(run_client(&work, of, false));
    made->operations = work.plan.operations;
    bed_free(&work);
    for (c = 0; c < COMERS; c++)
        for (order = 0; order < ORDERS; order++)
            if (has_order(of, order))
                build_right(made, &comers[c], order);
}

static void subject_free(subject *made)
{
    int c, order;
    image_free(&made->before);
    for (c = 0; c < COMERS; c++)
        for (order = 0; order < ORDERS; order++) {
            image_free(&made->right[c][order].stored);
            image_free(&made->right[c][order].consolidated);
        }
}

/* ---- Cells ---- */

typedef struct tally {
    long states, cells, completed, undone, pending, refused, known, faults, resumed;
    bool is_met[NEXT_SENTENCES]; /* of what is explained */
} tally;

/* One crash and who comes next. */
typedef struct cell {
    subject *of;
    const comer *next;
    long at;
    bool is_torn, is_collected; /* by gc, in the end */
    tally *count;
    int64_t resumed; /* templates that nobody in between would leave to be resumed */
    parapet_status came;
    char sentence[SENTENCE];
    bool is_known;
} cell;

/* What is not yet as it should be, and parts of what is said of it. The full form meets all of them. */
static const struct {
    const char *client, *comer, *problems[2], *reason;
} known[] = {
    {"append",
     "set an attribute",
     {"is not what it has left", "in the end, readers see"},
     "recovery does not know the document of an array that is longer already, once it has another attribute"},
    {"row of a series", "set an attribute", {"call parapet_series_repair", "in the end, readers see"}, "the same"},
    {"row of a series",
     "seal",
     {"call parapet_series_repair", "in the end, readers see"},
     "a row that was interrupted does not keep others from sealing its arrays, and recovery does not know them then"},
    {"row of a series",
     "grow",
     {"readers see \"g/n/t: array, 5 long", NULL},
     "nor from making them longer, which shows what the row has written without committing it"},
    {"row of a series", "copy it", {"elsewhere/n/", NULL}, "nor from copying arrays of two lengths"},
    {"append",
     "write the last element",
     {"readers see \"g/n/t: array, 7 long", "with g/n/t/c/1/1"},
     "what is written beyond the length that decides goes with the append, as the guide says"},
    {"row of a series",
     "write the last element",
     {"readers see \"g/n/t: array, 4 long", "with g/n/t/c/1/0"},
     "and so with a row"},
    {"copy",
     "set an attribute",
     {"copy/job", "copy/finished-0"},
     "what is left of a complete copy stays for ever, if the array is changed before it is resumed"},
    {"copy", "grow", {"copy/job", "copy/finished-0"}, "the same"},
    {"copy", "shrink", {"copy/job", "copy/finished-0"}, "the same"},
    {"copy", "seal", {"copy/job", "copy/finished-0"}, "the same"},
    {"copy a group",
     "set an attribute",
     {"resume it, or set overwrite to start again", NULL},
     "nor can the rest of its group be resumed"},
    {"copy a group", "grow", {"resume it, or set overwrite to start again", NULL}, "the same"},
    {"copy a group", "shrink", {"resume it, or set overwrite to start again", NULL}, "the same"},
    {"copy a group", "seal", {"resume it, or set overwrite to start again", NULL}, "the same"},
};
enum { KNOWN = sizeof known / sizeof known[0] };
static long known_met[KNOWN];

static bool has_problem(int which, const char *problem)
{
    int i;
    for (i = 0; i < 2 && known[which].problems[i] != NULL; i++)
        if (strstr(problem, known[which].problems[i]) != NULL)
            return true;
    return false;
}

static bool is_known(const cell *in, const char *problem)
{
    int i;
    for (i = 0; i < KNOWN; i++)
        if (strcmp(known[i].client, in->of->of->name) == 0 && strcmp(known[i].comer, in->next->name) == 0 &&
            has_problem(i, problem)) {
            known_met[i]++;
            return true;
        }
    return false;
}

static void complain(cell *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(cell *in, const char *format, ...)
{
    char problem[2 * SENTENCE];
    va_list rest;
    va_start(rest, format);
    (void)vsnprintf(problem, sizeof problem, format, rest);
    va_end(rest);
    if (is_known(in, problem)) {
        in->is_known = true;
        return;
    }
    if (in->count->faults++ < 400)
        print_message("%s, crash at operation %ld%s, then \"%s\": %s\n", in->of->of->name, in->at,
                      in->is_torn ? " (torn)" : "", in->next->name, problem);
}

/* What is right with this next comer; for an order that the change does not have, again the first. */
static outcome *right_of(const cell *in, const comer *next, int order)
{
    return &in->of->right[next - comers][has_order(in->of->of, order) ? order : FIRST];
}

static const view *seen_before(const cell *in, int order)
{
    return &in->of->seen[has_order(in->of->of, order) ? order : FIRST];
}

/* A line is that of one of the views, as a whole. */
static void check_line(cell *in, const char *seen, const view *const *views, const char *when)
{
    int i;
    for (i = 0; i < ORDERS; i++)
        if (view_find(views[i], seen, strlen(seen) + 1) != NULL)
            return;
    complain(in, "%s, readers see \"%s\"", when, seen);
}

/* What all views have is there. */
static void check_presence(cell *in, const view *seen, const view *const *views, const char *when)
{
    int i, v;
    for (i = 0; i < views[0]->count; i++) {
        const char *wanted = views[0]->lines[i];
        size_t bytes = strcspn(wanted, ":") + 1;
        bool is_everywhere = true;
        for (v = 1; v < ORDERS; v++)
            is_everywhere = is_everywhere && view_find(views[v], wanted, bytes) != NULL;
        if (is_everywhere && view_find(seen, wanted, bytes) == NULL)
            complain(in, "%s, \"%s\" is gone", when, wanted);
    }
}

static void check_view(cell *in, const view *seen, const view *const *views, const char *when)
{
    int i;
    for (i = 0; i < seen->count; i++)
        check_line(in, seen->lines[i], views, when);
    check_presence(in, seen, views, when);
}

/* The sentence is what is also said where nothing was interrupted, or tells what to do. */
static void check_sentence(cell *in, parapet_status status, const char *sentence)
{
    int i;
    for (i = 0; i < ORDERS; i++) {
        outcome *right = right_of(in, in->next, i);
        if (status == right->came && strcmp(sentence, right->sentence) == 0)
            return;
    }
    for (i = 0; i < NEXT_SENTENCES && in->of->of->explained[i] != NULL; i++)
        if (strstr(sentence, in->of->of->explained[i]) != NULL) {
            in->count->is_met[i] = true;
            return;
        }
    complain(in, "%s: %s", parapet_status_name(status), sentence);
}

/* Some do what they were asked to, and report what else they could not do. */
static bool is_done(const cell *in)
{
    return in->came == PARAPET_OK || strstr(in->sentence, "but the metadata of") != NULL;
}

static void count_cell(cell *in, const view *seen)
{
    outcome *right = in->of->right[in->next - comers];
    if (!is_done(in))
        in->count->refused++;
    else if (view_equals(seen, &right[SECOND].seen))
        in->count->completed++;
    else if (view_equals(seen, &right[FIRST].seen))
        in->count->undone++;
    else
        in->count->pending++;
}

/* After the next comer: as before it if it was refused, else as with it in either order. */
static void check_middle(cell *in, bed *work)
{
    const view *views[ORDERS];
    view seen;
    int i;
    for (i = 0; i < ORDERS; i++)
        views[i] = is_done(in) ? &right_of(in, in->next, i)->seen : seen_before(in, i);
    if (in->came != PARAPET_OK)
        check_sentence(in, in->came, in->sentence);
    view_take(&seen, work->inner, in->of->of);
    check_view(in, &seen, views, "after the next comer");
    count_cell(in, &seen);
}

/* Temporary objects, which only gc removes. */
static bool is_temporary(const char *key)
{
    return strstr(key, "__parapet/tmp/") != NULL;
}

/* Heads of seals, logs of copies and the like have identities, times and digests in them: they are there or not. */
static bool is_own(const char *key)
{
    return strstr(key, "__parapet/") != NULL;
}

#define METADATA "\"consolidated_metadata\""

static bool is_document(const char *key)
{
    size_t bytes = strlen(key), tail = strlen("zarr.json");
    return bytes >= tail && strcmp(key + bytes - tail, "zarr.json") == 0;
}

/* Without its consolidated metadata, which is the last member. */
static size_t bytes_of_rest(const image_object *object)
{
    const char *found = memmem(object->data, object->bytes, METADATA, strlen(METADATA));
    size_t bytes = found == NULL ? object->bytes : (size_t)(found - (const char *)object->data);
    while (bytes > 0 && strchr("}, \n", object->data[bytes - 1]) != NULL)
        bytes--;
    return bytes;
}

static bool has_metadata(const image_object *object)
{
    return object != NULL && memmem(object->data, object->bytes, METADATA, strlen(METADATA)) != NULL;
}

static bool is_equal(const image_object *a, const image_object *b)
{
    return a != NULL && b != NULL && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* Changes that renew consolidated metadata do so for whoever takes it away in between; where both orders keep it, it
 * is there, and where it is, it is right. */
static bool is_as_good(const image_object *found, outcome *right, const image_object *wanted, bool keeps)
{
    size_t bytes = bytes_of_rest(wanted);
    if (is_equal(found, wanted) || (found != NULL && is_own(wanted->key)))
        return true;
    if (found == NULL || !is_document(wanted->key))
        return false;
    if (has_metadata(found))
        return is_equal(found, image_find(consolidated_of(right), wanted->key));
    return !keeps && bytes_of_rest(found) == bytes && memcmp(found->data, wanted->data, bytes) == 0;
}

static bool keeps_metadata(const cell *in, const comer *next, const char *key)
{
    int i;
    for (i = 0; i < ORDERS; i++)
        if (!has_metadata(image_find(&right_of(in, next, i)->stored, key)))
            return false;
    return true;
}

static bool begins_with(const char *key, const char *start)
{
    return strncmp(key, start, strlen(start)) == 0;
}

/* A copy of what is there in parts has these parts, and metadata of the root tells of them. Whoever writes to an old
 * generation while it is removed has the rest of it. */
static bool is_compared(const cell *in, const char *key)
{
    const client *of = in->of->of;
    if ((of->is_in_parts || of->has_generations) && in->next == &comers[COPY_IT])
        return !begins_with(key, "elsewhere/") && strcmp(key, "zarr.json") != 0;
    return !of->has_generations || in->next->is_beside || !begins_with(key, NEXT_NODE "/g00000001/");
}

/* Whom what is stored tells of. */
static const comer *told_of(const cell *in)
{
    return is_done(in) ? in->next : &comers[NOBODY];
}

static const char *find_missing(const cell *in, const image *found, outcome *right)
{
    size_t i;
    for (i = 0; i < right->stored.count; i++) {
        const image_object *wanted = &right->stored.objects[i];
        if (is_compared(in, wanted->key) &&
            !is_as_good(image_find(found, wanted->key), right, wanted, keeps_metadata(in, told_of(in), wanted->key)))
            return wanted->key;
    }
    return NULL;
}

static const char *find_left(const cell *in, const image *found, const image *right)
{
    size_t i;
    for (i = 0; i < found->count; i++) {
        const char *key = found->objects[i].key;
        if (image_find(right, key) == NULL && (in->is_collected || !is_temporary(key)) && is_compared(in, key))
            return key;
    }
    return NULL;
}

static size_t count_compared(const cell *in, const image *found)
{
    size_t i, count = 0;
    for (i = 0; i < found->count; i++)
        count += is_compared(in, found->objects[i].key);
    return count;
}

/* Says the first difference between what is stored and what is right; NULL: none. */
static const char *difference(const cell *in, const image *found, outcome *right)
{
    const char *missing;
    if (in->of->of->has_generations)
        return !in->is_collected || count_compared(in, found) == count_compared(in, &right->stored)
                   ? NULL
                   : "another number of objects";
    missing = find_missing(in, found, right);
    return missing != NULL ? missing : find_left(in, found, &right->stored);
}

/* Where the next comer has made the change impossible, nobody has put right yet what the crash left. */
static bool is_impossible(parapet_status ended, const char *sentence)
{
    return ended == PARAPET_ERR_ARGUMENT || ended == PARAPET_ERR_FORMAT ||
           strstr(sentence, "that does not belong to the copy being resumed") != NULL;
}

/* As in one of the orders, or as without a next comer that was refused. */
static void check_end(cell *in, bed *work, parapet_status ended, const char *sentence)
{
    char problem[SENTENCE] = "";
    const view *views[ORDERS];
    bool is_right = false;
    image found;
    view seen;
    int i;
    image_take(&found, work->inner);
    for (i = 0; i < ORDERS; i++) {
        outcome *right = right_of(in, told_of(in), i);
        const char *differs = is_impossible(ended, sentence) ? NULL : difference(in, &found, right);
        size_t used = strlen(problem);
        views[i] = &right->last;
        is_right = is_right || (differs == NULL && ended == right->ended);
        (void)snprintf(problem + used, SENTENCE - used, "%s with %s; ", parapet_status_name(right->ended),
                       differs != NULL ? differs : "the same");
    }
    view_take(&seen, work->inner, in->of->of);
    check_view(in, &seen, views, "in the end");
    if (!is_right)
        complain(in, "in the end %s%s, and not %s%s", in->is_collected ? "with gc " : "", parapet_status_name(ended),
                 problem, sentence);
    image_free(&found);
}

static void check_resumed(cell *in)
{
    if (in->next->is_beside && in->of->of->is_resumed && next_templates_resumed() != in->resumed)
        complain(in, "%" PRId64 " templates were resumed, and not %" PRId64, next_templates_resumed(), in->resumed);
}

static void end_cell(cell *in, bed *work)
{
    char sentence[SENTENCE];
    parapet_status ended;
    if (in->is_collected && run_comer(work, &comers[GC], in->of->of, sentence) != PARAPET_OK)
        complain(in, "gc: %s", sentence);
    ended = run_client(work, in->of->of, true);
    keep_sentence(sentence, ended);
    check_resumed(in);
    if (strstr(sentence, "cannot be resumed") != NULL) {
        check_sentence(in, ended, sentence);
        ended = run_client(work, in->of->of, false);
        keep_sentence(sentence, ended);
    }
    check_end(in, work, ended, sentence);
}

static void run_cell(cell *in, const image *left)
{
    bed work;
    bed_build(&work, left);
    in->came = run_comer(&work, in->next, in->of->of, in->sentence);
    if (in->next->reads) {
        image found;
        image_take(&found, work.inner);
        if (!image_equals(&found, left))
            complain(in, "something was changed");
        image_free(&found);
    }
    check_middle(in, &work);
    end_cell(in, &work);
    in->count->cells++;
    in->count->known += in->is_known;
    bed_free(&work);
}

/* ---- Crashes ---- */

static bool is_outside(const char *key)
{
    return begins_with(key, "keep/") || begins_with(key, "g/b/");
}

/* What is beside the node is as it was, and nothing else has appeared. */
static void check_outside(cell *in, const image *left)
{
    size_t i;
    for (i = 0; i < in->of->before.count; i++) {
        const image_object *object = &in->of->before.objects[i], *now = image_find(left, object->key);
        if (is_outside(object->key) &&
            (now == NULL || now->bytes != object->bytes || memcmp(now->data, object->data, now->bytes) != 0))
            complain(in, "%s is not as it was", object->key);
    }
    for (i = 0; i < left->count; i++) {
        const char *key = left->objects[i].key;
        if (image_find(&in->of->before, key) == NULL && !begins_with(key, NEXT_NODE "/") &&
            strstr(key, "__parapet/") == NULL)
            complain(in, "%s has appeared", key);
    }
}

/* What decides is changed last. */
static void check_decider(cell *in, const view *seen)
{
    const char *decider = in->of->of->decider, *decided;
    const view *views[ORDERS];
    int i;
    if (decider == NULL)
        return;
    decided = view_find(seen, decider, strlen(decider));
    if (decided == NULL || view_find(&in->of->seen[SECOND], decided, strlen(decided) + 1) == NULL)
        return;
    for (i = 0; i < ORDERS; i++)
        views[i] = &in->of->seen[SECOND];
    check_view(in, seen, views, "when it was decided");
}

/* A change may be complete already when it crashes: then all is new, beside older generations. */
static void check_crash(cell *in, const bed *work, parapet_status status)
{
    const view *views[ORDERS];
    view seen;
    int i;
    view_take(&seen, work->inner, in->of->of);
    for (i = 0; i < ORDERS; i++)
        views[i] = seen_before(in, i);
    check_view(in, &seen, views, "after the crash");
    check_decider(in, &seen);
    for (i = 0; i < ORDERS; i++)
        views[i] = &in->of->seen[SECOND];
    if (status == PARAPET_OK)
        check_presence(in, &seen, views, "after a crash of what was complete");
}

static void crash(cell *in, image *left)
{
    parapet_status status;
    bed work;
    bed_build(&work, &in->of->before);
    work.plan = (pp_fault_plan){.fail_at = in->at, .fail_forever = true, .is_torn = in->is_torn};
    status = run_client(&work, in->of->of, false);
    assert_true(work.plan.failures > 0);
    work.plan = (pp_fault_plan){.fail_at = -1};
    image_take(left, work.inner);
    check_outside(in, left);
    check_crash(in, &work, status);
    bed_free(&work);
}

/* What goes on at once; how much of it is resumed. */
static void go_on(cell *in, const image *left)
{
    bed work;
    bed_build(&work, left);
    (void)run_client(&work, in->of->of, true);
    in->resumed = next_templates_resumed();
    in->count->resumed += in->of->of->is_resumed ? in->resumed : 0;
    bed_free(&work);
}

/* Whether two crashes have left the same: our own records have random numbers in them. */
static bool is_same_state(const image *a, const image *b)
{
    size_t i;
    for (i = 0; i < a->count && a->count == b->count; i++) {
        const image_object *object = &a->objects[i], *found = image_find(b, object->key);
        if (found == NULL || found->bytes != object->bytes ||
            (!is_own(object->key) && memcmp(found->data, object->data, found->bytes) != 0))
            return false;
    }
    return a->count == b->count;
}

/* The quick form has a part of the next comers each time, in turn. */
static void run_cells(const cell *first, const image *left, long turn)
{
    int c, collected;
    for (c = 0; c < COMERS; c++)
        for (collected = 0; collected < 2; collected++) {
            cell in = *first;
            in.next = &comers[c];
            in.is_collected = collected == 1;
            if (is_full || ((turn + c) % 4 == 0 && (turn / 4 + c) % 2 == collected))
                run_cell(&in, left);
        }
}

/* Operations that only read leave what the one before them has left. */
static void crash_at(cell *in, image *last, long turn)
{
    image left;
    crash(in, &left);
    if (is_same_state(&left, last)) {
        image_free(&left);
        return;
    }
    in->count->states++;
    go_on(in, &left);
    run_cells(in, &left, turn);
    image_free(last);
    *last = left;
}

static void check_met(const client *of, const tally *count)
{
    int i;
    for (i = 0; is_full && i < NEXT_SENTENCES && of->explained[i] != NULL; i++)
        if (!count->is_met[i])
            fail_msg("%s: nobody was told \"%s\"", of->name, of->explained[i]);
}

static void test_client(void **state)
{
    const client *of = *state;
    static subject made;
    tally count = {0};
    int stride = is_full ? 1 : of->stride * TEST_THINNING, torn;
    image last = {0};
    long at;
    subject_build(&made, of);
    for (at = 0; at < made.operations; at += stride)
        for (torn = 0; torn < 2; torn++)
            if (is_full || torn == at % 2)
                crash_at(&(cell){.of = &made, .next = comers, .at = at, .is_torn = torn == 1, .count = &count}, &last,
                         at / stride);
    image_free(&last);
    print_message("%-25s %10ld %7ld %7ld %9ld %9ld %9ld %9ld %7ld\n", of->name, made.operations, count.states,
                  count.cells, count.completed, count.undone, count.pending, count.refused, count.known);
    subject_free(&made);
    check_met(of, &count);
    assert_true((count.resumed > 0) == of->is_resumed || TEST_THINNING > 1);
    assert_int_equal(count.faults, 0);
}

static int build_source(void **state)
{
    (void)state;
    next_source_build();
    return 0;
}

/* What is known and does not happen any more is to be taken from the list. */
static void test_known(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < KNOWN; i++) {
        print_message("known: %ld times, %s, then \"%s\": %s\n", known_met[i], known[i].client, known[i].comer,
                      known[i].reason);
        if (is_full && known_met[i] == 0)
            fail_msg("this does not happen any more");
    }
}

static int free_source(void **state)
{
    (void)state;
    next_source_free();
    return 0;
}

int main(int argc, char **argv)
{
    struct CMUnitTest list[CLIENTS_MOST];
    int i;
    assert_true(client_count < CLIENTS_MOST);
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    for (i = 0; i < client_count; i++)
        list[i] = (struct CMUnitTest){
            .name = clients[i].name, .test_func = test_client, .initial_state = (void *)(uintptr_t)&clients[i]};
    print_message("%-25s %10s %7s %7s %9s %9s %9s %9s %7s\n", "change", "operations", "states", "cells", "completed",
                  "undone", "pending", "refused", "known");
    list[client_count] = (struct CMUnitTest)cmocka_unit_test(test_known);
    return _cmocka_run_group_tests("fault_next_comer", list, (size_t)client_count + 1, build_source, free_source);
}
