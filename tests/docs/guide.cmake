# The guide: every command and program of its pages is run, and every error message that it quotes is one of ours;
# links of all documents lead somewhere. Included by the CMakeLists.txt of this folder.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME docs_links COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/check_links.py ${PROJECT_SOURCE_DIR})
parapet_label(docs_links gate seconds)

add_test(NAME docs_sentences COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/check_sentences.py
                                     ${PROJECT_SOURCE_DIR})
parapet_label(docs_sentences gate seconds)

# The checks themselves: each finds what is wrong.
add_test(NAME docs_checks COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/test_checks.py)
parapet_label(docs_checks gate seconds)

# As the README, the guide is written for MPICH. A sanitized library cannot be loaded by a program that is not sanitized.
if(PARAPET_FLAVOUR STREQUAL "mpich" AND NOT PARAPET_SANITIZE)
  # Its commands are of this preset, too.
  add_test(NAME docs_claims COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/check_claims.py ${PROJECT_BINARY_DIR})
  parapet_label(docs_claims gate seconds)

  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/guide/*.md)
  set(fortran "")
  if(PARAPET_HAS_FORTRAN)
    set(fortran --fortran ${MPI_Fortran_COMPILER})
  else()
    list(FILTER pages EXCLUDE REGEX "/(fortran|tutorial)\\.md$")
  endif()
  foreach(page ${pages})
    get_filename_component(name ${page} NAME_WE)
    add_test(NAME docs_guide_${name}
             COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/run_snippets.py --build ${PROJECT_BINARY_DIR}
                     --source ${PROJECT_SOURCE_DIR} --flavour ${PARAPET_FLAVOUR}
                     --compiler ${PARAPET_MPICC_${PARAPET_FLAVOUR}} --launcher ${MPIEXEC_EXECUTABLE}
                     ${fortran} ${page})
    if(name MATCHES "^(fortran|python)$")
      parapet_label(docs_guide_${name} front_ends)
    else()
      parapet_label(docs_guide_${name} gate)
    endif()
    if(name MATCHES "^(tutorial|start|copying|cluster|series-and-checkpoints)$")
      parapet_heavy(docs_guide_${name})
    endif()
  endforeach()
endif()
