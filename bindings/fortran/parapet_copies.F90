! Copies with other chunks, shards, codecs or order of dimensions, within a limit on memory.
!
!     call parapet_copy(source, "t2m", target, "t2m", chunks="time/,lat/10,lon/10")
!
! parapet_copy_plan tells in words what that would do. Lists are texts, as for the tool. By name they mean the same everywhere; lists without names are in the order of the
! store, which is the reverse of Fortran's.
module parapet_copies
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use parapet_calls
  use parapet_stores
  use parapet_text
  implicit none
  private
  public :: parapet_copy, parapet_copy_plan, parapet_file_write

  ! What a copy has done; parapet.h explains each figure.
  type, public :: parapet_copy_result
    integer(int64) :: arrays = 0
    integer(int64) :: groups = 0
    integer(int64) :: passes = 0
    integer(int64) :: array_bytes = 0
    integer(int64) :: read_requests = 0
    integer(int64) :: index_reads = 0
    integer(int64) :: decoded_bytes = 0
    integer(int64) :: chunks_written = 0
    integer(int64) :: shards_written = 0
    integer(int64) :: memory_peak_bytes = 0
    integer(int64) :: memory_planned_bytes = 0
    integer(int64) :: templates_resumed = 0
    integer(int64) :: verified_bytes = 0
    integer(int64) :: extent_before = 0
    integer(int64) :: extent_after = 0
    integer(int64) :: repaired = 0
    real(real64) :: planned_seconds = 0
    real(real64) :: seconds = 0
  end type parapet_copy_result

  ! What a copy works on, as shim_stores of shim.h.
  type, bind(c) :: copy_stores
    type(c_ptr) :: source = c_null_ptr
    type(c_ptr) :: destination = c_null_ptr
    type(c_ptr) :: temporary = c_null_ptr
    integer(c_int) :: no_checksum = 0
  end type copy_stores

contains

  ! [collective] Copies an array, or a group with everything in it; or appends a group along a dimension.
  subroutine parapet_copy(source, source_path, target_store, target_path, chunks, shards, order, region, codec, &
                          memory_bytes, unit_bytes, temporary, checksum, overwrite, resume, verify, no_probe, passes, &
                          reading, cooperation, include, exclude, append, result, status, message)
    type(parapet_copy_result), intent(out), optional :: result
    integer(c_int64_t) :: c(16)
    real(c_double) :: seconds(2)
    integer(c_int) :: code
#include "parapet_copy_options.inc"
    code = parapet_fortran_copy(c_loc(stores), changes(source_path, target_path, chunks, shards, order, region, codec, &
                                                       include, exclude, append), to_c(lines), c, seconds)
    if (present(result)) result = parapet_copy_result(c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9), c(10), &
                                                      c(11), c(12), c(13), c(14), c(15), c(16), seconds(1), &
                                                      seconds(2))
    call report(code, status, message)
  end subroutine parapet_copy

  ! [collective] The plan of a copy in words, as the tool prints it: its passes, bytes, files, memory and time. This is
  ! experimental: the words may change with any version.
  subroutine parapet_copy_plan(source, source_path, target_store, target_path, plan, chunks, shards, order, region, &
                               codec, memory_bytes, unit_bytes, temporary, checksum, overwrite, resume, verify, &
                               no_probe, passes, reading, cooperation, include, exclude, append, status, message)
    character(:), allocatable, intent(out) :: plan
    type(c_ptr) :: printed
    integer(c_int) :: code
#include "parapet_copy_options.inc"
    printed = c_null_ptr
    code = parapet_fortran_copy_plan(c_loc(stores), changes(source_path, target_path, chunks, shards, order, region, &
                                                            codec, include, exclude, append), to_c(lines), printed)
    plan = take_text(printed)
    call report(code, status, message)
  end subroutine parapet_copy_plan

  ! [collective] Writes an array, or the arrays of a group, to one file of another format: "out.nc", "out.npy",
  ! "raw:out.dat". left_out tells what the format cannot say, a line each.
  subroutine parapet_file_write(source, source_path, file, include, exclude, overwrite, verify, dry_run, left_out, &
                                status, message)
    class(parapet_store), intent(in) :: source
    character(*), intent(in) :: source_path, file
    character(*), intent(in), optional :: include, exclude
    logical, intent(in), optional :: overwrite, verify, dry_run
    character(:), allocatable, intent(out), optional :: left_out
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: code, flags(3)
    type(c_ptr) :: lines
    character(:), allocatable :: told
    flags = 0
    lines = c_null_ptr
    if (present(overwrite)) flags(1) = merge(1, 0, overwrite)
    if (present(verify)) flags(2) = merge(1, 0, verify)
    if (present(dry_run)) flags(3) = merge(1, 0, dry_run)
    code = parapet_fortran_file_write(source%handle, to_c(source_path) // to_c(file) // to_c(include) // &
                                      to_c(exclude), flags, lines)
    told = take_text(lines)
    if (present(left_out)) left_out = told
    call report(code, status, message)
  end subroutine parapet_file_write

  ! The texts of a copy one after the other, each with a NUL, in the order in which the shim takes them apart.
  function changes(source_path, target_path, chunks, shards, order, region, codec, include, exclude, append) &
    result(texts)
    character(*), intent(in) :: source_path, target_path
    character(*), intent(in), optional :: chunks, shards, order, region, codec, include, exclude, append
    character(:), allocatable :: texts
    texts = to_c(source_path) // to_c(target_path) // to_c(chunks) // to_c(shards) // to_c(order) // to_c(region) // &
            to_c(codec) // to_c(include) // to_c(exclude) // to_c(append)
  end function changes

end module parapet_copies
