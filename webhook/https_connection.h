// One connection of the admission server, and what all of them share. Inside
// https_server only: heavy headers.
//
//   handshake -> idle -> head -> body -> review -> answer -> idle | farewell
//                         |        |                 ^
//                         +--------+---- refusal ----+
//
// Everything runs on the server's one thread but the review itself.

#ifndef WEBHOOK_HTTPS_CONNECTION_H_
#define WEBHOOK_HTTPS_CONNECTION_H_

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <set>

#include "webhook/body_budget.h"
#include "webhook/http_gate.h"
#include "webhook/https_server.h"

namespace gpubinder {

class HttpsConnection;

// What the connections of a server share. The server's thread only, but where
// said.
struct HttpsShared {
  explicit HttpsShared(HttpsOptions given)
      : options(std::move(given)), bodies(options.limits.bodies_bytes) {}

  const HttpsOptions options;
  BodyBudget bodies;
  std::list<HttpsConnection*> idle;  // longest first
  boost::asio::io_context io{1};
  boost::asio::thread_pool reviewers{
      static_cast<size_t>(options.review_threads)};
  // Large bodies are judged one at a time: each costs memory of several times
  // its size.
  boost::asio::strand<boost::asio::thread_pool::executor_type> large{
      reviewers.get_executor()};
  std::set<std::shared_ptr<HttpsConnection>> connections;
  bool stopping = false;
  std::function<void()> on_end;  // of each connection

  // From any thread.
  std::atomic<bool> draining = false;
  std::atomic<size_t> open = 0;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(HttpsEvent::kEvents)>
      counts{};
  void Count(HttpsEvent event) { ++counts[static_cast<size_t>(event)]; }
};

class HttpsConnection : public std::enable_shared_from_this<HttpsConnection> {
 public:
  // `shared` outlives it; it is in shared.connections till its end.
  HttpsConnection(boost::asio::ip::tcp::socket socket,
                  boost::asio::ssl::context& context, HttpsShared& shared);

  void Begin();
  // Ends it if nothing is under way; else its next answer is its last.
  void EndSoon();
  // Ends it now, whatever is under way.
  void Abort();

 private:
  using Error = boost::system::error_code;

  void OnHandshake(Error error);
  void AwaitRequest();
  void OnFirstBytes(Error error, size_t bytes);
  void ReadHead();
  void OnHead(Error error);
  void ReadBody();
  void OnBadRequest(Error error);
  void Review();
  HttpAnswer Judge(std::chrono::steady_clock::time_point queued) const;
  void Answer(const HttpAnswer& answer);
  void OnAnswered(Error error);
  void SayFarewell();
  void Discard();
  void LeaveIdle();
  void End();

  boost::beast::tcp_stream& tcp() { return stream_.next_layer(); }
  template <typename Duration>
  void Within(Duration limit);

  HttpsShared& shared_;
  boost::beast::ssl_stream<boost::beast::tcp_stream> stream_;
  const std::chrono::steady_clock::time_point begun_ =
      std::chrono::steady_clock::now();
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<BudgetedBody>> parser_;
  std::optional<boost::beast::http::response<boost::beast::http::string_body>>
      response_;
  bool greeted_ = false;  // the handshake is done
  bool ended_ = false;
  size_t discarded_ = 0;
  std::optional<std::list<HttpsConnection*>::iterator> idle_place_;
};

}  // namespace gpubinder

#endif  // WEBHOOK_HTTPS_CONNECTION_H_
