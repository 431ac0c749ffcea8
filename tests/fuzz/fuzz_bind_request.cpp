// The body of POST /bind, and the Binding that comes of it.
#include <string>

#include "berth/codec/bind.h"
#include "object_properties.h"

namespace berth::fuzz {
namespace {

void run(std::string body) {
  const std::string before = body;
  const auto request = codec::read_bind_request(body);
  require(body == before, "the body stays as it is");
  require(codec::assigned_node(body).size() <= body.size(), "a node is part of the message");
  if (!request) return check(request.error());
  require(core::is_name(request->ns) && core::is_name(request->pod) && core::is_name(request->node),
          "what goes into a path is a name");
  std::string again = codec::write_binding(*request, {{"berth.io/gpus", request->uid}});
  require(again.find('\n') == std::string::npos, "a Binding is one line");
}

}  // namespace
}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  berth::fuzz::run(std::string(data, data + size));
  return 0;
}
