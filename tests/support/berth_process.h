// `berth serve` as a child, ready to be asked.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/cluster_json.h"
#include "support/temp_dir.h"

namespace berth::tests {

class BerthProcess {
 public:
  explicit BerthProcess(const std::string& binary, std::vector<std::string> arguments, const std::string& input = {}) {
    const bool binds = std::ranges::find(arguments, "--bind-listen") != arguments.end();
    arguments.insert(arguments.begin(), {binary, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"});
    child_ = std::make_unique<ChildProcess>(arguments, input);
    extender_port_ = port_after("extender listening on 127.0.0.1:", child_->line());
    admin_port_ = port_after("admin listening on 127.0.0.1:", child_->line());
    if (binds) bind_port_ = port_after("bind listening on 127.0.0.1:", child_->line());
  }

  [[nodiscard]] int extender_port() const { return extender_port_; }
  [[nodiscard]] int admin_port() const { return admin_port_; }
  ChildProcess& child() { return *child_; }

  httplib::Result post(const std::string& path, const std::string& body) const {
    return client(extender_port_).Post(path, body, "application/json");
  }
  // With --bind-listen 127.0.0.1:0.
  httplib::Result bind(const std::string& body) const {
    return client(bind_port_).Post("/bind", body, "application/json");
  }
  httplib::Result admin(const std::string& path) const { return client(admin_port_).Get(path); }
  httplib::Result admin_post(const std::string& path, const std::string& body) const {
    return client(admin_port_).Post(path, body, "application/json");
  }

 private:
  static int port_after(const std::string& start, const std::string& line) {
    if (!line.starts_with(start)) throw std::runtime_error("unexpected line: " + line);
    return std::stoi(line.substr(start.size()));
  }
  static httplib::Client client(int port) {
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(kDeadline);
    client.set_tcp_nodelay(true);
    return client;
  }

  std::unique_ptr<ChildProcess> child_;
  int extender_port_ = 0;
  int admin_port_ = 0;
  int bind_port_ = 0;
};

// The first answer to /filter that was given from a complete view; null if there is none.
inline nlohmann::json filter_when_ready(const BerthProcess& berth, const nlohmann::json& pod,
                                        const std::vector<std::string>& nodes) {
  while (true) {
    const auto answer = berth.post("/filter", names_args(pod, nodes));
    if (!answer) return nullptr;
    nlohmann::json body = nlohmann::json::parse(answer->body);
    if (body["Error"].get<std::string>().empty()) return body;
  }
}

}  // namespace berth::tests
