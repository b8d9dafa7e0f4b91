! Attributes, which groups, arrays and checkpoints have alike.
module parapet_attributes
  use, intrinsic :: iso_c_binding
  use parapet_calls
  use parapet_constants
  use parapet_json
  use parapet_text
  implicit none
  private

  ! What has attributes.
  type, public :: parapet_described
  contains
    ! [collective] call node%set_attribute(name, value): an integer, real, logical or text, or a list of one of these
    procedure, private :: set_attribute_value
    procedure, private :: set_attribute_list
    generic :: set_attribute => set_attribute_value, set_attribute_list
    ! [collective] call node%set_attribute_json(name, json): any JSON; "" removes the attribute
    procedure :: set_attribute_json
    ! [local] call node%get_attribute(name, value): value is an integer, real, logical or text
    procedure :: get_attribute
    ! [local] call node%get_attribute_json(name, json): the JSON, however long; "" for the name: all attributes
    procedure :: get_attribute_json
    ! How to reach the attributes: what can be set has one of its own, and so has what can be got.
    procedure :: set_json
    procedure :: get_json
  end type parapet_described

contains

  subroutine set_attribute_value(self, name, value, status, message)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name
    class(*), intent(in) :: value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call self%set_attribute_json(name, to_json(value), status, message)
  end subroutine set_attribute_value

  subroutine set_attribute_list(self, name, value, status, message)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name
    class(*), intent(in) :: value(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call self%set_attribute_json(name, list_to_json(value), status, message)
  end subroutine set_attribute_list

  subroutine set_attribute_json(self, name, json, status, message)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name, json
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(self%set_json(to_c(name), to_c(json)), status, message)
  end subroutine set_attribute_json

  subroutine get_attribute(self, name, value, status, message)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name
    class(*), intent(inout) :: value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: text
    integer(c_int) :: code
    logical :: is_read
    character(:), allocatable :: json
    text = c_null_ptr
    code = self%get_json(to_c(name), text)
    if (code == PARAPET_OK) then
      json = take_text(text)
      call from_json(json, value, is_read)
      if (.not. is_read) code = parapet_fortran_attribute_refuse(to_c(name), to_c(json))
    end if
    call report(code, status, message)
  end subroutine get_attribute

  subroutine get_attribute_json(self, name, json, status, message)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: json
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: text
    integer(c_int) :: code
    text = c_null_ptr
    code = self%get_json(to_c(name), text)
    json = ""
    if (code == PARAPET_OK) json = take_text(text)
    call report(code, status, message)
  end subroutine get_attribute_json

  integer(c_int) function set_json(self, name, json)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name, json
    set_json = parapet_fortran_attribute_unreachable(name)
  end function set_json

  integer(c_int) function get_json(self, name, json)
    class(parapet_described), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(inout) :: json
    json = c_null_ptr
    get_json = parapet_fortran_attribute_unreachable(name)
  end function get_json

end module parapet_attributes
