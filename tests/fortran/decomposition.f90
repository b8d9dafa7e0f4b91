! Random arrays cut over the ranks in random ways, through sections with halos and strides.
!
!     mpiexec -n 4 decomposition STORE SEED CASES      or PARAPET_TEST_SEED instead of SEED
!
! Each case creates an array, writes it, and reads boxes back that have nothing to do with those written. Along the
! memory of the whole array the elements are 1, 2, 3, ..., modulo 97, which check_elements.c checks afterwards.
module random_cases
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use parapet
  implicit none
  integer, parameter :: most = 4 ! dimensions
  real(real64), parameter :: untouched = -1

  ! A box, and memory with a halo around it in which only every stride-th element belongs to it.
  type :: box
    integer(int64) :: start(most) = 1, count(most) = 1
    integer :: halo = 0, stride = 1
    real(real64), allocatable :: memory(:)
  end type box

  integer(int64) :: state = 1
  integer :: ndim
  integer(int64) :: extents(most)

contains

  ! A number from low to high, the same on all ranks.
  integer function draw(low, high)
    integer, intent(in) :: low, high
    state = modulo(state * 1103515245_int64 + 12345, 2147483648_int64)
    draw = low + int(modulo(state / 65536, int(high - low + 1, int64)))
  end function draw

  pure integer(int64) function pitch(self, d)
    type(box), intent(in) :: self
    integer, intent(in) :: d
    pitch = 2 * self%halo + max(self%count(d), 1_int64) * self%stride
  end function pitch

  ! First and last index of the section along a dimension; empty if the box is.
  pure integer(int64) function first(self)
    type(box), intent(in) :: self
    first = self%halo + 1
  end function first

  pure integer(int64) function last(self, d)
    type(box), intent(in) :: self
    integer, intent(in) :: d
    last = first(self) + (self%count(d) - 1) * self%stride
  end function last

  subroutine lay_out(self)
    type(box), intent(inout) :: self
    integer(int64) :: elements
    integer :: d
    self%halo = draw(0, 2)
    self%stride = draw(1, 3)
    elements = 1
    do d = 1, ndim
      elements = elements * pitch(self, d)
    end do
    allocate (self%memory(elements), source=untouched)
  end subroutine lay_out

  ! Where element number k of the box, counted from 0, is in memory, and what it must be.
  subroutine locate(self, k, position, value)
    type(box), intent(in) :: self
    integer(int64), intent(in) :: k
    integer(int64), intent(out) :: position
    real(real64), intent(out) :: value
    integer(int64) :: rest, here, place, distance, number
    integer :: d
    rest = k
    position = 1
    distance = 1
    number = 1
    place = 1
    do d = 1, ndim
      here = modulo(rest, self%count(d))
      rest = rest / self%count(d)
      position = position + distance * (self%halo + here * self%stride)
      distance = distance * pitch(self, d)
      number = number + place * (self%start(d) - 1 + here)
      place = place * extents(d)
    end do
    value = real(modulo(number, 97_int64), real64)
  end subroutine locate

  subroutine fill(self)
    type(box), intent(inout) :: self
    integer(int64) :: k, position
    real(real64) :: value
    do k = 0, product(self%count(:ndim)) - 1
      call locate(self, k, position, value)
      self%memory(position) = value
    end do
  end subroutine fill

  ! Whether the box has what belongs there, and its memory nothing else.
  logical function is_right(self)
    type(box), intent(inout) :: self
    integer(int64) :: k, position
    real(real64) :: value
    is_right = .true.
    do k = 0, product(self%count(:ndim)) - 1
      call locate(self, k, position, value)
      is_right = is_right .and. self%memory(position) == value
      self%memory(position) = untouched
    end do
    is_right = is_right .and. all(self%memory == untouched)
  end function is_right

  subroutine write_box(array, self)
    type(parapet_array), intent(in) :: array
    type(box), intent(inout), target :: self
    real(real64), pointer :: p2(:, :), p3(:, :, :), p4(:, :, :, :)
    integer(int64) :: f, s
    f = first(self)
    s = self%stride
    select case (ndim)
    case (1)
      call array%write(self%memory(f:last(self, 1):s), start=self%start(:1))
    case (2)
      p2(1:pitch(self, 1), 1:pitch(self, 2)) => self%memory
      call array%write(p2(f:last(self, 1):s, f:last(self, 2):s), start=int(self%start(:2)))
    case (3)
      p3(1:pitch(self, 1), 1:pitch(self, 2), 1:pitch(self, 3)) => self%memory
      call array%write(p3(f:last(self, 1):s, f:last(self, 2):s, f:last(self, 3):s), start=self%start(:3))
    case (4)
      p4(1:pitch(self, 1), 1:pitch(self, 2), 1:pitch(self, 3), 1:pitch(self, 4)) => self%memory
      call array%write(p4(f:last(self, 1):s, f:last(self, 2):s, f:last(self, 3):s, f:last(self, 4):s), &
                       start=int(self%start(:4)))
    end select
  end subroutine write_box

  subroutine read_box(array, self)
    type(parapet_array), intent(in) :: array
    type(box), intent(inout), target :: self
    real(real64), pointer :: p2(:, :), p3(:, :, :), p4(:, :, :, :)
    integer(int64) :: f, s
    f = first(self)
    s = self%stride
    select case (ndim)
    case (1)
      call array%read(self%memory(f:last(self, 1):s), start=int(self%start(:1)))
    case (2)
      p2(1:pitch(self, 1), 1:pitch(self, 2)) => self%memory
      call array%read(p2(f:last(self, 1):s, f:last(self, 2):s), start=self%start(:2))
    case (3)
      p3(1:pitch(self, 1), 1:pitch(self, 2), 1:pitch(self, 3)) => self%memory
      call array%read(p3(f:last(self, 1):s, f:last(self, 2):s, f:last(self, 3):s), start=int(self%start(:3)))
    case (4)
      p4(1:pitch(self, 1), 1:pitch(self, 2), 1:pitch(self, 3), 1:pitch(self, 4)) => self%memory
      call array%read(p4(f:last(self, 1):s, f:last(self, 2):s, f:last(self, 3):s, f:last(self, 4):s), &
                      start=self%start(:4))
    end select
  end subroutine read_box

  subroutine add_box(parts, self)
    type(parapet_parts), intent(inout) :: parts
    type(box), intent(inout), target :: self
    real(real64), pointer :: p2(:, :), p3(:, :, :), p4(:, :, :, :)
    integer(int64) :: f, s
    f = first(self)
    s = self%stride
    select case (ndim)
    case (1)
      call parts%add(self%memory(f:last(self, 1):s), start=self%start(:1))
    case (2)
      p2(1:pitch(self, 1), 1:pitch(self, 2)) => self%memory
      call parts%add(p2(f:last(self, 1):s, f:last(self, 2):s), start=int(self%start(:2)))
    case (3)
      p3(1:pitch(self, 1), 1:pitch(self, 2), 1:pitch(self, 3)) => self%memory
      call parts%add(p3(f:last(self, 1):s, f:last(self, 2):s, f:last(self, 3):s), start=self%start(:3))
    case (4)
      p4(1:pitch(self, 1), 1:pitch(self, 2), 1:pitch(self, 3), 1:pitch(self, 4)) => self%memory
      call parts%add(p4(f:last(self, 1):s, f:last(self, 2):s, f:last(self, 3):s, f:last(self, 4):s), &
                     start=self%start(:4))
    end select
  end subroutine add_box

  subroutine create(array, store, name)
    type(parapet_array), intent(inout) :: array
    type(parapet_store), intent(in) :: store
    character(*), intent(in) :: name
    character(10), parameter :: codecs(3) = ["none      ", "zstd:3    ", "gzip:1    "]
    integer(int64) :: chunks(most), shards(most)
    integer :: d, codec
    ndim = draw(1, most)
    do d = 1, ndim
      extents(d) = draw(1, 11)
      chunks(d) = draw(1, int(extents(d)))
      shards(d) = chunks(d) * draw(1, 3)
    end do
    codec = draw(1, 3)
    select case (draw(1, 3))
    case (1)
      call array%create(store, name, PARAPET_FLOAT64, extents(:ndim), codec=codecs(codec))
    case (2)
      call array%create(store, name, PARAPET_FLOAT64, extents(:ndim), chunks(:ndim), unsharded=.true.)
    case (3)
      call array%create(store, name, PARAPET_FLOAT64, int(extents(:ndim)), int(chunks(:ndim)), int(shards(:ndim)), &
                        codec=codecs(codec))
    end select
  end subroutine create

  ! A mesh of all ranks, in any of its shapes.
  subroutine draw_mesh(mesh, size)
    integer(int64), intent(out) :: mesh(:)
    integer, intent(in) :: size
    integer :: rest, along, factor
    mesh = 1
    rest = size
    do while (rest > 1)
      factor = 2
      do while (modulo(rest, factor) /= 0)
        factor = factor + 1
      end do
      along = draw(1, ndim)
      mesh(along) = mesh(along) * factor
      rest = rest / factor
    end do
  end subroutine draw_mesh

  ! One block for each rank; some ranks may have none.
  subroutine write_blocks(array, rank, size)
    type(parapet_array), intent(in) :: array
    integer, intent(in) :: rank, size
    integer(int64) :: mesh(ndim)
    type(box) :: own
    call draw_mesh(mesh, size)
    call parapet_distribution_box(extents(:ndim), mesh, rank, own%start(:ndim), own%count(:ndim))
    call lay_out(own)
    call fill(own)
    call write_box(array, own)
  end subroutine write_blocks

  ! Small blocks dealt out in turn: many for each rank.
  subroutine write_dealt(array, rank, size)
    type(parapet_array), intent(in) :: array
    integer, intent(in) :: rank, size
    integer(int64) :: mesh(ndim), block(ndim), boxes
    type(box), allocatable, target :: own(:)
    type(parapet_parts) :: parts
    integer :: d, i
    call draw_mesh(mesh, size)
    do d = 1, ndim
      block(d) = draw(1, 3)
    end do
    where (mesh == 1) block = 0
    call parapet_distribution_count(extents(:ndim), mesh, rank, boxes, block)
    allocate (own(boxes))
    do i = 1, int(boxes)
      call parapet_distribution_box(extents(:ndim), mesh, rank, own(i)%start(:ndim), own(i)%count(:ndim), block, i)
      call lay_out_alike(own(i), i)
      call fill(own(i))
      call add_box(parts, own(i))
    end do
    call array%write_parts(parts)
  end subroutine write_dealt

  ! Ranks have different numbers of boxes, so these do not draw: all ranks must go on with the same numbers.
  subroutine lay_out_alike(self, number)
    type(box), intent(inout) :: self
    integer, intent(in) :: number
    integer(int64) :: kept
    kept = state
    state = state + number
    call lay_out(self)
    state = kept
  end subroutine lay_out_alike

  ! Some box for each rank, which may overlap others.
  subroutine check_reading(array, rank, name)
    type(parapet_array), intent(in) :: array
    integer, intent(in) :: rank
    character(*), intent(in) :: name
    type(box) :: own
    integer(int64) :: kept
    integer :: d
    kept = state
    state = state + 7919 * rank
    do d = 1, ndim
      own%start(d) = draw(1, int(extents(d)))
      own%count(d) = draw(1, int(extents(d) - own%start(d)) + 1)
    end do
    call lay_out(own)
    state = kept
    call read_box(array, own)
    if (.not. is_right(own)) error stop name // ": a box is another after reading"
  end subroutine check_reading

end module random_cases

program decomposition
  use mpi_f08
  use random_cases
  implicit none
  type(parapet_store) :: store
  type(parapet_array) :: array
  character(1000) :: path, seed, given, cases
  character(16) :: name
  integer :: rank, size, i, count
  call get_command_argument(1, path)
  call get_command_argument(2, seed)
  call get_command_argument(3, cases)
  call get_environment_variable("PARAPET_TEST_SEED", given)
  if (given /= "") seed = given
  read (seed, *) state
  read (cases, *) count
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  if (rank == 0) print "(a, i0)", "seed ", state
  call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_CREATE, durability=PARAPET_DURABILITY_LEAVE)
  do i = 1, count
    write (name, "('case_', i0)") i
    call create(array, store, name)
    if (draw(1, 2) == 1) then
      call write_blocks(array, rank, size)
    else
      call write_dealt(array, rank, size)
    end if
    call check_reading(array, rank, name)
    call array%close()
  end do
  call store%close()
  call MPI_Finalize()
end program decomposition
