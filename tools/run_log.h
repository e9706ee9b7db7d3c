// The log of a running binder: a line for each thing decided and each fault,
// as text or as JSON, on standard error.

#ifndef TOOLS_RUN_LOG_H_
#define TOOLS_RUN_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "proto/journal.pb.h"
#include "reconciler/leader.h"
#include "reconciler/loop.h"

namespace gpubinder {

enum class LogFormat { kText, kJson };

// Thread-safe. No call throws, and text of objects is never a format.
class RunLog {
 public:
  explicit RunLog(LogFormat format);

  void Info(const std::string& message);
  void Error(const std::string& message);
  // What a pass decided: its leader's effects only.
  void Pass(const FinishedPass& pass);
  // Outcomes that are no success.
  void Outcome(const v1::Record& record);
  void Trouble(Kind kind, const absl::Status& status);
  void Leadership(const LeaderState& state);

 private:
  // What wants an operator, once per change.
  void Report(const PassResult& result);

  bool json_ = false;
  // Of the thread that tells of passes.
  bool mass_loss_ = false;
  std::string undone_;
};

}  // namespace gpubinder

#endif  // TOOLS_RUN_LOG_H_
