# How Parapet is put together: one object library per folder of src/, all of them in every libparapet-<flavour>.

set(PARAPET_MODULES "" CACHE INTERNAL "")
foreach(flavour serial mpich openmpi mpiabi)
  set(PARAPET_OBJECTS_${flavour} "" CACHE INTERNAL "")
endforeach()

# The headers that declare something: the parts of parapet.h, in the order in which to read them, and parapet_plan.h.
set(PARAPET_HEADERS "")
foreach(part status types store arrays plan)
  list(APPEND PARAPET_HEADERS ${PROJECT_SOURCE_DIR}/include/parapet_${part}.h)
endforeach()

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
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>" "$<$<COMPILE_LANGUAGE:C>:${c_warnings}>")
  add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
  if(PARAPET_SANITIZE)
    add_compile_options(-fsanitize=${PARAPET_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PARAPET_SANITIZE})
  endif()
endfunction()

# What names a type of MPI, or stands in for it, is compiled once per flavour; all other sources once for all of them.
set(PARAPET_FLAVOUR_SOURCES "/src/(comm/(mpi_[a-z]+|serial)|array/(open|file_view))\\.c$")

# parapet_objects(name sources...): objects that the tests of a module and the libraries share.
function(parapet_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC Threads::Threads)
endfunction()

# parapet_flavour_objects(module flavour sources...): what a module has that is compiled once per flavour.
function(parapet_flavour_objects module flavour)
  set(sources ${ARGN})
  set(of_others "/serial\\.c$")
  if(flavour STREQUAL "serial")
    set(of_others "/mpi_[a-z]+\\.c$")
  endif()
  list(FILTER sources EXCLUDE REGEX ${of_others})
  parapet_objects(pp_${module}_${flavour}_objects ${sources})
  target_link_libraries(pp_${module}_${flavour}_objects PUBLIC pp_flavour_${flavour})
  set(PARAPET_OBJECTS_${flavour} ${PARAPET_OBJECTS_${flavour}} pp_${module}_${flavour}_objects CACHE INTERNAL "")
endfunction()

