// gpubinder: the one binary. `gpubinder --help` lists what it does.

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "tools/commands.h"

// Whether stdout is a pipe that nobody reads any more, as behind `| head`.
static bool ReaderWentAway() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // A reader that goes away ends a write, not the process.
  std::signal(SIGPIPE, SIG_IGN);
  const char* terminal = std::getenv("TERM");
  const bool colour = isatty(STDOUT_FILENO) == 1 &&
                      std::getenv("NO_COLOR") == nullptr &&
                      terminal != nullptr && std::string(terminal) != "dumb";
  // gRPC's own log says what our errors say, less clearly.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  const gpubinder::Console console{.in = std::cin,
                                   .out = std::cout,
                                   .err = std::cerr,
                                   .colour = colour,
                                   .watched = isatty(STDERR_FILENO) == 1,
                                   .program = argc > 0 ? argv[0] : "gpubinder"};
  const int code = gpubinder::RunGpubinder(
      gpubinder::Args(argv, static_cast<size_t>(argc)).subspan(1), console);
  std::cout.flush();
  if (std::cout) return code;
  if (!ReaderWentAway()) std::cerr << "gpubinder: stdout cannot be written\n";
  return gpubinder::kExitEnvironment;
}
