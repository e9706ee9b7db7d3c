// Whatever an object looks like, decoding says what is wrong and goes on, and
// the filter changes nothing that decoding sees.

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "k8s/object_codec.h"
#include "k8s/object_filter.h"
#include "k8s/sample_objects.h"
#include "nlohmann/json.hpp"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

// Fields of the samples that are not read: their type is nobody's concern.
constexpr const char* kUnread[] = {
    "/apiVersion",
    "/kind",
    "/metadata/managedFields",
    "/metadata/generateName",
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
    "/blockOwnerDeletion",
    "/spec/podCIDR",
    "/timeAdded",
    "/status/capacity",
    "/lastHeartbeatTime",
    "/status/images",
    "/spec/dataVolumeTemplates",
    "/spec/template/spec/domain",
    "/accessCredentials",
    "/cloudInitNoCloud",
    "/cloudInitConfigDrive",
    "/sysprep",
    "/containerDisk",
    "/status/created",
    "/status/printableStatus",
    "/spec/restartPolicy",
    "/command",
    "/args",
    "/env",
    "/lifecycle",
    "/livenessProbe",
    "/image",
    "/ephemeralContainers",
    "/emptyDir",
    "/spec/finalizers",
    "/status/hard",
    "/status/used",
    "/accessModes",
    "/lastProbeTime"};
// Read of some kinds only, or names of volumes, which nobody reads.
bool IsRead(Kind kind, const std::string& pointer) {
  for (const char* unread : kUnread) {
    if (absl::StrContains(pointer, unread)) return false;
  }
  if (absl::StrContains(pointer, "/volumes/") &&
      absl::EndsWith(pointer, "/name") &&
      !absl::EndsWith(pointer, "/dataVolume/name")) {
    return false;
  }
  if (kind == Kind::kPersistentVolumeClaim && pointer == "/status/phase") {
    return false;
  }
  if (kind == Kind::kPersistentVolumeClaim && pointer == "/status") {
    return false;
  }
  if (kind == Kind::kNamespace && pointer == "/spec") return false;
  return !(kind == Kind::kResourceQuota && pointer == "/status");
}

// "/spec/claims/0" is spec.claims[0]; names with a dot or slash are quoted.
std::string ProblemPath(const std::string& pointer) {
  std::string path;
  for (absl::string_view step : absl::StrSplit(pointer.substr(1), '/')) {
    int64_t index = 0;
    std::string name(step);
    for (size_t at; (at = name.find("~1")) != std::string::npos;) {
      name.replace(at, 2, "/");
    }
    if (absl::SimpleAtoi(step, &index)) {
      absl::StrAppend(&path, "[", index, "]");
    } else if (name.find_first_of("./") != std::string::npos) {
      absl::StrAppend(&path, "[\"", name, "\"]");
    } else {
      absl::StrAppend(&path, path.empty() ? "" : ".", name);
    }
  }
  return path;
}

// Every place in `json`, as JSON pointers.
void CollectPlaces(const Json& json, std::string prefix,
                   std::vector<std::string>* out) {
  for (const auto& [key, value] : json.items()) {
    std::string step = key;
    for (size_t at = 0; (at = step.find('/', at)) != std::string::npos;) {
      step.replace(at, 1, "~1");
    }
    out->push_back(absl::StrCat(prefix, "/", step));
    if (value.is_structured()) CollectPlaces(value, out->back(), out);
  }
}

std::vector<Json> WrongValues(const Json& value) {
  std::vector<Json> wrong;
  for (Json other : {Json(true), Json(1.5), Json("x/y"), Json::array({1}),
                     Json({{"z", 1}}), Json::parse("1e300")}) {
    const bool same = other.type() == value.type() ||
                      (other.is_number() && value.is_number_float());
    if (!same) wrong.push_back(std::move(other));
  }
  return wrong;
}

