// What a process says about its CPU devices, in one text of key=value pairs separated by ';':
//
//   devices=2;workers=4;memory_mib=4096;fault=cuMemCreate:3:OUT_OF_MEMORY
//
//   devices     1 to 64; default 1
//   workers     threads of each device, 1 to 1024; default: the machine's cores, at least 4, so that
//               the branches of a graph run side by side on any machine
//   memory_mib  memory of each device, 1 to 2^30; default 4096. Pages are taken when first touched
//   fault       see fault_plan.h; may be given several times
//
// Blanks around keys and values and empty pairs are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace weft::hostcuda {

struct Settings {
  int devices = 1;
  int workers = 0;  // never 0 after ParseSettings
  uint64_t memory_bytes = uint64_t{4096} << 20;
  std::vector<std::string> faults;
};

// Errors: INVALID_ARGUMENT names the pair, the value and what is allowed.
absl::StatusOr<Settings> ParseSettings(absl::string_view text);

}  // namespace weft::hostcuda
