! Groups: call group%open(store, ""); call group%consolidate()
module parapet_groups
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use parapet_attributes
  use parapet_calls
  use parapet_note_lists
  use parapet_stores
  use parapet_text
  implicit none
  private

  type, extends(parapet_described), public :: parapet_group
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
  contains
    ! [collective] call group%create(store, path [, attributes]): attributes are a JSON object
    procedure :: create => create_group
    ! [collective] call group%open(store, path): "" is the root
    procedure :: open => open_group
    ! [collective] call group%close()
    procedure :: close => close_group
    ! [collective] call group%list(names [, kinds]): of all groups and arrays directly in this one, sorted; a kind is
    ! PARAPET_NODE_GROUP, _ARRAY or _INVALID
    procedure :: list
    ! [collective] call group%consolidate(): lets readers open all that is in the group with one request
    procedure :: consolidate
    procedure :: set_json
    procedure :: get_json
  end type parapet_group

contains

  subroutine create_group(self, store, path, attributes, status, message)
    class(parapet_group), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    character(*), intent(in), optional :: attributes
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_group_create(self%handle, store%handle, to_c(path), to_c(attributes)), status, message)
  end subroutine create_group

  subroutine open_group(self, store, path, status, message)
    class(parapet_group), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_group_open(self%handle, store%handle, to_c(path)), status, message)
  end subroutine open_group

  subroutine close_group(self, status, message)
    class(parapet_group), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_group_close(self%handle), status, message)
  end subroutine close_group

  subroutine list(self, names, kinds, status, message)
    class(parapet_group), intent(in) :: self
    character(PARAPET_NAME_LENGTH), allocatable, intent(out) :: names(:)
    integer, allocatable, intent(out), optional :: kinds(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: found
    integer(int64), allocatable :: numbers(:)
    integer(c_int) :: code
    found = c_null_ptr
    code = parapet_fortran_group_list(self%handle, found)
    call take_names(found, 0, names)
    call take_numbers(found, numbers)
    if (present(kinds)) kinds = int(numbers)
    call parapet_fortran_notes_free(found)
    call report(code, status, message)
  end subroutine list

  subroutine consolidate(self, status, message)
    class(parapet_group), intent(in) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_group_consolidate(self%handle), status, message)
  end subroutine consolidate

  integer(c_int) function set_json(self, name, json)
    class(parapet_group), intent(in) :: self
    character(*), intent(in) :: name, json
    set_json = parapet_fortran_group_attribute_set(self%handle, name, json)
  end function set_json

  integer(c_int) function get_json(self, name, json)
    class(parapet_group), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(inout) :: json
    get_json = parapet_fortran_group_attribute_get(self%handle, name, json)
  end function get_json

end module parapet_groups
