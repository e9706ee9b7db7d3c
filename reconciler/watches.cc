#include "reconciler/watches.h"

#include <utility>

namespace gpubinder {

Watches::Watches(std::unique_ptr<ApiClient> client,
                 std::function<void(ReflectedEvent)> sink,
                 std::function<void(Kind, const absl::Status&)> on_trouble)
    : client_(std::move(client)) {
  for (int i = 0; i < kKinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    reflectors_.push_back(std::make_unique<Reflector>(
        ReflectorOptions{
            .kind = kind,
            .sink = sink,
            .on_trouble = [kind, on_trouble](
                              const absl::Status& status,
                              absl::Duration) { on_trouble(kind, status); }},
        *client_, RealReflectorTiming()));
  }
  for (auto& reflector : reflectors_) reflector->Start();
}

Watches::~Watches() {
  client_->Stop();
  for (auto& reflector : reflectors_) reflector->Stop();
}

}  // namespace gpubinder