bool IsQuantity(const std::string& pointer) {
  for (const char* list : {"/allocatable/", "/hard/", "/requests/", "/limits/",
                           "/overhead/", "/status/resources/"}) {
    if (absl::StrContains(pointer, list)) return true;
  }
  return false;
}

bool NamesField(const Object& object, const std::string& path) {
  for (const FieldProblem& problem : MetaOf(object).problems) {
    if (problem.field == path && !problem.message.empty()) return true;
  }
  return false;
}

class EveryKindTest : public testing::TestWithParam<int> {
 protected:
  Kind kind() const { return static_cast<Kind>(GetParam()); }
};

TEST_P(EveryKindTest, NamesEachFieldOfAWrongType) {
  const Json sample = Json::parse(SampleObject(kind()));
  std::vector<std::string> places;
  CollectPlaces(sample, "", &places);
  int tried = 0;
  for (const std::string& place : places) {
    if (!IsRead(kind(), place)) continue;
    const Json::json_pointer pointer(place);
    for (const Json& wrong : WrongValues(sample.at(pointer))) {
      if (!wrong.is_structured() && !wrong.is_boolean() && IsQuantity(place)) {
        continue;  // any text or number may be a quantity
      }
      Json changed = sample;
      changed.at(pointer) = wrong;
      const absl::StatusOr<Object> object =
          DecodeObject(kind(), changed.dump());
      ASSERT_TRUE(object.ok()) << place;
      EXPECT_TRUE(NamesField(*object, ProblemPath(place)))
          << place << " = " << wrong;
      ++tried;
    }
  }
  EXPECT_GT(tried, 30);
}

TEST_P(EveryKindTest, NullAndMissingReadAlike) {
  const Json sample = Json::parse(SampleObject(kind()));
  std::vector<std::string> places;
  CollectPlaces(sample, "", &places);
  for (const std::string& place : places) {
    const Json::json_pointer pointer(place);
    if (sample.at(pointer.parent_pointer()).is_array()) continue;
    Json null = sample;
    null.at(pointer) = nullptr;
    Json missing = sample;
    missing.at(pointer.parent_pointer()).erase(pointer.back());
    EXPECT_TRUE(*DecodeObject(kind(), null.dump()) ==
                *DecodeObject(kind(), missing.dump()))
        << place;
  }
}

TEST_P(EveryKindTest, UnknownFieldsChangeNothing) {
  const Json sample = Json::parse(SampleObject(kind()));
  std::vector<std::string> places = {""};
  CollectPlaces(sample, "", &places);
  const Object want = *DecodeObject(kind(), sample.dump());
  for (const std::string& place : places) {
    Json changed = sample;
    Json& at = changed.at(Json::json_pointer(place));
    // Maps have no unknown keys.
    const bool map = IsQuantity(place + "/") ||
                     absl::EndsWith(place, "labels") ||
                     absl::EndsWith(place, "annotations") ||
                     absl::EndsWith(place, "nodeSelector") ||
                     absl::EndsWith(place, "activePods") || place == "/data";
    if (!at.is_object() || map) continue;
    at["zzz"] = {{"deep", {1, "x", nullptr}}};
    std::string text = changed.dump();
    EXPECT_TRUE(*DecodeObject(kind(), text) == want) << place;
    // Nor does a number nobody can hold, which a tenant may put in a field
    // that the server keeps unread.
    const size_t deep = text.find(R"({"deep":[1,)");
    ASSERT_NE(deep, std::string::npos);
    text.replace(deep + 9, 1, "1e400");
    EXPECT_TRUE(*DecodeObject(kind(), text) == want) << place;
  }
}

