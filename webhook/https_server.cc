#include "webhook/https_server.h"

#include <openssl/ssl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "webhook/certificate.h"
#include "webhook/https_connection.h"

namespace gpubinder {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// Before the next try when there is no descriptor left for a connection.
constexpr absl::Duration kAcceptAgain = absl::Milliseconds(100);

absl::StatusOr<tcp::endpoint> ParseEndpoint(const std::string& text) {
  const absl::string_view all = text;
  const size_t colon = all.rfind(':');
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("address: found \"", all.substr(0, 64),
                   "\", want an IP address and a port, as in 0.0.0.0:9443 or "
                   "[::]:9443"));
  int port = 0;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(all.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return bad;
  }
  absl::string_view host = all.substr(0, colon);
  const bool in_brackets =
      host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  error_code error;
  const asio::ip::address address =
      asio::ip::make_address(std::string(host), error);
  if (error || address.is_v6() != in_brackets) return bad;
  return tcp::endpoint(address, static_cast<uint16_t>(port));
}

class Server : public HttpsServer {
 public:
  Server(HttpsOptions options, std::unique_ptr<ServingCertificate> certificate)
      : shared_(std::move(options)), certificate_(std::move(certificate)) {
    shared_.on_end = [this] { EndWhenEmpty(); };
  }
  ~Server() override { Stop(absl::ZeroDuration()); }

  absl::Status Listen() {
    const std::string& text = shared_.options.address;
    const absl::StatusOr<tcp::endpoint> endpoint = ParseEndpoint(text);
    if (!endpoint.ok()) return endpoint.status();
    error_code error;
    acceptor_.open(endpoint->protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(*endpoint, error);
    if (!error)
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("listening on ", text, ": ", error.message()));
    }
    return absl::OkStatus();
  }

  void Run() {
    UseCertificate();
    const absl::Status valid =
        CheckValidity(certificate_->validity(), shared_.options.clock());
    if (!valid.ok()) Tell(valid);
    Accept();
    LookLater();
    thread_ = std::thread([this] { shared_.io.run(); });
  }

  int port() const override { return port_; }

  void BeginDrain() override { shared_.draining = true; }

  void Stop(absl::Duration limit) override {
    if (!thread_.joinable()) return;
    shared_.draining = true;
    asio::post(shared_.io, [this, limit] { EndAll(limit); });
    thread_.join();
    shared_.reviewers.join();
  }

  absl::Status LookAtCertificates() override {
    std::promise<absl::Status> looked;
    asio::post(shared_.io, [&] { looked.set_value(Look()); });
    return looked.get_future().get();
  }

  absl::Time certificate_end() const override {
    return absl::FromUnixSeconds(certificate_end_);
  }
  uint64_t Count(HttpsEvent event) const override {
    return shared_.counts[static_cast<size_t>(event)];
  }
  size_t open_connections() const override { return shared_.open; }

 private:
  // The server's thread only, from here on.

  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (shared_.stopping) return;
      if (!error) {
        Admit(std::move(socket));
        return Accept();
      }
      accept_again_.expires_after(absl::ToChronoNanoseconds(kAcceptAgain));
      accept_again_.async_wait([this](error_code cancelled) {
        if (!cancelled) Accept();
      });
    });
  }

  void Admit(tcp::socket socket) {
    shared_.Count(HttpsEvent::kAccepted);
    if (shared_.connections.size() >= shared_.options.limits.connections) {
      if (shared_.idle.empty()) {
        shared_.Count(HttpsEvent::kOverLimit);
        return;  // closes it
      }
      shared_.Count(HttpsEvent::kMadeRoom);
      shared_.idle.front()->Abort();
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection = std::make_shared<HttpsConnection>(std::move(socket),
                                                        *context_, shared_);
    shared_.connections.insert(connection);
    shared_.open = shared_.connections.size();
    connection->Begin();
  }

  void UseCertificate() {
    // Open connections hold the one they began with.
    SSL_CTX_up_ref(certificate_->context());
    context_ = std::make_unique<asio::ssl::context>(certificate_->context());
    certificate_end_ = absl::ToUnixSeconds(certificate_->validity().to);
  }

  absl::Status Look() {
    const absl::StatusOr<bool> taken = certificate_->Look();
    if (!taken.ok()) {
      shared_.Count(HttpsEvent::kPairRefused);
      if (taken.status().message() != told_) Tell(taken.status());
      return taken.status();
    }
    told_.clear();
    if (*taken) {
      shared_.Count(HttpsEvent::kPairTaken);
      UseCertificate();
      Tell(absl::OkStatus());
    }
    return absl::OkStatus();
  }

  void Tell(const absl::Status& news) {
    told_ = std::string(news.message());
    if (shared_.options.on_certificate) shared_.options.on_certificate(news);
  }

  void LookLater() {
    look_.expires_after(
        absl::ToChronoNanoseconds(shared_.options.certificate_look));
    look_.async_wait([this](error_code cancelled) {
      if (cancelled || shared_.stopping) return;
      Look().IgnoreError();
      LookLater();
    });
  }

  void EndAll(absl::Duration limit) {
    shared_.stopping = true;
    error_code ignored;
    acceptor_.close(ignored);
    accept_again_.cancel();
    look_.cancel();
    const auto all = shared_.connections;
    for (const auto& connection : all) connection->EndSoon();
    too_long_.expires_after(absl::ToChronoNanoseconds(limit));
    too_long_.async_wait([this](error_code cancelled) {
      if (cancelled) return;
      const auto rest = shared_.connections;
      for (const auto& connection : rest) connection->Abort();
    });
    EndWhenEmpty();
  }

  void EndWhenEmpty() {
    if (!shared_.stopping || !shared_.connections.empty()) return;
    too_long_.cancel();
    work_.reset();
  }

  HttpsShared shared_;
  const std::unique_ptr<ServingCertificate> certificate_;
  std::unique_ptr<asio::ssl::context> context_;
  tcp::acceptor acceptor_{shared_.io};
  asio::steady_timer accept_again_{shared_.io}, look_{shared_.io},
      too_long_{shared_.io};
  // Keeps the thread while a review is under way elsewhere.
  asio::executor_work_guard<asio::io_context::executor_type> work_{
      shared_.io.get_executor()};
  std::string told_;
  int port_ = 0;
  std::atomic<int64_t> certificate_end_ = 0;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpsServer>> HttpsServer::Start(
    HttpsOptions options) {
  absl::StatusOr<std::unique_ptr<ServingCertificate>> certificate =
      ServingCertificate::Open(options.certificate_directory, options.clock);
  if (!certificate.ok()) return certificate.status();
  auto server =
      std::make_unique<Server>(std::move(options), *std::move(certificate));
  if (absl::Status s = server->Listen(); !s.ok()) return s;
  server->Run();
  return server;
}

}  // namespace gpubinder
