// weftd: the daemon of Weft.
#include <signal.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <iostream>

#include "base/log.h"
#include "server/daemon/command_line.h"
#include "server/daemon/serve.h"

namespace {

// As the command line of weft has it: 2 for what is wrong with the request itself.
constexpr int kExitUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  using weft::daemon::CommandLine;
  const auto line = weft::daemon::ParseCommandLine(argc, argv);
  if (!line.ok()) {
    std::cerr << "weftd: " << line.status().message() << "\n";
    return kExitUsage;
  }
  if (line->action == CommandLine::Action::kPrint) {
    std::cout << line->text;
    return EXIT_SUCCESS;
  }
  weft::log::Init("weftd", weft::log::LevelNamed(line->config.log_level()));
  if (line->exit_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const absl::Status status = weft::daemon::Serve(line->config, line->ready_fd);
  if (!status.ok()) {
    std::cerr << "weftd: " << status.message() << "\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
