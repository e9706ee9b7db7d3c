// For tests: an HTTP/1.1 server on a free port of the loopback whose
// behaviour, byte by byte, is a function of the test.
//
//   ScriptedServer server([](ServerConnection& connection) {
//     while (connection.Read()) connection.Answer(200, "", "{}");
//   });

#ifndef K8S_SCRIPTED_SERVER_H_
#define K8S_SCRIPTED_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "k8s/test_certificates.h"

namespace gpubinder {

struct ServerRequest {
  std::string method, target, body;
  std::string head;     // request line and headers
  std::string subject;  // common name of the client's certificate
};

// Used by one thread.
class ServerConnection {
 public:
  virtual ~ServerConnection() = default;

  // Waits for a whole request; nothing: the client has closed.
  virtual std::optional<ServerRequest> Read() = 0;
  // False: the client has closed.
  virtual bool Send(absl::string_view bytes) = 0;
  // Closes with a reset instead of an end, now.
  virtual void Reset() = 0;

  // A whole answer; `headers` are lines that each end in \r\n.
  bool Answer(int code, absl::string_view headers, absl::string_view body);
  // The head of a chunked 200, one chunk, the end of the chunks.
  bool BeginChunks();
  bool SendChunk(absl::string_view bytes);
  bool EndChunks();
};

struct ServerTls {
  TestCertificate certificate;
  std::string client_authority;  // PEM; empty: asks for no certificate
};

class ScriptedServer {
 public:
  // `script` runs on a thread of each connection, which closes at its end.
  explicit ScriptedServer(std::function<void(ServerConnection&)> script);
  ScriptedServer(std::function<void(ServerConnection&)> script, ServerTls tls);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  // Closes all connections and waits for the scripts.
  ~ScriptedServer();

  int port() const { return port_; }
  std::string url() const;
  // All requests that came whole so far, over all connections.
  std::vector<ServerRequest> Requests() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Tls;
  class Connection;

  void Listen();
  void Accept();
  void Serve(int fd);

  const std::function<void(ServerConnection&)> script_;
  std::unique_ptr<Tls> tls_;
  int listener_ = -1;
  int port_ = 0;
  absl::Mutex mutex_;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<int> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<ServerRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> scripts_;  // of Accept's thread until it is joined
  std::thread acceptor_;
};

}  // namespace gpubinder

#endif  // K8S_SCRIPTED_SERVER_H_
