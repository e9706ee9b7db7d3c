// The peer of decoding and folding: one simdjson On-Demand walk over an
// object that looks at what the binder reads of it (names, labels, spec and
// status of its kind) and keeps nothing but a sum.

#ifndef TOOLS_BENCH_PROJECTION_H_
#define TOOLS_BENCH_PROJECTION_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"

namespace gpubinder::bench {

// What a walk saw, so that two walks can be compared.
struct Seen {
  int64_t objects = 0, failures = 0;
  int64_t fields = 0;  // texts and numbers that were read
  int64_t bytes = 0;   // of the texts
  bool operator==(const Seen&) const = default;
};

class Projector {
 public:
  Projector();
  ~Projector();
  // The kind is read from the text.
  void Project(absl::string_view json);
  const Seen& seen() const { return seen_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  Seen seen_;
};

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_PROJECTION_H_
