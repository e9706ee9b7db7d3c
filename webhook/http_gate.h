// What a request to the admission server is worth by its head alone. Pure.
//
//   POST /mutate-vmi, /mutate-pod   application/json: an AdmissionReview
//   GET  /healthz, /readyz
//
// A query is legal and not looked at: the API server adds ?timeout=10s.

#ifndef WEBHOOK_HTTP_GATE_H_
#define WEBHOOK_HTTP_GATE_H_

#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

// Of a head that is well-formed HTTP. A field that is not there is empty.
struct RequestHead {
  absl::string_view method, target;
  int version = 11;  // 10: HTTP/1.0
  absl::string_view host, content_type, content_encoding, transfer_encoding,
      expect;
};

struct HttpAnswer {
  int code = 200;
  std::string body;
  bool is_json = false;  // else plain text
  std::string allow;     // the field Allow, with 405
};

// One that says why not; `message` ends in no newline.
HttpAnswer PlainAnswer(int code, absl::string_view message);
// An error's: 503 for kUnavailable, which also asks to be tried again, else
// HttpCodeOf (admission_review.h).
HttpAnswer AnswerTo(const absl::Status& error);

enum class Route { kReview, kHealth, kReadiness };

// Where the request leads, or the 4xx or 501 that refuses it. O(size of the
// head).
std::variant<Route, HttpAnswer> RouteOf(const RequestHead& head);

}  // namespace gpubinder

#endif  // WEBHOOK_HTTP_GATE_H_
