! Copies the field with chunks of whole columns: mpiexec -n 4 copy STORE
program copy
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use parapet
  implicit none
  type(parapet_store) :: store
  type(parapet_copy_result) :: result
  integer :: rank
  character(1000) :: path

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_UPDATE)
  call parapet_copy(store, "field", store, "columns", chunks="y/,x/4", memory_bytes=16 * 1024_int64**2, result=result)
  if (rank == 0) print "(i0, a, i0, a)", result%array_bytes, " bytes in ", result%chunks_written, " chunks"
  call store%close()
  call MPI_Finalize()
end program copy
