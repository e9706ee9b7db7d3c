#include "webhook/https_connection.h"

#include <boost/asio/post.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

// Beyond the head: what one read takes in of a body.
constexpr size_t kReadBytes = size_t{64} << 10;
constexpr size_t kFirstReadBytes = size_t{4} << 10;
// Judged one at a time from this size on.
constexpr size_t kLargeBody = size_t{1} << 20;
// What is read and dropped so that a client which still sends gets its answer.
constexpr size_t kMostDiscarded = size_t{1} << 20;

absl::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

RequestHead HeadOf(const http::request<BudgetedBody>& request) {
  const auto field = [&](http::field name) { return View(request[name]); };
  return {.method = View(request.method_string()),
          .target = View(request.target()),
          .version = static_cast<int>(request.version()),
          .host = field(http::field::host),
          .content_type = field(http::field::content_type),
          .content_encoding = field(http::field::content_encoding),
          .transfer_encoding = field(http::field::transfer_encoding),
          .expect = field(http::field::expect)};
}

http::response<http::string_body> ResponseOf(const HttpAnswer& answer) {
  http::response<http::string_body> response(
      static_cast<http::status>(answer.code), 11);
  response.set(http::field::content_type,
               answer.is_json ? "application/json" : "text/plain");
  if (!answer.allow.empty()) response.set(http::field::allow, answer.allow);
  if (answer.code == 503) response.set(http::field::retry_after, "1");
  response.body() = answer.body;
  return response;
}

// Of a request that was not well-formed or over a limit; nothing: the client
// or the connection has gone.
std::optional<HttpAnswer> AnswerToRead(boost::system::error_code error,
                                       const HttpsLimits& limits) {
  if (error == http::error::body_limit) {
    return PlainAnswer(
        413, absl::StrCat("found a body of more than ", limits.body_bytes,
                          " bytes, want at most so many"));
  }
  if (error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    return PlainAnswer(
        431, absl::StrCat("found a head of more than ", limits.header_bytes,
                          " bytes, want at most so many"));
  }
  if (error == asio::error::no_memory) {
    return PlainAnswer(503, "too many large reviews at a time, try again");
  }
  if (error == http::error::end_of_stream ||
      error == http::error::partial_message) {
    return std::nullopt;
  }
  if (error.category() == http::make_error_code(http::error{}).category()) {
    return PlainAnswer(
        400, absl::StrCat("found no HTTP/1.1 request: ", error.message()));
  }
  return std::nullopt;
}

}  // namespace

HttpsConnection::HttpsConnection(asio::ip::tcp::socket socket,
                                 asio::ssl::context& context,
                                 HttpsShared& shared)
    : shared_(shared),
      stream_(std::move(socket), context),
      buffer_(shared.options.limits.header_bytes + kReadBytes) {}

template <typename Duration>
void HttpsConnection::Within(Duration limit) {
  tcp().expires_after(absl::ToChronoNanoseconds(limit));
}

void HttpsConnection::Begin() {
  Within(shared_.options.limits.handshake);
  stream_.async_handshake(
      asio::ssl::stream_base::server,
      [self = shared_from_this()](Error error) { self->OnHandshake(error); });
}

void HttpsConnection::EndSoon() {
  // Idle: what waits for the next request is told, and says farewell. Within
  // the handshake nothing is lost yet.
  if (idle_place_.has_value() || !greeted_) tcp().cancel();
}

void HttpsConnection::Abort() {
  LeaveIdle();
  tcp().close();
}

void HttpsConnection::OnHandshake(Error error) {
  if (error || shared_.stopping) {
    if (error) shared_.Count(HttpsEvent::kNoHandshake);
    return End();
  }
  greeted_ = true;
  AwaitRequest();
}

void HttpsConnection::AwaitRequest() {
  // Frees the last request's body, and its share of the budget.
  parser_.reset();
  response_.reset();
  if (shared_.stopping) return SayFarewell();
  if (buffer_.size() > 0) return ReadHead();  // pipelined
  idle_place_ = shared_.idle.insert(shared_.idle.end(), this);
  Within(shared_.options.limits.idle);
  stream_.async_read_some(
      buffer_.prepare(kFirstReadBytes),
      [self = shared_from_this()](Error error, size_t bytes) {
        self->OnFirstBytes(error, bytes);
      });
}

void HttpsConnection::OnFirstBytes(Error error, size_t bytes) {
  LeaveIdle();
  if (error == beast::error::timeout) return End();
  if (error) return SayFarewell();
  buffer_.commit(bytes);
  ReadHead();
}

void HttpsConnection::ReadHead() {
  const HttpsLimits& limits = shared_.options.limits;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(limits.header_bytes));
  parser_->body_limit(limits.body_bytes);
  parser_->get().body().Use(&shared_.bodies);
  Within(limits.request);  // of head and body
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](Error error, size_t) {
                            self->OnHead(error);
                          });
}

