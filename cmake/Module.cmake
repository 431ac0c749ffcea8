# berth_module(NAME [USES module...] [LIBRARIES target...])
# The static library of one module: every file of src/NAME, seeing only the modules it names.
function(berth_module name)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(berth_${name} STATIC ${sources})
  target_include_directories(berth_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src/${name})
  list(TRANSFORM ARG_USES PREPEND berth_ OUTPUT_VARIABLE used)
  target_link_libraries(berth_${name} PUBLIC ${used} PRIVATE ${ARG_LIBRARIES} berth_options)
  set_target_properties(berth_${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# berth_test(NAME DIRECTORY USES module...) builds all of DIRECTORY into one GoogleTest program.
function(berth_test name directory)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${directory}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources} ${CMAKE_SOURCE_DIR}/tests/main.cpp)
  list(TRANSFORM ARG_USES PREPEND berth_ OUTPUT_VARIABLE used)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_BINARY_DIR}/generated)
  # Not optimised, tests compile in half the time; the libraries under test are as the preset says.
  target_compile_options(${name} PRIVATE -O0 $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
  # Without spdlog's own flags a program would get a second, header-only spdlog with a logger of its own.
  target_link_libraries(${name} PRIVATE ${used} ${ARG_LIBRARIES} spdlog::spdlog GTest::gmock GTest::gtest berth_options)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()