TEST_P(EveryKindTest, TheFilterChangesNothingThatIsRead) {
  const std::string json = SampleObject(kind());
  const std::optional<std::string> filtered = FilterForJournal(kind(), json);
  ASSERT_TRUE(filtered.has_value());
  EXPECT_TRUE(*DecodeObject(kind(), *filtered) == *DecodeObject(kind(), json));
  EXPECT_FALSE(absl::StrContains(*filtered, "CANARY")) << *filtered;
  EXPECT_EQ(FilterForJournal(kind(), *filtered), filtered);
  // Compact: as small as what a printer without spaces makes of it.
  EXPECT_EQ(filtered->size(), Json::parse(*filtered).dump().size());
}

uint64_t Seed() {
  const char* given = std::getenv("GPUBINDER_TEST_SEED");
  uint64_t seed = 0;
  if (given != nullptr && absl::SimpleAtoi(given, &seed)) return seed;
  return std::random_device()();
}

// Changes one place to another type or moves a value elsewhere.
Json MutateStructure(const Json& sample, std::mt19937_64* random) {
  Json changed = sample;
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> places;
    CollectPlaces(changed, "", &places);
    if (places.empty()) break;
    const std::string& place = places[(*random)() % places.size()];
    Json& at = changed.at(Json::json_pointer(place));
    const std::vector<Json> wrong = WrongValues(at);
    switch ((*random)() % 4) {
      case 0:
        at = nullptr;
        break;
      case 1:
        at = Json::array({at, at});
        break;
      default:
        at = wrong[(*random)() % wrong.size()];
    }
  }
  return changed;
}

std::string MutateBytes(std::string text, std::mt19937_64* random) {
  const int edits = 1 + static_cast<int>((*random)() % 4);
  for (int i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = (*random)() % text.size();
    switch ((*random)() % 4) {
      case 0:
        text.erase(at, 1 + (*random)() % 8);
        break;
      case 1:
        text.insert(at, 1, "{}[]\",:0e-\\ \x01\xc3"[(*random)() % 14]);
        break;
      case 2:
        text[at] = static_cast<char>((*random)());
        break;
      default:
        text.insert(at, text.substr((*random)() % text.size(), 12));
    }
  }
  return text;
}

TEST_P(EveryKindTest, SurvivesWhateverComes) {
  const uint64_t seed = Seed();
  std::cout << "seed " << seed << " (GPUBINDER_TEST_SEED)\n";
  std::mt19937_64 random(seed);
  const std::string text = SampleObject(kind());
  const Json sample = Json::parse(text);
  int decoded = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string json = i % 2 == 0
                                 ? MutateStructure(sample, &random).dump()
                                 : MutateBytes(text, &random);
    const absl::StatusOr<Object> object = DecodeObject(kind(), json);
    const std::optional<std::string> filtered = FilterForJournal(kind(), json);
    if (!object.ok()) {
      EXPECT_FALSE(filtered.has_value());
      continue;
    }
    ++decoded;
    if (!filtered.has_value()) {
      EXPECT_TRUE(kind() == Kind::kPod || kind() >= Kind::kWorkload);
      continue;
    }
    EXPECT_TRUE(*DecodeObject(kind(), *filtered) == *object)
        << "seed " << seed << ":\n"
        << json << "\nfiltered:\n"
        << *filtered;
  }
  EXPECT_GT(decoded, 700);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindTest, testing::Range(0, kKinds),
                         [](const testing::TestParamInfo<int>& info) {
                           return std::string(
                               KindName(static_cast<Kind>(info.param)));
                         });

