#include "tools/stories/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kRunLimit = absl::Minutes(2);

// In the child, between fork and exec: system calls only.
[[noreturn]] void Become(const std::vector<char*>& arguments,
                         const std::vector<char*>& environment, int output,
                         long most_file_bytes) {
  setpgid(0, 0);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(STDIN_FILENO);
  open("/dev/null", O_RDONLY);
  if (most_file_bytes > 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{static_cast<rlim_t>(most_file_bytes),
                       static_cast<rlim_t>(most_file_bytes)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  execve(arguments[0], arguments.data(), environment.data());
  _exit(127);
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ChildProcess::ChildProcess(const ChildOptions& options)
    : started_(absl::Now()) {
  int ends[2];
  BINDER_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = options.environment;
  const char* path = std::getenv("PATH");
  environment.push_back(absl::StrCat("PATH=", path == nullptr ? "" : path));
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  pid_ = fork();
  BINDER_CHECK(pid_ >= 0);
  if (pid_ == 0) Become(argv, envp, ends[1], options.most_file_bytes);
  close(ends[1]);
  pipe_ = ends[0];
  reader_ = std::thread([this] { Read(); });
}

ChildProcess::~ChildProcess() {
  if (!reaped_) {
    Signal(SIGKILL);
    AwaitEnd(absl::Minutes(1));
  }
  reader_.join();
  close(pipe_);
}

void ChildProcess::Signal(int signal) {
  if (!reaped_) kill(pid_, signal);
}

void ChildProcess::Read() {
  std::array<char, 4096> buffer;
  std::string rest;
  while (true) {
    const ssize_t got = read(pipe_, buffer.data(), buffer.size());
    const absl::Time now = absl::Now();
    absl::MutexLock lock(&mutex_);
    if (got <= 0) {
      if (!rest.empty()) lines_.push_back({rest, now});
      ended_ = true;
      ended_at_ = now;
      return;
    }
    rest.append(buffer.data(), got);
    for (size_t end; (end = rest.find('\n')) != std::string::npos;) {
      lines_.push_back({rest.substr(0, end), now});
      rest.erase(0, end + 1);
    }
  }
}

const ChildProcess::Line* ChildProcess::FindLine(absl::string_view text) const {
  for (const Line& line : lines_) {
    if (absl::StrContains(line.text, text)) return &line;
  }
  return nullptr;
}

std::optional<absl::Time> ChildProcess::AwaitLine(absl::string_view text,
                                                  absl::Duration limit) {
  absl::MutexLock lock(&mutex_);
  const auto came = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ended_ || FindLine(text) != nullptr;
  };
  mutex_.AwaitWithTimeout(absl::Condition(&came), limit);
  const Line* line = FindLine(text);
  if (line == nullptr) return std::nullopt;
  return line->at;
}

std::string ChildProcess::RestOfLine(absl::string_view text,
                                     absl::Duration limit) {
  if (!AwaitLine(text, limit).has_value()) return "";
  absl::MutexLock lock(&mutex_);
  const std::string& line = FindLine(text)->text;
  return line.substr(line.find(std::string(text)) + text.size());
}

ChildEnd ChildProcess::AwaitEnd(absl::Duration limit) {
  BINDER_CHECK(!reaped_);
  {
    // Its end is seen by that of its output, which nobody else holds open.
    absl::MutexLock lock(&mutex_);
    if (!mutex_.AwaitWithTimeout(absl::Condition(&ended_), limit)) {
      kill(pid_, SIGKILL);
    }
  }
  int status = 0;
  BINDER_CHECK(waitpid(pid_, &status, 0) == pid_);
  reaped_ = true;
  ChildEnd end;
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&ended_));
    end.at = ended_at_;
  }
  end.output = output();
  return end;
}

bool ChildProcess::IsOver() const {
  absl::MutexLock lock(&mutex_);
  return ended_;
}

std::string ChildProcess::output() const {
  absl::MutexLock lock(&mutex_);
  std::string all;
  for (const Line& line : lines_) absl::StrAppend(&all, line.text, "\n");
  return all;
}

ChildEnd RunChild(const ChildOptions& options) {
  return ChildProcess(options).AwaitEnd(kRunLimit);
}

std::string GpubinderPath() {
  // Tests run in the root of their runfiles.
  return std::filesystem::absolute("tools/gpubinder");
}

TestFolder::TestFolder() {
  const char* base = std::getenv("TEST_TMPDIR");
  path_ = absl::StrCat(base == nullptr ? "/tmp" : base, "/gpubinder-XXXXXX");
  BINDER_CHECK(mkdtemp(path_.data()) != nullptr);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string WriteKubeconfig(const std::string& folder, int port) {
  const std::string path = folder + "/kubeconfig";
  std::ofstream(path) << absl::StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
      "clusters:\n- name: test\n  cluster: {server: 'http://127.0.0.1:",
      port,
      "'}\nusers:\n- name: test\n  user: {}\n"
      "contexts:\n- name: test\n  context: {cluster: test, user: test}\n");
  return path;
}

}  // namespace gpubinder
