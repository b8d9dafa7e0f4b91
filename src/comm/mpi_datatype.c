/* mpi_datatype.c - from a datatype of MPI to the bytes that it selects.
 *
 * MPI tells how a datatype was made and of which others (MPI_Type_get_contents). Those that are not predefined are
 * fresh handles, which are freed here. */
#include "base/checked.h"
#include "comm/flavour.h"
#include "comm/mpi_internal.h"

/* What a program can build by hand stays far below; a loop that builds forever does not. */
enum { MAX_DEPTH = 64, MAX_DATATYPES = 1 << 24 };

/* A sentence names the outermost ones, and has room left to say what is wrong. */
enum { NAMED_DEPTH = 8 };

/* Of MPI 4: datatypes that were made with large counts are refused by the functions without _c, which then abort the
 * program. Older libraries of the same ABI do not have them, whatever headers this was compiled with. */
#if MPI_VERSION < 4
int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *integer_count, MPI_Count *address_count,
                            MPI_Count *large_count, MPI_Count *datatype_count, int *combiner);
int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count integer_count, MPI_Count address_count,
                            MPI_Count large_count, MPI_Count datatype_count, int integers[], MPI_Aint addresses[],
                            MPI_Count large[], MPI_Datatype datatypes[]);
#endif
#pragma weak MPI_Type_get_envelope_c
#pragma weak MPI_Type_get_contents_c

/* How a datatype was made. */
typedef struct contents {
    int combiner;
    MPI_Count integer_count, address_count, large_count, datatype_count;
    const int *integers;
    const MPI_Aint *addresses;
    const MPI_Count *large;
    MPI_Datatype *datatypes;
    pp_buffer memory;
} contents;

typedef struct reader {
    pp_patterns *set;
    const pp_element *element;
    int depth, datatype_count;
} reader;

static parapet_status read_datatype(reader *self, MPI_Datatype datatype, const pp_pattern **pattern);

/* Arguments in the order of the call; those that were large counts come last. */
static int64_t number(const contents *made, int64_t i)
{
    if (i < made->integer_count)
        return made->integers[i];
    i -= made->integer_count;
    return i < made->address_count ? (int64_t)made->addresses[i] : (int64_t)made->large[i - made->address_count];
}

static int get_envelope(MPI_Datatype datatype, contents *made)
{
    int integers = 0, addresses = 0, datatypes = 0, error;
    if (MPI_Type_get_envelope_c != NULL)
        return MPI_Type_get_envelope_c(datatype, &made->integer_count, &made->address_count, &made->large_count,
                                       &made->datatype_count, &made->combiner);
    error = MPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &made->combiner);
    made->integer_count = integers;
    made->address_count = addresses;
    made->datatype_count = datatypes;
    return error;
}

static int get_contents(MPI_Datatype datatype, contents *made, int *integers, MPI_Aint *addresses, MPI_Count *large)
{
    if (MPI_Type_get_contents_c != NULL)
        return MPI_Type_get_contents_c(datatype, made->integer_count, made->address_count, made->large_count,
                                       made->datatype_count, integers, addresses, large, made->datatypes);
    return MPI_Type_get_contents(datatype, (int)made->integer_count, (int)made->address_count,
                                 (int)made->datatype_count, integers, addresses, made->datatypes);
}

static parapet_status check_mpi(int error)
{
    return error == MPI_SUCCESS
               ? PARAPET_OK
               : pp_fail(PARAPET_ERR_MPI, "MPI failed with error %d when it was asked how a datatype is made", error);
}

static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

