// Which handler serves a path.
//
// Thread-safe once filled.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/server/http_server.h"

namespace berth::server {

struct HttpRoute {
  HttpHandler get;  // also serves HEAD
  HttpHandler post;
  // The Allow header of a 405.
  [[nodiscard]] std::string allowed() const;
  // nullptr if the method is not served here.
  [[nodiscard]] const HttpHandler* find(std::string_view method) const;
};

class HttpRoutes {
 public:
  void get(std::string path, HttpHandler handler) { exact_[std::move(path)].get = std::move(handler); }
  void post(std::string path, HttpHandler handler) { exact_[std::move(path)].post = std::move(handler); }
  void get_prefix(std::string prefix, HttpHandler handler) { prefixes_[std::move(prefix)].get = std::move(handler); }

  // The route of `path`, else that of its longest known prefix, else nullptr.
  [[nodiscard]] const HttpRoute* find(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::map<std::string, HttpRoute, std::less<>> exact_;
  std::map<std::string, HttpRoute, std::less<>> prefixes_;
};

}  // namespace berth::server
