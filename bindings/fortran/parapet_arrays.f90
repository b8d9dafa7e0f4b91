! Arrays: call array%write(field(2:n + 1, 2:m + 1), start=[first_column, first_row])
!
! Dimensions are listed in Fortran order: shape(field) is the shape, and the first dimension is the fastest. The store
! lists them the other way round, as C and Python do, so that field(nx, ny) is seen as (ny, nx) there. It is the same
! memory in the same order: nothing is transposed. Indices count from 1.
module parapet_arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
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
  public :: parapet_arrays_create, parapet_arrays_open, parapet_arrays_close, parapet_arrays_write, parapet_arrays_read
  public :: parapet_arrays_start_write, parapet_arrays_start_read

  ! What a check has found; parapet.h explains each count.
  type, public :: parapet_check_summary
    integer(int64) :: shards_expected = 0
    integer(int64) :: shards_present = 0
    integer(int64) :: chunks_present = 0
    integer(int64) :: stored_bytes = 0
    integer(int64) :: missing = 0
    integer(int64) :: torn = 0
    integer(int64) :: stray = 0
  end type parapet_check_summary

  type, extends(parapet_described), public :: parapet_array
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
  contains
    ! [collective] call array%create(store, path, type, shape [, chunks] [, shards] ...). All integer lists are of one
    ! kind, default or int64.
    procedure, private :: create_int32
    procedure, private :: create_int64
    generic :: create => create_int32, create_int64
    ! [collective] call array%open(store, path)
    procedure :: open => open_array
    ! [collective] call array%close()
    procedure :: close => close_array
    ! [collective] call array%write(data [, start]): the box of the shape of data that begins at start, else at 1. Data
    ! of fewer dimensions than start is a slab: its missing last dimensions have one element each.
    procedure, private :: write_whole
    procedure, private :: write_int32
    procedure, private :: write_int64
    generic :: write => write_whole
    generic :: write => write_int32
    generic :: write => write_int64
    ! [collective] call array%read(data [, start]): the same, the other way
    procedure, private :: read_whole
    procedure, private :: read_int32
    procedure, private :: read_int64
    generic :: read => read_whole
    generic :: read => read_int32
    generic :: read => read_int64
    ! [local] call array%read_local(data [, start]): the same on this rank alone, on any thread
    procedure, private :: read_local_whole
    procedure, private :: read_local_int32
    procedure, private :: read_local_int64
    generic :: read_local => read_local_whole
    generic :: read_local => read_local_int32
    generic :: read_local => read_local_int64
    ! [collective] call array%write_points(points, data), call array%read_points(points, data): elements in any order, by
    ! their coordinates points(:, i), from 1
    procedure, private :: write_points_any
    generic :: write_points => write_points_any
    procedure, private :: read_points_any
    generic :: read_points => read_points_any
    ! [local] call array%read_points_local(points, data): the same on this rank alone
    procedure, private :: read_points_local_any
    generic :: read_points_local => read_points_local_any
    ! [collective] call array%write_runs(starts, lengths, data), call array%read_runs(starts, lengths, data): runs of the
    ! flat index, which counts the elements as Fortran stores them, from 1
    procedure, private :: write_runs_any
    generic :: write_runs => write_runs_any
    procedure, private :: read_runs_any
    generic :: read_runs => read_runs_any
    ! [local] call array%read_runs_local(starts, lengths, data): the same on this rank alone
    procedure, private :: read_runs_local_any
    generic :: read_runs_local => read_runs_local_any
    ! [collective] call array%write_parts(parts), call array%read_parts(parts): several boxes, or none
    procedure :: write_parts
    procedure :: read_parts
    ! [collective] call array%start_write(parts, request [, copy]), call array%start_read(parts, request): the same,
    ! beside the program
    procedure :: start_write
    procedure :: start_read
    ! [local] call array%read_parts_local(parts): the same on this rank alone
    procedure :: read_parts_local
    ! [local] call array%add_view(parts, data, filetype [, displacement] [, name]): adds what a file view of MPI-IO
    ! selects of the array; data holds it packed. filetype is an integer; of a type(MPI_Datatype), it is %MPI_VAL.
    procedure, private :: add_view_data
    generic :: add_view => add_view_data
    ! [collective] call array%resize(shape)
    procedure, private :: resize_int32
    procedure, private :: resize_int64
    generic :: resize => resize_int32, resize_int64
    ! [collective] call array%seal(), call array%unseal()
    procedure :: seal
    procedure :: unseal
    ! [collective] call array%flush(): writes what the option write_back has left for later
    procedure :: flush => flush_array
    ! [collective] call array%check(depth, summary [, findings]): depth is PARAPET_CHECK_SURVEY, _INDEX or _DATA. The
    ! findings are those of this rank; the summary is the same on all.
    procedure :: check
    ! [local] call array%get_info([type] [, shape] [, chunks] [, shards] [, is_sealed] [, path] [, codecs] ...)
    procedure :: get_info
    ! [local] call array%get_fill_value(value): value has the type and kind of the array
    procedure :: get_fill_value
    ! [local] call array%get_stored_boxes(start, count): box number i is start(:, i), count(:, i)
    procedure :: get_stored_boxes
    ! [local] call array%explain(text): how the array is divided into chunks and shards, in sentences
    procedure :: explain
    ! [local] array%dimension_name(1): "" if the dimension has no name
    procedure :: dimension_name
    procedure :: set_json
    procedure :: get_json
  end type parapet_array

