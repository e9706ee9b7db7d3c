// The admission webhooks of `gpubinder run`: the HTTPS server in front of the
// binder's snapshot. A review waits for no pass; see Loop::WithSnapshot.

#ifndef TOOLS_RUN_WEBHOOKS_H_
#define TOOLS_RUN_WEBHOOKS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "k8s/api_client.h"
#include "reconciler/loop.h"
#include "tools/flags.h"
#include "webhook/https_server.h"

namespace gpubinder {

struct WebhookSettings {
  std::string certificates;  // a directory; empty: no webhooks
  std::string address = "0.0.0.0:9443";
  // Between the signal to end and the end, for whoever still sends here.
  absl::Duration drain = absl::Seconds(5);
};

// The target outlives the flags.
std::vector<Flag> WebhookFlags(WebhookSettings& settings);

class Webhooks {
 public:
  // Serves from now on, 503 until `loop` is synced. `loop` outlives it;
  // `client` is for attachments and what they look up. `on_certificate` as in
  // HttpsOptions. Errors: HttpsServer::Start's, with the flag's name.
  static absl::StatusOr<std::unique_ptr<Webhooks>> Start(
      const WebhookSettings& settings, const Loop& loop,
      std::unique_ptr<ApiClient> client,
      std::function<void(const absl::Status&)> on_certificate);
  // Stops at once.
  ~Webhooks();
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;

  HttpsServer& server() { return *server_; }
  // Finishes what is under way.
  void Stop();
  // Lets nothing leave any more and ends, within a second or so.
  void StopAtOnce();

 private:
  explicit Webhooks(std::unique_ptr<ApiClient> client)
      : client_(std::move(client)) {}

  const std::unique_ptr<ApiClient> client_;
  std::unique_ptr<HttpsServer> server_;
};

}  // namespace gpubinder

#endif  // TOOLS_RUN_WEBHOOKS_H_
