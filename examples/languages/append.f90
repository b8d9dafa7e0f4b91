! Appends five hourly maps to a series: mpiexec -n 4 append STORE
program append
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use mpi_f08
  use parapet
  implicit none
  integer, parameter :: nx = 48, ny = 36
  type(parapet_store) :: store
  type(parapet_series) :: series
  real(real32), allocatable :: map(:, :)
  integer :: rank, size, start(2), count(2), hour, i, j
  character(1000) :: path

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call parapet_distribution_box([nx, ny], [1, size], rank, start, count)
  allocate (map(count(1), count(2)))

  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_UPDATE)
  call series%define("t2m", PARAPET_FLOAT32, shape=[nx, ny], chunks=[48, 18], shards=[48, 18], steps_per_chunk=4, &
                     steps_per_shard=4, dimension_names=["x", "y"], attributes='{"units": "K"}')
  call series%create(store, "history", coordinate_attributes='{"units": "hours since 2000-01-01"}')
  do hour = 0, 4
    do j = 1, count(2)
      do i = 1, count(1)
        map(i, j) = 1000 * hour + 100 * (start(2) + j - 2) + i - 1
      end do
    end do
    call series%append(real(hour, real64), map, start=start)
  end do
  call series%close()
  call store%close()
  call MPI_Finalize()
end program append
