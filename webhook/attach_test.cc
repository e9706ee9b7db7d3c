#include "webhook/attach.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/admission_review.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Objects by path, as a server holds them, with versions and preconditions.
class FakeApi : public ApiClient {
 public:
  std::map<std::string, Json> objects;
  std::vector<std::string> calls;  // "GET name", "PATCH name"
  // Runs before the call of that number (from 0) is answered; what it returns
  // other than OK is the answer.
  std::function<absl::Status(size_t)> before = [](size_t) {
    return absl::OkStatus();
  };
  std::function<void(absl::Duration)> on_timeout = [](absl::Duration) {};

  absl::StatusOr<std::string> Get(const ResourcePath& path,
                                  absl::Duration timeout) override {
    if (absl::Status s = Begin("GET ", path, timeout); !s.ok()) return s;
    auto found = objects.find(Key(path));
    if (found == objects.end()) return absl::NotFoundError("not found");
    return found->second.dump();
  }
  absl::StatusOr<std::string> Patch(const ResourcePath& path, PatchType type,
                                    absl::string_view body,
                                    absl::Duration timeout) override {
    EXPECT_EQ(type, PatchType::kMerge);
    EXPECT_EQ(path.subresource, "status");
    if (absl::Status s = Begin("PATCH ", path, timeout); !s.ok()) return s;
    auto found = objects.find(Key(path));
    if (found == objects.end()) return absl::NotFoundError("not found");
    const Json patch = Json::parse(body.begin(), body.end());
    Json& object = found->second;
    if (patch.at("metadata").at("uid") != object["metadata"]["uid"]) {
      return absl::FailedPreconditionError("metadata.uid: immutable");
    }
    const std::string version = object["metadata"]["resourceVersion"];
    if (patch["metadata"].at("resourceVersion") != version) {
      return absl::AbortedError("the object has been modified");
    }
    object.merge_patch(patch);
    Touch(object);
    return object.dump();
  }
  absl::StatusOr<std::string> List(const ResourcePath&,
                                   const ListOptions&) override {
    return absl::UnimplementedError("List");
  }
  absl::Status Watch(const ResourcePath&, const WatchOptions&,
                     const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("Watch");
  }
  absl::StatusOr<std::string> Create(const ResourcePath&, absl::string_view,
                                     absl::Duration) override {
    return absl::UnimplementedError("Create");
  }
  absl::StatusOr<std::string> Replace(const ResourcePath&, absl::string_view,
                                      absl::Duration) override {
    return absl::UnimplementedError("Replace");
  }
  absl::StatusOr<std::string> Delete(const ResourcePath&, absl::string_view,
                                     absl::Duration) override {
    return absl::UnimplementedError("Delete");
  }
  void Stop() override {}

  static void Touch(Json& object) {
    Json& version = object["metadata"]["resourceVersion"];
    version = std::to_string(std::stoi(version.get<std::string>()) + 1);
  }
  Json& claim(const std::string& name) { return objects["gpuclaims/" + name]; }
  void AddVmi(const std::string& name, const std::string& uid,
              const std::string& phase) {
    objects["virtualmachineinstances/" + name] = VmiJson(name, uid, phase);
  }

 private:
  static std::string Key(const ResourcePath& path) {
    EXPECT_EQ(path.name_space, kTenant);
    return path.plural + "/" + path.name;
  }
  absl::Status Begin(const std::string& verb, const ResourcePath& path,
                     absl::Duration timeout) {
    on_timeout(timeout);
    calls.push_back(verb + path.name);
    return before(calls.size() - 1);
  }
};

class AdmitAndAttachTest : public testing::Test {
 protected:
  AdmitAndAttachTest() : snapshot_(SampleCluster()) {
    for (const char* name : {"one", "two"}) AddClaim(name);
  }

  // To the server and to the snapshot.
  void AddClaim(const std::string& name, const Json& attached = nullptr) {
    Json claim = ClaimJson(name, "h100", 1);
    if (!attached.is_null()) claim["status"]["attachedTo"] = attached;
    api_.claim(name) = claim;
    Put(Kind::kGpuClaim, claim, snapshot_);
  }

  Json Holding() const {
    return VmiReview(
        Json::parse(R"([{"claimName": "one"}, {"claimName": "two"}])"));
  }

  TakenAnswer Admit(const Json& review) {
    Admission admission{.read = [this](auto use) { use(snapshot_); },
                        .client = &api_,
                        .clock = [this] { return now_; }};
    const absl::StatusOr<std::string> answer =
        AdmitAndAttach(review.dump(), admission);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? Take(review, *answer) : TakenAnswer();
  }

  std::string HolderOf(const std::string& claim) {
    return api_.claim(claim).value(
        Json::json_pointer("/status/attachedTo/name"), std::string());
  }

  Snapshot snapshot_;
  FakeApi api_;
  absl::Time now_ = SampleNow();
};

