! The file view of a program that used MPI-IO, in Fortran's order, on any number of ranks.
!
!     file_view STORE
program file_view
  use, intrinsic :: iso_fortran_env, only: int64, real64, real32
  use mpi_f08
  use parapet
  implicit none
  integer, parameter :: rows = 30, columns = 20
  type(parapet_store) :: store
  type(parapet_array) :: array
  type(MPI_Datatype) :: filetype
  character(1000) :: path
  integer :: rank, ranks
  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Type_create_darray(ranks, rank, 2, [rows, columns], [MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC], &
                              [MPI_DISTRIBUTE_DFLT_DARG, 2], [1, ranks], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, filetype)
  call store%open(path, MPI_COMM_WORLD, PARAPET_CREATE)
  call array%create(store, "matrix", PARAPET_FLOAT64, [rows, columns], chunks=[7, 5])
  call check_transfer()
  call check_displacement()
  call check_refusals()
  call array%close()
  call store%close()
  call MPI_Type_free(filetype)
  call MPI_Finalize()

contains

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (.not. is_so) error stop what
  end subroutine expect

  integer function owner(column)
    integer, intent(in) :: column
    owner = mod((column - 1)/2, ranks)
  end function owner

  ! The columns of this rank, one after the other.
  subroutine check_transfer()
    real(real64), allocatable, target :: mine(:, :)
    real(real64) :: whole(rows, columns)
    type(parapet_parts) :: parts
    integer :: column, row, kept
    allocate (mine(rows, count([(owner(column) == rank, column=1, columns)])))
    kept = 0
    do column = 1, columns
      if (owner(column) /= rank) cycle
      kept = kept + 1
      mine(:, kept) = [(1000*column + row, row=1, rows)]
    end do
    call array%add_view(parts, mine, filetype%MPI_VAL)
    call array%write_parts(parts)
    call array%read(whole)
    do column = 1, columns
      call expect(all(whole(:, column) == [(1000*column + row, row=1, rows)]), "the columns of all ranks")
    end do
    mine = 0
    call array%read_parts(parts)
    call expect(size(mine) == 0 .or. all(mine > 0), "the columns of this rank")
  end subroutine check_transfer

  subroutine check_displacement()
    real(real64), target :: one(1)
    type(parapet_parts) :: parts
    call array%add_view(parts, one, MPI_DOUBLE_PRECISION%MPI_VAL, displacement=8_int64*rows)
    call array%read_parts_local(parts)
    call expect(one(1) == 2001, "the first element of the second column")
  end subroutine check_displacement

  subroutine check_refusals()
    real(real64), target :: short(1), long(100)
    real(real32), target :: other(rows, columns)
    type(parapet_parts) :: parts
    character(300) :: message
    integer :: status
    call array%add_view(parts, short, filetype%MPI_VAL, status=status, message=message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "but the data has 1") > 0, "data that is too short")
    call array%add_view(parts, long(1:99:2), MPI_DOUBLE_PRECISION%MPI_VAL, status=status, message=message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "contiguous") > 0, "data with strides")
    call array%add_view(parts, other, MPI_REAL%MPI_VAL, status=status, message=message)
    call expect(status == PARAPET_ERR_ARGUMENT .and. index(message, "float64") > 0, "another type")
    call array%read_parts(parts)
  end subroutine check_refusals

end program file_view
