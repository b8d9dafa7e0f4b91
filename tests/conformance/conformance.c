/* Reads every case below a folder through the public API: exactly, or not at all with the right sentence.
 *
 *     conformance FOLDER      the folder that has cases/ and extra/ */
#include <dirent.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expected.h"
#include "table.h"

#define SUFFIX ".expected.json"
#define NAME_BYTES 512
#define MAX_CASES 1024

static const char *root;
static int failure_count;

/* What the cases of a folder count as. */
typedef struct case_folder {
    const char *name;
    const char *label;
    int zarr_format; /* 0: the name of the case says */
    int read_count;
    int lenient_count;
    int refused_count;
} case_folder;

static case_folder folders[] = {
    {.name = "cases/v3", .label = "v3", .zarr_format = 3},
    {.name = "cases/v2", .label = "v2", .zarr_format = 2},
    {.name = "cases/v2+v3", .label = "dual", .zarr_format = 3},
    {.name = "extra", .label = "extra"},
};

#define FOLDER_COUNT ((int)(sizeof folders / sizeof folders[0]))

/* Names of the case directories that some check has looked at. */
static char covered[MAX_CASES][NAME_BYTES];
static int covered_count;

static void complain(const char *folder, const char *name, const char *problem)
{
    printf("%s/%s: %s\n", folder, name, problem);
    failure_count++;
}

static void complain_status(const char *folder, const char *name, const char *step, parapet_status status)
{
    char problem[1200];
    (void)snprintf(problem, sizeof problem, "%s: %s: %s", step, parapet_status_name(status), parapet_error_message());
    complain(folder, name, problem);
}

/* Remembers the first component of folder/path. */
static void cover(const char *folder, const char *path)
{
    if (covered_count < MAX_CASES)
        (void)snprintf(covered[covered_count++], NAME_BYTES, "%s/%.*s", folder, (int)strcspn(path, "/"), path);
}

static bool is_covered(const char *folder, const char *name)
{
    char full[NAME_BYTES];
    int i;
    (void)snprintf(full, sizeof full, "%s/%s", folder, name);
    for (i = 0; i < covered_count; i++)
        if (strcmp(covered[i], full) == 0)
            return true;
    return false;
}

/* An array that is open, and the store it is in. */
typedef struct opened_array {
    parapet_store *store;
    parapet_array *array;
} opened_array;

/* Opens the array at folder/path: in the store that is the folder, or in one whose root it is. */
static parapet_status open_case(opened_array *opened, const char *folder, const char *path, bool is_root,
                                const parapet_store_options *options)
{
    char url[3 * NAME_BYTES];
    parapet_status status;
    *opened = (opened_array){NULL, NULL};
    (void)snprintf(url, sizeof url, is_root ? "%s/%s/%s" : "%s/%s", root, folder, path);
    status = parapet_store_open(&opened->store, MPI_COMM_NULL, url, PARAPET_READ, options);
    return status != PARAPET_OK ? status : parapet_array_open(&opened->array, opened->store, is_root ? "" : path);
}

static void close_case(opened_array *opened)
{
    if (parapet_array_close(&opened->array) != PARAPET_OK || parapet_store_close(&opened->store) != PARAPET_OK)
        complain("close", "any", parapet_error_message());
}

static parapet_status read_whole(parapet_array *array, void **elements)
{
    int64_t start[PARAPET_MAX_NDIM] = {0};
    parapet_array_info info;
    parapet_part part = {.start = start};
    size_t bytes;
    int i;
    parapet_status status = parapet_array_get_info(array, &info);
    if (status != PARAPET_OK)
        return status;
    bytes = info.element_bytes;
    for (i = 0; i < info.ndim; i++)
        bytes *= (size_t)info.shape[i];
    *elements = malloc(bytes + 1);
    if (*elements == NULL)
        return PARAPET_ERR_MEMORY;
    memset(*elements, 0xa5, bytes + 1);
    part.ndim = info.ndim;
    part.count = info.shape;
    part.data = *elements;
    return parapet_array_read(array, &part, 1);
}

