// Reads a dump of a cluster from a file or from standard input.
#pragma once

#include <cstddef>
#include <string>

#include "berth/codec/kubernetes_objects.h"
#include "berth/core/result.h"
#include "berth/model/node.h"

namespace berth::sources {

// `name` stands for the input in errors, which say what is wrong, where, and what to do.
core::Result<std::string> read_whole(int fd, const std::string& name, std::size_t max_bytes);
core::Result<codec::ClusterDump> parse_dump(std::string& text, const std::string& name,
                                            const model::ResourceNames& resources);

}  // namespace berth::sources
