// weft: the command line of Weft.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"
#include "client/cli/app.h"
#include "client/connection.h"

int main(int argc, char** argv) {
  // A closed pipe behind us (`weft jobs | head`) shows as a failed write.
  std::signal(SIGPIPE, SIG_IGN);
  weft::log::Init("weft", weft::log::Level::kWarning);
  std::error_code error;
  weft::cli::Environment environment = {
      .out = std::cout,
      .err = std::cerr,
      .err_is_terminal = isatty(STDERR_FILENO) == 1,
      .connector =
          [](const std::string& socket) {
            weft::client::ConnectionOptions options;
            options.socket = socket;
            return weft::client::ConnectOverGrpc(std::move(options));
          },
      .program = std::filesystem::read_symlink("/proc/self/exe", error).string(),
  };
  const weft::cli::ExitCode code =
      weft::cli::RunApp(std::vector<std::string>(argv + 1, argv + argc), environment);
  std::cout.flush();
  return static_cast<int>(code);
}
