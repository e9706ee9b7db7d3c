#include "k8s/embedded/embedded_api_client.h"

#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr absl::Duration kLookForStop = absl::Milliseconds(50);

std::string Escaped(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                       c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      absl::StrAppend(&out, "%",
                      absl::BytesToHexString(absl::string_view(&c, 1)));
    }
  }
  return out;
}

class Query {
 public:
  void Add(absl::string_view name, absl::string_view value) {
    if (!value.empty())
      parts_.push_back(absl::StrCat(name, "=", Escaped(value)));
  }
  std::string Text() const {
    return parts_.empty() ? "" : absl::StrCat("?", absl::StrJoin(parts_, "&"));
  }

 private:
  std::vector<std::string> parts_;
};

ApiError ErrorOf(const ApiResponse& response) {
  ApiError error;
  error.code = response.code;
  error.sent = true;
  error.retry_after = absl::Seconds(response.retry_after_seconds);
  if (const absl::StatusOr<Json> status = ParseJson(response.body);
      status.ok()) {
    error.reason = TextAt(*status, {"reason"});
    error.message = TextAt(*status, {"message"});
  }
  return error;
}

class EmbeddedApiClient final : public ApiClient {
 public:
  EmbeddedApiClient(ApiHandler handler, absl::string_view user,
                    FaultHook faults)
      : handler_(std::move(handler)), user_(user), faults_(std::move(faults)) {}

  absl::StatusOr<std::string> Get(const ResourcePath& path,
                                  absl::Duration) override {
    return Call("GET", PathText(path), "", "");
  }

  absl::StatusOr<std::string> List(const ResourcePath& path,
                                   const ListOptions& options) override {
    Query query;
    if (options.limit > 0) query.Add("limit", absl::StrCat(options.limit));
    query.Add("continue", options.continue_token);
    query.Add("resourceVersion", options.resource_version);
    query.Add("labelSelector", options.label_selector);
    query.Add("fieldSelector", options.field_selector);
    return Call("GET", PathText(path) + query.Text(), "", "");
  }

  absl::Status Watch(
      const ResourcePath& path, const WatchOptions& options,
      const std::function<bool(absl::string_view)>& on_event) override;

  absl::StatusOr<std::string> Create(const ResourcePath& path,
                                     absl::string_view body,
                                     absl::Duration) override {
    return Call("POST", PathText(path), "application/json", body);
  }
  absl::StatusOr<std::string> Replace(const ResourcePath& path,
                                      absl::string_view body,
                                      absl::Duration) override {
    return Call("PUT", PathText(path), "application/json", body);
  }
  absl::StatusOr<std::string> Patch(const ResourcePath& path, PatchType type,
                                    absl::string_view body,
                                    absl::Duration) override {
    return Call("PATCH", PathText(path),
                type == PatchType::kJson ? "application/json-patch+json"
                                         : "application/merge-patch+json",
                body);
  }
  absl::StatusOr<std::string> Delete(const ResourcePath& path,
                                     absl::string_view body,
                                     absl::Duration) override {
    return Call("DELETE", PathText(path), "application/json", body);
  }
  void Stop() override { stopped_ = true; }

 private:
  ApiRequest RequestOf(absl::string_view method, std::string target) const {
    ApiRequest request;
    request.method = std::string(method);
    request.target = std::move(target);
    request.accept = "application/json";
    request.user = user_;
    return request;
  }

  absl::StatusOr<std::string> Call(absl::string_view method, std::string target,
                                   absl::string_view content_type,
                                   absl::string_view body) {
    ApiRequest request = RequestOf(method, std::move(target));
    request.content_type = std::string(content_type);
    request.body = std::string(body);
    const std::string what = absl::StrCat(method, " ", request.target);
    if (stopped_) return absl::CancelledError(absl::StrCat(what, ": stopped"));
    const Fault fault = faults_ ? faults_(request) : Fault{};
    if (fault.kind == Fault::Kind::kRefuse) {
      return StatusOfApiError(fault.error, what);
    }
    const ApiAnswer answer = handler_(request);
    if (fault.kind == Fault::Kind::kLoseAnswer) {
      return StatusOfApiError(fault.error, what);
    }
    if (answer.response.code / 100 != 2) {
      return StatusOfApiError(ErrorOf(answer.response), what);
    }
    return answer.response.body;
  }

  const ApiHandler handler_;
  const std::string user_;
  const FaultHook faults_;
  std::atomic<bool> stopped_{false};
};

absl::Status EmbeddedApiClient::Watch(
    const ResourcePath& path, const WatchOptions& options,
    const std::function<bool(absl::string_view)>& on_event) {
  const bool poll = options.timeout <= absl::ZeroDuration();
  Query query;
  query.Add("watch", "true");
  query.Add("resourceVersion", options.resource_version);
  query.Add("labelSelector", options.label_selector);
  query.Add("fieldSelector", options.field_selector);
  if (options.bookmarks) query.Add("allowWatchBookmarks", "true");
  if (!poll) {
    const int64_t seconds = absl::ToInt64Seconds(options.timeout);
    query.Add("timeoutSeconds", absl::StrCat(seconds < 1 ? 1 : seconds));
  }
  const ApiRequest request = RequestOf("GET", PathText(path) + query.Text());
  const std::string what = absl::StrCat("watch ", request.target);
  if (stopped_) return absl::CancelledError(absl::StrCat(what, ": stopped"));
  const Fault fault = faults_ ? faults_(request) : Fault{};
  if (fault.kind != Fault::Kind::kNone) {
    return StatusOfApiError(fault.error, what);
  }
  const ApiAnswer answer = handler_(request);
  if (answer.watch == nullptr) {
    return StatusOfApiError(ErrorOf(answer.response), what);
  }
  std::string line;
  while (true) {
    const WatchStream::State state =
        answer.watch->Next(poll ? absl::ZeroDuration() : kLookForStop, line);
    if (stopped_) return absl::CancelledError(absl::StrCat(what, ": stopped"));
    if (state == WatchStream::State::kEnded) return absl::OkStatus();
    if (state == WatchStream::State::kLine) {
      line.pop_back();  // the newline frames it on the wire
      if (!on_event(line)) return absl::OkStatus();
    } else if (poll) {
      if (answer.watch->TakeBookmark(line)) {
        line.pop_back();
        on_event(line);
      }
      return absl::OkStatus();
    }
  }
}

}  // namespace

std::unique_ptr<ApiClient> NewEmbeddedApiClient(ApiHandler handler,
                                                absl::string_view user,
                                                FaultHook faults) {
  return std::make_unique<EmbeddedApiClient>(std::move(handler), user,
                                             std::move(faults));
}

}  // namespace gpubinder::embedded
