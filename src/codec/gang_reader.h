// Reads which gang a pod says it belongs to: docs/configuration.md, "Gangs", has the same table.
//
// Sources of the names: kueue pkg/controller/jobs/pod/constants; scheduler-plugins apis/scheduling/v1alpha1 (and its
// lightweight form before it); volcano apis/scheduling/v1beta1/labels.go, which KAI reads, too; core/v1
// PodSpec.schedulingGroup of Kubernetes 1.36; jobset api/jobset/v1alpha2; lws api/leaderworkerset/v1; KubeRay
// ray-operator/controllers/ray/utils/constant.go; kubeflow training-operator pkg/apis/kubeflow.org/v1; batch/v1.
//
// A name that is none, or a count that can't be read, is left out: the pod is then in the gang that the next source
// tells of, or in none. Thread-safe: a pure function. Errors go to `reading`.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "berth/model/pod.h"
#include "json_fields.h"

namespace berth::codec {

// Objects that may be absent are given empty. `ns` is the pod's.
model::GangRef read_gang(std::string_view ns, simdjson::dom::object metadata, const Field& spec, Reading& reading);

}  // namespace berth::codec
