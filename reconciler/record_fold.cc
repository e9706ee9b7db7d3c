#include "reconciler/record_fold.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "k8s/object_codec.h"

namespace gpubinder {
namespace {

std::optional<Object> Decode(const v1::ObjectEvent& event) {
  const std::optional<Kind> kind = KindByName(event.kind());
  if (!kind.has_value() || event.json().empty()) return std::nullopt;
  absl::StatusOr<Object> object = DecodeObject(*kind, event.json());
  if (!object.ok()) return std::nullopt;
  return *std::move(object);
}

}  // namespace

Change FoldRecord(const v1::Record& record, Snapshot& snapshot) {
  std::optional<Object> object;
  if (record.has_object()) {
    object = Decode(record.object());
  } else if (record.has_outcome() && record.outcome().has_object()) {
    object = Decode(record.outcome().object());
  }
  return Fold(record, std::move(object), snapshot);
}

}  // namespace gpubinder
