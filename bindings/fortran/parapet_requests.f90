! Requests: calls that were started, and run while the program computes.
!
!     real(real64), target, asynchronous :: density(n, m)
!     call parts%add(density, start=[i, j])
!     call array%start_write(parts, request)
!     call compute()                          ! must not change density
!     call request%wait()
!
! The memory of the parts belongs to the request until wait has returned, unless copy=.true. is given to a start that
! writes. It must have the attribute target, as for any list of parts, and the attribute asynchronous wherever it may be
! used between start and wait, so that the compiler keeps no copy of it. The list of parts may be changed at once.
module parapet_requests
  use, intrinsic :: iso_c_binding
  use parapet_calls
  use parapet_text
  implicit none
  private
  public :: buffering_of

  type, public :: parapet_request
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
  contains
    ! [local] call request%test(is_done): whether wait would return at once
    procedure :: test => test_request
    ! [collective] call request%wait(): completes the request; its status is that of the call that was started
    procedure :: wait => wait_for_request
  end type parapet_request

contains

  subroutine test_request(self, is_done, status, message)
    class(parapet_request), intent(in) :: self
    logical, intent(out) :: is_done
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: code, done(1)
    done = 0
    code = parapet_fortran_request_test(self%handle, done)
    is_done = done(1) /= 0
    call report(code, status, message)
  end subroutine test_request

  subroutine wait_for_request(self, status, message)
    class(parapet_request), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_request_wait(self%handle), status, message)
  end subroutine wait_for_request

  ! What C calls it: 1 to copy; for the other modules of this binding.
  pure integer(c_int) function buffering_of(copy)
    logical, intent(in), optional :: copy
    buffering_of = 0
    if (present(copy)) buffering_of = merge(1, 0, copy)
  end function buffering_of

end module parapet_requests
