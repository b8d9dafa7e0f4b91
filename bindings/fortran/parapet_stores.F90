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
  use parapet_note_lists
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
    integer(int64) :: description_messages = 0
    integer(int64) :: descriptions_reused = 0
    integer(int64) :: cache_hits = 0
    integer(int64) :: cache_misses = 0
    integer(int64) :: cache_bytes = 0
    real(real64) :: storage_seconds = 0
    integer(int64) :: local_peak_bytes = 0
  end type parapet_statistics

  ! What a program gives to open as progress, to be told how far a long call has come. It is called on the thread that
  ! made the call, on every rank. If it sets cancel, the call ends with PARAPET_ERR_CANCELLED on all ranks.
  abstract interface
    subroutine parapet_progress(done_bytes, total_bytes, cancel)
      import :: int64
      implicit none
      integer(int64), intent(in) :: done_bytes, total_bytes
      logical, intent(inout) :: cancel
    end subroutine parapet_progress
  end interface
  public :: parapet_progress

  ! Where the library finds the procedure.
  type :: progress_place
    procedure(parapet_progress), pointer, nopass :: call => null()
  end type progress_place

  type, public :: parapet_store
    type(c_ptr) :: handle = c_null_ptr ! for the other modules of this binding only
    type(progress_place), pointer, private :: progress => null()
  contains
    ! [collective] call store%open(path [, comm] [, mode] [, progress] [, options...]). Without comm: this process alone.
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
    ! [collective] call store%flush(): writes what the option write_back has left for later, of all arrays
    procedure :: flush => flush_store
    ! [local] call store%get_options(text): the options in force, one on a line
    procedure :: get_options
    ! [local] call store%get_statistics(statistics)
    procedure :: get_statistics
    ! [collective] call store%collect([path] [, dry_run] [, count] [, removals]): removes what crashes have left
    procedure :: collect
    ! [collective] call store%remove(path [, recursive] [, dry_run] [, count] [, removals]): an array or, if it is
    ! recursive, a group with all below it
    procedure :: remove
  end type parapet_store

contains

#if defined(PARAPET_SERIAL)
  subroutine open_alone(self, path, mode, memory_bytes, threads, servers, expected_servers, deadline_seconds, &
                        wait_seconds, io_thread, direct_io, durability, owners, sharing, transport, locks, holes, &
                        elide_fill, ignore_checksums, require_sealed, ignore_seal, ignore_launcher, takeover, weights, &
                        no_helper, local_bytes, cache_bytes, write_back, keep_descriptions, progress, &
                        status, message)
    class(parapet_store), intent(inout) :: self
#include "parapet_store_options.inc"
    call report(parapet_fortran_store_open_alone(self%handle, to_c(path), mode_or_default(mode), to_c(lines), &
                                                 callback(self), context(self)), status, message)
    call forget_if_closed(self)
  end subroutine open_alone
#else
  ! With a communicator of mpif.h or of the module mpi, or with none.
  subroutine open_integer(self, path, comm, mode, memory_bytes, threads, servers, expected_servers, deadline_seconds, &
                          wait_seconds, io_thread, direct_io, durability, owners, sharing, transport, locks, holes, &
                          elide_fill, ignore_checksums, require_sealed, ignore_seal, ignore_launcher, takeover, weights, &
                          no_helper, local_bytes, cache_bytes, write_back, keep_descriptions, progress, &
                          status, message)
    class(parapet_store), intent(inout) :: self
    integer, intent(in), optional :: comm
    integer(c_int) :: code
#include "parapet_store_options.inc"
    if (present(comm)) then
      code = parapet_fortran_store_open(self%handle, int(comm, c_int), to_c(path), mode_or_default(mode), to_c(lines), &
                                        callback(self), context(self))
    else
      code = parapet_fortran_store_open_alone(self%handle, to_c(path), mode_or_default(mode), to_c(lines), &
                                              callback(self), context(self))
    end if
    call forget_if_closed(self)
    call report(code, status, message)
  end subroutine open_integer
#endif

#if defined(PARAPET_HAVE_MPI_F08)
  subroutine open_f08(self, path, comm, mode, memory_bytes, threads, servers, expected_servers, deadline_seconds, &
                      wait_seconds, io_thread, direct_io, durability, owners, sharing, transport, locks, holes, &
                      elide_fill, ignore_checksums, require_sealed, ignore_seal, ignore_launcher, takeover, weights, &
                      no_helper, local_bytes, cache_bytes, write_back, keep_descriptions, progress, &
                      status, message)
    class(parapet_store), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
#include "parapet_store_options.inc"
    call report(parapet_fortran_store_open(self%handle, int(comm%MPI_VAL, c_int), to_c(path), mode_or_default(mode), &
                                           to_c(lines), callback(self), context(self)), status, message)
    call forget_if_closed(self)
  end subroutine open_f08
