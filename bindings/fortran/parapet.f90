! Parapet for Fortran: large multidimensional arrays on storage, for MPI programs.
!
!     use mpi_f08
!     use parapet
!     type(parapet_store) :: store
!     type(parapet_array) :: array
!
!     call store%open("run.zarr", comm=MPI_COMM_WORLD, mode=PARAPET_CREATE)
!     call array%create(store, "density", PARAPET_FLOAT64, shape=[nx, ny], dimension_names=["x", "y"])
!     call array%write(density(2:n + 1, 2:m + 1), start=[first_x, first_y])
!     call array%close()
!     call store%close()
!
! Every call may fail. It then stops the program with a sentence that says what failed, where and why, unless it is
! given status=, which is PARAPET_OK or an error; message= gets the sentence. Every rank of a store's communicator makes
! the calls marked [collective], in the same order, and gets the same status.
!
! Each type says in its own module what it can do. docs/guide/fortran.md is the guide, parapet.h the reference.
module parapet
  use parapet_arrays, only: parapet_array, parapet_check_summary, parapet_arrays_create, parapet_arrays_open, &
                            parapet_arrays_close, parapet_arrays_write, parapet_arrays_read, &
                            parapet_arrays_start_write, parapet_arrays_start_read
  use parapet_checkpoints, only: parapet_checkpoint, parapet_restore, parapet_checkpoint_list
  use parapet_constants
  use parapet_copies, only: parapet_copy, parapet_copy_plan, parapet_copy_result, parapet_file_write
  use parapet_definition_lists, only: parapet_definitions
  use parapet_distributions, only: parapet_distribution_box, parapet_distribution_count
  use parapet_groups, only: parapet_group
  use parapet_note_lists, only: parapet_finding, parapet_removal, PARAPET_NAME_LENGTH
  use parapet_part_lists, only: parapet_parts
  use parapet_requests, only: parapet_request
  use parapet_step_series, only: parapet_series, parapet_series_repair
  use parapet_stores, only: parapet_store, parapet_statistics, parapet_progress
  use parapet_text, only: parapet_version, parapet_version_number, parapet_status_name, parapet_type_name, &
                          parapet_type_from_name, parapet_type_bytes, parapet_text_visible, parapet_launch
  implicit none
  public
end module parapet
