! What the programs of the tutorial do not need: types that Fortran does not have, many arrays at once, findings, progress,
! and all that can be asked for. In one process, with any flavour and compiler.
!
!     details STORE
module watching
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer(int64) :: calls = 0, last_done = -1, last_total = -1
  logical :: is_to_cancel = .false.
contains
  subroutine note_progress(done_bytes, total_bytes, cancel)
    integer(int64), intent(in) :: done_bytes, total_bytes
    logical, intent(inout) :: cancel
    calls = calls + 1
    last_done = done_bytes
    last_total = total_bytes
    cancel = is_to_cancel
  end subroutine note_progress
end module watching

program details
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real64
  use parapet
  use watching
  implicit none
  type(parapet_store) :: store
  character(1000) :: path
  call get_command_argument(1, path)
  call store%open(path, mode=PARAPET_CREATE, durability=PARAPET_DURABILITY_LEAVE, weights="disks.txt ", &
                  progress=note_progress)
  call check_series()
  call check_restore()
  call check_many()
  call check_requests()
  call check_info()
  call check_progress()
  call check_findings()
  call check_words()
  call store%close()

contains

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (.not. is_so) error stop what
  end subroutine expect

  ! Unsigned integers and dates are held bit by bit.
  subroutine check_series()
    type(parapet_series) :: series
    type(parapet_parts) :: parts
    type(parapet_array) :: array
    integer(int16), target :: counts(3) = [1_int16, -1_int16, 2_int16]
    integer(int64), target :: dates(2) = [946684800_int64, 0_int64]
    integer(int32), target :: wrong(3) = 0
    character(PARAPET_NAME_LENGTH), allocatable :: names(:)
    character(:), allocatable :: text, dimension
    character(200) :: message
    integer(int64) :: per_row
    integer(int64), allocatable :: extents(:)
    integer :: status, type
    call series%define("counts", PARAPET_UINT16, shape=[3])
    call series%define("dates", PARAPET_DATETIME64, shape=[2], time_unit="s")
    call series%create(store, "series")
    call parts%add(counts, start=[1], name="counts")
    call parts%add(dates, start=[1], name="dates")
    call series%append_parts(0.0_real64, parts)
    call parts%clear()
    call parts%add(wrong, start=[1], name="counts")
    call series%append_parts(1.0_real64, parts, status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "uint16") > 0, "integers of another size were taken")
    call series%get_info(names=names, dimension=dimension, steps_per_row=per_row)
    call expect(size(names) == 2 .and. names(2) == "dates" .and. dimension == "time" .and. per_row == 1, &
                "a series has other arrays")
    call series%explain(text)
    call expect(len(text) > 40, "a series explains nothing")
    call series%get_array_info("counts", type, extents)
    call expect(type == PARAPET_UINT16 .and. size(extents) == 1 .and. extents(1) == 3, "a step is described as another")
    call series%get_array_info("nothing", status=status)
    call expect(status == PARAPET_ERR_ARGUMENT, "an array is described that is not there")
    call series%close()
    call array%open(store, "series/counts")
    counts = 0
    call array%read(counts, start=[1, 1])
    call expect(all(counts == [1, -1, 2]), "unsigned integers are others after reading")
    counts = 0
    call array%read_local(counts, start=[1, 1])
    call expect(all(counts == [1, -1, 2]), "a rank alone reads other elements")
    counts = 0
    call array%read_local(counts, start=[1_int64, 1_int64])
    call expect(all(counts == [1, -1, 2]), "a rank alone reads other elements from a large start")
    call array%read_local(counts, start=[2, 2], status=status, message=message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. len_trim(message) > 0, "a rank alone reads outside the array")
    counts = 0
    call parts%clear()
    call parts%add(counts, start=[1, 1])
    call array%read_parts_local(parts)
    call expect(all(counts == [1, -1, 2]), "a rank alone reads other parts")
    call array%close()
    call check_listed()
    call check_series_of_one()
  end subroutine check_series

  subroutine check_listed()
    type(parapet_array) :: array
    integer(int32) :: whole(3, 4), found(4), i
    integer(int64) :: points(2, 4), starts(2), lengths(2)
    character(200) :: message
    integer :: status
    call array%create(store, "series/listed", PARAPET_INT32, shape=[3, 4])
    points = reshape([3_int64, 4_int64, 1_int64, 1_int64, 2_int64, 1_int64, 1_int64, 3_int64], [2, 4])
    call array%write_points(points, [34_int32, 11_int32, 21_int32, 13_int32])
    call array%read(whole)
    call expect(whole(3, 4) == 34 .and. whole(1, 1) == 11 .and. whole(2, 1) == 21 .and. whole(1, 3) == 13, &
                "points are written elsewhere")
    call expect(sum(whole) == 79, "points change other elements")
    call array%read_points(points(:, 4:1:-1), found)
    call expect(all(found == [13, 21, 11, 34]), "points are read from elsewhere")
    found = 0
    call array%read_points_local(points, found)
    call expect(all(found == [34, 11, 21, 13]), "a rank alone reads other points")
    starts = [10_int64, 2_int64]
    lengths = [1_int64, 3_int64]
    call array%write_runs(starts, lengths, [(i, i=1, 4)])
    call array%read_runs(starts, lengths, found)
    call expect(all(found == [1, 2, 3, 4]), "runs are not what was written")
    call array%read_runs_local([2_int64], [4_int64], found)
    call expect(all(found == [2, 3, 4, 0]), "a rank alone reads another run")
    call array%read_points(points(:, 1:3), found, status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "3 elements are listed") > 0, &
                "memory for another number of points was taken")
    points(1, 2) = 4
    call array%read_points(points, found, status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "point 1 ") > 0, "a point outside was read")
    call array%close()
  end subroutine check_listed

  subroutine check_series_of_one()
    type(parapet_series) :: series
    integer(int64) :: spans(2) = [1_int64, -5_int64]
    call series%define("spans", PARAPET_TIMEDELTA64, shape=[2], time_unit="ms")
    call series%create(store, "spans")
    call series%append(0.0_real64, spans)
    call series%close()
  end subroutine check_series_of_one

  ! Several arrays in one put and one get.
  subroutine check_restore()
    type(parapet_definitions) :: arrays
    type(parapet_checkpoint) :: checkpoint
    type(parapet_restore) :: restore
    type(parapet_parts) :: parts
    integer(int64), target :: dates(4) = [1, 2, 3, 4]
    real(real64), target :: left(2, 3) = 1, right(3, 3) = 2
    integer(int32) :: flags(2) = [7, -7], back(2)
    character(PARAPET_NAME_LENGTH), allocatable :: names(:)
    character(:), allocatable :: problem, group
    integer(int64), allocatable :: generations(:), extents(:)
    character(200) :: message
    integer :: status, type
    call arrays%add("dates", PARAPET_DATETIME64, shape=[4], time_unit="D")
    call arrays%add("field", PARAPET_FLOAT64, shape=[5_int64, 3_int64], chunks=[5_int64, 3_int64], codec="none")
    call parts%add(dates, start=[1], name="dates")
    call parts%add(left, start=[1, 1], name="field")
    call parts%add(right, start=[3, 1], name="field")
    call checkpoint%begin(store, "restart")
    call checkpoint%put_parts(arrays, parts)
    call checkpoint%put("flags", flags, type=PARAPET_UINT32)
    call checkpoint%commit()
    dates = 0
    left = 0
    right = 0
    call restore%open(store, "restart")
    call restore%get_parts(parts)
    call restore%get("flags", back)
    call expect(all(dates == [1, 2, 3, 4]) .and. all(left == 1) .and. all(right == 2) .and. all(back == flags), &
                "arrays that were put together are others after restoring")
    call restore%get_info(names=names, problem=problem, path=group)
    call expect(size(names) == 3 .and. any(names == "flags") .and. problem == "" .and. index(group, "restart/") == 1, &
                "a generation has other arrays")
    call restore%get_array_info("field", type, extents)
    call expect(type == PARAPET_FLOAT64 .and. all(extents == [5, 3]), "an array of a generation is described as another")
    call parts%add(left, start=[1, 1], name="filed")
    call restore%get_parts(parts, status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, 'no array "filed"') > 0, "a wrong name was taken")
    call restore%close()
    call parapet_checkpoint_list(store, "restart", generations)
    call expect(size(generations) == 1, "there is another number of generations")
  end subroutine check_restore

  subroutine check_many()
    type(parapet_definitions) :: definitions
    type(parapet_array) :: arrays(2), again(2), few(1)
    type(parapet_group) :: group
    character(PARAPET_NAME_LENGTH), allocatable :: names(:)
    integer, allocatable :: kinds(:)
    character(200) :: message
    integer :: status
    call definitions%add("many/a", PARAPET_INT32, shape=[4], fill_value=-1)
    call definitions%add("many/b", PARAPET_FLOAT64, shape=[4, 2])
    call parapet_arrays_create(few, store, definitions, status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "1 variables for 2") > 0, "too few were enough")
    call parapet_arrays_create(arrays, store, definitions)
    call parapet_arrays_open(again, store, ["many/b", "many/a"])
    call expect(info_path(again(1)) == "many/b" .and. info_path(again(2)) == "many/a", "other arrays were opened")
    call parapet_arrays_open(again, store, ["many/b", "many/a"], status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "close that first") > 0, "handles were lost")
    call parapet_arrays_close(again)
    call parapet_arrays_close(arrays)
    call group%open(store, "")
    call group%list(names, kinds)
    call expect(all(kinds == PARAPET_NODE_GROUP) .and. size(kinds) == size(names), "a group is of another kind")
    call group%close()
  end subroutine check_many

  function info_path(array) result(found)
    type(parapet_array), intent(in) :: array
    character(:), allocatable :: found
    call array%get_info(path=found)
  end function info_path

  ! Everything that can be started.
  subroutine check_requests()
    type(parapet_definitions) :: definitions
    type(parapet_array) :: arrays(2)
    type(parapet_parts) :: parts, wanted
    type(parapet_request) :: request
    type(parapet_series) :: series
    type(parapet_checkpoint) :: checkpoint
    integer(int32), target, asynchronous :: values(4) = [1, 2, 3, 4], back(4) = 0
    integer(int64) :: generation, steps
    character(200) :: message
    integer :: status
    logical :: is_done
    call definitions%add("requests/a", PARAPET_INT32, shape=[4])
    call definitions%add("requests/b", PARAPET_INT32, shape=[4])
    call parapet_arrays_create(arrays, store, definitions)
    call parts%add(values, start=[1])
    call wanted%add(back, start=[1])
    call arrays(1)%start_write(parts, request, copy=.true.)
    values = [5, 6, 7, 8]
    call arrays(1)%start_read(wanted, request, status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "an open request") > 0, "a request was overwritten")
    call request%wait()
    call arrays(1)%start_read(wanted, request)
    do
      call request%test(is_done)
      if (is_done) exit
    end do
    call request%wait()
    call expect(all(back == [1, 2, 3, 4]), "what was copied was changed")
    call request%wait(status, message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "needs a request") > 0, "nothing was waited for")
    call parts%clear()
    call wanted%clear()
    call parts%add(values, start=[1], name="requests/b")
    call wanted%add(back, start=[1], name="requests/b")
    call parapet_arrays_start_write(arrays, parts, request)
    call request%wait()
    call parapet_arrays_start_read(arrays, wanted, request)
    call request%wait()
    call expect(all(back == [5, 6, 7, 8]), "what was borrowed is another")
    call parapet_arrays_close(arrays)
    call parts%clear()
    call parts%add(values, start=[1], name="u")
    call series%define("u", PARAPET_INT32, shape=[4])
    call series%create(store, "requests/series")
    call series%start_append(0.0_real64, parts, request, copy=.true.)
    call request%wait()
    call series%get_info(steps=steps)
    call expect(steps == 1, "there is another number of steps")
    call series%close()
    call definitions%clear()
    call definitions%add("u", PARAPET_INT32, shape=[4])
    call checkpoint%begin(store, "requests/restart")
    call checkpoint%start(definitions, parts, request, generation=generation)
    call request%wait()
    call expect(generation == 1, "the generation has another number")
  end subroutine check_requests

  subroutine check_info()
    type(parapet_array) :: array
    character(:), allocatable :: codecs, type_name, text
    integer(int64), allocatable :: start(:, :), count(:, :)
    logical :: is_sharded, is_defined
    integer :: format, fill, status
    real :: wrong
    logical(c_bool) :: is_wrong
    call array%create(store, "info", PARAPET_INT32, shape=[6, 4], chunks=[2, 4], shards=[4, 4], fill_value=-3, &
                      codec="gzip:1")
    call array%write(reshape([5, 6], [2, 1]), start=[5, 2])
    call array%get_info(codecs=codecs, type_name=type_name, is_sharded=is_sharded, zarr_format=format, &
                        fill_is_defined=is_defined)
    call expect(index(codecs, "gzip:1") > 0 .and. type_name == "int32" .and. is_sharded .and. is_defined .and. format == 3, &
                "an array is described as another")
    call array%get_fill_value(fill)
    call expect(fill == -3, "a fill value is another")
    call array%get_fill_value(wrong, status)
    call expect(status == PARAPET_ERR_ARGUMENT, "a fill value of another type was taken")
    call array%get_fill_value(is_wrong, status)
    call expect(status == PARAPET_ERR_ARGUMENT, "a fill value of another type was taken")
    call array%get_stored_boxes(start, count)
    call expect(size(start, 2) == 1 .and. all(start(:, 1) == [5, 1]) .and. all(count(:, 1) == [2, 4]), &
                "other boxes are stored than were written")
    call array%explain(text)
    call expect(index(text, "shard") > 0, "an array explains nothing")
    call array%close()
  end subroutine check_info

  ! Progress is told, and may end a copy, which is then resumed.
  subroutine check_progress()
    type(parapet_array) :: array
    type(parapet_copy_result) :: result
    character(:), allocatable :: plan
    integer :: status
    real(real64) :: field(64, 64, 8)
    field = 1
    call array%create(store, "source", PARAPET_FLOAT64, shape=shape(field), chunks=[64, 64, 1])
    call array%write(field)
    call array%close()
    call expect(calls > 0 .and. last_done == last_total .and. last_total > 0, "a write told nothing of its progress")
    call parapet_copy_plan(store, "source", store, "copy", plan, chunks="8,8,64", no_probe=.true.)
    call expect(index(plan, "pass") > 0, "the plan of a copy says nothing of its passes")
    is_to_cancel = .true.
    call parapet_copy(store, "source", store, "copy", chunks="8,8,64", no_probe=.true., status=status)
    call expect(status == PARAPET_ERR_CANCELLED, "a copy was not cancelled")
    is_to_cancel = .false.
    call parapet_copy(store, "source", store, "copy", chunks="8,8,64", no_probe=.true., resume=.true., checksum=.true., &
                      verify=.true., result=result)
    call expect(result%arrays == 1 .and. result%verified_bytes > 0, "a copy was not resumed")
    call parapet_copy(store, "many", store, "some", include="a,b", exclude="b", no_probe=.true., result=result)
    call expect(result%arrays == 1, "a copy of one array by its name had another number of them")
    call check_append()
    call check_file()
  end subroutine check_progress

  ! A group whose coordinate is already in another one, and a dimension that it does not have.
  subroutine check_append()
    type(parapet_array) :: array
    type(parapet_copy_result) :: result
    integer :: status
    call array%create(store, "part/time", PARAPET_INT32, shape=[3], dimension_names=["time"])
    call array%write([1, 2, 3])
    call array%close()
    call parapet_copy(store, "part", store, "joined", no_probe=.true.)
    call parapet_copy(store, "part", store, "joined", append="time", result=result)
    call expect(result%extent_before == 3 .and. result%extent_after == 3 .and. &
                result%repaired == PARAPET_REPAIR_NONE, "a group was appended that was already there")
    call parapet_copy(store, "part", store, "joined", append="depth", status=status)
    call expect(status == PARAPET_ERR_ARGUMENT, "a group was appended along a dimension that it does not have")
  end subroutine check_append

  ! An array as a file of another format, beside the store.
  subroutine check_file()
    character(:), allocatable :: left_out
    integer(int64) :: bytes
    integer :: status, unit
    call parapet_file_write(store, "source", trim(path) // ".npy", dry_run=.true., left_out=left_out)
    inquire (file=trim(path) // ".npy", size=bytes)
    call expect(index(left_out, "the names of the dimensions") == 1, "what a file cannot say is not told")
    call expect(bytes == -1, "a file was written although it was only to be described")
    is_to_cancel = .true.
    call parapet_file_write(store, "source", trim(path) // ".npy", status=status)
    is_to_cancel = .false.
    inquire (file=trim(path) // ".npy", size=bytes)
    call expect(status == PARAPET_ERR_CANCELLED .and. bytes == -1, "the writing of a file was not cancelled")
    call parapet_file_write(store, "source", trim(path) // ".npy", verify=.true.)
    inquire (file=trim(path) // ".npy", size=bytes)
    call expect(bytes == 128 + 8 * 64 * 64 * 8, "a file has another size")
    call parapet_file_write(store, "source", trim(path) // ".npy", status=status)
    call expect(status == PARAPET_ERR_EXISTS, "a file was replaced")
    call parapet_file_write(store, "source", trim(path) // ".npy", overwrite=.true.)
    open (newunit=unit, file=trim(path) // ".npy")
    close (unit, status="delete")
    call parapet_file_write(store, "many", trim(path) // ".nc", include="a,b", exclude="b")
    open (newunit=unit, file=trim(path) // ".nc", status="old")
    close (unit, status="delete")
  end subroutine check_file

  subroutine check_findings()
    type(parapet_array) :: array
    type(parapet_check_summary) :: summary
    type(parapet_finding), allocatable :: findings(:)
    type(parapet_removal), allocatable :: removals(:)
    integer :: unit
    integer(int64) :: count
    call array%create(store, "damaged", PARAPET_INT32, shape=[4], chunks=[4], shards=[4])
    call array%write([1, 2, 3, 4])
    call array%check(PARAPET_CHECK_DATA, summary, findings)
    call expect(size(findings) == 0 .and. summary%torn == 0, "a sound array is said to be damaged")
    open (newunit=unit, file=trim(path) // "/damaged/c/0", access="stream", action="readwrite")
    write (unit, pos=1) "x"
    close (unit)
    call array%check(PARAPET_CHECK_DATA, summary, findings)
    call expect(size(findings) == 1 .and. summary%torn == 1, "damage was not found")
    call expect(findings(1)%kind == PARAPET_FINDING_TORN .and. index(findings(1)%key, "damaged/c/0") > 0 .and. &
                len(findings(1)%problem) > 10, "damage is described as something else")
    call array%close()
    open (newunit=unit, file=trim(path) // "/.parapet-0123456789abcdef0123456789abcdef.tmp", action="write")
    close (unit)
    call store%collect(dry_run=.true., removals=removals)
    call expect(size(removals) == 1, "another number of objects is to be removed than were left")
    call expect(index(removals(1)%key, "0123456789abcdef") > 0 .and. len(removals(1)%reason) > 5, &
                "an object is to be removed that nobody left")
    call store%collect(count=count)
    call expect(count == 1, "another number of objects was removed than were left")
    call store%remove("damaged", removals=removals)
    call expect(size(removals) == 1, "another number of nodes was removed than there were")
    call expect(removals(1)%key == "damaged" .and. removals(1)%reason == "array", "another node was removed")
  end subroutine check_findings

  subroutine check_words()
    integer :: rank
    character(20) :: flavour
    character(:), allocatable :: options
    call store%get_options(options)
    call expect(index(options, "weights = disks.txt (given)") > 0, "a text is not passed on")
    call expect(parapet_type_name(PARAPET_UINT16) == "uint16" .and. parapet_type_bytes(PARAPET_UINT16) == 2, &
                "a type has another name")
    call expect(parapet_type_from_name("float32") == PARAPET_FLOAT32 .and. parapet_type_from_name("x") == 0, &
                "a name is of another type")
    call expect(parapet_version_number() >= 100, "the version is another")
    call expect(parapet_text_visible("a" // achar(27)) == "a" // achar(92) // "u001b", "a text disturbs the terminal")
    call parapet_launch(rank=rank, flavour=flavour)
    call expect(rank == -1 .and. flavour == "", "there is a launcher")
  end subroutine check_words

end program details
