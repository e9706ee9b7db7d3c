// For tests: a blocking client that sends what a test says, over TLS or
// without, and takes answers apart. What does not come within 20 s fails.

#ifndef WEBHOOK_TLS_TEST_CLIENT_H_
#define WEBHOOK_TLS_TEST_CLIENT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

struct TestAnswer {
  int code = 0;
  std::string head;  // status line and fields
  std::string body;
};

enum class TlsVersion { kAny, k11, k12, k13 };

struct TestTls {
  TlsVersion version = TlsVersion::kAny;
  std::string protocols;  // ALPN, in its wire form
};

class TlsTestClient {
 public:
  // TCP only.
  explicit TlsTestClient(int port);
  ~TlsTestClient();
  TlsTestClient(const TlsTestClient&) = delete;
  TlsTestClient& operator=(const TlsTestClient&) = delete;

  // Whether the handshake is done. No certificate is verified.
  bool Handshake(const TestTls& tls = {});
  // A new one with the handshake done; null: it failed.
  static std::unique_ptr<TlsTestClient> Connect(int port);

  // Past TLS once there is some. False: the server has closed.
  bool Send(absl::string_view bytes);
  // Ends what is sent, in TLS and TCP; answers can still be read.
  void EndSending();
  // The next answer, by its Content-Length; code 0: the server closed first.
  TestAnswer Read();
  // What else comes until the server closes.
  std::string ReadToEnd();
  // Waits so long for bytes or the end; whether the server has closed.
  bool IsClosedWithin(int milliseconds);

  // The serial number of the server's certificate; what ALPN chose.
  std::string serial() const;
  std::string protocol() const;
  // Whether the server ended the handshake because of the version.
  bool refused_version() const { return refused_version_; }

 private:
  struct Tls;
  bool Receive();

  int fd_ = -1;
  std::unique_ptr<Tls> tls_;
  std::string buffer_;
  bool refused_version_ = false;
};

// "POST <path>" of a review as the API server sends it.
std::string ReviewRequestText(absl::string_view path, absl::string_view body);
// "GET <path>".
std::string GetText(absl::string_view path);

}  // namespace gpubinder

#endif  // WEBHOOK_TLS_TEST_CLIENT_H_
