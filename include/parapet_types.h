/* parapet_types.h - what the other parts speak of: the types of MPI, handles, and the types of elements. A part of
 * parapet.h, which programs include. */
#ifndef PARAPET_TYPES_H
#define PARAPET_TYPES_H

#include <parapet_status.h>

/* The flavour: which MPI the program is compiled with. There is one library per flavour: libparapet-mpich,
 * libparapet-openmpi, libparapet-mpiabi, and libparapet-serial for programs without MPI. The symbols behind
 * parapet_store_open and parapet_array_parts_build contain the name of the flavour, so a program compiled with one
 * MPI does not link with the library of another. The CMake package and the .pc files also define PARAPET_<FLAVOUR>,
 * so such a mixture does not even compile. The flavour mpich covers every MPI that shares MPICH's ABI: Intel MPI,
 * Cray MPICH, MVAPICH. The flavour mpiabi is for the standard ABI of MPI 5, whichever MPI provides it: what mpicc_abi
 * compiles. */
#if defined(PARAPET_SERIAL)
#if defined(MPI_VERSION)
#error "PARAPET_SERIAL is for programs without MPI, but this one includes mpi.h: use parapet-mpich or parapet-openmpi"
#endif
typedef struct parapet_no_mpi *MPI_Comm; /* only MPI_COMM_NULL: this process alone */
typedef struct parapet_no_datatype *MPI_Datatype;
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define PARAPET_FLAVOUR "serial"
#define parapet_store_open parapet_store_open_serial
#define parapet_array_parts_build parapet_array_parts_build_serial
#else
#include <mpi.h>
#if defined(MPI_ABI_VERSION) && !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#if defined(PARAPET_MPICH) || defined(PARAPET_OPENMPI)
#error "these are flags of another flavour, but mpi.h is that of the standard ABI of MPI 5: use parapet-mpiabi"
#endif
#define PARAPET_FLAVOUR "mpiabi"
#define parapet_store_open parapet_store_open_mpiabi
#define parapet_array_parts_build parapet_array_parts_build_mpiabi
#elif defined(PARAPET_MPIABI)
#error "these are the flags of parapet-mpiabi, but mpi.h is not that of the ABI of MPI 5: use mpicc_abi"
#elif defined(OPEN_MPI)
#if defined(PARAPET_MPICH)
#error "these are the flags of parapet-mpich, but mpi.h belongs to Open MPI: use parapet-openmpi, or MPICH's compiler"
#endif
#define PARAPET_FLAVOUR "openmpi"
#define parapet_store_open parapet_store_open_openmpi
#define parapet_array_parts_build parapet_array_parts_build_openmpi
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
#if defined(PARAPET_OPENMPI)
#error "these are the flags of parapet-openmpi, but mpi.h belongs to MPICH: use parapet-mpich, or Open MPI's compiler"
#endif
#define PARAPET_FLAVOUR "mpich"
#define parapet_store_open parapet_store_open_mpich
#define parapet_array_parts_build parapet_array_parts_build_mpich
#else
#error "the ABI of mpi.h is none of Open MPI, MPICH and MPI 5; for programs without MPI, define PARAPET_SERIAL"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of dimensions of an array. An array of 0 dimensions is a scalar. */
#define PARAPET_MAX_NDIM 32

/* ---- Handles ------------------------------------------------------------------------------------------ */

typedef struct parapet_store parapet_store;
typedef struct parapet_group parapet_group;
typedef struct parapet_array parapet_array;

typedef enum parapet_mode {
    PARAPET_READ = 0,   /* the store must exist; nothing is changed */
    PARAPET_UPDATE = 1, /* the store must exist and may be changed */
    PARAPET_CREATE = 2  /* create the store, with a root group, if it does not exist; else as PARAPET_UPDATE */
} parapet_mode;

typedef enum parapet_node_kind {
    PARAPET_NODE_GROUP = 1,
    PARAPET_NODE_ARRAY = 2,
    PARAPET_NODE_INVALID = 3 /* its metadata cannot be understood; opening it tells why */
} parapet_node_kind;

/* Reports the progress of a long call, in bytes. Returning anything but 0 cancels the call. */
typedef int (*parapet_progress_callback)(void *context, int64_t done_bytes, int64_t total_bytes);

/* ---- Types -------------------------------------------------------------------------------------------- */

typedef enum parapet_type {
    PARAPET_TYPE_OF_ARRAY = 0, /* in a part: the type of the array */
    PARAPET_BOOL = 1,
    PARAPET_INT8 = 2,
    PARAPET_INT16 = 3,
    PARAPET_INT32 = 4,
    PARAPET_INT64 = 5,
    PARAPET_UINT8 = 6,
    PARAPET_UINT16 = 7,
    PARAPET_UINT32 = 8,
    PARAPET_UINT64 = 9,
    PARAPET_FLOAT16 = 10,
    PARAPET_FLOAT32 = 11,
    PARAPET_FLOAT64 = 12,
    PARAPET_COMPLEX64 = 13,
    PARAPET_COMPLEX128 = 14,
    PARAPET_BFLOAT16 = 15,
    PARAPET_DATETIME64 = 16,  /* int64 ticks; the unit is in parapet_array_info.type_name */
    PARAPET_TIMEDELTA64 = 17, /* int64 ticks */
    PARAPET_RAW = 18,         /* opaque elements of a fixed number of bytes */
    PARAPET_UTF32 = 19,       /* fixed-length text, 4 bytes a character */
    PARAPET_STRUCT = 20,      /* packed records of a fixed number of bytes */
    PARAPET_VARIABLE = 21     /* variable-length text or bytes: can be opened and listed, not read */
} parapet_type;

/* [local] Returns the Zarr name of a type ("float64"), or NULL if it has no fixed name. */
PARAPET_API const char *parapet_type_name(parapet_type type);

/* [local] Returns the bytes of one element, or 0 if the type alone does not determine them. */
PARAPET_API size_t parapet_type_bytes(parapet_type type);

/* [local] Returns the type with this Zarr name, or PARAPET_TYPE_OF_ARRAY if there is none. */
PARAPET_API parapet_type parapet_type_from_name(const char *name);

#ifdef __cplusplus
}
#endif
#endif
