/* File views of MPI-IO as parts of an array: against MPI itself, byte by byte and file by file. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "datatypes.h"
#include "launch.h"

/* WITHOUT_LARGE_COUNTS: linked as with an MPI that is older than 4. */
#if MPI_VERSION >= 4 && !defined WITHOUT_LARGE_COUNTS
#define HAS_LARGE_COUNTS 1
#else
#define HAS_LARGE_COUNTS 0
#endif

enum { ELEMENT = 8, SHAPES = HAS_LARGE_COUNTS || MPI_VERSION < 4 ? 60 : 6, DATATYPES = 100 };

/* ---- what stands between the library and MPI ---- */

static int answers_left = -1;   /* about datatypes, until MPI fails once; -1: it does not */
static MPI_Datatype unanswered; /* that MPI has said nothing about */
static int unknown_combiner;    /* in place of that of MPI_Type_dup, if it is not 0 */

static bool fails_now(MPI_Datatype datatype)
{
    bool is_now = answers_left >= 0 && answers_left-- == 0;
    unanswered = is_now ? datatype : unanswered;
    return is_now;
}

static int answer(int error, int *combiner)
{
    if (error == MPI_SUCCESS && *combiner == MPI_COMBINER_DUP && unknown_combiner != 0)
        *combiner = unknown_combiner;
    return error;
}

int MPI_Type_get_envelope(MPI_Datatype datatype, int *integers, int *addresses, int *datatypes, int *combiner)
{
    return fails_now(datatype)
               ? MPI_ERR_OTHER
               : answer(PMPI_Type_get_envelope(datatype, integers, addresses, datatypes, combiner), combiner);
}

int MPI_Type_get_contents(MPI_Datatype datatype, int integer_count, int address_count, int datatype_count,
                          int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[])
{
    return fails_now(datatype) ? MPI_ERR_OTHER
                               : PMPI_Type_get_contents(datatype, integer_count, address_count, datatype_count,
                                                        integers, addresses, datatypes);
}

#if HAS_LARGE_COUNTS
int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *integers, MPI_Count *addresses, MPI_Count *large,
                            MPI_Count *datatypes, int *combiner)
{
    return fails_now(datatype)
               ? MPI_ERR_OTHER
               : answer(PMPI_Type_get_envelope_c(datatype, integers, addresses, large, datatypes, combiner),
                        combiner);
}

int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count integer_count, MPI_Count address_count,
                            MPI_Count large_count, MPI_Count datatype_count, int integers[], MPI_Aint addresses[],
                            MPI_Count large[], MPI_Datatype datatypes[])
{
    return fails_now(datatype) ? MPI_ERR_OTHER
                               : PMPI_Type_get_contents_c(datatype, integer_count, address_count, large_count,
                                                          datatype_count, integers, addresses, large, datatypes);
}
#endif

/* ---- Random datatypes ---- */

/* Which byte of the array each packed element begins at, as the parts say; -1: nowhere, -2: twice. */
static void collect_part(const parapet_part *part, const int64_t *shape, const char *data, int64_t *places)
{
    int64_t cell[PARAPET_MAX_NDIM] = {0}, flat, offset;
    int d;
    for (;;) {
        flat = 0;
        offset = (const char *)part->data - data;
        for (d = 0; d < part->ndim; d++) {
            flat = flat * shape[d] + part->start[d] + cell[d];
            offset += cell[d] * part->strides_bytes[d];
        }
        places[offset / ELEMENT] = places[offset / ELEMENT] == -1 ? flat * ELEMENT : -2;
        for (d = part->ndim - 1; d >= 0 && ++cell[d] == part->count[d]; d--)
            cell[d] = 0;
        if (d < 0)
            return;
    }
}

static bool is_inside(const parapet_array_parts *list, const int64_t *shape)
{
    int i, d;
    for (i = 0; i < list->part_count; i++)
        for (d = 0; d < list->parts[i].ndim; d++)
            if (list->parts[i].start[d] < 0 || list->parts[i].count[d] < 1 ||
                list->parts[i].start[d] + list->parts[i].count[d] > shape[d])
                return false;
    return true;
}

/* Whether a file view of these bytes is one that MPI allows, inside the array, of whole elements. */
static bool is_view(const int64_t *bytes, int64_t count, int64_t displacement, int64_t array_bytes)
{
    int64_t i;
    for (i = 0; i < count; i++)
        if (bytes[i] + displacement < 0 || bytes[i] + displacement >= array_bytes ||
            (i > 0 && bytes[i] <= bytes[i - 1]) || (bytes[i] + displacement) % ELEMENT != i % ELEMENT ||
            (i % ELEMENT > 0 && bytes[i] != bytes[i - 1] + 1))
            return false;
    return count % ELEMENT == 0;
}

/* A row of cases: one array, and what became of its views. */
typedef struct bed {
    launch *run;
    parapet_array *array;
    int64_t shape[4], bytes;
    int64_t accepted, refused, parts, elements;
} bed;

