#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "journal/journal.h"
#include "k8s/object_codec.h"
#include "reconciler/record_fold.h"
#include "tools/bench/event_stream.h"
#include "tools/bench/projection.h"
#include "tools/bench/raw_log.h"
#include "tools/bench/rows.h"

namespace gpubinder::bench {
namespace {

constexpr size_t kBatch = 64;

// A directory below the options' that goes away with this.
class WorkDirectory {
 public:
  explicit WorkDirectory(const RowOptions& options) {
    std::string name =
        absl::StrCat(options.directory, "/gpubinder_bench_XXXXXX");
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  absl::Status status() const {
    if (!path_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "the directory for journals cannot be written; see --directory");
  }
  // A path that is not there yet.
  std::string New() { return absl::StrCat(path_, "/", ++made_); }
  void Remove(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

 private:
  std::string path_;
  int made_ = 0;
};

JournalOptions OptionsFor(const std::string& directory) {
  return {.directory = directory,
          .random = [] { return uint64_t{0x5e1f09ab}; },
          .clock = [] { return absl::Now(); }};
}

std::vector<absl::string_view> TextsOf(const EventStream& stream) {
  std::vector<absl::string_view> texts;
  for (const v1::Record& record : stream.records) {
    texts.push_back(record.object().json());
  }
  return texts;
}

absl::Status AppendAll(Journal& journal, std::vector<v1::Record>& records,
                       Syncing syncing) {
  for (size_t at = 0; at < records.size(); at += kBatch) {
    const size_t count = std::min(kBatch, records.size() - at);
    absl::Status s = journal.Append(absl::MakeSpan(&records[at], count));
    if (s.ok() && syncing == Syncing::kEachBatch) s = journal.Sync();
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status AppendAll(RawLog& log, const std::vector<absl::string_view>& texts,
                       Syncing syncing) {
  for (size_t at = 0; at < texts.size(); at += kBatch) {
    const size_t count = std::min(kBatch, texts.size() - at);
    const absl::Status s =
        log.Append(absl::MakeSpan(&texts[at], count), syncing);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// Both sides give back, in order, the texts that they were given.
absl::Status CheckAppended(const Journal& journal, const RawLog& log,
                           const std::vector<absl::string_view>& texts) {
  size_t read = 0, raw = 0, wrong = 0;
  absl::Status s = journal.Read(1, [&](const v1::Record& record) {
    wrong += read >= texts.size() || record.object().json() != texts[read];
    ++read;
    return true;
  });
  if (!s.ok()) return s;
  s = log.Read([&](absl::string_view text) {
    wrong += raw >= texts.size() || text != texts[raw];
    ++raw;
  });
  if (!s.ok()) return s;
  if (wrong == 0 && read == texts.size() && raw == texts.size()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("appended ", texts.size(), " events, read back ", read,
                   " and ", raw, ", of which ", wrong, " differ"));
}

int64_t BytesUnder(const std::string& directory) {
  int64_t bytes = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) {
      bytes += static_cast<int64_t>(entry.file_size());
    }
  }
  return bytes;
}

std::vector<std::pair<std::string, int64_t>> SizesOf(
    const EventStream& stream) {
  const auto events = static_cast<int64_t>(stream.records.size());
  return {{"events", events},
          {"batch", kBatch},
          {"json_bytes", stream.json_bytes},
          {"json_bytes_per_event", stream.json_bytes / events},
          {"json_bytes_before_filter", stream.raw_bytes}};
}

// Times one side on a new directory each time.
struct Appender {
  WorkDirectory& work;
  const EventStream& stream;
  const std::vector<absl::string_view> texts;
  const Syncing syncing;
  absl::Status status;

  double events() const { return static_cast<double>(texts.size()); }

  Sample Ours() {
    const std::string directory = work.New();
    std::vector<v1::Record> records = stream.records;
    Sample sample;
    {
      absl::StatusOr<std::unique_ptr<Journal>> journal =
          Journal::Open(OptionsFor(directory));
      if (!journal.ok()) {
        status = journal.status();
        return {};
      }
      sample = Time(Clock::kWall, events(), [&] {
        absl::Status s = AppendAll(**journal, records, syncing);
        // What is still on its way to the log counts: reading waits for it.
        const uint64_t next = (*journal)->last_sequence() + 1;
        if (s.ok())
          s = (*journal)->Read(next, [](const v1::Record&) { return false; });
        if (!s.ok()) status = s;
      });
    }
    work.Remove(directory);
    return sample;
  }

  Sample Theirs() {
    const std::string directory = work.New();
    Sample sample;
    {
      absl::StatusOr<std::unique_ptr<RawLog>> log = RawLog::Create(directory);
      if (!log.ok()) {
        status = log.status();
        return {};
      }
      sample = Time(Clock::kWall, events(), [&] {
        if (absl::Status s = AppendAll(**log, texts, syncing); !s.ok()) {
          status = s;
        }
      });
    }
    work.Remove(directory);
    return sample;
  }
};

}  // namespace

absl::Status RunAppend(const RowOptions& options, const Print& print) {
  const absl::StatusOr<EventStream> stream = MakeEventStream(
      options.seed, options.size == Size::kFull ? 40'000 : 1'000);
  if (!stream.ok()) return stream.status();
  WorkDirectory work(options);
  if (!work.status().ok()) return work.status();
  const std::vector<absl::string_view> texts = TextsOf(*stream);
  int64_t our_bytes = 0, their_bytes = 0;
  {
    const std::string ours = work.New(), theirs = work.New();
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        Journal::Open(OptionsFor(ours));
    if (!journal.ok()) return journal.status();
    absl::StatusOr<std::unique_ptr<RawLog>> log = RawLog::Create(theirs);
    if (!log.ok()) return log.status();
    std::vector<v1::Record> records = stream->records;
    absl::Status s = AppendAll(**journal, records, Syncing::kEachBatch);
    if (s.ok()) s = AppendAll(**log, texts, Syncing::kEachBatch);
    if (s.ok()) s = CheckAppended(**journal, **log, texts);
    if (!s.ok()) return s;
    our_bytes = BytesUnder(ours);
    their_bytes = BytesUnder(theirs);
    journal->reset();
    log->reset();
    work.Remove(ours);
    work.Remove(theirs);
  }
  for (const Syncing syncing : {Syncing::kNever, Syncing::kEachBatch}) {
    Appender appender{work, *stream, texts, syncing, absl::OkStatus()};
    RowResult result{
        .variant = syncing == Syncing::kNever ? "no sync" : "sync",
        .comparison = Compare(
            {.what = "journal", .run = [&] { return appender.Ours(); }},
            {.what = "WriteBatch", .run = [&] { return appender.Theirs(); }},
            options.pairs()),
        .unit = "wall seconds/event",
        .sizes = SizesOf(*stream),
        .checked = "both sides give back every text in order",
        .notes = {"the journal's own filter is not timed: both sides append "
                  "what it left",
                  "without a sync of the caller's the journal still syncs and "
                  "flushes every 8 MiB, since it promises that; the peer "
                  "flushes every 64 MiB in the background"}};
    if (!appender.status.ok()) return appender.status;
    result.sizes.emplace_back("journal_directory_bytes", our_bytes);
    result.sizes.emplace_back("peer_directory_bytes", their_bytes);
    result.value = result.comparison.ratio.median;
    print(result);
  }
  return absl::OkStatus();
}

namespace {

// The snapshot holds for every object the last text that the stream has.
absl::Status CheckReplayed(const EventStream& stream,
                           const Snapshot& snapshot) {
  Snapshot wanted;
  for (size_t i = 0; i < stream.records.size(); ++i) {
    v1::Record record = stream.records[i];
    record.set_sequence(i + 1);
    absl::StatusOr<Object> object = DecodeObject(
        *KindByName(record.object().kind()), record.object().json());
    if (!object.ok()) return object.status();
    if (!MetaOf(*object).problems.empty()) {
      return absl::InternalError(absl::StrCat(
          "event ", i, " is malformed: ", MetaOf(*object).problems[0].field));
    }
    Fold(record, *std::move(object), wanted);
  }
  auto equal = [](const auto& a, const auto& b) {
    if (a.size() == 0 || a.by_name() != b.by_name()) return false;
    for (const auto& [key, row] : a.by_name()) {
      if (!(a[row] == b[row])) return false;
    }
    return true;
  };
  if (equal(wanted.pods(), snapshot.pods()) &&
      equal(wanted.vmis(), snapshot.vmis()) &&
      equal(wanted.claims(), snapshot.claims()) &&
      equal(wanted.nodes(), snapshot.nodes()) &&
      wanted.booked == snapshot.booked) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "the replayed snapshot differs from the events folded directly");
}

absl::Status ReplayInto(const Journal& journal, Snapshot& snapshot) {
  return ReadDecoded(
      journal, 1, [&](const v1::Record& record, std::optional<Object> object) {
        Fold(record, std::move(object), snapshot);
        return true;
      });
}

// Replays and projects; the snapshot goes away outside of the time.
Comparison CompareReplay(const Journal& journal, const RawLog& log,
                         double events, const Pairs& pairs) {
  return Compare({.what = "journal read, decoded and folded",
                  .run =
                      [&] {
                        auto snapshot = std::make_unique<Snapshot>();
                        return Time(Clock::kWall, events, [&] {
                          Keep(ReplayInto(journal, *snapshot).ok());
                        });
                      }},
                 {.what = "iterator and On-Demand projection",
                  .run =
                      [&] {
                        Projector projector;
                        return Time(Clock::kWall, events, [&] {
                          Keep(log.Read([&](absl::string_view text) {
                                    projector.Project(text);
                                  })
                                   .ok());
                          Keep(static_cast<uint64_t>(projector.seen().bytes));
                        });
                      }},
                 pairs);
}

// The raw log's walk sees what one over the texts in memory sees.
absl::Status CheckProjected(const RawLog& log,
                            const std::vector<absl::string_view>& texts) {
  Projector there, here;
  for (const absl::string_view text : texts) here.Project(text);
  const absl::Status s =
      log.Read([&](absl::string_view text) { there.Project(text); });
  if (!s.ok()) return s;
  if (there.seen() == here.seen() && here.seen().failures == 0 &&
      here.seen().fields > here.seen().objects) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the projection of the raw log reads ", there.seen().fields,
                   " fields, that of the texts ", here.seen().fields, ", with ",
                   here.seen().failures, " failures"));
}

}  // namespace

absl::Status RunReplay(const RowOptions& options, const Print& print) {
  const absl::StatusOr<EventStream> stream = MakeEventStream(
      options.seed, options.size == Size::kFull ? 100'000 : 2'000);
  if (!stream.ok()) return stream.status();
  WorkDirectory work(options);
  if (!work.status().ok()) return work.status();
  const std::vector<absl::string_view> texts = TextsOf(*stream);
  const std::string ours = work.New();
  absl::StatusOr<std::unique_ptr<RawLog>> log = RawLog::Create(work.New());
  if (!log.ok()) return log.status();
  absl::Status s = AppendAll(**log, texts, Syncing::kNever);
  if (s.ok()) s = (*log)->Flush();
  if (!s.ok()) return s;
  {
    absl::StatusOr<std::unique_ptr<Journal>> writer =
        Journal::Open(OptionsFor(ours));
    if (!writer.ok()) return writer.status();
    std::vector<v1::Record> records = stream->records;
    s = AppendAll(**writer, records, Syncing::kNever);
    if (s.ok()) s = (*writer)->Sync();
    if (!s.ok()) return s;
  }
  // Opening for writing puts the log's rest into table files, as at a start.
  const absl::StatusOr<std::unique_ptr<Journal>> journal =
      Journal::Open(OptionsFor(ours));
  if (!journal.ok()) return journal.status();
  {
    Snapshot snapshot;
    s = ReplayInto(**journal, snapshot);
    if (s.ok()) s = CheckReplayed(*stream, snapshot);
    if (s.ok()) s = CheckProjected(**log, texts);
    if (!s.ok()) return s;
  }
  RowResult result{
      .comparison = CompareReplay(
          **journal, **log, static_cast<double>(texts.size()), options.pairs()),
      .unit = "wall seconds/event",
      .sizes = SizesOf(*stream),
      .checked =
          "the replayed snapshot equals the events folded directly; the "
          "projection of the log equals that of the texts",
      .notes = {
          "value is our speed over the peer's: the inverse of ratio",
          "our side verifies the chain and decompresses, on a thread that "
          "reads ahead; the peer's table files have RocksDB's default "
          "compression"}};
  result.value = 1 / result.comparison.ratio.median;
  result.figures = {
      {"events_per_second", 1 / result.comparison.ours.seconds.median}};
  print(result);
  return absl::OkStatus();
}

}  // namespace gpubinder::bench
