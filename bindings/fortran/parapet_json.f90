! Attributes are JSON in the store; here they become Fortran values and back.
module parapet_json
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use parapet_calls
  implicit none
  private
  public :: to_json, list_to_json, from_json, text_from_json

  ! Not as a literal: CMake has sources preprocessed, and flang 19 doubles it then.
  character(1), parameter :: backslash = achar(92)

contains

  ! An integer, real, logical or text as JSON; "" for any other type.
  function to_json(value) result(json)
    class(*), intent(in) :: value
    character(:), allocatable :: json
    select type (value)
    type is (integer(int32))
      json = integer_to_json(int(value, int64))
    type is (integer(int64))
      json = integer_to_json(value)
    type is (real(real32))
      json = real_to_json(real(value, real64), 9)
    type is (real(real64))
      json = real_to_json(value, 17)
    type is (logical)
      json = trim(merge("true ", "false", value))
    type is (character(*))
      json = text_to_json(trim(value))
    class default
      json = ""
    end select
  end function to_json

  ! A list of such values as JSON.
  function list_to_json(values) result(json)
    class(*), intent(in) :: values(:)
    character(:), allocatable :: json
    integer :: i
    json = "["
    do i = 1, size(values)
      if (i > 1) json = json // ", "
      json = json // to_json(values(i))
    end do
    json = json // "]"
  end function list_to_json

  function integer_to_json(value) result(json)
    integer(int64), intent(in) :: value
    character(:), allocatable :: json
    character(24) :: digits
    write (digits, "(i0)") value
    json = trim(digits)
  end function integer_to_json

  function real_to_json(value, digits) result(json)
    real(real64), intent(in) :: value
    integer, intent(in) :: digits
    character(:), allocatable :: json
    character(32) :: text
    text = repeat(c_null_char, 32)
    call parapet_fortran_number_text(value, digits, text)
    json = text(:index(text, c_null_char) - 1)
    if (verify(json, "-0123456789") == 0) json = json // ".0"
  end function real_to_json

  function text_to_json(text) result(json)
    character(*), intent(in) :: text
    character(:), allocatable :: json
    integer :: i
    json = '"'
    do i = 1, len(text)
      json = json // character_to_json(text(i:i))
    end do
    json = json // '"'
  end function text_to_json

  function character_to_json(character) result(json)
    character(1), intent(in) :: character
    character(:), allocatable :: json
    character(4) :: escape
    if (character == '"' .or. character == backslash) then
      json = backslash // character
    else if (iachar(character) < 32) then
      write (escape, "(z4.4)") iachar(character)
      json = backslash // "u" // escape
    else
      json = character
    end if
  end function character_to_json

  ! Reads JSON into a variable; is_read tells whether the JSON is of the variable's type.
  subroutine from_json(json, value, is_read)
    character(*), intent(in) :: json
    class(*), intent(inout) :: value
    logical, intent(out) :: is_read
    integer :: stat
    stat = 0
    select type (value)
    type is (integer(int32))
      read (json, *, iostat=stat) value
    type is (integer(int64))
      read (json, *, iostat=stat) value
    type is (real(real32))
      read (json, *, iostat=stat) value
    type is (real(real64))
      read (json, *, iostat=stat) value
    type is (logical)
      value = json == "true"
      if (json /= "true" .and. json /= "false") stat = 1
    type is (character(*))
      value = text_from_json(json)
      if (index(json, '"') /= 1) stat = 1
    class default
      stat = 1
    end select
    is_read = stat == 0
  end subroutine from_json

  ! The text of a JSON string; any other JSON as it is. Escapes of single characters are resolved, \uXXXX below 128 too.
  function text_from_json(json) result(text)
    character(*), intent(in) :: json
    character(:), allocatable :: text
    integer :: i
    if (index(json, '"') /= 1) then
      text = json
      return
    end if
    text = ""
    i = 2
    do while (i < len(json))
      call take_character(json, i, text)
    end do
  end function text_from_json

  subroutine take_character(json, i, text)
    character(*), intent(in) :: json
    integer, intent(inout) :: i
    character(:), allocatable, intent(inout) :: text
    integer :: code
    if (json(i:i) /= backslash) then
      text = text // json(i:i)
      i = i + 1
    else if (json(i + 1:i + 1) == "u") then
      read (json(i + 2:i + 5), "(z4)") code
      if (code < 128) text = text // achar(code)
      if (code >= 128) text = text // json(i:i + 5)
      i = i + 6
    else
      text = text // unescaped(json(i + 1:i + 1))
      i = i + 2
    end if
  end subroutine take_character

  pure function unescaped(letter) result(character)
    character(1), intent(in) :: letter
    character(1) :: character
    select case (letter)
    case ("n")
      character = achar(10)
    case ("t")
      character = achar(9)
    case ("r")
      character = achar(13)
    case ("b")
      character = achar(8)
    case ("f")
      character = achar(12)
    case default
      character = letter
    end select
  end function unescaped

end module parapet_json