#endif

  subroutine close_store(self, status, message)
    class(parapet_store), intent(inout) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    integer(c_int) :: code
    code = parapet_fortran_store_close(self%handle)
    call forget_if_closed(self)
    call report(code, status, message)
  end subroutine close_store

  subroutine flush_store(self, status, message)
    class(parapet_store), intent(in) :: self
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    call report(parapet_fortran_store_flush(self%handle), status, message)
  end subroutine flush_store

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
    integer(c_int64_t) :: c(21)
    real(c_double) :: seconds(1)
    integer(c_int) :: code
    code = parapet_fortran_store_statistics(self%handle, c, seconds)
    statistics = parapet_statistics(c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9), c(10), c(11), c(12), c(13), &
                                    c(14), c(15), c(16), c(17), c(18), c(19), c(20), seconds(1), c(21))
    call report(code, status, message)
  end subroutine get_statistics

  subroutine collect(self, path, dry_run, count, removals, status, message)
    class(parapet_store), intent(in) :: self
    character(*), intent(in), optional :: path
    logical, intent(in), optional :: dry_run
    integer(int64), intent(out), optional :: count ! of the objects that were, or would be, removed
    type(parapet_removal), allocatable, intent(out), optional :: removals(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: removed
    integer(c_int) :: code, is_dry
    is_dry = 0
    removed = c_null_ptr
    if (present(dry_run)) is_dry = merge(1, 0, dry_run)
    code = parapet_fortran_store_collect(self%handle, to_c(path), is_dry, removed)
    if (present(count)) count = parapet_fortran_notes_count(removed)
    if (present(removals)) call take_removals(removed, removals)
    call parapet_fortran_notes_free(removed)
    call report(code, status, message)
  end subroutine collect

  subroutine remove(self, path, recursive, dry_run, count, removals, status, message)
    class(parapet_store), intent(in) :: self
    character(*), intent(in) :: path
    logical, intent(in), optional :: recursive, dry_run
    integer(int64), intent(out), optional :: count ! of the arrays and groups that were, or would be, removed
    type(parapet_removal), allocatable, intent(out), optional :: removals(:)
    integer, intent(out), optional :: status
    character(*), intent(out), optional :: message
    type(c_ptr) :: removed
    integer(c_int) :: code, is_recursive, is_dry
    is_recursive = 0
    is_dry = 0
    removed = c_null_ptr
    if (present(recursive)) is_recursive = merge(1, 0, recursive)
    if (present(dry_run)) is_dry = merge(1, 0, dry_run)
    code = parapet_fortran_store_remove(self%handle, to_c(path), is_recursive, is_dry, removed)
    if (present(count)) count = parapet_fortran_notes_count(removed)
    if (present(removals)) call take_removals(removed, removals)
    call parapet_fortran_notes_free(removed)
    call report(code, status, message)
  end subroutine remove

  ! The library calls this, and finds the program's procedure at the place that it was given.
  function call_progress(place, done_bytes, total_bytes) bind(c, name="") result(answer)
    type(c_ptr), value :: place
    integer(c_int64_t), value :: done_bytes, total_bytes
    integer(c_int) :: answer
    type(progress_place), pointer :: found
    logical :: cancel
    call c_f_pointer(place, found)
    cancel = .false.
    call found%call(int(done_bytes, int64), int(total_bytes, int64), cancel)
    answer = merge(1_c_int, 0_c_int, cancel)
  end function call_progress

  subroutine watch(self, progress)
    class(parapet_store), intent(inout) :: self
    procedure(parapet_progress), optional :: progress
    if (c_associated(self%handle) .or. .not. present(progress)) return
    allocate (self%progress)
    self%progress%call => progress
  end subroutine watch

  function callback(self) result(pointer)
    class(parapet_store), intent(in) :: self
    type(c_funptr) :: pointer
    pointer = c_null_funptr
    if (associated(self%progress)) pointer = c_funloc(call_progress)
  end function callback

  function context(self) result(place)
    class(parapet_store), intent(in) :: self
    type(c_ptr) :: place
    place = c_null_ptr
    if (associated(self%progress)) place = c_loc(self%progress)
  end function context

  ! A store that could not be opened, or has been closed, calls nobody.
  subroutine forget_if_closed(self)
    class(parapet_store), intent(inout) :: self
    if (c_associated(self%handle) .or. .not. associated(self%progress)) return
    deallocate (self%progress)
  end subroutine forget_if_closed

  pure function mode_or_default(mode) result(chosen)
    integer, intent(in), optional :: mode
    integer(c_int) :: chosen
    chosen = PARAPET_READ
    if (present(mode)) chosen = int(mode, c_int)
  end function mode_or_default

end module parapet_stores
