! Copies with other chunks, shards, codecs or order of dimensions, within a limit on memory.
!
!     call parapet_copy(source, "t2m", target, "t2m", chunks="time/,lat/10,lon/10")
!
! Lists are texts, as for the tool. By name they mean the same everywhere; lists without names are in the order of the
! store, which is the reverse of Fortran's.
module parapet_copies
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use parapet_calls
  use parapet_stores
  use parapet_text
  implicit none
  private
  public :: parapet_copy

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
    real(real64) :: planned_seconds = 0
    real(real64) :: seconds = 0
  end type parapet_copy_result

contains

  ! [collective] Copies an array, or a group with everything in it.
  subroutine parapet_copy(source, source_path, target_store, target_path, chunks, shards, order, region, codec, &
                          memory_bytes, unit_bytes, temporary, overwrite, resume, verify, no_probe, passes, reading, &
                          cooperation, result, status, message)
    type(parapet_store), intent(in) :: source, target_store
    character(*), intent(in) :: source_path, target_path
    character(*), intent(in), optional :: chunks, shards, order, region, codec
    integer(int64), intent(in), optional :: memory_bytes, unit_bytes
    type(parapet_store), intent(in), optional :: temporary
    logical, intent(in), optional :: overwrite, resume, verify, no_probe
    integer, intent(in), optional :: passes, reading, cooperation
    type(parapet_copy_result), intent(out), optional :: result
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    character(:), allocatable :: lines
    type(c_ptr) :: aside
    lines = ""
    call add_long(lines, "memory_bytes", memory_bytes)
    call add_long(lines, "unit_bytes", unit_bytes)
    call add_logical(lines, "overwrite", overwrite)
    call add_logical(lines, "resume", resume)
    call add_logical(lines, "verify", verify)
    call add_logical(lines, "no_probe", no_probe)
    call add_integer(lines, "passes", passes)
    call add_integer(lines, "reading", reading)
    call add_integer(lines, "cooperation", cooperation)
    aside = c_null_ptr
    if (present(temporary)) aside = temporary%handle
    call run_copy(source, target_store, aside, &
                  changes(source_path, target_path, chunks, shards, order, region, codec), lines, result, status, message)
  end subroutine parapet_copy

  ! The texts of a copy one after the other, each with a NUL, in the order in which the shim takes them apart.
  function changes(source_path, target_path, chunks, shards, order, region, codec) result(texts)
    character(*), intent(in) :: source_path, target_path
    character(*), intent(in), optional :: chunks, shards, order, region, codec
    character(:), allocatable :: texts
    texts = to_c(source_path) // to_c(target_path) // to_c(chunks) // to_c(shards) // to_c(order) // to_c(region) // &
            to_c(codec)
  end function changes

  subroutine run_copy(source, target_store, aside, texts, lines, result, status, message)
    type(parapet_store), intent(in) :: source, target_store
    type(c_ptr), intent(in) :: aside
    character(*), intent(in) :: texts, lines
    type(parapet_copy_result), intent(out), optional :: result
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: c(13)
    real(c_double) :: seconds(2)
    integer(c_int) :: code
    code = parapet_fortran_copy(source%handle, target_store%handle, aside, texts, to_c(lines), c, seconds)
    if (present(result)) result = parapet_copy_result(c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9), c(10), &
                                                      c(11), c(12), c(13), seconds(1), seconds(2))
    call report(code, status, message)
  end subroutine run_copy

end module parapet_copies
