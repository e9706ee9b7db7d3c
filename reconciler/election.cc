#include "reconciler/election.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace gpubinder {
namespace {

// Reads and writes in turn, until a release has met no other writer.
constexpr int kMostReleaseRequests = 6;

// The Lease is not as we last saw it: read it at once, not a retry later.
bool MustReadAgain(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsAlreadyExists(status) ||
         absl::IsNotFound(status);
}

absl::Status Named(const absl::Status& status, absl::string_view doing) {
  return {status.code(), absl::StrCat(doing, " lease \"", kLeaseName,
                                      "\": ", status.message())};
}

}  // namespace

ElectionClocks SystemClocks() {
  return {.boot =
              [] {
                timespec time = {};
                clock_gettime(CLOCK_BOOTTIME, &time);
                return absl::DurationFromTimespec(time);
              },
          .wall = [] { return absl::Now(); }};
}

absl::Status CheckLeaseTimes(const Config& config) {
  const auto refuse = [](absl::string_view field, absl::Duration found,
                         absl::string_view legal) {
    return absl::InvalidArgumentError(absl::StrCat("config: ", field, " is ",
                                                   absl::FormatDuration(found),
                                                   ", legal is ", legal));
  };
  if (config.request_timeout <= absl::ZeroDuration()) {
    return refuse("requestTimeout", config.request_timeout, "more than 0");
  }
  if (config.retry_period <= absl::ZeroDuration()) {
    return refuse("retryPeriod", config.retry_period, "more than 0");
  }
  const absl::Duration least = config.request_timeout + config.retry_period;
  if (config.renew_deadline <= least) {
    return refuse("renewDeadline", config.renew_deadline,
                  absl::StrCat("more than requestTimeout + retryPeriod, ",
                               absl::FormatDuration(least)));
  }
  if (config.lease_duration <= config.renew_deadline ||
      config.lease_duration % absl::Seconds(1) != absl::ZeroDuration()) {
    return refuse("leaseDuration", config.lease_duration,
                  absl::StrCat("whole seconds, more than renewDeadline, ",
                               absl::FormatDuration(config.renew_deadline)));
  }
  return absl::OkStatus();
}

LeaseElection::LeaseElection(const Config& config, std::string identity,
                             ApiClient& client, ElectionClocks clocks)
    : config_(config),
      identity_(std::move(identity)),
      client_(client),
      clocks_(std::move(clocks)) {}

absl::Duration LeaseElection::Tick() {
  EndTermIfOver();
  const absl::Duration now = clocks_.boot();
  // The look at the Lease that this write follows from is an old one.
  if (!holding_ && now > due_at_ + config_.retry_period) due_ = Due::kRead;
  if (now >= due_at_) {
    due_ == Due::kRead ? Read(now) : Write(now);
    EndTermIfOver();
  }
  StartLeadingIfDue();
  return NextTick();
}

absl::Status LeaseElection::Release() {
  EndTerm();
  if (wrote_at_ == -absl::InfiniteDuration()) return absl::OkStatus();
  const absl::Duration deadline = clocks_.boot() + config_.renew_deadline;
  absl::Status last;
  for (int i = 0; i < kMostReleaseRequests && clocks_.boot() < deadline; ++i) {
    last = ReleaseStep();
    if (released_) return absl::OkStatus();
  }
  return last;
}

void LeaseElection::NoteEpoch(uint64_t epoch) {
  if (epoch > kMostEpoch) return;
  absl::MutexLock lock(&mu_);
  noted_epoch_ = std::max(noted_epoch_, epoch);
  highest_epoch_ = std::max(highest_epoch_, epoch);
  if (highest_epoch_ > state_.epoch) state_.leading = false;
}

LeaderState LeaseElection::State() const {
  absl::MutexLock lock(&mu_);
  return state_;
}

bool LeaseElection::MayStartWrite() const {
  absl::MutexLock lock(&mu_);
  return state_.leading && clocks_.boot() + config_.request_timeout <
                               renewed_at_ + config_.renew_deadline;
}

