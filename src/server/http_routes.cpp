#include "http_routes.h"

namespace berth::server {

std::string HttpRoute::allowed() const {
  if (get && post) return "GET, HEAD, POST";
  return get ? "GET, HEAD" : "POST";
}

const HttpHandler* HttpRoute::find(std::string_view method) const {
  if ((method == "GET" || method == "HEAD") && get) return &get;
  if (method == "POST" && post) return &post;
  return nullptr;
}

const HttpRoute* HttpRoutes::find(std::string_view path) const {
  if (const auto exact = exact_.find(path); exact != exact_.end()) return &exact->second;
  // Ascending order, so the last that matches is the longest.
  const HttpRoute* longest = nullptr;
  for (const auto& [prefix, route] : prefixes_) {
    if (path.starts_with(prefix)) longest = &route;
  }
  return longest;
}

}  // namespace berth::server
