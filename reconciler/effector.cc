#include "reconciler/effector.h"

#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "k8s/effect_codec.h"
#include "k8s/kinds.h"
#include "k8s/object_codec.h"
#include "k8s/object_filter.h"
#include "proto/utf8.h"

namespace gpubinder {
namespace {

// Of an outcome: a server's answer may quote the whole object.
constexpr size_t kMostMessageBytes = 1024;

// Effects that are sent one after the other, and what waits for them.
struct Chain {
  DecisionKey key;
  std::vector<std::pair<uint32_t, v1::Effect>> effects;
  // Whether one that fails ends those behind it.
  bool one_set = true;
  std::vector<Chain> then;
};

struct Sent {
  v1::Outcome outcome;
  absl::Time at = absl::InfinitePast();  // when the last request went out
};

bool ProtectsClass(const v1::Effect& effect) {
  return effect.has_add_finalizer() &&
         effect.target().kind() == KindName(Kind::kGpuClass);
}

// A class gets its finalizer before the first binding of it goes out, so the
// rest waits for those.
std::vector<Chain> ChainsOf(const v1::Decision& decision,
                            const DecisionKey& key) {
  absl::btree_map<std::string, Chain> of_set;
  Chain first{.key = key, .one_set = false};
  std::vector<Chain> chains;
  for (int i = 0; i < decision.effects_size(); ++i) {
    const v1::Effect& effect = decision.effects(i);
    const auto entry = std::make_pair(static_cast<uint32_t>(i), effect);
    if (ProtectsClass(effect)) {
      first.effects.push_back(entry);
    } else if (effect.set_key().empty()) {
      chains.push_back({.key = key, .effects = {entry}});
    } else {
      Chain& chain = of_set[effect.set_key()];
      chain.key = key;
      chain.effects.push_back(entry);
    }
  }
  for (auto& [name, chain] : of_set) chains.push_back(std::move(chain));
  if (first.effects.empty()) return chains;
  first.then = std::move(chains);
  std::vector<Chain> only;
  only.push_back(std::move(first));
  return only;
}

// The object of an answer as the journal keeps it; nothing for a kind that is
// not modelled.
std::optional<v1::ObjectEvent> EventOf(Kind kind, const std::string& json) {
  const absl::StatusOr<Object> object = DecodeObject(kind, json);
  std::optional<std::string> kept = FilterForJournal(kind, json);
  if (!object.ok() || !kept.has_value()) return std::nullopt;
  const ObjectMeta& meta = MetaOf(*object);
  v1::ObjectEvent event;
  event.set_type(v1::ObjectEvent::MODIFIED);
  event.set_kind(std::string(KindName(kind)));
  event.set_namespace_(meta.name_space);
  event.set_name(meta.name);
  event.set_uid(meta.uid);
  event.set_resource_version(meta.resource_version);
  event.set_json(*std::move(kept));
  return event;
}

v1::ObjectEvent Gone(const v1::Target& target) {
  v1::ObjectEvent event;
  event.set_type(v1::ObjectEvent::DELETED);
  event.set_kind(target.kind());
  event.set_namespace_(target.namespace_());
  event.set_name(target.name());
  event.set_uid(target.uid());
  return event;
}

bool IsDelete(const v1::Effect& effect) {
  return effect.has_delete_pod() || effect.has_delete_vmi() ||
         effect.has_delete_template_claim() || effect.has_delete_usage_record();
}

}  // namespace

class Effector::Impl {
 public:
  Impl(EffectorOptions options, ApiClient& client)
      : options_(std::move(options)), client_(client) {
    for (int i = 0; i < options_.parallel; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
  }

  ~Impl() {
    stop_.Notify();
    {
      absl::MutexLock lock(&mutex_);
      stopping_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void Send(const v1::Decision& decision, const DecisionKey& key) {
    std::vector<Chain> chains = ChainsOf(decision, key);
    absl::MutexLock lock(&mutex_);
    for (Chain& chain : chains) chains_.push_back(std::move(chain));
  }

 private:
  void Work() {
    while (true) {
      Chain chain;
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(this, &Impl::HasWork));
        if (stopping_) return;
        chain = std::move(chains_.front());
        chains_.pop_front();
      }
      Run(chain);
      absl::MutexLock lock(&mutex_);
      for (Chain& next : chain.then) chains_.push_back(std::move(next));
    }
  }
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !chains_.empty();
  }

  void Run(Chain& chain) {
    bool ended = false;
    // The version that an earlier effect's answer gave, by uid.
    absl::btree_map<std::string, std::string> versions;
    for (auto& [index, effect] : chain.effects) {
      if (stop_.HasBeenNotified()) return;
      v1::Outcome outcome;
      if (ended || !options_.may_write()) {
        outcome.set_kind(v1::Outcome::SKIPPED);
        ended = true;
        Report(chain.key, index, std::move(outcome));
        continue;
      }
      v1::Target& target = *effect.mutable_target();
      auto newer = versions.find(target.uid());
      if (newer != versions.end()) {
        target.set_resource_version(newer->second);
      }
      Sent sent = SendOne(effect, chain.key);
      if (sent.outcome.has_object() && !target.uid().empty()) {
        versions[sent.outcome.object().uid()] =
            sent.outcome.object().resource_version();
      }
      ended = chain.one_set && sent.outcome.kind() != v1::Outcome::APPLIED;
      const bool unknown = sent.outcome.kind() == v1::Outcome::UNKNOWN;
      Report(chain.key, index, std::move(sent.outcome));
      if (unknown) ReadBack(effect, chain.key, index, sent.at);
    }
  }

