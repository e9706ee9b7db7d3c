#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/read.h"
#include "k8s/embedded/selectors.h"
#include "k8s/embedded/table_print.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr absl::Duration kBookmarkEvery = absl::Seconds(60);
constexpr int64_t kDefaultTimeoutSeconds = 1800;

struct WatchSetup {
  ObjectPlace place;
  Selector selector;
  Form form = Form::kObject;
  std::string include_object;
  bool bookmarks = false;
  absl::Time deadline;
};

class StoreWatch final : public WatchStream {
 public:
  StoreWatch(Backend& backend, WatchSetup setup)
      : backend_(backend), setup_(std::move(setup)) {}

  // Events after `revision`.
  void StartAt(uint64_t revision) { position_ = said_ = revision; }
  // What is there now as ADDED, and a mark after it when asked for.
  void StartWithAll(bool end_mark);
  // One error line, then the end: what a watch from too far back gets.
  void StartExpired(uint64_t wanted, uint64_t compacted);

  State Next(absl::Duration wait, std::string& line) override;
  bool TakeBookmark(std::string& line) override;

 private:
  // The event as this watch sees it; empty when it does not concern it.
  std::string LineFor(const StoreEvent& event);
  std::string Line(absl::string_view type, const JsonPtr& object);
  std::string Bookmark(uint64_t revision, bool initial_end);
  bool Concerns(const StoreEvent& event) const;
  // Moves over events that do not concern this watch, to one that does.
  const StoreEvent* NextEvent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(backend_.mutex);

  Backend& backend_;
  const WatchSetup setup_;
  std::deque<std::string> pending_;
  uint64_t position_ = 0;
  uint64_t said_ = 0;  // the last revision that the client was told
  absl::Time last_line_ = absl::Now();
  bool columns_sent_ = false;
  bool ended_ = false;  // after the pending lines
};

void StoreWatch::StartWithAll(bool end_mark) {
  std::vector<JsonPtr> all;
  {
    absl::MutexLock lock(&backend_.mutex);
    all = backend_.store.List(setup_.place.resource->QualifiedPlural(),
                              setup_.place.name_space);
    position_ = backend_.store.revision();
  }
  for (const JsonPtr& object : all) {
    if (setup_.selector.Matches(*object)) {
      pending_.push_back(Line("ADDED", object));
    }
  }
  said_ = position_;
  if (end_mark) pending_.push_back(Bookmark(position_, true));
}

void StoreWatch::StartExpired(uint64_t wanted, uint64_t compacted) {
  const ApiFailure expired = PlainFailure(
      410, "Expired",
      absl::StrCat("too old resource version: ", wanted, " (", compacted, ")"));
  pending_.push_back(
      DumpJson({{"type", "ERROR"}, {"object", StatusObject(expired)}}) + "\n");
  ended_ = true;
}

WatchStream::State StoreWatch::Next(absl::Duration wait, std::string& line) {
  const absl::Time until = absl::Now() + wait;
  while (true) {
    if (!pending_.empty()) {
      line = std::move(pending_.front());
      pending_.pop_front();
      last_line_ = absl::Now();
      return State::kLine;
    }
    if (ended_) return State::kEnded;
    StoreEvent event;
    {
      absl::MutexLock lock(&backend_.mutex);
      // A reader that fell behind the window is cut off; it comes back and
      // is told 410.
      if (position_ < backend_.store.compacted()) {
        ended_ = true;
        continue;
      }
      const StoreEvent* found = NextEvent();
      const absl::Time now = absl::Now();
      if (found != nullptr) {
        event = *found;
      } else if (now >= setup_.deadline) {
        ended_ = true;
      } else if (now >= until) {
        return State::kNothingYet;
      } else {
        backend_.changed.WaitWithDeadline(
            &backend_.mutex,
            std::min({until, setup_.deadline, last_line_ + kBookmarkEvery}));
      }
    }
    if (event.object != nullptr) {
      pending_.push_back(LineFor(event));
      said_ = event.revision;
    } else if (std::string mark;
               (ended_ || absl::Now() >= last_line_ + kBookmarkEvery) &&
               TakeBookmark(mark)) {
      pending_.push_back(std::move(mark));
    } else if (absl::Now() >= last_line_ + kBookmarkEvery) {
      last_line_ = absl::Now();
    }
  }
}

bool StoreWatch::TakeBookmark(std::string& line) {
  if (!setup_.bookmarks || !pending_.empty() || position_ <= said_) {
    return false;
  }
  said_ = position_;
  line = Bookmark(position_, false);
  return true;
}

const StoreEvent* StoreWatch::NextEvent() {
  while (const StoreEvent* event = backend_.store.EventAfter(position_)) {
    position_ = event->revision;
    if (Concerns(*event)) return event;
  }
  return nullptr;
}

