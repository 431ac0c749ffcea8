// What the handlers of the admin port have in common. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "berth/core/result.h"
#include "berth/server/http_server.h"

namespace berth::server {

// {"error": message}
HttpResponse failure(int status, std::string_view message);

// A query parameter that counts, from 1 to `most`; `otherwise` if it is absent. kInvalid names it and what is allowed.
core::Result<std::size_t> count_parameter(const HttpRequest& request, std::string_view name, std::size_t otherwise,
                                          std::size_t most);

}  // namespace berth::server
