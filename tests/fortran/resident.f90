! Data is not copied: writing and reading a section with strides takes next to no memory beyond its own.
!
!     resident MIB STORE     the section is every second row of that many MiB
program resident
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use parapet
  implicit none
  integer(int64), parameter :: rows = 1024
  type(parapet_store) :: store
  type(parapet_array) :: array
  real(real64), allocatable :: field(:, :)
  integer(int64) :: columns, before, growth
  integer :: mebibytes
  character(1000) :: path, size_text
  call get_command_argument(2, path)
  call get_command_argument(1, size_text)
  read (size_text, *) mebibytes
  columns = mebibytes * 1024_int64**2 / (8 * rows)
  allocate (field(rows, columns), source=1.0_real64)

  call store%open(path, mode=PARAPET_CREATE, memory_bytes=8 * 1024_int64**2, durability=PARAPET_DURABILITY_LEAVE, &
                  io_thread=PARAPET_IO_THREAD_NONE)
  call array%create(store, "field", PARAPET_FLOAT64, shape=[rows / 2, columns], chunks=[rows / 2, 32_int64])
  call array%write(field(:4:2, :32), start=[1, 1]) ! what the library needs at all is there after a first call
  before = peak_bytes()
  call array%write(field(::2, :))
  field = 0
  call array%read(field(::2, :))
  growth = peak_bytes() - before
  if (any(field(::2, :) /= 1) .or. any(field(2::2, :) /= 0)) error stop "another field was read than was written"
  print "(i0, a, i0, a)", growth / 1024**2, " MiB of growth at ", mebibytes, " MiB"
  if (growth > 16 * 1024_int64**2) error stop "the data was copied"
  call array%close()
  call store%close()

contains

  ! The largest resident size of this process so far.
  integer(int64) function peak_bytes()
    character(100) :: line
    integer :: unit, stat
    peak_bytes = 0
    open (newunit=unit, file="/proc/self/status", action="read")
    do
      read (unit, "(a)", iostat=stat) line
      if (stat /= 0) exit
      if (line(:6) == "VmHWM:") read (line(7:index(line, "kB") - 1), *) peak_bytes
    end do
    close (unit)
    peak_bytes = 1024 * peak_bytes
  end function peak_bytes

end program resident
