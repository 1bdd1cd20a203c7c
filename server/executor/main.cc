// weft-executor: an internal program, started by weftd, one for each device.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "base/log.h"
#include "base/unique_fd.h"
#include "cuda/driver.h"
#include "server/executor/executor.h"

namespace {

// weftd alone ends this process (by closing the fd socket, by Shutdown, by SIGKILL): a signal to the
// whole process group (Ctrl-C, systemd) must leave it time to drain.
void IgnoreSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
}

// Read by the GPU's driver when it starts; what the user has set stays.
void SetDriverEnvironment() {
  // Hardware queues: with the default of 8, streams share queues sooner, and a launch can wait
  // behind another job's endless kernel. 32 is the most.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  // Loading a kernel at its first use may wait for everything that runs; at the start nothing does.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
}

}  // namespace

int main(int argc, char** argv) {
  weft::executor::ExecutorOptions options;
  int fd_socket = -1;
  uint64_t spin_us = 500;
  std::string log_level = "info";
  const std::map<std::string, weft::cuda::DriverKind> drivers = {
      {"cuda", weft::cuda::DriverKind::kCuda}, {"cpu", weft::cuda::DriverKind::kHost}};

  CLI::App app(
      "Internal program of Weft: weftd starts one for each device. To run jobs, start weftd or use "
      "weft.");
  app.add_option("--device", options.device.device, "Ordinal of the device")->required();
  app.add_option("--driver", options.device.driver, "Driver: cuda or cpu")
      ->transform(CLI::Transformer(drivers))
      ->required();
  app.add_option("--driver-library", options.device.driver_library,
                 "Path of the driver library; default: found by --driver");
  app.add_option("--fd-socket", fd_socket, "Inherited descriptor of the socket to weftd")
      ->required();
  app.add_option("--grpc-socket", options.grpc_socket, "Path of the private service's socket")
      ->required();
  app.add_option("--spin-us", spin_us, "How long the launch loop spins at most before it sleeps");
  app.add_option("--log-level", log_level, "debug, info, warning or error");
  CLI11_PARSE(app, argc, argv);

  // It was inherited; what this process may start (compilers of kernels) must not have it.
  ::fcntl(fd_socket, F_SETFD, FD_CLOEXEC);
  // Dies with weftd even where the fd socket is not read (while the driver starts, for example).
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::umask(0077);
  IgnoreSignals();
  SetDriverEnvironment();
  weft::log::Init("weft-executor", weft::log::LevelNamed(log_level));
  options.spin = absl::Microseconds(static_cast<int64_t>(spin_us));
  return weft::executor::RunExecutor(options, weft::UniqueFd(fd_socket));
}
