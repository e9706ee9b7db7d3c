#include "k8s/http_api_client.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_call.h"
#include "k8s/api_client.h"
#include "k8s/bearer_token.h"
#include "k8s/curl_loop.h"
#include "k8s/line_splitter.h"
#include "k8s/raw_json.h"
#include "k8s/transfer.h"

namespace gpubinder {
namespace {

// Longer than any we can need; a continue token is a kilobyte or so.
constexpr size_t kMaxTargetBytes = size_t{1} << 20;

absl::Time SteadyNow() {
  return absl::UnixEpoch() +
         absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

bool IsSuccess(int http_code) { return http_code >= 200 && http_code < 300; }

// A page of a gigabyte is not parsed only to see whether it is JSON: whoever
// splits it finds out.
bool LooksLikeObject(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  return absl::StartsWith(text, "{") && absl::EndsWith(text, "}");
}

absl::Status Stopped(const ApiCall& call, const TransferEnd& end) {
  return WithApiError(
      absl::CancelledError(absl::StrCat(call.what, ": ", end.trouble)),
      {.message = end.trouble, .sent = end.sent});
}

absl::Status NotSent(const ApiCall& call, const std::string& why) {
  return StatusOfApiError({.message = why}, call.what);
}

absl::Status WithoutToken(const ApiCall& call, const absl::Status& status) {
  return WithApiError(absl::UnauthenticatedError(
                          absl::StrCat(call.what, ": ", status.message())),
                      {.message = std::string(status.message())});
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpApiClient>> HttpApiClient::Open(
    const Identity& identity, HttpApiOptions options) {
  absl::StatusOr<Endpoint> endpoint = EndpointOf(identity);
  if (!endpoint.ok()) return endpoint.status();
  endpoint->user_agent = options.user_agent;
  endpoint->connect_timeout = options.connect_timeout;
  return std::unique_ptr<HttpApiClient>(
      new HttpApiClient(identity, std::move(options),
                        std::make_unique<CurlLoop>(*std::move(endpoint))));
}

HttpApiClient::HttpApiClient(const Identity& identity, HttpApiOptions options,
                             std::unique_ptr<CurlLoop> loop)
    : options_(std::move(options)),
      disable_compression_(identity.disable_compression),
      token_(std::make_unique<BearerToken>(identity.token, identity.token_file,
                                           &SteadyNow)),
      loop_(std::move(loop)) {}

HttpApiClient::~HttpApiClient() = default;

absl::StatusOr<std::string> HttpApiClient::Get(const ResourcePath& path,
                                               absl::Duration timeout) {
  return Call(GetCall(path, timeout));
}

absl::StatusOr<std::string> HttpApiClient::List(const ResourcePath& path,
                                                const ListOptions& options) {
  return Call(ListCall(path, options));
}

absl::StatusOr<std::string> HttpApiClient::Create(const ResourcePath& path,
                                                  absl::string_view body,
                                                  absl::Duration timeout) {
  return Call(CreateCall(path, body, timeout));
}

absl::StatusOr<std::string> HttpApiClient::Replace(const ResourcePath& path,
                                                   absl::string_view body,
                                                   absl::Duration timeout) {
  return Call(ReplaceCall(path, body, timeout));
}

absl::StatusOr<std::string> HttpApiClient::Patch(const ResourcePath& path,
                                                 PatchType type,
                                                 absl::string_view body,
                                                 absl::Duration timeout) {
  return Call(PatchCall(path, type, body, timeout));
}

absl::StatusOr<std::string> HttpApiClient::Delete(const ResourcePath& path,
                                                  absl::string_view body,
                                                  absl::Duration timeout) {
  return Call(DeleteCall(path, body, timeout));
}

void HttpApiClient::Stop() { loop_->Stop(); }

absl::StatusOr<std::string> HttpApiClient::Call(const ApiCall& call) {
  const absl::Time deadline = SteadyNow() + call.timeout;
  const bool is_page = call.shape == ApiCall::Shape::kPage;
  for (bool is_second = false;; is_second = true) {
    absl::StatusOr<std::string> token = token_->Current();
    if (!token.ok()) return WithoutToken(call, token.status());
    // A second sending has what the first one left: the caller's promise that
    // nothing of it happens after `timeout` holds.
    const absl::Duration left = deadline - SteadyNow();
    if (left < absl::Milliseconds(1)) return NotSent(call, "no time left");
    TransferRequest request{
        .method = call.method,
        .target = TargetWithin(call, left),
        .content_type = call.content_type,
        .body = call.body,
        .token = *token,
        .timeout = left,
        .max_waiting_bytes =
            is_page ? options_.max_page_bytes : options_.max_object_bytes};
    if (request.target.size() > kMaxTargetBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(call.what, ": URL of ", request.target.size(),
                       " bytes; at most ", kMaxTargetBytes, " are legal"));
    }
    if (is_page && !disable_compression_) {
      request.compression = TransferRequest::Compression::kGzip;
    }
    if (call.method == "GET") {
      request.resend = TransferRequest::Resend::kOnDeadConnection;
    }
    if (connect_anew_.exchange(false)) {
      request.connection = TransferRequest::Connection::kNew;
    }
    Transfer transfer(std::move(request));
    loop_->Start(&transfer);
    std::string body = transfer.TakeAll();
    const TransferEnd end = transfer.AwaitEnd();
    if (end.timed_out) connect_anew_ = true;
    if (end.http_code == 401 && !is_second && token_->Renewed(*token)) continue;
    return Settle(call, end, std::move(body));
  }
}

absl::StatusOr<std::string> HttpApiClient::Settle(const ApiCall& call,
                                                  const TransferEnd& end,
                                                  std::string body) {
  if (end.stopped) return Stopped(call, end);
  ApiError error{
      .code = end.http_code, .retry_after = end.retry_after, .sent = end.sent};
  if (end.too_big) {
    error.message = absl::StrCat("an answer over the limit of ",
                                 call.shape == ApiCall::Shape::kPage
                                     ? options_.max_page_bytes
                                     : options_.max_object_bytes,
                                 " bytes");
    return StatusOfApiError(error, call.what);
  }
  if (!end.trouble.empty()) {
    // Half an answer is as good as none: what was done is not known.
    error.code = 0;
    error.message = end.trouble;
    return StatusOfApiError(error, call.what);
  }
  if (!IsSuccess(end.http_code)) {
    TakeStatusObject(body, error);
    return StatusOfApiError(error, call.what);
  }
  const bool is_json = call.shape == ApiCall::Shape::kPage
                           ? LooksLikeObject(body)
                           : IsJsonObject(body);
  if (!is_json) {
    error.message = absl::StrCat("an answer of ", body.size(),
                                 " bytes that is no JSON object");
    return StatusOfApiError(error, call.what);
  }
  return body;
}

absl::Status HttpApiClient::Watch(
    const ResourcePath& path, const WatchOptions& options,
    const std::function<bool(absl::string_view)>& on_event) {
  const ApiCall call = WatchCall(path, options);
  for (bool is_second = false;; is_second = true) {
    absl::StatusOr<std::string> token = token_->Current();
    if (!token.ok()) return WithoutToken(call, token.status());
    absl::Status status = Stream(call, *token, on_event);
    if (absl::IsUnauthenticated(status) && !is_second &&
        token_->Renewed(*token)) {
      continue;
    }
    return status;
  }
}

absl::Status HttpApiClient::Stream(
    const ApiCall& call, const std::string& token,
    const std::function<bool(absl::string_view)>& on_event) {
  TransferRequest request{.method = call.method,
                          .target = TargetWithin(call, call.timeout),
                          .token = token,
                          .timeout = call.timeout + options_.watch_slack,
                          .max_waiting_bytes = options_.max_waiting_watch_bytes,
                          .resend = TransferRequest::Resend::kOnDeadConnection};
  if (connect_anew_.exchange(false)) {
    request.connection = TransferRequest::Connection::kNew;
  }
  Transfer transfer(std::move(request));
  const uint64_t number = loop_->Start(&transfer);
  LineSplitter lines(options_.max_object_bytes);
  LineSplitter::Verdict verdict = LineSplitter::Verdict::kMore;
  std::string refusal;
  while (verdict == LineSplitter::Verdict::kMore) {
    const Transfer::Bytes bytes = transfer.Take();
    if (bytes.text.empty()) break;
    if (bytes.http_code == 200) {
      verdict = lines.Add(bytes.text, on_event);
    } else if (refusal.size() < options_.max_object_bytes) {
      refusal += bytes.text;
    }
  }
  if (verdict != LineSplitter::Verdict::kMore) loop_->Cancel(number);
  const TransferEnd end = transfer.AwaitEnd();
  if (verdict == LineSplitter::Verdict::kEnough) return absl::OkStatus();
  ApiError error{.code = end.http_code, .sent = end.sent};
  if (verdict == LineSplitter::Verdict::kTooLong) {
    error.message = absl::StrCat("an event over the limit of ",
                                 options_.max_object_bytes, " bytes");
    return StatusOfApiError(error, call.what);
  }
  if (end.too_big) {
    return NotSent(
        call, absl::StrCat("the events are not taken fast enough: ",
                           options_.max_waiting_watch_bytes, " bytes wait"));
  }
  if (end.trouble.empty() && end.http_code == 200) return absl::OkStatus();
  if (end.timed_out) connect_anew_ = true;
  return Settle(call, end, std::move(refusal)).status();
}

}  // namespace gpubinder