/* Takes the memory for all lists of a datatype, those with the widest entries first. */
static parapet_status open_contents(contents *made, MPI_Datatype datatype, pp_budget *budget)
{
    size_t large = (size_t)made->large_count, addresses = (size_t)made->address_count,
           datatypes = (size_t)made->datatype_count, integers = (size_t)made->integer_count;
    size_t bytes = large * sizeof(MPI_Count) + addresses * sizeof(MPI_Aint) + datatypes * sizeof(MPI_Datatype) +
                   integers * sizeof(int);
    parapet_status status = pp_buffer_init(&made->memory, budget, bytes, "the arguments of a datatype");
    MPI_Count *large_at;
    MPI_Aint *addresses_at;
    int *integers_at;
    if (status != PARAPET_OK)
        return status;
    large_at = (MPI_Count *)(void *)made->memory.data;
    addresses_at = (MPI_Aint *)(large_at + large);
    made->datatypes = (MPI_Datatype *)(addresses_at + addresses);
    integers_at = (int *)(void *)(made->datatypes + datatypes);
    made->large = large_at;
    made->addresses = addresses_at;
    made->integers = integers_at;
    status = check_mpi(get_contents(datatype, made, integers_at, addresses_at, large_at));
    if (status != PARAPET_OK)
        pp_buffer_free(&made->memory);
    return status;
}

/* Frees the handles that MPI made for us. */
static void close_contents(contents *made)
{
    contents inner;
    MPI_Count i;
    for (i = 0; i < made->datatype_count; i++)
        if (get_envelope(made->datatypes[i], &inner) == MPI_SUCCESS && !is_predefined(inner.combiner))
            MPI_Type_free(&made->datatypes[i]);
    pp_buffer_free(&made->memory);
}

static parapet_status add(reader *self, pp_pattern *pattern, pp_pattern_block block)
{
    return pp_pattern_add(self->set, pattern, &block);
}

static parapet_status refuse_size(void)
{
    return pp_fail(PARAPET_ERR_ARGUMENT, "its displacements do not fit into 64 bits");
}

/* Contiguous, dup and resized: MPI is asked for the extent of each. */
static parapet_status add_contiguous(reader *self, const contents *made, pp_pattern *pattern)
{
    int64_t count = made->combiner == MPI_COMBINER_CONTIGUOUS ? number(made, 0) : 1;
    const pp_pattern *inner;
    parapet_status status = read_datatype(self, made->datatypes[0], &inner);
    return status == PARAPET_OK ? add(self, pattern, (pp_pattern_block){0, count, 1, 0, inner}) : status;
}

static parapet_status add_vector(reader *self, const contents *made, pp_pattern *pattern)
{
    int64_t stride = number(made, 2);
    const pp_pattern *inner;
    parapet_status status = read_datatype(self, made->datatypes[0], &inner);
    if (status != PARAPET_OK)
        return status;
    if (made->combiner == MPI_COMBINER_VECTOR && !pp_multiply_fits(stride, inner->extent, &stride))
        return refuse_size();
    return add(self, pattern, (pp_pattern_block){0, number(made, 1), number(made, 0), stride, inner});
}

/* Lists of blocks: lengths and displacements, or one length for all; in bytes, or in extents. */
static parapet_status add_indexed(reader *self, const contents *made, pp_pattern *pattern)
{
    bool has_one_length =
        made->combiner == MPI_COMBINER_INDEXED_BLOCK || made->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool is_in_bytes = made->combiner == MPI_COMBINER_HINDEXED || made->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int64_t count = number(made, 0), places = has_one_length ? 2 : 1 + count, place, i;
    const pp_pattern *inner;
    parapet_status status = read_datatype(self, made->datatypes[0], &inner);
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        int64_t length = number(made, has_one_length ? 1 : 1 + i);
        if (!pp_multiply_fits(number(made, places + i), is_in_bytes ? 1 : inner->extent, &place))
            return refuse_size();
        status = add(self, pattern, (pp_pattern_block){place, length, 1, 0, inner});
    }
    return status;
}

static parapet_status add_struct(reader *self, const contents *made, pp_pattern *pattern)
{
    int64_t count = number(made, 0), last = -1, i;
    const pp_pattern *inner = NULL; /* that of entry `last` */
    parapet_status status = PARAPET_OK;
    for (i = 0; i < count && status == PARAPET_OK; i++) {
        if (number(made, 1 + i) == 0)
            continue;
        if (last < 0 || made->datatypes[i] != made->datatypes[last])
            status = read_datatype(self, made->datatypes[i], &inner);
        last = i;
        if (status == PARAPET_OK)
            status =
                add(self, pattern, (pp_pattern_block){number(made, 1 + count + i), number(made, 1 + i), 1, 0, inner});
    }
    return status;
}

