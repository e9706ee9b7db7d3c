// A file system that fails when a test says so, over the machine's own.
//
// Three faults: the n-th change of a file fails, once or from then on; a file
// of a certain ending is never synced though it says so; and a power cut,
// which takes what was appended since each file's last sync, to a random
// byte. Directory entries are never lost.

#ifndef JOURNAL_FAULTY_FILE_SYSTEM_H_
#define JOURNAL_FAULTY_FILE_SYSTEM_H_

#include <rocksdb/file_system.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gpubinder {

class FaultyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  enum class Fault { kInputOutputError, kNoSpace };
  enum class Lasting { kOnce, kForEver };
  struct Plan {
    // Counts from 1 over all changes: append, write, sync, create, rename,
    // truncate, delete. 0: never.
    uint64_t fail_at = 0;
    Fault fault = Fault::kInputOutputError;
    Lasting lasting = Lasting::kForEver;
    // Files whose name ends so are not synced. Empty: none.
    std::string lie_about;
  };

  FaultyFileSystem();
  const char* Name() const override { return "FaultyFileSystem"; }

  // Starts the count anew.
  void Set(const Plan& plan);
  uint64_t changes() const;
  bool has_failed() const;

  // Cuts each file that was appended to anywhere between what was synced and
  // its end. Only when no file is open.
  void CutPower(uint64_t seed);

  // Counts one change of the file and answers with the planned fault.
  rocksdb::IOStatus Change(const std::string& name);
  void Appended(const std::string& name, uint64_t bytes);
  void Truncated(const std::string& name, uint64_t size);
  void Synced(const std::string& name);

  rocksdb::IOStatus NewWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* result,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* result,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomRWFile>* result,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name,
                                 const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  struct Extent {
    uint64_t synced = 0;
    uint64_t size = 0;
  };
  mutable std::mutex mutex_;
  Plan plan_;
  uint64_t changes_ = 0;
  bool has_failed_ = false;
  std::map<std::string, Extent> extents_;
};

}  // namespace gpubinder

#endif  // JOURNAL_FAULTY_FILE_SYSTEM_H_
