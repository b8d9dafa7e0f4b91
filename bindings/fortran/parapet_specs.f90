! Descriptions of arrays to be created, made of optional arguments.
module parapet_specs
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use parapet_calls
  use parapet_constants
  use parapet_text
  implicit none
  private
  public :: build_spec, set_layout, set_details

  integer, parameter, public :: max_ndim = 32 ! PARAPET_MAX_NDIM of parapet.h

contains

  ! has_steps: a dimension for the steps of a series comes after those of shape.
  function build_spec(type, shape, has_steps) result(spec)
    integer, intent(in) :: type
    integer(int64), intent(in) :: shape(:)
    logical, intent(in) :: has_steps
    type(c_ptr) :: spec
    spec = parapet_fortran_spec_build(int(type, c_int), size(shape, kind=c_int), shape, &
                                      merge(1_c_int, 0_c_int, has_steps))
    if (.not. c_associated(spec)) error stop "Parapet: no memory is left for the description of an array"
  end function build_spec

  subroutine set_layout(spec, chunks, shards, unsharded)
    type(c_ptr), intent(in) :: spec
    integer(int64), intent(in), optional :: chunks(:), shards(:)
    logical, intent(in), optional :: unsharded
    if (present(chunks)) call parapet_fortran_spec_chunks(spec, chunks, size(chunks, kind=c_int))
    if (present(shards)) call parapet_fortran_spec_shards(spec, shards, size(shards, kind=c_int))
    if (is_true(unsharded)) call parapet_fortran_spec_unsharded(spec)
  end subroutine set_layout

  ! Everything that does not depend on the kind of integers.
  subroutine set_details(spec, codec, checksum, fill_value, dimension_names, attributes, time_unit, overwrite)
    type(c_ptr), intent(in) :: spec
    character(*), intent(in), optional :: codec, dimension_names(:), attributes, time_unit
    logical, intent(in), optional :: checksum, overwrite
    class(*), intent(in), optional :: fill_value
    if (present(codec)) call parapet_fortran_spec_codec(spec, to_c(codec))
    if (present(attributes)) call parapet_fortran_spec_attributes(spec, to_c(attributes))
    if (present(time_unit)) call parapet_fortran_spec_time_unit(spec, to_c(time_unit))
    if (present(dimension_names)) call set_names(spec, dimension_names)
    if (present(fill_value)) call set_fill(spec, fill_value)
    if (present(checksum)) then
      if (.not. checksum) call parapet_fortran_spec_no_checksum(spec)
    end if
    if (is_true(overwrite)) call parapet_fortran_spec_overwrite(spec)
  end subroutine set_details

  subroutine set_names(spec, names)
    type(c_ptr), intent(in) :: spec
    character(*), intent(in) :: names(:)
    character(len(names) * size(names)) :: all
    integer :: i
    do i = 1, size(names)
      all((i - 1) * len(names) + 1:i * len(names)) = names(i)
    end do
    call parapet_fortran_spec_names(spec, all, int(len(names), c_int), size(names, kind=c_int))
  end subroutine set_names

  pure logical function is_true(choice)
    logical, intent(in), optional :: choice
    is_true = .false.
    if (present(choice)) is_true = choice
  end function is_true

  subroutine set_fill(spec, value)
    type(c_ptr), intent(in) :: spec
    class(*), intent(in) :: value
    select type (value)
    type is (integer(int8))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_INT8)
    type is (integer(int16))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_INT16)
    type is (integer(int32))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_INT32)
    type is (integer(int64))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_INT64)
    type is (real(real32))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_FLOAT32)
    type is (real(real64))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_FLOAT64)
    type is (complex(real32))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_COMPLEX64)
    type is (complex(real64))
      call set_fill_bytes(spec, transfer(value, [c_null_char]), PARAPET_COMPLEX128)
    class default
      call set_fill_bytes(spec, [c_null_char], PARAPET_TYPE_OF_ARRAY) ! is refused
    end select
  end subroutine set_fill

  subroutine set_fill_bytes(spec, bytes, type)
    type(c_ptr), intent(in) :: spec
    character(kind=c_char), intent(in), target :: bytes(:)
    integer, intent(in) :: type
    call parapet_fortran_spec_fill(spec, c_loc(bytes), int(type, c_int))
  end subroutine set_fill_bytes

end module parapet_specs