contains

  subroutine create_int32(self, store, path, type, shape, chunks, shards, unsharded, codec, checksum, fill_value, &
                          dimension_names, attributes, time_unit, overwrite, status, message)
    class(parapet_array), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer, intent(in) :: type                               ! PARAPET_FLOAT64 and so on
    integer(int32), intent(in) :: shape(:)
    integer(int32), intent(in), optional :: chunks(:), shards(:) ! 0: the whole dimension
    logical, intent(in), optional :: unsharded                ! every chunk is stored as a separate object
    character(*), intent(in), optional :: codec               ! "zstd:3", "gzip:6", "none", ...
    logical, intent(in), optional :: checksum                 ! .false.: no CRC-32C on chunks
    class(*), intent(in), optional :: fill_value              ! of the type and kind of the array
    character(*), intent(in), optional :: dimension_names(:)
    character(*), intent(in), optional :: attributes          ! a JSON object
    character(*), intent(in), optional :: time_unit           ! of dates: "s", "ns", "D", ...
    logical, intent(in), optional :: overwrite                ! replace an array of this name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    spec = build_spec(type, int(shape, int64), has_steps=.false.)
    if (present(chunks)) call set_layout(spec, chunks=int(chunks, int64))
    if (present(shards)) call set_layout(spec, shards=int(shards, int64))
    call set_layout(spec, unsharded=unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit, overwrite)
    call create_from(self, store, path, spec, status, message)
  end subroutine create_int32

  subroutine create_int64(self, store, path, type, shape, chunks, shards, unsharded, codec, checksum, fill_value, &
                          dimension_names, attributes, time_unit, overwrite, status, message)
    class(parapet_array), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer, intent(in) :: type
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded
    character(*), intent(in), optional :: codec
    logical, intent(in), optional :: checksum
    class(*), intent(in), optional :: fill_value
    character(*), intent(in), optional :: dimension_names(:)
    character(*), intent(in), optional :: attributes
    character(*), intent(in), optional :: time_unit
    logical, intent(in), optional :: overwrite
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: spec
    spec = build_spec(type, shape, has_steps=.false.)
    call set_layout(spec, chunks, shards, unsharded)
    call set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit, overwrite)
    call create_from(self, store, path, spec, status, message)
  end subroutine create_int64

  subroutine create_from(self, store, path, spec, status, message)
    class(parapet_array), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    type(c_ptr), intent(in) :: spec
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: code
    code = parapet_fortran_array_create(self%handle, store%handle, to_c(path), spec)
    call parapet_fortran_spec_free(spec)
    call report(code, status, message)
  end subroutine create_from

  subroutine open_array(self, store, path, status, message)
    class(parapet_array), intent(inout) :: self
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_open(self%handle, store%handle, to_c(path)), status, message)
  end subroutine open_array

  subroutine close_array(self, status, message)
    class(parapet_array), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_close(self%handle), status, message)
  end subroutine close_array

  subroutine write_whole(self, data, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_write(self%handle, data, [0_int64], -1_c_int), status, message)
  end subroutine write_whole

  subroutine write_int32(self, data, start, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_write(self%handle, data, int(start, int64), size(start, kind=c_int)), status, &
                message)
  end subroutine write_int32

  subroutine write_int64(self, data, start, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(in) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_write(self%handle, data, start, size(start, kind=c_int)), status, message)
  end subroutine write_int64

  subroutine read_whole(self, data, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read(self%handle, data, [0_int64], -1_c_int), status, message)
  end subroutine read_whole

  subroutine read_int32(self, data, start, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read(self%handle, data, int(start, int64), size(start, kind=c_int)), status, &
                message)
  end subroutine read_int32

  subroutine read_int64(self, data, start, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read(self%handle, data, start, size(start, kind=c_int)), status, message)
  end subroutine read_int64

  subroutine read_local_whole(self, data, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_local(self%handle, data, [0_int64], -1_c_int), status, message)
  end subroutine read_local_whole

  subroutine read_local_int32(self, data, start, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: data
    integer(int32), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_local(self%handle, data, int(start, int64), size(start, kind=c_int)), status, &
                message)
  end subroutine read_local_int32

  subroutine read_local_int64(self, data, start, status, message)
    class(parapet_array), intent(in) :: self
    type(*), dimension(..), intent(inout) :: data
    integer(int64), intent(in) :: start(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_local(self%handle, data, start, size(start, kind=c_int)), status, message)
  end subroutine read_local_int64

  subroutine write_points_any(self, points, data, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: points(:, :)
    type(*), dimension(..), intent(in) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_write_points(self%handle, data, points, shape(points, kind=int64)), status, message)
  end subroutine write_points_any

  subroutine read_points_any(self, points, data, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: points(:, :)
    type(*), dimension(..), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_points(self%handle, data, points, shape(points, kind=int64)), status, message)
  end subroutine read_points_any

  subroutine read_points_local_any(self, points, data, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: points(:, :)
    type(*), dimension(..), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_points_local(self%handle, data, points, shape(points, kind=int64)), status, message)
  end subroutine read_points_local_any

  subroutine write_runs_any(self, starts, lengths, data, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: starts(:), lengths(:)
    type(*), dimension(..), intent(in) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_write_runs(self%handle, data, starts, lengths, &
                                            [size(starts, kind=int64), size(lengths, kind=int64)]), status, message)
  end subroutine write_runs_any

  subroutine read_runs_any(self, starts, lengths, data, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: starts(:), lengths(:)
    type(*), dimension(..), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_runs(self%handle, data, starts, lengths, &
                                            [size(starts, kind=int64), size(lengths, kind=int64)]), status, message)
  end subroutine read_runs_any

  subroutine read_runs_local_any(self, starts, lengths, data, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: starts(:), lengths(:)
    type(*), dimension(..), intent(inout) :: data
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_runs_local(self%handle, data, starts, lengths, &
                                            [size(starts, kind=int64), size(lengths, kind=int64)]), status, message)
  end subroutine read_runs_local_any

  subroutine write_parts(self, parts, status, message)
    class(parapet_array), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_write_parts(self%handle, parts%begun()), status, message)
  end subroutine write_parts

  subroutine start_write(self, parts, request, copy, status, message)
    class(parapet_array), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    type(parapet_request), intent(inout) :: request
    logical, intent(in), optional :: copy ! .true.: the data may be changed when start_write returns
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_start_write(request%handle, self%handle, parts%begun(), buffering_of(copy)), &
                status, message)
  end subroutine start_write

  subroutine start_read(self, parts, request, status, message)
    class(parapet_array), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    type(parapet_request), intent(inout) :: request
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_start_read(request%handle, self%handle, parts%begun()), status, message)
  end subroutine start_read

  subroutine read_parts(self, parts, status, message)
    class(parapet_array), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_parts(self%handle, parts%begun()), status, message)
  end subroutine read_parts

  subroutine add_view_data(self, parts, data, filetype, displacement, name, status, message)
    class(parapet_array), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    type(*), dimension(..), intent(inout), target :: data
    integer, intent(in) :: filetype
    integer(int64), intent(in), optional :: displacement ! in bytes, from the first element of the array
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: bytes
    bytes = 0
    if (present(displacement)) bytes = displacement
    call report(parapet_fortran_parts_add_view(parts%begun(), to_c(name), self%handle, data, int(filetype, c_int), &
                                               bytes), status, message)
  end subroutine add_view_data

  subroutine read_parts_local(self, parts, status, message)
    class(parapet_array), intent(in) :: self
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_read_parts_local(self%handle, parts%begun()), status, message)
  end subroutine read_parts_local

  subroutine resize_int32(self, shape, status, message)
    class(parapet_array), intent(in) :: self
    integer(int32), intent(in) :: shape(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call self%resize(int(shape, int64), status, message)
  end subroutine resize_int32

  subroutine resize_int64(self, shape, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), intent(in) :: shape(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_resize(self%handle, shape, size(shape, kind=c_int)), status, message)
  end subroutine resize_int64

  subroutine seal(self, status, message)
    class(parapet_array), intent(in) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_seal(self%handle), status, message)
  end subroutine seal

  subroutine flush_array(self, status, message)
    class(parapet_array), intent(in) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_flush(self%handle), status, message)
  end subroutine flush_array

  subroutine unseal(self, status, message)
    class(parapet_array), intent(in) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_array_unseal(self%handle), status, message)
  end subroutine unseal

  subroutine check(self, depth, summary, findings, status, message)
    class(parapet_array), intent(in) :: self
    integer, intent(in) :: depth
    type(parapet_check_summary), intent(out) :: summary
    type(parapet_finding), allocatable, intent(out), optional :: findings(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: c(7)
    integer(c_int) :: code
    type(c_ptr) :: found
    found = c_null_ptr
    code = parapet_fortran_array_check(self%handle, int(depth, c_int), c, found)
    summary = parapet_check_summary(c(1), c(2), c(3), c(4), c(5), c(6), c(7))
    if (present(findings)) call take_findings(found, findings)
    call parapet_fortran_notes_free(found)
    call report(code, status, message)
  end subroutine check

  subroutine get_info(self, type, shape, chunks, shards, is_sealed, is_sharded, zarr_format, fill_is_defined, path, &
                      type_name, codecs, status, message)
    class(parapet_array), intent(in) :: self
    integer, intent(out), optional :: type
    integer(int64), allocatable, intent(out), optional :: shape(:), chunks(:), shards(:)
    logical, intent(out), optional :: is_sealed, is_sharded
    integer, intent(out), optional :: zarr_format      ! 3, or 2 for an array that can only be read
    logical, intent(out), optional :: fill_is_defined  ! .false.: the metadata defines none, and zero is used
    character(:), allocatable, intent(out), optional :: path, type_name
    character(:), allocatable, intent(out), optional :: codecs ! in words: "zstd:3 crc32c"
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: figures(6), code
    integer(c_int64_t) :: lists(max_ndim, 3)
    type(c_ptr) :: texts(3)
    figures = 0
    texts = c_null_ptr
    code = parapet_fortran_array_texts(self%handle, texts(1), texts(2), texts(3))
    code = parapet_fortran_array_info(self%handle, figures, lists(:, 1), lists(:, 2), lists(:, 3))
    if (present(type)) type = figures(1)
    if (present(shape)) shape = lists(:figures(2), 1)
    if (present(chunks)) chunks = lists(:figures(2), 2)
    if (present(shards)) shards = lists(:figures(2), 3)
    if (present(is_sealed)) is_sealed = figures(3) == 1
    if (present(is_sharded)) is_sharded = figures(4) == 1
    if (present(zarr_format)) zarr_format = figures(5)
    if (present(fill_is_defined)) fill_is_defined = figures(6) == 1
    if (present(path)) path = from_c(texts(1))
    if (present(type_name)) type_name = from_c(texts(2))
    if (present(codecs)) codecs = from_c(texts(3))
    call report(code, status, message)
  end subroutine get_info

  subroutine get_fill_value(self, value, status, message)
    class(parapet_array), intent(in) :: self
    class(*), intent(inout), target :: value
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: code
    select type (value)
    type is (integer(int8))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_INT8, c_int))
    type is (integer(int16))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_INT16, c_int))
    type is (integer(int32))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_INT32, c_int))
    type is (integer(int64))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_INT64, c_int))
    type is (real(real32))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_FLOAT32, c_int))
    type is (real(real64))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_FLOAT64, c_int))
    type is (complex(real32))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_COMPLEX64, c_int))
    type is (complex(real64))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_COMPLEX128, c_int))
    type is (logical(c_bool))
      code = parapet_fortran_array_fill(self%handle, c_loc(value), int(PARAPET_BOOL, c_int))
    class default
      code = parapet_fortran_array_fill(self%handle, c_null_ptr, int(PARAPET_TYPE_OF_ARRAY, c_int)) ! is refused
    end select
    call report(code, status, message)
  end subroutine get_fill_value

  subroutine get_stored_boxes(self, start, count, status, message)
    class(parapet_array), intent(in) :: self
    integer(int64), allocatable, intent(out) :: start(:, :), count(:, :)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: figures(2)
    integer(c_int64_t), pointer :: numbers(:, :)
    type(c_ptr) :: found
    integer(c_int) :: code
    found = c_null_ptr
    code = parapet_fortran_array_list(self%handle, found, figures)
    allocate (start(figures(1), figures(2)), count(figures(1), figures(2)))
    if (c_associated(found)) then
      call c_f_pointer(found, numbers, [2 * figures(1), figures(2)])
      start = numbers(:figures(1), :)
      count = numbers(figures(1) + 1:, :)
    end if
    call parapet_fortran_free(found)
    call report(code, status, message)
  end subroutine get_stored_boxes

  subroutine explain(self, text, status, message)
    class(parapet_array), intent(in) :: self
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: printed
    integer(c_int) :: code
    printed = c_null_ptr
    code = parapet_fortran_array_explain(self%handle, printed)
    text = take_text(printed)
    call report(code, status, message)
  end subroutine explain

  function dimension_name(self, dimension) result(name)
    class(parapet_array), intent(in) :: self
    integer, intent(in) :: dimension
    character(:), allocatable :: name
    name = from_c(parapet_fortran_array_dimension_name(self%handle, int(dimension, c_int)))
  end function dimension_name

  integer(c_int) function set_json(self, name, json)
    class(parapet_array), intent(in) :: self
    character(*), intent(in) :: name, json
    set_json = parapet_fortran_array_attribute_set(self%handle, name, json)
  end function set_json

  integer(c_int) function get_json(self, name, json)
    class(parapet_array), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(inout) :: json
    get_json = parapet_fortran_array_attribute_get(self%handle, name, json)
  end function get_json

  ! [collective] call parapet_arrays_create(arrays, store, definitions): as many arrays as were defined, at the cost of a
  ! few calls
  subroutine parapet_arrays_create(arrays, store, definitions, status, message)
    type(parapet_array), intent(inout) :: arrays(:)
    type(parapet_store), intent(in) :: store
    type(parapet_definitions), intent(inout) :: definitions
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    integer(c_int) :: code
    handles = arrays%handle
    code = parapet_fortran_arrays_create(c_loc(handles), size(arrays, kind=c_int), store%handle, definitions%begun())
    arrays%handle = handles
    call report(code, status, message)
  end subroutine parapet_arrays_create

  ! [collective] call parapet_arrays_open(arrays, store, paths)
  subroutine parapet_arrays_open(arrays, store, paths, status, message)
    type(parapet_array), intent(inout) :: arrays(:)
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: paths(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    character(:), allocatable :: texts
    integer(c_int) :: code
    integer :: i
    texts = ""
    do i = 1, size(paths)
      texts = texts // to_c(paths(i))
    end do
    handles = arrays%handle
    code = parapet_fortran_arrays_open(c_loc(handles), size(arrays, kind=c_int), store%handle, texts, &
                                       size(paths, kind=c_int))
    arrays%handle = handles
    call report(code, status, message)
  end subroutine parapet_arrays_open

  ! [collective] call parapet_arrays_close(arrays)
  subroutine parapet_arrays_close(arrays, status, message)
    type(parapet_array), intent(inout) :: arrays(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    integer(c_int) :: code
    handles = arrays%handle
    code = parapet_fortran_arrays_close(c_loc(handles), size(arrays, kind=c_int))
    arrays%handle = handles
    call report(code, status, message)
  end subroutine parapet_arrays_close

  ! [collective] call parapet_arrays_write(arrays, parts): many arrays as one transfer; each part has the path of its
  ! array as its name
  subroutine parapet_arrays_write(arrays, parts, status, message)
    type(parapet_array), intent(in) :: arrays(:)
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    handles = arrays%handle
    call report(parapet_fortran_arrays_write(c_loc(handles), size(arrays, kind=c_int), parts%begun()), status, message)
  end subroutine parapet_arrays_write

  ! [collective] call parapet_arrays_read(arrays, parts): the same, the other way
  subroutine parapet_arrays_read(arrays, parts, status, message)
    type(parapet_array), intent(in) :: arrays(:)
    type(parapet_parts), intent(inout) :: parts
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    handles = arrays%handle
    call report(parapet_fortran_arrays_read(c_loc(handles), size(arrays, kind=c_int), parts%begun()), status, message)
  end subroutine parapet_arrays_read

  ! [collective] call parapet_arrays_start_write(arrays, parts, request [, copy]): parapet_arrays_write, beside the
  ! program
  subroutine parapet_arrays_start_write(arrays, parts, request, copy, status, message)
    type(parapet_array), intent(in) :: arrays(:)
    type(parapet_parts), intent(inout) :: parts
    type(parapet_request), intent(inout) :: request
    logical, intent(in), optional :: copy
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    handles = arrays%handle
    call report(parapet_fortran_arrays_start_write(request%handle, c_loc(handles), size(arrays, kind=c_int), &
                                                   parts%begun(), buffering_of(copy)), status, message)
  end subroutine parapet_arrays_start_write

  ! [collective] call parapet_arrays_start_read(arrays, parts, request): the same, the other way
  subroutine parapet_arrays_start_read(arrays, parts, request, status, message)
    type(parapet_array), intent(in) :: arrays(:)
    type(parapet_parts), intent(inout) :: parts
    type(parapet_request), intent(inout) :: request
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr), target :: handles(size(arrays))
    handles = arrays%handle
    call report(parapet_fortran_arrays_start_read(request%handle, c_loc(handles), size(arrays, kind=c_int), &
                                                  parts%begun()), status, message)
  end subroutine parapet_arrays_start_read

end module parapet_arrays
