// A Berth as a child process, with ports of its own on loopback.
//
// Used by one thread. The child ends with the object, by SIGTERM, and with the thread that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/core/result.h"
#include "berth/net/http_client.h"

namespace berth::rehearse {

class BerthChild {
 public:
  // Starts `program` for the API server on `api_port`, binding pods, and waits until it is ready. `config` is a
  // configuration file, empty for none.
  static core::Result<std::unique_ptr<BerthChild>> start(const std::string& program, const std::string& config,
                                                         std::uint16_t api_port);
  ~BerthChild();
  BerthChild(const BerthChild&) = delete;
  BerthChild& operator=(const BerthChild&) = delete;

  enum class Port : std::uint8_t { kExtender, kAdmin, kBind };
  // The body of an answer of 200; all else is an error.
  core::Result<std::string> get(Port port, const std::string& path);
  core::Result<std::string> post(Port port, const std::string& path, std::string body);

  // The end of what it has logged.
  [[nodiscard]] std::string log() const;

 private:
  BerthChild() = default;
  core::Result<void> spawn(const std::vector<std::string>& arguments);
  core::Result<void> connect();
  core::Result<std::string> next_line();
  core::Result<void> wait_ready();
  core::Result<std::string> call(Port port, const net::HttpRequest& request);

  pid_t pid_ = -1;
  int output_ = -1;
  int log_ = -1;  // a file without a name
  std::string text_;
  std::unique_ptr<net::HttpClient> clients_[3];
};

}  // namespace berth::rehearse
