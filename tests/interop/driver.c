/* driver.c - the C side of the interoperability tests: does to stores what the lines on standard input say.
 *
 * It knows nothing of what the values should be: they come from files and go to files, and the Python side
 * compares. A line is a command and its argument; a case begins with `case NAME` and ends with `done`. A command
 * that fails prints `failed NAME STATUS SENTENCE`, and the rest of its case is skipped; a case that ends well
 * prints `ok NAME`. It uses only parapet.h. */
#include <parapet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 64
#define NAME_BYTES 256
#define LINE_BYTES 65536

/* Where the elements of a part lie in memory. */
typedef enum memory_order {
    ORDER_WITHIN,   /* where they lie in the whole array */
    ORDER_C,        /* densely, strides left to the library */
    ORDER_FORTRAN,  /* densely, first dimension fastest */
    ORDER_REVERSED, /* densely, every dimension backwards */
} memory_order;

typedef struct part_memory {
    int64_t start[PARAPET_MAX_NDIM];
    int64_t count[PARAPET_MAX_NDIM];
    int64_t strides[PARAPET_MAX_NDIM];
    unsigned char *block;
    unsigned char *first; /* element [0, 0, ...] of the part */
} part_memory;

typedef struct driver {
    char name[NAME_BYTES];
    bool is_skipping;
    parapet_store *store;
    parapet_array *array;
    parapet_array_info info;
    parapet_array_spec spec;
    int64_t shape[PARAPET_MAX_NDIM];
    int64_t chunks[PARAPET_MAX_NDIM];
    int64_t shards[PARAPET_MAX_NDIM];
    char *names[PARAPET_MAX_NDIM];
    int name_count;
    char *codec;
    char *attributes;
    char *time_unit;
    unsigned char fill[1024];
    unsigned char *values; /* the whole array in C order */
    memory_order order;
    part_memory parts[MAX_PARTS];
    int part_count;
} driver;

typedef struct command {
    const char *name;
    void (*run)(driver *session, char *argument);
} command;

static void give_up(const char *why, const char *what)
{
    fprintf(stderr, "driver: %s: %s\n", why, what);
    exit(2);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    if (memory == NULL)
        give_up("out of memory", "values");
    return memory;
}

static char *copy_text(const char *text)
{
    char *copy = allocate(strlen(text));
    return strcpy(copy, text);
}

static void require(driver *session, parapet_status status)
{
    if (status == PARAPET_OK)
        return;
    printf("failed %s %s %s\n", session->name, parapet_status_name(status), parapet_error_message());
    session->is_skipping = true;
}

static int read_numbers(const char *text, int64_t *numbers, int limit)
{
    int count = 0;
    char *end;
    for (;; text = end) {
        long long number = strtoll(text, &end, 10);
        if (end == text)
            return count;
        if (count == limit)
            give_up("too many numbers", text);
        numbers[count++] = number;
    }
}

/* ---- The parts of a call ---- */

static int64_t element_count(int ndim, const int64_t *count)
{
    int64_t elements = 1;
    for (int d = 0; d < ndim; d++)
        elements *= count[d];
    return elements;
}

static void set_strides(int ndim, const int64_t *count, int64_t element_bytes, bool is_fortran, int64_t *strides)
{
    int64_t stride = element_bytes;
    for (int i = 0; i < ndim; i++) {
        int d = is_fortran ? i : ndim - 1 - i;
        strides[d] = stride;
        stride *= count[d];
    }
}

static size_t whole_bytes(const driver *session)
{
    return (size_t)element_count(session->info.ndim, session->info.shape) * session->info.element_bytes;
}

