#include "journal/faulty_file_system.h"

#include <rocksdb/io_status.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

namespace gpubinder {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

bool EndsWith(const std::string& text, const std::string& end) {
  return !end.empty() && text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class WritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WritableFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string name,
               FaultyFileSystem& system)
      : FSWritableFileOwnerWrapper(std::move(file)),
        name_(std::move(name)),
        system_(system) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    IOStatus s = system_.Change(name_);
    // A write that fails may well have written a part.
    const Slice part = s.ok() ? data : Slice(data.data(), data.size() / 2);
    const IOStatus real = target()->Append(part, options, debug);
    system_.Appended(name_, part.size());
    return s.ok() ? real : s;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    if (IOStatus s = system_.Change(name_); !s.ok()) return s;
    const IOStatus s = target()->Truncate(size, options, debug);
    if (s.ok()) system_.Truncated(name_, size);
    return s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (IOStatus s = system_.Change(name_); !s.ok()) return s;
    const IOStatus s = target()->Sync(options, debug);
    if (s.ok()) system_.Synced(name_);
    return s;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }
  bool IsSyncThreadSafe() const override {
    return target()->IsSyncThreadSafe();
  }

 private:
  std::string name_;
  FaultyFileSystem& system_;
};

class RandomRWFile : public rocksdb::FSRandomRWFileOwnerWrapper {
 public:
  RandomRWFile(std::unique_ptr<rocksdb::FSRandomRWFile> file, std::string name,
               FaultyFileSystem& system)
      : FSRandomRWFileOwnerWrapper(std::move(file)),
        name_(std::move(name)),
        system_(system) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* debug) override {
    if (IOStatus s = system_.Change(name_); !s.ok()) return s;
    return target()->Write(offset, data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (IOStatus s = system_.Change(name_); !s.ok()) return s;
    return target()->Sync(options, debug);
  }

 private:
  std::string name_;
  FaultyFileSystem& system_;
};

class Directory : public rocksdb::FSDirectoryWrapper {
 public:
  Directory(std::unique_ptr<rocksdb::FSDirectory> directory, std::string name,
            FaultyFileSystem& system)
      : FSDirectoryWrapper(std::move(directory)),
        name_(std::move(name)),
        system_(system) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    if (IOStatus s = system_.Change(name_); !s.ok()) return s;
    return FSDirectoryWrapper::Fsync(options, debug);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& how) override {
    if (IOStatus s = system_.Change(name_); !s.ok()) return s;
    return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, how);
  }

 private:
  std::string name_;
  FaultyFileSystem& system_;
};

}  // namespace

FaultyFileSystem::FaultyFileSystem()
    : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

void FaultyFileSystem::Set(const Plan& plan) {
  const std::lock_guard<std::mutex> hold(mutex_);
  plan_ = plan;
  changes_ = 0;
  has_failed_ = false;
}

uint64_t FaultyFileSystem::changes() const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return changes_;
}

bool FaultyFileSystem::has_failed() const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return has_failed_;
}

IOStatus FaultyFileSystem::Change(const std::string& name) {
  const std::lock_guard<std::mutex> hold(mutex_);
  ++changes_;
  if (plan_.fail_at == 0 || changes_ < plan_.fail_at) return IOStatus::OK();
  if (changes_ > plan_.fail_at && plan_.lasting == Lasting::kOnce) {
    return IOStatus::OK();
  }
  has_failed_ = true;
  if (plan_.fault == Fault::kNoSpace) {
    return IOStatus::NoSpace("planned: no space left on device", name);
  }
  return IOStatus::IOError("planned: input/output error", name);
}

void FaultyFileSystem::Appended(const std::string& name, uint64_t bytes) {
  const std::lock_guard<std::mutex> hold(mutex_);
  extents_[name].size += bytes;
}

void FaultyFileSystem::Truncated(const std::string& name, uint64_t size) {
  const std::lock_guard<std::mutex> hold(mutex_);
  Extent& extent = extents_[name];
  extent.size = size;
  extent.synced = std::min(extent.synced, size);
}

void FaultyFileSystem::Synced(const std::string& name) {
  const std::lock_guard<std::mutex> hold(mutex_);
  if (EndsWith(name, plan_.lie_about)) return;
  extents_[name].synced = extents_[name].size;
}

void FaultyFileSystem::CutPower(uint64_t seed) {
  const std::lock_guard<std::mutex> hold(mutex_);
  std::mt19937_64 random(seed);
  for (auto& [name, extent] : extents_) {
    const uint64_t kept =
        extent.synced + random() % (extent.size - extent.synced + 1);
    std::error_code ignored;  // a file that is gone by now
    if (kept < extent.size) {
      std::filesystem::resize_file(name, kept, ignored);
    }
    extent = {kept, kept};
  }
}

IOStatus FaultyFileSystem::NewWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  if (IOStatus s = Change(name); !s.ok()) return s;
  const IOStatus s = target()->NewWritableFile(name, options, result, debug);
  if (!s.ok()) return s;
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    extents_[name] = {};
  }
  *result = std::make_unique<WritableFile>(std::move(*result), name, *this);
  return s;
}

IOStatus FaultyFileSystem::ReopenWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  if (IOStatus s = Change(name); !s.ok()) return s;
  const IOStatus s = target()->ReopenWritableFile(name, options, result, debug);
  if (!s.ok()) return s;
  *result = std::make_unique<WritableFile>(std::move(*result), name, *this);
  return s;
}

IOStatus FaultyFileSystem::NewRandomRWFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSRandomRWFile>* result, IODebugContext* debug) {
  const IOStatus s = target()->NewRandomRWFile(name, options, result, debug);
  if (!s.ok()) return s;
  *result = std::make_unique<RandomRWFile>(std::move(*result), name, *this);
  return s;
}

IOStatus FaultyFileSystem::NewDirectory(
    const std::string& name, const IOOptions& options,
    std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext* debug) {
  const IOStatus s = target()->NewDirectory(name, options, result, debug);
  if (!s.ok()) return s;
  *result = std::make_unique<Directory>(std::move(*result), name, *this);
  return s;
}

IOStatus FaultyFileSystem::RenameFile(const std::string& from,
                                      const std::string& to,
                                      const IOOptions& options,
                                      IODebugContext* debug) {
  if (IOStatus s = Change(from); !s.ok()) return s;
  const IOStatus s = target()->RenameFile(from, to, options, debug);
  if (!s.ok()) return s;
  const std::lock_guard<std::mutex> hold(mutex_);
  // A directory takes its files along.
  std::map<std::string, Extent> renamed;
  for (const auto& [name, extent] : extents_) {
    const bool moves = name == from || name.rfind(from + "/", 0) == 0;
    renamed[moves ? to + name.substr(from.size()) : name] = extent;
  }
  extents_ = std::move(renamed);
  return s;
}

IOStatus FaultyFileSystem::DeleteFile(const std::string& name,
                                      const IOOptions& options,
                                      IODebugContext* debug) {
  if (IOStatus s = Change(name); !s.ok()) return s;
  const IOStatus s = target()->DeleteFile(name, options, debug);
  const std::lock_guard<std::mutex> hold(mutex_);
  if (s.ok()) extents_.erase(name);
  return s;
}

}  // namespace gpubinder
