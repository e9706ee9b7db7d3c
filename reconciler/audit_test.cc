#include "reconciler/audit.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/check.h"
#include "proto/journal.pb.h"
#include "reconciler/model/config.h"
#include "reconciler/model/pass.h"
#include "reconciler/record_fold.h"

namespace gpubinder {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1767225600);

// A journal of a cluster with nodes a (4 units) and b (2), class h100 and the
// order z of one unit: by O1 the first pass binds z to b, the fullest.
class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    folder_ = absl::StrCat(testing::TempDir(), "/audit_XXXXXX");
    BINDER_CHECK(mkdtemp(folder_.data()) != nullptr);
    JournalOptions options;
    options.directory = folder_ + "/journal";
    options.random = [] { return 0x5e1f09ab00000000u; };
    options.clock = [] { return kNow; };
    absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(options);
    BINDER_CHECK(journal.ok());
    journal_ = *std::move(journal);
    v1::Record lead, config;
    lead.mutable_leadership()->set_leading(true);
    Append(std::move(lead));
    *config.mutable_config() = ConfigRecord(Config{});
    Append(std::move(config));
    List("Node", {NodeJson("a", "4"), NodeJson("b", "2")});
    List("GPUClass", {R"({"metadata": {"name": "h100", "uid": "uid-h100",
              "resourceVersion": "1",
              "finalizers": ["gpu.cozystack.io/class-in-use"]},
              "spec": {"resourceName": "nvidia.com/H100"}})"});
    List("GPUClaim", {R"({"metadata": {"namespace": "t", "name": "z",
              "uid": "uid-z", "resourceVersion": "1",
              "creationTimestamp": "2026-01-01T00:00:00Z",
              "finalizers": ["gpu.cozystack.io/claim-protection"]},
              "spec": {"className": "h100", "count": 1}})"});
    for (const char* kind : {"GPUClaimSet", "Pod", "Namespace", "ResourceQuota",
                             "PersistentVolumeClaim", "PersistentVolume"}) {
      List(kind, {});
    }
  }
  ~AuditTest() override {
    journal_.reset();
    std::filesystem::remove_all(folder_);
  }

  static std::string NodeJson(const char* name, const char* units) {
    return absl::StrCat(
        R"({"metadata": {"name": ")", name, R"(", "uid": "uid-)", name,
        R"(", "resourceVersion": "1"}, "status": {"allocatable":
            {"nvidia.com/H100": ")",
        units, R"("}, "conditions": [{"type": "Ready", "status": "True"}]}})");
  }

  uint64_t Append(v1::Record record) {
    if (record.time_unix_nanos() == 0) {
      record.set_time_unix_nanos(absl::ToUnixNanos(kNow));
    }
    record.set_epoch(1);
    record.set_role(v1::LEADER);
    if (record.model_version() == 0) record.set_model_version(kModelVersion);
    BINDER_CHECK(journal_->Append(absl::MakeSpan(&record, 1)).ok());
    FoldRecord(record, snapshot_);
    return record.sequence();
  }

  void List(const char* kind, const std::vector<std::string>& objects) {
    v1::Record began, ended;
    began.mutable_list_began()->set_kind(kind);
    Append(std::move(began));
    for (const std::string& json : objects) {
      v1::Record record;
      v1::ObjectEvent& event = *record.mutable_object();
      event.set_type(v1::ObjectEvent::LISTED);
      event.set_kind(kind);
      event.set_json(json);
      Append(std::move(record));
    }
    ended.mutable_list_ended()->set_kind(kind);
    Append(std::move(ended));
  }

  // Runs a pass and records what `change` makes of its decision; the
  // sequence of that record.
  uint64_t Pass(const std::function<void(v1::Record&)>& change) {
    v1::Record began, decided;
    began.mutable_pass_began()->set_time_unix_nanos(absl::ToUnixNanos(kNow));
    began.mutable_pass_began()->set_through(journal_->last_sequence());
    const uint64_t pass = Append(std::move(began));
    *decided.mutable_decision() = ToRecord(RunPass(snapshot_, kNow), pass);
    change(decided);
    return Append(std::move(decided));
  }
  uint64_t Pass() {
    return Pass([](v1::Record&) {});
  }

  void Answer(uint64_t decision, uint32_t effect, v1::Outcome::Kind kind) {
    v1::Record record;
    record.mutable_outcome()->set_decision(decision);
    record.mutable_outcome()->set_effect(effect);
    record.mutable_outcome()->set_kind(kind);
    Append(std::move(record));
  }

  // The faults, "sequence: text".
  std::vector<std::string> Faults() {
    std::vector<std::string> faults;
    report_ =
        Audit(*journal_,
              {.on_fault = [&](uint64_t sequence, const std::string& text) {
                faults.push_back(absl::StrCat(sequence, ": ", text));
              }});
    EXPECT_TRUE(report_.read.ok()) << report_.read;
    EXPECT_EQ(report_.faults, faults.size());
    return faults;
  }
  void ExpectFault(uint64_t sequence, const char* text) {
    const std::vector<std::string> faults = Faults();
    for (const std::string& fault : faults) {
      if (absl::StartsWith(fault, absl::StrCat(sequence, ": ")) &&
          absl::StrContains(fault, text)) {
        return;
      }
    }
    ADD_FAILURE() << "no fault of record " << sequence << " says: " << text
                  << "\nthe faults: " << absl::StrJoin(faults, "\n");
  }

  std::string folder_;
  std::unique_ptr<Journal> journal_;
  Snapshot snapshot_;
  AuditReport report_;
};

