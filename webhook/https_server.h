// The admission server: HTTP/1.1 over TLS 1.2 and 1.3 for whatever answers
// reviews; see http_gate.h for what it serves.
//
//   absl::StatusOr<std::unique_ptr<HttpsServer>> server = HttpsServer::Start(
//       {.address = "0.0.0.0:9443",
//        .certificate_directory = "/etc/gpubinder/tls",
//        .review = [&](absl::string_view body) {
//          return AdmitAndAttach(body, admission);
//        },
//        .health = [&] { return loop.Health(); }});
//   ...
//   (*server)->BeginDrain();             // /readyz fails; all else goes on
//   (*server)->Stop(absl::Seconds(10));  // ends what is idle, finishes what is
//   under way
//
// One thread has all connections and does TLS, a few others judge reviews; a
// request waits for nobody but these. What a client sends, whatever it is,
// ends in an answer or in a closed connection within the limits below, and
// memory is bounded by them.

#ifndef WEBHOOK_HTTPS_SERVER_H_
#define WEBHOOK_HTTPS_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "webhook/admission_review.h"

namespace gpubinder {

struct HttpsLimits {
  size_t header_bytes = size_t{16} << 10;  // over it: 431
  size_t body_bytes = kMostReviewBytes;    // over it: 413
  size_t bodies_bytes = size_t{32} << 20;  // held at one time; over it: 503
  // A newcomer over them takes the place of the connection that is idle for
  // longest; is none idle, it is closed.
  size_t connections = 256;

  // Over these the connection is closed: the whole handshake, a request from
  // its first byte to its last, the time between requests, the sending of an
  // answer.
  absl::Duration handshake = absl::Seconds(5);
  absl::Duration request = absl::Seconds(10);
  absl::Duration idle = absl::Minutes(2);
  absl::Duration answer = absl::Seconds(10);
  // What a client has to take note of the end of a connection.
  absl::Duration linger = absl::Seconds(1);
  // The API server keeps to one replica while its connection lives, so an
  // answer after this time is the connection's last.
  absl::Duration age = absl::Minutes(10);
  // How long a review may wait to be begun; over it: 503. The API server waits
  // 10 s in all.
  absl::Duration queue = absl::Seconds(4);
};

struct HttpsOptions {
  // ADDRESS:PORT or [ADDRESS]:PORT; port 0: any free one. No names.
  std::string address = "127.0.0.1:0";
  std::string certificate_directory;  // certificate.h
  // The AdmissionReview that answers `body`, or the error that is the answer
  // (AnswerTo of http_gate.h). On several threads, and may block, within a
  // bound of its own.
  std::function<absl::StatusOr<std::string>(absl::string_view body)> review;
  // Whether reviews can be answered; an error makes both /readyz and each
  // review a 503 with its message. Must not block.
  std::function<absl::Status()> health;
  // Certificates that are refused, once for each reason, and those that are
  // taken (OK). On the server's thread; may be empty.
  std::function<void(const absl::Status&)> on_certificate;
  std::function<absl::Time()> clock = absl::Now;  // for certificates
  absl::Duration certificate_look = absl::Seconds(10);
  int review_threads = 4;
  HttpsLimits limits;
};

// What has happened since the start.
enum class HttpsEvent {
  kAccepted,
  kOverLimit,    // closed at once: too many connections
  kMadeRoom,     // closed while idle, for a newcomer
  kNoHandshake,  // failed, or too slow
  kTooSlow,      // closed for the time of a request or of an answer
  kCutShort,     // the client has gone within a request
  kAnswered,     // 200 to a review
  kRefused,      // 4xx
  kFailed,       // 5xx
  kPairTaken,    // new certificates
  kPairRefused,  // looks that found bad ones
  kEvents,       // how many of these there are
};

class HttpsServer {
 public:
  // Listens. Errors: those of ServingCertificate::Open; kInvalidArgument: the
  // address is none; kUnavailable: it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<HttpsServer>> Start(
      HttpsOptions options);
  // Stops, without waiting for what is under way.
  virtual ~HttpsServer() = default;

  virtual int port() const = 0;

  // From now on /readyz is 503 and each answer the last of its connection;
  // else all goes on. For the time until nobody is sent here any more.
  virtual void BeginDrain() = 0;
  // Closes what is idle and waits for what is under way, for `limit` and then
  // the bound of one review at most. Blocks; further calls do nothing.
  virtual void Stop(absl::Duration limit) = 0;

  // Looks at the certificates now, as happens every certificate_look, and
  // returns what came of it: an error when those that are there are refused.
  // Blocks for it. Not after Stop.
  virtual absl::Status LookAtCertificates() = 0;
  // Until when the certificate in use is valid.
  virtual absl::Time certificate_end() const = 0;

  virtual uint64_t Count(HttpsEvent event) const = 0;
  virtual size_t open_connections() const = 0;
};

}  // namespace gpubinder

#endif  // WEBHOOK_HTTPS_SERVER_H_
