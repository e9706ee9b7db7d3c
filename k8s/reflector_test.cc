#include "k8s/reflector.h"

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/api_client.h"
#include "reconciler/model/kind.h"

namespace gpubinder {
namespace {

std::string Object(const std::string& name, int version) {
  return absl::StrCat(R"({"metadata":{"name":")", name,
                      R"(","namespace":"n","uid":"u-)", name,
                      R"(","resourceVersion":")", version, R"("}})");
}

std::string Page(const std::vector<std::string>& items, int version,
                 const std::string& continue_token) {
  return absl::StrCat(R"({"items":[)", absl::StrJoin(items, ","),
                      R"(],"metadata":{"resourceVersion":")", version,
                      R"(","continue":")", continue_token, R"("}})");
}

std::string Line(const std::string& type, const std::string& object) {
  return absl::StrCat(R"({"type":")", type, R"(","object":)", object, "}");
}

std::string Bookmark(int version) {
  return Line("BOOKMARK", absl::StrCat(R"({"metadata":{"resourceVersion":")",
                                       version, R"("}})"));
}

absl::Status Http(int code, const std::string& reason = "",
                  absl::Duration retry_after = absl::ZeroDuration()) {
  return StatusOfApiError({.code = code,
                           .reason = reason,
                           .retry_after = retry_after,
                           .sent = true},
                          "test");
}

// A list or a watch that the test expects next, with its answer.
struct List {
  int limit;
  std::string continue_token;
  absl::StatusOr<std::string> answer;
};
struct Watch {
  std::string from;
  std::vector<std::string> lines;
  absl::Status end;
  absl::Duration lasts = absl::Seconds(300);
};
using Step = std::variant<List, Watch>;

// Plays the steps, then ends the reflector as a stopped client does. Time is
// its own: it passes by waits and by watches only.
class Play : public ApiClient {
 public:
  explicit Play(std::vector<Step> steps) : steps_(steps.begin(), steps.end()) {}

  // Runs a reflector through the steps and returns what came, one word each.
  std::string Run() {
    ReflectorTiming timing{
        .now = [this] { return now_; },
        .wait =
            [this](absl::Duration wait, const absl::Notification&) {
              waits_.push_back(wait);
              now_ += wait;
            },
        .jitter = [this](absl::Duration limit) { return limit * jitter_; },
    };
    ReflectorOptions options{
        .kind = Kind::kGpuClaim,
        .sink = [this](ReflectedEvent event) { Note(std::move(event)); },
        .on_trouble = [this](const absl::Status& status,
                             absl::Duration) { troubles_.push_back(status); }};
    Reflector reflector(std::move(options), *this, std::move(timing));
    reflector.Start();
    done_.WaitForNotification();
    reflector.Stop();
    EXPECT_TRUE(steps_.empty());
    return absl::StrJoin(words_, " ");
  }

  absl::StatusOr<std::string> List(const ResourcePath& path,
                                   const ListOptions& options) override {
    EXPECT_EQ(PathText(path), "/apis/gpu.cozystack.io/v1alpha1/gpuclaims");
    EXPECT_EQ(options.resource_version, "");
    if (steps_.empty()) return End();
    const auto* const step = std::get_if<gpubinder::List>(&steps_.front());
    if (step == nullptr) {
      ADD_FAILURE() << "a list where a watch was due";
      return End();
    }
    EXPECT_EQ(options.limit, step->limit);
    EXPECT_EQ(options.continue_token, step->continue_token);
    absl::StatusOr<std::string> answer = step->answer;
    steps_.pop_front();
    return answer;
  }

  absl::Status Watch(
      const ResourcePath&, const WatchOptions& options,
      const std::function<bool(absl::string_view)>& on_event) override {
    if (steps_.empty()) return End();
    const auto* const found = std::get_if<gpubinder::Watch>(&steps_.front());
    if (found == nullptr) {
      ADD_FAILURE() << "a watch where a list was due";
      return End();
    }
    const gpubinder::Watch step = *found;
    steps_.pop_front();
    EXPECT_EQ(options.resource_version, step.from);
    EXPECT_TRUE(options.bookmarks);
    now_ += step.lasts;
    for (const std::string& line : step.lines) {
      if (!on_event(line)) return absl::OkStatus();
    }
    return step.end;
  }

  absl::StatusOr<std::string> Get(const ResourcePath&,
                                  absl::Duration) override {
    return Unexpected();
  }
  absl::StatusOr<std::string> Create(const ResourcePath&, absl::string_view,
                                     absl::Duration) override {
    return Unexpected();
  }
  absl::StatusOr<std::string> Replace(const ResourcePath&, absl::string_view,
                                      absl::Duration) override {
    return Unexpected();
  }
  absl::StatusOr<std::string> Patch(const ResourcePath&, PatchType,
                                    absl::string_view,
                                    absl::Duration) override {
    return Unexpected();
  }
  absl::StatusOr<std::string> Delete(const ResourcePath&, absl::string_view,
                                     absl::Duration) override {
    return Unexpected();
  }
  void Stop() override {}