static void compare(bed *self, const parapet_array_parts *list, const char *data, const int64_t *bytes, int64_t count,
                    int64_t displacement)
{
    int64_t *places = malloc((size_t)count * sizeof *places + 1), i;
    for (i = 0; i < count / ELEMENT; i++)
        places[i] = -1;
    launch_expect(self->run, is_inside(list, self->shape), "boxes inside the array");
    for (i = 0; i < list->part_count; i++)
        collect_part(&list->parts[i], self->shape, data, places);
    for (i = 0; i < count / ELEMENT; i++)
        if (places[i] != bytes[i * ELEMENT] + displacement) {
            launch_expect(self->run, false, "the elements that MPI selects");
            break;
        }
    self->parts += list->part_count;
    self->elements += count / ELEMENT;
    free(places);
}

static void check_datatype(bed *self, MPI_Datatype datatype, int64_t displacement)
{
    int64_t count, *bytes = datatype_bytes(datatype, &count);
    char *data = malloc((size_t)count + 1);
    parapet_array_parts list;
    parapet_status status = parapet_array_parts_build(&list, self->array, displacement, datatype, data);
    bool is_right = is_view(bytes, count, displacement, self->bytes);
    if (is_right != (status == PARAPET_OK)) {
        printf("accepted by %s: %s\n", is_right ? "MPI" : "Parapet", parapet_error_message());
        launch_expect(self->run, false, "the views that MPI allows");
    }
    if (status == PARAPET_OK && is_right)
        compare(self, &list, data, bytes, count, displacement);
    self->accepted += status == PARAPET_OK;
    self->refused += status != PARAPET_OK;
    parapet_array_parts_free(&list);
    free(data);
    free(bytes);
}

static void open_bed(bed *self, parapet_store *store, draw *from, int number)
{
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = (int)draw_between(from, number == 0 ? 0 : 1, 4), .shape = self->shape};
    char name[32];
    int d;
    (void)snprintf(name, sizeof name, "a%d", number);
    self->bytes = ELEMENT;
    for (d = 0; d < spec.ndim; d++) {
        self->shape[d] = draw_scale(from, spec.ndim == 1 ? 40000 : spec.ndim == 2 ? 300 : 40);
        self->bytes *= self->shape[d];
    }
    LAUNCH_OK(self->run, parapet_array_create(&self->array, store, name, &spec));
}

/* Elements as MPI knows them, or as so many bytes. */
static MPI_Datatype draw_view(draw *from)
{
    const MPI_Datatype predefined[] = {MPI_DOUBLE, MPI_DOUBLE, MPI_REAL8, MPI_DOUBLE_PRECISION};
    int depth = (int)draw_between(from, 0, 4);
    MPI_Datatype bytes;
    if (draw_chance(from, 80))
        return datatype_draw(from, depth, predefined[draw_between(from, 0, 3)]);
    MPI_Type_contiguous(ELEMENT, MPI_BYTE, &bytes);
    return datatype_draw(from, depth, bytes);
}

static void check_random(launch *run, parapet_store *store)
{
    bed self = {.run = run};
    int shape, i;
    for (shape = 0; shape < SHAPES; shape++) {
        draw from = draw_start(20261117 + (uint64_t)run->rank, (uint64_t)shape);
        launch_case_begin(run, (uint64_t)shape);
        open_bed(&self, store, &from, shape);
        for (i = 0; i < DATATYPES; i++) {
            MPI_Datatype datatype = draw_view(&from);
            int64_t displacement = draw_chance(&from, 50) ? ELEMENT * draw_between(&from, 0, 60) : 0;
            check_datatype(&self, datatype, displacement);
            datatype_free(&datatype);
        }
        LAUNCH_OK(run, parapet_array_close(&self.array));
        (void)launch_case_end(run, "random datatypes");
    }
    if (run->rank == 0)
        printf("%lld views of %lld elements in %lld parts; %lld refused\n", (long long)self.accepted,
               (long long)self.elements, (long long)self.parts, (long long)self.refused);
}

/* ---- The shapes of lists ---- */

/* A view of which it is known how many parts it has. */
static void expect_parts(launch *run, parapet_array *array, MPI_Datatype datatype, int parts, const char *what)
{
    static double data[4096];
    parapet_array_parts list;
    parapet_status status = parapet_array_parts_build(&list, array, 0, datatype, data);
    launch_expect(run, status == PARAPET_OK && list.part_count == parts && list.array == array, what);
    if (status != PARAPET_OK || list.part_count != parts)
        printf("%s: %d parts instead of %d: %s\n", what, list.part_count, parts, parapet_error_message());
    parapet_array_parts_free(&list);
    launch_expect(run, list.parts == NULL && list.part_count == 0, "a list that was freed");
    MPI_Type_free(&datatype);
}

static MPI_Datatype make_cyclic(int ranks, int rank, const int *sizes)
{
    int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, processes[2] = {ranks, 1};
    int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype made;
    MPI_Type_create_darray(ranks, rank, 2, sizes, how, arguments, processes, MPI_ORDER_C, MPI_DOUBLE, &made);
    return made;
}

