! Reads the field in bands of rows and writes it doubled: mpiexec -n 3 read STORE
program read_field
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use parapet
  implicit none
  integer, parameter :: nx = 48, ny = 36
  type(parapet_store) :: store
  type(parapet_array) :: array
  real(real64), allocatable :: band(:, :)
  integer :: rank, size, start(2), count(2)
  character(1000) :: path

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call parapet_distribution_box([nx, ny], [1, size], rank, start, count)
  allocate (band(count(1), count(2)))

  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_UPDATE)
  call array%open(store, "field")
  call array%read(band, start=start)
  call array%close()

  call array%create(store, "doubled", PARAPET_FLOAT64, shape=[nx, ny])
  call array%write(2 * band, start=start)
  call array%close()
  call store%close()
  call MPI_Finalize()
end program read_field
