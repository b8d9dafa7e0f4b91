# The libraries that Parapet stands on. The rows at the end are the only list of them: a row names the module that uses
# the library, the package of Debian that has it (scripts/setup reads these), and how it is found: a package of
# pkg-config, or a library and a header. The module is compiled with PARAPET_HAVE_<NAME> where <NAME> was found, which
# may be missing only if it is OPTIONAL.
find_package(PkgConfig REQUIRED)

set(PARAPET_LIBRARIES "")   # all of them, as full paths
set(PARAPET_PC_PRIVATE "")  # the same for pkg-config: what a program needs that links libparapet statically

# parapet_library(module NAME DEBIAN package (PACKAGE requirement | LIBRARY name HEADER file) [OPTIONAL])
macro(parapet_library module name)
  cmake_parse_arguments(row "OPTIONAL" "DEBIAN;PACKAGE;LIBRARY;HEADER" "" ${ARGN})
  set(row_required REQUIRED)
  if(row_OPTIONAL)
    set(row_required "")
  endif()
  if(row_PACKAGE)
    pkg_check_modules(${name} ${row_required} ${row_PACKAGE})
  else()
    find_library(${name}_LINK_LIBRARIES NAMES ${row_LIBRARY} ${row_required})
    find_path(${name}_INCLUDE_DIRS ${row_HEADER} ${row_required})
    get_filename_component(row_folder "${${name}_LINK_LIBRARIES}" DIRECTORY)
    set(${name}_LDFLAGS -L${row_folder} -l${row_LIBRARY})
  endif()
  if(${name}_LINK_LIBRARIES AND (row_PACKAGE OR ${name}_INCLUDE_DIRS))
    list(APPEND PARAPET_LIBRARIES ${${name}_LINK_LIBRARIES})
    list(APPEND PARAPET_LIBRARIES_${module} ${${name}_LINK_LIBRARIES})
    list(APPEND PARAPET_INCLUDES_${module} ${${name}_INCLUDE_DIRS})
    list(APPEND PARAPET_DEFINITIONS_${module} PARAPET_HAVE_${name})
    list(APPEND PARAPET_PC_PRIVATE ${${name}_LDFLAGS})
  endif()
endmacro()

parapet_library(zarr  JSONC   DEBIAN libjson-c-dev  PACKAGE json-c>=0.15)
parapet_library(base  MATH    DEBIAN libc6-dev      LIBRARY m HEADER math.h)
parapet_library(codec ZSTD    DEBIAN libzstd-dev    PACKAGE libzstd)
parapet_library(codec DEFLATE DEBIAN libdeflate-dev PACKAGE libdeflate)
parapet_library(codec LZ4     DEBIAN liblz4-dev     PACKAGE liblz4)
parapet_library(codec BLOSC   DEBIAN libblosc-dev   LIBRARY blosc HEADER blosc.h)
parapet_library(codec ISAL    DEBIAN libisal-dev    LIBRARY isal HEADER isa-l/crc.h OPTIONAL)

foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
  list(REMOVE_ITEM PARAPET_PC_PRIVATE -L${folder})
endforeach()
list(JOIN PARAPET_PC_PRIVATE " " PARAPET_PC_PRIVATE)