/* Elements of one dimension of a larger array, around those of the dimensions inside it. */
static parapet_status build_line(reader *self, const pp_pattern_block *block, const pp_pattern **line)
{
    pp_pattern *made;
    parapet_status status = pp_pattern_build(self->set, &made);
    if (status != PARAPET_OK || (status = pp_pattern_add(self->set, made, block)) != PARAPET_OK)
        return status;
    pp_pattern_finish(made, 0);
    *line = made;
    return PARAPET_OK;
}

/* Where the arguments of a subarray or darray are, which differs if sizes were given as large counts. */
typedef struct mesh_places {
    int64_t ndim, order, sizes, others; /* others: lists of ndim numbers, one after the other */
} mesh_places;

/* Dimension number i from the innermost one. */
static int64_t dimension(const contents *made, const mesh_places *at, int64_t i)
{
    return number(made, at->order) == MPI_ORDER_C ? at->ndim - 1 - i : i;
}

static parapet_status add_subarray(reader *self, const contents *made, pp_pattern *pattern)
{
    int64_t ndim = number(made, 0), sizes = made->large_count > 0 ? 2 : 1, i, stride, first;
    mesh_places at = {ndim, made->large_count > 0 ? 1 : 3 * ndim + 1, sizes, sizes + ndim};
    const pp_pattern *inner;
    parapet_status status = read_datatype(self, made->datatypes[0], &inner);
    stride = status == PARAPET_OK ? inner->extent : 0;
    for (i = 0; i < ndim && status == PARAPET_OK; i++) {
        int64_t d = dimension(made, &at, i), count = number(made, at.others + d);
        if (!pp_multiply_fits(number(made, at.others + ndim + d), stride, &first))
            return refuse_size();
        status = build_line(self, &(pp_pattern_block){first, 1, count, stride, inner}, &inner);
        if (status == PARAPET_OK && !pp_multiply_fits(stride, number(made, at.sizes + d), &stride))
            return refuse_size();
    }
    return status == PARAPET_OK ? add(self, pattern, (pp_pattern_block){0, 1, 1, 0, inner}) : status;
}

/* One dimension of a darray: `whole` blocks of `block` elements from `first` on, `period` apart, and a shorter one.
 */
typedef struct dealt {
    int64_t first, block, period, whole, rest;
} dealt;

static dealt deal(int64_t size, int64_t distribution, int64_t argument, int64_t processes, int64_t position)
{
    dealt all = {.block = argument};
    int64_t left;
    if (distribution == MPI_DISTRIBUTE_NONE) {
        all.block = size;
        processes = 1;
        position = 0;
    } else if (argument == MPI_DISTRIBUTE_DFLT_DARG) {
        all.block = distribution == MPI_DISTRIBUTE_BLOCK ? pp_divide_up(size, processes) : 1;
    }
    if (!pp_multiply_fits(all.block, processes, &all.period) || !pp_multiply_fits(all.block, position, &all.first) ||
        all.first >= size || all.period == 0)
        return (dealt){0};
    left = size - all.first;
    all.whole = left / all.period + (left % all.period >= all.block);
    all.rest = left % all.period >= all.block ? 0 : left % all.period;
    return all;
}

