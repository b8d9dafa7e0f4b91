! Made by bindings/fortran/generate from parapet_part_lists.f90; do not edit.
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
    procedure, private :: add_int32_1
    procedure, private :: add_int32_2
    procedure, private :: add_int32_3
    procedure, private :: add_int32_4
    procedure, private :: add_int32_5
    procedure, private :: add_int32_6
    procedure, private :: add_int32_7
    procedure, private :: add_int64_1
    procedure, private :: add_int64_2
    procedure, private :: add_int64_3
    procedure, private :: add_int64_4
    procedure, private :: add_int64_5
    procedure, private :: add_int64_6
    procedure, private :: add_int64_7
    generic :: add => add_int32_1
    generic :: add => add_int32_2
    generic :: add => add_int32_3
    generic :: add => add_int32_4
    generic :: add => add_int32_5
    generic :: add => add_int32_6
    generic :: add => add_int32_7
    generic :: add => add_int64_1
    generic :: add => add_int64_2
    generic :: add => add_int64_3
    generic :: add => add_int64_4
    generic :: add => add_int64_5
    generic :: add => add_int64_6
    generic :: add => add_int64_7
    ! [local] call parts%clear(): empties the list, to be used again
    procedure :: clear
    ! [local] the list, begun if it was not; for the other modules of this binding
    procedure :: begun
    final :: free_parts
  end type parapet_parts

contains

  subroutine add_int32_1(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_1(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_1
  subroutine add_int32_2(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_2(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_2
  subroutine add_int32_3(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_3(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_3
  subroutine add_int32_4(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_4(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_4
  subroutine add_int32_5(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:,:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_5(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_5
  subroutine add_int32_6(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:,:,:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_6(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_6
  subroutine add_int32_7(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:,:,:,:), intent(inout), target :: data
    integer(int32), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_7(self%begun(), to_c(name), data, int(start, int64), size(start, kind=c_int)), &
                status, message)
  end subroutine add_int32_7

  subroutine add_int64_1(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_1(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_1
  subroutine add_int64_2(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_2(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_2
  subroutine add_int64_3(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_3(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_3
  subroutine add_int64_4(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_4(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_4
  subroutine add_int64_5(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:,:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_5(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_5
  subroutine add_int64_6(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:,:,:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_6(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_6
  subroutine add_int64_7(self, data, start, name, status, message)
    class(parapet_parts), intent(inout) :: self
    type(*), dimension(:,:,:,:,:,:,:), intent(inout), target :: data
    integer(int64), intent(in) :: start(:)
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_parts_add_7(self%begun(), to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine add_int64_7

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
