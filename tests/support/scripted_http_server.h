// An HTTP/1.1 server on a free loopback port whose every answer a test writes itself, well or badly formed.
//
// Thread-safe. The handler runs on one thread per connection. stop() breaks all connections.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/test_certificates.h"

namespace berth::testing {

class Connection;

struct ServerTls {
  KeyPair identity;
  std::string client_ca_pem;  // a client certificate of this CA is required; empty: none is asked for
};

class HttpExchange {
 public:
  explicit HttpExchange(Connection& connection) : connection_(connection) {}

  std::string method;
  std::string target;  // path and query as sent
  std::string path;
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  void respond(int status, std::string_view text, const std::vector<std::string>& headers = {});
  // A chunked 200 answer, piece by piece; chunk() is false once the client is gone.
  void begin_stream();
  bool chunk(std::string_view bytes);
  void end_stream();
  // Bytes on the wire as they are; false once the client is gone.
  bool raw(std::string_view bytes);
  // Breaks the connection off.
  void cut();
  // Returns when the client has closed the connection or the server stops.
  void wait_until_closed();

 private:
  Connection& connection_;
};

class ScriptedHttpServer {
 public:
  using Handler = std::function<void(HttpExchange&)>;
  // Port 0 picks a free one.
  explicit ScriptedHttpServer(Handler handler, std::optional<ServerTls> tls = {}, std::uint16_t port = 0);
  ~ScriptedHttpServer();
  ScriptedHttpServer(const ScriptedHttpServer&) = delete;
  ScriptedHttpServer& operator=(const ScriptedHttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string url() const;  // http(s)://127.0.0.1:port
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::testing