  const std::vector<ReflectedEvent>& events() const { return events_; }
  const std::vector<absl::Duration>& waits() const { return waits_; }
  const std::vector<absl::Status>& troubles() const { return troubles_; }
  void set_jitter(int share) { jitter_ = share; }

 private:
  absl::Status End() {
    if (!done_.HasBeenNotified()) done_.Notify();
    return absl::CancelledError("the play is over");
  }
  absl::Status Unexpected() {
    ADD_FAILURE() << "a call that a reflector has no use for";
    return absl::InternalError("unexpected");
  }

  void Note(ReflectedEvent event) {
    EXPECT_EQ(event.kind, Kind::kGpuClaim);
    constexpr const char* kWords[] = {"began",  "listed",    "ended",
                                      "added",  "modified",  "deleted",
                                      "served", "not-served"};
    std::string word = kWords[event.type];
    if (!event.name.empty()) absl::StrAppend(&word, ":", event.name);
    if (event.type == ReflectedEvent::kListEnded) {
      absl::StrAppend(&word, ":", event.resource_version);
    }
    words_.push_back(std::move(word));
    events_.push_back(std::move(event));
  }

  std::deque<Step> steps_;
  absl::Time now_ = absl::UnixEpoch();
  int jitter_ = 0;
  std::vector<ReflectedEvent> events_;
  std::vector<std::string> words_;
  std::vector<absl::Duration> waits_;
  std::vector<absl::Status> troubles_;
  absl::Notification done_;
};

// One object, version 9: how most plays begin.
const List kList = {500, "", Page({Object("a", 3)}, 9, "")};
constexpr char kListWords[] = "began listed:a ended:9";

TEST(Reflector, ListsInPagesThenWatchesFromTheListsVersion) {
  Play play(
      {List{500, "", Page({Object("a", 3), Object("b", 4)}, 9, "t")},
       List{500, "t", Page({Object("c", 5)}, 9, "")},
       Watch{"9",
             {Line("ADDED", Object("d", 10)), Line("MODIFIED", Object("a", 11)),
              Line("DELETED", Object("b", 12))},
             absl::OkStatus()}});
  EXPECT_EQ(play.Run(),
            "served began listed:a listed:b listed:c ended:9 added:d "
            "modified:a deleted:b");
  const ReflectedEvent& modified = play.events()[7];
  EXPECT_EQ(modified.json, Object("a", 11));
  EXPECT_EQ(modified.name_space, "n");
  EXPECT_EQ(modified.uid, "u-a");
  EXPECT_EQ(modified.resource_version, "11");
  EXPECT_TRUE(play.waits().empty());
}

TEST(Reflector, GoesOnAfterACleanEndFromTheLastVersionSeen) {
  Play play({kList,
             Watch{"9", {Line("ADDED", Object("b", 10))}, absl::OkStatus()},
             Watch{"10", {Bookmark(99)}, absl::OkStatus()},
             Watch{"99", {Bookmark(100)}, absl::OkStatus()}});
  EXPECT_EQ(play.Run(), absl::StrCat("served ", kListWords, " added:b"));
  EXPECT_TRUE(play.waits().empty());
}

TEST(Reflector, ListsAgainWhenTheVersionIsTooOld) {
  const std::string expired =
      Line("ERROR", R"({"kind":"Status","reason":"Expired","code":410})");
  Play play({kList, Watch{"9", {expired}, absl::OkStatus()}, kList,
             Watch{"9", {}, Http(410, "Expired")}, kList});
  EXPECT_EQ(play.Run(), absl::StrCat("served ", kListWords, " ", kListWords,
                                     " ", kListWords));
}

TEST(Reflector, TakesTheListAtOnceWhenItsPagesExpire) {
  Play play({List{500, "", Page({Object("a", 3)}, 9, "t")},
             List{500, "t", Http(410, "Expired")},
             List{0, "", Page({Object("a", 3), Object("b", 4)}, 12, "")},
             Watch{"12", {Bookmark(13)}, absl::OkStatus()}});
  EXPECT_EQ(play.Run(),
            "served began listed:a began listed:a listed:b ended:12");
}

TEST(Reflector, KeepsItsVersionWhenTheServerIsBusyOrGone) {
  const absl::Status refused = StatusOfApiError({}, "watch");
  const absl::Status cut = StatusOfApiError({.sent = true}, "watch");
  Play play({kList, Watch{"9", {}, Http(429)}, Watch{"9", {}, refused},
             Watch{"9", {Line("ADDED", Object("b", 10))}, cut},
             Watch{"10", {Bookmark(11)}, Http(503)}, Watch{"11", {}, refused}});
  EXPECT_EQ(play.Run(), absl::StrCat("served ", kListWords, " added:b"));
  EXPECT_EQ(play.waits().size(), 5u);
}

