#include "admin_answers.h"

#include <charconv>
#include <string>

#include "berth/codec/extender_response.h"

namespace berth::server {

HttpResponse failure(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  codec::write_error(response.body, message);
  return response;
}

core::Result<std::size_t> count_parameter(const HttpRequest& request, std::string_view name, std::size_t otherwise,
                                          std::size_t most) {
  const std::string text = request.query(name);
  if (text.empty()) return otherwise;
  std::size_t count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (code == std::errc() && end == text.data() + text.size() && count >= 1 && count <= most) return count;
  return core::fail(core::ErrorCode::kInvalid,
                    std::string(name) + " must be a number from 1 to " + std::to_string(most));
}

}  // namespace berth::server