void LeaseElection::EndTermIfOver() {
  if (!holding_) return;
  {
    absl::MutexLock lock(&mu_);
    if (has_led_ && highest_epoch_ > state_.epoch) {
      contested_ = true;
    } else if (clocks_.boot() < renewed_at_ + config_.renew_deadline) {
      return;
    }
  }
  EndTerm();
}

void LeaseElection::EndTerm() {
  holding_ = false;
  due_ = Due::kRead;
  due_at_ = -absl::InfiniteDuration();
  absl::MutexLock lock(&mu_);
  state_.leading = false;
}

void LeaseElection::StartLeadingIfDue() {
  if (!holding_ || clocks_.boot() < lead_at_) return;
  absl::MutexLock lock(&mu_);
  if (highest_epoch_ > state_.epoch) return;
  // We have not led in this term: who wrote with its epoch was another. The
  // next renewal takes a higher one.
  if (!has_led_ && noted_epoch_ >= state_.epoch) return;
  has_led_ = true;
  state_.leading = true;
}

absl::Duration LeaseElection::NextTick() const {
  if (!holding_) return due_at_;
  absl::MutexLock lock(&mu_);
  const absl::Duration end = renewed_at_ + config_.renew_deadline;
  const absl::Duration next = std::min(due_at_, end);
  return clocks_.boot() >= lead_at_ ? next : std::min(next, lead_at_);
}

void LeaseElection::Read(absl::Duration now) {
  absl::StatusOr<std::optional<Lease>> lease = Get();
  if (!lease.ok()) {
    due_at_ = std::max(clocks_.boot(), now + config_.retry_period);
    return;
  }
  Observe(*std::move(lease));
  Decide();
}

void LeaseElection::Write(absl::Duration now) {
  uint64_t epoch;
  bool unsettled;
  {
    absl::MutexLock lock(&mu_);
    epoch = highest_epoch_ + 1;
    if (holding_ && (has_led_ || noted_epoch_ < state_.epoch)) {
      epoch = state_.epoch;
    }
    // Who is killed while it waits for its own last requests finds itself in
    // the Lease again, and waits for them again: there is nothing to hand on.
    unsettled = !state_.leading && lead_wait_ > config_.request_timeout;
  }
  wrote_at_ = now;
  absl::StatusOr<Lease> lease = Put({.name_space = config_.name_space,
                                     .holder = identity_,
                                     .duration = config_.lease_duration,
                                     .at = clocks_.wall(),
                                     .epoch = epoch,
                                     .unsettled = unsettled});
  const absl::Duration done = clocks_.boot();
  due_at_ = std::max(done, now + config_.retry_period);
  if (!lease.ok()) {
    due_ = Due::kRead;
    if (MustReadAgain(lease.status())) due_at_ = done;
    return;
  }
  Observe(*std::move(lease));
  if (!holding_) {
    lead_at_ = now + lead_wait_;
    has_led_ = false;
  }
  holding_ = true;
  contested_ = false;
  absl::MutexLock lock(&mu_);
  state_.epoch = epoch;
  renewed_at_ = now;
}

void LeaseElection::Observe(std::optional<Lease> lease) {
  const bool changed = !looked_ || lease.has_value() != lease_.has_value() ||
                       (lease.has_value() && lease->record != lease_->record);
  if (changed) changed_at_ = clocks_.boot();
  looked_ = true;
  existed_ = existed_ || lease.has_value();
  lease_ = std::move(lease);
  absl::MutexLock lock(&mu_);
  state_.holder = lease_.has_value() ? lease_->holder : "";
  if (lease_.has_value()) {
    highest_epoch_ = std::max(highest_epoch_, lease_->epoch);
  }
}

