! Made by bindings/fortran/generate from parapet_checkpoints.f90; do not edit.
! Checkpoints, and restoring from them on any number of ranks.
!
!     call checkpoint%begin(store, "restart")
!     call checkpoint%put("temperature", field(2:n + 1, 2:m + 1), start=[i, j], shape=[nx, ny])
!     call checkpoint%set_attribute("step", step)
!     call checkpoint%commit()
!
!     call restore%open(store, "restart")
!     call restore%get("temperature", field(2:n + 1, 2:m + 1), start=[i, j])
!     call restore%get_attribute("step", step)
!     call restore%close()
module parapet_checkpoints
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use parapet_attributes
  use parapet_calls
  use parapet_constants
  use parapet_definition_lists
  use parapet_note_lists
  use parapet_part_lists
  use parapet_requests
  use parapet_specs
  use parapet_stores
  use parapet_text
  implicit none
  private
  public :: parapet_checkpoint_list

  ! A generation that is being written.
  type, extends(parapet_described), public :: parapet_checkpoint
    type(c_ptr) :: handle = c_null_ptr ! for this module only
  contains
    ! [collective] call checkpoint%begin(store, path [, generation] [, keep])
    procedure :: begin => begin_checkpoint
    ! [collective] call checkpoint%put(name, data [, start, shape] [, chunks] ...): start is where data begins in the
    ! whole array, whose shape is given; without both, data is the whole array. The array has the type of data, or the
    ! one that is given: an unsigned one, or that of dates.
    procedure, private :: put_whole_1
    procedure, private :: put_whole_2
    procedure, private :: put_whole_3
    procedure, private :: put_whole_4
    procedure, private :: put_whole_5
    procedure, private :: put_whole_6
    procedure, private :: put_whole_7
    procedure, private :: put_int32_1
    procedure, private :: put_int32_2
    procedure, private :: put_int32_3
    procedure, private :: put_int32_4
    procedure, private :: put_int32_5
    procedure, private :: put_int32_6
    procedure, private :: put_int32_7
    procedure, private :: put_int64_1
    procedure, private :: put_int64_2
    procedure, private :: put_int64_3
    procedure, private :: put_int64_4
    procedure, private :: put_int64_5
    procedure, private :: put_int64_6
    procedure, private :: put_int64_7
    generic :: put => put_whole_1
    generic :: put => put_whole_2
    generic :: put => put_whole_3
    generic :: put => put_whole_4
    generic :: put => put_whole_5
    generic :: put => put_whole_6
    generic :: put => put_whole_7
    generic :: put => put_int32_1
    generic :: put => put_int32_2
    generic :: put => put_int32_3
    generic :: put => put_int32_4
    generic :: put => put_int32_5
    generic :: put => put_int32_6
    generic :: put => put_int32_7
    generic :: put => put_int64_1
    generic :: put => put_int64_2
    generic :: put => put_int64_3
    generic :: put => put_int64_4
    generic :: put => put_int64_5
    generic :: put => put_int64_6
    generic :: put => put_int64_7
    ! [collective] call checkpoint%put_parts(name, parts, type, shape): several boxes, or none
    procedure, private :: put_parts_int32
    procedure, private :: put_parts_int64
    ! [collective] call checkpoint%put_parts(arrays, parts): several arrays as one transfer; each part has the name of
    ! its array
    procedure, private :: put_defined
    generic :: put_parts => put_parts_int32, put_parts_int64, put_defined
    ! [collective] call checkpoint%commit([generation])
    procedure :: commit
    ! [collective] call checkpoint%start(arrays, parts, request [, copy] [, generation]): put_parts and commit, beside the
    ! program; from then on the request has the generation, whose number it tells
    procedure :: start => start_checkpoint
    ! [collective] call checkpoint%abort()
    procedure :: abort => abort_checkpoint
    procedure :: set_json => set_checkpoint_json
  end type parapet_checkpoint

  ! A generation that is being read.
  type, extends(parapet_described), public :: parapet_restore
    type(c_ptr) :: handle = c_null_ptr ! for this module only
  contains
    ! [collective] call restore%open(store, path [, generation]): else the newest that verifies
    procedure :: open => open_restore
    ! [collective] call restore%get(name, data [, start])
    procedure, private :: get_whole_1
    procedure, private :: get_whole_2
    procedure, private :: get_whole_3
    procedure, private :: get_whole_4
    procedure, private :: get_whole_5
    procedure, private :: get_whole_6
    procedure, private :: get_whole_7
    procedure, private :: get_int32_1
    procedure, private :: get_int32_2
    procedure, private :: get_int32_3
    procedure, private :: get_int32_4
    procedure, private :: get_int32_5
    procedure, private :: get_int32_6
    procedure, private :: get_int32_7
    procedure, private :: get_int64_1
    procedure, private :: get_int64_2
    procedure, private :: get_int64_3
    procedure, private :: get_int64_4
    procedure, private :: get_int64_5
    procedure, private :: get_int64_6
    procedure, private :: get_int64_7
    generic :: get => get_whole_1
    generic :: get => get_whole_2
    generic :: get => get_whole_3
    generic :: get => get_whole_4
    generic :: get => get_whole_5
    generic :: get => get_whole_6
    generic :: get => get_whole_7
    generic :: get => get_int32_1
    generic :: get => get_int32_2
    generic :: get => get_int32_3
    generic :: get => get_int32_4
    generic :: get => get_int32_5
    generic :: get => get_int32_6
    generic :: get => get_int32_7
    generic :: get => get_int64_1
    generic :: get => get_int64_2
    generic :: get => get_int64_3
    generic :: get => get_int64_4
    generic :: get => get_int64_5
    generic :: get => get_int64_6
    generic :: get => get_int64_7
    ! [collective] call restore%get_parts(name, parts): several boxes, or none
    procedure, private :: get_parts_of_one
    ! [collective] call restore%get_parts(parts): of several arrays as one transfer; each part has the name of its array
    procedure, private :: get_named
    generic :: get_parts => get_parts_of_one, get_named
    ! [collective] call restore%close()
    procedure :: close => close_restore
    ! [local] call restore%get_info([generation] [, passed_over] [, problem] [, path] [, names])
    procedure :: get_info
    ! [local] call restore%get_array_info(name [, type] [, shape]): what an array of the generation is like
    procedure :: get_array_info
    procedure :: get_json => get_restore_json
  end type parapet_restore

