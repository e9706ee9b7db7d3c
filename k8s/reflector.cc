#include "k8s/reflector.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "k8s/kinds.h"
#include "k8s/raw_json.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kNotServedWait = absl::Minutes(1);
constexpr absl::Duration kShortWatch = absl::Seconds(1);

ReflectedEvent::Type TypeOf(WatchLine::Type type) {
  switch (type) {
    case WatchLine::Type::kAdded:
      return ReflectedEvent::kAdded;
    case WatchLine::Type::kModified:
      return ReflectedEvent::kModified;
    case WatchLine::Type::kDeleted:
      return ReflectedEvent::kDeleted;
    case WatchLine::Type::kBookmark:
    case WatchLine::Type::kError:
      break;
  }
  CheckFailed("a type of an object's event", __FILE__, __LINE__);
}

ResourcePath PathOf(const ReflectorOptions& options) {
  ResourcePath path = ResourcePathOf(options.kind);
  path.name_space = options.name_space;
  return path;
}

// Versions are decimal numbers of any length without leading zeros, in order
// within a kind (KEP-5504).
bool IsOlder(absl::string_view a, absl::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

ReflectorTiming RealReflectorTiming() {
  auto random = std::make_shared<std::mt19937_64>(std::random_device{}());
  return {
      .now =
          [] {
            return absl::UnixEpoch() +
                   absl::FromChrono(
                       std::chrono::steady_clock::now().time_since_epoch());
          },
      .wait =
          [](absl::Duration wait, const absl::Notification& stop) {
            stop.WaitForNotificationWithTimeout(wait);
          },
      .jitter =
          [random](absl::Duration limit) {
            std::uniform_int_distribution<int64_t> spread(
                0, absl::ToInt64Milliseconds(limit));
            return absl::Milliseconds(spread(*random));
          },
  };
}

Reflector::Reflector(ReflectorOptions options, ApiClient& client,
                     ReflectorTiming timing)
    : options_(std::move(options)),
      path_(PathOf(options_)),
      client_(client),
      timing_(std::move(timing)),
      backoff_(timing_.jitter) {}

Reflector::~Reflector() {
  if (thread_.joinable()) Stop();
}

void Reflector::Start() {
  BINDER_CHECK(!thread_.joinable());
  BINDER_CHECK(!stop_.HasBeenNotified());
  thread_ = std::thread([this] { Main(); });
}

void Reflector::Stop() {
  if (!stop_.HasBeenNotified()) stop_.Notify();
  if (thread_.joinable()) thread_.join();
}

void Reflector::Main() {
  Next next = Next::kList;
  while (next != Next::kStop && !stop_.HasBeenNotified()) {
    switch (next) {
      case Next::kList:
        next = ListOnce(options_.page_limit);
        break;
      case Next::kListUnpaged:
        next = ListOnce(0);
        break;
      case Next::kWatch:
        next = WatchOnce();
        break;
      case Next::kStop:
        break;
    }
  }
}

Reflector::Next Reflector::ListOnce(int limit) {
  std::string continue_token;
  const absl::Status status = ListPages(limit, continue_token);
  if (stop_.HasBeenNotified() || absl::IsCancelled(status)) return Next::kStop;
  if (!status.ok()) return AfterFailedList(status, !continue_token.empty());
  Emit(ReflectedEvent::kListEnded, {.resource_version = version_});
  return Next::kWatch;
}

// The version unset, so that the list is not older than any write that was
// answered before it (a cache's answer may be).
absl::Status Reflector::ListPages(int limit, std::string& continue_token) {
  bool has_begun = false;
  do {
    absl::StatusOr<std::string> page =
        client_.List(path_, {.limit = limit,
                             .continue_token = continue_token,
                             .label_selector = options_.label_selector,
                             .field_selector = options_.field_selector,
                             .timeout = options_.list_timeout});
    if (!page.ok()) return page.status();
    if (!has_begun) {
      if (serving_ != Serving::kServed) Emit(ReflectedEvent::kServed, {});
      serving_ = Serving::kServed;
      Emit(ReflectedEvent::kListBegan, {});
      has_begun = true;
    }
    absl::StatusOr<ListPage> split =
        SplitList(*std::move(page), [this](RawObject object) {
          Emit(ReflectedEvent::kListed, std::move(object));
        });
    if (!split.ok()) return split.status();
    version_ = split->resource_version;
    continue_token = split->continue_token;
  } while (!continue_token.empty() && !stop_.HasBeenNotified());
  return absl::OkStatus();
}

Reflector::Next Reflector::AfterFailedList(const absl::Status& status,
                                           bool on_continue) {
  if (absl::IsNotFound(status)) {
    if (serving_ != Serving::kNotServed) Emit(ReflectedEvent::kNotServed, {});
    serving_ = Serving::kNotServed;
    WaitAfter(status, kNotServedWait);
    return Next::kList;
  }
  WaitAfter(status, absl::ZeroDuration());
  // The pages took longer than the server keeps their version: take it all at
  // once, or the same could happen for ever.
  return absl::IsOutOfRange(status) && on_continue ? Next::kListUnpaged
                                                   : Next::kList;
}

Reflector::Next Reflector::WatchOnce() {
  const absl::Time begun = timing_.now();
  absl::Status trouble;
  int lines = 0;
  const absl::Status status = client_.Watch(
      path_,
      {.resource_version = version_,
       .label_selector = options_.label_selector,
       .field_selector = options_.field_selector,
       .timeout = options_.watch_timeout},
      [&](absl::string_view line) { return TakeLine(line, trouble, lines); });
  if (stop_.HasBeenNotified() || absl::IsCancelled(status)) return Next::kStop;
  if (!trouble.ok()) return AfterFailedWatch(trouble);
  if (!status.ok()) return AfterFailedWatch(status);
  if (lines > 0) return Next::kWatch;
  if (timing_.now() - begun < kShortWatch) {
    return AfterFailedWatch(absl::DataLossError(absl::StrCat(
        "watch ", path_.plural, ": ended within a second without an event")));
  }
  return ProbeVersion();
}

// False ends the watch: `trouble` says why, or it is the stop.
bool Reflector::TakeLine(absl::string_view text, absl::Status& trouble,
                         int& lines) {
  if (stop_.HasBeenNotified()) return false;
  absl::StatusOr<WatchLine> line = ReadWatchLine(text);
  if (!line.ok()) {
    trouble = line.status();
    return false;
  }
  if (line->type == WatchLine::Type::kError) {
    line->error.sent = true;
    if (line->error.code == 0) line->error.code = 500;  // not a cut connection
    trouble =
        StatusOfApiError(line->error, absl::StrCat("watch ", path_.plural));
    return false;
  }
  ++lines;
  version_ = line->object.resource_version;
  if (line->type != WatchLine::Type::kBookmark) {
    Emit(TypeOf(line->type), std::move(line->object));
  }
  return true;
}

Reflector::Next Reflector::AfterFailedWatch(const absl::Status& status) {
  WaitAfter(status, absl::ZeroDuration());
  // Nothing was said about our version: it is still good, and a list of every
  // kind by every client is the last thing a server that comes up needs.
  const bool was_cut =
      absl::IsDeadlineExceeded(status) && ApiErrorOf(status).code == 0;
  return absl::IsUnavailable(status) || was_cut ? Next::kWatch : Next::kList;
}

// A version of the future is watched in silence. That is seen only here.
Reflector::Next Reflector::ProbeVersion() {
  absl::StatusOr<std::string> page =
      client_.List(path_, {.limit = 1, .timeout = options_.list_timeout});
  if (!page.ok()) {
    if (absl::IsCancelled(page.status())) return Next::kStop;
    return AfterFailedWatch(page.status());
  }
  absl::StatusOr<ListPage> split =
      SplitList(*std::move(page), [](RawObject) {});
  if (!split.ok()) return AfterFailedWatch(split.status());
  return IsOlder(split->resource_version, version_) ? Next::kList
                                                    : Next::kWatch;
}

void Reflector::Emit(ReflectedEvent::Type type, RawObject object) {
  options_.sink({.type = type,
                 .kind = options_.kind,
                 .name_space = std::move(object.name_space),
                 .name = std::move(object.name),
                 .uid = std::move(object.uid),
                 .resource_version = std::move(object.resource_version),
                 .json = std::move(object.json)});
}

void Reflector::WaitAfter(const absl::Status& status, absl::Duration at_least) {
  const absl::Duration wait = std::max(
      {backoff_.Next(timing_.now()), at_least, ApiErrorOf(status).retry_after});
  if (options_.on_trouble) options_.on_trouble(status, wait);
  timing_.wait(wait, stop_);
}

}  // namespace gpubinder
