#include "webhook/tls_test_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

// OpenSSL's number; 0: any.
int NumberOf(TlsVersion version) {
  switch (version) {
    case TlsVersion::kAny:
      return 0;
    case TlsVersion::k11:
      return TLS1_1_VERSION;
    case TlsVersion::k12:
      return TLS1_2_VERSION;
    case TlsVersion::k13:
      return TLS1_3_VERSION;
  }
}

}  // namespace

struct TlsTestClient::Tls {
  ~Tls() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = nullptr;
};

TlsTestClient::TlsTestClient(int port)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  // OpenSSL writes without MSG_NOSIGNAL.
  signal(SIGPIPE, SIG_IGN);
  sockaddr_in server{.sin_family = AF_INET,
                     .sin_port = htons(static_cast<uint16_t>(port))};
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval limit{.tv_sec = 20};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  BINDER_CHECK(
      connect(fd_, reinterpret_cast<sockaddr*>(&server), sizeof server) == 0);
}

TlsTestClient::~TlsTestClient() {
  tls_.reset();
  close(fd_);
}

bool TlsTestClient::Handshake(const TestTls& tls) {
  tls_ = std::make_unique<Tls>();
  // Old versions need it on this side too.
  SSL_CTX_set_cipher_list(tls_->context, "ALL:@SECLEVEL=0");
  SSL_CTX_set_min_proto_version(tls_->context, NumberOf(tls.version));
  SSL_CTX_set_max_proto_version(tls_->context, NumberOf(tls.version));
  tls_->ssl = SSL_new(tls_->context);
  if (!tls.protocols.empty()) {
    SSL_set_alpn_protos(
        tls_->ssl, reinterpret_cast<const unsigned char*>(tls.protocols.data()),
        static_cast<unsigned>(tls.protocols.size()));
  }
  SSL_set_fd(tls_->ssl, fd_);
  ERR_clear_error();
  if (SSL_connect(tls_->ssl) == 1) return true;
  refused_version_ =
      ERR_GET_REASON(ERR_peek_error()) == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION;
  return false;
}

std::unique_ptr<TlsTestClient> TlsTestClient::Connect(int port) {
  auto client = std::make_unique<TlsTestClient>(port);
  return client->Handshake() ? std::move(client) : nullptr;
}

bool TlsTestClient::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    size_t sent = 0;
    if (tls_ != nullptr) {
      if (SSL_write_ex(tls_->ssl, bytes.data(), bytes.size(), &sent) != 1) {
        return false;
      }
    } else {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent = static_cast<size_t>(n);
    }
    bytes.remove_prefix(sent);
  }
  return true;
}

void TlsTestClient::EndSending() {
  if (tls_ != nullptr) SSL_shutdown(tls_->ssl);
  shutdown(fd_, SHUT_WR);
}

TestAnswer TlsTestClient::Read() {
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Receive()) return {};
  }
  TestAnswer answer{.head = buffer_.substr(0, end + 2)};
  buffer_.erase(0, end + 4);
  size_t size = 0;
  for (const absl::string_view line : absl::StrSplit(answer.head, "\r\n")) {
    if (absl::StartsWith(line, "HTTP/1.")) {
      BINDER_CHECK(absl::SimpleAtoi(line.substr(9, 3), &answer.code));
    } else if (absl::StartsWithIgnoreCase(line, "Content-Length: ")) {
      BINDER_CHECK(absl::SimpleAtoi(line.substr(16), &size));
    }
  }
  while (buffer_.size() < size) {
    if (!Receive()) return {};
  }
  answer.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return answer;
}

std::string TlsTestClient::ReadToEnd() {
  while (Receive()) {
  }
  return std::move(buffer_);
}

bool TlsTestClient::IsClosedWithin(int milliseconds) {
  pollfd one{.fd = fd_, .events = POLLIN};
  if (poll(&one, 1, milliseconds) <= 0) return false;
  return !Receive();
}

std::string TlsTestClient::serial() const {
  const X509* const certificate = SSL_get0_peer_certificate(tls_->ssl);
  return absl::StrCat(ASN1_INTEGER_get(X509_get0_serialNumber(certificate)));
}

std::string TlsTestClient::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_->ssl, &name, &size);
  return std::string(reinterpret_cast<const char*>(name), size);
}

bool TlsTestClient::Receive() {
  char chunk[16384];
  size_t taken = 0;
  if (tls_ != nullptr) {
    if (SSL_read_ex(tls_->ssl, chunk, sizeof chunk, &taken) != 1) return false;
  } else {
    const ssize_t n = recv(fd_, chunk, sizeof chunk, 0);
    if (n <= 0) return false;
    taken = static_cast<size_t>(n);
  }
  buffer_.append(chunk, taken);
  return true;
}

std::string ReviewRequestText(absl::string_view path, absl::string_view body) {
  return absl::StrCat("POST ", path,
                      "?timeout=10s HTTP/1.1\r\n"
                      "Host: gpubinder.cozy-system.svc:443\r\n"
                      "User-Agent: kube-apiserver-admission\r\n"
                      "Content-Length: ",
                      body.size(),
                      "\r\nAccept: application/json, */*\r\n"
                      "Content-Type: application/json\r\n"
                      "Accept-Encoding: gzip\r\n\r\n",
                      body);
}

std::string GetText(absl::string_view path) {
  return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: a\r\n\r\n");
}

}  // namespace gpubinder
