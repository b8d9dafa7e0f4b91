# The Fortran module. Module files fit only the compiler that made them, so the sources are installed and every project
# compiles them with its own compiler: find_package(parapet COMPONENTS Fortran) does that with this file.

# _parapet_fortran_binding_header(result): the ISO_Fortran_binding.h of the Fortran compiler. The C compiler may be of
# another vendor, whose file describes other descriptors.
function(_parapet_fortran_binding_header result)
  get_filename_component(compiler "${CMAKE_Fortran_COMPILER}" REALPATH)
  get_filename_component(folder "${compiler}" DIRECTORY)
  set(hints ${folder}/../include/flang ${folder}/../include ${folder}/../compiler/include)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include OUTPUT_VARIABLE hints
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  unset(PARAPET_FORTRAN_BINDING_HEADER CACHE)
  find_file(PARAPET_FORTRAN_BINDING_HEADER ISO_Fortran_binding.h HINTS ${hints} NO_DEFAULT_PATH)
  if(NOT PARAPET_FORTRAN_BINDING_HEADER)
    find_file(PARAPET_FORTRAN_BINDING_HEADER ISO_Fortran_binding.h)
  endif()
  set(${result} ${PARAPET_FORTRAN_BINDING_HEADER} PARENT_SCOPE)
endfunction()

# _parapet_fortran_compiles(name source result): whether the Fortran compiler takes a source.
function(_parapet_fortran_compiles name source result)
  set(file ${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/parapet_fortran/${name}.f90)
  file(WRITE ${file} "${source}")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(PARAPET_FORTRAN_${name} ${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/parapet_fortran SOURCES ${file}
              LINK_LIBRARIES ${ARGN})
  set(${result} ${PARAPET_FORTRAN_${name}} PARENT_SCOPE)
endfunction()

# Whether procedures may have data of any number of dimensions, dimension(..). Without it, there is one for each number.
function(_parapet_fortran_has_assumed_rank result)
  _parapet_fortran_compiles(assumed_rank "module parapet_probe
contains
  subroutine outer(data)
    type(*), dimension(..), intent(in) :: data
    interface
      subroutine inner(data) bind(c)
        type(*), dimension(..), intent(in) :: data
      end subroutine inner
    end interface
    call inner(data)
  end subroutine outer
end module parapet_probe
" is_there)
  set(${result} ${is_there} PARENT_SCOPE)
endfunction()

function(_parapet_fortran_has_mpi_f08 result)
  _parapet_fortran_compiles(mpi_f08 "subroutine parapet_probe(comm, number)
  use mpi_f08, only: MPI_Comm
  type(MPI_Comm), intent(in) :: comm
  integer, intent(out) :: number
  number = comm%MPI_VAL
end subroutine parapet_probe
" is_there MPI::MPI_Fortran)
  set(${result} ${is_there} PARENT_SCOPE)
endfunction()

# parapet_fortran_library(name folder made library flavour): a static library of the module and its shim, from the sources
# in a folder and those that bindings/fortran/generate has made, for programs that use this library of this flavour.
function(parapet_fortran_library name folder made library flavour)
  _parapet_fortran_binding_header(header)
  if(NOT header)
    message(FATAL_ERROR "Parapet for Fortran needs the file ISO_Fortran_binding.h of ${CMAKE_Fortran_COMPILER}: give "
                        "-DPARAPET_FORTRAN_BINDING_HEADER=...")
  endif()
  configure_file(${header} ${CMAKE_CURRENT_BINARY_DIR}/${name}_include/ISO_Fortran_binding.h COPYONLY)
  _parapet_fortran_has_assumed_rank(has_assumed_rank)
  set(with_data ${made}/ranks)
  set(calls ${made}/ranks)
  if(has_assumed_rank)
    set(with_data ${folder})
    set(calls ${made})
  endif()
  file(GLOB shim ${folder}/shim_*.c)
  set(sources ${made}/parapet_constants.f90 ${calls}/parapet_calls.f90 ${folder}/parapet_text.f90
      ${folder}/parapet_json.f90 ${folder}/parapet_attributes.f90 ${folder}/parapet_note_lists.f90
      ${folder}/parapet_stores.F90 ${folder}/parapet_groups.f90 ${folder}/parapet_specs.f90
      ${folder}/parapet_definition_lists.f90 ${with_data}/parapet_part_lists.f90 ${folder}/parapet_requests.f90
      ${with_data}/parapet_arrays.f90 ${with_data}/parapet_step_series.f90 ${with_data}/parapet_checkpoints.f90
      ${folder}/parapet_copies.F90 ${folder}/parapet_distributions.f90 ${folder}/parapet.f90)
  add_library(${name}_shim OBJECT ${shim}) # apart, because flags of MPI for Fortran are not for C
  set_target_properties(${name}_shim PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11)
  target_include_directories(${name}_shim BEFORE PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}_include)
  target_link_libraries(${name}_shim PRIVATE ${library})
  add_library(${name} STATIC ${sources} $<TARGET_OBJECTS:${name}_shim>)
  set_target_properties(${name} PROPERTIES Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}_modules
                        POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/${name}_modules)
  target_link_libraries(${name} PUBLIC ${library})
  if(NOT flavour STREQUAL "serial" AND TARGET MPI::MPI_Fortran)
    _parapet_fortran_has_mpi_f08(has_mpi_f08)
    if(has_mpi_f08) # else the flags, too, are those of another compiler
      target_link_libraries(${name} PUBLIC MPI::MPI_Fortran)
      target_compile_definitions(${name} PRIVATE PARAPET_HAVE_MPI_F08)
    endif()
  endif()
endfunction()
