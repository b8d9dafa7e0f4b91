! Made by bindings/fortran/generate from the parts of include/parapet.h; do not edit.
! The choices of parapet.h, with the same names.
module parapet_constants
  implicit none
  public

  ! parapet_status
  integer, parameter :: PARAPET_OK = 0
  integer, parameter :: PARAPET_ERR_ARGUMENT = 1
  integer, parameter :: PARAPET_ERR_NOT_FOUND = 2
  integer, parameter :: PARAPET_ERR_EXISTS = 3
  integer, parameter :: PARAPET_ERR_IO = 4
  integer, parameter :: PARAPET_ERR_NO_SPACE = 5
  integer, parameter :: PARAPET_ERR_MEMORY = 6
  integer, parameter :: PARAPET_ERR_FORMAT = 7
  integer, parameter :: PARAPET_ERR_UNSUPPORTED = 8
  integer, parameter :: PARAPET_ERR_CORRUPT = 9
  integer, parameter :: PARAPET_ERR_MISSING = 10
  integer, parameter :: PARAPET_ERR_CANCELLED = 11
  integer, parameter :: PARAPET_ERR_MPI = 12
  integer, parameter :: PARAPET_ERR_INTERNAL = 13
  integer, parameter :: PARAPET_ERR_TIMEOUT = 14
  integer, parameter :: PARAPET_ERR_BUSY = 15
  integer, parameter :: PARAPET_ERR_STALE = 16

  ! parapet_mode
  integer, parameter :: PARAPET_READ = 0
  integer, parameter :: PARAPET_UPDATE = 1
  integer, parameter :: PARAPET_CREATE = 2

  ! parapet_node_kind
  integer, parameter :: PARAPET_NODE_GROUP = 1
  integer, parameter :: PARAPET_NODE_ARRAY = 2
  integer, parameter :: PARAPET_NODE_INVALID = 3

  ! parapet_type
  integer, parameter :: PARAPET_TYPE_OF_ARRAY = 0
  integer, parameter :: PARAPET_BOOL = 1
  integer, parameter :: PARAPET_INT8 = 2
  integer, parameter :: PARAPET_INT16 = 3
  integer, parameter :: PARAPET_INT32 = 4
  integer, parameter :: PARAPET_INT64 = 5
  integer, parameter :: PARAPET_UINT8 = 6
  integer, parameter :: PARAPET_UINT16 = 7
  integer, parameter :: PARAPET_UINT32 = 8
  integer, parameter :: PARAPET_UINT64 = 9
  integer, parameter :: PARAPET_FLOAT16 = 10
  integer, parameter :: PARAPET_FLOAT32 = 11
  integer, parameter :: PARAPET_FLOAT64 = 12
  integer, parameter :: PARAPET_COMPLEX64 = 13
  integer, parameter :: PARAPET_COMPLEX128 = 14
  integer, parameter :: PARAPET_BFLOAT16 = 15
  integer, parameter :: PARAPET_DATETIME64 = 16
  integer, parameter :: PARAPET_TIMEDELTA64 = 17
  integer, parameter :: PARAPET_RAW = 18
  integer, parameter :: PARAPET_UTF32 = 19
  integer, parameter :: PARAPET_STRUCT = 20
  integer, parameter :: PARAPET_VARIABLE = 21

  ! parapet_io_thread
  integer, parameter :: PARAPET_IO_THREAD_CHOOSE = 0
  integer, parameter :: PARAPET_IO_THREAD_OWN = 1
  integer, parameter :: PARAPET_IO_THREAD_NONE = 2

  ! parapet_direct_io
  integer, parameter :: PARAPET_DIRECT_IO_CHOOSE = 0
  integer, parameter :: PARAPET_DIRECT_IO_ALWAYS = 1
  integer, parameter :: PARAPET_DIRECT_IO_NEVER = 2

  ! parapet_durability
  integer, parameter :: PARAPET_DURABILITY_CHOOSE = 0
  integer, parameter :: PARAPET_DURABILITY_FLUSH = 1
  integer, parameter :: PARAPET_DURABILITY_LEAVE = 2

  ! parapet_ownership
  integer, parameter :: PARAPET_OWNERSHIP_CHOOSE = 0
  integer, parameter :: PARAPET_OWNERSHIP_ROUND_ROBIN = 1
  integer, parameter :: PARAPET_OWNERSHIP_LOCALITY = 2
  integer, parameter :: PARAPET_OWNERSHIP_DYNAMIC = 3
  integer, parameter :: PARAPET_OWNERSHIP_STATIC = 4
  integer, parameter :: PARAPET_OWNERSHIP_LASTING = 5

  ! parapet_transport
  integer, parameter :: PARAPET_TRANSPORT_CHOOSE = 0
  integer, parameter :: PARAPET_TRANSPORT_DIRECT = 1
  integer, parameter :: PARAPET_TRANSPORT_MESSAGES = 2

  ! parapet_locks
  integer, parameter :: PARAPET_LOCKS_CHOOSE = 0
  integer, parameter :: PARAPET_LOCKS_TRUSTED = 1
  integer, parameter :: PARAPET_LOCKS_RECORD = 2

  ! parapet_holes
  integer, parameter :: PARAPET_HOLES_CHOOSE = 0
  integer, parameter :: PARAPET_HOLES_READ = 1
  integer, parameter :: PARAPET_HOLES_SKIP = 2

  ! parapet_buffering
  integer, parameter :: PARAPET_BUFFERING_COPY = 0
  integer, parameter :: PARAPET_BUFFERING_BORROW = 1

  ! parapet_spread
  integer, parameter :: PARAPET_WHOLE = 0
  integer, parameter :: PARAPET_BLOCK = 1
  integer, parameter :: PARAPET_CYCLIC = 2

  ! parapet_reading
  integer, parameter :: PARAPET_READING_CHOOSE = 0
  integer, parameter :: PARAPET_READING_CHUNKS = 1
  integer, parameter :: PARAPET_READING_RUNS = 2

  ! parapet_cooperation
  integer, parameter :: PARAPET_COOPERATION_CHOOSE = 0
  integer, parameter :: PARAPET_COOPERATION_ALONE = 1
  integer, parameter :: PARAPET_COOPERATION_TOGETHER = 2

  ! parapet_repair
  integer, parameter :: PARAPET_REPAIR_NONE = 0
  integer, parameter :: PARAPET_REPAIR_COMPLETED = 1
  integer, parameter :: PARAPET_REPAIR_UNDONE = 2

  ! parapet_beyond
  integer, parameter :: PARAPET_BEYOND_REFUSE = 0
  integer, parameter :: PARAPET_BEYOND_ADOPT = 1
  integer, parameter :: PARAPET_BEYOND_CUT = 2

  ! parapet_finding_kind
  integer, parameter :: PARAPET_FINDING_MISSING = 1
  integer, parameter :: PARAPET_FINDING_TORN = 2
  integer, parameter :: PARAPET_FINDING_STRAY = 3
  integer, parameter :: PARAPET_FINDING_ABSENT = 4

  ! parapet_check_depth
  integer, parameter :: PARAPET_CHECK_SURVEY = 0
  integer, parameter :: PARAPET_CHECK_INDEX = 1
  integer, parameter :: PARAPET_CHECK_DATA = 2

end module parapet_constants
