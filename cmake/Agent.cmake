# `berth agent` needs gRPC and kubelet's PodResources API, whose .proto comes from the Go module that src/agent/proto/go.mod
# pins: nothing of it is kept here. Where Go or one of the others is missing, Berth is built without the agent, and
# `berth agent` says why. Sets BERTH_WITHOUT_AGENT to the reason; else makes the target berth_podresources.
set(BERTH_AGENT AUTO CACHE STRING "Build berth agent: AUTO (where what it needs is there), ON or OFF")
set_property(CACHE BERTH_AGENT PROPERTY STRINGS AUTO ON OFF)

function(berth_find_podresources why)
  set(${why} "" PARENT_SCOPE)
  foreach(program go protoc grpc_cpp_plugin)
    find_program(BERTH_${program} ${program} HINTS /usr/local/go/bin)
    if(NOT BERTH_${program})
      set(${why} "${program} was not found" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  foreach(library grpc++ gpr protobuf-lite absl_synchronization)
    find_library(BERTH_${library} ${library})
    if(NOT BERTH_${library})
      set(${why} "the library ${library} was not found" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(module ${CMAKE_SOURCE_DIR}/src/agent/proto)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${module}/go.mod ${module}/go.sum)
  execute_process(COMMAND ${BERTH_go} mod download -json k8s.io/kubelet
    WORKING_DIRECTORY ${module} TIMEOUT 120 RESULT_VARIABLE failed OUTPUT_VARIABLE told ERROR_VARIABLE errors)
  string(JSON directory ERROR_VARIABLE no_directory GET "${told}" Dir)
  if(failed OR no_directory)
    string(JSON error ERROR_VARIABLE no_error GET "${told}" Error)
    if(no_error)
      set(error "${errors}")
    endif()
    string(REGEX REPLACE "[\r\n\"\\;]+" " " error "${error}")
    string(SUBSTRING "${error}" 0 300 error)
    set(${why} "Go could not fetch the module k8s.io/kubelet: ${error}" PARENT_SCOPE)
    return()
  endif()
  set(BERTH_PODRESOURCES_PROTO ${directory}/pkg/apis/podresources/v1/api.proto PARENT_SCOPE)
endfunction()

if(BERTH_AGENT STREQUAL OFF)
  set(BERTH_WITHOUT_AGENT "it was configured with BERTH_AGENT=OFF")
else()
  berth_find_podresources(BERTH_WITHOUT_AGENT)
endif()
if(BERTH_WITHOUT_AGENT)
  if(BERTH_AGENT STREQUAL ON)
    message(FATAL_ERROR "berth agent can't be built: ${BERTH_WITHOUT_AGENT}")
  endif()
  message(STATUS "Without berth agent: ${BERTH_WITHOUT_AGENT}")
  return()
endif()

# Foreign code: no flags of ours, no lints. Messages without descriptors take a third of the room.
set(generated ${CMAKE_BINARY_DIR}/podresources)
set(proto ${generated}/podresources/api.proto)
configure_file(${BERTH_PODRESOURCES_PROTO} ${proto} COPYONLY)
add_custom_command(
  OUTPUT ${generated}/podresources/api.pb.cc ${generated}/podresources/api.pb.h
         ${generated}/podresources/api.grpc.pb.cc ${generated}/podresources/api.grpc.pb.h
  COMMAND ${BERTH_protoc} -I${generated} --cpp_out=lite:${generated} --grpc_out=${generated}
          --plugin=protoc-gen-grpc=${BERTH_grpc_cpp_plugin} ${proto}
  DEPENDS ${proto} COMMENT "Generating kubelet's PodResources API" VERBATIM)
add_library(berth_podresources STATIC
  ${generated}/podresources/api.pb.cc ${generated}/podresources/api.grpc.pb.cc)
set_target_properties(berth_podresources PROPERTIES UNITY_BUILD OFF)
target_include_directories(berth_podresources SYSTEM PUBLIC ${generated})
target_link_libraries(berth_podresources
  PUBLIC ${BERTH_grpc++} ${BERTH_gpr} ${BERTH_protobuf-lite} ${BERTH_absl_synchronization} Threads::Threads)
