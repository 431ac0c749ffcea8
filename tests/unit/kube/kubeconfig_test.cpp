#include "berth/kube/kubeconfig.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace berth::kube {
namespace {

using core::ErrorCode;
namespace fs = std::filesystem;

// base64 of "-----BEGIN CERTIFICATE-----\n" and "-----BEGIN PRIVATE KEY-----\n".
constexpr const char* kCertificateData = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";
constexpr const char* kKeyData = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg==";

std::string config_of(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts:\n- name: main\n  context: {cluster: c, user: u, namespace: team}\n"
         "clusters:\n- name: c\n  cluster:\n" +
         cluster + "users:\n- name: u\n  user:\n" + user;
}

const std::string kCluster = "    server: https://10.0.0.1:6443\n";
const std::string kUser = "    token: t0ken\n";

core::Result<ServerAccess> parse(const std::string& text, std::string_view context = {}) {
  return parse_kubeconfig(text, "/etc/kube", context, "config");
}

class TempDirectory {
 public:
  TempDirectory() {
    std::string pattern = ::testing::TempDir() + "berth_kubeXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~TempDirectory() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

 private:
  fs::path path_;
};

TEST(Kubeconfig, TokenAndData) {
  const auto access = parse(config_of(kCluster + "    certificate-authority-data: " + kCertificateData + "\n", kUser));
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->tls.ca_pem, "-----BEGIN CERTIFICATE-----\n");
  EXPECT_TRUE(access->tls.verify);
  EXPECT_EQ(access->token, "t0ken");
  EXPECT_EQ(access->ns, "team");
}

TEST(Kubeconfig, ClientCertificateAndServerName) {
  const auto access = parse(config_of(
      kCluster + "    tls-server-name: kubernetes\n    insecure-skip-tls-verify: true\n",
      std::string("    client-certificate-data: ") + kCertificateData + "\n    client-key-data: " + kKeyData + "\n"));
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->tls.server_name, "kubernetes");
  EXPECT_FALSE(access->tls.verify);
  EXPECT_EQ(access->tls.client_certificate_pem, "-----BEGIN CERTIFICATE-----\n");
  EXPECT_EQ(access->tls.client_key_pem, "-----BEGIN PRIVATE KEY-----\n");
  EXPECT_EQ(access->token, "");
}

TEST(Kubeconfig, JsonIsYamlToo) {
  const auto access =
      parse(R"({"kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"b","user":""}}],)"
            R"("clusters":[{"name":"b","cluster":{"server":"http://localhost:8001"}}]})");
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->server, "http://localhost:8001");
}

TEST(Kubeconfig, NamedContextCountsBeforeTheCurrentOne) {
  const std::string text =
      "current-context: a\ncontexts:\n- {name: a, context: {cluster: a}}\n- {name: b, context: {cluster: b}}\n"
      "clusters:\n- {name: a, cluster: {server: 'https://a'}}\n- {name: b, cluster: {server: 'https://b'}}\n";
  EXPECT_EQ(parse(text)->server, "https://a");
  EXPECT_EQ(parse(text, "b")->server, "https://b");
  const auto missing = parse(text, "c");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().to_string(), "config: contexts has no entry named \"c\"");
}

TEST(Kubeconfig, FilesCountFromTheFilesDirectory) {
  const TempDirectory directory;
  directory.write("ca.pem", "x");
  directory.write("client.pem", "x");
  directory.write("client.key", "x");
  directory.write("config", config_of(kCluster + "    certificate-authority: ca.pem\n",
                                      "    client-certificate: ./client.pem\n    client-key: " +
                                          (directory.path() / "client.key").string() + "\n    tokenFile: token\n"));
  const auto access = load_kubeconfig(directory.path() / "config");
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->tls.ca_file, directory.path() / "ca.pem");
  EXPECT_EQ(access->tls.client_certificate_file, directory.path() / "client.pem");
  EXPECT_EQ(access->tls.client_key_file, directory.path() / "client.key");
  EXPECT_EQ(access->token_file, directory.path() / "token");
}

TEST(Kubeconfig, MissingFileIsNotFound) {
  const auto access = load_kubeconfig("/nonexistent/config");
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(access.error().where, "/nonexistent/config");
}

TEST(Kubeconfig, TooLarge) {
  const auto access = parse(std::string(kMaxKubeconfigBytes + 1, '#'));
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::kTooLarge);
}

struct Refused {
  const char* name;
  std::string text;
  const char* says;
};

class KubeconfigRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(KubeconfigRefuses, AndSaysWhy) {
  const auto access = parse(GetParam().text);
  ASSERT_FALSE(access);
  EXPECT_NE(access.error().to_string().find(GetParam().says), std::string::npos) << access.error().to_string();
  EXPECT_EQ(access.error().to_string().find("s3cret"), std::string::npos) << access.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(
    , KubeconfigRefuses,
    ::testing::Values(
        Refused{"exec", config_of(kCluster, "    exec: {command: aws}\n"),
                "users[0].user.exec is not supported; supported are token, tokenFile"},
        Refused{"auth_provider", config_of(kCluster, "    auth-provider: {name: gcp}\n"),
                "auth-provider is not supported"},
        Refused{"password", config_of(kCluster, "    username: admin\n    password: s3cret\n"),
                "username is not supported"},
        Refused{"impersonation", config_of(kCluster, "    as: root\n"), "user.as is not supported"},
        Refused{"proxy", config_of(kCluster + "    proxy-url: http://p\n", kUser), "proxy-url is not supported"},
        Refused{"key_twice", config_of(kCluster + kCluster, kUser),
                "config:11: clusters[0].cluster.server is given twice"},
        Refused{"user_twice", config_of(kCluster, kUser) + "- name: u\n  user: {token: s3cret}\n",
                "users[1].name \"u\" is given twice"},
        Refused{"no_server", config_of("    tls-server-name: x\n", kUser), "clusters[0].cluster.server is missing"},
        Refused{"no_user",
                "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: gone}}]\n"
                "clusters: [{name: c, cluster: {server: 'https://a'}}]\n",
                "users has no entry named \"gone\""},
        Refused{"no_context", "clusters: []\n", "no current-context is set"},
        Refused{"other_kind", "kind: Pod\n", "kind must be Config"},
        Refused{"ca_not_base64", config_of(kCluster + "    certificate-authority-data: '!!'\n", kUser),
                "certificate-authority-data must be base64 of PEM text"},
        Refused{"key_not_pem", config_of(kCluster, "    client-key-data: czNjcmV0\n"),
                "client-key-data must be base64"},
        Refused{"certificate_without_key",
                config_of(kCluster, std::string("    client-certificate-data: ") + kCertificateData + "\n"),
                "client-certificate needs a client-key"},
        Refused{"key_without_certificate", config_of(kCluster, std::string("    client-key-data: ") + kKeyData + "\n"),
                "client-key needs a client-certificate"},
        Refused{"ca_and_insecure",
                config_of(kCluster + "    insecure-skip-tls-verify: true\n    certificate-authority-data: " +
                              kCertificateData + "\n",
                          kUser),
                "can't go together with a certificate-authority"},
        Refused{"flag_not_bool", config_of(kCluster + "    insecure-skip-tls-verify: maybe\n", kUser),
                "must be true or false"},
        Refused{"ca_file_missing", config_of(kCluster + "    certificate-authority: nowhere.pem\n", kUser),
                "names a file that does not exist"},
        Refused{"token_is_a_list", config_of(kCluster, "    token: [s3cret]\n"), "users[0].user.token must be text"},
        Refused{"token_of_two_lines", config_of(kCluster, "    token: \"s3cret\\nX\"\n"),
                "users[0].user.token must be one line of visible ASCII"},
        Refused{"token_with_its_line_end", config_of(kCluster, "    token: |\n      s3cret\n"),
                "users[0].user.token must be one line"},
        Refused{"token_with_a_blank", config_of(kCluster, "    token: Bearer s3cret\n"),
                "users[0].user.token must be one line"},
        Refused{"token_with_a_nul", config_of(kCluster, "    token: \"s3cret\\0\"\n"),
                "users[0].user.token must be one line"},
        Refused{"token_not_ascii", config_of(kCluster, "    token: s3cret\xC3\xA9\n"),
                "users[0].user.token must be one line"},
        Refused{"clusters_is_text", "current-context: a\ncontexts: none\n", "contexts must be a list"},
        Refused{"not_a_mapping", "just text\n", "the file must be a mapping"},
        Refused{"not_yaml", "a: [s3cret\n", "not YAML"}),
    [](const auto& test) { return test.param.name; });

TEST(InCluster, TokenCaAndNamespaceOfThePod) {
  const TempDirectory directory;
  directory.write("token", "abc");
  directory.write("ca.crt", "pem");
  directory.write("namespace", "berth-system");
  const auto access = load_in_cluster({.directory = directory.path(), .host = "10.96.0.1", .port = "443"});
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->server, "https://10.96.0.1:443");
  EXPECT_EQ(access->token_file, directory.path() / "token");
  EXPECT_EQ(access->tls.ca_file, directory.path() / "ca.crt");
  EXPECT_EQ(access->ns, "berth-system");
  EXPECT_EQ(load_in_cluster({.directory = directory.path(), .host = "fd00::1", .port = "443"})->server,
            "https://[fd00::1]:443");
}

TEST(InCluster, OutsideAPodOrWithoutATokenIsNotFound) {
  const TempDirectory directory;
  EXPECT_EQ(load_in_cluster({.directory = directory.path(), .host = "", .port = ""}).error().code,
            ErrorCode::kNotFound);
  const auto access = load_in_cluster({.directory = directory.path(), .host = "10.96.0.1", .port = "443"});
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::kNotFound);
  EXPECT_NE(access.error().message.find("automountServiceAccountToken"), std::string::npos);
}

}  // namespace
}  // namespace berth::kube
