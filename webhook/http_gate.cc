#include "webhook/http_gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "webhook/admission_review.h"
#include "webhook/refusal.h"

namespace gpubinder {
namespace {

struct Place {
  absl::string_view path, method;
  Route route;
};

constexpr Place kPlaces[] = {
    {"/mutate-vmi", "POST", Route::kReview},
    {"/mutate-pod", "POST", Route::kReview},
    {"/healthz", "GET", Route::kHealth},
    {"/readyz", "GET", Route::kReadiness},
};

HttpAnswer Found(int code, absl::string_view what, absl::string_view found,
                 absl::string_view want) {
  return PlainAnswer(
      code, absl::StrCat(what, ": found ", Quoted(found), ", want ", want));
}

bool IsJson(absl::string_view content_type) {
  const absl::string_view media = content_type.substr(
      0, std::min(content_type.find(';'), content_type.size()));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(media),
                                "application/json");
}

// What no place takes.
std::optional<HttpAnswer> RefusalOfAny(const RequestHead& head) {
  if (head.version != 10 && head.version != 11) {
    return PlainAnswer(505, "want HTTP/1.1");
  }
  if (head.version == 11 && head.host.empty()) {
    return PlainAnswer(400, "the field Host is missing");
  }
  if (!head.transfer_encoding.empty() &&
      !absl::EqualsIgnoreCase(head.transfer_encoding, "chunked")) {
    return Found(501, "Transfer-Encoding", head.transfer_encoding, "chunked");
  }
  if (!head.expect.empty() &&
      !absl::EqualsIgnoreCase(head.expect, "100-continue")) {
    return Found(417, "Expect", head.expect, "100-continue");
  }
  return std::nullopt;
}

}  // namespace

HttpAnswer PlainAnswer(int code, absl::string_view message) {
  return {.code = code, .body = absl::StrCat(message, "\n")};
}

HttpAnswer AnswerTo(const absl::Status& error) {
  return PlainAnswer(absl::IsUnavailable(error) ? 503 : HttpCodeOf(error),
                     error.message());
}

std::variant<Route, HttpAnswer> RouteOf(const RequestHead& head) {
  std::optional<HttpAnswer> refusal = RefusalOfAny(head);
  if (refusal.has_value()) return *std::move(refusal);
  const absl::string_view path = head.target.substr(
      0, std::min(head.target.find('?'), head.target.size()));
  for (const Place& place : kPlaces) {
    if (path != place.path) continue;
    if (head.method != place.method) {
      HttpAnswer answer = Found(405, "method", head.method, place.method);
      answer.allow = std::string(place.method);
      return answer;
    }
    if (place.route != Route::kReview) return place.route;
    if (!IsJson(head.content_type)) {
      return Found(415, "Content-Type", head.content_type, "application/json");
    }
    if (!head.content_encoding.empty() &&
        !absl::EqualsIgnoreCase(head.content_encoding, "identity")) {
      return Found(415, "Content-Encoding", head.content_encoding, "none");
    }
    return place.route;
  }
  return Found(404, "path", path,
               "/mutate-vmi, /mutate-pod, /healthz or /readyz");
}

}  // namespace gpubinder