  Sent SendOne(const v1::Effect& effect, const DecisionKey& key) {
    Sent sent;
    std::string answer;
    for (int done = 0;; ++done) {
      const absl::StatusOr<std::optional<EffectRequest>> request =
          NextRequest(effect, key, done, answer);
      if (!request.ok()) {
        Refuse(request.status(), sent.outcome);
        return sent;
      }
      if (!request->has_value()) break;
      sent.at = absl::Now();
      absl::StatusOr<std::string> got = Call(**request);
      if (!got.ok()) {
        Fail(effect, got.status(), sent.outcome);
        return sent;
      }
      answer = *std::move(got);
    }
    sent.outcome.set_kind(v1::Outcome::APPLIED);
    const std::optional<Kind> kind = KindByName(effect.target().kind());
    if (IsDelete(effect)) {
      // 200 does not say whether it is gone or only being deleted.
      Read(effect, sent.outcome);
    } else if (kind.has_value() && !effect.has_emit_warning()) {
      std::optional<v1::ObjectEvent> event = EventOf(*kind, answer);
      if (event.has_value()) {
        *sent.outcome.mutable_object() = *std::move(event);
      }
    }
    return sent;
  }

  absl::StatusOr<std::string> Call(const EffectRequest& request) {
    switch (request.verb) {
      case EffectRequest::Verb::kCreate:
        return client_.Create(request.path, request.body,
                              options_.request_timeout);
      case EffectRequest::Verb::kPatch:
        return client_.Patch(request.path, request.patch_type, request.body,
                             options_.request_timeout);
      case EffectRequest::Verb::kDelete:
        return client_.Delete(request.path, request.body,
                              options_.request_timeout);
    }
    return absl::InternalError("unknown verb");
  }

  void Refuse(const absl::Status& status, v1::Outcome& outcome) {
    const ApiError error = ApiErrorOf(status);
    outcome.set_kind(v1::Outcome::REFUSED);
    outcome.set_code(error.code);
    const absl::string_view said = error.message.empty()
                                       ? status.message()
                                       : absl::string_view(error.message);
    outcome.set_message(Utf8Within(said, kMostMessageBytes));
    outcome.set_retry_after_seconds(absl::ToInt64Seconds(error.retry_after));
  }

  void Fail(const v1::Effect& effect, const absl::Status& status,
            v1::Outcome& outcome) {
    if (absl::IsDeadlineExceeded(status) || absl::IsDataLoss(status) ||
        absl::IsCancelled(status)) {
      outcome.set_kind(v1::Outcome::UNKNOWN);
      outcome.set_message(Utf8Within(status.message(), kMostMessageBytes));
      return;
    }
    // Its name says that this very Warning was given before.
    if (effect.has_emit_warning() && absl::IsAlreadyExists(status)) {
      outcome.set_kind(v1::Outcome::APPLIED);
      return;
    }
    if (IsDelete(effect) && absl::IsNotFound(status)) {
      outcome.set_kind(v1::Outcome::APPLIED);
      *outcome.mutable_object() = Gone(effect.target());
      return;
    }
    Refuse(status, outcome);
    // Decide again, on what the server has now.
    if (!absl::IsUnavailable(status)) Read(effect, outcome);
  }

  // Puts what the server holds of the effect's object into the outcome.
  // False: the server gave no answer.
  bool Read(const v1::Effect& effect, v1::Outcome& outcome) {
    const std::optional<Kind> kind = KindByName(effect.target().kind());
    if (!kind.has_value() || effect.has_emit_warning()) return true;
    ResourcePath path = ResourcePathOf(*kind);
    path.name_space = effect.target().namespace_();
    path.name = effect.target().name();
    const absl::StatusOr<std::string> got =
        client_.Get(path, options_.request_timeout);
    if (absl::IsNotFound(got.status())) {
      *outcome.mutable_object() = Gone(effect.target());
      return true;
    }
    if (!got.ok()) return false;
    std::optional<v1::ObjectEvent> event = EventOf(*kind, *got);
    if (event.has_value()) *outcome.mutable_object() = *std::move(event);
    return true;
  }

  // The write may arrive as late as its own time limit.
  void ReadBack(const v1::Effect& effect, const DecisionKey& key,
                uint32_t index, absl::Time sent_at) {
    absl::Duration wait = sent_at + options_.request_timeout - absl::Now();
    while (!stop_.WaitForNotificationWithTimeout(
        std::max(wait, absl::ZeroDuration()))) {
      v1::Outcome outcome;
      outcome.set_kind(v1::Outcome::READ_BACK);
      if (Read(effect, outcome)) {
        Report(key, index, std::move(outcome));
        return;
      }
      wait = absl::Seconds(1);
    }
  }

  void Report(const DecisionKey& key, uint32_t index, v1::Outcome outcome) {
    outcome.set_decision(key.sequence);
    outcome.set_effect(index);
    RepairText(outcome);
    options_.on_outcome(std::move(outcome));
  }

  const EffectorOptions options_;
  ApiClient& client_;
  absl::Notification stop_;
  absl::Mutex mutex_;
  std::deque<Chain> chains_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

Effector::Effector(EffectorOptions options, ApiClient& client)
    : impl_(std::make_unique<Impl>(std::move(options), client)) {}
Effector::~Effector() = default;

void Effector::Send(const v1::Decision& decision, const DecisionKey& key) {
  impl_->Send(decision, key);
}

}  // namespace gpubinder
