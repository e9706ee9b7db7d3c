// Test only: a program run as a child, its output taken in line by line with
// the time at which each came.

#ifndef TOOLS_STORIES_CHILD_PROCESS_H_
#define TOOLS_STORIES_CHILD_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace gpubinder {

struct ChildOptions {
  std::vector<std::string> arguments;    // the program's path first
  std::vector<std::string> environment;  // NAME=value, beside PATH; no other
  // Of a file it writes; SIGXFSZ is ignored then, so that writes fail. 0: any.
  long most_file_bytes = 0;
};

// What a child left.
struct ChildEnd {
  int code = -1;  // -1: killed by `signal`
  int signal = 0;
  std::string output;  // standard output and error
  absl::Time at;       // when that ended
};

class ChildProcess {
 public:
  // Starts it. A program that cannot be started ends with 127.
  explicit ChildProcess(const ChildOptions& options);
  // Kills it, if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  absl::Time started() const { return started_; }
  void Signal(int signal);
  // When the first line with this text came; nothing when the output ended or
  // `limit` was over before.
  std::optional<absl::Time> AwaitLine(absl::string_view text,
                                      absl::Duration limit);
  // The rest of that line behind the text; empty when it never came.
  std::string RestOfLine(absl::string_view text, absl::Duration limit);
  // Its end; a test that waits longer than `limit` kills it.
  ChildEnd AwaitEnd(absl::Duration limit);
  std::string output() const;
  // Whether its output has ended.
  bool IsOver() const;

 private:
  struct Line {
    std::string text;
    absl::Time at;
  };
  void Read();
  const Line* FindLine(absl::string_view text) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::Time started_;
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::thread reader_;
  mutable absl::Mutex mutex_;
  std::vector<Line> lines_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // of the output
  absl::Time ended_at_ ABSL_GUARDED_BY(mutex_);
  bool reaped_ = false;
};

// Runs it to its end.
ChildEnd RunChild(const ChildOptions& options);

// The built gpubinder, from the test's runfiles.
std::string GpubinderPath();

// A folder of its own for the test, removed with the value.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Writes a kubeconfig for a plain HTTP server on the loopback port.
std::string WriteKubeconfig(const std::string& folder, int port);

}  // namespace gpubinder

#endif  // TOOLS_STORIES_CHILD_PROCESS_H_