/* What the first of 2 x 2 ranks has, in blocks of 4 x 2. */
static MPI_Datatype make_blocks(const int *sizes)
{
    int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {4, 2}, processes[2] = {2, 2};
    MPI_Datatype made;
    MPI_Type_create_darray(4, 0, 2, sizes, how, arguments, processes, MPI_ORDER_C, MPI_DOUBLE, &made);
    return made;
}

/* Rows of a box, block by block. */
static MPI_Datatype make_rows(int count, int length, int from, int distance)
{
    int lengths[64], places[64], i;
    MPI_Datatype made;
    for (i = 0; i < count; i++) {
        lengths[i] = length;
        places[i] = from + i * distance;
    }
    MPI_Type_indexed(count, lengths, places, MPI_DOUBLE, &made);
    return made;
}

static void check_few_parts(launch *run, parapet_store *store)
{
    int64_t shape[2] = {40, 60};
    int sizes[2] = {40, 60}, counts[2] = {30, 20}, starts[2] = {5, 10};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape};
    parapet_array *array = NULL;
    MPI_Datatype datatype;
    launch_case_begin(run, 1);
    LAUNCH_OK(run, parapet_array_create(&array, store, "few", &spec));
    MPI_Type_create_subarray(2, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &datatype);
    expect_parts(run, array, datatype, 1, "a subarray");
    expect_parts(run, array, make_cyclic(3, 1, sizes), 7, "CYCLIC(2) over 3 ranks");
    expect_parts(run, array, make_blocks(sizes), 5 * 15, "CYCLIC in both dimensions");
    MPI_Type_vector(40, 1, 60, MPI_DOUBLE, &datatype);
    expect_parts(run, array, datatype, 1, "a column");
    MPI_Type_vector(4, 7, 600, MPI_DOUBLE, &datatype);
    expect_parts(run, array, datatype, 4, "every tenth row");
    expect_parts(run, array, make_rows(30, 20, 310, 60), 1, "the rows of a box as blocks");
    expect_parts(run, array, make_rows(1, 200, 50, 0), 3, "a run over four rows");
    expect_parts(run, array, make_rows(1, 2400, 0, 0), 1, "all elements");
    LAUNCH_OK(run, parapet_array_close(&array));
    (void)launch_case_end(run, "few parts where few are possible");
}

/* ---- Refusals ---- */

static void expect_refusal(launch *run, parapet_array *array, int64_t displacement, MPI_Datatype datatype,
                           const char *word)
{
    static char data[4096];
    parapet_array_parts list = {.part_count = 7};
    parapet_status status = parapet_array_parts_build(&list, array, displacement, datatype, data);
    const char *sentence = parapet_error_message();
    launch_expect(run, status != PARAPET_OK && strstr(sentence, word) != NULL, word);
    if (status == PARAPET_OK || strstr(sentence, word) == NULL)
        printf("instead of \"%s\": %s\n", word, sentence);
    launch_expect(run, status == PARAPET_OK || strstr(sentence, "array \"refusals\"") != NULL, "the array is named");
    launch_expect(run, list.parts == NULL && list.part_count == 0, "no parts");
    parapet_array_parts_free(&list);
    if (datatype != MPI_DATATYPE_NULL && datatype != (MPI_Datatype)0)
        datatype_free(&datatype);
}

static MPI_Datatype make_hindexed(int count, int length, MPI_Aint first, MPI_Aint distance, MPI_Datatype inner)
{
    MPI_Aint places[4];
    MPI_Datatype made;
    int i;
    for (i = 0; i < count; i++)
        places[i] = first + i * distance;
    MPI_Type_create_hindexed_block(count, length, places, inner, &made);
    return made;
}

/* Columns beside each other, as memory may have them, but no file view. */
static MPI_Datatype make_columns(void)
{
    MPI_Datatype column, narrow, made;
    MPI_Type_vector(4, 1, 10, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, 8, &narrow);
    MPI_Type_contiguous(3, narrow, &made);
    MPI_Type_free(&column);
    MPI_Type_free(&narrow);
    return made;
}

static MPI_Datatype make_deep(int depth)
{
    MPI_Datatype inner = MPI_DOUBLE, made = MPI_DOUBLE;
    int i;
    for (i = 0; i < depth; i++) {
        MPI_Type_dup(inner, &made);
        datatype_free(&inner);
        inner = made;
    }
    return made;
}

static MPI_Datatype make_padded(void)
{
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype inner[2] = {MPI_FLOAT, MPI_DOUBLE}, made;
    MPI_Type_create_struct(2, lengths, places, inner, &made);
    return made;
}

/* One element, and then nothing as far as 2^61 bytes. */
static MPI_Datatype make_wide(void)
{
    MPI_Datatype made;
    MPI_Type_create_resized(MPI_DOUBLE, 0, (MPI_Aint)1 << 61, &made);
    return made;
}

