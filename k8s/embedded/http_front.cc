#include "k8s/embedded/http_front.h"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace gpubinder::embedded {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxConnections = 256;
constexpr size_t kMaxBody = 3 * 1024 * 1024;
constexpr size_t kMaxHeader = 64 * 1024;
constexpr auto kIdle = std::chrono::minutes(2);
constexpr auto kWrite = std::chrono::seconds(30);
constexpr absl::Duration kLookForClient = absl::Milliseconds(200);

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

std::string Field(const Request& request, http::field name) {
  return std::string(request[name]);
}

ApiRequest ApiRequestOf(Request& request) {
  ApiRequest out;
  out.method = std::string(request.method_string());
  out.target = std::string(request.target());
  out.content_type = Field(request, http::field::content_type);
  out.accept = Field(request, http::field::accept);
  out.user = std::string(request["Impersonate-User"]);
  if (out.user.empty()) out.user = std::string(request["X-Remote-User"]);
  if (out.user.empty()) out.user = "system:admin";
  out.body = std::move(request.body());
  return out;
}

// One connection, on a thread of its own with an event loop of its own: the
// loop is only there to give reads and writes a deadline.
class Connection {
 public:
  Connection(tcp::socket socket, const ApiHandler& handler)
      : stream_(std::move(socket)), handler_(handler) {}

  void Serve() {
    while (!stopping_ && ServeOne()) {
    }
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    done_ = true;
  }

  // From another thread: wakes whatever the connection waits for.
  void Stop() {
    stopping_ = true;
    ::shutdown(stream_.socket().native_handle(), SHUT_RDWR);
  }
  bool done() const { return done_; }

  // Answers 503 and ends.
  void Reject() {
    Response busy(http::status::service_unavailable, 11);
    busy.set(http::field::retry_after, "1");
    busy.keep_alive(false);
    busy.prepare_payload();
    Write(busy);
    done_ = true;
  }

 private:
  bool ServeOne() {
    http::request_parser<http::string_body> parser;
    parser.body_limit(kMaxBody);
    parser.header_limit(kMaxHeader);
    error_code error;
    stream_.expires_after(kIdle);
    http::async_read(stream_, buffer_, parser,
                     [&](error_code e, size_t) { error = e; });
    RunLoop();
    if (error == http::error::body_limit) {
      Refuse(http::status::payload_too_large);
      return false;
    }
    if (error == http::error::end_of_stream || error) {
      const bool protocol =
          error.category() ==
          http::make_error_code(http::error::bad_method).category();
      if (protocol && error != http::error::end_of_stream &&
          error != http::error::partial_message) {
        Refuse(http::status::bad_request);
      }
      return false;
    }
    Request request = parser.release();
    const bool keep_alive = request.keep_alive();
    const ApiAnswer answer = handler_(ApiRequestOf(request));
    if (answer.watch != nullptr) {
      ServeWatch(*answer.watch);
      return false;
    }
    Response response(static_cast<http::status>(answer.response.code), 11);
    response.set(http::field::content_type, answer.response.content_type);
    for (const std::string& warning : answer.response.warnings) {
      response.insert("Warning",
                      absl::StrCat("299 - \"", Quoted(warning), "\""));
    }
    if (answer.response.retry_after_seconds > 0) {
      response.set(http::field::retry_after,
                   absl::StrCat(answer.response.retry_after_seconds));
    }
    response.keep_alive(keep_alive);
    response.body() = answer.response.body;
    response.prepare_payload();
    return Write(response) && keep_alive;
  }

