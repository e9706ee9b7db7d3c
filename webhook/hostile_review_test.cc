// Any bytes in: a well-formed answer or a 4xx, and what is answered keeps the
// properties of rules W5 and W6: the patch applies, touches its own lists
// only, and is empty when its result is reviewed.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "webhook/review.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using Random = std::mt19937_64;

uint64_t Seed() {
  const char* given = std::getenv("GPUBINDER_TEST_SEED");
  uint64_t seed = 0;
  if (given != nullptr && absl::SimpleAtoi(given, &seed)) return seed;
  return std::random_device()();
}

size_t Below(size_t end, Random& random) { return random() % end; }

Snapshot Cluster() {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 2), snapshot);
  Put(Kind::kGpuClaim, ClaimJson("slow", "l40s", 1), snapshot);
  return snapshot;
}

Json RandomClaims(Random& random) {
  static const std::vector<Json> kEntries = {
      Json::parse(R"({"claimName": "data"})"),
      Json::parse(R"({"claimName": "slow"})"),
      Json::parse(R"({"claimName": "nowhere"})"),
      Json::parse(R"({"claimTemplate": {"className": "h100"}})"),
      Json::parse(R"({"claimTemplate": {"className": "h100", "count": 4}})"),
      Json::parse(R"({"claimTemplate": {"className": "l40s"}})"),
      Json::parse(R"({"claim": 1})"),
  };
  Json claims = Json::array();
  // Mostly legal, so that patches are made too.
  for (size_t left = Below(4, random); left > 0; --left) {
    claims.push_back(kEntries[Below(Below(3, random) == 0 ? 7 : 5, random)]);
  }
  return claims;
}

Json RandomReview(Random& random) {
  const Json claims = RandomClaims(random);
  return Below(2, random) == 0 ? VmiReview(claims) : PodReview(claims);
}

const std::vector<Json>& Values() {
  static const std::vector<Json> kValues = {
      nullptr,
      true,
      -1,
      18446744073709551615u,
      1e300,
      "",
      "gpuclaim-0-0",
      "gpu.cozystack.io/claims",
      Json::array(),
      Json::object(),
      Json::parse("[[[[]]]]"),
      Json::parse(R"([{"name": "gpuclaim-0-0", "deviceName": "x"}])"),
      Json::parse(R"([{"name": "gpu.cozystack.io/claims"}])"),
      Json::parse(R"([null, 1, "a", {}])"),
      Json::parse(R"({"a": {"b": []}})"),
  };
  return kValues;
}

// Puts one of Values in the place of a random value, or takes it out.
void ChangeValue(Json& review, Random& random) {
  Json* at = &review;
  while (at->is_structured() && !at->empty() && Below(8, random) != 0) {
    auto child = at->begin();
    std::advance(child, Below(at->size(), random));
    if (Below(20, random) == 0) {
      at->erase(child);
      return;
    }
    at = &*child;
  }
  *at = Values()[Below(Values().size(), random)];
}

void ChangeBytes(std::string& body, Random& random) {
  for (size_t left = 1 + Below(4, random); left > 0 && !body.empty(); --left) {
    const size_t place = Below(body.size(), random);
    const size_t length = Below(1 + body.size() / 16, random);
    switch (Below(5, random)) {
      case 0:
        body[place] = static_cast<char>(random());
        break;
      case 1:
        body.erase(place, length);
        break;
      case 2:
        body.insert(place, body.substr(Below(body.size(), random), length));
        break;
      case 3:
        body.insert(place, 1, "{}[]\",:\\0-e"[Below(11, random)]);
        break;
      default:
        body.resize(place);
    }
  }
}

bool IsOurPath(const std::string& path) {
  for (const char* legal :
       {"/spec", "/spec/domain", "/spec/domain/devices",
        "/spec/domain/devices/gpus", "/spec/domain/devices/gpus/-",
        "/spec/schedulingGates", "/spec/schedulingGates/-", "/spec/tolerations",
        "/spec/tolerations/-"}) {
    if (path == legal) return true;
  }
  return false;
}

// Checks the answer to a review without names that are there twice, of which
// each reader takes another; says whether it had a patch.
bool CheckProperties(const Json& review, const Snapshot& snapshot) {
  const absl::StatusOr<std::string> response =
      Review(review.dump(), snapshot, SampleNow());
  if (!response.ok()) return false;
  const TakenAnswer answer = Take(review, *response);
  EXPECT_EQ(answer.allowed, answer.message.empty());
  EXPECT_LE(answer.message.size(), 1024u);
  for (const Json& operation : answer.patch) {
    EXPECT_EQ(operation.at("op"), "add");
    EXPECT_TRUE(IsOurPath(operation.at("path"))) << operation;
  }
  if (answer.patch.empty()) return false;
  Json again = review;
  again["request"]["object"] = answer.object;
  const TakenAnswer second = AnswerTo(again, snapshot);
  EXPECT_TRUE(second.allowed) << second.message;
  EXPECT_TRUE(second.patch.empty()) << second.patch << " for " << again;
  return true;
}

