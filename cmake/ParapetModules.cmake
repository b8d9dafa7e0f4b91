# How Parapet is put together: one object library per folder of src/, all of them in libparapet.

set(PARAPET_MODULES "" CACHE INTERNAL "")
set(PARAPET_OBJECTS "" CACHE INTERNAL "")

# Compiler flags of everything in this tree.
function(parapet_flags)
  set(warnings -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -Wpointer-arith -Wcast-qual
               -Wwrite-strings -Wvla -Wformat=2)
  set(c_warnings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND warnings -Wno-string-concatenation) # long entries of a table of texts span lines on purpose
  endif()
  if(PARAPET_WERROR)
    list(APPEND warnings -Werror)
  endif()
  add_compile_options(${warnings} "$<$<COMPILE_LANGUAGE:C>:${c_warnings}>")
  add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  if(PARAPET_SANITIZE)
    add_compile_options(-fsanitize=${PARAPET_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PARAPET_SANITIZE})
  endif()
endfunction()

# What names a type of MPI, and so is compiled with one: all other sources are compiled once, for any MPI or none.
set(PARAPET_MPI_SOURCES "/src/(comm/mpi_[a-z]+|array/open)\\.c$")

# parapet_objects(name sources...): objects that the tests of a module and the library share.
function(parapet_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC Threads::Threads)
endfunction()

# parapet_module(name modules...): the folder src/name, the modules it uses, and its rows in ParapetLibraries.cmake.
function(parapet_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  set(mpi_sources ${sources})
  list(FILTER mpi_sources INCLUDE REGEX ${PARAPET_MPI_SOURCES})
  list(FILTER sources EXCLUDE REGEX ${PARAPET_MPI_SOURCES})
  parapet_objects(pp_${name}_objects ${sources})
  target_include_directories(pp_${name}_objects SYSTEM PRIVATE ${PARAPET_INCLUDES_${name}})
  target_compile_definitions(pp_${name}_objects PRIVATE PARAPET_SERIAL ${PARAPET_DEFINITIONS_${name}})
  set(objects pp_${name}_objects)
  if(mpi_sources)
    parapet_objects(pp_${name}_mpi_objects ${mpi_sources})
    target_link_libraries(pp_${name}_mpi_objects PUBLIC MPI::MPI_C)
    list(APPEND objects pp_${name}_mpi_objects)
  endif()
  add_library(pp_${name} INTERFACE)
  target_link_libraries(pp_${name} INTERFACE MPI::MPI_C ${PARAPET_LIBRARIES_${name}})
  foreach(each ${objects})
    target_link_libraries(pp_${name} INTERFACE ${each} $<TARGET_OBJECTS:${each}>)
  endforeach()
  foreach(used ${ARGN})
    target_link_libraries(pp_${name} INTERFACE pp_${used})
  endforeach()
  set(PARAPET_OBJECTS ${PARAPET_OBJECTS} ${objects} CACHE INTERNAL "")
  set(PARAPET_MODULES ${PARAPET_MODULES} ${name} CACHE INTERNAL "")
endfunction()

# libparapet.so for users and libparapet.a for tests that look inside.
function(parapet_libraries)
  set(objects "")
  foreach(each ${PARAPET_OBJECTS})
    list(APPEND objects $<TARGET_OBJECTS:${each}>)
  endforeach()

  add_library(parapet SHARED ${objects})
  set_target_properties(parapet PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_libraries(parapet PUBLIC MPI::MPI_C PRIVATE ${PARAPET_LIBRARIES} Threads::Threads)
  target_include_directories(parapet PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  add_library(parapet::parapet ALIAS parapet)

  add_library(parapet_inside STATIC ${objects})
  target_link_libraries(parapet_inside PUBLIC MPI::MPI_C ${PARAPET_LIBRARIES} Threads::Threads)
  target_include_directories(parapet_inside PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
endfunction()

# Headers, library, tool, pkg-config file, CMake package and manual pages.
function(parapet_install)
  include(CMakePackageConfigHelpers)
  install(TARGETS parapet EXPORT parapet-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS parapet-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/include/parapet.h ${PROJECT_SOURCE_DIR}/include/parapet_plan.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/parapet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/parapet.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

  # What users get is relocatable: the tool finds its library, and the pkg-config file its prefix, from where they are.
  file(RELATIVE_PATH PARAPET_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(parapet-tool PROPERTIES INSTALL_RPATH "\$ORIGIN/${bin_to_lib}")
  find_program(PARAPET_MPICC ${MPI_C_COMPILER})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/parapet.pc.in parapet.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/parapet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/parapet)
  install(EXPORT parapet-targets NAMESPACE parapet:: DESTINATION ${package})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/parapet-config.cmake.in parapet-config.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(parapet-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/parapet-config.cmake ${PROJECT_BINARY_DIR}/parapet-config-version.cmake
          DESTINATION ${package})
endfunction()
