#include "k8s/effect_test_requests.h"

#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace gpubinder {

const DecisionKey& Key() {
  static const DecisionKey* const key = new DecisionKey{"0a1b2c3d", 7, 42};
  return *key;
}

v1::Effect EffectOf(const std::string& text) {
  v1::Effect effect;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &effect))
      << text;
  return effect;
}

SentRequest SentOf(const EffectRequest& request) {
  const ResourcePath& at = request.path;
  SentRequest sent;
  sent.path = at.group + "/" + at.version + "/" + at.plural + " " +
              at.name_space + " " + at.name + " " + at.subresource;
  sent.body = nlohmann::json::parse(request.body);
  switch (request.verb) {
    case EffectRequest::Verb::kCreate:
      sent.verb = "create";
      break;
    case EffectRequest::Verb::kDelete:
      sent.verb = "delete";
      break;
    case EffectRequest::Verb::kPatch:
      sent.verb = request.patch_type == PatchType::kMerge ? "merge" : "json";
  }
  return sent;
}

SentRequest OnlyRequestOf(const std::string& text) {
  const v1::Effect effect = EffectOf(text);
  const auto request = NextRequest(effect, Key(), 0, "");
  EXPECT_TRUE(request.ok()) << request.status();
  if (!request.ok() || !request->has_value()) return {};
  const auto end = NextRequest(effect, Key(), 1, "{}");
  EXPECT_TRUE(end.ok() && !end->has_value());
  return SentOf(**request);
}

}  // namespace gpubinder
