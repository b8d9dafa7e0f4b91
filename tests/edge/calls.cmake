# Where calls meet callbacks, threads, processes and the end of a program. Included by the CMakeLists.txt of this folder.
set(gate_presets mpich)
set(nightly_presets openmpi)

if(NOT PARAPET_FLAVOUR STREQUAL "serial")
  set(edge_rows ${CMAKE_CURRENT_BINARY_DIR}/calls_rows.c)
  add_custom_command(
    OUTPUT ${edge_rows}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/calls_make.py ${edge_rows} ${PARAPET_HEADERS}
    DEPENDS calls_make.py ${PARAPET_HEADERS} VERBATIM)
  add_executable(edge_calls_table calls_table.c ${edge_rows})
  target_include_directories(edge_calls_table PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(edge_calls_table PRIVATE parapet MPI::MPI_C pthread)

  # parapet_edge_calls(name command...): a test with the launcher in its environment.
  function(parapet_edge_calls name)
    add_test(NAME ${name} COMMAND ${ARGN})
    parapet_label(${name} gate)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${launched_processors} SKIP_RETURN_CODE 77 ENVIRONMENT
      "MPIEXEC=${MPIEXEC_EXECUTABLE};${launcher_environment};PYTHONDONTWRITEBYTECODE=1")
  endfunction()
  add_executable(edge_calls_threads calls_threads.c)
  target_link_libraries(edge_calls_threads PRIVATE parapet harness_ranks MPI::MPI_C pthread)
  add_executable(edge_calls_limit calls_limit.c)
  target_link_libraries(edge_calls_limit PRIVATE parapet MPI::MPI_C pthread)
  parapet_edge_calls(edge_A11_calls_limit Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/calls_limit.py
               $<TARGET_FILE:edge_calls_limit> $<TARGET_FILE:parapet-tool-${PARAPET_FLAVOUR}>)
  foreach(ranks 1 2)
    parapet_edge_calls(edge_A7_calls_threads_${ranks} ${MPIEXEC_EXECUTABLE} -n ${ranks} $<TARGET_FILE:edge_calls_threads>)
    parapet_edge_calls(edge_A6_calls_table_${ranks} Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/calls_table.py
                 $<TARGET_FILE:edge_calls_table> ${ranks})
  endforeach()
  parapet_heavy(edge_A6_calls_table_2)
endif()

# In Python: cases by the letters of what they are about, and every method.
if(PARAPET_PYTHON)
  foreach(case A5 A7 A8 A10 requests table)
    if(case STREQUAL "table")
      set(words "")
      set(name edge_A6_python_table)
    else()
      set(words ${case}_)
      set(name edge_${case}_python)
    endif()
    add_test(NAME ${name} COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/calls_python.py ${words})
    parapet_label(${name} front_ends)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
