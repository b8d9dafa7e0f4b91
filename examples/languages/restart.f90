! Restores a state, or begins; computes three steps; saves it: mpiexec -n 4 restart STORE
program restart
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use parapet
  implicit none
  integer, parameter :: nx = 48, ny = 36
  type(parapet_store) :: store
  type(parapet_restore) :: restore
  type(parapet_checkpoint) :: checkpoint
  real(real64), allocatable :: state(:, :)
  integer :: rank, size, start(2), count(2), step, i, j, k, status
  character(1000) :: path, message

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call parapet_distribution_box([nx, ny], [1, size], rank, start, count)
  allocate (state(count(1), count(2)), source=0.0_real64)
  step = 0

  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_UPDATE)
  call restore%open(store, "restart", status=status, message=message)
  if (status == PARAPET_OK) then
    call restore%get("state", state, start=start)
    call restore%get_attribute("step", step)
    call restore%close()
  else if (status /= PARAPET_ERR_NOT_FOUND) then
    error stop trim(message)
  end if

  do k = 1, 3
    do j = 1, count(2)
      do i = 1, count(1)
        state(i, j) = 0.5_real64 * state(i, j) + nx * (start(2) + j - 2) + i - 1
      end do
    end do
    step = step + 1
  end do

  call checkpoint%begin(store, "restart")
  call checkpoint%put("state", state, start=start, shape=[nx, ny])
  call checkpoint%set_attribute("step", step)
  call checkpoint%commit()
  call store%close()
  call MPI_Finalize()
end program restart