// Checks the answer to any body; says whether there was a patch.
bool CheckAnswer(const std::string& body, const Snapshot& snapshot) {
  const absl::StatusOr<std::string> response =
      Review(body, snapshot, SampleNow());
  if (!response.ok()) {
    EXPECT_TRUE(absl::IsInvalidArgument(response.status()))
        << response.status();
    return false;
  }
  const Json inner = Json::parse(*response).at("response");
  EXPECT_FALSE(inner.at("uid").get<std::string>().empty());
  EXPECT_EQ(inner.contains("patch"), inner.contains("patchType"));
  EXPECT_NE(inner.at("allowed").get<bool>(), inner.contains("status"));
  if (inner.contains("status")) {
    const int code = inner["status"].at("code");
    EXPECT_TRUE(code >= 400 && code < 500) << code;
  }
  const Json review = Json::parse(body, nullptr, false);
  EXPECT_FALSE(review.is_discarded()) << "answered what is no JSON";
  return !review.is_discarded() && CheckProperties(review, snapshot);
}

class HostileReview : public testing::Test {
 protected:
  HostileReview() : seed_(Seed()), random_(seed_) {
    std::cout << "seed " << seed_ << " (GPUBINDER_TEST_SEED)\n";
  }
  const uint64_t seed_;
  Random random_;
};

TEST_F(HostileReview, ChangedValues) {
  const Snapshot snapshot = Cluster();
  int patched = 0;
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    Json review = RandomReview(random_);
    for (size_t left = Below(4, random_); left > 0; --left) {
      ChangeValue(review, random_);
    }
    SCOPED_TRACE(
        absl::StrCat("seed ", seed_, ", review ", i, ": ", review.dump()));
    if (CheckAnswer(review.dump(), snapshot)) ++patched;
  }
  EXPECT_GT(patched, 300) << "the property was hardly tried";
}

TEST_F(HostileReview, ChangedBytes) {
  const Snapshot snapshot = Cluster();
  for (int i = 0; i < 5000 && !HasFailure(); ++i) {
    std::string body = RandomReview(random_).dump();
    ChangeBytes(body, random_);
    SCOPED_TRACE(absl::StrCat("seed ", seed_, ", body ", i));
    CheckAnswer(body, snapshot);
  }
}

// A review whose annotations hold `text` as JSON.
std::string WithAnnotation(const std::string& text) {
  std::string body = VmiReview(Json::array()).dump();
  const std::string mark = R"("foo/bar":"1")";
  body.replace(body.find(mark), mark.size(), "\"foo/bar\":" + text);
  return body;
}

TEST_F(HostileReview, DeepNesting) {
  const Snapshot snapshot = Cluster();
  for (size_t depth : {size_t{1000}, size_t{9000}, size_t{100'000},
                       kMostReviewBytes / 2 - 4096}) {
    for (const char* bracket : {"[", "{\"a\":"}) {
      std::string nested;
      for (size_t i = 0; i < depth && nested.size() + 8192 < kMostReviewBytes;
           ++i) {
        nested += bracket;
      }
      const absl::StatusOr<std::string> open =
          Review(nested, snapshot, SampleNow());
      EXPECT_TRUE(absl::IsInvalidArgument(open.status())) << depth;
    }
    const std::string list = std::string(depth, '[') + std::string(depth, ']');
    const absl::StatusOr<std::string> closed =
        Review(WithAnnotation(list), snapshot, SampleNow());
    EXPECT_TRUE(closed.ok() || absl::IsInvalidArgument(closed.status()))
        << depth;
    EXPECT_EQ(closed.ok(), depth < 10'000) << depth;
  }
}

TEST_F(HostileReview, EightMebibytes) {
  const Snapshot snapshot = Cluster();
  const size_t room = kMostReviewBytes - 8192;
  std::string zeros = "[0";
  while (zeros.size() < room) zeros += ",0";
  zeros += "]";
  for (const std::string& text :
       {zeros, "\"" + std::string(room, 'x') + "\"",
        "\"" + std::string(room / 2, '\\') + "\"", std::string(room, '9')}) {
    const absl::StatusOr<std::string> answer =
        Review(WithAnnotation(text), snapshot, SampleNow());
    EXPECT_TRUE(answer.ok() || absl::IsInvalidArgument(answer.status()));
  }
  // A list that the rules walk over.
  Json review =
      VmiReview(Json::parse(R"([{"claimTemplate": {"className": "h100"}}])"));
  Json& gpus = review["request"]["object"]["spec"]["domain"]["devices"]["gpus"];
  for (int i = 0; i < 100'000; ++i) {
    gpus.push_back({{"name", "gpuclaim-7-7"}, {"deviceName", "x"}});
  }
  const TakenAnswer refused = AnswerTo(review, snapshot);
  EXPECT_EQ(refused.reason, "Invalid");
  EXPECT_LE(refused.message.size(), 1024u);
}

}  // namespace
}  // namespace gpubinder
