#include "k8s/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "proto/check.h"

namespace gpubinder {
namespace {

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string Pem(X509* certificate) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  BINDER_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return TextOf(bio.get());
}

std::string Pem(EVP_PKEY* key) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  BINDER_CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0,
                                        nullptr, nullptr) == 1);
  return TextOf(bio.get());
}

void AddExtension(X509* certificate, X509* issuer, int nid,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  BINDER_CHECK(extension != nullptr);
  BINDER_CHECK(X509_add_ext(certificate, extension.get(), -1) == 1);
}

Owned<X509> Unsigned(const std::string& common_name, EVP_PKEY* key) {
  static long serial = 1;
  Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

struct TestAuthority::Keys {
  Owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
  Owned<X509> certificate;
};

TestAuthority::TestAuthority() : keys_(std::make_unique<Keys>()) {
  BINDER_CHECK(keys_->key != nullptr);
  keys_->certificate = Unsigned("test authority", keys_->key.get());
  X509* const certificate = keys_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  AddExtension(certificate, certificate, NID_basic_constraints,
               "critical,CA:TRUE");
  BINDER_CHECK(X509_sign(certificate, keys_->key.get(), EVP_sha256()) > 0);
}

TestAuthority::~TestAuthority() = default;

std::string TestAuthority::pem() const { return Pem(keys_->certificate.get()); }

TestCertificate TestAuthority::Issue(const std::string& common_name,
                                     const std::string& alternative_names) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  BINDER_CHECK(key != nullptr);
  const Owned<X509> certificate = Unsigned(common_name, key.get());
  X509* const issuer = keys_->certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  if (!alternative_names.empty()) {
    AddExtension(certificate.get(), issuer, NID_subject_alt_name,
                 alternative_names);
  }
  BINDER_CHECK(X509_sign(certificate.get(), keys_->key.get(), EVP_sha256()) >
               0);
  return {.certificate = Pem(certificate.get()), .key = Pem(key.get())};
}

}  // namespace gpubinder