  static std::string Quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out.push_back('\\');
      if (c >= ' ') out.push_back(c);
    }
    return out;
  }

  void Refuse(http::status status) {
    Response response(status, 11);
    response.keep_alive(false);
    response.prepare_payload();
    Write(response);
  }

  bool Write(Response& response) {
    error_code error;
    stream_.expires_after(kWrite);
    http::async_write(stream_, response,
                      [&](error_code e, size_t) { error = e; });
    RunLoop();
    return !error;
  }

  bool WriteText(std::string text) {
    error_code error;
    stream_.expires_after(kWrite);
    asio::async_write(stream_, asio::buffer(text),
                      [&](error_code e, size_t) { error = e; });
    RunLoop();
    return !error;
  }

  void ServeWatch(WatchStream& watch) {
    if (!WriteText("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n")) {
      return;
    }
    std::string line;
    while (!stopping_) {
      const WatchStream::State state = watch.Next(kLookForClient, line);
      if (state == WatchStream::State::kEnded) {
        WriteText("0\r\n\r\n");
        return;
      }
      if (state == WatchStream::State::kNothingYet) {
        if (ClientIsGone()) return;
        continue;
      }
      if (!WriteText(
              absl::StrCat(absl::Hex(line.size()), "\r\n", line, "\r\n"))) {
        return;
      }
    }
  }

  bool ClientIsGone() {
    char byte;
    const ssize_t got = ::recv(stream_.socket().native_handle(), &byte, 1,
                               MSG_PEEK | MSG_DONTWAIT);
    return got == 0;
  }

  void RunLoop() {
    auto& loop =
        static_cast<asio::io_context&>(stream_.get_executor().context());
    loop.restart();
    loop.run();
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMaxBody + kMaxHeader};
  const ApiHandler& handler_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> done_{false};
};

class BeastHttpFront final : public HttpFront {
 public:
  explicit BeastHttpFront(ApiHandler handler) : handler_(std::move(handler)) {}

  ~BeastHttpFront() override {
    stopping_ = true;
    // accept() does not end when the descriptor is closed; shutdown wakes it.
    if (acceptor_.is_open()) {
      ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    }
    if (accepting_.joinable()) accepting_.join();
    absl::MutexLock lock(&mutex_);
    for (Slot& slot : slots_) slot.connection->Stop();
    for (Slot& slot : slots_) slot.thread.join();
  }

  absl::Status Listen(int port) {
    error_code error;
    const tcp::endpoint place(asio::ip::address_v4::loopback(),
                              static_cast<uint16_t>(port));
    acceptor_.open(place.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(place, error);
    if (!error)
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("listening on 127.0.0.1:", port, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint(error).port();
    accepting_ = std::thread([this] { Accept(); });
    return absl::OkStatus();
  }

  int port() const override { return port_; }

 private:
  struct Slot {
    std::unique_ptr<asio::io_context> loop;
    std::unique_ptr<Connection> connection;
    std::thread thread;
  };

  void Accept() {
    while (!stopping_) {
      auto loop = std::make_unique<asio::io_context>(1);
      tcp::socket socket(*loop);
      error_code error;
      acceptor_.accept(socket, error);
      if (stopping_) return;
      if (error) {  // out of descriptors: let some connections end
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        continue;
      }
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      absl::MutexLock lock(&mutex_);
      ReapDone();
      auto connection =
          std::make_unique<Connection>(std::move(socket), handler_);
      if (slots_.size() >= kMaxConnections) {
        connection->Reject();
        continue;
      }
      Connection* raw = connection.get();
      slots_.push_back({std::move(loop), std::move(connection),
                        std::thread([raw] { raw->Serve(); })});
    }
  }

  void ReapDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto it = slots_.begin(); it != slots_.end();) {
      if (!it->connection->done()) {
        ++it;
        continue;
      }
      it->thread.join();
      it->connection.reset();  // before its loop
      it = slots_.erase(it);
    }
  }

  const ApiHandler handler_;
  asio::io_context accept_loop_{1};
  tcp::acceptor acceptor_{accept_loop_};
  std::thread accepting_;
  std::atomic<bool> stopping_{false};
  int port_ = 0;
  absl::Mutex mutex_;
  std::list<Slot> slots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpFront>> StartHttpFront(ApiHandler handler,
                                                          int port) {
  auto front = std::make_unique<BeastHttpFront>(std::move(handler));
  if (absl::Status s = front->Listen(port); !s.ok()) return s;
  return std::unique_ptr<HttpFront>(std::move(front));
}

}  // namespace gpubinder::embedded
