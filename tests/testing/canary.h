// A small job that must succeed: run after everything that was refused or has failed, it tells
// whether the daemon is as it was.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace weft::testing {

// Submits a fill, a kernel and a download to the weftd at `socket`, over a connection of its own,
// and checks the result. Blocks. The status names what went wrong.
absl::Status RunCanary(const std::string& socket, uint32_t device = 0);

}  // namespace weft::testing
