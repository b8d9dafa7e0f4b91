! Every type and number of dimensions through strided sections: written, read back, and left for check_elements.c.
!
!     conformance STORE
!
! Along the memory, the elements of an array are 1, 2, 3, ..., modulo 97; for logical, whether that is odd.
module conformance_types
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use parapet
  implicit none
  integer, parameter :: full(7) = [3, 2, 4, 2, 3, 2, 2]
  type(parapet_array) :: array

contains

#define DIFFERS(a, b) any((a) /= (b))

  subroutine check_int8(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE integer(int8)
#define CONVERT(i) int(i, int8)
#define CODE PARAPET_INT8
#define LABEL "int8"
#include "conformance_ranks.inc"
  end subroutine check_int8

  subroutine check_int16(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE integer(int16)
#define CONVERT(i) int(i, int16)
#define CODE PARAPET_INT16
#define LABEL "int16"
#include "conformance_ranks.inc"
  end subroutine check_int16

  subroutine check_int32(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE integer(int32)
#define CONVERT(i) int(i, int32)
#define CODE PARAPET_INT32
#define LABEL "int32"
#include "conformance_ranks.inc"
  end subroutine check_int32

  subroutine check_int64(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE integer(int64)
#define CONVERT(i) int(i, int64)
#define CODE PARAPET_INT64
#define LABEL "int64"
#include "conformance_ranks.inc"
  end subroutine check_int64

  ! Fortran has no unsigned integers: their bits travel in signed ones.
  subroutine check_uint16(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE integer(int16)
#define CONVERT(i) int(i, int16)
#define CODE PARAPET_UINT16
#define LABEL "uint16"
#include "conformance_ranks.inc"
  end subroutine check_uint16

  subroutine check_float32(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE real(real32)
#define CONVERT(i) real(i, real32)
#define CODE PARAPET_FLOAT32
#define LABEL "float32"
#include "conformance_ranks.inc"
  end subroutine check_float32

  subroutine check_float64(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE real(real64)
#define CONVERT(i) real(i, real64)
#define CODE PARAPET_FLOAT64
#define LABEL "float64"
#include "conformance_ranks.inc"
  end subroutine check_float64

  subroutine check_complex64(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE complex(real32)
#define CONVERT(i) cmplx(i, -(i), real32)
#define CODE PARAPET_COMPLEX64
#define LABEL "complex64"
#include "conformance_ranks.inc"
  end subroutine check_complex64

  subroutine check_complex128(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE complex(real64)
#define CONVERT(i) cmplx(i, -(i), real64)
#define CODE PARAPET_COMPLEX128
#define LABEL "complex128"
#include "conformance_ranks.inc"
  end subroutine check_complex128

#undef DIFFERS
#define DIFFERS(a, b) any((a) .neqv. (b))

  subroutine check_bool(store)
    type(parapet_store), intent(in) :: store
    integer :: i
#define TYPE logical(c_bool)
#define CONVERT(i) logical(modulo(i, 2) == 1, c_bool)
#define CODE PARAPET_BOOL
#define LABEL "bool"
#include "conformance_ranks.inc"
  end subroutine check_bool

#if defined(HAS_ASSUMED_RANK)
  subroutine check_scalar(store)
    type(parapet_store), intent(in) :: store
    real(real64) :: value
    call array%create(store, "float64_0", PARAPET_FLOAT64, shape=[integer ::])
    call array%write(1.0_real64)
    call array%read(value)
    call array%close()
    if (value /= 1) error stop "a scalar is another after reading"
  end subroutine check_scalar
#endif

end module conformance_types

program conformance
  use conformance_types
  implicit none
  type(parapet_store) :: store
  character(1000) :: path
  call get_command_argument(1, path)
  call store%open(path, mode=PARAPET_CREATE, durability=PARAPET_DURABILITY_LEAVE)
  call check_int8(store)
  call check_int16(store)
  call check_int32(store)
  call check_int64(store)
  call check_uint16(store)
  call check_float32(store)
  call check_float64(store)
  call check_complex64(store)
  call check_complex128(store)
  call check_bool(store)
#if defined(HAS_ASSUMED_RANK)
  call check_scalar(store)
#endif
  call store%close()
end program conformance
