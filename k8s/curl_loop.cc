#include "k8s/curl_loop.h"

#include <curl/curl.h>
#include <signal.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "k8s/curl_easy.h"
#include "k8s/transfer.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

constexpr int kPollMilliseconds = 60000;

CURLM* NewMulti() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_ALL);
  BINDER_CHECK(initialised == CURLE_OK);
  CURLM* const multi = curl_multi_init();
  BINDER_CHECK(multi != nullptr);
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, long{CURLPIPE_MULTIPLEX});
  return multi;
}

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string Part(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

}  // namespace

absl::StatusOr<Endpoint> EndpointOf(const Identity& identity) {
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  BINDER_CHECK(url != nullptr);
  const CURLUcode code =
      curl_url_set(url.get(), CURLUPART_URL, identity.server.c_str(), 0);
  const std::string scheme = Part(url.get(), CURLUPART_SCHEME, 0);
  const std::string host = Part(url.get(), CURLUPART_HOST, 0);
  if (code != CURLUE_OK || (scheme != "http" && scheme != "https") ||
      host.empty() || !Part(url.get(), CURLUPART_USER, 0).empty() ||
      !Part(url.get(), CURLUPART_QUERY, 0).empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("server \"", identity.server,
                     "\" is not of the form http[s]://host[:port][/prefix]"));
  }
  const std::string port = Part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::string prefix = Part(url.get(), CURLUPART_PATH, 0);
  while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
  Endpoint endpoint{.identity = identity};
  const bool renamed = !identity.tls_server_name.empty();
  endpoint.base_url =
      absl::StrCat(scheme, "://", renamed ? identity.tls_server_name : host,
                   ":", port, prefix);
  if (renamed) endpoint.connect_to = absl::StrCat("::", host, ":", port);
  return endpoint;
}

CurlLoop::CurlLoop(Endpoint endpoint)
    : endpoint_(std::move(endpoint)),
      multi_(NewMulti()),
      thread_([this] { Main(); }) {}

CurlLoop::~CurlLoop() {
  Stop();
  thread_.join();
  curl_multi_cleanup(multi_);
}

uint64_t CurlLoop::Start(Transfer* transfer) {
  {
    absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      to_start_.emplace(++last_number_, transfer);
      curl_multi_wakeup(multi_);
      return last_number_;
    }
  }
  transfer->Finish({.trouble = "the client was stopped", .stopped = true});
  return 0;
}

void CurlLoop::Cancel(uint64_t number) {
  absl::MutexLock lock(&mutex_);
  to_cancel_.push_back(number);
  curl_multi_wakeup(multi_);
}

void CurlLoop::Stop() {
  absl::MutexLock lock(&mutex_);
  stopping_ = true;
  curl_multi_wakeup(multi_);
}

void CurlLoop::Main() {
  // A peer that has gone is an error of the write, not the process's end:
  // OpenSSL has no way to write without the signal.
  sigset_t pipe_only;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_only, nullptr);

  while (TakeOrders()) {
    int count = 0;
    curl_multi_perform(multi_, &count);
    CollectEnded();
    curl_multi_poll(multi_, nullptr, 0, kPollMilliseconds, nullptr);
  }
  while (!running_.empty()) {
    CurlEasy& easy = *running_.begin()->second;
    TransferEnd end = easy.Result(CURLE_OK);
    end.trouble = "the client was stopped";
    end.stopped = true;
    End(running_.begin()->first, std::move(end));
  }
}

// False: stop, with no order left.
bool CurlLoop::TakeOrders() {
  std::map<uint64_t, Transfer*> to_start;
  std::vector<uint64_t> to_cancel;
  bool stopping = false;
  {
    absl::MutexLock lock(&mutex_);
    to_start.swap(to_start_);
    to_cancel.swap(to_cancel_);
    stopping = stopping_;
  }
  for (const auto& [number, transfer] : to_start) Begin(number, transfer);
  for (const uint64_t number : to_cancel) {
    const auto found = running_.find(number);
    if (found == running_.end()) continue;  // it ended by itself
    TransferEnd end = found->second->Result(CURLE_OK);
    end.trouble = "the caller ended it";
    end.stopped = true;
    End(number, std::move(end));
  }
  return !stopping;
}

void CurlLoop::Begin(uint64_t number, Transfer* transfer) {
  auto easy = std::make_unique<CurlEasy>(endpoint_, number, *transfer);
  const CURLMcode code = curl_multi_add_handle(multi_, easy->handle());
  BINDER_CHECK(code == CURLM_OK);
  running_.emplace(number, std::move(easy));
}

void CurlLoop::End(uint64_t number, TransferEnd end) {
  const auto found = running_.find(number);
  BINDER_CHECK(found != running_.end());
  Transfer& transfer = found->second->transfer();
  curl_multi_remove_handle(multi_, found->second->handle());
  running_.erase(found);
  transfer.Finish(std::move(end));
}

void CurlLoop::CollectEnded() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CurlEasy& easy = CurlEasy::Of(message->easy_handle);
    End(easy.number(), easy.Result(message->data.result));
  }
}

}  // namespace gpubinder