/* Decides where the part lies, and allocates what lies outside the whole array. */
static void place_part(driver *session, part_memory *part)
{
    int ndim = session->info.ndim;
    int64_t element_bytes = (int64_t)session->info.element_bytes, whole[PARAPET_MAX_NDIM];
    if (session->order == ORDER_WITHIN) {
        set_strides(ndim, session->info.shape, element_bytes, false, part->strides);
        part->first = session->values;
        for (int d = 0; d < ndim; d++)
            part->first += part->start[d] * part->strides[d];
        return;
    }
    set_strides(ndim, part->count, element_bytes, session->order == ORDER_FORTRAN, whole);
    part->first = part->block = allocate((size_t)(element_count(ndim, part->count) * element_bytes));
    for (int d = 0; d < ndim; d++) {
        bool is_backwards = session->order == ORDER_REVERSED && part->count[d] > 0;
        part->strides[d] = is_backwards ? -whole[d] : whole[d];
        part->first += is_backwards ? (part->count[d] - 1) * whole[d] : 0;
    }
}

/* Calls visit for every element of the part, with its place in the part and in the dense C order of count. */
typedef void (*element_visit)(void *context, unsigned char *in_part, const int64_t *index);

static void visit_part(const driver *session, part_memory *part, element_visit visit, void *context)
{
    int ndim = session->info.ndim;
    int64_t index[PARAPET_MAX_NDIM] = {0};
    for (int64_t left = element_count(ndim, part->count); left > 0; left--) {
        unsigned char *place = part->first;
        for (int d = 0; d < ndim; d++)
            place += index[d] * part->strides[d];
        visit(context, place, index);
        for (int d = ndim - 1; d >= 0 && ++index[d] == part->count[d]; d--)
            index[d] = 0;
    }
}

typedef struct fill_context {
    const driver *session;
    const part_memory *part;
    int64_t strides[PARAPET_MAX_NDIM];
} fill_context;

static void fill_element(void *context, unsigned char *in_part, const int64_t *index)
{
    fill_context *fill = context;
    const unsigned char *place = fill->session->values;
    for (int d = 0; d < fill->session->info.ndim; d++)
        place += (fill->part->start[d] + index[d]) * fill->strides[d];
    memcpy(in_part, place, fill->session->info.element_bytes);
}

static void fill_part(const driver *session, part_memory *part)
{
    fill_context context = {.session = session, .part = part};
    if (session->order == ORDER_WITHIN)
        return;
    set_strides(session->info.ndim, session->info.shape, (int64_t)session->info.element_bytes, false,
                context.strides);
    visit_part(session, part, fill_element, &context);
}

typedef struct print_context {
    FILE *file;
    size_t element_bytes;
} print_context;

static void print_element(void *context, unsigned char *in_part, const int64_t *index)
{
    print_context *print = context;
    (void)index;
    if (fwrite(in_part, 1, print->element_bytes, print->file) != print->element_bytes)
        give_up("cannot write", "values");
}

static void make_public_parts(driver *session, parapet_part *parts)
{
    for (int i = 0; i < session->part_count; i++) {
        part_memory *part = &session->parts[i];
        place_part(session, part);
        parts[i] = (parapet_part){
            .ndim = session->info.ndim, .start = part->start, .count = part->count, .data = part->first};
        if (session->order != ORDER_C)
            parts[i].strides_bytes = part->strides;
    }
}

static void clear_parts(driver *session)
{
    for (int i = 0; i < session->part_count; i++)
        free(session->parts[i].block);
    memset(session->parts, 0, sizeof session->parts);
    session->part_count = 0;
}

/* ---- Commands: the spec ---- */

static void set_type(driver *session, char *argument)
{
    session->spec.type = strcmp(argument, "raw") == 0 ? PARAPET_RAW : parapet_type_from_name(argument);
}

static void set_shape(driver *session, char *argument)
{
    session->spec.ndim = read_numbers(argument, session->shape, PARAPET_MAX_NDIM);
    session->spec.shape = session->shape;
}

static void set_chunks(driver *session, char *argument)
{
    (void)read_numbers(argument, session->chunks, PARAPET_MAX_NDIM);
    session->spec.chunks = session->chunks;
}

static void set_shards(driver *session, char *argument)
{
    (void)read_numbers(argument, session->shards, PARAPET_MAX_NDIM);
    session->spec.shards = session->shards;
}

static void set_unsharded(driver *session, char *argument)
{
    (void)argument;
    session->spec.unsharded = 1;
}

