#include "webhook/certificate.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

constexpr size_t kMostFileBytes = size_t{1} << 20;
constexpr char kCertificateFile[] = "tls.crt";
constexpr char kKeyFile[] = "tls.key";
// kubelet's link to the folder of the Secret's latest version.
constexpr char kDataLink[] = "..data";

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Errno(absl::string_view what) {
  const int code = errno;
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(code)));
}

absl::StatusOr<std::string> ReadFileAt(const Descriptor& folder,
                                       const char* name) {
  const Descriptor file(
      openat(folder.get(), name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return Errno(name);
  std::string text;
  char chunk[16384];
  while (true) {
    const ssize_t n = read(file.get(), chunk, sizeof chunk);
    if (n < 0) return Errno(name);
    if (n == 0) return text;
    text.append(chunk, static_cast<size_t>(n));
    if (text.size() > kMostFileBytes) {
      return absl::UnavailableError(
          absl::StrCat(name, ": found more than 1 MiB, want PEM"));
    }
  }
}

absl::StatusOr<PairText> ReadOnce(const std::string& directory) {
  const Descriptor named(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (named.get() < 0) return Errno("opening it");
  const Descriptor data(
      openat(named.get(), kDataLink, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Descriptor& folder = data.get() < 0 ? named : data;
  absl::StatusOr<std::string> certificate =
      ReadFileAt(folder, kCertificateFile);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<std::string> key = ReadFileAt(folder, kKeyFile);
  if (!key.ok()) return key.status();
  return PairText{.certificate = *std::move(certificate),
                  .key = *std::move(key)};
}

// What OpenSSL says about the call that has just failed.
std::string TlsReason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

absl::Status Bad(absl::string_view file, absl::string_view found,
                 absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": found ", found, ", want ", want));
}

Owned<BIO> MemoryOf(const std::string& text) {
  return Owned<BIO>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL would ask the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

absl::StatusOr<std::vector<Owned<X509>>> ParseChain(const std::string& pem) {
  std::vector<Owned<X509>> chain;
  const Owned<BIO> bio = MemoryOf(pem);
  while (true) {
    Owned<X509> next(
        PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr));
    if (next == nullptr) break;
    chain.push_back(std::move(next));
  }
  const bool ended =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = TlsReason();
  if (!ended) return Bad(kCertificateFile, reason, "certificates in PEM");
  if (chain.empty()) {
    return Bad(kCertificateFile, "no certificate", "at least one in PEM");
  }
  return chain;
}

absl::StatusOr<Owned<EVP_PKEY>> ParseKey(const std::string& pem) {
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(MemoryOf(pem).get(), nullptr,
                                              NoPassphrase, nullptr));
  if (key != nullptr) return key;
  return Bad(kKeyFile, TlsReason(), "a private key in PEM, not encrypted");
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

bool HasAlternativeName(X509* certificate) {
  return X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0;
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned in_size, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kOurs, sizeof(kOurs) - 1, in,
                            in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

absl::Status SetPolicy(SSL_CTX* context) {
  // Renegotiation and resumption only cost here: connections are kept.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                   SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_security_level(context, 2);
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context,
                              "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!PSK") != 1) {
    return absl::InternalError(absl::StrCat("TLS policy: ", TlsReason()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PairText> ReadPair(const std::string& directory) {
  absl::StatusOr<PairText> pair = ReadOnce(directory);
  // A swap may have taken the folder away while it was read.
  return pair.ok() ? pair : ReadOnce(directory);
}

void FreeContext::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

absl::StatusOr<TlsPair> MakePair(const PairText& text) {
  ERR_clear_error();
  const absl::StatusOr<std::vector<Owned<X509>>> chain =
      ParseChain(text.certificate);
  if (!chain.ok()) return chain.status();
  const absl::StatusOr<Owned<EVP_PKEY>> key = ParseKey(text.key);
  if (!key.ok()) return key.status();
  X509* const leaf = chain->front().get();
  if (X509_check_private_key(leaf, key->get()) != 1) {
    ERR_clear_error();
    return Bad(
        kKeyFile, "another certificate's key",
        absl::StrCat("that of the first certificate of ", kCertificateFile));
  }
  if (!HasAlternativeName(leaf)) {
    return Bad(kCertificateFile, "no subject alternative name",
               "the service's DNS name as one");
  }
  TlsPair pair{.context = std::unique_ptr<SSL_CTX, FreeContext>(
                   SSL_CTX_new(TLS_server_method())),
               .validity = {.from = TimeOf(X509_get0_notBefore(leaf)),
                            .to = TimeOf(X509_get0_notAfter(leaf))}};
  SSL_CTX* const context = pair.context.get();
  if (context == nullptr) return absl::InternalError(TlsReason());
  if (absl::Status s = SetPolicy(context); !s.ok()) return s;
  if (SSL_CTX_use_certificate(context, leaf) != 1) {
    return Bad(kCertificateFile, TlsReason(), "a certificate OpenSSL serves");
  }
  if (SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return Bad(kKeyFile, TlsReason(), "a key OpenSSL serves");
  }
  for (size_t i = 1; i < chain->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) != 1) {
      return Bad(kCertificateFile, TlsReason(), "a chain OpenSSL serves");
    }
  }
  return pair;
}

absl::Status CheckValidity(const Validity& validity, absl::Time now) {
  if (now >= validity.from && now <= validity.to) return absl::OkStatus();
  const auto text = [](absl::Time time) {
    return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone());
  };
  return Bad(kCertificateFile,
             absl::StrCat("one that is valid from ", text(validity.from),
                          " to ", text(validity.to)),
             "one that is valid now");
}

absl::StatusOr<std::unique_ptr<ServingCertificate>> ServingCertificate::Open(
    std::string directory, std::function<absl::Time()> clock) {
  std::unique_ptr<ServingCertificate> serving(
      new ServingCertificate(std::move(directory), std::move(clock)));
  absl::StatusOr<PairText> text = ReadPair(serving->directory_);
  if (!text.ok()) return serving->InDirectory(text.status());
  absl::StatusOr<TlsPair> pair = MakePair(*text);
  if (!pair.ok()) return serving->InDirectory(pair.status());
  serving->text_ = *std::move(text);
  serving->pair_ = *std::move(pair);
  return serving;
}

absl::StatusOr<bool> ServingCertificate::Look() {
  absl::StatusOr<PairText> text = ReadPair(directory_);
  if (!text.ok()) return InDirectory(text.status());
  if (*text == text_) return false;
  absl::StatusOr<TlsPair> pair = MakePair(*text);
  if (!pair.ok()) return InDirectory(pair.status());
  if (absl::Status s = CheckValidity(pair->validity, clock_()); !s.ok()) {
    return InDirectory(s);
  }
  text_ = *std::move(text);
  pair_ = *std::move(pair);
  return true;
}

absl::Status ServingCertificate::InDirectory(const absl::Status& error) const {
  return absl::Status(error.code(), absl::StrCat("certificates in ", directory_,
                                                 ": ", error.message()));
}

}  // namespace gpubinder
