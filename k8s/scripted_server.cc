#include "k8s/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

BIO* MemoryOf(const std::string& text) {
  return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
}

X509* ReadCertificate(const std::string& pem) {
  BIO* const bio = MemoryOf(pem);
  X509* const certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  BINDER_CHECK(certificate != nullptr);
  return certificate;
}

size_t BodySize(absl::string_view head) {
  size_t size = 0;
  for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
    if (!absl::StartsWithIgnoreCase(line, "content-length:")) continue;
    BINDER_CHECK(absl::SimpleAtoi(line.substr(15), &size));
  }
  return size;
}

}  // namespace

struct ScriptedServer::Tls {
  explicit Tls(const ServerTls& tls) {
    X509* const certificate = ReadCertificate(tls.certificate.certificate);
    BINDER_CHECK(SSL_CTX_use_certificate(context, certificate) == 1);
    X509_free(certificate);
    BIO* const bio = MemoryOf(tls.certificate.key);
    EVP_PKEY* const key =
        PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    BINDER_CHECK(SSL_CTX_use_PrivateKey(context, key) == 1);
    EVP_PKEY_free(key);
    if (tls.client_authority.empty()) return;
    X509* const authority = ReadCertificate(tls.client_authority);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
    X509_free(authority);
    SSL_CTX_set_verify(
        context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  ~Tls() { SSL_CTX_free(context); }

  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
};

class ScriptedServer::Connection : public ServerConnection {
 public:
  Connection(ScriptedServer& server, int fd) : server_(server), fd_(fd) {
    if (server.tls_ == nullptr) return;
    ssl_ = SSL_new(server.tls_->context);
    SSL_set_fd(ssl_, fd);
  }
  ~Connection() override { SSL_free(ssl_); }

  bool Begin() { return ssl_ == nullptr || SSL_accept(ssl_) == 1; }

  std::optional<ServerRequest> Read() override {
    size_t head_end = 0;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Receive()) return std::nullopt;
    }
    ServerRequest request{.head = buffer_.substr(0, head_end + 2)};
    const size_t end = head_end + 4 + BodySize(request.head);
    while (buffer_.size() < end) {
      if (!Receive()) return std::nullopt;
    }
    request.body = buffer_.substr(head_end + 4, end - head_end - 4);
    buffer_.erase(0, end);
    const std::vector<std::string> words =
        absl::StrSplit(request.head, absl::MaxSplits(' ', 2));
    request.method = words[0];
    request.target = words[1];
    request.subject = Subject();
    absl::MutexLock lock(&server_.mutex_);
    server_.requests_.push_back(request);
    return request;
  }

  bool Send(absl::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n =
          ssl_ != nullptr
              ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
              : send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  void Reset() override {
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  bool Receive() {
    char chunk[16384];
    const ssize_t n = ssl_ != nullptr ? SSL_read(ssl_, chunk, sizeof chunk)
                                      : recv(fd_, chunk, sizeof chunk, 0);
    if (n <= 0) return false;
    buffer_.append(chunk, static_cast<size_t>(n));
    return true;
  }

  std::string Subject() const {
    if (ssl_ == nullptr) return "";
    X509* const peer = SSL_get0_peer_certificate(ssl_);
    if (peer == nullptr) return "";
    char name[128] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name,
                              sizeof name);
    return name;
  }

  ScriptedServer& server_;
  const int fd_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
};

bool ServerConnection::Answer(int code, absl::string_view headers,
                              absl::string_view body) {
  return Send(absl::StrCat("HTTP/1.1 ", code, " X\r\n", headers,
                           "Content-Length: ", body.size(), "\r\n\r\n", body));
}

bool ServerConnection::BeginChunks() {
  return Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool ServerConnection::SendChunk(absl::string_view bytes) {
  return Send(absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n"));
}

bool ServerConnection::EndChunks() { return Send("0\r\n\r\n"); }

ScriptedServer::ScriptedServer(std::function<void(ServerConnection&)> script)
    : script_(std::move(script)) {
  Listen();
}

ScriptedServer::ScriptedServer(std::function<void(ServerConnection&)> script,
                               ServerTls tls)
    : script_(std::move(script)), tls_(std::make_unique<Tls>(tls)) {
  Listen();
}

ScriptedServer::~ScriptedServer() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& script : scripts_) script.join();
  close(listener_);
}

std::string ScriptedServer::url() const {
  return absl::StrCat(tls_ == nullptr ? "http" : "https",
                      "://127.0.0.1:", port_);
}

std::vector<ServerRequest> ScriptedServer::Requests() {
  absl::MutexLock lock(&mutex_);
  return requests_;
}

void ScriptedServer::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  BINDER_CHECK(bind(listener_, generic, size) == 0);
  BINDER_CHECK(listen(listener_, 64) == 0);
  BINDER_CHECK(getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

void ScriptedServer::Accept() {
  // Scripts inherit it: OpenSSL writes with the signal.
  sigset_t pipe_only;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_only, nullptr);
  while (true) {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    absl::MutexLock lock(&mutex_);
    if (closing_) {
      close(fd);
      return;
    }
    open_.push_back(fd);
    scripts_.emplace_back([this, fd] { Serve(fd); });
  }
}

void ScriptedServer::Serve(int fd) {
  {
    Connection connection(*this, fd);
    if (connection.Begin()) script_(connection);
  }
  absl::MutexLock lock(&mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), fd));
  close(fd);
}

}  // namespace gpubinder