/* What the metadata must show; NULL when it does. */
static const char *find_wrong_info(parapet_array *array, const expected_values *wanted, int zarr_format,
                                   bool is_fill_open)
{
    parapet_type type = expected_type(wanted);
    parapet_array_info info;
    if (parapet_array_get_info(array, &info) != PARAPET_OK)
        return parapet_error_message();
    if (info.zarr_format != zarr_format)
        return "zarr_format is wrong";
    if (info.ndim != wanted->ndim || memcmp(info.shape, wanted->shape, (size_t)info.ndim * sizeof *info.shape) != 0)
        return "the shape is wrong";
    if (info.element_bytes != wanted->element_bytes || (type != PARAPET_TYPE_OF_ARRAY && info.type != type))
        return "the type is wrong";
    if ((info.fill_is_defined == 0) != is_fill_open)
        return is_fill_open ? "the fill value counts as defined" : "the fill value does not count as defined";
    return NULL;
}

static bool reads_exactly(const case_folder *folder, const char *name, const expected_values *wanted, bool is_root,
                          const parapet_store_options *options)
{
    int failures_before = failure_count;
    int zarr_format = folder->zarr_format != 0 ? folder->zarr_format : strstr(name, "_v2_") != NULL ? 2 : 3;
    void *elements = NULL;
    const char *problem;
    opened_array opened;
    parapet_status status = open_case(&opened, folder->name, wanted->path, is_root, options);
    if (status != PARAPET_OK) {
        complain_status(folder->name, name, "cannot be opened", status);
    } else if ((problem = find_wrong_info(opened.array, wanted, zarr_format, fill_is_open(name))) != NULL) {
        complain(folder->name, name, problem);
    } else if ((status = read_whole(opened.array, &elements)) != PARAPET_OK) {
        complain_status(folder->name, name, "cannot be read", status);
    } else if (!expected_equals(wanted, elements)) {
        complain(folder->name, name, "is read wrongly");
    }
    free(elements);
    close_case(&opened);
    return failure_count == failures_before;
}

static bool load_expected(expected_values *wanted, const char *folder, const char *name)
{
    char file_name[3 * NAME_BYTES];
    (void)snprintf(file_name, sizeof file_name, "%s/%s/%s" SUFFIX, root, folder, name);
    if (expected_load(wanted, file_name))
        return true;
    complain(folder, name, "has no expected_values values");
    return false;
}

static void check_read(case_folder *folder, const char *name)
{
    bool is_lenient = strstr(name, "_INVALID") != NULL || strcmp(folder->name, "extra") == 0;
    expected_values wanted;
    if (!load_expected(&wanted, folder->name, name))
        return;
    if (reads_exactly(folder, name, &wanted, false, NULL) && reads_exactly(folder, name, &wanted, true, NULL)) {
        folder->read_count += is_lenient ? 0 : 1;
        folder->lenient_count += is_lenient ? 1 : 0;
    }
    cover(folder->name, wanted.path);
    expected_clear(&wanted);
}

/* The refusal as it happened: when, as what, and in which words. */
static bool is_refused_as(const refusal_rule *refusal, refusal_moment moment, parapet_status status)
{
    char problem[1400];
    int i;
    if (moment != refusal->moment || status != refusal->status) {
        (void)snprintf(problem, sizeof problem, "refused by %s as %s instead of by %s as %s: %s",
                       moment == AT_OPEN ? "open" : "read", parapet_status_name(status),
                       refusal->moment == AT_OPEN ? "open" : "read", parapet_status_name(refusal->status),
                       parapet_error_message());
        complain(refusal->folder, refusal->name, problem);
        return false;
    }
    for (i = 0; i < 2; i++) {
        if (refusal->words[i] != NULL && strstr(parapet_error_message(), refusal->words[i]) == NULL) {
            (void)snprintf(problem, sizeof problem, "the sentence lacks \"%s\": %s", refusal->words[i],
                           parapet_error_message());
            complain(refusal->folder, refusal->name, problem);
            return false;
        }
    }
    return true;
}

