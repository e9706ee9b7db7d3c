// One line of a terminal that says what a command is at, for people who wait.

#ifndef TOOLS_PROGRESS_LINE_H_
#define TOOLS_PROGRESS_LINE_H_

#include "absl/strings/string_view.h"
#include "tools/console.h"

namespace gpubinder {

// Nothing is written where console.err is no terminal.
class ProgressLine {
 public:
  // `console` outlives this.
  explicit ProgressLine(const Console& console) : console_(console) {}
  // Wipes the line.
  ~ProgressLine() { Wipe(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Takes the place of what was said before. Control characters become '?'.
  void Say(absl::string_view text);
  // Before anything else is written to the terminal.
  void Wipe();

 private:
  const Console& console_;
  size_t columns_ = 0;  // that are written
};

}  // namespace gpubinder

#endif  // TOOLS_PROGRESS_LINE_H_
