// What can be wrong with a job when it is planned: one function an error. docs/errors.md has a section
// for each.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace weft::plan {

absl::Status UnknownPass(absl::string_view name, absl::string_view nearest,
                         absl::string_view known);

// A step of a cycle: `node` waits for the node of the step before.
struct CycleStep {
  std::string node;
  bool by_after = false;  // else by the data that both use
};
// `field`: `after` of the first step's node.
absl::Status DataCycle(std::string field, const std::vector<CycleStep>& steps);

absl::Status ScratchTooLarge(uint64_t needed_bytes, uint64_t device_bytes);
absl::Status ManagedTooLarge(uint64_t needed_bytes, uint64_t device_bytes);

}  // namespace weft::plan
