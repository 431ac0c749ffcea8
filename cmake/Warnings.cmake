# Every target of the project gets these; a warning is an error.
add_library(berth_options INTERFACE)
target_compile_options(berth_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
  -fno-omit-frame-pointer)
if(NOT CMAKE_UNITY_BUILD) # there a name of one file would be said to hide another's
  target_compile_options(berth_options INTERFACE -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang) # whose -Wconversion has this one, too; tests count with int
  target_compile_options(berth_options INTERFACE $<$<BOOL:$<TARGET_PROPERTY:BERTH_TEST>>:-Wno-sign-conversion>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string's operator+ when it optimises (GCC bug 105651).
  target_compile_options(berth_options INTERFACE -Wno-restrict)
endif()
if(BERTH_SANITIZE)
  target_compile_options(berth_options INTERFACE -fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(berth_options INTERFACE -fsanitize=${BERTH_SANITIZE})
  if(BERTH_SANITIZE STREQUAL thread AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # Memory tests replace operator new; the one of the thread sanitizer gives way only if it comes from a shared library.
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.tsan-${CMAKE_SYSTEM_PROCESSOR}.so
      OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(runtime ${runtime} DIRECTORY)
    target_link_options(berth_options INTERFACE -shared-libsan LINKER:-rpath,${runtime})
  endif()
endif()
find_program(BERTH_MOLD mold)
if(BERTH_MOLD)
  target_link_options(berth_options INTERFACE -fuse-ld=mold)
endif()
find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the checkout's path in the key, one checkout is served with what another has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true ${BERTH_CCACHE})
endif()
