! Series: arrays that grow together, step by step, along their last dimension.
!
!     call series%define("temperature", PARAPET_FLOAT32, shape=[nx, ny])
!     call series%create(store, "history")
!     call series%append(hours, temperature(1:n, 1:m), start=[i, j])
!     call series%close()
!
! Shapes, chunks, starts and names of dimensions leave out the dimension of the steps.
module parapet_step_series
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use parapet_calls
  use parapet_constants
  use parapet_note_lists
  use parapet_part_lists
  use parapet_requests
  use parapet_specs
  use parapet_stores
  use parapet_text
  implicit none
  private
  public :: parapet_series_repair

  type, public :: parapet_series
    type(c_ptr) :: handle = c_null_ptr      ! for this module only, both
    type(c_ptr) :: definitions = c_null_ptr
  contains
    ! [local] call series%define(name, type, shape [, chunks] [, steps_per_chunk] ...): an array of a series to be
    ! created
    procedure, private :: define_int32
    procedure, private :: define_int64
    generic :: define => define_int32, define_int64
    ! [collective] call series%create(store, path [, dimension] [, coordinate_attributes] [, attributes])
    procedure :: create => create_series
    ! [collective] call series%open(store, path): to append after the last step
    procedure :: open => open_series
    ! [collective] call series%append(coordinate, data [, start]): a step of a series of one array
    procedure, private :: append_whole
    procedure, private :: append_int32
    procedure, private :: append_int64
    generic :: append => append_whole
    generic :: append => append_int32
    generic :: append => append_int64
    ! [collective] call series%append_parts(coordinate, parts): a step of all arrays; each part has the name of its
    ! array
    procedure :: append_parts
    ! [collective] call series%start_append(coordinate, parts, request [, copy]): the same, beside the program
    procedure :: start_append
    ! [collective] call series%flush(): commits the steps so far
    procedure :: flush => flush_series
    ! [collective] call series%close()
    procedure :: close => close_series
    ! [local] call series%get_info([steps] [, steps_committed] [, names] ...)
    procedure :: get_info
    ! [local] call series%get_array_info(name [, type] [, shape]): what a step of an array is like
    procedure :: get_array_info
    ! [local] call series%explain(text): what a step costs and where open steps are kept, in sentences
    procedure :: explain
  end type parapet_series

