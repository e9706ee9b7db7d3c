#include "journal/record.h"

#include <openssl/evp.h>
#include <zstd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

constexpr char kLayout = 1;
constexpr size_t kPreviousAt = 3;
constexpr size_t kChecksumAt = 19;
constexpr size_t kFrameAt = 23;
constexpr size_t kChecksumBytes = kFrameAt - kChecksumAt;

// Level 1 halves the bytes of the fastest levels for a few percent of append
// time once a dictionary is there.
constexpr int kLevel = 1;

struct FreeZstd {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
  void operator()(ZSTD_CDict* d) const { ZSTD_freeCDict(d); }
  void operator()(ZSTD_DDict* d) const { ZSTD_freeDDict(d); }
};

struct FreeHash {
  void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
  void operator()(EVP_MD* m) const { EVP_MD_free(m); }
};

// ParseFromString, but the record's event keeps its buffers. A text as long as
// an object's costs more to free than to parse: the allocator then merges all
// that is free.
bool ParseInto(const std::string& plain, v1::Record& record) {
  std::unique_ptr<v1::ObjectEvent> event(record.release_object());
  record.Clear();
  if (event != nullptr) {
    event->Clear();
    record.set_allocated_object(event.release());
  }
  if (!record.MergeFromString(plain)) return false;
  // An empty event may be the one that was put there.
  return !record.has_object() || record.object().ByteSizeLong() > 0 ||
         record.ParseFromString(plain);
}

std::unique_ptr<ZSTD_CCtx, FreeZstd> NewCompressor() {
  std::unique_ptr<ZSTD_CCtx, FreeZstd> made(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(made.get(), ZSTD_c_compressionLevel, kLevel);
  // Our header has both: the id, and a checksum over all that is stored.
  ZSTD_CCtx_setParameter(made.get(), ZSTD_c_dictIDFlag, 0);
  ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 0);
  return made;
}

uint16_t DictionaryIdOf(absl::string_view stored) {
  return static_cast<uint16_t>(static_cast<unsigned char>(stored[1]) |
                               static_cast<unsigned char>(stored[2]) << 8);
}

}  // namespace

std::string SequenceKey(uint64_t sequence) {
  std::string key(8, '\0');
  for (int i = 0; i < 8; ++i) {
    key[i] = static_cast<char>(sequence >> (56 - 8 * i));
  }
  return key;
}

absl::StatusOr<uint64_t> SequenceOfKey(absl::string_view key) {
  if (key.size() != 8) {
    return absl::InvalidArgumentError(
        absl::StrCat("a record's key has 8 bytes, not ", key.size()));
  }
  uint64_t sequence = 0;
  for (const char c : key) sequence = sequence << 8 | (c & 0xff);
  return sequence;
}

Digest GenesisDigest(absl::string_view journal_uid) {
  return DigestOf("gpubinder journal ", journal_uid, "");
}

Digest DigestOf(absl::string_view first, absl::string_view second,
                absl::string_view third) {
  // Fetching by name costs more than hashing a record, so once.
  static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeHash> hash(
      EVP_MD_CTX_new());
  BINDER_CHECK(sha256 != nullptr);
  BINDER_CHECK(hash != nullptr);
  unsigned char whole[32];
  BINDER_CHECK(EVP_DigestInit_ex2(hash.get(), sha256, nullptr) == 1);
  for (const absl::string_view part : {first, second, third}) {
    BINDER_CHECK(EVP_DigestUpdate(hash.get(), part.data(), part.size()) == 1);
  }
  BINDER_CHECK(EVP_DigestFinal_ex(hash.get(), whole, nullptr) == 1);
  Digest digest;
  std::memcpy(digest.data(), whole, digest.size());
  return digest;
}

absl::StatusOr<RecordHeader> CheckStored(uint64_t sequence,
                                         absl::string_view stored) {
  if (stored.size() < kFrameAt) {
    return absl::DataLossError(
        absl::StrCat("it has ", stored.size(), " bytes, fewer than a header"));
  }
  RecordHeader header;
  std::memcpy(header.previous.data(), stored.data() + kPreviousAt,
              header.previous.size());
  header.own = DigestOf(SequenceKey(sequence), stored.substr(0, kChecksumAt),
                        stored.substr(kFrameAt));
  if (std::memcmp(header.own.data(), stored.data() + kChecksumAt,
                  kChecksumBytes) != 0) {
    return absl::DataLossError("its checksum does not match");
  }
  if (stored[0] != kLayout) {
    return absl::DataLossError(
        absl::StrCat("its layout is ", static_cast<int>(stored[0]),
                     ", this build reads ", static_cast<int>(kLayout)));
  }
  return header;
}

