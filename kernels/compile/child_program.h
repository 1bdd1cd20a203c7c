// A program run to its end in a process of its own: no shell, no input, its output kept, its time and memory limited.
//
// Thread safety: RunProgram may be called from any thread; calls run side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace weft::kernels {

struct ProgramCommand {
  std::vector<std::string> arguments;    // the first is the program's path
  std::vector<std::string> environment;  // NAME=value: all that it gets
  std::string folder;                    // where it runs
  absl::Duration time_limit = absl::Seconds(60);
  size_t max_output_bytes = 1 << 16;              // what is beyond is dropped
  uint64_t max_memory_bytes = uint64_t{4} << 30;  // of each process
  uint64_t max_file_bytes = uint64_t{256} << 20;
};

struct ProgramResult {
  int exit_status = 0;  // or -signal
  std::string output;   // standard output and error together, from the beginning
};

// Blocks until the program has ended. Errors: DEADLINE_EXCEEDED, after the program and its children were killed; those
// of posix_spawn.
absl::StatusOr<ProgramResult> RunProgram(const ProgramCommand& command);

}  // namespace weft::kernels
