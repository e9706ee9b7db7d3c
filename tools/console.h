// Where a subcommand reads and writes: the process's streams, or a test's.

#ifndef TOOLS_CONSOLE_H_
#define TOOLS_CONSOLE_H_

#include <iostream>
#include <string>

namespace gpubinder {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool colour = false;   // out is a terminal that shows colours
  bool watched = false;  // err is a terminal: what takes long says so
  // How this process was called, for commands that are shown to be typed.
  std::string program = "gpubinder";
};

// What a subcommand ends with.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;           // differs, not placed
inline constexpr int kExitBadInput = 2;     // usage or bad input
inline constexpr int kExitEnvironment = 3;  // a file system, a network
inline constexpr int kExitDisagrees = 4;    // plan --check: a fault of ours

}  // namespace gpubinder

#endif  // TOOLS_CONSOLE_H_
