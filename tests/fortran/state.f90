! Series, checkpoints, groups, attributes and copies in one process, with any flavour and compiler.
program state
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use parapet
  implicit none
  type(parapet_store) :: store
  call store%open("memory:state", mode=PARAPET_CREATE, memory_bytes=16 * 1024_int64**2)
  call check_series()
  call check_checkpoint()
  call check_group()
  call check_copy()
  call check_statistics()
  call store%close()

contains

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (.not. is_so) error stop what
  end subroutine expect

  subroutine check_statistics()
    type(parapet_statistics) :: statistics
    call store%get_statistics(statistics)
    call expect(statistics%objects_written > 0 .and. statistics%shards_owned > 0, "counts")
    call expect(statistics%storage_seconds > 0 .and. statistics%storage_seconds < 3600, "seconds of storage")
  end subroutine check_statistics

  subroutine check_series()
    type(parapet_series) :: series
    type(parapet_array) :: array
    type(parapet_parts) :: parts
    real, target :: a(4, 3)
    integer, target :: b(5)
    real :: last(4, 3)
    integer(int64) :: steps
    integer(int64), allocatable :: extents(:), chunks(:)
    integer :: step
    call series%define("a", PARAPET_FLOAT32, shape=[4, 3], chunks=[2, 3], steps_per_chunk=2, dimension_names=["x", "y"])
    call series%define("b", PARAPET_INT32, shape=[5_int64], steps_per_chunk=2, chunks=[5_int64])
    call series%create(store, "series", dimension="day", coordinate_attributes='{"units": "days since 2000-01-01"}')
    do step = 1, 3
      a = step
      b = -step
      call parts%clear()
      call parts%add(a, start=[1, 1], name="a")
      call parts%add(b, start=[1_int64], name="b")
      call series%append_parts(real(step, real64), parts)
    end do
    call series%get_info(steps=steps)
    call expect(steps == 3, "a series has another number of steps than were appended")
    call series%close()
    call array%open(store, "series/a")
    call array%get_info(shape=extents, chunks=chunks)
    call expect(all(extents == [4, 3, 3]) .and. all(chunks == [2, 3, 2]), "an array of a series has another shape")
    call expect(array%dimension_name(1) == "x" .and. array%dimension_name(3) == "day", "a dimension has another name")
    call array%read(last, start=[1, 1, 3])
    call expect(all(last == 3), "the last step is another after reading")
    call array%close()
  end subroutine check_series

  subroutine check_checkpoint()
    type(parapet_checkpoint) :: checkpoint
    type(parapet_restore) :: restore
    complex :: wave(6), back(6)
    integer(int64) :: generation
    integer(int64), allocatable :: generations(:)
    integer :: step
    real(real64) :: time
    logical :: is_last
    wave = (1.0, -2.0)
    call checkpoint%begin(store, "restart", keep=-1)
    call checkpoint%put("wave", wave(1:6:2), start=[4], shape=[6])
    call checkpoint%set_attribute("step", 4711)
    call checkpoint%set_attribute("time", 0.1_real64)
    call checkpoint%set_attribute("is_last", .false.)
    call checkpoint%commit(generation)
    call expect(generation == 1, "the first generation has another number")
    call restore%open(store, "restart")
    call restore%get("wave", back)
    call restore%get_attribute("step", step)
    call restore%get_attribute("time", time)
    call restore%get_attribute("is_last", is_last)
    call restore%close()
    call expect(all(back(:3) == 0) .and. all(back(4:) == wave(4:)), "a state is another after restoring")
    call expect(step == 4711 .and. time == 0.1_real64 .and. .not. is_last, "an attribute is another after restoring")
    call parapet_checkpoint_list(store, "restart", generations)
    call expect(size(generations) == 1 .and. generations(1) == 1, "there are other generations than were committed")
  end subroutine check_checkpoint

  subroutine check_group()
    type(parapet_group) :: group
    character(PARAPET_NAME_LENGTH), allocatable :: names(:)
    character(:), allocatable :: json
    character(20) :: text
    character(1), parameter :: backslash = achar(92)
    call group%open(store, "")
    call group%list(names)
    call expect(size(names) == 2 .and. names(1) == "restart" .and. names(2) == "series", "the root has other members")
    call group%set_attribute("quoted", 'a "b" ' // backslash)
    call group%get_attribute("quoted", text)
    call group%get_attribute_json("quoted", json)
    call expect(text == 'a "b" ' // backslash, "a text is another after reading")
    call expect(json == '"a ' // backslash // '"b' // backslash // '" ' // backslash // backslash // '"', &
                "a text is not quoted as JSON wants it")
    call group%close()
  end subroutine check_group

  subroutine check_copy()
    type(parapet_array) :: array
    type(parapet_copy_result) :: result
    integer(int64), allocatable :: chunks(:)
    call parapet_copy(store, "series/a", store, "copy", chunks="day/,y/1,x/1", verify=.true., result=result)
    call expect(result%arrays == 1 .and. result%verified_bytes > 0, "a copy was not verified")
    call array%open(store, "copy")
    call array%get_info(chunks=chunks)
    call expect(all(chunks == [1, 1, 3]), "a copy has other chunks than it was to have")
    call array%close()
  end subroutine check_copy

end program state
