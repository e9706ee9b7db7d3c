#include "tools/run_webhooks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/config_file.h"
#include "webhook/attach.h"

namespace gpubinder {
namespace {

// Of a review under way: what AdmitAndAttach may take, and a little.
constexpr absl::Duration kFinish = absl::Seconds(8);
constexpr absl::Duration kFinishAtOnce = absl::Milliseconds(200);

}  // namespace

std::vector<Flag> WebhookFlags(WebhookSettings& settings) {
  return {
      {.name = "webhook-certificates",
       .value = "DIR",
       .help = "serve the admission webhooks, with tls.crt and tls.key of this "
               "directory, such as a mounted Secret; read again when they "
               "change (default: no webhooks)",
       .set = IntoText(&settings.certificates)},
      {.name = "webhook-address",
       .value = "ADDRESS:PORT",
       .help = absl::StrCat("where they listen, with /healthz and /readyz "
                            "(default ",
                            settings.address, "; [::]:9443 for IPv6 too)"),
       .set = IntoText(&settings.address)},
      {.name = "webhook-drain",
       .value = "DURATION",
       .help = "how long they are served after the signal to end, with "
               "/readyz failing; a second signal ends it (default 5s)",
       .set = [&settings](absl::string_view text) {
         const absl::StatusOr<absl::Duration> drain = ParseGoDuration(text);
         if (drain.ok()) settings.drain = *drain;
         return drain.status();
       }}};
}

absl::StatusOr<std::unique_ptr<Webhooks>> Webhooks::Start(
    const WebhookSettings& settings, const Loop& loop,
    std::unique_ptr<ApiClient> client,
    std::function<void(const absl::Status&)> on_certificate) {
  std::unique_ptr<Webhooks> webhooks(new Webhooks(std::move(client)));
  const Admission admission = {
      .read =
          [&loop](absl::FunctionRef<void(const Snapshot&)> use) {
            loop.WithSnapshot(use);
          },
      .client = webhooks->client_.get(),
      .clock = absl::Now};
  absl::StatusOr<std::unique_ptr<HttpsServer>> server =
      HttpsServer::Start({.address = settings.address,
                          .certificate_directory = settings.certificates,
                          .review =
                              [admission](absl::string_view body) {
                                return AdmitAndAttach(body, admission);
                              },
                          .health = [&loop] { return loop.Health(); },
                          .on_certificate = std::move(on_certificate)});
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        absl::StrCat("webhook ", server.status().message()));
  }
  webhooks->server_ = *std::move(server);
  return webhooks;
}

Webhooks::~Webhooks() {
  if (server_ != nullptr) StopAtOnce();
}

void Webhooks::Stop() { server_->Stop(kFinish); }

void Webhooks::StopAtOnce() {
  client_->Stop();
  server_->Stop(kFinishAtOnce);
}

}  // namespace gpubinder
