#include "journal/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

std::string PathIn(absl::string_view directory) {
  return absl::StrCat(directory, "/LOCK");
}

absl::Status HeldError(absl::string_view directory, int file) {
  // A shared lock is granted beside other readers only.
  if (flock(file, LOCK_SH | LOCK_NB) == 0) {
    return absl::UnavailableError(absl::StrCat(
        "journal '", directory, "' is being read by an offline tool, which ",
        "holds the lock file '", PathIn(directory), "'"));
  }
  char holder[32];
  const ssize_t size = pread(file, holder, sizeof holder, 0);
  return absl::UnavailableError(absl::StrCat(
      "journal '", directory, "' is in use: the lock file '", PathIn(directory),
      "' is held by process ",
      absl::string_view(holder, size > 0 ? static_cast<size_t>(size) : 0)));
}

}  // namespace

absl::StatusOr<DirectoryLock> DirectoryLock::ForWriter(
    absl::string_view directory) {
  const std::string path = PathIn(directory);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("opening the lock file '", path, "'"));
  }
  DirectoryLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return HeldError(directory, file);
  }
  // Only for the error of whoever comes second: a full disk must not keep the
  // first one out.
  const std::string self = absl::StrCat(getpid());
  if (ftruncate(file, 0) == 0) {
    [[maybe_unused]] const ssize_t written =
        pwrite(file, self.data(), self.size(), 0);
  }
  return lock;
}

absl::StatusOr<DirectoryLock> DirectoryLock::ForReader(
    absl::string_view directory) {
  const std::string path = PathIn(directory);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return DirectoryLock(-1);
  if (file < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("opening the lock file '", path, "'"));
  }
  DirectoryLock lock(file);
  if (flock(file, LOCK_SH | LOCK_NB) != 0) {
    return HeldError(directory, file);
  }
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace gpubinder
