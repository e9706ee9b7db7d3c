#include "k8s/api_client.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

constexpr char kPayload[] = "gpubinder.dev/api-error";

absl::StatusCode CodeOf(const ApiError& error) {
  if (error.code == 0) {
    return error.sent ? absl::StatusCode::kDeadlineExceeded
                      : absl::StatusCode::kUnavailable;
  }
  // A 410 came as reason Gone in old servers; a continue token's as Expired.
  if (error.reason == "Expired" || error.reason == "Gone") {
    return absl::StatusCode::kOutOfRange;
  }
  switch (error.code) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return error.reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                             : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 429:
    case 503:
      return absl::StatusCode::kUnavailable;
    case 408:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      break;
  }
  if (error.code >= 500) return absl::StatusCode::kDeadlineExceeded;
  if (error.code >= 400) return absl::StatusCode::kFailedPrecondition;
  return absl::StatusCode::kDataLoss;
}

}  // namespace

std::string EscapedForUrl(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                       c == '_' || c == '~' || c == ':';
    if (plain) {
      out.push_back(c);
    } else {
      constexpr char kHex[] = "0123456789ABCDEF";
      const auto byte = static_cast<uint8_t>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

std::string PathText(const ResourcePath& path) {
  std::string out = path.group.empty()
                        ? absl::StrCat("/api/", EscapedForUrl(path.version))
                        : absl::StrCat("/apis/", EscapedForUrl(path.group), "/",
                                       EscapedForUrl(path.version));
  if (!path.name_space.empty()) {
    absl::StrAppend(&out, "/namespaces/", EscapedForUrl(path.name_space));
  }
  absl::StrAppend(&out, "/", EscapedForUrl(path.plural));
  if (!path.name.empty()) absl::StrAppend(&out, "/", EscapedForUrl(path.name));
  if (!path.subresource.empty()) {
    absl::StrAppend(&out, "/", EscapedForUrl(path.subresource));
  }
  return out;
}

// The message comes last in the payload: it may hold any byte.
absl::Status WithApiError(absl::Status status, const ApiError& error) {
  BINDER_CHECK(!status.ok());
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(
                                  error.code, "\n", error.sent ? 1 : 0, "\n",
                                  absl::ToInt64Milliseconds(error.retry_after),
                                  "\n", error.reason, "\n", error.message)));
  return status;
}

ApiError ApiErrorOf(const absl::Status& status) {
  ApiError error;
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return error;
  const std::string text(*payload);
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('\n', 4));
  int64_t retry_after_ms = 0;
  BINDER_CHECK(parts.size() == 5);
  BINDER_CHECK(absl::SimpleAtoi(parts[0], &error.code));
  BINDER_CHECK(absl::SimpleAtoi(parts[2], &retry_after_ms));
  error.sent = parts[1] == "1";
  error.retry_after = absl::Milliseconds(retry_after_ms);
  error.reason = parts[3];
  error.message = parts[4];
  return error;
}

absl::Status StatusOfApiError(const ApiError& error, absl::string_view what) {
  std::string text = absl::StrCat(what, ": ");
  if (error.code != 0) absl::StrAppend(&text, "HTTP ", error.code, " ");
  if (!error.reason.empty()) absl::StrAppend(&text, error.reason, ": ");
  absl::StrAppend(&text, error.message.empty() ? "no message" : error.message);
  return WithApiError(absl::Status(CodeOf(error), text), error);
}

}  // namespace gpubinder
