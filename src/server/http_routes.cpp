#include "http_routes.h"

#include <algorithm>

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

std::vector<std::string> HttpRoutes::names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& path, const HttpRoute& route) {
    if (route.get) names.push_back("GET " + path);
    if (route.post) names.push_back("POST " + path);
  };
  for (const auto& [path, route] : exact_) add(path, route);
  for (const auto& [prefix, route] : prefixes_) add(prefix + "*", route);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace berth::server