void LeaseElection::Decide() {
  const bool ours = lease_.has_value() && lease_->holder == identity_;
  // Somebody deleted it: whoever else wants it waits until our term is over.
  if (holding_ && lease_.has_value() && !ours) EndTerm();
  const absl::Duration now = clocks_.boot();
  const absl::Duration free_at = holding_ ? now : FreeAt();
  if (free_at > now) {
    due_at_ = std::min(free_at, now + config_.retry_period);
    return;
  }
  due_ = Due::kWrite;
  due_at_ = std::max(now, wrote_at_ + config_.retry_period);
  if (holding_) return;
  lead_wait_ = absl::ZeroDuration();
  if (ours) lead_wait_ = config_.request_timeout;
  // Who led, or who wrote the higher epoch, may not have noticed yet that it
  // leads no more. It cannot renew once we have written.
  const bool vacant = ours || (lease_.has_value() && lease_->holder.empty());
  if (contested_ || WasDeleted() || (vacant && lease_->unsettled)) {
    lead_wait_ = config_.lease_duration + config_.request_timeout;
  }
}

bool LeaseElection::WasDeleted() const {
  if (lease_.has_value()) return false;
  absl::MutexLock lock(&mu_);
  return existed_ || highest_epoch_ > 0;
}

absl::Duration LeaseElection::FreeAt() const {
  if (config_.observe) return absl::InfiniteDuration();
  if (WasDeleted()) {  // its holder, if alive, writes it again
    return changed_at_ + config_.retry_period + config_.request_timeout;
  }
  if (!lease_.has_value() || lease_->holder.empty() ||
      lease_->holder == identity_) {
    return changed_at_;
  }
  const absl::Duration duration = lease_->duration == absl::ZeroDuration()
                                      ? config_.lease_duration
                                      : lease_->duration;
  return changed_at_ + duration + config_.request_timeout;
}

absl::StatusOr<std::optional<Lease>> LeaseElection::Get() {
  absl::StatusOr<std::string> body =
      client_.Get(Path(kLeaseName), config_.request_timeout);
  if (absl::IsNotFound(body.status())) {
    Note(absl::OkStatus()).IgnoreError();
    return std::optional<Lease>();
  }
  if (!body.ok()) return Note(Named(body.status(), "reading"));
  absl::StatusOr<Lease> lease = ParseLease(*body);
  if (!Note(lease.status()).ok()) return lease.status();
  return std::optional<Lease>(*std::move(lease));
}

absl::StatusOr<Lease> LeaseElection::Put(const LeaseHold& hold) {
  const std::string body = LeaseBody(lease_, hold);
  absl::StatusOr<std::string> answer =
      lease_.has_value()
          ? client_.Replace(Path(kLeaseName), body, config_.request_timeout)
          : client_.Create(Path(""), body, config_.request_timeout);
  if (!answer.ok()) return Note(Named(answer.status(), "writing"));
  absl::StatusOr<Lease> lease = ParseLease(*answer);
  Note(lease.status()).IgnoreError();
  return lease;
}

ResourcePath LeaseElection::Path(std::string name) const {
  return {.group = "coordination.k8s.io",
          .version = "v1",
          .plural = "leases",
          .name_space = config_.name_space,
          .name = std::move(name)};
}

absl::Status LeaseElection::Note(const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  state_.last = status;
  return status;
}

absl::Status LeaseElection::ReleaseStep() {
  if (due_ == Due::kRead) {
    absl::StatusOr<std::optional<Lease>> lease = Get();
    if (!lease.ok()) return lease.status();
    Observe(*std::move(lease));
    released_ = !lease_.has_value() || lease_->holder != identity_;
    due_ = Due::kWrite;
    return absl::OkStatus();
  }
  // Whoever takes it has another identity, and does not wait by itself.
  const bool waited = !has_led_ && lead_wait_ > absl::ZeroDuration();
  absl::StatusOr<Lease> lease = Put({.name_space = config_.name_space,
                                     .duration = absl::Seconds(1),
                                     .at = clocks_.wall(),
                                     .epoch = State().epoch,
                                     .unsettled = lease_->unsettled || waited});
  due_ = Due::kRead;
  if (!lease.ok()) return lease.status();
  Observe(*std::move(lease));
  released_ = true;
  return absl::OkStatus();
}

}  // namespace gpubinder