// The binding of a decision, its index.
uint32_t BindingOf(const v1::Decision& decision) {
  for (int i = 0; i < decision.effects_size(); ++i) {
    if (decision.effects(i).has_bind_claim()) return static_cast<uint32_t>(i);
  }
  ADD_FAILURE() << "nothing is bound";
  return 0;
}

TEST_F(AuditTest, ARightJournalHasNoFault) {
  std::string node;
  uint32_t binding = 0;
  const uint64_t decision = Pass([&](v1::Record& record) {
    binding = BindingOf(record.decision());
    node = record.decision()
               .effects(static_cast<int>(binding))
               .bind_claim()
               .node_name();
  });
  Answer(decision, binding, v1::Outcome::UNKNOWN);
  Pass();  // the order is frozen
  Answer(decision, binding, v1::Outcome::READ_BACK);
  EXPECT_EQ(absl::StrJoin(Faults(), "\n"), "");
  EXPECT_EQ(node, "b");
  EXPECT_EQ(report_.passes, 2u);
  EXPECT_EQ(report_.outcomes, 2u);
  EXPECT_EQ(report_.records, journal_->last_sequence());
  EXPECT_EQ(report_.last_digest.size(), 32u);
}

TEST_F(AuditTest, ARecordedChoiceThatNoRuleGivesIsNamedByTheNaiveModel) {
  const uint64_t decision = Pass([](v1::Record& record) {
    const int at = static_cast<int>(BindingOf(record.decision()));
    record.mutable_decision()
        ->mutable_effects(at)
        ->mutable_bind_claim()
        ->set_node_name("a");
  });
  ExpectFault(decision, "naive model: t/claim:z: O1 binds z to b, the pass to");
  ExpectFault(decision, "J3: the pass gives another result");
}

TEST_F(AuditTest, ABindingToNoNodeBreaksAnInvariant) {
  const uint64_t decision = Pass([](v1::Record& record) {
    const int at = static_cast<int>(BindingOf(record.decision()));
    record.mutable_decision()
        ->mutable_effects(at)
        ->mutable_bind_claim()
        ->set_node_name("nowhere");
  });
  ExpectFault(decision, "C4: GPUClaim z: no such node or class");
}

TEST_F(AuditTest, PassesOfAnotherModelAreCountedOnly) {
  Pass([](v1::Record& record) {
    record.set_model_version(kModelVersion + 1);
    record.mutable_decision()->clear_effects();
  });
  EXPECT_EQ(absl::StrJoin(Faults(), "\n"), "");
  EXPECT_EQ(report_.passes, 0u);
  EXPECT_EQ(report_.skipped, 1u);
}

