// Certificates for tests, made on the spot: a CA of our own and what it signs.
#pragma once

#include <memory>
#include <string>

namespace berth::testing {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

class TestCa {
 public:
  explicit TestCa(const std::string& name = "test CA");
  ~TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  [[nodiscard]] const std::string& certificate_pem() const;
  // `alternative_names` as OpenSSL writes them: "IP:127.0.0.1,DNS:localhost". Good for servers and clients.
  [[nodiscard]] KeyPair issue(const std::string& common_name, const std::string& alternative_names) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::testing