struct RecordCodec::Zstd {
  uint16_t current;
  std::unique_ptr<ZSTD_CDict, FreeZstd> compress_with;
  std::map<uint16_t, std::unique_ptr<ZSTD_DDict, FreeZstd>> decompress_with;
};

RecordCodec::RecordCodec(const std::map<uint16_t, std::string>& dictionaries,
                         uint16_t current)
    : zstd_(std::make_unique<Zstd>()) {
  const auto chosen = dictionaries.find(current);
  BINDER_CHECK(chosen != dictionaries.end());
  zstd_->current = current;
  zstd_->compress_with.reset(
      ZSTD_createCDict(chosen->second.data(), chosen->second.size(), kLevel));
  for (const auto& [id, text] : dictionaries) {
    zstd_->decompress_with[id].reset(
        ZSTD_createDDict(text.data(), text.size()));
  }
}

RecordCodec::~RecordCodec() = default;

absl::StatusOr<std::string> RecordCodec::Compress(uint64_t sequence,
                                                  v1::Record& record) const {
  record.clear_sequence();
  record.clear_previous_digest();
  record.clear_journal_uid();
  const size_t size = record.ByteSizeLong();
  if (size > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("record ", sequence, " has ", size, " bytes, at most ",
                     kMaxRecordBytes, " are legal"));
  }
  // Kept from record to record, so that they are not made and zeroed anew.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeZstd> compressor =
      NewCompressor();
  thread_local std::string plain, frame;
  if (plain.size() < size) plain.resize(size);
  record.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(plain.data()));
  const size_t most = ZSTD_compressBound(size);
  if (frame.size() < most) frame.resize(most);
  ZSTD_CCtx_refCDict(compressor.get(), zstd_->compress_with.get());
  const size_t frame_size = ZSTD_compress2(compressor.get(), frame.data(),
                                           frame.size(), plain.data(), size);
  BINDER_CHECK(!ZSTD_isError(frame_size));

  std::string stored;
  stored.reserve(kFrameAt + frame_size);
  stored.resize(kFrameAt);
  stored.append(frame, 0, frame_size);
  stored[0] = kLayout;
  stored[1] = static_cast<char>(zstd_->current & 0xff);
  stored[2] = static_cast<char>(zstd_->current >> 8);
  if (size > kKeptBytes) {
    plain = std::string();
    frame = std::string();
  }
  return stored;
}

Digest Seal(uint64_t sequence, const Digest& previous, std::string& stored) {
  BINDER_CHECK(stored.size() >= kFrameAt);
  std::memcpy(stored.data() + kPreviousAt, previous.data(), previous.size());
  const absl::string_view view = stored;
  const Digest digest =
      DigestOf(SequenceKey(sequence), view.substr(0, kChecksumAt),
               view.substr(kFrameAt));
  std::memcpy(stored.data() + kChecksumAt, digest.data(), kChecksumBytes);
  return digest;
}

absl::Status RecordCodec::Decode(absl::string_view stored,
                                 v1::Record& record) const {
  const uint16_t id = DictionaryIdOf(stored);
  const auto dictionary = zstd_->decompress_with.find(id);
  if (dictionary == zstd_->decompress_with.end()) {
    return absl::DataLossError(absl::StrCat("it is compressed with dictionary ",
                                            id, ", which is not there"));
  }
  const absl::string_view frame = stored.substr(kFrameAt);
  const unsigned long long size =
      ZSTD_getFrameContentSize(frame.data(), frame.size());
  // Also true for the two codes that stand for "unknown" and "no frame".
  if (size > kMaxRecordBytes) {
    return absl::DataLossError("it is no zstd frame of a legal size");
  }
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeZstd> decompressor(
      ZSTD_createDCtx());
  thread_local std::string plain;
  plain.resize(size);
  const size_t got = ZSTD_decompress_usingDDict(
      decompressor.get(), plain.data(), plain.size(), frame.data(),
      frame.size(), dictionary->second.get());
  if (ZSTD_isError(got) || got != size) {
    return absl::DataLossError("its zstd frame does not decompress");
  }
  if (!ParseInto(plain, record)) {
    return absl::DataLossError("it is no serialised record");
  }
  return absl::OkStatus();
}

}  // namespace gpubinder
