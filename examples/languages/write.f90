! Writes a field, in blocks with a halo: mpiexec -n 4 write STORE
program write_field
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use parapet
  implicit none
  integer, parameter :: nx = 48, ny = 36
  type(parapet_store) :: store
  type(parapet_array) :: array
  real(real64), allocatable :: field(:, :)
  integer :: rank, size, mesh(2), start(2), count(2), i, j
  character(1000) :: path

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  mesh = 0
  call MPI_Dims_create(size, 2, mesh)
  call parapet_distribution_box([nx, ny], mesh, rank, start, count)

  allocate (field(0:count(1) + 1, 0:count(2) + 1), source=0.0_real64)
  do j = 1, count(2)
    do i = 1, count(1)
      field(i, j) = 100 * (start(2) + j - 2) + start(1) + i - 2
    end do
  end do

  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_CREATE)
  call array%create(store, "field", PARAPET_FLOAT64, shape=[nx, ny], chunks=[20, 16], &
                    dimension_names=["x", "y"], attributes='{"units": "K"}')
  call array%write(field(1:count(1), 1:count(2)), start=start)
  call array%close()
  call store%close()
  call MPI_Finalize()
end program write_field
