#include "journal/journal_testing.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

std::string Base() {
  if (access("/dev/shm", W_OK) == 0) return "/dev/shm";
  const char* given = std::getenv("TEST_TMPDIR");
  return given != nullptr ? given : "/tmp";
}

}  // namespace

TestDirectory::TestDirectory() {
  path_ = absl::StrCat(Base(), "/gpubinder_journal_XXXXXX");
  BINDER_CHECK(mkdtemp(path_.data()) != nullptr);
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestDirectory::New(absl::string_view name) {
  return absl::StrCat(path_, "/", name, "_", ++made_);
}

JournalOptions TestOptions(const std::string& directory) {
  JournalOptions options;
  options.directory = directory;
  options.random = [] { return 0x5e1f09ab00000000u; };
  options.clock = [] { return absl::FromUnixSeconds(1'764'500'000); };
  return options;
}

std::vector<v1::Record> Notes(uint64_t first, int count) {
  std::vector<v1::Record> records(count);
  for (v1::Record& record : records) {
    record.set_time_unix_nanos(static_cast<int64_t>(1000 * first));
    record.mutable_note()->set_text(absl::StrCat("note ", first++));
  }
  return records;
}

uint64_t NumberOf(const v1::Record& record) {
  absl::string_view text = record.note().text();
  uint64_t number = 0;
  if (!absl::ConsumePrefix(&text, "note ")) return 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

absl::StatusOr<std::vector<v1::Record>> ReadAll(const Journal& journal) {
  std::vector<v1::Record> records;
  const absl::Status s = journal.Read(1, [&](const v1::Record& record) {
    records.push_back(record);
    return true;
  });
  if (!s.ok()) return s;
  return records;
}

StoredRecord Encode(const RecordCodec& codec, uint64_t sequence,
                    const Digest& previous, v1::Record& record) {
  absl::StatusOr<std::string> stored = codec.Compress(sequence, record);
  BINDER_CHECK(stored.ok());
  const Digest digest = Seal(sequence, previous, *stored);
  return {*std::move(stored), digest};
}

CrashWriter::CrashWriter(const std::string& directory, uint64_t seed) {
  int ends[2];
  BINDER_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  told_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  std::string program = "journal/crash_writer";
  std::string name = directory;
  std::string number = absl::StrCat(seed);
  char* arguments[] = {program.data(), name.data(), number.data(), nullptr};
  BINDER_CHECK(posix_spawn(&process_, program.c_str(), &actions, nullptr,
                           arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
}

CrashWriter::~CrashWriter() {
  Kill();
  close(told_);
  waitpid(process_, nullptr, 0);
}

uint64_t CrashWriter::NextSynced() {
  uint64_t sequence = 0;
  const bool told = read(told_, &sequence, sizeof sequence) == sizeof sequence;
  return told ? sequence : 0;
}

void CrashWriter::Kill() { kill(process_, SIGKILL); }

void CopyDirectory(const std::string& from, const std::string& to) {
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

std::vector<std::string> FilesUnder(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string FileText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, absl::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  BINDER_CHECK(out.good());
}

std::string NewestLog(const std::string& directory) {
  std::string newest;
  for (const std::string& path : FilesUnder(directory)) {
    if (absl::EndsWith(path, ".log") && !FileText(path).empty()) newest = path;
  }
  return newest;
}

}  // namespace gpubinder
