#include "reconciler/record_fold.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "journal/record_visitor.h"
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

std::optional<Object> Decode(const v1::Record& record) {
  if (record.has_object()) return Decode(record.object());
  if (record.has_outcome() && record.outcome().has_object()) {
    return Decode(record.outcome().object());
  }
  return std::nullopt;
}

class DecodedVisitor : public RecordVisitor {
 public:
  using Visitor =
      absl::FunctionRef<bool(const v1::Record&, std::optional<Object>)>;

  explicit DecodedVisitor(Visitor visit) : visit_(visit) {}
  void Prepare(size_t slot, const v1::Record& record) override {
    objects_[slot] = Decode(record);
  }
  bool Visit(size_t slot, const v1::Record& record) override {
    return visit_(record, std::move(objects_[slot]));
  }

 private:
  const Visitor visit_;
  std::array<std::optional<Object>, kSlots> objects_;
};

}  // namespace

Change FoldRecord(const v1::Record& record, Snapshot& snapshot) {
  return Fold(record, Decode(record), snapshot);
}

absl::Status ReadDecoded(
    const Journal& journal, uint64_t from,
    absl::FunctionRef<bool(const v1::Record&, std::optional<Object>)> visit) {
  DecodedVisitor visitor(visit);
  return journal.Read(from, visitor);
}

}  // namespace gpubinder