static bool is_refused(const refusal_rule *refusal, bool is_root)
{
    void *elements = NULL;
    refusal_moment moment = AT_OPEN;
    bool is_right;
    opened_array opened;
    parapet_status status = open_case(&opened, refusal->folder, refusal->name, is_root, NULL);
    if (status == PARAPET_OK) {
        moment = AT_READ;
        status = read_whole(opened.array, &elements);
    }
    is_right = is_refused_as(refusal, moment, status);
    free(elements);
    close_case(&opened);
    return is_right;
}

static void check_refusals(case_folder *folder)
{
    int i;
    for (i = 0; i < refusal_count; i++) {
        if (strcmp(refusals[i].folder, folder->name) != 0)
            continue;
        if (is_refused(&refusals[i], false) && is_refused(&refusals[i], true))
            folder->refused_count++;
        cover(folder->name, refusals[i].name);
    }
}

static void check_without_checksums(case_folder *folder)
{
    const parapet_store_options options = {.ignore_checksums = 1};
    expected_values wanted;
    int i;
    for (i = 0; i < readable_without_checksums_count; i++) {
        const case_name *name = &readable_without_checksums[i];
        if (strcmp(name->folder, folder->name) != 0 || !load_expected(&wanted, folder->name, name->name))
            continue;
        (void)reads_exactly(folder, name->name, &wanted, false, &options);
        expected_clear(&wanted);
    }
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const char *find_wrong_fact(parapet_array *array, const metadata_fact *fact)
{
    parapet_array_info info;
    char *json = NULL;
    bool is_same;
    int i;
    if (parapet_array_get_info(array, &info) != PARAPET_OK)
        return parapet_error_message();
    if ((info.dimension_names != NULL) != (fact->has_dimension_names != 0))
        return "dimension names are there or not, the wrong way round";
    for (i = 0; info.dimension_names != NULL && i < 2; i++)
        if (!is_same_text(info.dimension_names[i], fact->dimension_names[i]))
            return "a dimension name is wrong";
    if (fact->attribute == NULL)
        return NULL;
    if (parapet_array_attribute_get(array, fact->attribute, &json) != PARAPET_OK)
        return parapet_error_message();
    is_same = strcmp(json, fact->attribute_json) == 0;
    parapet_free(json);
    return is_same ? NULL : "an attribute is wrong";
}

static void check_facts(const case_folder *folder)
{
    const char *problem;
    opened_array opened;
    int i;
    for (i = 0; i < metadata_fact_count; i++) {
        if (strcmp(metadata_facts[i].folder, folder->name) != 0)
            continue;
        if (open_case(&opened, folder->name, metadata_facts[i].path, false, NULL) != PARAPET_OK)
            complain(folder->name, metadata_facts[i].path, parapet_error_message());
        else if ((problem = find_wrong_fact(opened.array, &metadata_facts[i])) != NULL)
            complain(folder->name, metadata_facts[i].path, problem);
        close_case(&opened);
    }
}

typedef struct group_listing {
    const group_case *wanted;
    int count;
    bool is_right;
} group_listing;

static int check_child(void *context, const char *name, parapet_node_kind kind)
{
    group_listing *listing = context;
    const char *wanted = listing->count < 4 ? listing->wanted->children[listing->count] : NULL;
    listing->is_right = listing->is_right && is_same_text(name, wanted) && kind == listing->wanted->kind;
    listing->count++;
    return 0;
}

static const char *find_wrong_group(parapet_group *group, const group_case *wanted)
{
    group_listing listing = {.wanted = wanted, .is_right = true};
    char *title = NULL;
    bool is_same;
    if (parapet_group_list(group, check_child, &listing) != PARAPET_OK)
        return parapet_error_message();
    if (!listing.is_right || (listing.count < 4 && wanted->children[listing.count] != NULL))
        return "the children are wrong";
    if (wanted->title == NULL)
        return NULL;
    if (parapet_group_attribute_get(group, "title", &title) != PARAPET_OK)
        return parapet_error_message();
    is_same = strcmp(title, wanted->title) == 0;
    parapet_free(title);
    return is_same ? NULL : "the title is wrong";
}

/* The arrays of a group, compared with the expected_values values of the group they were copied from. */
static void check_children(const case_folder *folder, const group_case *wanted)
{
    char name[NAME_BYTES], path[NAME_BYTES];
    expected_values values;
    int i;
    for (i = 0; wanted->same_as != NULL && i < 4 && wanted->children[i] != NULL; i++) {
        (void)snprintf(name, sizeof name, "%s%s", wanted->same_as, wanted->children[i]);
        (void)snprintf(path, sizeof path, "%s/%s", wanted->path, wanted->children[i]);
        if (!load_expected(&values, folder->name, name))
            continue;
        values.path = path;
        (void)reads_exactly(folder, path, &values, false, NULL);
        expected_clear(&values);
    }
}

static void check_group(const case_folder *folder, const group_case *wanted)
{
    char url[2 * NAME_BYTES];
    parapet_store *store = NULL;
    parapet_group *group = NULL;
    const char *problem;
    (void)snprintf(url, sizeof url, "%s/%s", root, folder->name);
    if (parapet_store_open(&store, MPI_COMM_NULL, url, PARAPET_READ, NULL) != PARAPET_OK ||
        parapet_group_open(&group, store, wanted->path) != PARAPET_OK)
        complain(folder->name, wanted->path, parapet_error_message());
    else if ((problem = find_wrong_group(group, wanted)) != NULL)
        complain(folder->name, wanted->path, problem);
    if (parapet_group_close(&group) != PARAPET_OK || parapet_store_close(&store) != PARAPET_OK)
        complain(folder->name, wanted->path, parapet_error_message());
    check_children(folder, wanted);
    cover(folder->name, wanted->path);
}

static void check_groups(const case_folder *folder)
{
    int i;
    for (i = 0; i < group_case_count; i++)
        if (strcmp(group_cases[i].folder, folder->name) == 0)
            check_group(folder, &group_cases[i]);
}

/* Every file of expected_values values is a case to read, unless the table says that it must be refused; every
 * directory must have been looked at when all is done. */
static void check_entry(case_folder *folder, const struct dirent *entry, bool is_last_pass)
{
    size_t length = strlen(entry->d_name);
    char name[NAME_BYTES];
    if (is_last_pass && entry->d_type == DT_DIR && entry->d_name[0] != '.') {
        if (!is_covered(folder->name, entry->d_name))
            complain(folder->name, entry->d_name, "no check covers this case");
        return;
    }
    if (is_last_pass || length <= strlen(SUFFIX) || strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) != 0)
        return;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length - strlen(SUFFIX)), entry->d_name);
    if (refusal_find(folder->name, name) == NULL)
        check_read(folder, name);
}

