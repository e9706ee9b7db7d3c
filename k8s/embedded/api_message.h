// One request to the embedded server and its answer, as text: what the HTTP
// front reads from a socket and the in-process client makes itself.

#ifndef K8S_EMBEDDED_API_MESSAGE_H_
#define K8S_EMBEDDED_API_MESSAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace gpubinder::embedded {

struct ApiRequest {
  std::string method;        // GET, POST, PUT, PATCH, DELETE
  std::string target;        // path and query, percent-encoded
  std::string content_type;  // of the body
  std::string accept;
  std::string user;  // who asks, for userInfo of admission reviews
  std::string body;
};

struct ApiResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::string> warnings;  // the texts of Warning headers
  int retry_after_seconds = 0;        // 0: no such header
};

// The lines of one watch. Used by one thread; must not outlive its server.
class WatchStream {
 public:
  enum class State { kLine, kNothingYet, kEnded };
  virtual ~WatchStream() = default;
  // The next whole JSON line, newline included, in `line`. Waits up to `wait`
  // of real time for it; zero does not block. After kEnded nothing follows.
  virtual State Next(absl::Duration wait, std::string& line) = 0;
  // A bookmark at the newest revision in `line`, when the watch asked for
  // bookmarks and all before it was delivered. For pollers: a watch that
  // waits gets its bookmarks from Next.
  virtual bool TakeBookmark(std::string& line) = 0;
};

// A watch that was accepted has `watch` set; its response is the head only.
struct ApiAnswer {
  ApiResponse response;
  std::unique_ptr<WatchStream> watch;
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_API_MESSAGE_H_
