// For tests of effects: an effect from its text form, and the request that it
// becomes as plain values.

#ifndef K8S_EFFECT_TEST_REQUESTS_H_
#define K8S_EFFECT_TEST_REQUESTS_H_

#include <string>

#include "k8s/effect_codec.h"
#include "nlohmann/json.hpp"

namespace gpubinder {

// {"0a1b2c3d", 7, 42}.
const DecisionKey& Key();

// A protobuf in text format.
v1::Effect EffectOf(const std::string& text);

struct SentRequest {
  std::string verb;  // create, delete, merge or json
  std::string path;  // "group/version/plural namespace name subresource"
  nlohmann::json body;
};
SentRequest SentOf(const EffectRequest& request);

// The only request of the effect.
SentRequest OnlyRequestOf(const std::string& text);

}  // namespace gpubinder

#endif  // K8S_EFFECT_TEST_REQUESTS_H_
