#include "k8s/curl_easy.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

// A peer that is gone without a word is noticed within 10 + 20 s; client-go
// takes 30 + 15.
constexpr long kKeepAliveIdleSeconds = 10;
constexpr long kKeepAliveIntervalSeconds = 5;
constexpr int kUnackedMilliseconds = 20000;
// libcurl would keep a CA file it has read for a day.
constexpr long kAuthorityCacheSeconds = 60;
constexpr long kReadBufferBytes = 128 * 1024;
constexpr absl::Duration kMaxRetryAfter = absl::Hours(1);

template <typename Value>
void Set(CURL* handle, CURLoption option, Value value) {
  // Fails only for an option that this libcurl lacks, or without memory.
  BINDER_CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

curl_slist* Append(curl_slist* list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list, line.c_str());
  BINDER_CHECK(longer != nullptr);
  return longer;
}

void SetPem(CURL* handle, const PemSource& pem, CURLoption blob_option,
            CURLoption file_option) {
  if (!pem.data.empty()) {
    curl_blob blob{.data = const_cast<char*>(pem.data.data()),
                   .len = pem.data.size(),
                   .flags = CURL_BLOB_COPY};
    Set(handle, blob_option, &blob);
  } else if (!pem.file.empty()) {
    Set(handle, file_option, pem.file.c_str());
  }
}

}  // namespace

CurlEasy::CurlEasy(const Endpoint& endpoint, uint64_t number,
                   Transfer& transfer)
    : number_(number), transfer_(transfer), handle_(curl_easy_init()) {
  BINDER_CHECK(handle_ != nullptr);
  const std::string url =
      absl::StrCat(endpoint.base_url, transfer.request().target);
  Set(handle_, CURLOPT_URL, url.c_str());
  Set(handle_, CURLOPT_PATH_AS_IS, 1L);
  Set(handle_, CURLOPT_PRIVATE, this);
  Set(handle_, CURLOPT_ERRORBUFFER, error_.data());
  Set(handle_, CURLOPT_USERAGENT, endpoint.user_agent.c_str());
  SetRequest();
  SetTransport(endpoint);
  SetTls(endpoint.identity);
  SetProxy(endpoint.identity);
  if (!endpoint.connect_to.empty()) {
    connect_to_ = Append(nullptr, endpoint.connect_to);
    Set(handle_, CURLOPT_CONNECT_TO, connect_to_);
  }
}

CurlEasy::~CurlEasy() {
  curl_easy_cleanup(handle_);
  curl_slist_free_all(headers_);
  curl_slist_free_all(connect_to_);
}

CurlEasy& CurlEasy::Of(CURL* handle) {
  char* owner = nullptr;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &owner);
  BINDER_CHECK(owner != nullptr);
  return *reinterpret_cast<CurlEasy*>(owner);
}

void CurlEasy::SetRequest() {
  const TransferRequest& request = transfer_.request();
  headers_ = Append(headers_, "Accept: application/json");
  // No waiting for a 100 Continue before a large body.
  headers_ = Append(headers_, "Expect:");
  if (!request.token.empty()) {
    headers_ =
        Append(headers_, absl::StrCat("Authorization: Bearer ", request.token));
  }
  if (!request.content_type.empty()) {
    headers_ =
        Append(headers_, absl::StrCat("Content-Type: ", request.content_type));
    Set(handle_, CURLOPT_POSTFIELDS, request.body.data());
    Set(handle_, CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request.body.size()));
  }
  Set(handle_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  Set(handle_, CURLOPT_HTTPHEADER, headers_);
  if (request.compression == TransferRequest::Compression::kGzip) {
    Set(handle_, CURLOPT_ACCEPT_ENCODING, "gzip");
  }
  Set(handle_, CURLOPT_WRITEFUNCTION, &CurlEasy::OnBody);
  Set(handle_, CURLOPT_WRITEDATA, this);
  Set(handle_, CURLOPT_PREREQFUNCTION, &CurlEasy::OnReady);
  Set(handle_, CURLOPT_PREREQDATA, this);
}

