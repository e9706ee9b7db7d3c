// The reflectors of all modelled kinds on a client of their own.

#ifndef RECONCILER_WATCHES_H_
#define RECONCILER_WATCHES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "k8s/api_client.h"
#include "k8s/reflector.h"

namespace gpubinder {

class Watches {
 public:
  // Lists every kind from the server and then watches it; of ConfigMaps only
  // the binder's settings in its namespace. `sink` is called from the
  // reflectors' threads, in order for each kind, and may block.
  Watches(std::unique_ptr<ApiClient> client, const std::string& name_space,
          std::function<void(ReflectedEvent)> sink,
          std::function<void(Kind, const absl::Status&)> on_trouble);
  // Ends all watches; no event comes afterwards. Not from the sink.
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

 private:
  const std::unique_ptr<ApiClient> client_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;
};

}  // namespace gpubinder

#endif  // RECONCILER_WATCHES_H_
