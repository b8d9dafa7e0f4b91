/* mpi_predefined.c - which predefined datatypes of MPI have the elements of which arrays. */
#include "comm/mpi_internal.h"

/* What the bits of a datatype mean. Its size is asked of MPI. */
typedef enum meaning {
    UNKNOWN, /* of a newer MPI, or of this one alone: only its size can be compared */
    BYTES,
    SIGNED,
    UNSIGNED,
    EITHER, /* Fortran has no unsigned integers, and stores bits in others; in C, a char */
    REAL,
    COMPLEX,
    LOGICAL,
    PAIR
} meaning;

typedef struct known {
    MPI_Datatype datatype;
    meaning means;
} known;

static meaning find(const known *table, size_t count, MPI_Datatype datatype)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (table[i].datatype == datatype)
            return table[i].means;
    return UNKNOWN;
}

static meaning find_integer(MPI_Datatype datatype)
{
    const known table[] = {
        {MPI_SIGNED_CHAR, SIGNED},
        {MPI_SHORT, SIGNED},
        {MPI_INT, SIGNED},
        {MPI_LONG, SIGNED},
        {MPI_LONG_LONG, SIGNED},
        {MPI_INT8_T, SIGNED},
        {MPI_INT16_T, SIGNED},
        {MPI_INT32_T, SIGNED},
        {MPI_INT64_T, SIGNED},
        {MPI_AINT, SIGNED},
        {MPI_OFFSET, SIGNED},
        {MPI_COUNT, SIGNED},
        {MPI_UNSIGNED_CHAR, UNSIGNED},
        {MPI_UNSIGNED_SHORT, UNSIGNED},
        {MPI_UNSIGNED, UNSIGNED},
        {MPI_UNSIGNED_LONG, UNSIGNED},
        {MPI_UNSIGNED_LONG_LONG, UNSIGNED},
        {MPI_UINT8_T, UNSIGNED},
        {MPI_UINT16_T, UNSIGNED},
        {MPI_UINT32_T, UNSIGNED},
        {MPI_UINT64_T, UNSIGNED},
        {MPI_CHAR, EITHER},
        {MPI_WCHAR, EITHER},
    };
    return find(table, sizeof table / sizeof table[0], datatype);
}

static meaning find_other(MPI_Datatype datatype)
{
    const known table[] = {
        {MPI_BYTE, BYTES},
        {MPI_PACKED, BYTES},
        {MPI_FLOAT, REAL},
        {MPI_DOUBLE, REAL},
        {MPI_LONG_DOUBLE, REAL},
        {MPI_C_FLOAT_COMPLEX, COMPLEX},
        {MPI_C_DOUBLE_COMPLEX, COMPLEX},
        {MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX},
        {MPI_CXX_FLOAT_COMPLEX, COMPLEX},
        {MPI_CXX_DOUBLE_COMPLEX, COMPLEX},
        {MPI_C_BOOL, LOGICAL},
        {MPI_CXX_BOOL, LOGICAL},
    };
    return find(table, sizeof table / sizeof table[0], datatype);
}

static meaning find_of_fortran(MPI_Datatype datatype)
{
    const known table[] = {
        {MPI_INTEGER, EITHER},    {MPI_INTEGER1, EITHER},        {MPI_INTEGER2, EITHER}, {MPI_INTEGER4, EITHER},
        {MPI_INTEGER8, EITHER},   {MPI_CHARACTER, EITHER},       {MPI_REAL, REAL},       {MPI_REAL4, REAL},
        {MPI_REAL8, REAL},        {MPI_DOUBLE_PRECISION, REAL},  {MPI_COMPLEX, COMPLEX}, {MPI_COMPLEX8, COMPLEX},
        {MPI_COMPLEX16, COMPLEX}, {MPI_DOUBLE_COMPLEX, COMPLEX}, {MPI_LOGICAL, LOGICAL},
    };
    return find(table, sizeof table / sizeof table[0], datatype);
}

static meaning find_pair(MPI_Datatype datatype)
{
    const known table[] = {
        {MPI_FLOAT_INT, PAIR},         {MPI_DOUBLE_INT, PAIR}, {MPI_LONG_INT, PAIR},        {MPI_2INT, PAIR},
        {MPI_SHORT_INT, PAIR},         {MPI_2INTEGER, PAIR},   {MPI_LONG_DOUBLE_INT, PAIR}, {MPI_2REAL, PAIR},
        {MPI_2DOUBLE_PRECISION, PAIR},
    };
    return find(table, sizeof table / sizeof table[0], datatype);
}

static meaning meaning_of(MPI_Datatype datatype, int combiner)
{
    meaning found;
    if (combiner == MPI_COMBINER_F90_INTEGER)
        return EITHER;
    if (combiner == MPI_COMBINER_F90_REAL)
        return REAL;
    if (combiner == MPI_COMBINER_F90_COMPLEX)
        return COMPLEX;
    if ((found = find_integer(datatype)) != UNKNOWN || (found = find_other(datatype)) != UNKNOWN ||
        (found = find_of_fortran(datatype)) != UNKNOWN)
        return found;
    return find_pair(datatype);
}

static bool is_integer_of(meaning means, parapet_type type)
{
    bool is_unsigned = type >= PARAPET_UINT8 && type <= PARAPET_UINT64;
    return means == EITHER || means == (is_unsigned ? UNSIGNED : SIGNED);
}

bool pp_mpi_is_element(MPI_Datatype datatype, int combiner, MPI_Count bytes, parapet_type type, size_t element_bytes)
{
    meaning means = meaning_of(datatype, combiner);
    bool is_size = bytes == (MPI_Count)element_bytes;
    switch (type) {
    case PARAPET_RAW:
    case PARAPET_UTF32:
    case PARAPET_STRUCT:
        return true;
    case PARAPET_BOOL:
        return means == BYTES || (is_size && (means == LOGICAL || means == UNKNOWN));
    case PARAPET_FLOAT32:
    case PARAPET_FLOAT64:
        return means == BYTES || (is_size && (means == REAL || means == UNKNOWN));
    case PARAPET_FLOAT16:
    case PARAPET_BFLOAT16: /* their bits are kept in integers */
        return means == BYTES || (is_size && means != LOGICAL && means != PAIR);
    case PARAPET_COMPLEX64:
    case PARAPET_COMPLEX128:
        return means == BYTES || (is_size && (means == COMPLEX || means == UNKNOWN)) ||
               (2 * bytes == (MPI_Count)element_bytes && means == REAL);
    default:
        return means == BYTES || (is_size && (means == UNKNOWN || is_integer_of(means, type)));
    }
}
