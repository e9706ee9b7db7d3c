#include "reconciler/binder.h"

#include <time.h>

#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "journal/journal.h"
#include "reconciler/explain_service.h"
#include "reconciler/model/by_hand.h"
#include "reconciler/operator_service.h"
#include "reconciler/pass_board.h"

namespace gpubinder {
namespace {

int64_t BootClockNanos() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

uint64_t Random() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

class Binder::Impl {
 public:
  explicit Impl(BinderOptions options)
      : options_(std::move(options)),
        writes_(options_.new_client()),
        lease_client_(options_.new_client()) {}

  ~Impl() { Stop(); }

  absl::Status Open() {
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        Journal::Open({.directory = options_.journal_directory,
                       .random = Random,
                       .clock = absl::Now});
    if (!journal.ok()) return journal.status();
    journal_ = *std::move(journal);
    leader_ = std::make_unique<Leader>(
        options_.config, absl::StrCat(options_.pod_name, "_", journal_->uid()),
        *lease_client_, SystemClocks());
    absl::StatusOr<std::unique_ptr<Loop>> loop =
        Loop::Open(LoopWiring(), *journal_, *writes_);
    if (!loop.ok()) return loop.status();
    loop_ = *std::move(loop);
    if (options_.grpc_address.empty()) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<ExplainService>> server =
        ExplainService::Start({.address = options_.grpc_address,
                               .journal_marks = [this] { return Marks(); },
                               .operator_calls = ByHandWiring()},
                              board_);
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  void Start() { loop_->Start(); }

  void Stop() {
    if (loop_ == nullptr || stopped_) return;
    stopped_ = true;
    loop_->Stop();
    leader_->Stop().IgnoreError();  // another waits the lease out, then
    writes_->Stop();
  }

  absl::Status Wait() { return loop_->Wait(); }
  void OnConfig(Config config) { loop_->OnConfig(std::move(config)); }
  const Loop& loop() const { return *loop_; }
  const std::string& journal_uid() const { return journal_->uid(); }
  int grpc_port() const { return server_ == nullptr ? 0 : server_->port(); }

 private:
  LoopOptions LoopWiring() {
    return {.config = options_.config,
            .new_watch_client = options_.new_client,
            .wall_clock = absl::Now,
            .boot_clock_nanos = BootClockNanos,
            .may_write = [this] { return leader_->MayStartWrite(); },
            .on_synced = [this] { Campaign(); },
            .on_pass = [this](const FinishedPass& pass) { Publish(pass); },
            .on_outcome = options_.on_outcome,
            .on_trouble = options_.on_trouble};
  }

  OperatorCalls ByHandWiring() {
    return {.carry_out =
                [this](v1::ByHand command, absl::Time deadline) {
                  return loop_->CarryOut(std::move(command), deadline);
                },
            .prepare =
                [this](v1::ByHand& command) {
                  absl::Status status;
                  loop_->WithSnapshot([&](const Snapshot& snapshot) {
                    status = PrepareByHand(snapshot, command);
                  });
                  return status;
                }};
  }

  JournalMarks Marks() const {
    return {.first = journal_->first_sequence(),
            .last = journal_->last_sequence(),
            .synced = journal_->synced_sequence()};
  }

  // Only once the cluster is known: the next term's epoch must be above every
  // one that its objects show.
  void Campaign() {
    leader_->NoteEpoch(loop_->HighestEpochSeen());
    leader_->Start([this](const LeaderState& state) {
      options_.on_leadership(state);
      if (state.leading == leading_) return;
      leading_ = state.leading;
      loop_->OnLeadership({.leading = state.leading,
                           .epoch = state.epoch,
                           .holder = state.holder});
    });
  }

  void Publish(const FinishedPass& pass) {
    // Another leader's, if it is higher than ours: then we lead no more.
    leader_->NoteEpoch(pass.snapshot.highest_epoch);
    v1::Source source;
    source.set_journal_uid(pass.record.journal_uid());
    source.set_sequence(pass.record.sequence());
    source.set_epoch(pass.record.epoch());
    source.set_role(pass.record.role());
    board_.Publish(
        PublishPass(pass.result, pass.snapshot, source, board_.Latest().get()));
    options_.on_pass(pass);
  }

  const BinderOptions options_;
  const std::unique_ptr<ApiClient> writes_, lease_client_;
  std::unique_ptr<Journal> journal_;
  PassBoard board_;
  std::unique_ptr<Leader> leader_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<ExplainService> server_;
  bool leading_ = false;  // of the leader's thread
  bool stopped_ = false;
};

Binder::Binder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Binder::~Binder() = default;

absl::StatusOr<std::unique_ptr<Binder>> Binder::Open(BinderOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (absl::Status s = impl->Open(); !s.ok()) return s;
  return std::unique_ptr<Binder>(new Binder(std::move(impl)));
}

void Binder::Start() { impl_->Start(); }
void Binder::Stop() { impl_->Stop(); }
absl::Status Binder::Wait() { return impl_->Wait(); }
void Binder::OnConfig(Config config) { impl_->OnConfig(std::move(config)); }
const Loop& Binder::loop() const { return impl_->loop(); }
const std::string& Binder::journal_uid() const { return impl_->journal_uid(); }
int Binder::grpc_port() const { return impl_->grpc_port(); }

}  // namespace gpubinder
