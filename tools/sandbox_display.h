// What `gpubinder sandbox` shows: a line for each thing that happens, and a
// table of the last pass. All in at most 100 columns.

#ifndef TOOLS_SANDBOX_DISPLAY_H_
#define TOOLS_SANDBOX_DISPLAY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "k8s/embedded/embedded_server.h"
#include "proto/journal.pb.h"
#include "reconciler/binder.h"
#include "tools/console.h"
#include "tools/text_table.h"

namespace gpubinder {

// Any thread may call. The console outlives it.
class SandboxDisplay {
 public:
  explicit SandboxDisplay(const Console& console) : console_(console) {}

  // Keeps what a leader's pass decided until its outcome comes, and its sets
  // for the table.
  void Pass(const FinishedPass& pass);
  // Prints a decided effect once it is applied. One that a conflict refused is
  // not printed, since the next pass decides it anew; one that was refused for
  // something else is, once for each line.
  void Outcome(const v1::Record& record);
  // Prints that a VM's start was denied, once for each VM and message. Calls
  // nothing of the server, so that it may be its observer.
  void Revision(const embedded::StoreEvent& event);
  void Say(absl::string_view text);
  void Table();

 private:
  void PrintLine(const std::string& line);

  const Console& console_;
  absl::Mutex mutex_;
  std::map<std::string, TextRow> rows_;
  // The lines of effects that wait for an outcome, by the sequence of their
  // decision and their place in it.
  std::map<std::pair<uint64_t, uint32_t>, std::string> decided_;
  std::set<std::string> said_;  // lines that are said once
};

// A line of EffectLine, indented by 2; the rest of a long one goes on below
// what follows the verb.
std::string WrappedLine(absl::string_view line);

}  // namespace gpubinder

#endif  // TOOLS_SANDBOX_DISPLAY_H_