TEST(Reflector, ListsAgainAfterAnyOtherEnd) {
  const std::vector<Watch> ends = {
      {"9", {}, Http(500)},
      {"9", {}, Http(403)},
      {"9", {}, Http(504, "Timeout")},
      {"9", {Line("SYNC", Object("a", 10))}, absl::OkStatus()},
      {"9", {"{"}, absl::OkStatus()},
      {"9",
       {Line("ERROR", R"({"kind":"Status","code":500,"message":"x"})")},
       absl::OkStatus()},
      {"9", {Line("ERROR", R"({"kind":"x"})")}, absl::OkStatus()},
      {"9", {}, absl::OkStatus(), absl::Milliseconds(999)},
  };
  for (const Watch& end : ends) {
    Play play({kList, end, kList});
    EXPECT_EQ(play.Run(), absl::StrCat("served ", kListWords, " ", kListWords));
    EXPECT_EQ(play.waits(),
              std::vector<absl::Duration>{absl::Milliseconds(800)});
  }
}

TEST(Reflector, AShortWatchWithAnEventIsNoError) {
  Play play(
      {kList,
       Watch{"9", {Bookmark(10)}, absl::OkStatus(), absl::Milliseconds(1)},
       Watch{"10", {Bookmark(11)}, absl::OkStatus()}});
  play.Run();
  EXPECT_TRUE(play.waits().empty());
}

TEST(Reflector, ASilentWatchAsksWhetherVersionsWentBack) {
  const List same = {1, "", Page({Object("a", 3)}, 9, "more")};
  const List higher = {1, "", Page({Object("a", 3)}, 10, "")};
  const List lower = {1, "", Page({}, 8, "")};
  Play play({kList, Watch{"9", {}, absl::OkStatus()}, same,
             Watch{"9", {}, absl::OkStatus()}, higher,
             Watch{"9", {}, absl::OkStatus()}, lower,
             List{500, "", Page({}, 8, "")}});
  EXPECT_EQ(play.Run(), absl::StrCat("served ", kListWords, " began ended:8"));
}

TEST(Reflector, ReportsAKindThatIsNotServedAndAsksOnceAMinute) {
  const List missing = {500, "", Http(404)};
  Play play({missing, missing, missing, kList, Watch{"9", {}, Http(404)},
             missing, kList});
  EXPECT_EQ(play.Run(), absl::StrCat("not-served served ", kListWords,
                                     " not-served served ", kListWords));
  ASSERT_EQ(play.waits().size(), 5u);
  for (const size_t i : {0, 1, 2, 4}) {
    EXPECT_EQ(play.waits()[i], absl::Minutes(1)) << i;
  }
}

TEST(Reflector, WaitsLongerEachTimeUpToThirtySeconds) {
  const List busy = {500, "", Http(500)};
  Play play({busy, busy, busy, busy, busy, busy, busy, busy});
  EXPECT_EQ(play.Run(), "");
  std::vector<absl::Duration> wants;
  for (const int ms : {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}) {
    wants.push_back(absl::Milliseconds(ms));
  }
  EXPECT_EQ(play.waits(), wants);
  EXPECT_EQ(play.troubles().size(), 8u);
}

TEST(Reflector, AddsTheJitterAndStartsAfreshWhenHealthy) {
  const absl::Status refused = StatusOfApiError({}, "watch");
  Play play({kList, Watch{"9", {}, refused, absl::ZeroDuration()},
             Watch{"9", {}, refused, absl::ZeroDuration()},
             Watch{"9", {Bookmark(10)}, absl::OkStatus(), absl::Minutes(2)},
             Watch{"10", {}, refused, absl::ZeroDuration()}});
  play.set_jitter(1);
  play.Run();
  EXPECT_EQ(play.waits(),
            (std::vector<absl::Duration>{absl::Milliseconds(1600),
                                         absl::Milliseconds(3200),
                                         absl::Milliseconds(1600)}));
}

TEST(Reflector, ObeysRetryAfter) {
  Play play({List{500, "", Http(429, "", absl::Seconds(17))}, kList});
  play.Run();
  EXPECT_EQ(play.waits(), std::vector<absl::Duration>{absl::Seconds(17)});
}

TEST(Reflector, StartsADamagedListOver) {
  const std::string whole = Page({Object("a", 3), Object("b", 4)}, 9, "");
  Play play({List{500, "", whole.substr(0, whole.size() - 1)}, kList});
  EXPECT_EQ(play.Run(),
            absl::StrCat("served began listed:a listed:b ", kListWords));
}

}  // namespace
}  // namespace gpubinder
