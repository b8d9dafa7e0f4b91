! Writes the inner part of a field, reads it back, and compares.
program model
  use parapet
  implicit none
  type(parapet_store) :: store
  type(parapet_array) :: array
  real :: field(0:9, 0:7), back(8, 6)
  character(200) :: path
  integer :: i
  call get_command_argument(1, path)
  field = reshape([(real(i), i=1, size(field))], shape(field))
  call store%open(path, mode=PARAPET_CREATE)
  call array%create(store, "field", PARAPET_FLOAT32, shape=[8, 6], dimension_names=["x", "y"])
  call array%write(field(1:8, 1:6))
  call array%read(back)
  if (any(back /= field(1:8, 1:6))) error stop "another field was read than was written"
  call array%close()
  call store%close()
end program model