TEST_F(AdmitAndAttachTest, WritesNameAndSinceBeforeItAnswers) {
  const TakenAnswer answer = Admit(Holding());
  EXPECT_TRUE(answer.allowed) << answer.message;
  EXPECT_EQ(answer.object["spec"]["domain"]["devices"]["gpus"].size(), 2u);
  EXPECT_THAT(api_.calls, ElementsAre("PATCH one", "PATCH two"));
  const Json& attached = api_.claim("two")["status"]["attachedTo"];
  EXPECT_EQ(attached["name"], "a1");
  EXPECT_EQ(attached["since"], "2026-12-01T12:00:00Z");
  EXPECT_EQ(attached.value("uid", ""), "");
}

TEST_F(AdmitAndAttachTest, WritesNothingOnDryRunOrRefusal) {
  Json dry = Holding();
  dry["request"]["dryRun"] = true;
  EXPECT_TRUE(Admit(dry).allowed);
  Json refused = VmiReview(Json::parse(
      R"([{"claimName": "one"}, {"claimTemplate": {"className": "h200"}}])"));
  EXPECT_EQ(Admit(refused).reason, "ClassNotFound");
  EXPECT_THAT(api_.calls, IsEmpty());
}

TEST_F(AdmitAndAttachTest, IsCalledAgainWithAStaleSnapshot) {
  EXPECT_TRUE(Admit(Holding()).allowed);
  api_.calls.clear();
  // Another second, so that the attachment is written anew; the snapshot has
  // not seen the first one.
  now_ += absl::Seconds(1);
  const TakenAnswer again = Admit(Holding());
  EXPECT_TRUE(again.allowed) << again.message;
  EXPECT_EQ(api_.claim("one")["status"]["attachedTo"]["since"],
            "2026-12-01T12:00:01Z");
  EXPECT_THAT(api_.calls, ElementsAre("PATCH one", "GET one", "PATCH one",
                                      "PATCH two", "GET two", "PATCH two"))
      << "each lost race costs one reading and one review";
}

TEST_F(AdmitAndAttachTest, LosingARaceToAnotherVmiRefuses) {
  api_.AddVmi("b2", "b2uid", "Pending");
  api_.before = [this](size_t call) {
    if (call == 1) {  // between the writes to "one" and "two"
      api_.claim("two")["status"]["attachedTo"] = AttachedTo("b2", "", now_);
      FakeApi::Touch(api_.claim("two"));
    }
    return absl::OkStatus();
  };
  const TakenAnswer answer = Admit(Holding());
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.reason, "ClaimAttachedElsewhere");
  EXPECT_THAT(answer.message, HasSubstr("entry 1: GPUClaim \"two\""));
  EXPECT_EQ(HolderOf("two"), "b2");
}

TEST_F(AdmitAndAttachTest, AChangeOfSomethingElseCostsOneMoreTry) {
  FakeApi::Touch(api_.claim("one"));
  EXPECT_TRUE(Admit(Holding()).allowed);
  EXPECT_THAT(api_.calls,
              ElementsAre("PATCH one", "GET one", "PATCH one", "PATCH two"));
}

TEST_F(AdmitAndAttachTest, GivesUpAfterABoundedNumberOfLostRaces) {
  api_.before = [this](size_t) {
    FakeApi::Touch(api_.claim("one"));
    return absl::OkStatus();
  };
  const TakenAnswer answer = Admit(Holding());
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 409);
  EXPECT_EQ(answer.reason, "Conflict");
  EXPECT_THAT(answer.message, HasSubstr("GPUClaim tenant-acme/one"));
  EXPECT_EQ(api_.calls.size(), 8u) << "four writes and four readings";
}

TEST_F(AdmitAndAttachTest, AnUnknownOutcomeIsReadBack) {
  api_.before = [this](size_t call) {
    if (call != 0) return absl::OkStatus();
    api_.claim("one")["status"]["attachedTo"] = AttachedTo("a1", "", now_);
    FakeApi::Touch(api_.claim("one"));
    return absl::DeadlineExceededError("cut");
  };
  EXPECT_TRUE(Admit(Holding()).allowed);
  EXPECT_THAT(api_.calls, ElementsAre("PATCH one", "GET one", "PATCH two"));
}

TEST_F(AdmitAndAttachTest, AClaimMadeAnewIsAttachedUnderItsNewUid) {
  api_.claim("one")["metadata"]["uid"] = "uid-one-2";
  FakeApi::Touch(api_.claim("one"));
  EXPECT_TRUE(Admit(Holding()).allowed);
  EXPECT_EQ(HolderOf("one"), "a1");
}

TEST_F(AdmitAndAttachTest, AClaimThatIsGoneRefuses) {
  api_.objects.erase("gpuclaims/one");
  EXPECT_EQ(Admit(Holding()).reason, "ClaimNotFound");
}