contains

  subroutine define_int32(self, name, type, shape, chunks, shards, steps_per_chunk, steps_per_shard, unsharded, codec, &
                          checksum, fill_value, dimension_names, attributes, time_unit, status, message)
    class(parapet_series), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: type
    integer(int32), intent(in) :: shape(:)
    integer(int32), intent(in), optional :: chunks(:), shards(:) ! 0: the whole dimension
    integer, intent(in), optional :: steps_per_chunk, steps_per_shard
    logical, intent(in), optional :: unsharded
    character(*), intent(in), optional :: codec
    logical, intent(in), optional :: checksum
    class(*), intent(in), optional :: fill_value
    character(*), intent(in), optional :: dimension_names(:)
    character(*), intent(in), optional :: attributes
    character(*), intent(in), optional :: time_unit
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    spec = build_spec(type, int(shape, int64), has_steps=.true.)
    call set_steps(spec, steps_per_chunk, steps_per_shard)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    call add_definition(self, name, spec, status, message)
  end subroutine define_int32

  subroutine define_int64(self, name, type, shape, chunks, shards, steps_per_chunk, steps_per_shard, unsharded, codec, &
                          checksum, fill_value, dimension_names, attributes, time_unit, status, message)
    class(parapet_series), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: type
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    integer, intent(in), optional :: steps_per_chunk, steps_per_shard
    logical, intent(in), optional :: unsharded
    character(*), intent(in), optional :: codec
    logical, intent(in), optional :: checksum
    class(*), intent(in), optional :: fill_value
    character(*), intent(in), optional :: dimension_names(:)
    character(*), intent(in), optional :: attributes
    character(*), intent(in), optional :: time_unit
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    spec = build_spec(type, shape, has_steps=.true.)
    call set_steps(spec, steps_per_chunk, steps_per_shard)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit)
    call add_definition(self, name, spec, status, message)
  end subroutine define_int64

  ! Before the layout is set, which then has room for the steps.
  subroutine set_steps(spec, steps_per_chunk, steps_per_shard)
    type(c_ptr), intent(in) :: spec
    integer, intent(in), optional :: steps_per_chunk, steps_per_shard
    integer(int64) :: of_chunk, of_shard
    of_chunk = 0
    of_shard = 0
    if (present(steps_per_chunk)) of_chunk = steps_per_chunk
    if (present(steps_per_shard)) of_shard = steps_per_shard
    call parapet_fortran_spec_steps(spec, of_chunk, of_shard)
  end subroutine set_steps

  subroutine add_definition(self, name, spec, status, message)
    class(parapet_series), intent(inout) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: spec
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    if (.not. c_associated(self%definitions)) self%definitions = parapet_fortran_definitions_build()
    call report(parapet_fortran_definitions_add(self%definitions, to_c(name), spec), status, message)
  end subroutine add_definition

  subroutine create_series(self, store, path, dimension, coordinate_attributes, attributes, status, message)
    class(parapet_series), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    character(*), intent(in), optional :: dimension             ! of the steps, and of their coordinate; "time"
    character(*), intent(in), optional :: coordinate_attributes ! a JSON object
    character(*), intent(in), optional :: attributes            ! of the group: a JSON object
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: code
    code = parapet_fortran_series_create(self%handle, store%handle, to_c(path), self%definitions, to_c(dimension), &
                                         to_c(coordinate_attributes), to_c(attributes))
    call parapet_fortran_definitions_free(self%definitions)
    self%definitions = c_null_ptr
    call report(code, status, message)
  end subroutine create_series

  subroutine open_series(self, store, path, status, message)
    class(parapet_series), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_open(self%handle, store%handle, to_c(path)), status, message)
  end subroutine open_series

  subroutine append_whole(self, coordinate, data, status, message)
    class(parapet_series), intent(in) :: self
    real(real64), intent(in) :: coordinate
    type(*), dimension(..), intent(in) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_append(self%handle, coordinate, data, [0_int64], -1_c_int), status, message)
  end subroutine append_whole

  subroutine append_int32(self, coordinate, data, start, status, message)
    class(parapet_series), intent(in) :: self
    real(real64), intent(in) :: coordinate
    type(*), dimension(..), intent(in) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_append(self%handle, coordinate, data, int(start, int64), &
                                              size(start, kind=c_int)), status, message)
  end subroutine append_int32

  subroutine append_int64(self, coordinate, data, start, status, message)
    class(parapet_series), intent(in) :: self
    real(real64), intent(in) :: coordinate
    type(*), dimension(..), intent(in) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_append(self%handle, coordinate, data, start, size(start, kind=c_int)), status, &
                message)
  end subroutine append_int64

  subroutine append_parts(self, coordinate, parts, status, message)
    class(parapet_series), intent(in) :: self
    real(real64), intent(in) :: coordinate
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_append_parts(self%handle, coordinate, parts%begun()), status, message)
  end subroutine append_parts

  subroutine start_append(self, coordinate, parts, request, copy, status, message)
    class(parapet_series), intent(in) :: self
    real(real64), intent(in) :: coordinate
    type(parapet_parts), intent(inout) :: parts
    type(parapet_request), intent(inout) :: request
    logical, intent(in), optional :: copy ! .true.: the data may be changed when start_append returns
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_start_append(request%handle, self%handle, coordinate, parts%begun(), &
                                                    buffering_of(copy)), status, message)
  end subroutine start_append

  subroutine flush_series(self, status, message)
    class(parapet_series), intent(in) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_flush(self%handle), status, message)
  end subroutine flush_series

  subroutine close_series(self, status, message)
    class(parapet_series), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_close(self%handle), status, message)
  end subroutine close_series

  subroutine get_info(self, steps, steps_committed, steps_per_row, shards_written, is_staged, path, dimension, names, &
                      status, message)
    class(parapet_series), intent(in) :: self
    integer(int64), intent(out), optional :: steps           ! appended so far
    integer(int64), intent(out), optional :: steps_committed ! that readers see and that survive a crash
    integer(int64), intent(out), optional :: steps_per_row   ! that a shard covers
    integer(int64), intent(out), optional :: shards_written  ! by this rank since the series was opened
    logical, intent(out), optional :: is_staged              ! open steps are kept in files
    character(:), allocatable, intent(out), optional :: path, dimension
    character(PARAPET_NAME_LENGTH), allocatable, intent(out), optional :: names(:) ! of the arrays
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: figures(5)
    integer(c_int) :: code
    type(c_ptr) :: texts
    texts = c_null_ptr
    code = parapet_fortran_series_info(self%handle, figures, texts)
    if (present(steps)) steps = figures(1)
    if (present(steps_committed)) steps_committed = figures(2)
    if (present(steps_per_row)) steps_per_row = figures(3)
    if (present(shards_written)) shards_written = figures(4)
    if (present(is_staged)) is_staged = figures(5) == 1
    if (present(path)) path = first_text(texts, 1)
    if (present(dimension)) dimension = second_text(texts, 1)
    if (present(names)) call take_names(texts, 1, names)
    call parapet_fortran_notes_free(texts)
    call report(code, status, message)
  end subroutine get_info

  ! The shape leaves out the dimension of the steps.
  subroutine get_array_info(self, name, type, shape, status, message)
    class(parapet_series), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: type
    integer(int64), allocatable, intent(out), optional :: shape(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: figures(2), code
    integer(c_int64_t) :: extents(max_ndim)
    figures = 0
    code = parapet_fortran_series_array_info(self%handle, to_c(name), figures, extents)
    if (present(type)) type = figures(1)
    if (present(shape)) shape = extents(:figures(2))
    call report(code, status, message)
  end subroutine get_array_info

  subroutine explain(self, text, status, message)
    class(parapet_series), intent(in) :: self
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: printed
    integer(c_int) :: code
    printed = c_null_ptr
    code = parapet_fortran_series_explain(self%handle, printed)
    text = take_text(printed)
    call report(code, status, message)
  end subroutine explain

  ! [collective] call parapet_series_repair(store, path, beyond): beyond is PARAPET_BEYOND_REFUSE, _ADOPT or _CUT
  subroutine parapet_series_repair(store, path, beyond, status, message)
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer, intent(in) :: beyond
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_series_repair(store%handle, to_c(path), int(beyond, c_int)), status, message)
  end subroutine parapet_series_repair

end module parapet_step_series
