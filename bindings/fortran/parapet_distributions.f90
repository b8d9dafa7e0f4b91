! Regular distributions of an array over a mesh of ranks.
!
!     call parapet_distribution_box(shape=[nx, ny], mesh=[4, 2], rank=rank, start=start, count=count)
!
! Ranks count from 0, as in MPI, first along the first dimension of the mesh. By default every rank has one block, of
! equal size but for the last ones. A block of b elements along a dimension deals out blocks of that size in turn.
module parapet_distributions
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use parapet_calls
  use parapet_text
  implicit none
  private
  public :: parapet_distribution_box, parapet_distribution_count

  ! [local] The box number index (from 1) of a rank; a rank without boxes gets one without elements.
  interface parapet_distribution_box
    module procedure box_int32
    module procedure box_int64
  end interface parapet_distribution_box

  ! [local] How many boxes a rank has: none, one, or with blocks of a given size many.
  interface parapet_distribution_count
    module procedure count_int32
    module procedure count_int64
  end interface parapet_distribution_count

contains

  subroutine box_int32(shape, mesh, rank, start, count, block, index, status, message)
    integer(int32), intent(in) :: shape(:), mesh(:)
    integer, intent(in) :: rank
    integer(int32), intent(out) :: start(:), count(:)
    integer(int32), intent(in), optional :: block(:)
    integer, intent(in), optional :: index
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(int64) :: first(size(shape)), extent(size(shape)), dealt(size(shape))
    dealt = 0
    if (present(block)) dealt = block
    call box_int64(int(shape, int64), int(mesh, int64), rank, first, extent, dealt, index, status, message)
    start = int(first)
    count = int(extent)
  end subroutine box_int32

  subroutine box_int64(shape, mesh, rank, start, count, block, index, status, message)
    integer(int64), intent(in) :: shape(:), mesh(:)
    integer, intent(in) :: rank
    integer(int64), intent(out) :: start(:), count(:)
    integer(int64), intent(in), optional :: block(:)
    integer, intent(in), optional :: index
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: rank_and_index(2), dealt(size(shape)), first(size(shape)), extent(size(shape))
    integer(c_int) :: code
    rank_and_index = [int(rank, c_int64_t), 1_c_int64_t]
    if (present(index)) rank_and_index(2) = index
    dealt = 0
    if (present(block)) dealt = block
    code = parapet_fortran_distribution_box(size(shape, kind=c_int), shape, mesh, dealt, rank_and_index, first, extent)
    start = first
    count = extent
    call report(code, status, message)
  end subroutine box_int64

  subroutine count_int32(shape, mesh, rank, count, block, status, message)
    integer(int32), intent(in) :: shape(:), mesh(:)
    integer, intent(in) :: rank
    integer(int32), intent(out) :: count
    integer(int32), intent(in), optional :: block(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(int64) :: dealt(size(shape)), boxes
    dealt = 0
    if (present(block)) dealt = block
    call count_int64(int(shape, int64), int(mesh, int64), rank, boxes, dealt, status, message)
    count = int(boxes)
  end subroutine count_int32

  subroutine count_int64(shape, mesh, rank, count, block, status, message)
    integer(int64), intent(in) :: shape(:), mesh(:)
    integer, intent(in) :: rank
    integer(int64), intent(out) :: count
    integer(int64), intent(in), optional :: block(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: dealt(size(shape)), boxes(1)
    integer(c_int) :: code
    dealt = 0
    if (present(block)) dealt = block
    boxes = 0
    code = parapet_fortran_distribution_count(size(shape, kind=c_int), shape, mesh, dealt, int(rank, c_int64_t), boxes)
    count = boxes(1)
    call report(code, status, message)
  end subroutine count_int64

end module parapet_distributions
