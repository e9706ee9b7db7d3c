// A snapshot that is told of records, for tests of the fold.

#ifndef RECONCILER_MODEL_FOLD_FIXTURE_H_
#define RECONCILER_MODEL_FOLD_FIXTURE_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// Tells a snapshot of objects, one record after the other.
class FoldTest : public testing::Test {
 protected:
  Change Tell(v1::Record record, std::optional<Object> object = std::nullopt) {
    record.set_sequence(++sequence_);
    record.set_time_unix_nanos(absl::ToUnixNanos(now_));
    return Fold(record, std::move(object), snapshot_);
  }
  static v1::ObjectEvent Event(v1::ObjectEvent::Type type,
                               const Object& object) {
    v1::ObjectEvent event;
    event.set_type(type);
    event.set_kind(std::string(KindName(KindOf(object))));
    event.set_namespace_(MetaOf(object).name_space);
    event.set_name(MetaOf(object).name);
    event.set_uid(MetaOf(object).uid);
    event.set_resource_version(MetaOf(object).resource_version);
    return event;
  }
  Change See(v1::ObjectEvent::Type type, const Object& object) {
    v1::Record record;
    *record.mutable_object() = Event(type, object);
    return Tell(std::move(record), object);
  }
  Change Answer(v1::Outcome::Kind kind, const Object& object) {
    v1::Record record;
    record.mutable_outcome()->set_kind(kind);
    *record.mutable_outcome()->mutable_object() =
        Event(v1::ObjectEvent::MODIFIED, object);
    return Tell(std::move(record), object);
  }
  // A leader's pin of the pod, which the server refuses.
  void RefusePin(const std::string& pod_uid, int code,
                 const std::string& message) {
    v1::Record decision;
    decision.set_role(v1::LEADER);
    v1::Effect& pin = *decision.mutable_decision()->add_effects();
    pin.mutable_pin_pod();
    pin.mutable_target()->set_uid(pod_uid);
    Tell(std::move(decision));
    v1::Record refused;
    v1::Outcome& outcome = *refused.mutable_outcome();
    outcome.set_decision(sequence_);
    outcome.set_kind(v1::Outcome::REFUSED);
    outcome.set_code(code);
    outcome.set_message(message);
    Tell(std::move(refused));
  }
  Change Begin(Kind kind) {
    v1::Record record;
    record.mutable_list_began()->set_kind(std::string(KindName(kind)));
    return Tell(std::move(record));
  }
  Change End(Kind kind) {
    v1::Record record;
    record.mutable_list_ended()->set_kind(std::string(KindName(kind)));
    record.mutable_list_ended()->set_resource_version("500");
    return Tell(std::move(record));
  }
  Change Serve(Kind kind, bool served) {
    v1::Record record;
    record.mutable_kind_served()->set_kind(std::string(KindName(kind)));
    record.mutable_kind_served()->set_served(served);
    return Tell(std::move(record));
  }
  // A Bound claim on node `node`.
  static GpuClaim Claim(const std::string& name, const std::string& uid,
                        const std::string& version, const std::string& node) {
    GpuClaim claim{.phase = "Bound", .node_name = node};
    claim.meta = {.name_space = "t",
                  .name = name,
                  .uid = uid,
                  .resource_version = version};
    return claim;
  }
  const GpuClaim* Find(const std::string& name) const {
    return snapshot_.claims().Find("t", name);
  }

  Snapshot snapshot_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  uint64_t sequence_ = 0;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_FOLD_FIXTURE_H_
