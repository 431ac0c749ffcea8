// Reads and writes what a Bind call is about: kube-scheduler's request and answer (k8s.io/kube-scheduler extender/v1
// ExtenderBindingArgs, ExtenderBindingResult), and the core/v1 Binding that the API server is asked for.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/model/pod.h"

namespace berth::codec {

struct BindRequest {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string node;
  friend bool operator==(const BindRequest&, const BindRequest&) = default;
};

// Keys are matched without regard to case, unknown ones ignored. `body` is given capacity for the parser's padding if
// it lacks it. kInvalid for anything that does not name pod, namespace and node, for names that Kubernetes would not
// have, and for a key that is given twice. The UID may be absent.
core::Result<BindRequest> read_bind_request(std::string& body);

// {"Error": ...}; empty for a pod that is bound.
void write_bind_answer(std::string& out, std::string_view error);

// The API server adds the annotations to the pod in the same write that sets its node; the UID is a precondition.
std::string write_binding(const BindRequest& binding, const std::vector<model::Annotation>& annotations);

// The node that the API server says a pod is assigned to already ("pod P is already assigned to node "N""); empty if
// the message is another.
std::string_view assigned_node(std::string_view message);

}  // namespace berth::codec
