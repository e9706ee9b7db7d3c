// The wait between failed tries, with client-go's numbers: 0.8 s, doubled to
// at most 30 s, with up to as much again at random; afresh when the last wait
// was begun over two minutes ago.

#ifndef K8S_BACKOFF_H_
#define K8S_BACKOFF_H_

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/time/time.h"

namespace gpubinder {

class Backoff {
 public:
  // `jitter` gives a duration in [0, limit].
  explicit Backoff(std::function<absl::Duration(absl::Duration limit)> jitter)
      : jitter_(std::move(jitter)) {}

  // How long to wait from `now` on before the next try.
  absl::Duration Next(absl::Time now) {
    if (now - last_ > absl::Minutes(2)) next_ = absl::Milliseconds(800);
    last_ = now;
    const absl::Duration wait = next_;
    next_ = std::min(2 * next_, absl::Seconds(30));
    return wait + jitter_(wait);
  }

 private:
  const std::function<absl::Duration(absl::Duration)> jitter_;
  absl::Duration next_ = absl::Milliseconds(800);
  absl::Time last_ = absl::InfinitePast();
};

}  // namespace gpubinder

#endif  // K8S_BACKOFF_H_