static void set_no_checksum(driver *session, char *argument)
{
    (void)argument;
    session->spec.no_checksum = 1;
}

static void set_codec(driver *session, char *argument)
{
    session->spec.codec = session->codec = copy_text(argument);
}

static void set_unit(driver *session, char *argument)
{
    session->spec.time_unit = session->time_unit = copy_text(argument);
}

static void set_attributes(driver *session, char *argument)
{
    session->spec.attributes = session->attributes = copy_text(argument);
}

static void set_element_bytes(driver *session, char *argument)
{
    session->spec.element_bytes = (size_t)strtoull(argument, NULL, 10);
}

static void set_fill(driver *session, char *argument)
{
    size_t i = 0;
    unsigned byte;
    for (; i < sizeof session->fill && sscanf(argument + 2 * i, "%2x", &byte) == 1; i++)
        session->fill[i] = (unsigned char)byte;
    session->spec.fill_value = session->fill;
}

static void add_name(driver *session, char *argument)
{
    if (session->name_count == PARAPET_MAX_NDIM)
        give_up("too many dimension names", argument);
    session->names[session->name_count++] = copy_text(argument);
    session->spec.dimension_names = (const char *const *)session->names;
}

static void clear_spec(driver *session)
{
    while (session->name_count > 0)
        free(session->names[--session->name_count]);
    free(session->codec);
    free(session->time_unit);
    free(session->attributes);
    session->codec = session->time_unit = session->attributes = NULL;
    session->spec = (parapet_array_spec){0};
}

/* ---- Commands: stores, groups and arrays ---- */

static void open_store(driver *session, char *argument)
{
    static const char *const modes[] = {"read ", "update ", "create "};
    for (int mode = 0; mode < 3; mode++)
        if (strncmp(argument, modes[mode], strlen(modes[mode])) == 0)
            require(session, parapet_store_open(&session->store, MPI_COMM_NULL, argument + strlen(modes[mode]),
                                                (parapet_mode)mode, NULL));
}

/* `group PATH JSON` */
static void create_group(driver *session, char *argument)
{
    parapet_group *group = NULL;
    char *json = strchr(argument, ' ');
    if (json != NULL)
        *json++ = '\0';
    require(session, parapet_group_create(&group, session->store, argument, json));
    (void)parapet_group_close(&group);
}

/* `group_attribute PATH NAME JSON` */
static void set_group_attribute(driver *session, char *argument)
{
    parapet_group *group = NULL;
    char *name = strchr(argument, ' '), *json;
    if (name == NULL || (json = strchr(name + 1, ' ')) == NULL)
        give_up("group_attribute PATH NAME JSON", argument);
    *name++ = '\0';
    *json++ = '\0';
    require(session, parapet_group_open(&group, session->store, argument));
    if (!session->is_skipping)
        require(session, parapet_group_attribute_set(group, name, json));
    (void)parapet_group_close(&group);
}

static void consolidate_group(driver *session, char *argument)
{
    parapet_group *group = NULL;
    require(session, parapet_group_open(&group, session->store, argument));
    if (!session->is_skipping)
        require(session, parapet_group_consolidate(group));
    (void)parapet_group_close(&group);
}

static int print_child(void *context, const char *name, parapet_node_kind kind)
{
    fprintf(context, "%s %s\n", kind == PARAPET_NODE_GROUP ? "group" : "array", name);
    return 0;
}

/* `list FILE PATH`: the children of a group and, behind them, its attributes. */
static void list_group(driver *session, char *argument)
{
    parapet_group *group = NULL;
    char *path = strchr(argument, ' '), *json = NULL;
    FILE *file;
    if (path == NULL)
        give_up("list FILE PATH", argument);
    *path++ = '\0';
    if ((file = fopen(argument, "w")) == NULL)
        give_up("cannot write", argument);
    require(session, parapet_group_open(&group, session->store, path));
    if (!session->is_skipping)
        require(session, parapet_group_list(group, print_child, file));
    if (!session->is_skipping)
        require(session, parapet_group_attribute_get(group, NULL, &json));
    fprintf(file, "attributes %s\n", json != NULL ? json : "");
    parapet_free(json);
    (void)fclose(file);
    (void)parapet_group_close(&group);
}

