// What `weft kernel info` prints of compiled code.
//
// Thread safety: pure functions, but for the stream.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/compile/kernel_info.h"

namespace weft::cli {

struct CodeReportOptions {
  uint32_t block_threads = 256;
  uint32_t dynamic_shared_bytes = 0;
  // Occupancy on this architecture (10 × major + minor); nullopt: on the one that the code is for.
  std::optional<uint32_t> architecture;
};

// An image and, when it could not be read, why.
struct ReportedImage {
  kernels::CodeInfo info;
  std::string unread;
};

// One table an image.
void PrintCode(std::ostream& out, const std::vector<ReportedImage>& images,
               const CodeReportOptions& options);
// The same as JSON.
std::string CodeToJson(const std::vector<ReportedImage>& images, const CodeReportOptions& options);

}  // namespace weft::cli