bool StoreWatch::Concerns(const StoreEvent& event) const {
  const ObjectPlace& place = setup_.place;
  if (event.key.resource != place.resource->QualifiedPlural()) return false;
  if (!place.name_space.empty() && event.key.name_space != place.name_space) {
    return false;
  }
  if (setup_.selector.empty()) return true;
  return setup_.selector.Matches(*event.object) ||
         (event.previous != nullptr &&
          setup_.selector.Matches(*event.previous));
}

std::string StoreWatch::LineFor(const StoreEvent& event) {
  if (event.type == StoreEventType::kDeleted) {
    return Line("DELETED", event.object);
  }
  const bool before =
      event.previous != nullptr && setup_.selector.Matches(*event.previous);
  const bool after = setup_.selector.Matches(*event.object);
  if (before && after) return Line("MODIFIED", event.object);
  if (after) return Line("ADDED", event.object);
  // WA-11: an object that stops matching is told as deleted, in the state in
  // which it last matched.
  Json last = *event.previous;
  last["metadata"]["resourceVersion"] = absl::StrCat(event.revision);
  return Line("DELETED", std::make_shared<const Json>(std::move(last)));
}

std::string StoreWatch::Line(absl::string_view type, const JsonPtr& object) {
  if (setup_.form == Form::kObject) {
    return absl::StrCat("{\"type\":\"", type,
                        "\",\"object\":", DumpJson(*object), "}\n");
  }
  Json table = TableOf(*setup_.place.resource, {object},
                       {backend_.clock(), setup_.include_object});
  if (std::exchange(columns_sent_, true)) {
    table["columnDefinitions"] = nullptr;
  }
  table["metadata"]["resourceVersion"] =
      At(*object, {"metadata", "resourceVersion"});
  return absl::StrCat("{\"type\":\"", type, "\",\"object\":", DumpJson(table),
                      "}\n");
}

std::string StoreWatch::Bookmark(uint64_t revision, bool initial_end) {
  Json metadata = {{"resourceVersion", absl::StrCat(revision)},
                   {"creationTimestamp", nullptr}};
  if (initial_end) {
    metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  }
  const Resource& resource = *setup_.place.resource;
  return DumpJson({{"type", "BOOKMARK"},
                   {"object",
                    {{"kind", resource.kind},
                     {"apiVersion", resource.GroupVersion()},
                     {"metadata", std::move(metadata)}}}}) +
         "\n";
}

}  // namespace

ApiAnswer OpenWatch(Backend& backend, const ObjectPlace& place,
                    const RequestTarget& target, Form form) {
  WatchSetup setup;
  setup.place = place;
  setup.form = form;
  setup.include_object = target.Query("includeObject");
  setup.bookmarks = target.Says("allowWatchBookmarks");
  if (auto failed = CheckReadQuery(place, target, setup.selector)) {
    return {FailureResponse(*failed), nullptr};
  }
  if (!place.name.empty()) {
    setup.selector.fields.push_back({"metadata.name", place.name, true});
  }
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(target.Query("timeoutSeconds"), &seconds) ||
      seconds <= 0) {
    seconds = kDefaultTimeoutSeconds;
  }
  setup.deadline = absl::Now() + absl::Seconds(seconds);
  const std::string version = target.Query("resourceVersion");
  const bool fresh = version.empty() || version == "0";
  uint64_t wanted = 0;
  if (!fresh && !absl::SimpleAtoi(version, &wanted)) {
    // Not 400 as documented: the real server says 500 without a reason.
    return {FailureResponse(PlainFailure(
                500, "",
                absl::StrCat("resourceVersion: Invalid value: \"", version,
                             "\": strconv.ParseUint: parsing \"", version,
                             "\": invalid syntax"))),
            nullptr};
  }
  const bool initial = target.Says("sendInitialEvents");
  const bool bookmarks = setup.bookmarks;
  const bool no_initial = target.Query("sendInitialEvents") == "false";
  auto watch = std::make_unique<StoreWatch>(backend, std::move(setup));
  if (initial) {
    watch->StartWithAll(bookmarks);
  } else if (fresh && !no_initial) {
    watch->StartWithAll(bookmarks && version.empty());
  } else {
    absl::MutexLock lock(&backend.mutex);
    if (fresh) {
      watch->StartAt(backend.store.revision());
    } else if (wanted < backend.store.compacted()) {
      watch->StartExpired(wanted, backend.store.compacted());
    } else {
      watch->StartAt(wanted);
    }
  }
  return {ApiResponse{}, std::move(watch)};
}

}  // namespace gpubinder::embedded
