#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/bench/cluster.h"
#include "tools/bench/live_cluster.h"
#include "tools/bench/pass_checks.h"
#include "tools/bench/pass_under_test.h"
#include "tools/bench/rows.h"

namespace gpubinder::bench {
namespace {

// What happens, given the number of the occurrence.
struct EventKind {
  std::string name;
  std::function<void(const Cluster&, LiveCluster&, int64_t)> happen;
};

void CreateClaim(const Cluster& cluster, LiveCluster& live, int64_t number) {
  live.Watch(v1::ObjectEvent::ADDED, cluster.MakeOrder(number));
}

void ChangeAllocatable(const Cluster&, LiveCluster& live, int64_t number) {
  live.GrowNode(number);
}

// A label of a launcher that runs.
void UpdatePod(const Cluster&, LiveCluster& live, int64_t number) {
  const Table<Pod>& pods = live.snapshot().pods();
  Pod pod = pods[static_cast<gpubinder::Row>(number * 7919 % pods.end())];
  pod.meta.labels["example.com/number"] = absl::StrCat(number);
  pod.meta.resource_version = absl::StrCat(1'000'000 + number);
  live.Watch(v1::ObjectEvent::MODIFIED, std::move(pod));
}

const EventKind kEvents[] = {{"claim created", CreateClaim},
                             {"node allocatable changed", ChangeAllocatable},
                             {"pod updated", UpdatePod}};

// Happens, and the two passes over what came of it. The next pass comes first:
// a full one leaves nothing to do.
class OneEvent {
 public:
  OneEvent(const EventKind& kind, const Cluster& cluster, LiveCluster& live)
      : kind_(kind), cluster_(cluster), live_(live) {}

  Sample Next() {
    kind_.happen(cluster_, live_, number_++);
    PassResult next;
    const Sample sample = Time(Clock::kCpu, 1, [this, &next] {
      next = NextPass(live_.snapshot(), live_.now());
    });
    next_ = BytesOf(next, live_.snapshot());
    return sample;
  }

  // Compares, and settles the cluster for the event to come.
  Sample Full() {
    PassResult full;
    const Sample sample = Time(Clock::kCpu, 1, [this, &full] {
      full = RecomputedPass(live_.snapshot(), live_.now());
    });
    if (BytesOf(full, live_.snapshot()) != next_) {
      status_ = absl::FailedPreconditionError(
          absl::StrCat(kind_.name, ": the pass after event ", number_,
                       " differs from a full recompute"));
    }
    writes_ += static_cast<int64_t>(full.effects.size());
    if (absl::Status s = live_.Settle(); !s.ok()) status_ = s;
    return sample;
  }

  const absl::Status& status() const { return status_; }
  int64_t writes() const { return writes_; }

 private:
  const EventKind& kind_;
  const Cluster& cluster_;
  LiveCluster& live_;
  std::string next_;  // as bytes
  int64_t number_ = 0, writes_ = 0;
  absl::Status status_;
};

absl::Status RunKind(const EventKind& kind, const Cluster& cluster,
                     LiveCluster& live, const RowOptions& options,
                     const Print& print) {
  OneEvent event(kind, cluster, live);
  event.Next();
  event.Full();
  if (!event.status().ok()) return event.status();
  const Pairs pairs = {.pairs = options.pairs().pairs,
                       .order = Order::kOursFirst};
  RowResult result{
      .variant = kind.name,
      .comparison = CompareCold(
          {.what = "next pass", .run = [&event] { return event.Next(); }},
          {.what = "full recompute", .run = [&event] { return event.Full(); }},
          pairs),
      .unit = "CPU seconds/pass",
      .sizes = {{"claims", cluster.claims()},
                {"nodes", cluster.shape().nodes},
                {"sets", static_cast<int64_t>(cluster.sets().size())}},
      .figures = {{"writes", static_cast<double>(event.writes())}},
      .checked = absl::StrCat(kCheckedPass,
                              "; after every event both passes' bytes equal"),
      .notes = {"A B A B: the full pass would leave nothing to do",
                "the recompute builds sets, units in use and budgets from the "
                "objects and looks at every set"}};
  if (!event.status().ok()) return event.status();
  result.value = result.comparison.ratio.median;
  print(result);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunOneEvent(const RowOptions& options, const Print& print) {
  if (absl::Status s = CheckByNaiveModel(options.seed); !s.ok()) return s;
  const int64_t claims = options.size == Size::kFull ? 1'000'000 : 2'000;
  const Cluster cluster(
      {.seed = options.seed, .claims = claims, .nodes = claims / 50});
  LiveCluster live(cluster);
  if (absl::Status s = live.Settle(); !s.ok()) return s;
  if (absl::Status s = CheckSettled(cluster, live); !s.ok()) return s;
  for (const EventKind& kind : kEvents) {
    if (absl::Status s = RunKind(kind, cluster, live, options, print);
        !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

}  // namespace gpubinder::bench