TEST(ObjectToleranceTest, OnlyTextThatIsNoObjectIsAnError) {
  for (const char* text : {"", "null", "7", "[]", "\"x\"", "{", "{}}"}) {
    const absl::StatusOr<Object> object = DecodeObject(Kind::kPod, text);
    EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_TRUE(DecodeObject(Kind::kPod, "{}").ok());
}

std::string ProblemsOf(Kind kind, absl::string_view json) {
  std::string text;
  const absl::StatusOr<Object> object = DecodeObject(kind, json);
  for (const FieldProblem& problem : MetaOf(*object).problems) {
    absl::StrAppend(&text, problem.field, ": ", problem.message, "\n");
  }
  return text;
}

TEST(ObjectToleranceTest, AClaimNeedsAClassAndOneTo64Units) {
  const auto count = [](absl::string_view value) {
    return ProblemsOf(
        Kind::kGpuClaim,
        absl::StrCat(R"({"spec":{"className":"c","count":)", value, "}}"));
  };
  const std::string want = ", want a whole number from 1 to 64\n";
  EXPECT_EQ(count("1"), "");
  EXPECT_EQ(count("64"), "");
  EXPECT_EQ(count("2.0"), "");  // as the API server has it
  EXPECT_EQ(count("0"), "spec.count: found the number 0" + want);
  EXPECT_EQ(count("-1"), "spec.count: found the number -1" + want);
  EXPECT_EQ(count("65"), "spec.count: found the number 65" + want);
  EXPECT_EQ(count("1.5"), "spec.count: found the number 1.5" + want);
  EXPECT_EQ(count("\"2\""), "spec.count: found the text \"2\"" + want);
  EXPECT_EQ(count("100000000000000000000"),
            "spec.count: found the text \"100000000000000000000\"" + want);
  for (const char* spec : {"{}", R"({"spec":{"className":""}})"}) {
    EXPECT_EQ(ProblemsOf(Kind::kGpuClaim, spec),
              "spec.className: found no name, want that of a GPUClass\n");
  }
  const absl::StatusOr<Object> claim =
      DecodeObject(Kind::kGpuClaim, R"({"spec":{"className":"c"}})");
  EXPECT_EQ(std::get<GpuClaim>(*claim).units, 1);
  EXPECT_TRUE(MetaOf(*claim).problems.empty());
}

TEST(ObjectToleranceTest, ChoicesSayWhatIsLegal) {
  EXPECT_EQ(ProblemsOf(Kind::kGpuClass,
                       R"({"spec":{"resourceName":"cpu","type":"vgpu",)"
                       R"("maxCount":0,"onCordon":"Go"}})"),
            "spec.resourceName: found \"cpu\", want the name of an extended "
            "resource, as in nvidia.com/H100\n"
            "spec.type: found the text \"vgpu\", want Passthrough or VGPU\n"
            "spec.maxCount: found the number 0, want a whole number from 1 to "
            "64\n"
            "spec.onCordon: found the text \"Go\", want Move or Stay\n");
}

TEST(ObjectToleranceTest, TimesAreRfc3339) {
  const auto created = [](absl::string_view text) {
    return ProblemsOf(
        Kind::kNamespace,
        absl::StrCat(R"({"metadata":{"creationTimestamp":")", text, "\"}}"));
  };
  EXPECT_EQ(created("2026-12-01T08:00:00Z"), "");
  EXPECT_EQ(created("2026-12-01T08:00:00.123456Z"), "");
  EXPECT_EQ(created("2026-12-01T08:00:00+01:00"), "");
  for (const char* text : {"", "infinite-future", "2026-12-01",
                           "2026-12-01 08:00:00Z", "2026-13-01T08:00:00Z",
                           " 2026-12-01T08:00:00Z", "2026-12-01T08:00:00"}) {
    EXPECT_EQ(created(text),
              absl::StrCat("metadata.creationTimestamp: found the text \"",
                           text, "\", want an RFC 3339 time\n"));
  }
}

TEST(ObjectToleranceTest, LongTextsAreCutInMessages) {
  // 63 letters and one of two bytes: it is left out whole.
  const std::string text = std::string(63, 'a') + "\xc3\xa9zzz";
  EXPECT_EQ(
      ProblemsOf(Kind::kNode,
                 absl::StrCat(R"({"spec":{"unschedulable":")", text, "\"}}")),
      absl::StrCat("spec.unschedulable: found the text \"",
                   std::string(63, 'a'), "...\", want true or false\n"));
}

}  // namespace
}  // namespace gpubinder
