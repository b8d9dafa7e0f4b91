! Text on its way to C and back, and what happens when a call fails.
module parapet_text
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use parapet_calls
  use parapet_constants
  implicit none
  private
  public :: parapet_version, parapet_version_number, parapet_status_name, parapet_type_name, parapet_type_from_name
  public :: parapet_type_bytes, parapet_text_visible, parapet_launch
  public :: to_c, from_c, take_text, report, add_long, add_integer, add_logical, add_text

contains

  ! [local] A line for each component: this library, the MPI it was built with, every codec library.
  function parapet_version() result(text)
    character(:), allocatable :: text
    text = from_c(parapet_fortran_version())
  end function parapet_version

  ! [local] The name of a status, such as "PARAPET_ERR_IO".
  function parapet_status_name(status) result(name)
    integer, intent(in) :: status
    character(:), allocatable :: name
    name = from_c(parapet_fortran_status_name(int(status, c_int)))
  end function parapet_status_name

  ! [local] The version of the library as a number that grows: 10203 for 1.2.3.
  integer function parapet_version_number()
    parapet_version_number = int(parapet_fortran_version_number())
  end function parapet_version_number

  ! [local] The name of a type in Zarr, such as "float64"; "" if there is none.
  function parapet_type_name(type) result(name)
    integer, intent(in) :: type
    character(:), allocatable :: name
    name = from_c(parapet_fortran_type_name(int(type, c_int)))
  end function parapet_type_name

  ! [local] The type with this name in Zarr, or PARAPET_TYPE_OF_ARRAY if there is none.
  integer function parapet_type_from_name(name)
    character(*), intent(in) :: name
    parapet_type_from_name = int(parapet_fortran_type_from_name(to_c(name)))
  end function parapet_type_from_name

  ! [local] The bytes of an element, or 0 if the type alone does not determine them.
  integer function parapet_type_bytes(type)
    integer, intent(in) :: type
    parapet_type_bytes = int(parapet_fortran_type_bytes(int(type, c_int)))
  end function parapet_type_bytes

  ! [local] A text of a store, safe to show on a terminal: with \uXXXX in place of what would disturb it.
  function parapet_text_visible(text) result(visible)
    character(*), intent(in) :: text
    character(:), allocatable :: visible
    type(c_ptr) :: shown
    shown = parapet_fortran_text_visible(to_c(text))
    visible = from_c(shown)
    call parapet_fortran_free(shown)
  end function parapet_text_visible

  ! [local] call parapet_launch([rank] [, count] [, flavour]): what the launcher says about this process, before MPI is
  ! initialised. The rank is -1 without a launcher.
  subroutine parapet_launch(rank, count, is_inherited, flavour, status, message)
    integer, intent(out), optional :: rank         ! -1: there is no launcher
    integer, intent(out), optional :: count        ! at least this many processes were started; 0: it does not say
    logical, intent(out), optional :: is_inherited ! a rank started this process, which inherited its variables
    character(*), intent(out), optional :: flavour ! "mpich" or "openmpi"; "": either, or no launcher
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: figures(3), code
    type(c_ptr) :: name
    name = c_null_ptr
    code = parapet_fortran_launch(figures, name)
    if (present(rank)) rank = figures(1)
    if (present(count)) count = figures(2)
    if (present(is_inherited)) is_inherited = figures(3) == 1
    if (present(flavour)) flavour = from_c(name)
    call report(code, status, message)
  end subroutine parapet_launch

  ! A text as C wants it: without the blanks at its end, and with a NUL.
  pure function to_c(text) result(converted)
    character(*), intent(in), optional :: text
    character(:), allocatable :: converted
    if (present(text)) then
      converted = trim(text) // c_null_char
    else
      converted = c_null_char
    end if
  end function to_c

  ! A copy of a text of C; empty for a null pointer.
  function from_c(text) result(converted)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: converted
    integer(c_int64_t) :: length
    length = parapet_fortran_text_length(text)
    allocate (character(length) :: converted)
    if (length > 0) call parapet_fortran_text_copy(converted, text, length)
  end function from_c

  ! The same for a text that the library has allocated, which is freed.
  function take_text(text) result(converted)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: converted
    converted = from_c(text)
    call parapet_fortran_text_free(text)
  end function take_text

  ! Ends every call. As with iostat and iomsg, a failure stops the program unless the caller asked for the status.
  subroutine report(code, status, message)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    if (present(status)) status = int(code)
    if (code == PARAPET_OK) then
      if (present(message)) message = ""
      return
    end if
    if (present(message)) message = from_c(parapet_fortran_error_message())
    if (.not. present(status)) error stop from_c(parapet_fortran_error_message())
  end subroutine report

  subroutine add_line(lines, name, value)
    character(:), allocatable, intent(inout) :: lines
    character(*), intent(in) :: name, value
    if (.not. allocated(lines)) lines = ""
    lines = lines // name // "=" // trim(adjustl(value)) // new_line("a")
  end subroutine add_line

  ! This and the next three add a line "name=value" to a list of options if the value was given.
  subroutine add_long(lines, name, value)
    character(:), allocatable, intent(inout) :: lines
    character(*), intent(in) :: name
    integer(int64), intent(in), optional :: value
    character(24) :: digits
    if (.not. present(value)) return
    write (digits, "(i0)") value
    call add_line(lines, name, digits)
  end subroutine add_long

  subroutine add_integer(lines, name, value)
    character(:), allocatable, intent(inout) :: lines
    character(*), intent(in) :: name
    integer(int32), intent(in), optional :: value
    if (present(value)) call add_long(lines, name, int(value, int64))
  end subroutine add_integer

  subroutine add_logical(lines, name, value)
    character(:), allocatable, intent(inout) :: lines
    character(*), intent(in) :: name
    logical, intent(in), optional :: value
    if (present(value)) call add_line(lines, name, merge("1", "0", value))
  end subroutine add_logical

  subroutine add_text(lines, name, value)
    character(:), allocatable, intent(inout) :: lines
    character(*), intent(in) :: name
    character(*), intent(in), optional :: value
    if (present(value)) call add_line(lines, name, trim(value))
  end subroutine add_text

end module parapet_text