/* The elements of one dimension, stride bytes apart. What is refused here would not fit into any array. */
static parapet_status deal_line(reader *self, const dealt *all, int64_t stride, const pp_pattern **inner)
{
    pp_pattern_block whole = {0, 1, all->block, stride, *inner}, rest = {0, 1, all->rest, stride, *inner},
                     blocks = {.count = 1, .repeats = all->whole}, last = {.count = 1, .repeats = 1};
    pp_pattern *line;
    parapet_status status;
    if (!pp_multiply_fits(all->first, stride, &blocks.displacement) ||
        !pp_multiply_fits(all->whole > 1 ? all->period : 0, stride, &blocks.stride) ||
        !pp_multiply_fits(all->rest > 0 ? all->first + all->whole * all->period : 0, stride, &last.displacement))
        return refuse_size();
    if ((status = build_line(self, &whole, &blocks.pattern)) != PARAPET_OK ||
        (status = build_line(self, &rest, &last.pattern)) != PARAPET_OK ||
        (status = pp_pattern_build(self->set, &line)) != PARAPET_OK ||
        (status = pp_pattern_add(self->set, line, &blocks)) != PARAPET_OK ||
        (status = pp_pattern_add(self->set, line, &last)) != PARAPET_OK)
        return status;
    pp_pattern_finish(line, 0);
    *inner = line;
    return PARAPET_OK;
}

/* The processes are in C order, whatever the order of the array. */
static int64_t position_of(const contents *made, const mesh_places *at, int64_t d)
{
    int64_t rank = number(made, 1), i, processes = at->others + 2 * at->ndim;
    for (i = at->ndim - 1; i > d; i--)
        rank /= number(made, processes + i);
    return rank % number(made, processes + d);
}

static parapet_status add_darray(reader *self, const contents *made, pp_pattern *pattern)
{
    int64_t ndim = number(made, 2), i, stride;
    mesh_places at = {ndim, 3 + 4 * ndim, 3, 3 + ndim};
    const pp_pattern *inner;
    parapet_status status = read_datatype(self, made->datatypes[0], &inner);
    if (made->large_count > 0)
        at = (mesh_places){ndim, 3 + 3 * ndim, 4 + 3 * ndim, 3};
    stride = status == PARAPET_OK ? inner->extent : 0;
    for (i = 0; i < ndim && status == PARAPET_OK; i++) {
        int64_t d = dimension(made, &at, i), size = number(made, at.sizes + d);
        dealt mine = deal(size, number(made, at.others + d), number(made, at.others + ndim + d),
                          number(made, at.others + 2 * ndim + d), position_of(made, &at, d));
        status = deal_line(self, &mine, stride, &inner);
        if (status == PARAPET_OK && !pp_multiply_fits(stride, size, &stride))
            return refuse_size();
    }
    return status == PARAPET_OK ? add(self, pattern, (pp_pattern_block){0, 1, 1, 0, inner}) : status;
}

typedef struct constructor {
    int combiner;
    const char *name;
    parapet_status (*add)(reader *self, const contents *made, pp_pattern *pattern);
} constructor;

static const constructor constructors[] = {
    {MPI_COMBINER_DUP, "MPI_Type_dup", add_contiguous},
    {MPI_COMBINER_CONTIGUOUS, "MPI_Type_contiguous", add_contiguous},
    {MPI_COMBINER_RESIZED, "MPI_Type_create_resized", add_contiguous},
    {MPI_COMBINER_VECTOR, "MPI_Type_vector", add_vector},
    {MPI_COMBINER_HVECTOR, "MPI_Type_create_hvector", add_vector},
    {MPI_COMBINER_INDEXED, "MPI_Type_indexed", add_indexed},
    {MPI_COMBINER_HINDEXED, "MPI_Type_create_hindexed", add_indexed},
    {MPI_COMBINER_INDEXED_BLOCK, "MPI_Type_create_indexed_block", add_indexed},
    {MPI_COMBINER_HINDEXED_BLOCK, "MPI_Type_create_hindexed_block", add_indexed},
    {MPI_COMBINER_STRUCT, "MPI_Type_create_struct", add_struct},
    {MPI_COMBINER_SUBARRAY, "MPI_Type_create_subarray", add_subarray},
    {MPI_COMBINER_DARRAY, "MPI_Type_create_darray", add_darray},
};

static const constructor *find_constructor(int combiner)
{
    size_t i;
    for (i = 0; i < sizeof constructors / sizeof constructors[0]; i++)
        if (constructors[i].combiner == combiner)
            return &constructors[i];
    return NULL;
}

