#include "journal/synced_mark.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "journal/storage_status.h"

namespace gpubinder {
namespace {

constexpr absl::string_view kMagic = "GBSYNCED";
constexpr size_t kFormatAt = 8;
constexpr size_t kUidAt = 12;
constexpr size_t kGenerationAt = 20;
constexpr size_t kSequenceAt = 28;
constexpr size_t kDigestAt = 36;
constexpr size_t kChecksumAt = 52;
constexpr size_t kSlotBytes = 64;
// A disk writes 512 bytes or none of them.
constexpr size_t kSlotStride = 512;

void PutNumber(std::string& slot, size_t at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    slot[at + i] = static_cast<char>(value >> (8 * i));
  }
}

uint64_t GetNumber(absl::string_view slot, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | (slot[at + i] & 0xff);
  return value;
}

std::string EncodeSlot(const SyncedMark& mark) {
  std::string slot(kSlotBytes, '\0');
  slot.replace(0, kMagic.size(), kMagic.data(), kMagic.size());
  PutNumber(slot, kFormatAt, mark.format, 4);
  slot.replace(kUidAt, 8, mark.journal_uid, 0, 8);
  slot.resize(kSlotBytes);
  PutNumber(slot, kGenerationAt, mark.generation, 8);
  PutNumber(slot, kSequenceAt, mark.sequence, 8);
  std::memcpy(slot.data() + kDigestAt, mark.digest.data(), mark.digest.size());
  const Digest check =
      DigestOf(absl::string_view(slot).substr(0, kChecksumAt), "", "");
  std::memcpy(slot.data() + kChecksumAt, check.data(),
              kSlotBytes - kChecksumAt);
  return slot;
}

std::optional<SyncedMark> DecodeSlot(absl::string_view slot) {
  if (slot.size() < kSlotBytes) return std::nullopt;
  const Digest check = DigestOf(slot.substr(0, kChecksumAt), "", "");
  if (slot.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  if (std::memcmp(slot.data() + kChecksumAt, check.data(),
                  kSlotBytes - kChecksumAt) != 0) {
    return std::nullopt;
  }
  SyncedMark mark;
  mark.format = static_cast<uint32_t>(GetNumber(slot, kFormatAt, 4));
  mark.journal_uid = std::string(slot.substr(kUidAt, 8));
  mark.generation = GetNumber(slot, kGenerationAt, 8);
  mark.sequence = GetNumber(slot, kSequenceAt, 8);
  std::memcpy(mark.digest.data(), slot.data() + kDigestAt, mark.digest.size());
  return mark;
}

}  // namespace

absl::Status CreateSyncedMark(rocksdb::FileSystem& files,
                              const std::string& path, const SyncedMark& mark) {
  const std::string doing = absl::StrCat("creating '", path, "'");
  std::string bytes = EncodeSlot(mark);
  bytes.resize(kSlotStride + kSlotBytes);
  const rocksdb::IOOptions io;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus s =
      files.NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr);
  if (s.ok()) s = file->Append(bytes, io, nullptr);
  if (s.ok()) s = file->Sync(io, nullptr);
  if (s.ok()) s = file->Close(io, nullptr);
  return FromStorage(s, doing);
}

absl::StatusOr<SyncedMark> LoadSyncedMark(rocksdb::FileSystem& files,
                                          const std::string& path) {
  if (files.FileExists(path, rocksdb::IOOptions(), nullptr).IsNotFound()) {
    return absl::NotFoundError(absl::StrCat("no file '", path, "'"));
  }
  std::string bytes;
  const rocksdb::IOStatus s = rocksdb::ReadFileToString(&files, path, &bytes);
  if (!s.ok()) return FromStorage(s, absl::StrCat("reading '", path, "'"));
  const absl::string_view view = bytes;
  std::optional<SyncedMark> newest;
  for (const size_t at : {size_t{0}, kSlotStride}) {
    if (view.size() < at) continue;
    std::optional<SyncedMark> mark = DecodeSlot(view.substr(at));
    if (!mark.has_value()) continue;
    if (!newest.has_value() || newest->generation < mark->generation) {
      newest = std::move(mark);
    }
  }
  if (!newest.has_value()) {
    return absl::DataLossError(
        absl::StrCat("neither slot of '", path, "' is whole"));
  }
  return *newest;
}

SyncedMarkWriter::SyncedMarkWriter() = default;
SyncedMarkWriter::SyncedMarkWriter(SyncedMarkWriter&&) noexcept = default;
SyncedMarkWriter& SyncedMarkWriter::operator=(SyncedMarkWriter&&) noexcept =
    default;
SyncedMarkWriter::~SyncedMarkWriter() = default;

absl::StatusOr<SyncedMarkWriter> SyncedMarkWriter::Open(
    rocksdb::FileSystem& files, const std::string& path, SyncedMark last) {
  SyncedMarkWriter writer;
  writer.path_ = path;
  writer.last_ = std::move(last);
  const rocksdb::IOStatus s = files.NewRandomRWFile(
      path, rocksdb::FileOptions(), &writer.file_, nullptr);
  if (!s.ok()) return FromStorage(s, absl::StrCat("opening '", path, "'"));
  return writer;
}

absl::Status SyncedMarkWriter::Write(uint64_t sequence, const Digest& digest,
                                     absl::Time now) {
  const std::string doing = absl::StrCat("writing '", path_, "'");
  last_.sequence = sequence;
  last_.digest = digest;
  ++last_.generation;
  const rocksdb::IOOptions io;
  rocksdb::IOStatus s = file_->Write((last_.generation % 2) * kSlotStride,
                                     EncodeSlot(last_), io, nullptr);
  if (!s.ok()) return FromStorage(s, doing);
  const absl::Duration since = now - file_synced_;
  if (since >= absl::ZeroDuration() && since < absl::Seconds(1)) {
    return absl::OkStatus();
  }
  s = file_->Sync(io, nullptr);
  if (!s.ok()) return FromStorage(s, doing);
  file_synced_ = now;
  return absl::OkStatus();
}

}  // namespace gpubinder