/* An element of an array of one or two dimensions of such elements. */
static MPI_Datatype make_wide_subarray(int ndim, int start)
{
    int sizes[2] = {16, 16}, counts[2] = {1, 1}, starts[2] = {start, start};
    MPI_Datatype wide = make_wide(), made;
    MPI_Type_create_subarray(ndim, sizes, counts, starts, MPI_ORDER_C, wide, &made);
    MPI_Type_free(&wide);
    return made;
}

static MPI_Datatype make_wide_darray(int ndim, int ranks, int rank)
{
    int sizes[2] = {16, 16}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, processes[2] = {ranks, 1};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype wide = make_wide(), made;
    MPI_Type_create_darray(ranks, rank, ndim, sizes, how, arguments, processes, MPI_ORDER_C, wide, &made);
    MPI_Type_free(&wide);
    return made;
}

static MPI_Datatype make_wide_vector(void)
{
    MPI_Datatype wide = make_wide(), made;
    MPI_Type_vector(2, 1, 8, wide, &made);
    MPI_Type_free(&wide);
    return made;
}

static MPI_Datatype make_wide_indexed(void)
{
    int length = 1, place = 8;
    MPI_Datatype wide = make_wide(), made;
    MPI_Type_indexed(1, &length, &place, wide, &made);
    MPI_Type_free(&wide);
    return made;
}

/* Places that only more than 64 bits can tell. */
static void check_wide(launch *run, parapet_array *array)
{
    expect_refusal(run, array, 0, make_wide_vector(), "64 bits");
    expect_refusal(run, array, 0, make_wide_indexed(), "64 bits");
    expect_refusal(run, array, 0, make_wide_subarray(1, 8), "64 bits");
    expect_refusal(run, array, 0, make_wide_subarray(2, 0), "64 bits");
    expect_refusal(run, array, 0, make_wide_darray(1, 2, 1), "64 bits");
    expect_refusal(run, array, 0, make_wide_darray(2, 1, 0), "64 bits");
    expect_refusal(run, array, 0, make_wide_darray(1, 16, 0), "64 bits");
}

static void check_types(launch *run, parapet_array *array)
{
    expect_refusal(run, array, 0, MPI_FLOAT,
                   "it is made of MPI_FLOAT, of 4 bytes, but the elements of the array are float64");
    expect_refusal(run, array, 0, MPI_INT64_T, "MPI_INT64_T");
    expect_refusal(run, array, 0, MPI_2INT, "MPI_2INT");
    expect_refusal(run, array, 0, MPI_C_FLOAT_COMPLEX, "COMPLEX");
    expect_refusal(run, array, 0, make_padded(), "MPI_Type_create_struct: it is made of MPI_FLOAT");
    expect_refusal(run, array, 0, MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
    expect_refusal(run, array, 0, (MPI_Datatype)0, "MPI_DATATYPE_NULL");
    expect_refusal(run, array, 0, MPI_BYTE, "whole elements of 8 bytes");
    expect_refusal(run, array, 0, make_hindexed(2, 4, 0, 8, MPI_BYTE), "whole elements of 8 bytes");
    expect_refusal(run, array, 4, MPI_DOUBLE, "whole elements of 8 bytes");
    expect_refusal(run, array, 0, make_hindexed(2, 1, 0, 12, MPI_DOUBLE), "whole elements of 8 bytes");
}

static void check_places(launch *run, parapet_array *array)
{
    expect_refusal(run, array, -8, MPI_DOUBLE, "negative");
    expect_refusal(run, array, 320, MPI_DOUBLE, "leaves the array, which has 320 bytes");
    expect_refusal(run, array, INT64_MAX, MPI_DOUBLE, "leaves the array");
    expect_refusal(run, array, 0, make_hindexed(2, 1, -8, 16, MPI_DOUBLE), "leaves the array");
    expect_refusal(run, array, 0, make_hindexed(3, 1, 0, 160, MPI_DOUBLE), "bytes 0 to 328");
    expect_refusal(run, array, 0, make_hindexed(2, 2, 0, 8, MPI_DOUBLE), "block 1 begins 8 bytes before the end");
    expect_refusal(run, array, 0, make_hindexed(2, 1, 80, -80, MPI_DOUBLE), "ascending");
    expect_refusal(run, array, 0, make_hindexed(2, 1, 80, 0, MPI_DOUBLE), "each byte once");
    expect_refusal(run, array, 0, make_columns(), "ascending");
    expect_refusal(run, array, 0, make_hindexed(2, 1, INT64_MAX / 2, INT64_MAX / 2, MPI_DOUBLE), "64 bits");
    expect_refusal(run, array, 0, make_hindexed(2, 1, -INT64_MAX / 2, INT64_MAX / 4 * 3, MPI_DOUBLE),
                   "leaves the array");
    expect_refusal(run, array, 0, make_deep(300), "nested");
    unknown_combiner = 9999;
    expect_refusal(run, array, 0, make_deep(1), "not known here: MPI combiner 9999");
    unknown_combiner = 0;
}

static void check_refusals(launch *run, parapet_store *store)
{
    int64_t shape[2] = {4, 10};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape};
    parapet_array_parts list;
    parapet_array *array = NULL;
    launch_case_begin(run, 2);
    LAUNCH_OK(run, parapet_array_create(&array, store, "refusals", &spec));
    check_types(run, array);
    check_places(run, array);
    check_wide(run, array);
    launch_expect(run, parapet_array_parts_build(NULL, array, 0, MPI_DOUBLE, NULL) == PARAPET_ERR_ARGUMENT,
                  "no list");
    launch_expect(run, parapet_array_parts_build(&list, NULL, 0, MPI_DOUBLE, NULL) == PARAPET_ERR_ARGUMENT,
                  "no array");
    launch_expect(run, parapet_array_parts_build(&list, array, 0, MPI_DOUBLE, NULL) == PARAPET_ERR_ARGUMENT,
                  "no data");
    parapet_array_parts_free(NULL);
    LAUNCH_OK(run, parapet_array_close(&array));
    (void)launch_case_end(run, "refusals");
}

