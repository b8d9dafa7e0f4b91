! What a collective call costs from Fortran beyond the same call from C.
!
!     mpiexec -n RANKS bench_fortran_calls URL CALLS
!
! Every rank writes, then reads, 16 doubles of its own. Calls from C and from Fortran take turns. For each of the two
! this prints "NAME C FORTRAN MORE": microseconds of rank 0, medians, and the median of the differences of each turn.
program fortran_calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use parapet
  implicit none
  integer, parameter :: edge = 16
  type(parapet_store) :: store
  type(parapet_array) :: array
  real(real64) :: data(edge) = 1
  integer :: rank, ranks, calls
  character(1000) :: url, number
  interface
    integer(c_int) function bench_c_write(array, data, start, count) bind(c)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      real(c_double), intent(in) :: data(*)
      integer(c_int64_t), value :: start, count
    end function bench_c_write
    integer(c_int) function bench_c_read(array, data, start, count) bind(c)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      real(c_double), intent(inout) :: data(*)
      integer(c_int64_t), value :: start, count
    end function bench_c_read
  end interface

  call get_command_argument(1, url)
  call get_command_argument(2, number)
  read (number, *) calls
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call store%open(url, comm=MPI_COMM_WORLD, mode=PARAPET_CREATE, durability=PARAPET_DURABILITY_LEAVE, &
                  io_thread=PARAPET_IO_THREAD_NONE)
  call array%create(store, "data", PARAPET_FLOAT64, shape=[edge * ranks], chunks=[edge], codec="none", overwrite=.true.)
  call compare("write", .true.)
  call compare("read", .false.)
  call array%close()
  call store%close()
  call MPI_Finalize()

contains

  subroutine compare(name, is_write)
    character(*), intent(in) :: name
    logical, intent(in) :: is_write
    real(real64) :: seconds(calls, 2)
    integer :: turn, first
    do turn = 1, calls
      first = 1 + modulo(turn, 2)
      seconds(turn, first) = timed(first == 2, is_write)
      seconds(turn, 3 - first) = timed(first == 1, is_write)
    end do
    if (rank == 0) print "(a, 3f12.3)", name, 1e6 * median(seconds(:, 1)), 1e6 * median(seconds(:, 2)), &
      1e6 * median(seconds(:, 2) - seconds(:, 1))
  end subroutine compare

  real(real64) function timed(is_fortran, is_write)
    logical, intent(in) :: is_fortran, is_write
    integer(int64) :: begin, end, rate
    integer(c_int) :: status
    call MPI_Barrier(MPI_COMM_WORLD)
    call system_clock(begin, rate)
    status = PARAPET_OK
    if (is_fortran .and. is_write) then
      call array%write(data, start=[1 + edge * rank])
    else if (is_fortran) then
      call array%read(data, start=[1 + edge * rank])
    else if (is_write) then
      status = bench_c_write(array%handle, data, int(edge * rank, c_int64_t), 16_c_int64_t)
    else
      status = bench_c_read(array%handle, data, int(edge * rank, c_int64_t), 16_c_int64_t)
    end if
    call system_clock(end)
    if (status /= PARAPET_OK) error stop "a call from C failed"
    timed = real(end - begin, real64) / real(rate, real64)
  end function timed

  real(real64) function median(values)
    real(real64), intent(in) :: values(:)
    real(real64) :: sorted(size(values)), kept
    integer :: i, j
    sorted = values
    do i = 2, size(values)
      kept = sorted(i)
      j = i - 1
      do while (j >= 1)
        if (sorted(j) <= kept) exit
        sorted(j + 1) = sorted(j)
        j = j - 1
      end do
      sorted(j + 1) = kept
    end do
    median = sorted((size(values) + 1) / 2)
  end function median

end program fortran_calls
