! What the library lists: names, findings, removals. Here it becomes Fortran's own.
module parapet_note_lists
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use parapet_calls
  use parapet_text
  implicit none
  private
  public :: first_text, second_text, take_names, take_findings, take_removals, take_numbers

  integer, parameter, public :: PARAPET_NAME_LENGTH = 255 ! of the longest name of a group or an array

  ! An object of an array that is not as it should be, or was never written.
  type, public :: parapet_finding
    integer :: kind = 0                   ! PARAPET_FINDING_MISSING, _TORN, _STRAY or _ABSENT
    character(:), allocatable :: key      ! of the object in the store
    character(:), allocatable :: problem  ! in one sentence
  end type parapet_finding

  ! An object that was removed, or would be.
  type, public :: parapet_removal
    character(:), allocatable :: key
    character(:), allocatable :: reason
  end type parapet_removal

contains

  function first_text(notes, i) result(text)
    type(c_ptr), intent(in) :: notes
    integer, intent(in) :: i
    character(:), allocatable :: text
    text = from_c(parapet_fortran_notes_first(notes, int(i, c_int)))
  end function first_text

  function second_text(notes, i) result(text)
    type(c_ptr), intent(in) :: notes
    integer, intent(in) :: i
    character(:), allocatable :: text
    text = from_c(parapet_fortran_notes_second(notes, int(i, c_int)))
  end function second_text

  ! The first texts of all notes but the first few.
  subroutine take_names(notes, skipped, names)
    type(c_ptr), intent(in) :: notes
    integer, intent(in) :: skipped
    character(PARAPET_NAME_LENGTH), allocatable, intent(out) :: names(:)
    integer :: i
    allocate (names(max(0, parapet_fortran_notes_count(notes) - skipped)))
    do i = 1, size(names)
      names(i) = first_text(notes, skipped + i)
    end do
  end subroutine take_names

  subroutine take_numbers(notes, numbers)
    type(c_ptr), intent(in) :: notes
    integer(int64), allocatable, intent(out) :: numbers(:)
    integer :: i
    allocate (numbers(parapet_fortran_notes_count(notes)))
    do i = 1, size(numbers)
      numbers(i) = parapet_fortran_notes_number(notes, int(i, c_int))
    end do
  end subroutine take_numbers

  subroutine take_findings(notes, findings)
    type(c_ptr), intent(in) :: notes
    type(parapet_finding), allocatable, intent(out) :: findings(:)
    integer :: i
    allocate (findings(parapet_fortran_notes_count(notes)))
    do i = 1, size(findings)
      findings(i)%kind = int(parapet_fortran_notes_number(notes, int(i, c_int)))
      findings(i)%key = first_text(notes, i)
      findings(i)%problem = second_text(notes, i)
    end do
  end subroutine take_findings

  subroutine take_removals(notes, removals)
    type(c_ptr), intent(in) :: notes
    type(parapet_removal), allocatable, intent(out) :: removals(:)
    integer :: i
    allocate (removals(parapet_fortran_notes_count(notes)))
    do i = 1, size(removals)
      removals(i)%key = first_text(notes, i)
      removals(i)%reason = second_text(notes, i)
    end do
  end subroutine take_removals

end module parapet_note_lists
