#include "reconciler/loop.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "k8s/object_filter.h"
#include "proto/check.h"
#include "reconciler/effector.h"
#include "reconciler/model/by_hand.h"
#include "reconciler/model/fold.h"
#include "reconciler/record_fold.h"
#include "reconciler/watch_record.h"
#include "reconciler/watches.h"

namespace gpubinder {

class Loop::Impl {
 public:
  Impl(LoopOptions options, Journal& journal, ApiClient& writes)
      : options_(std::move(options)),
        journal_(journal),
        effector_(std::make_unique<Effector>(
            EffectorOptions{
                .request_timeout = options_.config.request_timeout,
                .may_write =
                    [this] { return !failed_ && options_.may_write(); },
                .on_outcome =
                    [this](v1::Outcome outcome) {
                      inbox_.Push(std::move(outcome));
                    }},
            writes)) {}

  ~Impl() {
    Stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status FoldJournal() {
    absl::MutexLock lock(&mutex_);
    if (journal_.last_sequence() == 0) return absl::OkStatus();
    return ReadDecoded(
        journal_, journal_.first_sequence(),
        [this](const v1::Record& record, std::optional<Object> object) {
          last_time_ = record.time_unix_nanos();
          Fold(record, std::move(object), snapshot_);
          return true;
        });
  }

  void Start() {
    inbox_.Push(options_.config);
    thread_ = std::thread([this] {
      end_ = Main();
      watches_.reset();
      ended_.Notify();
    });
  }

  void Stop() {
    inbox_.Close();
    if (thread_.joinable()) ended_.WaitForNotification();
    effector_.reset();
  }

  absl::Status Wait() {
    ended_.WaitForNotification();
    return end_;
  }

  void Push(News news) { inbox_.Push(std::move(news)); }

  absl::StatusOr<v1::Record> CarryOut(v1::ByHand command, absl::Time deadline) {
    auto answer = std::make_shared<CommandAnswer>();
    inbox_.Push(CommandNews{std::move(command), answer});
    if (inbox_.closed() ||
        !answer->given.WaitForNotificationWithDeadline(deadline)) {
      return absl::DeadlineExceededError(
          "the binder has not answered in time; it may still do it");
    }
    return answer->result;
  }

  void WithSnapshot(absl::FunctionRef<void(const Snapshot&)> read) const {
    absl::MutexLock lock(&mutex_);
    read(snapshot_);
  }

  absl::Status Health() const {
    if (failed_) return absl::UnavailableError("the journal has failed");
    if (synced_) return absl::OkStatus();
    return absl::UnavailableError("the cluster has not been listed yet");
  }

  bool IsSettled() const {
    absl::MutexLock lock(&mutex_);
    return settled_ && snapshot_.in_flight.empty() && inbox_.empty();
  }

 private:
  absl::Status Main() {
    name_space_ = options_.config.name_space;
    if (!journal_.opening_note().empty()) {
      v1::Record note;
      note.mutable_note()->set_text(journal_.opening_note());
      std::vector<v1::Record> group = {std::move(note)};
      absl::Status status = TakeIn(group);
      if (!status.ok()) return status;
    }
    StartWatches();
    while (true) {
      std::vector<News> news = inbox_.Take(next_timer_);
      if (inbox_.closed()) return journal_.Sync();
      std::vector<v1::Record> group = RecordsOf(std::move(news));
      if (options_.wall_clock() >= next_timer_) {
        v1::Record fired;
        fired.mutable_timer_fired()->set_due_unix_nanos(
            absl::ToUnixNanos(next_timer_));
        group.push_back(std::move(fired));
        next_timer_ = absl::InfiniteFuture();
      }
      absl::Status status = TakeIn(group);
      status = AnswerCommands(std::move(status), group);
      if (status.ok() && awaited_.empty() && !synced_) {
        synced_ = true;
        options_.on_synced();
      }
      if (status.ok() && matters_ && awaited_.empty()) status = RunOne();
      if (!status.ok()) {
        failed_ = true;
        inbox_.Close();
        return status;
      }
    }
  }

  // Watches anew: their lists replace what is there, kind by kind, and no
  // pass is run until all have come.
  void StartWatches() {
    inbox_.SetUnbounded(true);
    watches_.reset();
    inbox_.SetUnbounded(false);
    const uint64_t generation = ++generation_;
    for (int i = 0; i < kKinds; ++i) awaited_.insert(static_cast<Kind>(i));
    watches_ = std::make_unique<Watches>(
        options_.new_watch_client(), name_space_,
        [this, generation](ReflectedEvent event) {
          inbox_.Push(WatchNews{generation, std::move(event)});
        },
        options_.on_trouble);
  }

  std::vector<v1::Record> RecordsOf(std::vector<News> news) {
    std::vector<v1::Record> group;
    for (News& item : news) {
      if (auto* watch = std::get_if<WatchNews>(&item)) {
        if (watch->generation != generation_) continue;
        const ReflectedEvent::Type type = watch->event.type;
        const Kind kind = watch->event.kind;
        std::optional<v1::Record> record =
            RecordOf(std::move(watch->event), snapshot_);
        if (record.has_value()) group.push_back(*std::move(record));
        if (type == ReflectedEvent::kListEnded ||
            type == ReflectedEvent::kNotServed) {
          awaited_.erase(kind);
        }
      } else if (auto* outcome = std::get_if<v1::Outcome>(&item)) {
        *group.emplace_back().mutable_outcome() = std::move(*outcome);
      } else if (auto* lead = std::get_if<LeadershipNews>(&item)) {
        Lead(*lead, group);
      } else if (auto* command = std::get_if<CommandNews>(&item)) {
        Consider(*std::move(command), group);
      } else {
        Configure(std::get<Config>(item), group);
      }
    }
    return group;
  }

  void Configure(const Config& config, std::vector<v1::Record>& group) {
    *group.emplace_back().mutable_config() = ConfigRecord(config);
    // The settings are watched in the binder's namespace alone.
    if (config.name_space == name_space_) return;
    name_space_ = config.name_space;
    StartWatches();
  }

  absl::Status MayCommand() const {
    if (!leading_) {
      return absl::FailedPreconditionError(
          "this replica does not lead; ask the one that holds the Lease");
    }
    if (snapshot_.config.observe) {
      return absl::FailedPreconditionError(
          "this binder observes, and writes nothing");
    }
    return absl::OkStatus();
  }

  void Consider(CommandNews news, std::vector<v1::Record>& group) {
    absl::Status status = MayCommand();
    if (status.ok()) status = PrepareByHand(snapshot_, news.command);
    if (!status.ok()) return news.answer->Give(std::move(status));
    *group.emplace_back().mutable_by_hand() = std::move(news.command);
    considered_.push_back(std::move(news.answer));
  }

  // Nobody is told that it is done before it is on disk.
  absl::Status AnswerCommands(absl::Status taken,
                              const std::vector<v1::Record>& group) {
    if (considered_.empty()) return taken;
    if (taken.ok()) taken = journal_.Sync();
    auto answer = considered_.begin();
    for (const v1::Record& record : group) {
      if (!record.has_by_hand()) continue;
      (*answer++)->Give(taken.ok() ? absl::StatusOr<v1::Record>(record)
                                   : absl::StatusOr<v1::Record>(taken));
    }
    considered_.clear();
    return taken;
  }

  void Lead(const LeadershipNews& news, std::vector<v1::Record>& group) {
    leading_ = news.leading;
    epoch_ = news.epoch;
    v1::Record record;
    record.mutable_leadership()->set_leading(news.leading);
    record.mutable_leadership()->set_holder(news.holder);
    record.set_epoch(epoch_);
    group.push_back(std::move(record));
    if (leading_) StartWatches();
  }

  v1::Role RoleNow() const {
    return leading_ && !snapshot_.config.observe ? v1::LEADER : v1::SHADOW;
  }

  void Stamp(v1::Record& record, v1::Role role) {
    // It never runs backwards in a journal.
    last_time_ = std::max(last_time_, absl::ToUnixNanos(options_.wall_clock()));
    record.set_time_unix_nanos(last_time_);
    record.set_boot_clock_nanos(options_.boot_clock_nanos());
    record.set_epoch(epoch_);
    record.set_role(role);
    record.set_model_version(kModelVersion);
    record.set_filter_version(kFilterVersion);
  }

  // Appends a group and folds it.
  absl::Status TakeIn(std::vector<v1::Record>& group) {
    if (group.empty()) return absl::OkStatus();
    for (v1::Record& record : group) Stamp(record, RoleNow());
    if (absl::Status s = journal_.Append(absl::MakeSpan(group)); !s.ok()) {
      return s;
    }
    {
      absl::MutexLock lock(&mutex_);
      for (const v1::Record& record : group) {
        if (FoldRecord(record, snapshot_) == Change::kMatters) {
          matters_ = true;
        }
      }
      settled_ = settled_ && !matters_;
    }
    for (const v1::Record& record : group) {
      if (record.has_outcome()) options_.on_outcome(record);
    }
    return absl::OkStatus();
  }

  absl::Status RunOne() {
    matters_ = false;
    // While the lease does not cover another write nothing is decided to be
    // sent, and the pass is run again soon.
    const bool covered = options_.may_write();
    const v1::Role role = covered ? RoleNow() : v1::SHADOW;
    std::vector<v1::Record> group(2);
    for (v1::Record& record : group) Stamp(record, role);
    const uint64_t pass = journal_.last_sequence() + 1;
    group[0].mutable_pass_began()->set_time_unix_nanos(last_time_);
    group[0].mutable_pass_began()->set_through(journal_.last_sequence());
    // Only this thread folds, so reading needs no lock.
    const PassResult result =
        RunPass(snapshot_, absl::FromUnixNanos(last_time_));
    *group[1].mutable_decision() = ToRecord(result, pass);
    if (absl::Status s = journal_.Append(absl::MakeSpan(group)); !s.ok()) {
      return s;
    }
    BINDER_CHECK(group[0].sequence() == pass);
    next_timer_ = result.next_timer;
    if (leading_ && !covered) {
      next_timer_ = std::min(
          next_timer_, options_.wall_clock() + options_.config.retry_period);
    }
    const bool sends = role == v1::LEADER && !result.effects.empty();
    if (sends) {
      // Nothing leaves before the record that decided it is on disk.
      if (absl::Status s = journal_.Sync(); !s.ok()) return s;
    }
    {
      absl::MutexLock lock(&mutex_);
      for (const v1::Record& record : group) FoldRecord(record, snapshot_);
      settled_ = !sends && (covered || !leading_);
    }
    options_.on_pass({result, group[1], snapshot_});
    if (sends) {
      effector_->Send(group[1].decision(), {.journal = journal_.uid(),
                                            .epoch = epoch_,
                                            .sequence = group[1].sequence()});
    }
    return absl::OkStatus();
  }

  const LoopOptions options_;
  Journal& journal_;
  Inbox inbox_;
  std::thread thread_;
  absl::Notification ended_;
  absl::Status end_;  // once it has ended
  // The journal is: what was decided and not sent yet is not sent any more.
  std::atomic<bool> failed_ = false;
  // The first complete lists of all kinds are folded.
  std::atomic<bool> synced_ = false;

  // The snapshot is changed by the loop's thread alone, under the lock.
  mutable absl::Mutex mutex_;
  Snapshot snapshot_;
  bool settled_ = false;

  // The loop's thread only.
  std::unique_ptr<Watches> watches_;
  std::string name_space_;
  uint64_t generation_ = 0;
  absl::btree_set<Kind> awaited_;
  // Of the commands in the group that is being taken in, in its order.
  std::vector<std::shared_ptr<CommandAnswer>> considered_;
  bool leading_ = false;
  uint64_t epoch_ = 0;
  int64_t last_time_ = 0;
  bool matters_ = false;
  absl::Time next_timer_ = absl::InfiniteFuture();

  // Until Stop.
  std::unique_ptr<Effector> effector_;
};

Loop::Loop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loop::~Loop() = default;

absl::StatusOr<std::unique_ptr<Loop>> Loop::Open(LoopOptions options,
                                                 Journal& journal,
                                                 ApiClient& writes) {
  auto impl = std::make_unique<Impl>(std::move(options), journal, writes);
  if (absl::Status s = impl->FoldJournal(); !s.ok()) return s;
  return std::unique_ptr<Loop>(new Loop(std::move(impl)));
}

void Loop::Start() { impl_->Start(); }
void Loop::Stop() { impl_->Stop(); }
absl::Status Loop::Wait() { return impl_->Wait(); }
void Loop::OnLeadership(LeadershipNews news) { impl_->Push(std::move(news)); }
void Loop::OnConfig(Config config) { impl_->Push(std::move(config)); }

absl::StatusOr<v1::Record> Loop::CarryOut(v1::ByHand command,
                                          absl::Time deadline) {
  return impl_->CarryOut(std::move(command), deadline);
}

void Loop::WithSnapshot(absl::FunctionRef<void(const Snapshot&)> read) const {
  impl_->WithSnapshot(read);
}

absl::Status Loop::Health() const { return impl_->Health(); }

uint64_t Loop::HighestEpochSeen() const {
  uint64_t highest = 0;
  impl_->WithSnapshot([&](const Snapshot& snapshot) {
    highest = std::max(snapshot.highest_epoch, snapshot.epoch);
  });
  return highest;
}

bool Loop::IsSettled() const { return impl_->IsSettled(); }

}  // namespace gpubinder