static void refresh_info(driver *session)
{
    if (!session->is_skipping)
        require(session, parapet_array_get_info(session->array, &session->info));
}

static void close_array(driver *session, char *argument)
{
    (void)argument;
    require(session, parapet_array_close(&session->array));
    clear_spec(session);
    clear_parts(session);
    free(session->values);
    session->values = NULL;
}

static void create_array(driver *session, char *argument)
{
    require(session, parapet_array_create(&session->array, session->store, argument, &session->spec));
    refresh_info(session);
}

static void open_array(driver *session, char *argument)
{
    require(session, parapet_array_open(&session->array, session->store, argument));
    refresh_info(session);
}

static void resize_array(driver *session, char *argument)
{
    int64_t shape[PARAPET_MAX_NDIM];
    (void)read_numbers(argument, shape, PARAPET_MAX_NDIM);
    require(session, parapet_array_resize(session->array, shape));
    refresh_info(session);
}

static void seal_array(driver *session, char *argument)
{
    (void)argument;
    require(session, parapet_array_seal(session->array));
    refresh_info(session);
}

/* `attribute NAME JSON` */
static void set_attribute(driver *session, char *argument)
{
    char *json = strchr(argument, ' ');
    if (json == NULL)
        give_up("attribute NAME JSON", argument);
    *json++ = '\0';
    require(session, parapet_array_attribute_set(session->array, argument, json));
    refresh_info(session);
}

static void print_numbers(FILE *file, const char *title, const int64_t *numbers, int count)
{
    fprintf(file, "%s", title);
    for (int i = 0; i < count; i++)
        fprintf(file, " %lld", (long long)numbers[i]);
    fprintf(file, "\n");
}

static void print_info(driver *session, FILE *file)
{
    const parapet_array_info *info = &session->info;
    fprintf(file, "type %d\ntype_name %s\nelement_bytes %zu\nzarr_format %d\nis_sharded %d\nis_sealed %d\n",
            (int)info->type, info->type_name, info->element_bytes, info->zarr_format, info->is_sharded,
            info->is_sealed);
    print_numbers(file, "shape", info->shape, info->ndim);
    print_numbers(file, "chunks", info->chunks, info->ndim);
    print_numbers(file, "shards", info->shards, info->ndim);
    fprintf(file, "has_names %d\n", info->dimension_names != NULL);
    for (int d = 0; info->dimension_names != NULL && d < info->ndim; d++) {
        const char *name = info->dimension_names[d];
        fprintf(file, name != NULL ? "name %s\n" : "unnamed\n", name);
    }
    fprintf(file, "codecs %s\nfill_is_defined %d\nfill ", info->codecs, info->fill_is_defined);
    for (size_t i = 0; info->fill_value != NULL && i < info->element_bytes; i++)
        fprintf(file, "%02x", ((const unsigned char *)info->fill_value)[i]);
    fprintf(file, "\n");
}

/* `describe FILE` */
static void describe_array(driver *session, char *argument)
{
    char *json = NULL;
    FILE *file = fopen(argument, "w");
    if (file == NULL)
        give_up("cannot write", argument);
    print_info(session, file);
    require(session, parapet_array_attribute_get(session->array, NULL, &json));
    if (json != NULL)
        fprintf(file, "attributes %s\n", json);
    parapet_free(json);
    (void)fclose(file);
}

/* ---- Commands: values ---- */

/* `data FILE`: the whole array in C order, of which the following writes take their boxes. */
static void load_data(driver *session, char *argument)
{
    size_t bytes = whole_bytes(session);
    FILE *file = fopen(argument, "rb");
    free(session->values);
    session->values = allocate(bytes);
    if (file == NULL || fread(session->values, 1, bytes, file) != bytes)
        give_up("cannot read", argument);
    (void)fclose(file);
}

static void set_order(driver *session, char *argument)
{
    static const char *const orders[] = {"within", "c", "fortran", "reversed"};
    for (int order = 0; order < 4; order++)
        if (strcmp(argument, orders[order]) == 0)
            session->order = (memory_order)order;
}