/* ---- Types of elements ---- */

typedef struct fit {
    parapet_type type;
    MPI_Datatype fits, differs;
} fit;

static void check_fit(launch *run, parapet_store *store, const fit *one, int number)
{
    int64_t shape[1] = {4};
    char name[32];
    parapet_array_spec spec = {.type = one->type, .ndim = 1, .shape = shape};
    parapet_array_parts list;
    parapet_array *array = NULL;
    (void)snprintf(name, sizeof name, "fit%d", number);
    LAUNCH_OK(run, parapet_array_create(&array, store, name, &spec));
    LAUNCH_OK(run, parapet_array_parts_build(&list, array, 0, one->fits, name));
    launch_expect(run, list.part_count == 1, "one part");
    parapet_array_parts_free(&list);
    launch_expect(run, parapet_array_parts_build(&list, array, 0, one->differs, name) == PARAPET_ERR_ARGUMENT,
                  "another type");
    LAUNCH_OK(run, parapet_array_close(&array));
}

/* What Fortran programs choose by digits; an MPI without Fortran has none of these. */
static void check_fits_of_fortran(launch *run, parapet_store *store, int number)
{
    fit integer = {.type = PARAPET_INT32, .differs = MPI_FLOAT}, real = {.type = PARAPET_FLOAT64, .differs = MPI_INT},
        complex = {.type = PARAPET_COMPLEX64, .differs = MPI_INT};
    if (MPI_Type_create_f90_integer(9, &integer.fits) != MPI_SUCCESS ||
        MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real.fits) != MPI_SUCCESS ||
        MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex.fits) != MPI_SUCCESS)
        return;
    check_fit(run, store, &integer, number);
    check_fit(run, store, &real, number + 1);
    check_fit(run, store, &complex, number + 2);
    real.differs = integer.fits;
    check_fit(run, store, &real, number + 3);
}

/* An element of any type may be given as so many bytes. */
static void check_fits_of_bytes(launch *run, parapet_store *store, int number)
{
    const struct {
        parapet_type type;
        int bytes;
    } all[] = {{PARAPET_INT32, 4},   {PARAPET_UINT64, 8},    {PARAPET_FLOAT16, 2},
               {PARAPET_FLOAT32, 4}, {PARAPET_COMPLEX64, 8}, {PARAPET_COMPLEX128, 16}};
    int i;
    for (i = 0; i < (int)(sizeof all / sizeof all[0]); i++) {
        fit one = {.type = all[i].type, .differs = MPI_C_BOOL};
        MPI_Type_contiguous(all[i].bytes, MPI_BYTE, &one.fits);
        check_fit(run, store, &one, number + i);
        MPI_Type_free(&one.fits);
    }
}

static void check_fits(launch *run, parapet_store *store)
{
    const fit all[] = {
        {PARAPET_BOOL, MPI_C_BOOL, MPI_INT8_T},
        {PARAPET_INT8, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR},
        {PARAPET_INT32, MPI_INT, MPI_FLOAT},
        {PARAPET_INT32, MPI_INTEGER, MPI_INT16_T},
        {PARAPET_UINT8, MPI_UNSIGNED_CHAR, MPI_SIGNED_CHAR},
        {PARAPET_UINT64, MPI_UINT64_T, MPI_INT64_T},
        {PARAPET_UINT8, MPI_CHAR, MPI_SHORT},
        {PARAPET_FLOAT32, MPI_REAL, MPI_DOUBLE},
        {PARAPET_FLOAT64, MPI_DOUBLE_PRECISION, MPI_LONG_DOUBLE},
        {PARAPET_FLOAT16, MPI_UINT16_T, MPI_FLOAT},
        {PARAPET_COMPLEX64, MPI_C_FLOAT_COMPLEX, MPI_DOUBLE},
        {PARAPET_COMPLEX128, MPI_DOUBLE_COMPLEX, MPI_FLOAT},
        {PARAPET_DATETIME64, MPI_INT64_T, MPI_DOUBLE},
        {PARAPET_INT64, MPI_OFFSET, MPI_UNSIGNED_LONG},
        {PARAPET_BOOL, MPI_BYTE, MPI_LOGICAL},
        {PARAPET_BOOL, MPI_CXX_BOOL, MPI_CHAR},
        {PARAPET_FLOAT32, MPI_REAL4, MPI_INT},
        {PARAPET_FLOAT64, MPI_REAL8, MPI_2INT},
        {PARAPET_FLOAT64, MPI_DOUBLE, MPI_INTEGER8},
        {PARAPET_FLOAT16, MPI_INT16_T, MPI_C_BOOL},
        {PARAPET_BFLOAT16, MPI_UNSIGNED_SHORT, MPI_DOUBLE},
        {PARAPET_COMPLEX64, MPI_COMPLEX, MPI_2REAL},
        {PARAPET_COMPLEX64, MPI_COMPLEX8, MPI_INT64_T},
        {PARAPET_COMPLEX128, MPI_C_DOUBLE_COMPLEX, MPI_2DOUBLE_PRECISION},
        {PARAPET_UINT16, MPI_UINT16_T, MPI_SHORT},
        {PARAPET_INT64, MPI_INTEGER8, MPI_FLOAT_INT},
    };
    int i;
    launch_case_begin(run, 3);
    for (i = 0; i < (int)(sizeof all / sizeof all[0]); i++)
        check_fit(run, store, &all[i], i);
    check_fits_of_bytes(run, store, i);
    check_fits_of_fortran(run, store, i + 10);
    (void)launch_case_end(run, "types of elements");
}