static parapet_status read_predefined(reader *self, MPI_Datatype datatype, int combiner, const pp_pattern **pattern)
{
    const pp_element *element = self->element;
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Count bytes = 0, begin = 0, extent = 0;
    int length = 0;
    MPI_Type_size_x(datatype, &bytes);
    MPI_Type_get_extent_x(datatype, &begin, &extent);
    MPI_Type_get_name(datatype, name, &length);
    if (bytes > 0 && !pp_mpi_is_element(datatype, combiner, bytes, element->type, element->bytes))
        return pp_fail(PARAPET_ERR_ARGUMENT,
                       "it is made of %s, of %lld bytes, but the elements of the array are %s, of %zu bytes",
                       name[0] != '\0' ? name : "a predefined datatype", (long long)bytes, element->type_name,
                       element->bytes);
    if (bytes > 0 && extent != bytes)
        return pp_fail(PARAPET_ERR_ARGUMENT, "it is made of %s, which has a hole: %lld bytes have an extent of %lld",
                       name, (long long)bytes, (long long)extent);
    return pp_pattern_run(self->set, (int64_t)bytes, pattern);
}

/* What selects nothing may be made of anything. */
static parapet_status add_blocks(reader *self, MPI_Datatype datatype, contents *made, pp_pattern *pattern)
{
    const constructor *how = find_constructor(made->combiner);
    MPI_Count bytes = 0;
    parapet_status status;
    MPI_Type_size_x(datatype, &bytes);
    if (bytes == 0)
        return PARAPET_OK;
    if (how == NULL)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "it is made in a way that is not known here: MPI combiner %d",
                       made->combiner);
    if ((status = open_contents(made, datatype, self->set->budget)) != PARAPET_OK)
        return status;
    status = how->add(self, made, pattern);
    close_contents(made);
    return status == PARAPET_OK || self->depth > NAMED_DEPTH ? status : pp_fail_within(status, "%s", how->name);
}

static parapet_status read_derived(reader *self, MPI_Datatype datatype, contents *made, const pp_pattern **pattern)
{
    MPI_Count begin = 0, extent = 0, bytes = 0;
    pp_pattern *built;
    parapet_status status = pp_pattern_build(self->set, &built);
    if (status != PARAPET_OK || (status = add_blocks(self, datatype, made, built)) != PARAPET_OK)
        return status;
    MPI_Type_size_x(datatype, &bytes);
    if (built->bytes != (int64_t)bytes)
        return pp_fail(PARAPET_ERR_INTERNAL, "its datatype has %lld bytes for MPI, and %lld were found",
                       (long long)bytes, (long long)built->bytes);
    MPI_Type_get_extent_x(datatype, &begin, &extent);
    pp_pattern_finish(built, (int64_t)extent);
    *pattern = built;
    return PARAPET_OK;
}

static parapet_status read_datatype(reader *self, MPI_Datatype datatype, const pp_pattern **pattern)
{
    contents made = {0};
    parapet_status status = check_mpi(get_envelope(datatype, &made));
    if (status != PARAPET_OK)
        return status;
    if (self->depth >= MAX_DEPTH || ++self->datatype_count > MAX_DATATYPES)
        return pp_fail(PARAPET_ERR_UNSUPPORTED, "more than %d datatypes are nested, or it has more than %d in all",
                       MAX_DEPTH, MAX_DATATYPES);
    if (is_predefined(made.combiner))
        return read_predefined(self, datatype, made.combiner, pattern);
    self->depth++;
    status = read_derived(self, datatype, &made, pattern);
    self->depth--;
    return status;
}

parapet_status pp_datatype_read(pp_patterns *set, const pp_element *element, MPI_Datatype datatype,
                                const pp_pattern **pattern)
{
    reader self = {.set = set, .element = element};
    if (!pp_mpi_is_running())
        return pp_fail(PARAPET_ERR_MPI, "MPI is not initialised, or is finalised");
    if (datatype == MPI_DATATYPE_NULL || datatype == (MPI_Datatype)0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "there is no datatype: it is MPI_DATATYPE_NULL");
    return read_datatype(&self, datatype, pattern);
}
