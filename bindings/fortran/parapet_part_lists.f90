! Lists of parts, for a rank that holds several boxes, or none.
module parapet_part_lists
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use parapet_calls
  use parapet_text
  implicit none
  private

  ! The list refers to the data and does not copy it. So the data must be variables, must have the attribute target (or
  ! be a pointer), and must not go away before the list has been written or read. Expressions are refused.
  type, public :: parapet_parts
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
  contains
    ! [local] call parts%add(data, start [, name]): data is the box of an array that begins at start. The name says
    ! which array, where several are handed over together, as in a step of a series.
    procedure, private :: add_int32
    procedure, private :: add_int64
    generic :: add => add_int32
    generic :: add => add_int64
    ! [local] call parts%clear(): empties the list, to be used again
    procedure :: clear
    ! [local] the list, begun if it was not; for the other modules of this binding
    procedure :: begun
    final :: free_parts
  end type parapet_parts

contains

  subroutine add_int32(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(..), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32

  subroutine add_int64(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(..), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64

  subroutine clear(self)
    class(parapet_parts), intent(inout) :: self
    call parapet_fortran_parts_clear(self%handle)
  end subroutine clear

  function begun(self) result(handle)
    class(parapet_parts), intent(inout) :: self
    type(c_ptr) :: handle
    if (.not. c_associated(self%handle)) self%handle = parapet_fortran_parts_build()
    handle = self%handle
  end function begun

  subroutine free_parts(self)
    type(parapet_parts), intent(inout) :: self
    call parapet_fortran_parts_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free_parts

end module parapet_part_lists