/* A block of length 0 between two others, with the type of the second: that of the first is not meant. */
static void check_empty_block(launch *run, parapet_store *store)
{
    int64_t shape[1] = {20};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape};
    int lengths[3] = {8, 0, 8};
    MPI_Aint places[3] = {0, 8, 8};
    MPI_Datatype inner[3] = {MPI_BYTE, MPI_DOUBLE, MPI_DOUBLE}, datatype;
    parapet_array_parts list = {0};
    parapet_array *array = NULL;
    double data[9];
    launch_case_begin(run, 4);
    LAUNCH_OK(run, parapet_array_create(&array, store, "numbers", &spec));
    MPI_Type_create_struct(3, lengths, places, inner, &datatype);
    LAUNCH_OK(run, parapet_array_parts_build(&list, array, 0, datatype, data));
    launch_expect(run, list.part_count == 1 && list.parts[0].count[0] == 9, "all nine elements");
    parapet_array_parts_free(&list);
    MPI_Type_free(&datatype);
    LAUNCH_OK(run, parapet_array_close(&array));
    (void)launch_case_end(run, "an empty block");
}

/* Elements of several fields, of bytes, and pairs of real numbers for complex ones. */
static void check_compound(launch *run, parapet_store *store)
{
    int64_t shape[1] = {5};
    parapet_array_spec raw = {.type = PARAPET_RAW, .ndim = 1, .shape = shape, .element_bytes = 12},
                       complex = {.type = PARAPET_COMPLEX64, .ndim = 1, .shape = shape};
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 4};
    MPI_Datatype inner[2] = {MPI_FLOAT, MPI_DOUBLE}, field, datatype;
    parapet_array_parts list;
    parapet_array *array = NULL;
    launch_case_begin(run, 4);
    LAUNCH_OK(run, parapet_array_create(&array, store, "records", &raw));
    MPI_Type_create_struct(2, lengths, places, inner, &field);
    MPI_Type_create_resized(field, 0, 12, &datatype); /* MPI pads what is not aligned */
    MPI_Type_free(&field);
    field = datatype;
    MPI_Type_vector(2, 2, 3, field, &datatype);
    expect_parts(run, array, datatype, 2, "records");
    MPI_Type_contiguous(24, MPI_BYTE, &datatype);
    expect_parts(run, array, datatype, 1, "bytes");
    MPI_Type_free(&field);
    launch_expect(run,
                  parapet_array_parts_build(&list, array, 0, MPI_DOUBLE_INT, &list) == PARAPET_ERR_ARGUMENT &&
                      strstr(parapet_error_message(), "which has a hole") != NULL,
                  "12 bytes that take 16");
    LAUNCH_OK(run, parapet_array_close(&array));
    LAUNCH_OK(run, parapet_array_create(&array, store, "complex", &complex));
    MPI_Type_vector(3, 2, 4, MPI_FLOAT, &datatype);
    expect_parts(run, array, datatype, 3, "pairs");
    LAUNCH_OK(run, parapet_array_close(&array));
    (void)launch_case_end(run, "elements of several fields");
}

/* ---- Memory ---- */

