#include "journal/storage_status.h"

#include <rocksdb/status.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {

absl::Status FromStorage(const rocksdb::Status& status,
                         absl::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = absl::StrCat(doing, ": ", status.ToString());
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(text);
  }
  // RocksDB has no code of its own for these two.
  if (absl::StrContains(text, "Too many open files")) {
    return absl::ResourceExhaustedError(text);
  }
  if (absl::StrContains(text, "Permission denied")) {
    return absl::PermissionDeniedError(text);
  }
  // InvalidArgument is how it says that CURRENT is missing, or that the column
  // families are not those on disk.
  if (status.IsCorruption() || status.IsPathNotFound() || status.IsNotFound() ||
      status.IsInvalidArgument()) {
    return absl::DataLossError(text);
  }
  return absl::FailedPreconditionError(text);
}

absl::Status DamageError(const Damage& damage) {
  return absl::DataLossError(absl::StrCat(
      "journal '", damage.directory, "' is damaged: record ",
      damage.last_good + 1, " is missing or wrong, the last good record is ",
      damage.last_good, "; found: ", damage.found,
      "; to go on use `gpubinder run --rebuild-on-data-loss`, which keeps the "
      "damaged directory aside and reads the cluster anew"));
}

}  // namespace gpubinder
