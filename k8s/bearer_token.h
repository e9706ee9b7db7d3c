// The token a request carries: fixed, or of a file that is rotated under us.

#ifndef K8S_BEARER_TOKEN_H_
#define K8S_BEARER_TOKEN_H_

#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace gpubinder {

// Thread-safe.
class BearerToken {
 public:
  // Of the file if its path is not empty, else fixed (empty: none). `now` is
  // a clock that does not go back.
  BearerToken(std::string fixed, std::string file,
              std::function<absl::Time()> now);

  // The token; re-reads a file that was read a minute ago or longer. A file
  // that cannot be read, or is empty, leaves the last token in use; without
  // one the error is kUnauthenticated.
  absl::StatusOr<std::string> Current();
  // After a 401 to `refused`: true if the file now holds another token.
  bool Renewed(const std::string& refused);

 private:
  absl::Status Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string file_;
  const std::function<absl::Time()> now_;
  absl::Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  absl::Time read_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace gpubinder

#endif  // K8S_BEARER_TOKEN_H_
