#include "journal/chain.h"

#include "absl/strings/str_cat.h"
#include "journal/storage_status.h"

namespace gpubinder {
namespace {

absl::Status CheckLink(const RecordCursor& rows,
                       const std::optional<Digest>& previous, ChainLink& link) {
  if (!rows.Valid()) {
    if (absl::Status s = rows.status(); !s.ok()) return s;
    return absl::DataLossError("the records end here");
  }
  const absl::StatusOr<uint64_t> sequence = SequenceOfKey(rows.key());
  if (!sequence.ok()) {
    return absl::DataLossError(sequence.status().message());
  }
  if (*sequence != link.sequence) {
    return absl::DataLossError(
        absl::StrCat("the next record there is ", *sequence));
  }
  link.stored = rows.value();
  const absl::StatusOr<RecordHeader> header =
      CheckStored(link.sequence, link.stored);
  if (!header.ok()) return header.status();
  link.header = *header;
  if (previous.has_value() && link.header.previous != *previous) {
    return absl::DataLossError(
        "it does not name the digest of the record before it");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WalkChain(
    const Database& database, const ChainRange& range,
    const std::function<absl::Status(const ChainLink&)>& visit) {
  std::optional<Digest> previous = range.previous;
  RecordCursor rows = database.ScanFrom(SequenceKey(range.from));
  for (uint64_t sequence = range.from; sequence <= range.to; ++sequence) {
    ChainLink link;
    link.sequence = sequence;
    absl::Status s = CheckLink(rows, previous, link);
    if (s.ok()) s = visit(link);
    if (absl::IsCancelled(s)) return absl::OkStatus();
    if (absl::IsDataLoss(s)) {
      return DamageError(
          {range.journal, sequence - 1, std::string(s.message())});
    }
    if (!s.ok()) return s;
    previous = link.header.own;
    rows.Next();
  }
  return absl::OkStatus();
}

}  // namespace gpubinder
