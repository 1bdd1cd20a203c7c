// The images in a fatbin: machine code of several architectures, and PTX, one behind the other.
//
// Layout: a header of 16 bytes (fatbinary_section.h of the CUDA Toolkit points at it) and, for each
// image, a header of its own with the kind, the architecture and the sizes. The latter is not
// documented; the fields read here are the same in the files of the toolkits 11 to 13.
//
// Thread safety: pure function; the result points into the bytes. The bytes may be anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace weft::kernels {

struct FatbinImage {
  enum class Kind : uint8_t { kPtx, kMachineCode, kOther };
  Kind kind = Kind::kOther;
  uint32_t architecture = 0;  // 10 × major + minor
  std::string suffix;         // "a": of that architecture alone; "f": of its family; "": neither
  uint32_t ptx_major = 0;     // PTX ISA version; of PTX alone
  uint32_t ptx_minor = 0;
  bool compressed = false;    // `payload` is then of no use
  absl::string_view payload;  // PTX as text, or a cubin

  // "sm_90a", "compute_80".
  std::string Architecture() const;
};

// `name`: of the module or file, for messages. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::vector<FatbinImage>> ReadFatbin(absl::string_view name,
                                                    absl::string_view bytes);

}  // namespace weft::kernels
