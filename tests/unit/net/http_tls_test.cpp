// TLS: whom the client trusts, and what it shows of itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "berth/net/http_client.h"
#include "support/scripted_http_server.h"
#include "unit/net/http_fixture.h"

namespace berth::net {
namespace {

using core::ErrorCode;
using testing::HttpExchange;
using testing::ScriptedHttpServer;
using testing::ServerTls;
using testing::TestCa;

class HttpTls : public ::testing::Test {
 protected:
  static void answer(HttpExchange& exchange) { exchange.respond(200, "over TLS"); }
  TestCa ca_;
  ScriptedHttpServer server_{answer, ServerTls{ca_.issue("api", "IP:127.0.0.1"), ""}};
};

TEST_F(HttpTls, CaInMemory) {
  const auto answer = client_of(server_.url(), {.ca_pem = ca_.certificate_pem()})->send({});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->body, "over TLS");
}

TEST_F(HttpTls, CaInAFile) {
  const std::string file = ::testing::TempDir() + "berth_ca_" + std::to_string(getpid()) + ".pem";
  std::ofstream(file) << ca_.certificate_pem();
  const auto answer = client_of(server_.url(), {.ca_file = file})->send({});
  std::remove(file.c_str());
  ASSERT_TRUE(answer) << answer.error().to_string();
}

TEST_F(HttpTls, AnotherCaIsRefusedAndTheTextSaysWhatToCheck) {
  const TestCa other("other CA");
  const auto answer = client_of(server_.url(), {.ca_pem = other.certificate_pem()})->send({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message.find("not trusted"), std::string::npos) << answer.error().message;
  EXPECT_NE(answer.error().message.find("check the CA"), std::string::npos) << answer.error().message;
}

TEST_F(HttpTls, CaThatIsNoCertificateIsInvalid) {
  EXPECT_EQ(client_of(server_.url(), {.ca_pem = "no PEM"})->send({}).error().code, ErrorCode::kInvalid);
}

TEST_F(HttpTls, VerifiesUnlessToldNotTo) {
  EXPECT_FALSE(client_of(server_.url())->send({}));
  EXPECT_TRUE(client_of(server_.url(), {.verify = false})->send({}));
}

TEST_F(HttpTls, NameMustBeInTheCertificate) {
  ScriptedHttpServer named(answer, ServerTls{ca_.issue("api", "DNS:kubernetes.default"), ""});
  EXPECT_FALSE(client_of(named.url(), {.ca_pem = ca_.certificate_pem()})->send({}));
  const auto answer =
      client_of(named.url(), {.ca_pem = ca_.certificate_pem(), .server_name = "kubernetes.default"})->send({});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_FALSE(client_of(named.url(), {.ca_pem = ca_.certificate_pem(), .server_name = "elsewhere"})->send({}));
}

TEST_F(HttpTls, ClientCertificateInMemory) {
  ScriptedHttpServer strict(answer, ServerTls{ca_.issue("api", "IP:127.0.0.1"), ca_.certificate_pem()});
  EXPECT_FALSE(client_of(strict.url(), {.ca_pem = ca_.certificate_pem()})->send({}));
  const auto pair = ca_.issue("berth", "DNS:berth");
  const auto answer = client_of(strict.url(), {.ca_pem = ca_.certificate_pem(),
                                               .client_certificate_pem = pair.certificate_pem,
                                               .client_key_pem = pair.key_pem})
                          ->send({});
  ASSERT_TRUE(answer) << answer.error().to_string();
}

TEST_F(HttpTls, KeyOfAnotherCertificateIsInvalidAndNotShown) {
  ScriptedHttpServer strict(answer, ServerTls{ca_.issue("api", "IP:127.0.0.1"), ca_.certificate_pem()});
  const auto pair = ca_.issue("berth", "DNS:berth");
  const auto other = ca_.issue("other", "DNS:other");
  const auto answer = client_of(strict.url(), {.ca_pem = ca_.certificate_pem(),
                                               .client_certificate_pem = pair.certificate_pem,
                                               .client_key_pem = other.key_pem})
                          ->send({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid) << answer.error().to_string();
  EXPECT_EQ(answer.error().to_string().find("BEGIN"), std::string::npos);
}

}  // namespace
}  // namespace berth::net
