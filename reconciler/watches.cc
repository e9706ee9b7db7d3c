#include "reconciler/watches.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "reconciler/model/config.h"

namespace gpubinder {

Watches::Watches(std::unique_ptr<ApiClient> client,
                 const std::string& name_space,
                 std::function<void(ReflectedEvent)> sink,
                 std::function<void(Kind, const absl::Status&)> on_trouble)
    : client_(std::move(client)) {
  for (int i = 0; i < kKinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    ReflectorOptions options = {
        .kind = kind,
        .sink = sink,
        .on_trouble = [kind, on_trouble](const absl::Status& status,
                                         absl::Duration) {
          on_trouble(kind, status);
        }};
    if (kind == Kind::kConfigMap) {
      options.name_space = name_space;
      options.field_selector = absl::StrCat("metadata.name=", kSettingsName);
    }
    reflectors_.push_back(std::make_unique<Reflector>(
        std::move(options), *client_, RealReflectorTiming()));
  }
  for (auto& reflector : reflectors_) reflector->Start();
}

Watches::~Watches() {
  client_->Stop();
  for (auto& reflector : reflectors_) reflector->Stop();
}

}  // namespace gpubinder
