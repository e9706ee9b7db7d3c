// The lock of a journal directory: one writer, or any number of readers.
//
// A lock of the open file (flock), so that it ends with the process whatever
// kills it, and a second Open in the same process is refused too.

#ifndef JOURNAL_DIRECTORY_LOCK_H_
#define JOURNAL_DIRECTORY_LOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

class DirectoryLock {
 public:
  // Creates DIRECTORY/LOCK if need be and writes the process's id into it.
  // UNAVAILABLE names the holder.
  static absl::StatusOr<DirectoryLock> ForWriter(absl::string_view directory);

  // Writes nothing. A directory without the file, a copy for instance, needs
  // no lock.
  static absl::StatusOr<DirectoryLock> ForReader(absl::string_view directory);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int file) : file_(file) {}
  int file_;  // -1: nothing is held
};

}  // namespace gpubinder

#endif  // JOURNAL_DIRECTORY_LOCK_H_
