// BINDER_CHECK and the one text conversion all folders need.
//
// BINDER_CHECK(condition) stays on in release builds. It is for what only a
// bug of ours can break: what the API server, a webhook caller, a file or a
// flag sends never reaches one. It names the condition and the place, then
// aborts.
//
// On text: the packaged Abseil is built with its own string_view, which is
// not std::string_view. The project takes absl::string_view in its interfaces
// (StrCat, StrSplit and btree look-ups want it) and std::optional and
// std::variant for the rest. AbslView and StdView cross at the boundary of a
// library that speaks the other one.

#ifndef PROTO_CHECK_H_
#define PROTO_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/strings/string_view.h"

namespace gpubinder {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file,
                                     int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

inline absl::string_view AbslView(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view StdView(absl::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace gpubinder

#define BINDER_CHECK(condition)       \
  ((condition) ? static_cast<void>(0) \
               : ::gpubinder::CheckFailed(#condition, __FILE__, __LINE__))

#endif  // PROTO_CHECK_H_
