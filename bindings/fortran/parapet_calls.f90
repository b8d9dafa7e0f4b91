! Made by bindings/fortran/generate from shim.h; do not edit.
! What Fortran calls of the shim. shim.h says what each does.
module parapet_calls
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function parapet_fortran_error_message() &
        bind(c, name="parapet_fortran_error_message") result(answer)
      import
      type(c_ptr) :: answer
    end function parapet_fortran_error_message
  end interface

  interface
    function parapet_fortran_version() &
        bind(c, name="parapet_fortran_version") result(answer)
      import
      type(c_ptr) :: answer
    end function parapet_fortran_version
  end interface

  interface
    function parapet_fortran_version_number() &
        bind(c, name="parapet_fortran_version_number") result(answer)
      import
      integer(c_int) :: answer
    end function parapet_fortran_version_number
  end interface

  interface
    function parapet_fortran_type_name(type) &
        bind(c, name="parapet_fortran_type_name") result(answer)
      import
      integer(c_int), value :: type
      type(c_ptr) :: answer
    end function parapet_fortran_type_name
  end interface

  interface
    function parapet_fortran_type_from_name(name) &
        bind(c, name="parapet_fortran_type_from_name") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: answer
    end function parapet_fortran_type_from_name
  end interface

  interface
    function parapet_fortran_type_bytes(type) &
        bind(c, name="parapet_fortran_type_bytes") result(answer)
      import
      integer(c_int), value :: type
      integer(c_int64_t) :: answer
    end function parapet_fortran_type_bytes
  end interface

  interface
    function parapet_fortran_text_visible(characters) &
        bind(c, name="parapet_fortran_text_visible") result(answer)
      import
      character(kind=c_char), intent(in) :: characters(*)
      type(c_ptr) :: answer
    end function parapet_fortran_text_visible
  end interface

  interface
    function parapet_fortran_launch(figures, flavour) &
        bind(c, name="parapet_fortran_launch") result(answer)
      import
      integer(c_int), intent(inout) :: figures(*)
      type(c_ptr), intent(inout) :: flavour
      integer(c_int) :: answer
    end function parapet_fortran_launch
  end interface

  interface
    function parapet_fortran_status_name(status) &
        bind(c, name="parapet_fortran_status_name") result(answer)
      import
      integer(c_int), value :: status
      type(c_ptr) :: answer
    end function parapet_fortran_status_name
  end interface

  interface
    function parapet_fortran_text_length(text) &
        bind(c, name="parapet_fortran_text_length") result(answer)
      import
      type(c_ptr), value :: text
      integer(c_int64_t) :: answer
    end function parapet_fortran_text_length
  end interface

  interface
    subroutine parapet_fortran_text_copy(to, text, length) &
        bind(c, name="parapet_fortran_text_copy")
      import
      character(kind=c_char), intent(inout) :: to(*)
      type(c_ptr), value :: text
      integer(c_int64_t), value :: length
    end subroutine parapet_fortran_text_copy
  end interface

  interface
    subroutine parapet_fortran_number_text(value, digits, text) &
        bind(c, name="parapet_fortran_number_text")
      import
      real(c_double), value :: value
      integer(c_int), value :: digits
      character(kind=c_char), intent(inout) :: text(*)
    end subroutine parapet_fortran_number_text
  end interface

  interface
    subroutine parapet_fortran_text_free(text) &
        bind(c, name="parapet_fortran_text_free")
      import
      type(c_ptr), value :: text
    end subroutine parapet_fortran_text_free
  end interface

  interface
    function parapet_fortran_attribute_refuse(name, json) &
        bind(c, name="parapet_fortran_attribute_refuse") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int) :: answer
    end function parapet_fortran_attribute_refuse
  end interface

  interface
    function parapet_fortran_attribute_unreachable(name) &
        bind(c, name="parapet_fortran_attribute_unreachable") result(answer)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: answer
    end function parapet_fortran_attribute_unreachable
  end interface

  interface
    function parapet_fortran_spec_build(type, ndim, shape, has_steps) &
        bind(c, name="parapet_fortran_spec_build") result(answer)
      import
      integer(c_int), value :: type
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int), value :: has_steps
      type(c_ptr) :: answer
    end function parapet_fortran_spec_build
  end interface

  interface
    subroutine parapet_fortran_spec_free(self) &
        bind(c, name="parapet_fortran_spec_free")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_spec_free
  end interface

  interface
    subroutine parapet_fortran_spec_chunks(self, chunks, count) &
        bind(c, name="parapet_fortran_spec_chunks")
      import
      type(c_ptr), value :: self
      integer(c_int64_t), intent(in) :: chunks(*)
      integer(c_int), value :: count
    end subroutine parapet_fortran_spec_chunks
  end interface

  interface
    subroutine parapet_fortran_spec_shards(self, shards, count) &
        bind(c, name="parapet_fortran_spec_shards")
      import
      type(c_ptr), value :: self
      integer(c_int64_t), intent(in) :: shards(*)
      integer(c_int), value :: count
    end subroutine parapet_fortran_spec_shards
  end interface

  interface
    subroutine parapet_fortran_spec_steps(self, chunk_steps, shard_steps) &
        bind(c, name="parapet_fortran_spec_steps")
      import
      type(c_ptr), value :: self
      integer(c_int64_t), value :: chunk_steps
      integer(c_int64_t), value :: shard_steps
    end subroutine parapet_fortran_spec_steps
  end interface

  interface
    subroutine parapet_fortran_spec_names(self, names, length, count) &
        bind(c, name="parapet_fortran_spec_names")
      import
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: names(*)
      integer(c_int), value :: length
      integer(c_int), value :: count
    end subroutine parapet_fortran_spec_names
  end interface

  interface
    subroutine parapet_fortran_spec_codec(self, codec) &
        bind(c, name="parapet_fortran_spec_codec")
      import
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: codec(*)
    end subroutine parapet_fortran_spec_codec
  end interface

  interface
    subroutine parapet_fortran_spec_attributes(self, attributes) &
        bind(c, name="parapet_fortran_spec_attributes")
      import
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: attributes(*)
    end subroutine parapet_fortran_spec_attributes
  end interface

  interface
    subroutine parapet_fortran_spec_time_unit(self, unit) &
        bind(c, name="parapet_fortran_spec_time_unit")
      import
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: unit(*)
    end subroutine parapet_fortran_spec_time_unit
  end interface

  interface
    subroutine parapet_fortran_spec_unsharded(self) &
        bind(c, name="parapet_fortran_spec_unsharded")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_spec_unsharded
  end interface

  interface
    subroutine parapet_fortran_spec_no_checksum(self) &
        bind(c, name="parapet_fortran_spec_no_checksum")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_spec_no_checksum
  end interface

  interface
    subroutine parapet_fortran_spec_overwrite(self) &
        bind(c, name="parapet_fortran_spec_overwrite")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_spec_overwrite
  end interface

  interface
    subroutine parapet_fortran_spec_fill(self, value, type) &
        bind(c, name="parapet_fortran_spec_fill")
      import
      type(c_ptr), value :: self
      type(c_ptr), value :: value
      integer(c_int), value :: type
    end subroutine parapet_fortran_spec_fill
  end interface

  interface
    function parapet_fortran_notes_count(self) &
        bind(c, name="parapet_fortran_notes_count") result(answer)
      import
      type(c_ptr), value :: self
      integer(c_int) :: answer
    end function parapet_fortran_notes_count
  end interface

  interface
    function parapet_fortran_notes_number(self, index) &
        bind(c, name="parapet_fortran_notes_number") result(answer)
      import
      type(c_ptr), value :: self
      integer(c_int), value :: index
      integer(c_int64_t) :: answer
    end function parapet_fortran_notes_number
  end interface

  interface
    function parapet_fortran_notes_first(self, index) &
        bind(c, name="parapet_fortran_notes_first") result(answer)
      import
      type(c_ptr), value :: self
      integer(c_int), value :: index
      type(c_ptr) :: answer
    end function parapet_fortran_notes_first
  end interface

  interface
    function parapet_fortran_notes_second(self, index) &
        bind(c, name="parapet_fortran_notes_second") result(answer)
      import
      type(c_ptr), value :: self
      integer(c_int), value :: index
      type(c_ptr) :: answer
    end function parapet_fortran_notes_second
  end interface

  interface
    subroutine parapet_fortran_notes_free(self) &
        bind(c, name="parapet_fortran_notes_free")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_notes_free
  end interface

  interface
    function parapet_fortran_store_open_alone(store, path, mode, lines, progress, context) &
        bind(c, name="parapet_fortran_store_open_alone") result(answer)
      import
      type(c_ptr), intent(inout) :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
      character(kind=c_char), intent(in) :: lines(*)
      type(c_funptr), value :: progress
      type(c_ptr), value :: context
      integer(c_int) :: answer
    end function parapet_fortran_store_open_alone
  end interface

  interface
    function parapet_fortran_store_open(store, comm, path, mode, lines, progress, context) &
        bind(c, name="parapet_fortran_store_open") result(answer)
      import
      type(c_ptr), intent(inout) :: store
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
      character(kind=c_char), intent(in) :: lines(*)
      type(c_funptr), value :: progress
      type(c_ptr), value :: context
      integer(c_int) :: answer
    end function parapet_fortran_store_open
  end interface

  interface
    function parapet_fortran_store_close(store) &
        bind(c, name="parapet_fortran_store_close") result(answer)
      import
      type(c_ptr), intent(inout) :: store
      integer(c_int) :: answer
    end function parapet_fortran_store_close
  end interface

  interface
    function parapet_fortran_store_flush(store) &
        bind(c, name="parapet_fortran_store_flush") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int) :: answer
    end function parapet_fortran_store_flush
  end interface

  interface
    function parapet_fortran_store_options(store, text) &
        bind(c, name="parapet_fortran_store_options") result(answer)
      import
      type(c_ptr), value :: store
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: answer
    end function parapet_fortran_store_options
  end interface

  interface
    function parapet_fortran_store_statistics(store, counts, seconds) &
        bind(c, name="parapet_fortran_store_statistics") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), intent(inout) :: counts(*)
      real(c_double), intent(inout) :: seconds(*)
      integer(c_int) :: answer
    end function parapet_fortran_store_statistics
  end interface

  interface
    function parapet_fortran_store_collect(store, path, dry_run, removals) &
        bind(c, name="parapet_fortran_store_collect") result(answer)
      import
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: dry_run
      type(c_ptr), intent(inout) :: removals
      integer(c_int) :: answer
    end function parapet_fortran_store_collect
  end interface

  interface
    function parapet_fortran_store_remove(store, path, recursive, dry_run, removals) &
        bind(c, name="parapet_fortran_store_remove") result(answer)
      import
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: recursive
      integer(c_int), value :: dry_run
      type(c_ptr), intent(inout) :: removals
      integer(c_int) :: answer
    end function parapet_fortran_store_remove
  end interface

  interface
    function parapet_fortran_group_create(group, store, path, attributes) &
        bind(c, name="parapet_fortran_group_create") result(answer)
      import
      type(c_ptr), intent(inout) :: group
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: attributes(*)
      integer(c_int) :: answer
    end function parapet_fortran_group_create
  end interface

  interface
    function parapet_fortran_group_open(group, store, path) &
        bind(c, name="parapet_fortran_group_open") result(answer)
      import
      type(c_ptr), intent(inout) :: group
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function parapet_fortran_group_open
  end interface

  interface
    function parapet_fortran_group_close(group) &
        bind(c, name="parapet_fortran_group_close") result(answer)
      import
      type(c_ptr), intent(inout) :: group
      integer(c_int) :: answer
    end function parapet_fortran_group_close
  end interface

  interface
    function parapet_fortran_group_consolidate(group) &
        bind(c, name="parapet_fortran_group_consolidate") result(answer)
      import
      type(c_ptr), value :: group
      integer(c_int) :: answer
    end function parapet_fortran_group_consolidate
  end interface

  interface
    function parapet_fortran_group_attribute_set(group, name, json) &
        bind(c, name="parapet_fortran_group_attribute_set") result(answer)
      import
      type(c_ptr), value :: group
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int) :: answer
    end function parapet_fortran_group_attribute_set
  end interface

  interface
    function parapet_fortran_group_attribute_get(group, name, json) &
        bind(c, name="parapet_fortran_group_attribute_get") result(answer)
      import
      type(c_ptr), value :: group
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: json
      integer(c_int) :: answer
    end function parapet_fortran_group_attribute_get
  end interface

  interface
    function parapet_fortran_group_list(group, children) &
        bind(c, name="parapet_fortran_group_list") result(answer)
      import
      type(c_ptr), value :: group
      type(c_ptr), intent(inout) :: children
      integer(c_int) :: answer
    end function parapet_fortran_group_list
  end interface

  interface
    function parapet_fortran_array_create(array, store, path, spec) &
        bind(c, name="parapet_fortran_array_create") result(answer)
      import
      type(c_ptr), intent(inout) :: array
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: spec
      integer(c_int) :: answer
    end function parapet_fortran_array_create
  end interface

  interface
    function parapet_fortran_array_open(array, store, path) &
        bind(c, name="parapet_fortran_array_open") result(answer)
      import
      type(c_ptr), intent(inout) :: array
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_open
  end interface

  interface
    function parapet_fortran_array_close(array) &
        bind(c, name="parapet_fortran_array_close") result(answer)
      import
      type(c_ptr), intent(inout) :: array
      integer(c_int) :: answer
    end function parapet_fortran_array_close
  end interface

  interface
    function parapet_fortran_array_write(array, data, start, start_count) &
        bind(c, name="parapet_fortran_array_write") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_array_write
  end interface

  interface
    function parapet_fortran_array_read(array, data, start, start_count) &
        bind(c, name="parapet_fortran_array_read") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_array_read
  end interface

  interface
    function parapet_fortran_array_read_local(array, data, start, start_count) &
        bind(c, name="parapet_fortran_array_read_local") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_array_read_local
  end interface

  interface
    function parapet_fortran_array_write_points(array, data, points, extents) &
        bind(c, name="parapet_fortran_array_write_points") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: points(*)
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_write_points
  end interface

  interface
    function parapet_fortran_array_write_runs(array, data, starts, lengths, extents) &
        bind(c, name="parapet_fortran_array_write_runs") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: starts(*)
      integer(c_int64_t), intent(in) :: lengths(*)
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_write_runs
  end interface

  interface
    function parapet_fortran_array_read_points(array, data, points, extents) &
        bind(c, name="parapet_fortran_array_read_points") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: points(*)
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_read_points
  end interface

  interface
    function parapet_fortran_array_read_runs(array, data, starts, lengths, extents) &
        bind(c, name="parapet_fortran_array_read_runs") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: starts(*)
      integer(c_int64_t), intent(in) :: lengths(*)
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_read_runs
  end interface

  interface
    function parapet_fortran_array_read_points_local(array, data, points, extents) &
        bind(c, name="parapet_fortran_array_read_points_local") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: points(*)
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_read_points_local
  end interface

  interface
    function parapet_fortran_array_read_runs_local(array, data, starts, lengths, extents) &
        bind(c, name="parapet_fortran_array_read_runs_local") result(answer)
      import
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: starts(*)
      integer(c_int64_t), intent(in) :: lengths(*)
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_read_runs_local
  end interface

  interface
    function parapet_fortran_array_resize(array, shape, ndim) &
        bind(c, name="parapet_fortran_array_resize") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int), value :: ndim
      integer(c_int) :: answer
    end function parapet_fortran_array_resize
  end interface

  interface
    function parapet_fortran_array_seal(array) &
        bind(c, name="parapet_fortran_array_seal") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int) :: answer
    end function parapet_fortran_array_seal
  end interface

  interface
    function parapet_fortran_array_flush(array) &
        bind(c, name="parapet_fortran_array_flush") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int) :: answer
    end function parapet_fortran_array_flush
  end interface

  interface
    function parapet_fortran_array_unseal(array) &
        bind(c, name="parapet_fortran_array_unseal") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int) :: answer
    end function parapet_fortran_array_unseal
  end interface

  interface
    function parapet_fortran_array_attribute_set(array, name, json) &
        bind(c, name="parapet_fortran_array_attribute_set") result(answer)
      import
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_attribute_set
  end interface

  interface
    function parapet_fortran_array_attribute_get(array, name, json) &
        bind(c, name="parapet_fortran_array_attribute_get") result(answer)
      import
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: json
      integer(c_int) :: answer
    end function parapet_fortran_array_attribute_get
  end interface

  interface
    function parapet_fortran_array_info(array, figures, shape, chunks, shards) &
        bind(c, name="parapet_fortran_array_info") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int), intent(inout) :: figures(*)
      integer(c_int64_t), intent(inout) :: shape(*)
      integer(c_int64_t), intent(inout) :: chunks(*)
      integer(c_int64_t), intent(inout) :: shards(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_info
  end interface

  interface
    function parapet_fortran_array_texts(array, path, type_name, codecs) &
        bind(c, name="parapet_fortran_array_texts") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), intent(inout) :: path
      type(c_ptr), intent(inout) :: type_name
      type(c_ptr), intent(inout) :: codecs
      integer(c_int) :: answer
    end function parapet_fortran_array_texts
  end interface

  interface
    function parapet_fortran_array_fill(array, value, type) &
        bind(c, name="parapet_fortran_array_fill") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), value :: value
      integer(c_int), value :: type
      integer(c_int) :: answer
    end function parapet_fortran_array_fill
  end interface

  interface
    function parapet_fortran_array_explain(array, text) &
        bind(c, name="parapet_fortran_array_explain") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: answer
    end function parapet_fortran_array_explain
  end interface

  interface
    function parapet_fortran_array_list(array, numbers, figures) &
        bind(c, name="parapet_fortran_array_list") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), intent(inout) :: numbers
      integer(c_int64_t), intent(inout) :: figures(*)
      integer(c_int) :: answer
    end function parapet_fortran_array_list
  end interface

  interface
    subroutine parapet_fortran_free(memory) &
        bind(c, name="parapet_fortran_free")
      import
      type(c_ptr), value :: memory
    end subroutine parapet_fortran_free
  end interface

  interface
    function parapet_fortran_array_dimension_name(array, dimension) &
        bind(c, name="parapet_fortran_array_dimension_name") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: dimension
      type(c_ptr) :: answer
    end function parapet_fortran_array_dimension_name
  end interface

  interface
    function parapet_fortran_array_check(array, depth, counts, findings) &
        bind(c, name="parapet_fortran_array_check") result(answer)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: depth
      integer(c_int64_t), intent(inout) :: counts(*)
      type(c_ptr), intent(inout) :: findings
      integer(c_int) :: answer
    end function parapet_fortran_array_check
  end interface

  interface
    function parapet_fortran_definitions_build() &
        bind(c, name="parapet_fortran_definitions_build") result(answer)
      import
      type(c_ptr) :: answer
    end function parapet_fortran_definitions_build
  end interface

  interface
    subroutine parapet_fortran_definitions_clear(self) &
        bind(c, name="parapet_fortran_definitions_clear")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_definitions_clear
  end interface

  interface
    subroutine parapet_fortran_definitions_free(self) &
        bind(c, name="parapet_fortran_definitions_free")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_definitions_free
  end interface

  interface
    function parapet_fortran_definitions_add(self, name, spec) &
        bind(c, name="parapet_fortran_definitions_add") result(answer)
      import
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: spec
      integer(c_int) :: answer
    end function parapet_fortran_definitions_add
  end interface

  interface
    function parapet_fortran_arrays_create(arrays, count, store, definitions) &
        bind(c, name="parapet_fortran_arrays_create") result(answer)
      import
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      type(c_ptr), value :: store
      type(c_ptr), value :: definitions
      integer(c_int) :: answer
    end function parapet_fortran_arrays_create
  end interface

  interface
    function parapet_fortran_arrays_open(arrays, count, store, paths, path_count) &
        bind(c, name="parapet_fortran_arrays_open") result(answer)
      import
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: paths(*)
      integer(c_int), value :: path_count
      integer(c_int) :: answer
    end function parapet_fortran_arrays_open
  end interface

  interface
    function parapet_fortran_arrays_close(arrays, count) &
        bind(c, name="parapet_fortran_arrays_close") result(answer)
      import
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      integer(c_int) :: answer
    end function parapet_fortran_arrays_close
  end interface

  interface
    function parapet_fortran_parts_build() &
        bind(c, name="parapet_fortran_parts_build") result(answer)
      import
      type(c_ptr) :: answer
    end function parapet_fortran_parts_build
  end interface

  interface
    subroutine parapet_fortran_parts_clear(self) &
        bind(c, name="parapet_fortran_parts_clear")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_parts_clear
  end interface

  interface
    subroutine parapet_fortran_parts_free(self) &
        bind(c, name="parapet_fortran_parts_free")
      import
      type(c_ptr), value :: self
    end subroutine parapet_fortran_parts_free
  end interface

  interface
    function parapet_fortran_parts_add(self, name, data, start, start_count) &
        bind(c, name="parapet_fortran_parts_add") result(answer)
      import
      type(c_ptr), value :: self
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_parts_add
  end interface

  interface
    function parapet_fortran_parts_add_view(parts, name, array, data, filetype, displacement) &
        bind(c, name="parapet_fortran_parts_add_view") result(answer)
      import
      type(c_ptr), value :: parts
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: array
      type(*), dimension(..), intent(in) :: data
      integer(c_int), value :: filetype
      integer(c_int64_t), value :: displacement
      integer(c_int) :: answer
    end function parapet_fortran_parts_add_view
  end interface

  interface
    function parapet_fortran_array_write_parts(array, parts) &
        bind(c, name="parapet_fortran_array_write_parts") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_array_write_parts
  end interface

  interface
    function parapet_fortran_array_read_parts(array, parts) &
        bind(c, name="parapet_fortran_array_read_parts") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_array_read_parts
  end interface

  interface
    function parapet_fortran_array_read_parts_local(array, parts) &
        bind(c, name="parapet_fortran_array_read_parts_local") result(answer)
      import
      type(c_ptr), value :: array
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_array_read_parts_local
  end interface

  interface
    function parapet_fortran_arrays_write(arrays, count, parts) &
        bind(c, name="parapet_fortran_arrays_write") result(answer)
      import
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_arrays_write
  end interface

  interface
    function parapet_fortran_arrays_read(arrays, count, parts) &
        bind(c, name="parapet_fortran_arrays_read") result(answer)
      import
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_arrays_read
  end interface

  interface
    function parapet_fortran_request_test(request, is_done) &
        bind(c, name="parapet_fortran_request_test") result(answer)
      import
      type(c_ptr), value :: request
      integer(c_int), intent(inout) :: is_done(*)
      integer(c_int) :: answer
    end function parapet_fortran_request_test
  end interface

  interface
    function parapet_fortran_request_wait(request) &
        bind(c, name="parapet_fortran_request_wait") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      integer(c_int) :: answer
    end function parapet_fortran_request_wait
  end interface

  interface
    function parapet_fortran_array_start_write(request, array, parts, copies) &
        bind(c, name="parapet_fortran_array_start_write") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      type(c_ptr), value :: array
      type(c_ptr), value :: parts
      integer(c_int), value :: copies
      integer(c_int) :: answer
    end function parapet_fortran_array_start_write
  end interface

  interface
    function parapet_fortran_array_start_read(request, array, parts) &
        bind(c, name="parapet_fortran_array_start_read") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      type(c_ptr), value :: array
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_array_start_read
  end interface

  interface
    function parapet_fortran_arrays_start_write(request, arrays, count, parts, copies) &
        bind(c, name="parapet_fortran_arrays_start_write") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      type(c_ptr), value :: parts
      integer(c_int), value :: copies
      integer(c_int) :: answer
    end function parapet_fortran_arrays_start_write
  end interface

  interface
    function parapet_fortran_arrays_start_read(request, arrays, count, parts) &
        bind(c, name="parapet_fortran_arrays_start_read") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      type(c_ptr), value :: arrays
      integer(c_int), value :: count
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_arrays_start_read
  end interface

  interface
    function parapet_fortran_series_start_append(request, series, coordinate, parts, copies) &
        bind(c, name="parapet_fortran_series_start_append") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      type(c_ptr), value :: series
      real(c_double), value :: coordinate
      type(c_ptr), value :: parts
      integer(c_int), value :: copies
      integer(c_int) :: answer
    end function parapet_fortran_series_start_append
  end interface

  interface
    function parapet_fortran_checkpoint_start(request, checkpoint, arrays, parts, copies, generation) &
        bind(c, name="parapet_fortran_checkpoint_start") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      type(c_ptr), intent(inout) :: checkpoint
      type(c_ptr), value :: arrays
      type(c_ptr), value :: parts
      integer(c_int), value :: copies
      integer(c_int64_t), intent(inout) :: generation(*)
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_start
  end interface

  interface
    function parapet_fortran_series_create(series, store, path, arrays, dimension, coordinate_attributes, attributes) &
        bind(c, name="parapet_fortran_series_create") result(answer)
      import
      type(c_ptr), intent(inout) :: series
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: arrays
      character(kind=c_char), intent(in) :: dimension(*)
      character(kind=c_char), intent(in) :: coordinate_attributes(*)
      character(kind=c_char), intent(in) :: attributes(*)
      integer(c_int) :: answer
    end function parapet_fortran_series_create
  end interface

  interface
    function parapet_fortran_series_open(series, store, path) &
        bind(c, name="parapet_fortran_series_open") result(answer)
      import
      type(c_ptr), intent(inout) :: series
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: answer
    end function parapet_fortran_series_open
  end interface

  interface
    function parapet_fortran_series_repair(store, path, beyond) &
        bind(c, name="parapet_fortran_series_repair") result(answer)
      import
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: beyond
      integer(c_int) :: answer
    end function parapet_fortran_series_repair
  end interface

  interface
    function parapet_fortran_series_flush(series) &
        bind(c, name="parapet_fortran_series_flush") result(answer)
      import
      type(c_ptr), value :: series
      integer(c_int) :: answer
    end function parapet_fortran_series_flush
  end interface

  interface
    function parapet_fortran_series_close(series) &
        bind(c, name="parapet_fortran_series_close") result(answer)
      import
      type(c_ptr), intent(inout) :: series
      integer(c_int) :: answer
    end function parapet_fortran_series_close
  end interface

  interface
    function parapet_fortran_series_info(series, figures, texts) &
        bind(c, name="parapet_fortran_series_info") result(answer)
      import
      type(c_ptr), value :: series
      integer(c_int64_t), intent(inout) :: figures(*)
      type(c_ptr), intent(inout) :: texts
      integer(c_int) :: answer
    end function parapet_fortran_series_info
  end interface

  interface
    function parapet_fortran_series_array_info(series, name, figures, shape) &
        bind(c, name="parapet_fortran_series_array_info") result(answer)
      import
      type(c_ptr), value :: series
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: figures(*)
      integer(c_int64_t), intent(inout) :: shape(*)
      integer(c_int) :: answer
    end function parapet_fortran_series_array_info
  end interface

  interface
    function parapet_fortran_series_explain(series, text) &
        bind(c, name="parapet_fortran_series_explain") result(answer)
      import
      type(c_ptr), value :: series
      type(c_ptr), intent(inout) :: text
      integer(c_int) :: answer
    end function parapet_fortran_series_explain
  end interface

  interface
    function parapet_fortran_series_append_parts(series, coordinate, parts) &
        bind(c, name="parapet_fortran_series_append_parts") result(answer)
      import
      type(c_ptr), value :: series
      real(c_double), value :: coordinate
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_series_append_parts
  end interface

  interface
    function parapet_fortran_series_append(series, coordinate, data, start, start_count) &
        bind(c, name="parapet_fortran_series_append") result(answer)
      import
      type(c_ptr), value :: series
      real(c_double), value :: coordinate
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_series_append
  end interface

  interface
    function parapet_fortran_checkpoint_begin(checkpoint, store, path, generation, keep) &
        bind(c, name="parapet_fortran_checkpoint_begin") result(answer)
      import
      type(c_ptr), intent(inout) :: checkpoint
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: generation
      integer(c_int64_t), value :: keep
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_begin
  end interface

  interface
    function parapet_fortran_checkpoint_put(checkpoint, name, spec, data, start, start_count) &
        bind(c, name="parapet_fortran_checkpoint_put") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: spec
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_put
  end interface

  interface
    function parapet_fortran_checkpoint_put_parts(checkpoint, name, spec, parts) &
        bind(c, name="parapet_fortran_checkpoint_put_parts") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: spec
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_put_parts
  end interface

  interface
    function parapet_fortran_checkpoint_put_defined(checkpoint, arrays, parts) &
        bind(c, name="parapet_fortran_checkpoint_put_defined") result(answer)
      import
      type(c_ptr), value :: checkpoint
      type(c_ptr), value :: arrays
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_put_defined
  end interface

  interface
    function parapet_fortran_checkpoint_attribute_set(checkpoint, name, json) &
        bind(c, name="parapet_fortran_checkpoint_attribute_set") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_attribute_set
  end interface

  interface
    function parapet_fortran_checkpoint_commit(checkpoint, generation) &
        bind(c, name="parapet_fortran_checkpoint_commit") result(answer)
      import
      type(c_ptr), intent(inout) :: checkpoint
      integer(c_int64_t), intent(inout) :: generation(*)
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_commit
  end interface

  interface
    function parapet_fortran_checkpoint_abort(checkpoint) &
        bind(c, name="parapet_fortran_checkpoint_abort") result(answer)
      import
      type(c_ptr), intent(inout) :: checkpoint
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_abort
  end interface

  interface
    function parapet_fortran_restore_open(restore, store, path, generation) &
        bind(c, name="parapet_fortran_restore_open") result(answer)
      import
      type(c_ptr), intent(inout) :: restore
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: generation
      integer(c_int) :: answer
    end function parapet_fortran_restore_open
  end interface

  interface
    function parapet_fortran_restore_get(restore, name, data, start, start_count) &
        bind(c, name="parapet_fortran_restore_get") result(answer)
      import
      type(c_ptr), value :: restore
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int), value :: start_count
      integer(c_int) :: answer
    end function parapet_fortran_restore_get
  end interface

  interface
    function parapet_fortran_restore_get_parts(restore, name, parts) &
        bind(c, name="parapet_fortran_restore_get_parts") result(answer)
      import
      type(c_ptr), value :: restore
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_restore_get_parts
  end interface

  interface
    function parapet_fortran_restore_get_named(restore, parts) &
        bind(c, name="parapet_fortran_restore_get_named") result(answer)
      import
      type(c_ptr), value :: restore
      type(c_ptr), value :: parts
      integer(c_int) :: answer
    end function parapet_fortran_restore_get_named
  end interface

  interface
    function parapet_fortran_restore_attribute_get(restore, name, json) &
        bind(c, name="parapet_fortran_restore_attribute_get") result(answer)
      import
      type(c_ptr), value :: restore
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: json
      integer(c_int) :: answer
    end function parapet_fortran_restore_attribute_get
  end interface

  interface
    function parapet_fortran_restore_info(restore, figures, texts) &
        bind(c, name="parapet_fortran_restore_info") result(answer)
      import
      type(c_ptr), value :: restore
      integer(c_int64_t), intent(inout) :: figures(*)
      type(c_ptr), intent(inout) :: texts
      integer(c_int) :: answer
    end function parapet_fortran_restore_info
  end interface

  interface
    function parapet_fortran_restore_array_info(restore, name, figures, shape) &
        bind(c, name="parapet_fortran_restore_array_info") result(answer)
      import
      type(c_ptr), value :: restore
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: figures(*)
      integer(c_int64_t), intent(inout) :: shape(*)
      integer(c_int) :: answer
    end function parapet_fortran_restore_array_info
  end interface

  interface
    function parapet_fortran_restore_close(restore) &
        bind(c, name="parapet_fortran_restore_close") result(answer)
      import
      type(c_ptr), intent(inout) :: restore
      integer(c_int) :: answer
    end function parapet_fortran_restore_close
  end interface

  interface
    function parapet_fortran_checkpoint_list(store, path, generations) &
        bind(c, name="parapet_fortran_checkpoint_list") result(answer)
      import
      type(c_ptr), value :: store
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout) :: generations
      integer(c_int) :: answer
    end function parapet_fortran_checkpoint_list
  end interface

  interface
    function parapet_fortran_copy(stores, texts, lines, counts, seconds) &
        bind(c, name="parapet_fortran_copy") result(answer)
      import
      type(c_ptr), value :: stores
      character(kind=c_char), intent(in) :: texts(*)
      character(kind=c_char), intent(in) :: lines(*)
      integer(c_int64_t), intent(inout) :: counts(*)
      real(c_double), intent(inout) :: seconds(*)
      integer(c_int) :: answer
    end function parapet_fortran_copy
  end interface

  interface
    function parapet_fortran_copy_plan(stores, texts, lines, plan) &
        bind(c, name="parapet_fortran_copy_plan") result(answer)
      import
      type(c_ptr), value :: stores
      character(kind=c_char), intent(in) :: texts(*)
      character(kind=c_char), intent(in) :: lines(*)
      type(c_ptr), intent(inout) :: plan
      integer(c_int) :: answer
    end function parapet_fortran_copy_plan
  end interface

  interface
    function parapet_fortran_file_write(source, texts, flags, left_out) &
        bind(c, name="parapet_fortran_file_write") result(answer)
      import
      type(c_ptr), value :: source
      character(kind=c_char), intent(in) :: texts(*)
      integer(c_int), intent(in) :: flags(*)
      type(c_ptr), intent(inout) :: left_out
      integer(c_int) :: answer
    end function parapet_fortran_file_write
  end interface

  interface
    function parapet_fortran_distribution_count(ndim, shape, mesh, block, rank, count) &
        bind(c, name="parapet_fortran_distribution_count") result(answer)
      import
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), intent(in) :: mesh(*)
      integer(c_int64_t), intent(in) :: block(*)
      integer(c_int64_t), value :: rank
      integer(c_int64_t), intent(inout) :: count(*)
      integer(c_int) :: answer
    end function parapet_fortran_distribution_count
  end interface

  interface
    function parapet_fortran_distribution_box(ndim, shape, mesh, block, rank_and_index, start, count) &
        bind(c, name="parapet_fortran_distribution_box") result(answer)
      import
      integer(c_int), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), intent(in) :: mesh(*)
      integer(c_int64_t), intent(in) :: block(*)
      integer(c_int64_t), intent(in) :: rank_and_index(*)
      integer(c_int64_t), intent(inout) :: start(*)
      integer(c_int64_t), intent(inout) :: count(*)
      integer(c_int) :: answer
    end function parapet_fortran_distribution_box
  end interface

end module parapet_calls