TEST_F(AuditTest, TimeThatRunsBackwardsIsAFault) {
  v1::Record note;
  note.mutable_note()->set_text("early");
  note.set_time_unix_nanos(absl::ToUnixNanos(kNow - absl::Seconds(1)));
  ExpectFault(Append(std::move(note)), "R4: the time runs backwards");
}

TEST_F(AuditTest, ADecisionOfNoPassIsAFault) {
  v1::Record lost;
  lost.mutable_decision()->set_pass(3);
  ExpectFault(Append(std::move(lost)), "J3: the decision is of a pass");
}

TEST_F(AuditTest, AnAnswerToNothingIsAFault) {
  const uint64_t decision = Pass();
  Answer(decision, 99, v1::Outcome::APPLIED);
  ExpectFault(decision + 1, "J1: an answer to effect 99 of record");
}

TEST_F(AuditTest, ASecondAnswerIsAFault) {
  const uint64_t decision = Pass();
  Answer(decision, 0, v1::Outcome::APPLIED);
  Answer(decision, 0, v1::Outcome::APPLIED);
  ExpectFault(decision + 2, "is answered already");
}

TEST_F(AuditTest, AnUnknownOutcomeMustBeReadBack) {
  const uint64_t decision = Pass();
  Answer(decision, 0, v1::Outcome::UNKNOWN);
  Answer(decision, 0, v1::Outcome::APPLIED);
  ExpectFault(decision + 2, "F5: GPUClaim z: answered after an unknown");
}

TEST_F(AuditTest, AWriteBeforeTheLastOneIsAnsweredIsAFault) {
  v1::Decision first;
  Pass([&](v1::Record& record) { first = record.decision(); });
  const uint64_t second = Pass([&](v1::Record& record) {
    *record.mutable_decision()->mutable_effects() = first.effects();
  });
  ExpectFault(second, "F5: GPUClaim z: written while an earlier write has");
}

TEST_F(AuditTest, AnAnswerToAnEarlierReignMayComeLate) {
  const uint64_t decision = Pass();
  v1::Record lead;
  lead.mutable_leadership()->set_leading(true);
  Append(std::move(lead));
  Answer(decision, 0, v1::Outcome::APPLIED);
  EXPECT_EQ(absl::StrJoin(Faults(), "\n"), "");
}

TEST_F(AuditTest, BoundAtMustNotRunBackwards) {
  v1::Decision first;
  const uint64_t decision =
      Pass([&](v1::Record& record) { first = record.decision(); });
  for (int i = 0; i < first.effects_size(); ++i) {
    Answer(decision, static_cast<uint32_t>(i), v1::Outcome::REFUSED);
  }
  const uint64_t second = Pass([&](v1::Record& record) {
    *record.mutable_decision()->mutable_effects() = first.effects();
    const int at = static_cast<int>(BindingOf(first));
    v1::BindClaim& bind =
        *record.mutable_decision()->mutable_effects(at)->mutable_bind_claim();
    bind.set_bound_at_unix_seconds(bind.bound_at_unix_seconds() - 60);
  });
  ExpectFault(second, "O3: GPUClaim z: boundAt runs backwards");
}

TEST_F(AuditTest, ASecondDeleteOfOnePodIsAFault) {
  uint64_t last = 0;
  for (int i = 0; i < 2; ++i) {
    const uint64_t decision = Pass([](v1::Record& record) {
      record.mutable_decision()->clear_effects();
      v1::Effect& effect = *record.mutable_decision()->add_effects();
      effect.mutable_target()->set_kind("Pod");
      effect.mutable_target()->set_name("p");
      effect.mutable_target()->set_uid("uid-p");
      effect.mutable_delete_pod();
    });
    Answer(decision, 0, v1::Outcome::APPLIED);
    last = decision + 1;
  }
  ExpectFault(last, "P6: Pod p: a second delete of its uid");
}

}  // namespace
}  // namespace gpubinder
