! Four ranks with an integer communicator: each writes a block of columns and reads its neighbour's.
program ranks
  use, intrinsic :: iso_c_binding, only: c_int
  use parapet
  implicit none
  interface
    integer(c_int) function world_begin(rank) bind(c)
      import :: c_int
      integer(c_int), intent(out) :: rank
    end function world_begin
    subroutine world_end() bind(c)
    end subroutine world_end
  end interface
  type(parapet_store) :: store
  type(parapet_array) :: array
  integer(c_int) :: comm, rank
  integer :: field(8, 5), other(8, 5)
  character(200) :: path
  call get_command_argument(1, path)
  comm = world_begin(rank)
  field = int(rank)
  call store%open(path, comm=int(comm), mode=PARAPET_CREATE)
  call array%create(store, "field", PARAPET_INT32, shape=[8, 20], chunks=[3, 7])
  call array%write(field, start=[1, 1 + 5 * int(rank)])
  call array%read(other, start=[1, 1 + 5 * modulo(int(rank) + 1, 4)])
  if (any(other /= modulo(int(rank) + 1, 4))) error stop "another field was read than was written"
  call array%close()
  call store%close()
  call world_end()
end program ranks
