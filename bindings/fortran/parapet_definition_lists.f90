! Lists of arrays that are to be created together, by parapet_arrays_create or in a checkpoint.
!
!     call arrays%add("u", PARAPET_FLOAT64, shape=[nx, ny, nz])
!     call arrays%add("mask", PARAPET_UINT8, shape=[nx, ny])
module parapet_definition_lists
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use parapet_calls
  use parapet_specs
  use parapet_text
  implicit none
  private

  ! A list may be used any number of times.
  type, public :: parapet_definitions
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
  contains
    ! [local] call arrays%add(name, type, shape [, chunks] [, shards] ...): the arguments of array%create, with a name,
    ! or a path, instead of the store
    procedure, private :: add_int32
    procedure, private :: add_int64
    generic :: add => add_int32, add_int64
    ! [local] call arrays%clear(): empties the list, to be used again
    procedure :: clear
    ! [local] the list, begun if it was not; for the other modules of this binding
    procedure :: begun
    final :: free_definitions
  end type parapet_definitions

contains

  subroutine add_int32(self, name, type, shape, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, overwrite, status, message)
    class(parapet_definitions), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: type
    integer(int32), intent(in) :: shape(:)
    integer(int32), intent(in), optional :: chunks(:), shards(:) ! 0: the whole dimension
    logical, intent(in), optional :: unsharded, checksum, overwrite
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    spec = build_spec(type, int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit, overwrite)
    call report(parapet_fortran_definitions_add(self%begun(), to_c(name), spec), status, message)
  end subroutine add_int32

  subroutine add_int64(self, name, type, shape, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, overwrite, status, message)
    class(parapet_definitions), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: type
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum, overwrite
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    spec = build_spec(type, shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit, overwrite)
    call report(parapet_fortran_definitions_add(self%begun(), to_c(name), spec), status, message)
  end subroutine add_int64

  subroutine clear(self)
    class(parapet_definitions), intent(inout) :: self
    call parapet_fortran_definitions_clear(self%handle)
  end subroutine clear

  function begun(self) result(handle)
    class(parapet_definitions), intent(inout) :: self
    type(c_ptr) :: handle
    if (.not. c_associated(self%handle)) self%handle = parapet_fortran_definitions_build()
    if (.not. c_associated(self%handle)) error stop "Parapet: no memory is left for the description of an array"
    handle = self%handle
  end function begun

  subroutine free_definitions(self)
    type(parapet_definitions), intent(inout) :: self
    call parapet_fortran_definitions_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free_definitions

end module parapet_definition_lists