void CurlEasy::SetTransport(const Endpoint& endpoint) {
  const TransferRequest& request = transfer_.request();
  Set(handle_, CURLOPT_NOSIGNAL, 1L);
  Set(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(handle_, CURLOPT_FOLLOWLOCATION, 0L);
  Set(handle_, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  // Rather a stream of a connection that is being made than one more. Without
  // TLS it would wait for the first answer to learn that there are no streams.
  if (absl::StartsWith(endpoint.base_url, "https:")) {
    Set(handle_, CURLOPT_PIPEWAIT, 1L);
  }
  Set(handle_, CURLOPT_BUFFERSIZE, kReadBufferBytes);
  const auto timeout_ms =
      std::max<int64_t>(absl::ToInt64Milliseconds(request.timeout), 1);
  Set(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
  Set(handle_, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min(
          timeout_ms, absl::ToInt64Milliseconds(endpoint.connect_timeout))));
  Set(handle_, CURLOPT_TCP_NODELAY, 1L);
  Set(handle_, CURLOPT_TCP_KEEPALIVE, 1L);
  Set(handle_, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  Set(handle_, CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  Set(handle_, CURLOPT_SOCKOPTFUNCTION, &CurlEasy::OnSocket);
  if (request.connection == TransferRequest::Connection::kNew) {
    Set(handle_, CURLOPT_FRESH_CONNECT, 1L);
  }
}

void CurlEasy::SetTls(const Identity& identity) {
  const long verify = identity.insecure_skip_tls_verify ? 0L : 1L;
  Set(handle_, CURLOPT_SSL_VERIFYPEER, verify);
  Set(handle_, CURLOPT_SSL_VERIFYHOST, 2 * verify);
  Set(handle_, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (identity.authority.given()) {
    SetPem(handle_, identity.authority, CURLOPT_CAINFO_BLOB, CURLOPT_CAINFO);
    // The cluster's authority instead of the system's, not beside it.
    Set(handle_, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    Set(handle_, CURLOPT_CA_CACHE_TIMEOUT, kAuthorityCacheSeconds);
  }
  SetPem(handle_, identity.certificate, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLCERT);
  SetPem(handle_, identity.key, CURLOPT_SSLKEY_BLOB, CURLOPT_SSLKEY);
}

void CurlEasy::SetProxy(const Identity& identity) {
  switch (identity.proxy) {
    case Identity::Proxy::kNone:
      Set(handle_, CURLOPT_PROXY, "");
      break;
    case Identity::Proxy::kUrl:
      Set(handle_, CURLOPT_PROXY, identity.proxy_url.c_str());
      break;
    case Identity::Proxy::kEnvironment:
      break;
  }
}

size_t CurlEasy::OnBody(char* data, size_t size, size_t n, void* self) {
  CurlEasy& easy = *static_cast<CurlEasy*>(self);
  long code = 0;
  curl_easy_getinfo(easy.handle_, CURLINFO_RESPONSE_CODE, &code);
  if (easy.transfer_.Append(static_cast<int>(code), {data, size * n})) {
    return size * n;
  }
  easy.too_big_ = true;
  return 0;
}

// Called when a connection is there, before the request goes out. libcurl
// sends a request again by itself if a kept connection ends without an answer,
// even a POST: for a write the second time is refused here.
int CurlEasy::OnReady(void* self, char*, char*, int, int) {
  CurlEasy& easy = *static_cast<CurlEasy*>(self);
  ++easy.times_sent_;
  const bool may =
      easy.times_sent_ == 1 || easy.transfer_.request().resend ==
                                   TransferRequest::Resend::kOnDeadConnection;
  return may ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

int CurlEasy::OnSocket(void*, curl_socket_t fd, curlsocktype) {
  // Best effort: without it the kernel's own limit is 15 minutes.
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnackedMilliseconds,
             sizeof kUnackedMilliseconds);
  return CURL_SOCKOPT_OK;
}

TransferEnd CurlEasy::Result(CURLcode code) {
  TransferEnd end{.sent = times_sent_ > 0, .too_big = too_big_};
  long http_code = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &http_code);
  end.http_code = static_cast<int>(http_code);
  curl_off_t retry_after = 0;
  curl_easy_getinfo(handle_, CURLINFO_RETRY_AFTER, &retry_after);
  end.retry_after = std::min(absl::Seconds(retry_after), kMaxRetryAfter);
  if (code == CURLE_OK) return end;
  end.timed_out = code == CURLE_OPERATION_TIMEDOUT;
  if (times_sent_ > 1 && code == CURLE_ABORTED_BY_CALLBACK) {
    end.trouble = "the connection ended before an answer";
  } else {
    end.trouble = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  }
  return end;
}

}  // namespace gpubinder
