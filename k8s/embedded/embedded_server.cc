#include "k8s/embedded/embedded_server.h"

#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "k8s/embedded/backend.h"
#include "k8s/embedded/collector.h"
#include "k8s/embedded/http_front.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/kubelet_stand_in.h"
#include "k8s/embedded/kubevirt_stand_in.h"
#include "k8s/embedded/router.h"
#include "k8s/embedded/scheduler_stand_in.h"
#include "k8s/embedded/write.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"

namespace gpubinder::embedded {

namespace {
constexpr int kMaxSteps = 1000;
}  // namespace

class EmbeddedServer::Impl {
 public:
  explicit Impl(EmbeddedOptions options)
      : backend(options.event_window, options.seed),
        kubevirt(backend, options.start_backoff) {
    backend.clock = options.clock ? std::move(options.clock)
                                  : std::function<absl::Time()>(absl::Now);
    backend.admission = std::move(options.admission);
    backend.kubevirt_user = std::move(options.kubevirt_user);
    for (const char* name :
         {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      WriteOptions write;
      write.user = "system:apiserver";
      CreateObject(backend, {&ResourceNamed("namespaces"), "", "", ""},
                   {{"apiVersion", "v1"},
                    {"kind", "Namespace"},
                    {"metadata", {{"name", name}}}},
                   write);
    }
  }

  uint64_t Revision() {
    absl::MutexLock lock(&backend.mutex);
    return backend.store.revision();
  }

  bool Step() {
    absl::MutexLock lock(&stepping);
    const uint64_t before = Revision();
    collector.Step();
    kubevirt.Step();
    scheduler.Step();
    kubelet.Step();
    return Revision() != before;
  }

  void RunStandIns(absl::Duration period) {
    while (!stopping) {
      const uint64_t seen = Revision();
      if (Step()) continue;
      // Writes wake it; what only time changes is looked at every period.
      absl::MutexLock lock(&backend.mutex);
      if (backend.store.revision() == seen && !stopping) {
        backend.changed.WaitWithTimeout(&backend.mutex, period);
      }
    }
  }

  void StopStandIns() {
    stopping = true;
    {
      absl::MutexLock lock(&backend.mutex);
      backend.changed.SignalAll();
    }
    if (thread.joinable()) thread.join();
  }

  Backend backend;
  Collector collector{backend};
  KubeVirtStandIn kubevirt;
  SchedulerStandIn scheduler{backend};
  KubeletStandIn kubelet{backend};
  absl::Mutex stepping;  // one step at a time
  std::atomic<bool> stopping{false};
  std::thread thread;
  std::unique_ptr<HttpFront> front;
};

EmbeddedServer::EmbeddedServer(EmbeddedOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

EmbeddedServer::~EmbeddedServer() {
  impl_->front.reset();
  StopStandIns();
}

std::unique_ptr<ApiClient> EmbeddedServer::NewClient(absl::string_view user,
                                                     FaultHook faults) {
  return NewEmbeddedApiClient(
      [this](const ApiRequest& request) { return Handle(request); }, user,
      std::move(faults));
}

ApiAnswer EmbeddedServer::Handle(const ApiRequest& request) {
  return HandleRequest(impl_->backend, request);
}

void EmbeddedServer::SetAdmission(AdmissionHook hook) {
  impl_->backend.admission = std::move(hook);
}

absl::Status EmbeddedServer::ListenHttp(int port) {
  BINDER_CHECK(impl_->front == nullptr);
  absl::StatusOr<std::unique_ptr<HttpFront>> front = StartHttpFront(
      [this](const ApiRequest& request) { return Handle(request); }, port);
  if (!front.ok()) return front.status();
  impl_->front = *std::move(front);
  return absl::OkStatus();
}

int EmbeddedServer::port() const {
  return impl_->front == nullptr ? 0 : impl_->front->port();
}

uint64_t EmbeddedServer::revision() const { return impl_->Revision(); }

void EmbeddedServer::ObserveRevisions(RevisionObserver observer) {
  absl::MutexLock lock(&impl_->backend.mutex);
  impl_->backend.store.SetObserver(std::move(observer));
}

void EmbeddedServer::CompactEvents(uint64_t revision) {
  absl::MutexLock lock(&impl_->backend.mutex);
  impl_->backend.store.Compact(revision);
}

bool EmbeddedServer::Step() { return impl_->Step(); }

bool EmbeddedServer::RunUntilIdle() {
  for (int i = 0; i < kMaxSteps; ++i) {
    if (!Step()) return true;
  }
  return false;
}

void EmbeddedServer::StartStandIns(absl::Duration period) {
  BINDER_CHECK(!impl_->thread.joinable());
  impl_->stopping = false;
  impl_->thread = std::thread([this, period] { impl_->RunStandIns(period); });
}

void EmbeddedServer::StopStandIns() { impl_->StopStandIns(); }

}  // namespace gpubinder::embedded
