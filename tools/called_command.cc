#include "tools/called_command.h"

#include <sstream>

#include "tools/commands.h"

namespace gpubinder {

Ended Call(const std::vector<const char*>& args, const std::string& in) {
  std::istringstream input(in);
  std::ostringstream out, err;
  Ended ended;
  ended.code = RunGpubinder(args, {.in = input, .out = out, .err = err});
  ended.out = out.str();
  ended.err = err.str();
  return ended;
}

Ended Call(const std::vector<const char*>& args) { return Call(args, ""); }

}  // namespace gpubinder
