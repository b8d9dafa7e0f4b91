# The flavours of the library: one for each ABI of MPI, and `serial` without MPI. All but a few sources are compiled once
# for all of them (PARAPET_FLAVOUR_SOURCES); the libraries have names of their own, so that they lie side by side and a
# program cannot meet the wrong one.
#
#   PARAPET_FLAVOURS    what is built: serial, which always is, and MPIs: "serial;mpich;openmpi". Not given: serial and
#                       the MPI that is found, if there is one. MPICH stands for all that share its ABI.
#   PARAPET_FLAVOUR     what examples and tests are built with, and `parapet` means in this tree: the first MPI, or serial
#   PARAPET_MPICC_<F>   the compiler wrapper of a flavour
set(PARAPET_FLAVOURS "" CACHE STRING "Flavours to build: serial;mpich;openmpi; empty: serial and the MPI that is found")

# parapet_abi(libraries result): the flavour whose ABI a program has that is compiled with these; "": not known. The
# header knows how to tell; a program that claims to be of another flavour does not compile.
function(parapet_abi libraries result)
  set(${result} "" PARENT_SCOPE)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  foreach(flavour mpich openmpi)
    string(TOUPPER ${flavour} name)
    set(source ${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/parapet_abi_${flavour}.c)
    file(WRITE ${source} "#define PARAPET_${name}\n#include <parapet.h>\nint parapet_abi;\n")
    try_compile(is_${flavour} ${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/parapet_abi SOURCES ${source}
                CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/include" LINK_LIBRARIES ${libraries})
    set(is_this ${is_${flavour}})
    unset(is_${flavour} CACHE)
    if(is_this)
      set(${result} ${flavour} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# parapet_ask_wrapper(flavour): the MPI of a flavour that find_package(MPI) has not found, from what its compiler wrapper
# says it adds to a command line. Makes pp_mpi_<flavour>.
function(parapet_ask_wrapper flavour)
  find_program(PARAPET_MPICC_${flavour} NAMES mpicc.${flavour} mpicc-${flavour} mpicc_${flavour})
  if(NOT PARAPET_MPICC_${flavour})
    message(FATAL_ERROR "The flavour ${flavour} is asked for, but MPI_C_COMPILER is not of it, and there is no "
                        "mpicc.${flavour}: give -DPARAPET_MPICC_${flavour}=...")
  endif()
  execute_process(COMMAND ${PARAPET_MPICC_${flavour}} -show OUTPUT_VARIABLE command COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${command}")
  add_library(pp_mpi_${flavour} INTERFACE IMPORTED GLOBAL)
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      target_include_directories(pp_mpi_${flavour} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-D(.+)")
      target_compile_definitions(pp_mpi_${flavour} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-(L|Wl,)")
      target_link_options(pp_mpi_${flavour} INTERFACE ${word})
    elseif(word MATCHES "^-l")
      target_link_libraries(pp_mpi_${flavour} INTERFACE ${word})
    endif()
  endforeach()
endfunction()

# The MPI that the machine offers, and the flavours that are built.
macro(parapet_find_flavours)
  set(PARAPET_MPI_FLAVOURS ${PARAPET_FLAVOURS})
  list(REMOVE_ITEM PARAPET_MPI_FLAVOURS serial)
  foreach(flavour ${PARAPET_MPI_FLAVOURS})
    if(NOT flavour MATCHES "^(mpich|openmpi)$")
      message(FATAL_ERROR "PARAPET_FLAVOURS: there is no flavour ${flavour}; there are serial, mpich and openmpi")
    endif()
  endforeach()
  set(PARAPET_FLAVOUR serial)
  if(PARAPET_MPI_FLAVOURS OR NOT PARAPET_FLAVOURS)
    parapet_find_mpi()
  endif()
  parapet_add_flavour(serial)
  foreach(flavour ${PARAPET_MPI_FLAVOURS})
    parapet_add_flavour(${flavour})
  endforeach()
  set(PARAPET_ALL_FLAVOURS serial ${PARAPET_MPI_FLAVOURS})
  message(STATUS "Flavours of Parapet: ${PARAPET_ALL_FLAVOURS}; examples and tests are built with ${PARAPET_FLAVOUR}")
endmacro()

# What find_package(MPI) finds is the flavour of examples and tests, and the only MPI if none was asked for.
macro(parapet_find_mpi)
  if(PARAPET_MPI_FLAVOURS AND NOT MPI_C_COMPILER)
    list(GET PARAPET_MPI_FLAVOURS 0 flavour)
    find_program(PARAPET_MPICC_${flavour} NAMES mpicc.${flavour} mpicc-${flavour} mpicc_${flavour})
    if(PARAPET_MPICC_${flavour})
      set(MPI_C_COMPILER ${PARAPET_MPICC_${flavour}})
    endif()
  endif()
  find_package(MPI COMPONENTS C)
  if(MPI_C_FOUND)
    parapet_abi(MPI::MPI_C PARAPET_FLAVOUR)
    if(NOT PARAPET_FLAVOUR)
      message(FATAL_ERROR "The MPI of ${MPI_C_COMPILER} has neither the ABI of MPICH nor that of Open MPI: "
                          "-DPARAPET_FLAVOURS=serial builds without MPI")
    endif()
    find_program(PARAPET_MPICC_${PARAPET_FLAVOUR} ${MPI_C_COMPILER})
    if(NOT PARAPET_FLAVOURS)
      set(PARAPET_MPI_FLAVOURS ${PARAPET_FLAVOUR})
    elseif(NOT PARAPET_FLAVOUR IN_LIST PARAPET_MPI_FLAVOURS)
      message(FATAL_ERROR "${MPI_C_COMPILER} is of the flavour ${PARAPET_FLAVOUR}, but PARAPET_FLAVOURS is "
                          "${PARAPET_FLAVOURS}: give the MPI_C_COMPILER of one of these")
    endif()
  elseif(PARAPET_MPI_FLAVOURS)
    message(FATAL_ERROR "There is no MPI for PARAPET_FLAVOURS=${PARAPET_FLAVOURS}: give its compiler as MPI_C_COMPILER")
  endif()
endmacro()

# pp_flavour_<flavour>: what its sources, and programs that use it, are compiled with.
function(parapet_add_flavour flavour)
  string(TOUPPER ${flavour} name)
  add_library(pp_flavour_${flavour} INTERFACE)
  target_compile_definitions(pp_flavour_${flavour} INTERFACE PARAPET_${name})
  if(flavour STREQUAL "serial")
    return()
  endif()
  if(flavour STREQUAL PARAPET_FLAVOUR)
    target_link_libraries(pp_flavour_${flavour} INTERFACE MPI::MPI_C)
  else()
    parapet_ask_wrapper(${flavour})
    parapet_abi(pp_mpi_${flavour} abi)
    if(NOT abi STREQUAL flavour)
      message(FATAL_ERROR "${PARAPET_MPICC_${flavour}} is not a compiler of the flavour ${flavour}, but of \"${abi}\"")
    endif()
    target_link_libraries(pp_flavour_${flavour} INTERFACE pp_mpi_${flavour})
  endif()
endfunction()
