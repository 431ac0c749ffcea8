// The bodies of kube-scheduler's Filter and Prioritize calls, as its Go client writes them: capitalised keys, explicit
// nulls.
//
// Thread-safe: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "berth/model/pod.h"

namespace berth::bench {

// {"Pod":...,"Nodes":null,"NodeNames": and the rest, apart: the rest is the same for many pods.
std::string args_head_with_names(const model::Pod& pod);
std::string args_tail_with_names(std::span<const std::string_view> names);
std::string args_head_with_nodes(const model::Pod& pod);
std::string args_tail_with_nodes(std::span<const std::string_view> node_objects);

void append_args_with_names(std::string& out, const model::Pod& pod, std::span<const std::string_view> names);

}  // namespace berth::bench
