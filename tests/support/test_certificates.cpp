#include "support/test_certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <stdexcept>

namespace berth::testing {
namespace {

template <auto Function>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    Function(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;

void must(bool ok) {
  if (!ok) throw std::runtime_error("OpenSSL could not make a test certificate");
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Key new_key() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  must(key != nullptr);
  return key;
}

void extend(X509* certificate, X509* issuer, int which, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str()));
  must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

Certificate new_certificate(const std::string& name, EVP_PKEY* key) {
  static std::atomic<long> serial{1};
  Certificate certificate(X509_new());
  must(certificate != nullptr && X509_set_version(certificate.get(), 2) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400);
  must(X509_set_pubkey(certificate.get(), key) == 1);
  must(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1);
  return certificate;
}

std::string pem_of(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bio.get());
}

}  // namespace

struct TestCa::State {
  Key key;
  Certificate certificate;
  std::string pem;
};

TestCa::TestCa(const std::string& name) : state_(std::make_unique<State>()) {
  state_->key = new_key();
  state_->certificate = new_certificate(name, state_->key.get());
  X509* certificate = state_->certificate.get();
  must(X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1);
  extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  extend(certificate, certificate, NID_key_usage, "critical,keyCertSign");
  must(X509_sign(certificate, state_->key.get(), EVP_sha256()) > 0);
  state_->pem = pem_of(certificate);
}

TestCa::~TestCa() = default;

const std::string& TestCa::certificate_pem() const { return state_->pem; }

KeyPair TestCa::issue(const std::string& common_name, const std::string& alternative_names) const {
  const Key key = new_key();
  const Certificate certificate = new_certificate(common_name, key.get());
  must(X509_set_issuer_name(certificate.get(), X509_get_subject_name(state_->certificate.get())) == 1);
  extend(certificate.get(), state_->certificate.get(), NID_subject_alt_name, alternative_names);
  must(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) > 0);
  return {pem_of(certificate.get()), pem_of(key.get())};
}

}  // namespace berth::testing
