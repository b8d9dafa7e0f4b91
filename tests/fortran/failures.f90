! Calls that fail: in those that move data one rank is wrong, in the others all are. All ranks get the same status, the
! sentence says why, and nobody waits for ever.
!
!     mpiexec -n 4 failures STORE          counts what is not as it should be
!     mpiexec -n 4 failures STORE stop     makes a mistake without asking for the status
module impatience
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  logical :: is_impatient = .false.
contains
  subroutine enough(done_bytes, total_bytes, cancel)
    integer(int64), intent(in) :: done_bytes, total_bytes
    logical, intent(inout) :: cancel
    cancel = is_impatient .and. done_bytes <= total_bytes
  end subroutine enough
end module impatience

program failures
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64, error_unit
  use impatience
  use mpi_f08
  use parapet
  implicit none
  type(parapet_store) :: store, other
  type(parapet_array) :: array, pair(2)
  type(parapet_group) :: group
  type(parapet_series) :: series
  type(parapet_checkpoint) :: checkpoint
  type(parapet_restore) :: restore
  type(parapet_parts) :: parts
  real(real64), target :: field(8, 6) = 1, twice(8, 6)
  real(real32) :: single(8, 6) = 1
  logical :: switches(8, 6) = .true.
  character(1000) :: path, word
  character(300) :: message
  character(:), allocatable :: json
  integer :: rank, status, wrong = 0, number
  call get_command_argument(1, path)
  call get_command_argument(2, word)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_CREATE)
  call array%create(store, "field", PARAPET_FLOAT64, shape=[8, 24], overwrite=.true.)
  if (word == "stop") call array%write(field, start=[2, 1 + 6 * rank])

  call other%open(trim(path) // "/nothing", comm=MPI_COMM_WORLD, status=status, message=message)
  call expect(PARAPET_ERR_NOT_FOUND, "nothing")
  if (parapet_status_name(status) /= "PARAPET_ERR_NOT_FOUND") wrong = wrong + 1
  if (index(parapet_version(), "parapet") == 0) wrong = wrong + 1
  call other%open(path, comm=MPI_COMM_WORLD%MPI_VAL, status=status, message=message) ! as an integer
  call expect(PARAPET_OK, "")
  call other%close()
  call other%open(path, comm=MPI_COMM_WORLD, durability=99, status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "durability")
  call array%write(field, start=merge([1, 1], [1, 1 + 6 * rank], rank == 1), status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "overlap")
  if (rank == 1) call array%write(field, start=[1], status=status, message=message)
  if (rank /= 1) call array%write(field, start=[1, 1 + 6 * rank], status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, merge("start has 1 entries", "dimensions         ", rank == 1))
  if (rank == 2) call array%write(single, start=[1, 13], status=status, message=message)
  if (rank /= 2) call array%write(field, start=[1, 1 + 6 * rank], status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "float32")
  if (rank == 3) call array%write(switches, start=[1, 19], status=status, message=message)
  if (rank /= 3) call array%write(field, start=[1, 1 + 6 * rank], status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, merge("logical(c_bool)", "dimensions     ", rank == 3))
  if (rank == 0) call array%read(field, start=[0, 1], status=status, message=message)
  if (rank /= 0) call array%read(field, start=[1, 1 + 6 * rank], status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "from -1 to 7")
  call array%write(field(1:0, :), start=[99, 99], status=status, message=message) ! nothing is nowhere
  call expect(PARAPET_OK, "")
  call array%resize([8], status, message)
  call expect(PARAPET_ERR_ARGUMENT, "shape has 1 entries")
  call array%get_attribute("nothing", number, status, message)
  call expect(PARAPET_ERR_NOT_FOUND, "nothing")
  call array%open(store, "field", status, message)
  call expect(PARAPET_ERR_ARGUMENT, "close that first")
  call store%open(path, comm=MPI_COMM_WORLD, status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "close that first")
  call array%set_attribute("title", "a field")
  call array%get_attribute("title", number, status, message)
  call expect(PARAPET_ERR_ARGUMENT, "cannot hold")
  call array%set_attribute_json("title", "{", status, message)
  call expect(PARAPET_ERR_ARGUMENT, "JSON")
  call array%get_attribute_json("title", json)
  if (json /= '"a field"') wrong = wrong + 1
  call array%close()

  call array%create(store, "other", PARAPET_FLOAT64, shape=[8, 6], chunks=[8], status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "chunks has 1 entries")
  call array%create(store, "other", PARAPET_FLOAT64, shape=[8, 6], fill_value=0.0, status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "fill_value")
  call array%create(store, "other", PARAPET_FLOAT64, shape=[8, 6], codec="squeeze", status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "squeeze")
  call group%open(store, "nothing", status, message)
  call expect(PARAPET_ERR_NOT_FOUND, "nothing")

  call pair(1)%create(store, "pair/a", PARAPET_FLOAT64, shape=[8, 24])
  call pair(2)%create(store, "pair/b", PARAPET_FLOAT64, shape=[8, 24])
  call parts%add(field, start=[1, 1 + 6 * rank], name="pair/a")
  call parts%add(twice, start=[1, 1 + 6 * rank], name="pair/b")
  twice = 2 * field
  call parapet_arrays_write(pair, parts)
  field = 0
  twice = 0
  call parapet_arrays_read(pair, parts)
  if (any(field /= 1) .or. any(twice /= 2)) wrong = wrong + 1
  if (rank == 1) call parts%add(field, start=[1, 1], name="pair/c")
  call parapet_arrays_read(pair, parts, status, message)
  call expect(PARAPET_ERR_ARGUMENT, merge('no array "pair/c"', "dimensions       ", rank == 1))
  call parts%clear()
  call pair(1)%close()
  call pair(2)%close()

  call series%define("field", PARAPET_FLOAT64, shape=[8, 24])
  call series%create(store, "series")
  call parts%add(field, start=[1, 1 + 6 * rank], name=merge("fields", "field ", rank == 2))
  call series%append_parts(1.0_real64, parts, status, message)
  call expect(PARAPET_ERR_ARGUMENT, merge('no array "fields"', "dimensions       ", rank == 2))
  call series%close()
  call checkpoint%begin(store, "restart")
  call checkpoint%get_attribute("step", number, status, message)
  call expect(PARAPET_ERR_ARGUMENT, "commit")
  call checkpoint%abort()
  call check_several_items()
  call check_cancelling()
  call restore%open(store, "restart", status=status, message=message)
  call expect(PARAPET_ERR_NOT_FOUND, "restart")
  call parapet_copy(store, "field", store, "copy", chunks="none/3", status=status, message=message)
  call expect(PARAPET_ERR_ARGUMENT, "none")
  call store%close()
  call MPI_Finalize()
  if (wrong > 0) error stop "not every failure is as it should be"

contains

  ! One rank names an array that was not defined; then all are right, and read on other places than they wrote.
  subroutine check_several_items()
    type(parapet_definitions) :: arrays
    integer(int64), target :: dates(3)
    call arrays%add("field", PARAPET_FLOAT64, shape=[8, 24])
    call arrays%add("dates", PARAPET_DATETIME64, shape=[12])
    dates = rank
    field = rank
    call parts%clear()
    call parts%add(field, start=[1, 1 + 6 * rank], name="field")
    call parts%add(dates, start=[1 + 3 * rank], name=merge("data ", "dates", rank == 3))
    call checkpoint%begin(store, "several")
    call checkpoint%put_parts(arrays, parts, status, message)
    call expect(PARAPET_ERR_ARGUMENT, merge('no array "data"', "dimensions     ", rank == 3))
    call checkpoint%abort()
    call parts%clear()
    call parts%add(field, start=[1, 1 + 6 * rank], name="field")
    call parts%add(dates, start=[1 + 3 * rank], name="dates")
    call checkpoint%begin(store, "several")
    call checkpoint%put_parts(arrays, parts)
    call checkpoint%commit()
    call parts%clear()
    if (rank /= 2) call parts%add(field, start=[1, 19 - 6 * rank], name="field")
    if (rank == 2) call parts%add(dates, start=[1], name="dates")
    call restore%open(store, "several")
    call restore%get_parts(parts)
    call restore%close()
    if (rank /= 2 .and. any(field /= 3 - rank)) wrong = wrong + 1
    if (rank == 2 .and. any(dates /= 0)) wrong = wrong + 1
  end subroutine check_several_items

  ! One rank has enough.
  subroutine check_cancelling()
    type(parapet_store) :: watched
    is_impatient = rank == 1
    call watched%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_UPDATE, progress=enough)
    call parapet_copy(watched, "field", watched, "cancelled", chunks="3,4", no_probe=.true., status=status, &
                      message=message)
    call expect(PARAPET_ERR_CANCELLED, "")
    call watched%close()
  end subroutine check_cancelling

  subroutine expect(wanted, words)
    integer, intent(in) :: wanted
    character(*), intent(in) :: words
    if (status == wanted .and. index(message, trim(words)) > 0) return
    wrong = wrong + 1
    write (error_unit, "(a, i0, a, i0, 5a)") "rank ", rank, " has status ", status, ' without "', trim(words), '": ', &
      trim(message)
  end subroutine expect

end program failures
