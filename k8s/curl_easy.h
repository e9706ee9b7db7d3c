// One request as libcurl wants it. Used by CurlLoop only, on its thread.

#ifndef K8S_CURL_EASY_H_
#define K8S_CURL_EASY_H_

#include <curl/curl.h>

#include <array>
#include <cstdint>

#include "k8s/transfer.h"

namespace gpubinder {

class CurlEasy {
 public:
  // `endpoint` and `transfer` must outlive this.
  CurlEasy(const Endpoint& endpoint, uint64_t number, Transfer& transfer);
  CurlEasy(const CurlEasy&) = delete;
  CurlEasy& operator=(const CurlEasy&) = delete;
  ~CurlEasy();

  // The one whose handle this is.
  static CurlEasy& Of(CURL* handle);
  CURL* handle() { return handle_; }
  uint64_t number() const { return number_; }
  Transfer& transfer() { return transfer_; }
  // How the transfer stands, given libcurl's code for it.
  TransferEnd Result(CURLcode code);

 private:
  void SetRequest();
  void SetTransport(const Endpoint& endpoint);
  void SetTls(const Identity& identity);
  void SetProxy(const Identity& identity);

  static size_t OnBody(char* data, size_t size, size_t n, void* self);
  static int OnReady(void* self, char*, char*, int, int);
  static int OnSocket(void* self, curl_socket_t fd, curlsocktype purpose);

  const uint64_t number_;
  Transfer& transfer_;
  CURL* const handle_;
  curl_slist* headers_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  int times_sent_ = 0;
  bool too_big_ = false;
};

}  // namespace gpubinder

#endif  // K8S_CURL_EASY_H_