TEST_F(AdmitAndAttachTest, FindsAClaimThatTheSnapshotHasNotSeen) {
  api_.claim("late") = ClaimJson("late", "h100", 1);
  EXPECT_TRUE(
      Admit(VmiReview(Json::parse(R"([{"claimName": "late"}])"))).allowed);
  EXPECT_THAT(api_.calls, ElementsAre("GET late", "PATCH late"));
}

TEST_F(AdmitAndAttachTest, ReadsADoubtfulClaimOnce) {
  const TakenAnswer answer =
      Admit(VmiReview(Json::parse(R"([{"claimName": "nowhere"}])")));
  EXPECT_EQ(answer.reason, "ClaimNotFound");
  EXPECT_THAT(api_.calls, ElementsAre("GET nowhere"));
}

TEST_F(AdmitAndAttachTest, TakesNothingFromAVmiThatTheSnapshotHasNotSeen) {
  for (const char* uid : {"b2uid", ""}) {
    AddClaim("one", AttachedTo("b2", uid, now_ - absl::Hours(1)));
    api_.AddVmi("b2", "b2uid", "Running");
    const TakenAnswer answer = Admit(Holding());
    EXPECT_EQ(answer.reason, "ClaimAttachedElsewhere") << uid;
    EXPECT_EQ(HolderOf("one"), "b2") << uid;
    EXPECT_EQ(HolderOf("two"), "") << uid;
  }
}

TEST_F(AdmitAndAttachTest, TakesWhatAVmiLeftBehind) {
  AddClaim("one", AttachedTo("b2", "b2uid", now_));
  EXPECT_TRUE(Admit(Holding()).allowed) << "no such VMI";
  AddClaim("one", AttachedTo("b2", "b2uid", now_));
  api_.AddVmi("b2", "b2new", "Running");
  EXPECT_TRUE(Admit(Holding()).allowed) << "another VMI of that name";
  AddClaim("one", AttachedTo("b2", "b2uid", now_));
  api_.AddVmi("b2", "b2uid", "Failed");
  EXPECT_TRUE(Admit(Holding()).allowed) << "it has ended";
  EXPECT_EQ(HolderOf("one"), "a1");
}

TEST_F(AdmitAndAttachTest, AnApiThatDoesNotAnswerRefusesForNow) {
  for (const absl::Status& error :
       {absl::UnavailableError("refused"), absl::UnauthenticatedError("401"),
        absl::FailedPreconditionError("forbidden"),
        absl::CancelledError("stopped")}) {
    api_.before = [&](size_t) {
      return api_.calls.back() == "PATCH one" ? error : absl::OkStatus();
    };
    api_.calls.clear();
    const TakenAnswer answer = Admit(Holding());
    EXPECT_FALSE(answer.allowed);
    EXPECT_EQ(answer.code, 503) << error;
    EXPECT_EQ(answer.reason, "ServiceUnavailable");
    EXPECT_THAT(answer.message,
                HasSubstr("attaching GPUClaim tenant-acme/one: " +
                          std::string(error.message())));
    EXPECT_LE(api_.calls.size(), 2u);
  }
}

TEST_F(AdmitAndAttachTest, CallsShareOneDeadline) {
  std::vector<absl::Duration> timeouts;
  api_.on_timeout = [&](absl::Duration timeout) {
    timeouts.push_back(timeout);
    now_ += absl::Milliseconds(1500);
  };
  api_.before = [](size_t) { return absl::DeadlineExceededError("slow"); };
  // Reads fail with what writes fail with, so the first reading ends it.
  EXPECT_EQ(Admit(Holding()).code, 503);
  EXPECT_THAT(timeouts, ElementsAre(absl::Seconds(2), absl::Seconds(2)));
  timeouts.clear();
  api_.before = [this](size_t) {
    return api_.calls.back() == "PATCH one"
               ? absl::DeadlineExceededError("slow")
               : absl::OkStatus();
  };
  const TakenAnswer answer = Admit(Holding());
  EXPECT_EQ(answer.code, 503);
  EXPECT_THAT(answer.message, HasSubstr("within 4s"));
  EXPECT_THAT(timeouts, ElementsAre(absl::Seconds(2), absl::Seconds(2),
                                    absl::Seconds(1)));
}

TEST_F(AdmitAndAttachTest, PodsNeedNoCalls) {
  const TakenAnswer answer =
      Admit(PodReview(Json::parse(R"([{"claimName": "one"}])")));
  EXPECT_TRUE(answer.allowed);
  EXPECT_FALSE(answer.patch.empty());
  EXPECT_THAT(api_.calls, IsEmpty());
}

TEST_F(AdmitAndAttachTest, WhatIsNoReviewIsAnError) {
  Admission admission{.read = [this](auto use) { use(snapshot_); },
                      .client = &api_,
                      .clock = [this] { return now_; }};
  const absl::StatusOr<std::string> answer = AdmitAndAttach("{}", admission);
  EXPECT_EQ(HttpCodeOf(answer.status()), 400);
  EXPECT_THAT(api_.calls, IsEmpty());
}

}  // namespace
}  // namespace gpubinder
