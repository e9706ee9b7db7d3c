#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "k8s/http_api_client.h"
#include "k8s/identity.h"
#include "k8s/reflector.h"
#include "k8s/scripted_server.h"
#include "reconciler/model/kind.h"

namespace gpubinder {
namespace {

constexpr char kPage[] = R"({"items":[],"metadata":{"resourceVersion":"9"}})";
constexpr char kAdded[] =
    R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n",)"
    R"("uid":"u","resourceVersion":"10"}}})"
    "\n";

class OverHttp {
 public:
  explicit OverHttp(const ScriptedServer& server)
      : client_(*HttpApiClient::Open(Identity{.server = server.url()}, {})),
        reflector_({.kind = Kind::kPod,
                    .sink =
                        [this](const ReflectedEvent& event) {
                          if (event.type == ReflectedEvent::kAdded) {
                            seen_.Notify();
                          }
                        },
                    .on_trouble =
                        [this](const absl::Status&, absl::Duration) {
                          if (!seen_.HasBeenNotified()) seen_.Notify();
                        }},
                   *client_, RealReflectorTiming()) {}

  // Runs until an event was added or a try failed, then stops.
  void Run() {
    reflector_.Start();
    seen_.WaitForNotification();
    client_->Stop();
    reflector_.Stop();
  }

 private:
  absl::Notification seen_;
  std::unique_ptr<HttpApiClient> client_;
  Reflector reflector_;
};

TEST(ReflectorOverHttp, StopEndsASilentWatch) {
  ScriptedServer server([](ServerConnection& connection) {
    connection.Read();
    connection.Answer(200, "", kPage);
    connection.Read();
    connection.BeginChunks();
    connection.SendChunk(kAdded);
    connection.Read();
  });
  OverHttp(server).Run();
}

TEST(ReflectorOverHttp, StopEndsAWait) {
  ScriptedServer server([](ServerConnection& connection) {
    while (connection.Read()) {
      connection.Answer(429, "Retry-After: 600\r\n", "");
    }
  });
  OverHttp(server).Run();
}

}  // namespace
}  // namespace gpubinder