void HttpsConnection::OnHead(Error error) {
  if (error) return OnBadRequest(error);
  std::variant<Route, HttpAnswer> route = RouteOf(HeadOf(parser_->get()));
  if (const auto* refusal = std::get_if<HttpAnswer>(&route)) {
    return Answer(*refusal);
  }
  switch (std::get<Route>(route)) {
    case Route::kHealth:
      return Answer(PlainAnswer(200, "ok"));
    case Route::kReadiness: {
      if (shared_.draining) return Answer(PlainAnswer(503, "ending"));
      const absl::Status health = shared_.options.health();
      return Answer(health.ok() ? PlainAnswer(200, "ok")
                                : PlainAnswer(503, health.message()));
    }
    case Route::kReview:
      break;
  }
  if (parser_->get()[http::field::expect].empty() || parser_->is_done()) {
    return ReadBody();
  }
  response_.emplace(http::status::continue_, 11);
  http::async_write(stream_, *response_,
                    [self = shared_from_this()](Error failed, size_t) {
                      if (failed) return self->OnBadRequest(failed);
                      self->ReadBody();
                    });
}

void HttpsConnection::ReadBody() {
  if (parser_->is_done()) return Review();
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](Error error, size_t) {
                     if (error) return self->OnBadRequest(error);
                     self->Review();
                   });
}

void HttpsConnection::OnBadRequest(Error error) {
  if (error == beast::error::timeout) {
    shared_.Count(HttpsEvent::kTooSlow);
    return End();
  }
  const std::optional<HttpAnswer> answer =
      AnswerToRead(error, shared_.options.limits);
  if (answer.has_value()) return Answer(*answer);
  shared_.Count(HttpsEvent::kCutShort);
  SayFarewell();
}

void HttpsConnection::Review() {
  if (const absl::Status health = shared_.options.health(); !health.ok()) {
    return Answer(PlainAnswer(503, health.message()));
  }
  tcp().expires_never();
  auto job = [self = shared_from_this(), queued = Clock::now()]() mutable {
    HttpAnswer answer = self->Judge(queued);
    // Moved, so that the last owner is the server's thread.
    asio::io_context& io = self->shared_.io;
    asio::post(io, [owner = std::move(self), answer = std::move(answer)] {
      owner->Answer(answer);
    });
  };
  if (parser_->get().body().text().size() >= kLargeBody) {
    asio::post(shared_.large, std::move(job));
  } else {
    asio::post(shared_.reviewers, std::move(job));
  }
}

// On a reviewer's thread, while this connection does nothing else.
HttpAnswer HttpsConnection::Judge(Clock::time_point queued) const {
  const absl::Duration waited = absl::FromChrono(Clock::now() - queued);
  if (waited > shared_.options.limits.queue) {
    return PlainAnswer(503, "too many reviews at a time, try again");
  }
  absl::StatusOr<std::string> review =
      shared_.options.review(parser_->get().body().text());
  if (!review.ok()) return AnswerTo(review.status());
  return {.code = 200, .body = *std::move(review), .is_json = true};
}

void HttpsConnection::Answer(const HttpAnswer& answer) {
  if (answer.code >= 500) {
    shared_.Count(HttpsEvent::kFailed);
  } else if (answer.code >= 400) {
    shared_.Count(HttpsEvent::kRefused);
  } else if (answer.is_json) {
    shared_.Count(HttpsEvent::kAnswered);
  }
  const absl::Duration age = absl::FromChrono(Clock::now() - begun_);
  // What was not read of a request would be taken for the next one.
  const bool keep = parser_->is_done() && parser_->get().keep_alive() &&
                    !shared_.draining && age < shared_.options.limits.age;
  response_ = ResponseOf(answer);
  response_->version(parser_->get().version() == 10 ? 10 : 11);
  response_->keep_alive(keep);
  response_->prepare_payload();
  Within(shared_.options.limits.answer);
  http::async_write(stream_, *response_,
                    [self = shared_from_this()](Error error, size_t) {
                      self->OnAnswered(error);
                    });
}

void HttpsConnection::OnAnswered(Error error) {
  if (error == beast::error::timeout) shared_.Count(HttpsEvent::kTooSlow);
  if (error) return End();
  if (response_->keep_alive()) return AwaitRequest();
  SayFarewell();
}

// Ours is the last word, said so in TLS and in TCP; then what the client still
// sends is read for a little, since to close before that would reset the
// connection and could take the answer with it.
void HttpsConnection::SayFarewell() {
  Within(shared_.options.limits.linger);
  stream_.async_shutdown([self = shared_from_this()](Error error) {
    if (error == beast::error::timeout) return self->End();
    Error ignored;
    self->tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send,
                                  ignored);
    if (ignored) return self->End();
    self->buffer_.clear();
    self->Discard();
  });
}

void HttpsConnection::Discard() {
  tcp().async_read_some(buffer_.prepare(kFirstReadBytes),
                        [self = shared_from_this()](Error error, size_t bytes) {
                          self->discarded_ += bytes;
                          if (error || self->discarded_ > kMostDiscarded)
                            return self->End();
                          self->Discard();
                        });
}

void HttpsConnection::LeaveIdle() {
  if (!idle_place_.has_value()) return;
  shared_.idle.erase(*idle_place_);
  idle_place_.reset();
}

void HttpsConnection::End() {
  if (ended_) return;
  ended_ = true;
  LeaveIdle();
  tcp().close();
  shared_.connections.erase(shared_from_this());
  shared_.open = shared_.connections.size();
  shared_.on_end();
}

}  // namespace gpubinder