static int refuse_at(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

/* Each allocation fails in turn; nothing is left behind. */
static void check_no_memory(launch *run, parapet_array *array, MPI_Datatype datatype)
{
    static char data[1];
    parapet_array_parts list;
    long live = pp_memory_live_count();
    parapet_status status = PARAPET_ERR_MEMORY;
    int place, left;
    for (place = 0; place < 100 && status == PARAPET_ERR_MEMORY; place++) {
        left = place;
        pp_memory_hook_set(refuse_at, &left);
        status = parapet_array_parts_build(&list, array, 0, datatype, data);
        pp_memory_hook_set(NULL, NULL);
        parapet_array_parts_free(&list);
        launch_expect(run, pp_memory_live_count() == live, "all memory is freed");
    }
    launch_expect(run, status == PARAPET_OK && place > 5, "success at last");
}

static void check_memory(launch *run)
{
    int64_t shape[1] = {INT64_C(1) << 30};
    int sizes[2] = {30, 40};
    parapet_store_options options = {.memory_bytes = 16 << 20};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    MPI_Datatype many;
    launch_case_begin(run, 5);
    LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_SELF, "memory:small", PARAPET_CREATE, &options));
    LAUNCH_OK(run, parapet_array_create(&array, store, "refusals", &spec));
    MPI_Type_vector(1 << 29, 1, 2, MPI_DOUBLE, &many);
    expect_refusal(run, array, 0, many, "memory_bytes");
    many = make_cyclic(3, 2, sizes);
    check_no_memory(run, array, many);
    MPI_Type_free(&many);
    LAUNCH_OK(run, parapet_array_close(&array));
    LAUNCH_OK(run, parapet_store_close(&store));
    (void)launch_case_end(run, "little memory");
}

/* ---- MPI that fails ---- */

/* Each answer of MPI fails in turn: then there is a sentence and no list, unless it was only about what to free. */
static void check_answers(launch *run, parapet_array *array, MPI_Datatype datatype)
{
    static double data[64];
    parapet_array_parts list;
    long live = pp_memory_live_count();
    int place, refused = 0, left = -1;
    for (place = 0; place < 100 && left < 0; place++) {
        parapet_status status;
        answers_left = place;
        status = parapet_array_parts_build(&list, array, 0, datatype, data);
        left = answers_left;
        answers_left = -1;
        launch_expect(run, status == PARAPET_OK || status == PARAPET_ERR_MPI, "a list, or an error of MPI");
        launch_expect(run, status == PARAPET_OK || strstr(parapet_error_message(), "MPI failed with error") != NULL,
                      "its sentence");
        launch_expect(run, (list.parts != NULL) == (status == PARAPET_OK), "a list only with a success");
        refused += status != PARAPET_OK;
        if (status == PARAPET_OK && left < 0)
            datatype_free(&unanswered); /* which nobody could know */
        parapet_array_parts_free(&list);
        launch_expect(run, pp_memory_live_count() == live, "all memory is freed");
    }
    launch_expect(run, left >= 0 && refused >= 4, "several failures, and a success at last");
}

static void check_failing_mpi(launch *run, parapet_store *store)
{
    int64_t shape[2] = {4, 10};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape};
    parapet_array *array = NULL;
    MPI_Datatype row, rows;
    launch_case_begin(run, 8);
    LAUNCH_OK(run, parapet_array_create(&array, store, "failing", &spec));
    MPI_Type_contiguous(4, MPI_DOUBLE, &row);
    MPI_Type_create_hvector(3, 1, 80, row, &rows);
    check_answers(run, array, rows);
    MPI_Type_free(&row);
    MPI_Type_free(&rows);
    LAUNCH_OK(run, parapet_array_close(&array));
    (void)launch_case_end(run, "MPI that does not say how a datatype is made");
}

/* ---- Files ---- */

enum { ROWS = 37, COLUMNS = 23, MEMORY = ROWS * COLUMNS };

/* What a rank holds, and its number of elements. */
static int fill_memory(const launch *run, MPI_Datatype datatype, double *memory)
{
    int bytes, i;
    MPI_Type_size(datatype, &bytes);
    for (i = 0; i < bytes / ELEMENT; i++)
        memory[i] = 1000 * run->rank + i;
    return bytes / ELEMENT;
}

