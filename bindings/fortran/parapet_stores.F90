! Stores: call store%open(path, comm=MPI_COMM_WORLD, mode=PARAPET_CREATE)
!
! PARAPET_SERIAL: there is no MPI, and a store belongs to this process alone.
! PARAPET_HAVE_MPI_F08: the compiler has the module mpi_f08; communicators may be of its type, or integers.
module parapet_stores
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
#if defined(PARAPET_HAVE_MPI_F08)
  use mpi_f08, only: MPI_Comm
#endif
  use parapet_calls
  use parapet_constants
  use parapet_text
  implicit none
  private

  ! What a store has done on this rank since it was opened; parapet.h explains each count and the time.
  type, public :: parapet_statistics
    integer(int64) :: read_bytes = 0
    integer(int64) :: written_bytes = 0
    integer(int64) :: read_requests = 0
    integer(int64) :: objects_written = 0
    integer(int64) :: chunks_decoded = 0
    integer(int64) :: chunks_encoded = 0
    integer(int64) :: chunks_copied = 0
    integer(int64) :: chunks_missing = 0
    integer(int64) :: memory_peak_bytes = 0
    integer(int64) :: memory_planned_bytes = 0
    integer(int64) :: messages_sent = 0
    integer(int64) :: message_bytes = 0
    integer(int64) :: direct_bytes = 0
    integer(int64) :: shards_owned = 0
    integer(int64) :: shards_taken = 0
    real(real64) :: storage_seconds = 0
  end type parapet_statistics

  type, public :: parapet_store
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
  contains
    ! [collective] call store%open(path [, comm] [, mode] [, options...]). Without comm: this process alone.
#if defined(PARAPET_SERIAL)
    procedure :: open => open_alone
#else
    procedure, private :: open_integer
    generic :: open => open_integer
#endif
#if defined(PARAPET_HAVE_MPI_F08)
    procedure, private :: open_f08
    generic :: open => open_f08
#endif
    ! [collective] call store%close(). What is open in it is closed first.
    procedure :: close => close_store
    ! [local] call store%get_options(text): the options in force, one on a line
    procedure :: get_options
    ! [local] call store%get_statistics(statistics)
    procedure :: get_statistics
    ! [collective] call store%collect([path] [, dry_run] [, count]): removes what crashes have left
    procedure :: collect
  end type parapet_store

contains

#if defined(PARAPET_SERIAL)
  subroutine open_alone(self, path, mode, memory_bytes, threads, servers, expected_servers, deadline_seconds, &
                        wait_seconds, io_thread, direct_io, durability, ownership, transport, locks, elide_fill, &
                        ignore_checksums, require_sealed, ignore_seal, ignore_launcher, takeover, status, message)
    class(parapet_store), intent(inout) :: self
#include "parapet_store_options.inc"
    call report(parapet_fortran_store_open_alone(self%handle, to_c(path), mode_or_default(mode), to_c(lines)), &
                status, message)
  end subroutine open_alone
#else
  ! With a communicator of mpif.h or of the module mpi, or with none.
  subroutine open_integer(self, path, comm, mode, memory_bytes, threads, servers, expected_servers, deadline_seconds, &
                          wait_seconds, io_thread, direct_io, durability, ownership, transport, locks, elide_fill, &
                          ignore_checksums, require_sealed, ignore_seal, ignore_launcher, takeover, status, message)
    class(parapet_store), intent(inout) :: self
    integer, intent(in), optional :: comm
    integer(c_int) :: code
#include "parapet_store_options.inc"
    if (present(comm)) then
      code = parapet_fortran_store_open(self%handle, int(comm, c_int), to_c(path), mode_or_default(mode), to_c(lines))
    else
      code = parapet_fortran_store_open_alone(self%handle, to_c(path), mode_or_default(mode), to_c(lines))
    end if
    call report(code, status, message)
  end subroutine open_integer
#endif

#if defined(PARAPET_HAVE_MPI_F08)
  subroutine open_f08(self, path, comm, mode, memory_bytes, threads, servers, expected_servers, deadline_seconds, &
                      wait_seconds, io_thread, direct_io, durability, ownership, transport, locks, elide_fill, &
                      ignore_checksums, require_sealed, ignore_seal, ignore_launcher, takeover, status, message)
    class(parapet_store), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
#include "parapet_store_options.inc"
    call report(parapet_fortran_store_open(self%handle, int(comm%MPI_VAL, c_int), to_c(path), mode_or_default(mode), &
                                           to_c(lines)), status, message)
  end subroutine open_f08
#endif

  subroutine close_store(self, status, message)
    class(parapet_store), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_store_close(self%handle), status, message)
  end subroutine close_store

  subroutine get_options(self, text, status, message)
    class(parapet_store), intent(in) :: self
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: printed
    integer(c_int) :: code
    printed = c_null_ptr
    code = parapet_fortran_store_options(self%handle, printed)
    text = take_text(printed)
    call report(code, status, message)
  end subroutine get_options

  subroutine get_statistics(self, statistics, status, message)
    class(parapet_store), intent(in) :: self
    type(parapet_statistics), intent(out) :: statistics
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: c(15)
    real(c_double) :: seconds(1)
    integer(c_int) :: code
    code = parapet_fortran_store_statistics(self%handle, c, seconds)
    statistics = parapet_statistics(c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9), c(10), c(11), c(12), c(13), &
                                    c(14), c(15), seconds(1))
    call report(code, status, message)
  end subroutine get_statistics

  subroutine collect(self, path, dry_run, count, status, message)
    class(parapet_store), intent(in) :: self
    character(*), intent(in), optional :: path
    logical, intent(in), optional :: dry_run
    integer(int64), intent(out), optional :: count ! of the objects that were, or would be, removed
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int64_t) :: removed(1)
    integer(c_int) :: code, is_dry
    is_dry = 0
    if (present(dry_run)) is_dry = merge(1, 0, dry_run)
    code = parapet_fortran_store_collect(self%handle, to_c(path), is_dry, removed)
    if (present(count)) count = removed(1)
    call report(code, status, message)
  end subroutine collect

  pure function mode_or_default(mode) result(chosen)
    integer, intent(in), optional :: mode
    integer(c_int) :: chosen
    chosen = PARAPET_READ
    if (present(mode)) chosen = int(mode, c_int)
  end function mode_or_default

end module parapet_stores
