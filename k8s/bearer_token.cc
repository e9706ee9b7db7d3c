#include "k8s/bearer_token.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "k8s/identity.h"

namespace gpubinder {

BearerToken::BearerToken(std::string fixed, std::string file,
                         std::function<absl::Time()> now)
    : file_(std::move(file)),
      now_(std::move(now)),
      token_(file_.empty() ? std::move(fixed) : std::string()) {}

absl::StatusOr<std::string> BearerToken::Current() {
  absl::MutexLock lock(&mutex_);
  if (file_.empty()) return token_;
  if (now_() - read_at_ >= absl::Minutes(1)) {
    absl::Status read = Read();
    if (!read.ok() && token_.empty()) return read;
  }
  return token_;
}

bool BearerToken::Renewed(const std::string& refused) {
  absl::MutexLock lock(&mutex_);
  if (file_.empty()) return false;
  return Read().ok() && token_ != refused;
}

// By path each time: the kubelet swaps a symlink, an open file would stay old.
absl::Status BearerToken::Read() {
  absl::StatusOr<std::string> text = ReadSmallFile(file_);
  if (!text.ok()) return absl::UnauthenticatedError(text.status().message());
  const absl::string_view token = absl::StripAsciiWhitespace(*text);
  if (token.empty() || std::any_of(token.begin(), token.end(), [](char c) {
        return !absl::ascii_isgraph(c);
      })) {
    return absl::UnauthenticatedError(absl::StrCat(
        "token file \"", file_, "\" is empty or holds more than a token"));
  }
  token_ = std::string(token);
  read_at_ = now_();
  return absl::OkStatus();
}

}  // namespace gpubinder
