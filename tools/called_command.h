// Tests call a subcommand as main does, with texts for its streams.

#ifndef TOOLS_CALLED_COMMAND_H_
#define TOOLS_CALLED_COMMAND_H_

#include <string>
#include <vector>

namespace gpubinder {

struct Ended {
  int code = 0;
  std::string out, err;
};

Ended Call(const std::vector<const char*>& args, const std::string& in);
Ended Call(const std::vector<const char*>& args);

}  // namespace gpubinder

#endif  // TOOLS_CALLED_COMMAND_H_