/* `part START... COUNT...` */
static void add_part(driver *session, char *argument)
{
    int64_t numbers[2 * PARAPET_MAX_NDIM];
    int count = read_numbers(argument, numbers, 2 * PARAPET_MAX_NDIM) / 2;
    part_memory *part = &session->parts[session->part_count];
    if (session->part_count == MAX_PARTS)
        give_up("too many parts", argument);
    session->part_count++;
    memcpy(part->start, numbers, (size_t)count * sizeof numbers[0]);
    memcpy(part->count, numbers + count, (size_t)count * sizeof numbers[0]);
}

static void write_parts(driver *session, char *argument)
{
    parapet_part parts[MAX_PARTS];
    (void)argument;
    make_public_parts(session, parts);
    for (int i = 0; i < session->part_count; i++)
        fill_part(session, &session->parts[i]);
    require(session, parapet_array_write(session->array, parts, session->part_count));
    clear_parts(session);
}

/* `read FILE`: appends the values of every part in C order. */
static void read_parts(driver *session, char *argument)
{
    parapet_part parts[MAX_PARTS];
    print_context context = {.element_bytes = session->info.element_bytes};
    if (session->order == ORDER_WITHIN && session->values == NULL)
        session->values = allocate(whole_bytes(session));
    make_public_parts(session, parts);
    require(session, parapet_array_read(session->array, parts, session->part_count));
    if ((context.file = fopen(argument, "ab")) == NULL)
        give_up("cannot write", argument);
    for (int i = 0; i < session->part_count && !session->is_skipping; i++)
        visit_part(session, &session->parts[i], print_element, &context);
    if (fclose(context.file) != 0)
        give_up("cannot write", argument);
    clear_parts(session);
}

/* ---- Cases ---- */

static void finish_case(driver *session)
{
    if (session->array != NULL)
        close_array(session, NULL);
    clear_spec(session);
    require(session, parapet_store_close(&session->store));
}

static void end_case(driver *session, char *argument)
{
    (void)argument;
    finish_case(session);
    if (!session->is_skipping)
        printf("ok %s\n", session->name);
}

static void begin_case(driver *session, char *argument)
{
    session->is_skipping = true;
    finish_case(session);
    session->is_skipping = false;
    (void)snprintf(session->name, sizeof session->name, "%s", argument);
}

static const command commands[] = {
    {"done", end_case},
    {"store", open_store},
    {"group", create_group},
    {"group_attribute", set_group_attribute},
    {"consolidate", consolidate_group},
    {"list", list_group},
    {"type", set_type},
    {"element_bytes", set_element_bytes},
    {"unit", set_unit},
    {"shape", set_shape},
    {"chunks", set_chunks},
    {"shards", set_shards},
    {"unsharded", set_unsharded},
    {"codec", set_codec},
    {"no_checksum", set_no_checksum},
    {"fill", set_fill},
    {"name", add_name},
    {"attributes", set_attributes},
    {"create", create_array},
    {"open", open_array},
    {"describe", describe_array},
    {"data", load_data},
    {"order", set_order},
    {"part", add_part},
    {"write", write_parts},
    {"read", read_parts},
    {"resize", resize_array},
    {"attribute", set_attribute},
    {"seal", seal_array},
    {"close", close_array},
};

static void run_line(driver *session, char *line)
{
    char *argument = strchr(line, ' ');
    if (argument != NULL)
        *argument++ = '\0';
    else
        argument = line + strlen(line);
    if (strcmp(line, "case") == 0) {
        begin_case(session, argument);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(line, commands[i].name) != 0)
            continue;
        if (!session->is_skipping)
            commands[i].run(session, argument);
        return;
    }
    give_up("unknown command", line);
}

int main(void)
{
    static driver session;
    static char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t length = strlen(line);
        if (length == 0 || line[length - 1] != '\n')
            give_up("line too long", line);
        line[length - 1] = '\0';
        run_line(&session, line);
    }
    session.is_skipping = true;
    finish_case(&session);
    return 0;
}
