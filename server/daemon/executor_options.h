// From weftd's settings to the executors: which devices are served, and how each executor is
// started.
//
// Thread safety: pure functions, but for what they read of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/daemon/config.h"
#include "server/daemon/executor_supervisor.h"

namespace weft::daemon {

// One entry a device. REQUIRES: `config` passed FinishConfig.
// FAILED_PRECONDITION: no GPU although the driver is "cuda"; NOT_FOUND: no executor program.
absl::StatusOr<std::vector<SupervisorOptions>> ExecutorOptions(const Config& config);

// GPUs that this process may use: device files in `folder`, cut down by `visible` (the value of
// $CUDA_VISIBLE_DEVICES; nullptr: not set). weftd has no CUDA to ask.
uint32_t CountGpus(const std::string& folder, const char* visible);

// The CPU driver's settings as it reads them.
std::string CpuDriverSettings(const Config& config);

}  // namespace weft::daemon