static void write_file(const launch *run, const char *path, MPI_Datatype datatype, const double *memory, int count)
{
    MPI_File file;
    (void)run;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, datatype, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, memory, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void write_array(launch *run, parapet_array *array, MPI_Datatype datatype, double *memory)
{
    parapet_array_parts list;
    LAUNCH_OK(run, parapet_array_parts_build(&list, array, 0, datatype, memory));
    LAUNCH_OK(run, parapet_array_write(array, list.parts, list.part_count));
    parapet_array_parts_free(&list);
}

/* The file holds the elements of the array in C order. */
static void compare_file(launch *run, const char *path, parapet_array *array)
{
    static double from_file[MEMORY], from_array[MEMORY];
    int64_t start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    parapet_part whole = {.ndim = 2, .start = start, .count = count, .data = from_array};
    FILE *file = fopen(path, "rb");
    LAUNCH_OK(run, parapet_array_read(array, &whole, 1));
    launch_expect(run, file != NULL && fread(from_file, sizeof from_file, 1, file) == 1,
                  "a file of the array's bytes");
    launch_expect(run, memcmp(from_file, from_array, sizeof from_file) == 0, "the same as MPI-IO");
    if (file != NULL)
        (void)fclose(file);
}

/* Reads the view of the next rank, by itself in another order of ranks, and compares it with what MPI-IO reads. */
static void compare_views(launch *run, const char *path, parapet_array *array, MPI_Datatype datatype)
{
    static double from_file[MEMORY], from_array[MEMORY];
    parapet_array_parts list;
    int bytes;
    MPI_File file;
    MPI_Type_size(datatype, &bytes);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, datatype, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, from_file, bytes / ELEMENT, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    LAUNCH_OK(run, parapet_array_parts_build(&list, array, 0, datatype, from_array));
    LAUNCH_OK(run, parapet_array_read(array, list.parts, list.part_count));
    launch_expect(run, memcmp(from_file, from_array, (size_t)bytes) == 0, "the view as MPI-IO reads it");
    parapet_array_parts_free(&list);
}

static void check_files(launch *run)
{
    static double memory[MEMORY];
    int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {10, 7};
    int sizes[2] = {ROWS, COLUMNS};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks};
    MPI_Datatype mine = make_cyclic(run->ranks, run->rank, sizes),
                 other = make_cyclic(run->ranks, (run->rank + 1) % run->ranks, sizes);
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    char path[640], file[640];
    launch_case_begin(run, 6);
    (void)snprintf(path, sizeof path, "%s/store", run->folder);
    (void)snprintf(file, sizeof file, "%s/file", run->folder);
    MPI_Type_commit(&mine);
    MPI_Type_commit(&other);
    LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, NULL));
    LAUNCH_OK(run, parapet_array_create(&array, store, "a", &spec));
    write_file(run, file, mine, memory, fill_memory(run, mine, memory));
    write_array(run, array, mine, memory);
    compare_file(run, file, array);
    compare_views(run, file, array, other);
    MPI_Type_free(&mine);
    MPI_Type_free(&other);
    LAUNCH_OK(run, parapet_array_close(&array));
    LAUNCH_OK(run, parapet_store_close(&store));
    (void)launch_case_end(run, "the same view of a file and of an array");
}

/* ---- Large counts ---- */

#if HAS_LARGE_COUNTS
static void check_large(launch *run, parapet_store *store)
{
    int64_t shape[2] = {40, 60};
    int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, processes[2] = {3, 1};
    int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Count sizes[2] = {40, 60}, counts[2] = {30, 20}, starts[2] = {5, 10}, lengths[2] = {3, 3},
              places[2] = {0, 480};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape};
    bed self = {.run = run, .shape = {40, 60}, .bytes = 8 * 40 * 60};
    MPI_Datatype made[5];
    int i;
    launch_case_begin(run, 7);
    LAUNCH_OK(run, parapet_array_create(&self.array, store, "large", &spec));
    MPI_Type_vector_c(4, 7, 600, MPI_DOUBLE, &made[0]);
    MPI_Type_create_subarray_c(2, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &made[1]);
    MPI_Type_create_darray_c(3, 1, 2, sizes, how, arguments, processes, MPI_ORDER_FORTRAN, MPI_DOUBLE, &made[2]);
    MPI_Type_create_hindexed_c(2, lengths, places, MPI_DOUBLE, &made[3]);
    MPI_Type_create_resized_c(MPI_DOUBLE, 0, 16, &made[4]);
    for (i = 0; i < 5; i++) {
        check_datatype(&self, made[i], 0);
        MPI_Type_free(&made[i]);
    }
    launch_expect(run, self.accepted == 5, "all of them");
    LAUNCH_OK(run, parapet_array_close(&self.array));
    (void)launch_case_end(run, "datatypes of large counts");
}
#endif

/* Whether datatypes are refused when there is no MPI to ask. */
static bool refuses_without_mpi(void)
{
    int64_t shape[1] = {4};
    double data[4];
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 1, .shape = shape};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_array_parts list;
    bool is_refused = parapet_store_open(&store, MPI_COMM_NULL, "memory:late", PARAPET_CREATE, NULL) == PARAPET_OK &&
                      parapet_array_create(&array, store, "a", &spec) == PARAPET_OK &&
                      parapet_array_parts_build(&list, array, 0, MPI_DOUBLE, data) == PARAPET_ERR_MPI &&
                      strstr(parapet_error_message(), "finalised") != NULL;
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    if (!is_refused)
        fprintf(stderr, "after MPI_Finalize: %s\n", parapet_error_message());
    return is_refused;
}

int main(int argc, char **argv)
{
    parapet_store *store = NULL;
    launch run;
    int failed;
    launch_start(&run, &argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    LAUNCH_OK(&run, parapet_store_open(&store, MPI_COMM_SELF, "memory:views", PARAPET_CREATE, NULL));
    check_random(&run, store);
    check_few_parts(&run, store);
    check_refusals(&run, store);
    check_fits(&run, store);
    check_compound(&run, store);
    check_empty_block(&run, store);
    check_failing_mpi(&run, store);
#if HAS_LARGE_COUNTS
    check_large(&run, store);
#endif
    LAUNCH_OK(&run, parapet_store_close(&store));
    check_memory(&run);
    check_files(&run);
    failed = launch_finish(&run);
    return failed != 0 || !refuses_without_mpi();
}