static void check_entries(case_folder *folder, bool is_last_pass)
{
    char path[2 * NAME_BYTES];
    struct dirent **entries;
    int count, i;
    (void)snprintf(path, sizeof path, "%s/%s", root, folder->name);
    count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        complain(folder->name, "", "cannot be listed");
        return;
    }
    for (i = 0; i < count; i++) {
        check_entry(folder, entries[i], is_last_pass);
        free(entries[i]);
    }
    free(entries);
}

static void print_counts(void)
{
    int lenient = 0, refused = 0, i;
    for (i = 0; i < FOLDER_COUNT; i++) {
        if (folders[i].zarr_format != 0)
            printf("%s cases read exactly: %d\n", folders[i].label, folders[i].read_count);
        lenient += folders[i].lenient_count;
        refused += folders[i].refused_count;
    }
    printf("accepted beyond the standard, or extensions of it: %d\n", lenient);
    printf("refused with the right status and sentence: %d of %d\n", refused, refusal_count);
    printf("deviations: %d\n", failure_count);
}

int main(int argc, char **argv)
{
    int i;
    if (argc != 2) {
        printf("usage: conformance FOLDER\n");
        return 2;
    }
    root = argv[1];
    for (i = 0; i < FOLDER_COUNT; i++) {
        check_entries(&folders[i], false);
        check_refusals(&folders[i]);
        check_without_checksums(&folders[i]);
        check_facts(&folders[i]);
        check_groups(&folders[i]);
        check_entries(&folders[i], true);
    }
    print_counts();
    return failure_count == 0 ? 0 : 1;
}
