// The API server of a scenario: objects by kind and name, and what each write
// of the binder does to them. Stated here anew from the API's rules; shares
// no code with the model.

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_SERVER_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_SERVER_H_

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

class StateHash;

// The kinds as commands name them, in the order of Kind.
inline constexpr std::array<absl::string_view, kKinds> kKindWords = {
    "node",  "class",     "claim", "claimset", "vm", "vmi",
    "pod",   "namespace", "quota", "pvc",      "pv", "schedulingclass",
    "usage", "configmap"};

// What a write got: 200 with the object as it now is (nothing: it has gone,
// or is of a kind that is not modelled), or a code of refusal.
struct Answer {
  int code = 200;
  std::string message;
  std::optional<Object> object;
  bool ok() const { return code == 200; }
};

class ScenarioServer {
 public:
  using Key = std::tuple<Kind, std::string, std::string>;

  // Null when there is none.
  const Object* Find(Kind kind, absl::string_view name_space,
                     absl::string_view name) const;
  // Stores the object with a new version, and with a uid of its own when it
  // has none. Returns it as stored.
  const Object& Put(Object object);
  // As a client's delete does it: with finalizers it stays and is being
  // deleted. False: there was none.
  bool Delete(Kind kind, absl::string_view name_space, absl::string_view name,
              absl::Time now);
  void Erase(Kind kind, absl::string_view name_space, absl::string_view name);

  // `version` is the precondition that goes out with the effect.
  Answer Apply(const v1::Effect& effect, const std::string& version,
               absl::Time now);

  const std::map<Key, Object>& objects() const { return objects_; }
  // What it remembers beside the objects: Events, and how often a name was
  // used, which is part of a uid.
  void AddMemory(StateHash& hash) const;

 private:
  Answer Create(const v1::Effect& effect, absl::Time now);
  Answer Store(Object object);
  Answer DeleteTarget(const v1::Effect& effect, absl::Time now);

  std::map<Key, Object> objects_;
  std::map<Key, int> incarnations_;
  std::set<std::string> events_;
  int64_t version_ = 1000;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_SERVER_H_