# parapet_module(name modules...): the folder src/name, the modules it uses, and its rows in ParapetLibraries.cmake.
# pp_<name> is for tests, and of the flavour that tests have.
function(parapet_module name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  set(flavour_sources ${sources})
  list(FILTER flavour_sources INCLUDE REGEX ${PARAPET_FLAVOUR_SOURCES})
  list(FILTER sources EXCLUDE REGEX ${PARAPET_FLAVOUR_SOURCES})
  parapet_objects(pp_${name}_objects ${sources})
  target_include_directories(pp_${name}_objects SYSTEM PRIVATE ${PARAPET_INCLUDES_${name}})
  target_compile_definitions(pp_${name}_objects PRIVATE PARAPET_SERIAL ${PARAPET_DEFINITIONS_${name}})
  set(objects pp_${name}_objects)
  if(flavour_sources)
    foreach(flavour ${PARAPET_ALL_FLAVOURS})
      parapet_flavour_objects(${name} ${flavour} ${flavour_sources})
    endforeach()
    list(APPEND objects pp_${name}_${PARAPET_FLAVOUR}_objects)
  endif()
  add_library(pp_${name} INTERFACE)
  target_link_libraries(pp_${name} INTERFACE pp_flavour_${PARAPET_FLAVOUR} ${PARAPET_LIBRARIES_${name}})
  foreach(each ${objects})
    target_link_libraries(pp_${name} INTERFACE ${each} $<TARGET_OBJECTS:${each}>)
  endforeach()
  foreach(used ${ARGN})
    target_link_libraries(pp_${name} INTERFACE pp_${used})
  endforeach()
  set(PARAPET_MODULES ${PARAPET_MODULES} ${name} CACHE INTERNAL "")
endfunction()

# parapet_all_objects(flavour result): everything that a library of this flavour is made of.
function(parapet_all_objects flavour result)
  set(objects "")
  foreach(module ${PARAPET_MODULES})
    list(APPEND objects $<TARGET_OBJECTS:pp_${module}_objects>)
  endforeach()
  foreach(each ${PARAPET_OBJECTS_${flavour}})
    list(APPEND objects $<TARGET_OBJECTS:${each}>)
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# libparapet-<flavour> for users; `parapet` is the one that examples and tests use, and parapet_inside the same for tests
# that look inside. Minor versions may break programs before 1.0, so they are part of the name that programs ask for.
function(parapet_libraries)
  foreach(flavour ${PARAPET_ALL_FLAVOURS})
    set(library parapet-${flavour})
    parapet_all_objects(${flavour} objects)
    add_library(${library} ${objects})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${flavour} VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_link_libraries(${library} PUBLIC $<BUILD_INTERFACE:pp_flavour_${flavour}>
                          PRIVATE ${PARAPET_LIBRARIES} Threads::Threads)
    string(TOUPPER ${flavour} name)
    target_compile_definitions(${library} INTERFACE $<INSTALL_INTERFACE:PARAPET_${name}>)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    add_library(parapet::${flavour} ALIAS ${library})
  endforeach()
  add_library(parapet ALIAS parapet-${PARAPET_FLAVOUR})
  add_library(parapet::parapet ALIAS parapet-${PARAPET_FLAVOUR})

  parapet_all_objects(${PARAPET_FLAVOUR} objects)
  add_library(parapet_inside STATIC EXCLUDE_FROM_ALL ${objects})
  target_link_libraries(parapet_inside PUBLIC pp_flavour_${PARAPET_FLAVOUR} ${PARAPET_LIBRARIES} Threads::Threads)
  target_include_directories(parapet_inside PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
endfunction()

# Headers, libraries, tools, pkg-config files, CMake package and manual pages. Two builds for different MPIs go into one
# prefix: what both of them install is the same.
function(parapet_install)
  include(CMakePackageConfigHelpers)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/parapet)
  # What users get is relocatable: the tool finds its library, and the pkg-config file its prefix, from where they are.
  file(RELATIVE_PATH PARAPET_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  foreach(flavour ${PARAPET_ALL_FLAVOURS})
    parapet_install_flavour(${flavour})
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/parapet.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  parapet_install_function_pages()
  set(PARAPET_FORTRAN_FOLDER ${CMAKE_INSTALL_DATADIR}/parapet/fortran)
  if(TARGET parapet_fortran_sources)
    parapet_install_fortran()
  endif()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/parapet-config.cmake.in parapet-config.cmake
                                INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR PARAPET_FORTRAN_FOLDER)
  write_basic_package_version_file(parapet-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/parapet-config.cmake ${PROJECT_BINARY_DIR}/parapet-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/ParapetFortran.cmake
          DESTINATION ${package})
endfunction()

# The sources of the Fortran module, and those that were made in the build tree.
function(parapet_install_fortran)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/fortran/ DESTINATION ${PARAPET_FORTRAN_FOLDER}
          FILES_MATCHING PATTERN *.[fF]90 PATTERN *.inc PATTERN *.[ch] PATTERN Makefile)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/fortran/ DESTINATION ${PARAPET_FORTRAN_FOLDER})
endfunction()

# A page for every public function, made from the headers where there is a Python to do it.
function(parapet_install_function_pages)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    return()
  endif()
  set(script ${PROJECT_SOURCE_DIR}/scripts/function_pages)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script} ${PARAPET_HEADERS})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${PROJECT_BINARY_DIR}/man3 ${PARAPET_HEADERS}
                  COMMAND_ERROR_IS_FATAL ANY)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
endfunction()

# A library, its tool, its pkg-config file and its part of the CMake package.
function(parapet_install_flavour flavour)
  set(PARAPET_PC_FLAVOUR ${flavour})
  set(PARAPET_PC_MPICC "")
  if(NOT flavour STREQUAL "serial")
    set(PARAPET_PC_MPICC ${PARAPET_MPICC_${flavour}})
  endif()
  string(TOUPPER ${flavour} PARAPET_PC_NAME)
  # A program that is linked with a static library needs what the library needs.
  get_target_property(type parapet-${flavour} TYPE)
  set(PARAPET_PC_LIBRARIES "")
  if(type STREQUAL "STATIC_LIBRARY")
    set(PARAPET_PC_LIBRARIES " ${PARAPET_PC_PRIVATE} -pthread")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/parapet.pc.in parapet-${flavour}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/parapet-${flavour}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/parapet-flavour.cmake.in parapet-flavour-${flavour}.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/parapet-flavour-${flavour}.cmake DESTINATION ${package})
  install(TARGETS parapet-${flavour} EXPORT parapet-${flavour}-targets DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT parapet-${flavour}-targets NAMESPACE parapet:: DESTINATION ${package})
  install(TARGETS parapet-tool-${flavour} DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(parapet-tool-${flavour} PROPERTIES INSTALL_RPATH "\$ORIGIN/${bin_to_lib}")
endfunction()