contains

  subroutine begin_checkpoint(self, store, path, generation, keep, status, message)
    class(parapet_checkpoint), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer(int64), intent(in), optional :: generation ! its number; else one more than the newest
    integer, intent(in), optional :: keep              ! how many generations to keep; else 2; -1: all
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: number, kept
    number = 0
    kept = 0
    if (present(generation)) number = generation
    if (present(keep)) kept = keep
    call report(parapet_fortran_checkpoint_begin(self%handle, store%handle, to_c(path), number, kept), status, message)
  end subroutine begin_checkpoint

  subroutine put_whole_1(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_1(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_1
  subroutine put_whole_2(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_2(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_2
  subroutine put_whole_3(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_3(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_3
  subroutine put_whole_4(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_4(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_4
  subroutine put_whole_5(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_5(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_5
  subroutine put_whole_6(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_6(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_6
  subroutine put_whole_7(self, name, data, type, unsharded, codec, checksum, fill_value, dimension_names, attributes, &
                       time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:,:), intent(in) :: data
    integer, intent(in), optional :: type
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape(data, kind=int64), has_steps=.false.)
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_7(self%handle, to_c(name), spec, data, [0_int64], -1_c_int)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_whole_7

  subroutine put_int32_1(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_1(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_1
  subroutine put_int32_2(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_2(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_2
  subroutine put_int32_3(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_3(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_3
  subroutine put_int32_4(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_4(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_4
  subroutine put_int32_5(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_5(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_5
  subroutine put_int32_6(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_6(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_6
  subroutine put_int32_7(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:,:), intent(in) :: data
    integer(int32), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_7(self%handle, to_c(name), spec, data, int(start, int64), &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int32_7

  subroutine put_int64_1(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_1(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_1
  subroutine put_int64_2(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_2(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_2
  subroutine put_int64_3(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_3(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_3
  subroutine put_int64_4(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_4(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_4
  subroutine put_int64_5(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_5(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_5
  subroutine put_int64_6(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_6(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_6
  subroutine put_int64_7(self, name, data, start, shape, type, chunks, shards, unsharded, codec, checksum, fill_value, &
                       dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:,:), intent(in) :: data
    integer(int64), intent(in) :: start(:), shape(:)
    integer, intent(in), optional :: type
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type_or_that_of_data(type), shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_7(self%handle, to_c(name), spec, data, start, &
                                          size(start, kind=c_int))
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_int64_7

  subroutine put_parts_int32(self, name, parts, type, shape, chunks, shards, unsharded, codec, checksum, &
                             fill_value, dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(parapet_parts), intent(inout) :: parts
    integer, intent(in) :: type
    integer(int32), intent(in) :: shape(:)
    integer(int32), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type, int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_parts(self%handle, to_c(name), spec, parts%begun())
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_parts_int32

  subroutine put_parts_int64(self, name, parts, type, shape, chunks, shards, unsharded, codec, checksum, &
                             fill_value, dimension_names, attributes, time_unit, status, message)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name
    type(parapet_parts), intent(inout) :: parts
    integer, intent(in) :: type
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded, checksum
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    class(*), intent(in), optional :: fill_value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    integer(c_int) :: code
    spec = build_spec(type, shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    code = parapet_fortran_checkpoint_put_parts(self%handle, to_c(name), spec, parts%begun())
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine put_parts_int64

  subroutine put_defined(self, arrays, parts, status, message)
    class(parapet_checkpoint), intent(in) :: self
    type(parapet_definitions), intent(inout) :: arrays
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_checkpoint_put_defined(self%handle, arrays%begun(), parts%begun()), status, message)
  end subroutine put_defined

  pure integer function type_or_that_of_data(type)
    integer, intent(in), optional :: type
    type_or_that_of_data = PARAPET_TYPE_OF_ARRAY
    if (present(type)) type_or_that_of_data = type
  end function type_or_that_of_data

  subroutine commit(self, generation, status, message)
    class(parapet_checkpoint), intent(inout) :: self
    integer(int64), intent(out), optional :: generation
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: number(1)
    integer(c_int) :: code
    number = 0
    code = parapet_fortran_checkpoint_commit(self%handle, number)
    if (present(generation)) generation = number(1)
    call report(code, status, message)
  end subroutine commit

  subroutine start_checkpoint(self, arrays, parts, request, copy, generation, status, message)
    class(parapet_checkpoint), intent(inout) :: self
    type(parapet_definitions), intent(inout) :: arrays
    type(parapet_parts), intent(inout) :: parts
    type(parapet_request), intent(inout) :: request
    logical, intent(in), optional :: copy ! .true.: the data may be changed when start returns
    integer(int64), intent(out), optional :: generation
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: number(1)
    integer(c_int) :: code
    number = 0
    code = parapet_fortran_checkpoint_start(request%handle, self%handle, arrays%begun(), parts%begun(), &
                                            buffering_of(copy), number)
    if (present(generation)) generation = number(1)
    call report(code, status, message)
  end subroutine start_checkpoint

  subroutine abort_checkpoint(self, status, message)
    class(parapet_checkpoint), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_checkpoint_abort(self%handle), status, message)
  end subroutine abort_checkpoint

  integer(c_int) function set_checkpoint_json(self, name, json)
    class(parapet_checkpoint), intent(in) :: self
    character(*), intent(in) :: name, json
    set_checkpoint_json = parapet_fortran_checkpoint_attribute_set(self%handle, name, json)
  end function set_checkpoint_json

  subroutine open_restore(self, store, path, generation, status, message)
    class(parapet_restore), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer(int64), intent(in), optional :: generation
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: number
    number = 0
    if (present(generation)) number = generation
    call report(parapet_fortran_restore_open(self%handle, store%handle, to_c(path), number), status, message)
  end subroutine open_restore

  subroutine get_whole_1(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_1(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_1
  subroutine get_whole_2(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_2(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_2
  subroutine get_whole_3(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_3(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_3
  subroutine get_whole_4(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_4(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_4
  subroutine get_whole_5(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_5(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_5
  subroutine get_whole_6(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_6(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_6
  subroutine get_whole_7(self, name, data, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:,:), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_7(self%handle, to_c(name), data, [0_int64], -1_c_int), status, message)
  end subroutine get_whole_7

  subroutine get_int32_1(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_1(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_1
  subroutine get_int32_2(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_2(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_2
  subroutine get_int32_3(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_3(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_3
  subroutine get_int32_4(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_4(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_4
  subroutine get_int32_5(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_5(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_5
  subroutine get_int32_6(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_6(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_6
  subroutine get_int32_7(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:,:), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_7(self%handle, to_c(name), data, int(start, int64), &
                                            size(start, kind=c_int)), status, message)
  end subroutine get_int32_7

  subroutine get_int64_1(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_1(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_1
  subroutine get_int64_2(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_2(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_2
  subroutine get_int64_3(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_3(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_3
  subroutine get_int64_4(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_4(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_4
  subroutine get_int64_5(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_5(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_5
  subroutine get_int64_6(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_6(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_6
  subroutine get_int64_7(self, name, data, start, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(*), dimension(:,:,:,:,:,:,:), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_7(self%handle, to_c(name), data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine get_int64_7

  subroutine get_parts_of_one(self, name, parts, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_parts(self%handle, to_c(name), parts%begun()), status, message)
  end subroutine get_parts_of_one

  subroutine get_named(self, parts, status, message)
    class(parapet_restore), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_get_named(self%handle, parts%begun()), status, message)
  end subroutine get_named

  subroutine close_restore(self, status, message)
    class(parapet_restore), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_restore_close(self%handle), status, message)
  end subroutine close_restore

  subroutine get_info(self, generation, passed_over, problem, path, names, status, message)
    class(parapet_restore), intent(in) :: self
    integer(int64), intent(out), optional :: generation  ! that was opened
    integer(int64), intent(out), optional :: passed_over ! newer ones that did not verify
    character(:), allocatable, intent(out), optional :: problem ! of the newest of those; "" if there is none
    character(:), allocatable, intent(out), optional :: path    ! of the group of this generation
    character(PARAPET_NAME_LENGTH), allocatable, intent(out), optional :: names(:) ! of its arrays
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: figures(2)
    integer(c_int) :: code
    type(c_ptr) :: texts
    texts = c_null_ptr
    code = parapet_fortran_restore_info(self%handle, figures, texts)
    if (present(generation)) generation = figures(1)
    if (present(passed_over)) passed_over = figures(2)
    if (present(path)) path = first_text(texts, 1)
    if (present(problem)) problem = second_text(texts, 1)
    if (present(names)) call take_names(texts, 1, names)
    call parapet_fortran_notes_free(texts)
    call report(code, status, message)
  end subroutine get_info

  ! The shape is that of the whole array.
  subroutine get_array_info(self, name, type, shape, status, message)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: type
    integer(int64), allocatable, intent(out), optional :: shape(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: figures(2), code
    integer(c_int64_t) :: extents(max_ndim)
    figures = 0
    code = parapet_fortran_restore_array_info(self%handle, to_c(name), figures, extents)
    if (present(type)) type = figures(1)
    if (present(shape)) shape = extents(:figures(2))
    call report(code, status, message)
  end subroutine get_array_info

  integer(c_int) function get_restore_json(self, name, json)
    class(parapet_restore), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(inout) :: json
    get_restore_json = parapet_fortran_restore_attribute_get(self%handle, name, json)
  end function get_restore_json

  ! [collective] call parapet_checkpoint_list(store, path, generations): the committed ones, newest first
  subroutine parapet_checkpoint_list(store, path, generations, status, message)
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer(int64), allocatable, intent(out) :: generations(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: found
    integer(c_int) :: code
    found = c_null_ptr
    code = parapet_fortran_checkpoint_list(store%handle, to_c(path), found)
    call take_numbers(found, generations)
    call parapet_fortran_notes_free(found)
    call report(code, status, message)
  end subroutine parapet_checkpoint_list

end module parapet_checkpoints
